/* evener calibrate: the average time of a task on each kind of units, from a few steps of the
 * workload itself: the performance conversion factors of González and Morancho, "Compute units in
 * OpenMP: extensions for heterogeneous parallel programming" (2023), Table 3.
 *
 * One unit of a kind runs all tasks; of each task the median over the steps counts, after two steps
 * that do not. The faces that it exchanges with itself tell what a byte costs within a unit; two
 * units side by side tell what it costs between them. What is known is kept in
 * $XDG_CACHE_HOME/evener/calibration.json (or ~/.cache/evener), with the machine it is of.
 */
#include "workload/calibrate.h"
#include "bench/bench.h"
#include "cli/command.h"
#include "cli/json_file.h"
#include "plan/machine_file.h"
#include "common/options.h"
#include "common/output.h"
#include "common/record.h"
#include "workload/workload.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT = 1, UNCOUNTED = 2, APPS = 3, CLASSES = 8 };

/* ---- the file ---- */

/* Where it is kept unless the user says otherwise; NULL after a message: there is no such place. */
static char *default_path(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int given = cache && *cache == '/'; /* others are to be ignored, says the standard */
    if (!given && !(home && *home)) {
        complain("neither XDG_CACHE_HOME nor HOME is set: name the file with --output FILE");
        return NULL;
    }
    char *path = NULL;
    if (asprintf(&path, "%s%s/evener/calibration.json", given ? cache : home,
                 given ? "" : "/.cache") < 0) {
        complain("not enough memory");
        return NULL;
    }
    return path;
}

/* The folders on the way to a file, as far as they are missing. What fails shows when the file is
 * written. */
static void make_folders(const char *path) {
    char *part = strdup(path);
    for (char *p = part ? strchr(part + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(part, 0777);
        *p = '/';
    }
    free(part);
}

static const char *text_of(const cJSON *o, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return text ? text : "";
}

/* A number from 0; NAN if there is none. */
static double number_of(const cJSON *o, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && isfinite(v->valuedouble) ? v->valuedouble
                                                                                : NAN;
}

/* Whether `root` is a calibration of this machine by this version; complains of what is wrong with
 * the file at `path` (NULL: says nothing). */
static int check(const cJSON *root, const char *path, const evn_machine *machine) {
    const cJSON *there = cJSON_GetObjectItemCaseSensitive(root, "machine"), *o;
    const cJSON *entries = cJSON_GetObjectItemCaseSensitive(root, "entries");
    int sound = number_of(root, "calibration") == FORMAT && cJSON_IsArray(entries);
    cJSON_ArrayForEach(o, entries) {
        sound = sound && *text_of(o, "app") && *text_of(o, "class") && *text_of(o, "unit") &&
                number_of(o, "task_s") > 0 && number_of(o, "weight_per_s") > 0 &&
                number_of(o, "within_s_per_byte") >= 0 && number_of(o, "between_s_per_byte") >= 0;
    }
    if (!sound) {
        if (path)
            complain("%s is not a calibration as this version writes it; remove it, or run evener "
                     "calibrate again",
                     path);
        return EXIT_USAGE;
    }
    if (strcmp(text_of(there, "processor"), evn_machine_processor(machine)) != 0 ||
        number_of(there, "packages") != evn_machine_packages(machine)) {
        if (path)
            complain("%s was measured on another machine (%s); run evener calibrate on this one",
                     path, text_of(there, "processor"));
        return EXIT_USAGE;
    }
    if (strcmp(text_of(root, "evener"), EVN_VERSION) != 0) {
        if (path)
            complain("%s was measured with version %s and this is %s; run evener calibrate again",
                     path, text_of(root, "evener"), EVN_VERSION);
        return EXIT_USAGE;
    }
    return 0;
}

static const char classes[] = "SWABCDEF";

/* The name of a unit's device, "" for CPU units; NULL: it is described only, and any will do. */
static const char *device_of(const evn_unit *unit) {
    if (evn_unit_is_cpu(unit)) return "";
    evn_device *device = evn_unit_device(unit, 0);
    return device ? evn_device_traits(device)->name : NULL;
}

/* The entry of a kind of units for a workload, of the nearest class there is. */
static const cJSON *find(const cJSON *root, const char *app, char class_, const char *unit,
                         const char *device) {
    const cJSON *o, *best = NULL;
    int best_distance = CLASSES;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(root, "entries")) {
        if (strcmp(text_of(o, "app"), app) != 0 || strcmp(text_of(o, "unit"), unit) != 0) continue;
        if (device && strcmp(text_of(o, "device"), device) != 0) continue;
        const char *a = strchr(classes, *text_of(o, "class")), *b = strchr(classes, class_);
        const int distance = a && b ? abs((int)(a - b)) : CLASSES - 1;
        if (distance >= best_distance) continue;
        best = o;
        best_distance = distance;
    }
    return best;
}

