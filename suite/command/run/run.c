/* evener run: a workload on units under a schedule, its result, its record. */
#include "cli/command.h"
#include "common/cli/files.h"
#include "common/cli/interrupt.h"
#include "common/cli/output.h"
#include "common/run/phases.h"
#include "common/cli/progress.h"
#include "common/run/record.h"
#include "run/job.h"
#include "run/slow.h"
#include "run/trial.h"
#include "machine/units_file.h"
#include <evener/watch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct job_words words;
    const char *json, *trace, *on_loss, *slow, *try;
    int phases, quiet, verbose;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"steps", "N", "time steps (default: the workload's own number)",
     OPTION_NUMBER(words.steps, 0, 1000000000)},
    {"units", "LIST",
     "compute units, as 4:CPU:4, or 2:CPU:4@0-7 on these cores (default auto: the fastest for "
     "these tasks; with GPUs one of each); @FILE: by host",
     OPTION_TEXT(words.units)},
    {"processes", "N", "on N processes of this node, each with these units",
     OPTION_NUMBER(words.ranks.processes, 1, 1024)},
    {"wire", "HOW", "transport between ranks: auto (default), alone, processes:N, mpi, mpi:FILE",
     OPTION_TEXT(words.ranks.wire)},
    {"on-rank-loss", "WHAT",
     "end (default), or continue from the last checkpoint with the remaining processes (restart) "
     "or as many as before (restart:same)",
     OPTION_TEXT(words.ranks.on_loss)},
    {"oversubscribe", NULL, "allow more cores than there are (nothing is bound then)",
     OPTION_FLAG(words.oversubscribe)},
    {"devices", "SPEC",
     "devices of GPU units: cuda, hip, opencl, emulated, with options; + between several (default: "
     "the best)",
     OPTION_TEXT(words.devices)},
    {"on-device-loss", "WHAT", "stop (default), or continue with the remaining units",
     OPTION_TEXT(on_loss)},
    {"schedule", "SPEC",
     "auto (default), map, guided:time, static, dynamic:chunk=2, ..; evener info lists all",
     OPTION_TEXT(words.schedule)},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT(json)},
    {"trace", "FILE",
     "timeline of all units, for Perfetto; FILE.prv: for Paraver; FILE.otf2: for Vampir",
     OPTION_OUTPUT(trace)},
    {"phases", NULL, "time of each phase on devices; measuring costs a little",
     OPTION_FLAG(phases)},
    {"try", "HOW",
     "auto (default): if the choice of --units auto is close, try two lists for some steps before "
     "a long run; off; or for studies seconds of a step, \"1:CPU:2=0.012 2:CPU:1=0.011\"",
     OPTION_TEXT(try)},
    {"plan", "FILE", "owners of the first instance, from a record or an exported plan",
     OPTION_INPUT(words.plan)},
    {"slow", "U:F@N", "for studies: unit U takes F times as long from step N on; the first is 0",
     OPTION_TEXT(slow)},
    {"quiet", NULL, "no output but errors and warnings", OPTION_FLAG(quiet)},
    {"verbose", NULL, "more figures of the workload", OPTION_FLAG(verbose)},
    {0},
};

static const struct option_rule rules[] = {
    {"quiet", OPTION_EXCLUDES, "verbose", "one asks for less, the other for more"},
    {"checkpoint", OPTION_IGNORES, "try", "states on disk are the run's own, so nothing is tried"},
    {"restart", OPTION_IGNORES, "try", "states on disk are the run's own, so nothing is tried"},
    {"slow", OPTION_IGNORES, "try", "units that become slow are the run's, so nothing is tried"},
    {"on-rank-loss=restart", OPTION_NEEDS, "checkpoint", "from which it goes on"},
    {"on-rank-loss=restart:same", OPTION_NEEDS, "checkpoint", "from which it goes on"},
    {0},
};

/* Bursts of each unit that a trace can hold: 40 MB of memory, more than a viewer likes. Over ranks
 * they share that number, since one file and one memory hold all of them; and as many messages of
 * each. Without a trace a record shows some of the last ones. */
enum { BURSTS_MAX = 1 << 20, BURSTS_LEAST = 1024, MESSAGES_SHOWN = 4096 };

/* Instances whose bursts a record shows. */
enum { SHOWN = 2 };

