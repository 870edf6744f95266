/* evener run: a workload on units under a schedule, its result, its record. */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "workload/run_tdbem.h"
#include "workload/slow.h"
#include "workload/workload.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the callbacks of a run need. */
struct watch {
    struct progress progress;
    FILE *trace; /* NULL: none wanted */
    evn_status trace_status;
    cJSON *bursts; /* of the last steps, for the record; NULL: none wanted */
};

static void on_step(int step, int steps, double seconds, void *p) {
    struct watch *watch = p;
    progress_step(&watch->progress, step, steps, seconds);
}

/* The bursts of the last two steps. */
static void record_bursts(cJSON *list, const evn_loop *loop) {
    static const char *const kind[] = {[EVN_BURST_COMPUTE] = "compute",
                                       [EVN_BURST_EXCHANGE] = "exchange",
                                       [EVN_BURST_COPY] = "copy"};
    const int steps = evn_schedule_instance(evn_loop_schedule(loop));
    for (int u = 0; u < evn_units_count(evn_loop_units(loop)); u++)
        for (int i = 0; i < evn_loop_bursts(loop, u); i++) {
            evn_burst b = evn_loop_burst(loop, u, i);
            if (b.instance < steps - 2) continue;
            cJSON *o = cJSON_CreateObject();
            cJSON_AddNumberToObject(o, "unit", u);
            cJSON_AddStringToObject(o, "kind", kind[b.kind]);
            record_number(o, "begin", b.begin);
            record_number(o, "end", b.end);
            cJSON_AddNumberToObject(o, "task", b.task);
            cJSON_AddNumberToObject(o, "count", b.count);
            cJSON_AddNumberToObject(o, "step", b.instance);
            cJSON_AddItemToArray(list, o);
        }
}

static void on_end(const evn_loop *loop, void *p) {
    struct watch *watch = p;
    progress_end(&watch->progress);
    if (watch->bursts) record_bursts(watch->bursts, loop);
    if (watch->trace) watch->trace_status = evn_trace_write(loop, "zone", watch->trace);
}

static void on_notice(const char *text, void *p) {
    struct watch *watch = p;
    progress_end(&watch->progress);
    complain("%s", text);
}

static cJSON *record_unit(const struct workload *w, const npbmz_result *r, int number) {
    evn_unit *unit = evn_units_get(w->units, number);
    const evn_unit_stats *stats = &r->unit[number];
    cJSON *o = cJSON_CreateObject(), *cores = cJSON_CreateArray();
    int tasks = 0;
    double weight = 0;
    for (int t = 0; t < w->tasks.tasks; t++)
        if (r->owner[t] == number) {
            tasks++;
            weight += w->tasks.weight[t];
        }
    for (int c = 0; c < evn_unit_cores(unit); c++)
        if (evn_unit_core_number(unit, c) >= 0)
            cJSON_AddItemToArray(cores, cJSON_CreateNumber(evn_unit_core_number(unit, c)));
    cJSON_AddNumberToObject(o, "id", number);
    cJSON_AddStringToObject(o, "kind", evn_unit_is_cpu(unit) ? "cpu" : "gpu");
    cJSON_AddItemToObject(o, "cores", cores);
    if (evn_unit_is_gpu(unit))
        cJSON_AddStringToObject(o, "device", evn_device_traits(evn_unit_device(unit, 0))->name);
    else
        cJSON_AddNullToObject(o, "device");
    cJSON_AddNumberToObject(o, "tasks", tasks);
    record_number(o, "weight", weight);
    record_number(o, "compute_s", stats->compute_s);
    record_number(o, "exchange_s", stats->exchange_s);
    record_number(o, "idle_s", stats->idle_s);
    record_number(o, "bytes_in", stats->bytes_in);
    record_number(o, "bytes_out", stats->bytes_out);
    return o;
}