int calibration_speeds(const char *app, char class_, const evn_units *units, double *speed,
                       double *bandwidth) {
    char *path = default_path();
    struct stat there;
    cJSON *root = NULL;
    int *kind = malloc(sizeof *kind * (size_t)evn_units_count(units));
    int code = -1;
    if (path && kind && stat(path, &there) == 0) {
        code = json_file_read(&root, path);
        if (!code) code = check(root, path, evn_units_machine(units));
    }
    struct unit_kind kinds[KINDS_MAX];
    double rate[KINDS_MAX], per_byte = 0;
    const int n = kind ? unit_kinds(units, kinds, kind) : 0;
    for (int k = 0; !code && k < n; k++) {
        char unit[24];
        int u = 0; /* one of them */
        while (kind[u] != k) u++;
        const cJSON *o = find(root, app, class_, unit_kind_text(kinds[k], unit),
                              device_of(evn_units_get(units, u)));
        if (!o) {
            code = -1;
            break;
        }
        rate[k] = number_of(o, "weight_per_s");
        /* what it costs that a face lies between units; all that CPU units own lies in one memory
         */
        if (evn_units_gpus(units) > 0)
            per_byte = fmax(per_byte,
                            number_of(o, "between_s_per_byte") - number_of(o, "within_s_per_byte"));
    }
    if (!code) {
        for (int u = 0; u < evn_units_count(units); u++) speed[u] = rate[kind[u]];
        if (bandwidth) *bandwidth = per_byte > 0 ? 1 / per_byte : 0;
    }
    cJSON_Delete(root);
    free(kind);
    free(path);
    return code;
}

/* ---- measuring ---- */

/* The times of one run, filled by inspect(). */
struct times {
    int tasks, steps;
    double *task; /* median of each task's seconds */
    int failed;
};

static void inspect(const evn_loop *loop, void *arg) {
    struct times *times = arg;
    const int steps = times->steps;
    double *sample = malloc(sizeof *sample * (size_t)times->tasks * (size_t)steps);
    int *count = calloc((size_t)times->tasks, sizeof *count);
    int whole = 0; /* a batch was taken as a whole: the loop has shared its time out */
    times->failed = !sample || !count;
    const int last = evn_schedule_instance(evn_loop_schedule(loop));
    for (int u = 0; !times->failed && u < evn_units_count(evn_loop_units(loop)); u++)
        for (int i = 0; i < evn_loop_bursts(loop, u); i++) {
            const evn_burst b = evn_loop_burst(loop, u, i);
            if (b.kind != EVN_BURST_COMPUTE || b.instance < last - steps) continue;
            whole |= b.count > 1;
            if (b.task < times->tasks && count[b.task] < steps)
                sample[b.task * steps + count[b.task]++] = b.end - b.begin;
        }
    for (int t = 0; !times->failed && t < times->tasks; t++)
        times->task[t] = whole || !count[t] ? evn_loop_seconds(loop)[t]
                                            : bench_median(sample + t * steps, count[t]);
    free(count);
    free(sample);
}