/* Steps from one state that is kept to the next, where a run is to survive the loss of a device. */
enum { KEEP_EVERY = 10 };

/* A run under way. */
struct watch {
    const struct request *request;
    struct job *job;
    evn_output *record, *trace; /* NULL: none wanted */
    evn_output *pcf, *row;      /* beside a trace for Paraver */
    int otf2;                   /* 1: the trace is FILE.otf2, which is opened at the end */
    evn_status trace_status;
    evn_trace *kept; /* what the units do; NULL: nobody wants to know */
    struct progress progress;
    cJSON *shown; /* of the last steps, for the record; NULL: none wanted */
    FILE *out;    /* where the page goes */
};

/* ---- what a run calls ---- */

static void on_step(int step, int steps, double seconds, void *p) {
    struct watch *watch = p;
    progress_step(&watch->progress, step, steps, seconds);
}

static evn_status on_begin(evn_loop *loop, void *p) {
    struct watch *watch = p;
    const int ranks = watch->job->cluster ? evn_cluster_size(watch->job->cluster) : 1;
    const int share = BURSTS_MAX / ranks, shown = 4 * watch->job->tasks.tasks + 64;
    const int most = share > BURSTS_LEAST ? share : BURSTS_LEAST;
    if (watch->request->trace) return evn_trace_open(&watch->kept, loop, most, most);
    if (watch->request->json) return evn_trace_open(&watch->kept, loop, shown, MESSAGES_SHOWN);
    return EVN_OK;
}

/* Bursts and messages of the last steps, for the record. */
static void show(struct watch *watch, const evn_loop *loop) {
    const int first = evn_schedule_about(evn_loop_schedule(loop)).instance - SHOWN;
    cJSON *o = watch->shown;
    if (!o) return;
    if (watch->job->cluster) {
        cJSON *clocks = cJSON_AddObjectToObject(o, "clocks");
        record_number(clocks, "uncertainty_s", evn_trace_about(watch->kept).uncertainty);
        record_messages(cJSON_AddArrayToObject(o, "messages"), watch->kept, first);
    }
    record_bursts(cJSON_AddArrayToObject(o, "bursts"), watch->kept, first);
}

static evn_status put_trace(const struct watch *watch) {
    const char *const file = watch->request->trace;
    const char *noun = watch->job->is->noun;
    if (watch->otf2) return evn_trace_put_otf2(watch->kept, noun, file);
    FILE *out = evn_output_stream(watch->trace);
    if (!watch->pcf) return evn_trace_put(watch->kept, noun, out);
    return evn_trace_put_paraver(watch->kept, noun, out, evn_output_stream(watch->pcf),
                                 evn_output_stream(watch->row));
}

static evn_status on_end(const evn_loop *loop, void *p) {
    struct watch *watch = p;
    progress_end(&watch->progress);
    evn_status status = watch->kept ? evn_trace_gather(watch->kept) : EVN_OK;
    if (!status && ranks_speak(watch->job->cluster)) {
        show(watch, loop);
        if (watch->trace || watch->otf2) watch->trace_status = put_trace(watch);
    }
    evn_trace_close(watch->kept);
    watch->kept = NULL;
    return status;
}

static void on_notice(const char *text, void *p) {
    struct watch *watch = p;
    progress_end(&watch->progress);
    complain("%s", text);
}

/* ---- options ---- */

/* Checks options of all runs before anything is opened. */
static int check(const struct request *request, const struct workload *is) {
    const int goes_on = !strcmp(request->on_loss, "continue");
    if (!goes_on && strcmp(request->on_loss, "stop") != 0)
        complain("--on-device-loss %s: expected stop or continue", request->on_loss);
    else if (goes_on && !is->keeps)
        complain("--on-device-loss continue: %s cannot go on without a device, expected stop",
                 is->name);
    else /* for which units is seen later */
        return slow_read(&(struct slow){0}, request->slow, NULL, 1);
    return EXIT_USAGE;
}

/* ---- the page and the record ---- */

enum { TAKEN_NAMED = 8 }; /* units that are named at most */