/* Zones along x and y, in points: where each lies follows from that. */
static cJSON *record_zones(const struct workload *w) {
    cJSON *o = cJSON_CreateObject();
    const char *const name[] = {"x", "y"};
    for (int d = 0; d < 2; d++) {
        cJSON *list = cJSON_AddArrayToObject(o, name[d]);
        for (int i = 0; i < w->shape.zones[d]; i++) {
            int points[3];
            npbmz_zone(w->problem, d ? i * w->shape.zones[0] : i, points);
            cJSON_AddItemToArray(list, cJSON_CreateNumber(points[d]));
        }
    }
    return o;
}

static cJSON *record_run(const struct workload *w, const npbmz_result *r, cJSON *bursts) {
    cJSON *root = cJSON_CreateObject();
    char class_[2] = {w->shape.class_, 0}, hash[20];
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", w->shape.name);
    cJSON_AddStringToObject(root, "class", class_);
    cJSON_AddNumberToObject(root, "steps", r->steps);
    if (r->verified < 0)
        cJSON_AddNullToObject(root, "verified");
    else
        cJSON_AddBoolToObject(root, "verified", r->verified);
    record_number(root, "seconds", r->seconds);
    record_number(root, "mops", r->mops);
    cJSON *norms = cJSON_AddObjectToObject(root, "norms");
    cJSON_AddItemToObject(norms, "residual", record_numbers(r->residual, 5));
    cJSON_AddItemToObject(norms, "error", record_numbers(r->error, 5));
    if (!strcmp(w->shape.name, "lu-mz")) record_number(norms, "surface", r->surface);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    cJSON_AddStringToObject(root, "hash", hash);
    cJSON *units = cJSON_AddArrayToObject(root, "units");
    for (int u = 0; u < evn_units_count(w->units); u++)
        cJSON_AddItemToArray(units, record_unit(w, r, u));
    cJSON_AddStringToObject(root, "schedule", evn_schedule_text(w->schedule));
    record_number(root, "imbalance", unit_imbalance(r->unit, evn_units_count(w->units)));
    cJSON *periods = cJSON_AddObjectToObject(root, "periods");
    record_number(periods, "compute_s", r->totals.compute_s);
    record_number(periods, "communication_s", r->totals.exchange_s);
    cJSON *phases = cJSON_AddObjectToObject(root, "phases");
    for (int p = 0; p < NPBMZ_PHASES; p++)
        if (r->phase_s[p] > 0) record_number(phases, npbmz_phase_name(p), r->phase_s[p]);
    cJSON *transfers = cJSON_AddObjectToObject(root, "transfers");
    cJSON_AddNumberToObject(transfers, "migrations", (double)r->totals.migrations);
    cJSON_AddNumberToObject(transfers, "messages", (double)r->totals.messages);
    record_number(transfers, "bytes", r->totals.bytes);
    cJSON_AddNumberToObject(transfers, "copies", (double)r->totals.copies);
    cJSON_AddNumberToObject(transfers, "moved_regions", (double)r->moved.copies);
    record_number(transfers, "moved_bytes", (double)r->moved.bytes);
    if (r->devices) cJSON_AddItemToObject(root, "devices", record_devices(r->device, r->devices));
    cJSON_AddItemToObject(root, "owner", cJSON_CreateIntArray(r->owner, w->tasks.tasks));
    cJSON_AddItemToObject(root, "task_s", record_numbers(r->task_s, w->tasks.tasks));
    cJSON_AddItemToObject(root, "zones", record_zones(w));
    if (bursts) cJSON_AddItemToObject(root, "bursts", bursts);
    if (r->zone_sums)
        cJSON_AddItemToObject(root, "zone_sums", record_numbers(r->zone_sums, 5 * w->tasks.tasks));
    cJSON_AddItemToObject(root, "machine", record_machine(w->machine));
    cJSON_AddItemToObject(root, "build", record_build());
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

static void print_units(const struct workload *w, const npbmz_result *r, FILE *out) {
    fprintf(out, "\n Units %s, schedule %s\n\n", evn_units_text(w->units),
            evn_schedule_text(w->schedule));
    fprintf(out, "  unit  cores  zones    points  compute s  exchange s  idle s\n");
    for (int u = 0; u < evn_units_count(w->units); u++) {
        int tasks = 0;
        double weight = 0;
        for (int t = 0; t < w->tasks.tasks; t++)
            if (r->owner[t] == u) {
                tasks++;
                weight += w->tasks.weight[t];
            }
        fprintf(out, "  %4d  %5d  %5d  %8.0f  %9.3f  %10.3f  %6.3f\n", u,
                evn_unit_cores(evn_units_get(w->units, u)), tasks, weight, r->unit[u].compute_s,
                r->unit[u].exchange_s, r->unit[u].idle_s);
    }
    fprintf(out, "  imbalance %.3f (longest over shortest compute time), %lld migrations\n",
            unit_imbalance(r->unit, evn_units_count(w->units)), r->totals.migrations);
}

static void print_phases(const npbmz_result *r, FILE *out) {
    double sum = 0;
    for (int p = 0; p < NPBMZ_PHASES; p++) sum += r->phase_s[p];
    fprintf(out, "\n  phase      seconds  share\n");
    for (int p = 0; p < NPBMZ_PHASES; p++)
        if (r->phase_s[p] > 0)
            fprintf(out, "  %-9s  %7.3f  %4.1f %%\n", npbmz_phase_name(p), r->phase_s[p],
                    100 * r->phase_s[p] / sum);
}

static void print_zone_sums(const npbmz_result *r, int zones, FILE *out) {
    fprintf(out, "\n  zone  sums of the five components over the interior\n");
    for (int z = 0; z < zones; z++) {
        fprintf(out, "  %4d", z + 1);
        for (int m = 0; m < 5; m++) fprintf(out, "  %23.16e", r->zone_sums[5 * z + m]);
        fputc('\n', out);
    }
}

static int run(struct workload *w, const npbmz_options *options, struct watch *watch,
               struct output *record, int quiet, int verbose) {
    FILE *out = record->path && !strcmp(record->path, "-") ? stderr : stdout;
    int steps = options->steps < 0 ? w->shape.steps : options->steps;
    if (!quiet) npbmz_print_header(w->problem, steps, out);
    if (!quiet) fflush(out);
    npbmz_result r;
    evn_status status = npbmz_run(w->problem, w->units, w->schedule, options, &r);
    if (status) return give_up(status);
    if (!quiet) {
        npbmz_print_result(w->problem, &r, workload_threads(w), out);
        print_units(w, &r, out);
        if (verbose) print_phases(&r, out);
        if (verbose && r.zone_sums) print_zone_sums(&r, w->tasks.tasks, out);
    }
    int code = r.verified == 0 ? EXIT_UNVERIFIED : EXIT_DONE;
    if (record->path) {
        char *text = record_text(record_run(w, &r, watch->bursts));
        watch->bursts = NULL; /* the record had it */
        if (!text || output_commit(record, text)) code = EXIT_FAILED;
        free(text);
    }
    npbmz_result_free(&r);
    return code;
}

/* Bursts of each unit that a trace can hold: 40 MB of memory, more than a viewer likes. */
enum { BURSTS_MAX = 1 << 20 };

/* Steps from one state that is kept to the next, where a run is to survive the loss of a device. */
enum { KEEP_EVERY = 10 };

int command_run(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "td-bem")) return run_tdbem(argc, argv);
    struct workload_names names = {
        .class_ = "S", .units = "auto", .schedule = "guided:size", .steps = -1, .calibrated = 1};
    const char *json = NULL, *trace_path = NULL, *on_loss = "stop", *slow = NULL;
    int quiet = 0, verbose = 0, perturb = 0;
    const struct option table[] = {
        {"class", "S", "problem class, S W A B C D E or F (default S)", OPTION_TEXT, &names.class_,
         0, 0},
        {"steps", "N", "time steps instead of the class's own number", OPTION_NUMBER, &names.steps,
         0, 1000000000},
        {"units", "LIST", "compute units, as 4:CPU:4 (default auto: one of all cores)", OPTION_TEXT,
         &names.units, 0, 0},
        {"oversubscribe", NULL, "allow more cores than there are (nothing is bound then)",
         OPTION_FLAG, &names.oversubscribe, 0, 0},
        {"devices", "SPEC",
         "where GPU units come from: cuda, opencl, emulated, with options; + between several "
         "(default: the best)",
         OPTION_TEXT, &names.devices, 0, 0},
        {"on-device-loss", "WHAT", "stop (default), or continue with the units that are left",
         OPTION_TEXT, &on_loss, 0, 0},
        {"schedule", "SPEC",
         "static, dynamic, guided:size (default), guided:time, weighted, binpack, interval, map, "
         "optimal",
         OPTION_TEXT, &names.schedule, 0, 0},
        {"json", "FILE", "the record; - is standard output", OPTION_TEXT, &json, 0, 0},
        {"trace", "FILE", "what each unit did when, for Perfetto or chrome://tracing", OPTION_TEXT,
         &trace_path, 0, 0},
        {"slow", "U:F@N",
         "for studies: unit U takes F times as long from step N on; the first is 0", OPTION_TEXT,
         &slow, 0, 0},
        {"perturb", NULL, "zones start differently, so that the topology is tested", OPTION_FLAG,
         &perturb, 0, 0},
        {"quiet", NULL, "no output but errors", OPTION_FLAG, &quiet, 0, 0},
        {"verbose", NULL, "times of phases, sums of zones", OPTION_FLAG, &verbose, 0, 0},
        {0},
    };
    int words;
    int code = options_read("run", table, argc, argv, &names.app, 1, &words);
    if (code < 0) {
        printf("usage: evener run APP [options]\n\nRuns a workload, APP: bt-mz sp-mz lu-mz, "
               "or\ntd-bem, whose options evener run td-bem --help shows.\n\n");
        options_help(table);
        printf("\nExit status: 0 done (and verified, where there are official figures), 1 "
               "verification\n"
               "failed, 2 bad input, 3 failed while running, 130 interrupted.\n");
        return EXIT_DONE;
    }
    if (code) return code;
    if (strcmp(on_loss, "stop") != 0 && strcmp(on_loss, "continue") != 0) {
        complain("--on-device-loss %s: expected stop or continue", on_loss);
        return EXIT_USAGE;
    }
    struct workload w;
    struct output record = {.fd = -1};
    struct output trace = {.fd = -1};
    struct watch watch = {.trace = NULL};
    char what[32];
    code = workload_open(&w, &names, 0);
    if (!code && output_open(&record, json)) code = EXIT_USAGE;
    if (!code && output_open(&trace, trace_path)) code = EXIT_USAGE;
    if (!code && trace_path && !(watch.trace = output_stream(&trace))) code = EXIT_USAGE;
    struct slow slowed = {.factor = 1};
    if (!code) code = slow_read(&slowed, slow, w.units, 1);
    if (!code) {
        snprintf(what, sizeof what, "%s %c", w.shape.name, w.shape.class_);
        progress_begin(&watch.progress, what, quiet);
        catch_interrupts();
        if (json) watch.bursts = cJSON_CreateArray();
        npbmz_options options = {.steps = (int)names.steps,
                                 .perturb = perturb,
                                 .progress = on_step,
                                 .inspect = on_end,
                                 .bursts = trace_path ? BURSTS_MAX
                                           : json     ? 4 * w.tasks.tasks + 64
                                                      : 0,
                                 .arg = &watch,
                                 .keep = strcmp(on_loss, "stop") ? KEEP_EVERY : 0,
                                 .notice = on_notice,
                                 .slow = {slowed.unit, slowed.factor, (int)slowed.step},
                                 .stop = &interrupted};
        code = run(&w, &options, &watch, &record, quiet, verbose);
        progress_end(&watch.progress);
        if (code <= EXIT_UNVERIFIED && watch.trace_status) code = give_up(watch.trace_status);
        if (code <= EXIT_UNVERIFIED && output_commit(&trace, NULL)) code = EXIT_FAILED;
    }
    cJSON_Delete(watch.bursts);
    output_discard(&trace);
    output_discard(&record);
    workload_close(&w);
    return code;
}