/* What is measured of a kind of units. */
struct figures {
    int tasks;
    char device[128];       /* its name; "" for CPU units */
    double task_s;          /* mean over the tasks */
    double weight_per_s;    /* all weight over all times */
    double within, between; /* s a byte of faces */
};

/* Bytes of faces a step that unit u fills: those with both ends on it, and those of others. */
static void faces(const evn_problem *p, const int *owner, int u, double *within, double *between) {
    *within = *between = 0;
    for (int l = 0; l < p->links; l++) {
        const int a = owner[p->link[l].task[0]] == u, b = owner[p->link[l].task[1]] == u;
        if (a && b) *within += 2 * p->link[l].bytes;
        if (a != b) *between += p->link[l].bytes;
    }
}

/* Runs a workload on `list` for some steps. Fills times->task, and of unit u the seconds a step
 * that it exchanges, and the bytes of its faces. */
static int measure(struct workload_names names, const char *list, struct times *times, int u,
                   double *exchange_s, double *within, double *between, double *weight_sum,
                   char device[128]) {
    struct workload w;
    names.units = list;
    names.schedule = "static";
    int code = workload_open(&w, &names, 0);
    if (code) {
        workload_close(&w);
        return code;
    }
    const char *name = device_of(evn_units_get(w.units, u));
    snprintf(device, 128, "%s", name ? name : "");
    times->tasks = w.tasks.tasks;
    times->task = malloc(sizeof *times->task * (size_t)w.tasks.tasks);
    if (!times->task) {
        complain("not enough memory for %d tasks", w.tasks.tasks);
        workload_close(&w);
        return EXIT_FAILED;
    }
    /* a burst for each task of a step and two for each of an exchange, and room for more */
    const int steps = times->steps + UNCOUNTED, bursts = 4 * w.tasks.tasks * steps + 16;
    npbmz_options options = {
        .steps = steps, .inspect = inspect, .arg = times, .bursts = bursts, .stop = &interrupted};
    npbmz_result r;
    evn_status status = npbmz_run(w.problem, w.units, w.schedule, &options, &r);
    if (status) {
        code = give_up(status);
    } else {
        *exchange_s = r.unit[u].exchange_s / steps;
        faces(&w.tasks, r.owner, u, within, between);
        *weight_sum = 0;
        for (int t = 0; t < w.tasks.tasks; t++) *weight_sum += w.tasks.weight[t];
        if (times->failed) {
            complain("not enough memory for the times of %d tasks", w.tasks.tasks);
            code = EXIT_FAILED;
        }
        npbmz_result_free(&r);
    }
    workload_close(&w);
    return code;
}

/* One kind: alone, then beside a second unit if there is room. */
static int calibrate_kind(const struct workload_names *names, struct unit_kind kind, int cores,
                          int steps, struct figures *f) {
    char list[64], unit[24], device[128];
    struct times times = {.steps = steps};
    double exchange_s, within, between, weight;
    unit_kind_text(kind, unit);
    snprintf(list, sizeof list, "1:%s", unit);
    int code = measure(*names, list, &times, 0, &exchange_s, &within, &between, &weight, device);
    if (!code) {
        double sum = 0;
        for (int t = 0; t < times.tasks; t++) sum += times.task[t];
        *f = (struct figures){.tasks = times.tasks,
                              .task_s = sum / times.tasks,
                              .weight_per_s = weight / sum,
                              .within = within > 0 ? exchange_s / within : 0};
        snprintf(f->device, sizeof f->device, "%s", device);
    }
    free(times.task);
    times.task = NULL;
    if (code) return code;
    f->between = f->within;
    if (kind.gpu ? cores < 2 : 2 * kind.size > cores) return 0;
    if (kind.gpu)
        snprintf(list, sizeof list, "1:CPU:1,1:%s", unit);
    else
        snprintf(list, sizeof list, "2:%s", unit);
    code = measure(*names, list, &times, 1, &exchange_s, &within, &between, &weight, device);
    free(times.task);
    if (!code && between > 0) f->between = fmax(0, exchange_s - within * f->within) / between;
    return code;
}

/* ---- the command ---- */