/* The reason for times that are longer than the work. */
static void print_taken(const struct run_result *r, FILE *out) {
    int units = 0;
    for (int u = 0; u < r->units; u++) {
        if (!(r->unit[u].taken >= EVN_TAKEN_NOTED)) continue;
        if (!units++)
            fputs("  taken by other threads:", out);
        else if (units <= TAKEN_NAMED)
            fputc(',', out);
        if (units <= TAKEN_NAMED)
            fprintf(out, " %.0f %% of the core time of unit %d", 100 * r->unit[u].taken, u);
    }
    if (units > TAKEN_NAMED) fprintf(out, " and of %d more", units - TAKEN_NAMED);
    if (units) fputs("; the times above include it\n", out);
}

static void print_units(const struct job *job, const struct run_result *r, FILE *out) {
    char tasks[32];
    snprintf(tasks, sizeof tasks, "%ss", job->is->noun);
    fprintf(out, "\n Units %s%s, schedule %s\n", evn_units_text(job->units),
            job->cluster ? " on rank 0" : "", evn_schedule_text(job->schedule));
    if (*job->choice.why) fprintf(out, " auto: %s\n", job->choice.why);
    if (job->cluster)
        fprintf(out, " %d ranks, %s; rank 0: %s\n", r->ranks, evn_cluster_about(job->cluster).wire,
                evn_cluster_about(job->cluster).cores);
    fprintf(out, "\n  unit  cores  %6s  %10s  compute s  exchange s  idle s%s\n", tasks,
            job->is->weight, job->cluster ? "  rank" : "");
    for (int u = 0; u < r->units; u++) {
        double weight;
        const int own = run_share(r, &job->tasks, u, &weight);
        fprintf(out, "  %4d  %5d  %6d  %10.0f  %9.3f  %10.3f  %6.3f", u, r->unit[u].cores, own,
                weight, r->unit[u].stats.compute_s, r->unit[u].stats.exchange_s,
                r->unit[u].stats.idle_s);
        if (job->cluster) fprintf(out, "  %4d", r->unit[u].rank);
        fputc('\n', out);
    }
    fprintf(out, "  imbalance %s (longest over shortest compute time), %lld migrations\n",
            imbalance_text(run_imbalance(r)).text, r->totals.migrations);
    print_taken(r, out);
}