static cJSON *entry(const char *app, const char *class_, const char *unit, int steps,
                    const struct figures *f) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "app", app);
    cJSON_AddStringToObject(o, "class", class_);
    cJSON_AddStringToObject(o, "unit", unit);
    if (*f->device) cJSON_AddStringToObject(o, "device", f->device);
    cJSON_AddNumberToObject(o, "tasks", f->tasks);
    cJSON_AddNumberToObject(o, "steps", steps);
    cJSON_AddNumberToObject(o, "task_s", f->task_s);
    cJSON_AddNumberToObject(o, "weight_per_s", f->weight_per_s);
    cJSON_AddNumberToObject(o, "within_s_per_byte", f->within);
    cJSON_AddNumberToObject(o, "between_s_per_byte", f->between);
    return o;
}

/* Puts an entry in the place of an older one of the same. */
static void keep(cJSON *entries, cJSON *fresh) {
    int i = 0;
    const cJSON *o;
    cJSON_ArrayForEach(o, entries) {
        if (!strcmp(text_of(o, "app"), text_of(fresh, "app")) &&
            !strcmp(text_of(o, "class"), text_of(fresh, "class")) &&
            !strcmp(text_of(o, "unit"), text_of(fresh, "unit")) &&
            !strcmp(text_of(o, "device"), text_of(fresh, "device")))
            break;
        i++;
    }
    if (o)
        cJSON_ReplaceItemInArray(entries, i, fresh);
    else
        cJSON_AddItemToArray(entries, fresh);
}

/* The entries that may stay: those of a file of this machine and version. */
static cJSON *earlier(const char *path, const evn_machine *machine) {
    struct stat there;
    cJSON *root = NULL, *entries = NULL;
    if (stat(path, &there) == 0 && S_ISREG(there.st_mode) && !json_file_read(&root, path) &&
        !check(root, NULL, machine))
        entries = cJSON_DetachItemFromObjectCaseSensitive(root, "entries");
    cJSON_Delete(root);
    return entries ? entries : cJSON_CreateArray();
}

static void print_table(const cJSON *entries, FILE *out) {
    const cJSON *o, *other;
    fprintf(out, "%-6s  %5s  %-9s  %6s  %12s  %10s  %14s\n", "app", "class", "unit", "tasks",
            "ms a task", "factor", "Mpoints/s");
    cJSON_ArrayForEach(o, entries) {
        /* as the paper has it: how many times as long the slowest kind takes */
        double slowest = 0;
        cJSON_ArrayForEach(other, entries) {
            if (!strcmp(text_of(o, "app"), text_of(other, "app")) &&
                !strcmp(text_of(o, "class"), text_of(other, "class")))
                slowest = fmax(slowest, number_of(other, "task_s"));
        }
        fprintf(out, "%-6s  %5s  %-9s  %6.0f  %12.4f  %10.2f  %14.3f  %s\n", text_of(o, "app"),
                text_of(o, "class"), text_of(o, "unit"), number_of(o, "tasks"),
                1e3 * number_of(o, "task_s"), slowest / number_of(o, "task_s"),
                1e-6 * number_of(o, "weight_per_s"), text_of(o, "device"));
    }
}

static int save(const char *path, const evn_machine *machine, cJSON *entries) {
    struct output file = {.fd = -1};
    if (output_open(&file, path)) {
        cJSON_Delete(entries);
        return EXIT_USAGE;
    }
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "calibration", FORMAT);
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddItemToObject(root, "machine", record_machine(machine));
    cJSON_AddItemToObject(root, "entries", entries);
    char *text = record_text(root);
    int code = !text || output_commit(&file, text) ? EXIT_FAILED : 0;
    free(text);
    output_discard(&file);
    return code;
}

/* All kinds of `list` for one workload. */
static int calibrate_app(const struct workload_names *names, const evn_machine *machine,
                         const char *list, int steps, cJSON *entries, int quiet) {
    evn_units *units;
    evn_status status = evn_units_open(&units, machine, list, EVN_DESCRIBE_ONLY);
    if (status) return give_up(status);
    struct unit_kind kinds[KINDS_MAX];
    int *kind = malloc(sizeof *kind * (size_t)evn_units_count(units));
    const int n = kind ? unit_kinds(units, kinds, kind) : 0;
    int code = kind ? 0 : EXIT_FAILED;
    for (int k = 0; !code && k < n; k++) {
        struct figures f;
        char unit[24];
        unit_kind_text(kinds[k], unit);
        if (!quiet) fprintf(stderr, "%s class %s on %s ..\n", names->app, names->class_, unit);
        code = calibrate_kind(names, kinds[k], evn_machine_cores(machine), steps, &f);
        if (!code) keep(entries, entry(names->app, names->class_, unit, steps, &f));
    }
    free(kind);
    evn_units_close(units);
    return code;
}

struct request {
    struct workload_names names;
    const char *units, *output;
    long steps;
    int quiet;
};

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"class", "S", "problem class to measure with (default W)", OPTION_TEXT, AT(names.class_), 0,
     0},
    {"units", "LIST", "kinds of units, as 1:CPU:1,1:CPU:4 (default: one core, all cores)",
     OPTION_TEXT, AT(units), 0, 0},
    {"devices", "SPEC", "where GPU units come from", OPTION_TEXT, AT(names.devices), 0, 0},
    {"steps", "N", "steps of which the median counts (default 5)", OPTION_NUMBER, AT(steps), 1,
     1000},
    {"output", "FILE", "instead of ~/.cache/evener/calibration.json", OPTION_TEXT, AT(output), 0,
     0},
    {"quiet", NULL, "no table", OPTION_FLAG, AT(quiet), 0, 0},
    {0},
};
#undef AT

int command_calibrate(int argc, char **argv) {
    struct request request = {.names = {.class_ = "W"}, .steps = 5};
    const struct option_set sets[] = {{table, &request}, {0}};
    const char *app[APPS] = {"bt-mz", "sp-mz", "lu-mz"};
    int words;
    int code = options_read("calibrate", sets, argc, argv, app, APPS, &words);
    if (code < 0) {
        printf("usage: evener calibrate [APP ..] [options]\n\n"
               "Measures the average time of a task on each kind of units, a few steps each, and\n"
               "keeps it for the schedule weighted. APP: bt-mz sp-mz lu-mz (default all).\n\n");
        options_help(sets, 0);
        return EXIT_DONE;
    }
    for (int i = 0; !code && i < words; i++)
        if (npbmz_find(app[i]) < 0) {
            complain("there is no workload \"%s\", expected bt-mz, sp-mz or lu-mz", app[i]);
            code = EXIT_USAGE;
        }
    if (code) return code;
    struct workload_names names = request.names;
    const char *list = request.units, *path = request.output;
    const long steps = request.steps;
    const int quiet = request.quiet;
    evn_machine *machine;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    char both[64], *own = path ? NULL : default_path();
    if (!path) path = own;
    if (!path) code = EXIT_USAGE;
    if (!code && !strcmp(path, "-")) {
        complain("--output -: a calibration is kept in a file; name one");
        code = EXIT_USAGE;
    }
    if (!list) {
        const int cores = evn_machine_cores(machine);
        snprintf(both, sizeof both, cores > 1 ? "1:CPU:1,1:CPU:%d" : "1:CPU:1", cores);
        list = both;
    }
    cJSON *entries = NULL;
    if (!code) {
        if (own) make_folders(path);
        entries = earlier(path, machine);
        catch_interrupts();
    }
    for (int i = 0; !code && i < (words ? words : APPS); i++) {
        names.app = app[i];
        code = calibrate_app(&names, machine, list, (int)steps, entries, quiet);
    }
    if (!code && !quiet) print_table(entries, stdout);
    if (!code)
        code = save(path, machine, entries);
    else
        cJSON_Delete(entries);
    if (!code && !quiet) printf("\nkept in %s\n", path);
    free(own);
    evn_machine_close(machine);
    return code;
}