static cJSON *record_all(struct watch *watch, const struct run_result *r) {
    const struct job *job = watch->job;
    evn_problem tasks = job->tasks;
    const evn_problem *known = evn_schedule_problem(job->schedule);
    if (known->units == tasks.units) tasks.speed = known->speed;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", job->is->name);
    cJSON_AddStringToObject(root, "noun", job->is->noun);
    if (job->shape.class_)
        cJSON_AddStringToObject(root, "class", job->shape.class_);
    else
        cJSON_AddNullToObject(root, "class");
    cJSON_AddStringToObject(root, "problem", job->shape.key);
    if (job->cluster) cJSON_AddStringToObject(root, "wire", evn_cluster_about(job->cluster).wire);
    record_result(root, r, evn_schedule_text(job->schedule), &tasks, job_state_bytes(job));
    if (*job->choice.why) cJSON_AddItemToObject(root, "auto", choice_record(&job->choice));
    if (job->is->record) job->is->record(job->state, root);
    while (watch->shown && watch->shown->child) {
        cJSON *part = cJSON_DetachItemViaPointer(watch->shown, watch->shown->child);
        cJSON_AddItemToObject(root, part->string, part);
    }
    if (strcmp(watch->request->words.ranks.on_loss, "end") != 0)
        cJSON_AddNumberToObject(root, "restarts", ranks_restarts());
    cJSON_AddItemToObject(root, "machine", record_machine(job->machine));
    cJSON_AddItemToObject(root, "build", record_build());
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

/* ---- running ---- */

/* FILE.prv has two more files beside it. */
static int open_beside(struct watch *watch) {
    const char *name = watch->request->trace, *dot = name ? strrchr(name, '.') : NULL;
    if (!dot || strcmp(dot, ".prv") != 0) return 0;
    char other[4096];
    if (snprintf(other, sizeof other, "%.*s.pcf", (int)(dot - name), name) >= (int)sizeof other)
        return complain("--trace %.40s..: longer than %zu characters", name, sizeof other);
    int code = output_open(&watch->pcf, other);
    memcpy(strrchr(other, '.'), ".row", sizeof ".row");
    return code ? code : output_open(&watch->row, other);
}

/* FILE.otf2 is written by a library of its own; whether it can be is known before the run. */
static int open_otf2(struct watch *watch) {
    evn_status status = evn_trace_otf2();
    if (!status) status = evn_output_try("--trace", watch->request->trace, 0);
    watch->otf2 = !status;
    if (!status) return 0;
    return complain("%s", evn_message()); /* nothing was started */
}

/* All files are opened before anything is computed. */
static int open_outputs(struct watch *watch) {
    const struct request *request = watch->request;
    int code = output_open(&watch->record, request->json);
    const char *dot = request->trace ? strrchr(request->trace, '.') : NULL;
    if (!code && dot && !strcmp(dot, ".otf2"))
        code = open_otf2(watch);
    else if (!code)
        code = output_open(&watch->trace, request->trace);
    if (!code) code = open_beside(watch);
    if (request->json) watch->shown = cJSON_CreateObject();
    watch->out = files_page();
    return code;
}

static int run_job(struct watch *watch) {
    const struct request *request = watch->request;
    struct job *job = watch->job;
    struct run_options options = {
        .steps = (int)request->words.steps,
        .progress = on_step,
        .begin = on_begin,
        .inspect = on_end,
        .notice = on_notice,
        .arg = watch,
        .keep = strcmp(request->on_loss, "stop") ? KEEP_EVERY : 0,
        .phases = request->phases,
        .stop = &interrupted,
        .cluster = job->cluster,
    };
    struct slow slow;
    const int steps = options.steps < 0 ? job->shape.steps : options.steps;
    int code = job->cluster ? slow_among(&slow, request->slow, job->tasks.units)
                            : slow_read(&slow, request->slow, job->units, 1);
    if (!code) code = slow_begins(&slow, request->slow, steps);
    code = ranks_agree(job->cluster, code);
    if (code) return code;
    options.slow = (struct run_slow){slow.unit, (int)slow.step, slow.factor};
    char what[64];
    snprintf(what, sizeof what, "%s%s%s", job->is->name, job->shape.class_ ? " " : "",
             job->shape.class_ ? job->shape.class_ : "");
    if (!request->quiet && job->is->print_problem)
        job->is->print_problem(job->state, steps, watch->out);
    fflush(watch->out);
    const struct run_result *r = NULL;
    progress_begin(&watch->progress, what, request->quiet || !ranks_speak(job->cluster));
    code = job->is->run(job->state, job->units, job->schedule, &options, &r);
    progress_end(&watch->progress);
    if (code || !ranks_speak(job->cluster)) return code;
    const struct workload_page page = {watch->out, r->cores, request->verbose};
    if (!request->quiet && job->is->print_result) job->is->print_result(job->state, &page);
    if (!request->quiet) print_units(job, r, watch->out);
    if (!request->quiet) phases_print_devices(watch->out, r);
    if (request->phases && !r->phases)
        complain("warning: --phases: --units %s took no device, so there is nothing to time",
                 request->words.units);
    code = r->verified == 0 ? EXIT_UNVERIFIED : EXIT_DONE;
    if (watch->record) {
        char *text = record_text(record_all(watch, r));
        if (!text || output_commit(watch->record, text)) code = EXIT_FAILED;
        free(text);
    }
    if (code <= EXIT_UNVERIFIED && watch->trace_status &&
        (watch->otf2 || watch->trace_status != EVN_SYSTEM))
        code = give_up(watch->trace_status); /* the system's reason is the file's, too */
    evn_output *const files[] = {watch->pcf, watch->row, watch->trace};
    for (int i = 0; i < 3; i++)
        if (code <= EXIT_UNVERIFIED && output_commit(files[i], NULL)) code = EXIT_FAILED;
    return code;
}

/* Refuses options that do not work over ranks. */
static int check_ranks(const struct request *request, const struct job *job) {
    if (!job->cluster) return 0;
    if (strcmp(request->on_loss, "stop") != 0)
        complain("--on-device-loss %s: over ranks a lost device ends the run", request->on_loss);
    else
        return 0;
    return EXIT_USAGE;
}

/* Checks and opens before there are units: devices, outputs, the problem. */
static int begin(struct watch *watch) {
    const struct request *request = watch->request;
    const struct job_words *words = &request->words;
    struct job *job = watch->job;
    int gpus = 0, code = check_ranks(request, job);
    if (!code) code = job_devices(job, words->units, words->devices, &gpus);
    if (!code && !gpus && !strcmp(request->on_loss, "continue"))
        complain(
            "warning: with --units %s --on-device-loss changes nothing: no unit of it is a GPU",
            words->units);
    if (!code && !gpus && request->phases)
        code = complain(
            "--phases times devices, and no unit of --units %s is a GPU; expected one, as 1:GPU:1",
            words->units);
    if (!code) code = job_try(job, words);
    watch->out = stdout;
    if (!code && ranks_speak(job->cluster)) code = open_outputs(watch);
    return code ? code : job_open(job, request->quiet || !ranks_speak(job->cluster));
}

/* Counters for evener watch, which a record does not need; *counts: there are some. */
static int let_watch(const struct request *request, const struct job *job, int *counts) {
    const char *variable = secure_getenv("EVENER_WATCH");
    int asked = variable && *variable && strcmp(variable, "0") != 0; /* on rank 0 */
    evn_status status =
        job->cluster ? evn_cluster_tell(job->cluster, &asked, sizeof asked) : EVN_OK;
    if (status) return give_up(status);
    if (!asked && !request->json) return 0;
    status = evn_watch_begin(request->json, job->cluster);
    *counts = !status;
    return ranks_agree(job->cluster, status && asked ? give_up(status) : 0);
}

/* Once the options are read. */
static int run_request(const struct request *request, struct job *job, int argc, char **argv) {
    const struct job_words *words = &request->words;
    struct watch watch = {.request = request, .job = job};
    int counts = 0, code = check(request, job->is);
    if (!code) code = trial_check(request->try);
    if (!code) code = job_check(job);
    if (!code && job->is->instead) {
        const int done = job->is->instead(job->state);
        if (done >= 0) return done;
    }
    if (!code) code = ranks_check(&words->ranks);
    if (!code) code = job_join(job, words, argc, argv);
    if (code) return ranks_leave(job->cluster, code);
    code = begin(&watch);
    code = ranks_agree(job->cluster, code);
    if (!code) code = let_watch(request, job, &counts);
    if (!code) code = job_units(job, words, 0);
    if (!code) code = job_schedule(job, words);
    if (!code && !request->slow) code = trial_run(job, words, request->try);
    code = ranks_agree(job->cluster, code);
    if (!code) code = job_make(job, words);
    if (!code) warn_now();
    if (!code) code = run_job(&watch);
    if (counts) evn_watch_end();
    cJSON_Delete(watch.shown);
    evn_trace_close(watch.kept);
    evn_output_close(watch.trace);
    evn_output_close(watch.pcf);
    evn_output_close(watch.row);
    evn_output_close(watch.record);
    job_off(job);
    return ranks_leave(job->cluster, ranks_agree(job->cluster, code));
}

static int help(const struct workload *is) {
    char usage[256];
    snprintf(usage, sizeof usage,
             "usage: evener run %s [options]\n\nRuns a workload on units under a schedule.\n",
             is ? is->name : "APP");
    job_help("run", usage, table, is);
    printf(
        "\nExit status: 0 done (and verified, where there are official figures), 1 verification\n"
        "failed, 2 bad input, 3 failed while running, 130 interrupted.\n");
    return EXIT_DONE;
}

static int run(int argc, char **argv) {
    struct request request = {.words = {.units = "auto", .steps = -1, .calibrated = 1},
                              .on_loss = "stop"};
    request.words.ranks.on_loss = "end";
    int code;
    const struct workload *is = job_find(table, argc, argv, &code);
    if (!is) return code < 0 ? help(NULL) : code;
    struct job job;
    char host[256] = "", *units = NULL;
    code = job_state(&job, is);
    if (!code)
        code = job_read(&job, "run", (struct option_set){table, &request, rules}, argc, argv);
    gethostname(host, sizeof host - 1);
    if (!code) code = units_file_list(request.words.units, host, &units);
    if (!code) request.words.units = units;
    if (code < 0)
        code = help(is);
    else if (!code)
        code = run_request(&request, &job, argc, argv);
    job_close(&job);
    free(units);
    return code;
}

int command_run(int argc, char **argv) {
    ranks_begin();
    return ranks_end(run(argc, argv));
}
