/* Measurement of the model's figures. Alpha is the slope of f / fib - 1 over threads - 1, where f =
 * T / (Tmg S): figure 8 of van der Wijngaart and Jin (IPDPS 2004), but with every phase's own loop
 * in fib. */
#include "model/figures.h"
#include "common/cli/json_file.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/run/record.h"
#include "machine/calibration.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, POINTS = 64, PHASES = 16 };
static const char UNIT[] = "team";

/* ---- without measuring ---- */

int figures_plain(struct figures *f, const struct job *job) {
    const size_t n = (size_t)job->tasks.tasks;
    *f = (struct figures){.alpha = 0.030};
    f->seconds = malloc(n * sizeof *f->seconds);
    if (!f->seconds) return give_up(evn_fail(EVN_MEMORY, "not enough memory for %zu tasks", n));
    for (size_t t = 0; t < n; t++) f->seconds[t] = job->tasks.weight ? job->tasks.weight[t] : 1;
    snprintf(f->basis, sizeof f->basis, "costs by %s, exchange is free", job->is->weight);
    return 0;
}

void figures_close(struct figures *f) {
    free(f->seconds);
    f->seconds = NULL;
}

/* Whether "sizes" of an entry is a table as machine_table_seconds() wants it. */
static int is_table(const cJSON *sizes) {
    double before = 0;
    const cJSON *o;
    cJSON_ArrayForEach(o, sizes) {
        const cJSON *points = cJSON_GetArrayItem(o, 0), *s = cJSON_GetArrayItem(o, 1);
        if (cJSON_GetArraySize(o) != 2 || !cJSON_IsNumber(points) || !cJSON_IsNumber(s) ||
            !(points->valuedouble > before) || !isfinite(points->valuedouble) ||
            !(s->valuedouble > 0 && isfinite(s->valuedouble)))
            return 0;
        before = points->valuedouble;
    }
    return before > 0;
}

int figures_kept(struct figures *f, const struct job *job) {
    cJSON *entry = calibration_entry(job->is, job->shape.key, UNIT, job->machine);
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(entry, "sizes");
    const double alpha = json_number(entry, "alpha"), residual = json_number(entry, "residual"),
                 latency = json_number(entry, "latency_s"), points = json_number(entry, "points");
    const int sound = entry && is_table(sizes) && alpha >= 0 && residual >= 0 && latency >= 0 &&
                      points >= 0 && points < POINTS;
    if (entry && !sound)
        complain("warning: what is kept of %s for the model is damaged; run evener model %s "
                 "--calibrate again",
                 job->is->name, job->is->name);
    if (sound) {
        f->timed = 1;
        f->alpha = alpha;
        f->residual = residual;
        f->points = (int)points;
        f->copy_per_byte = json_number(entry, "within_s_per_byte");
        f->near = (evn_way){latency, json_number(entry, "between_s_per_byte")};
        f->far = f->near;
        for (int t = 0; t < job->tasks.tasks; t++)
            f->seconds[t] = machine_table_seconds(sizes, f->seconds[t]);
        snprintf(f->class_, sizeof f->class_, "%s", json_text(entry, "class"));
        snprintf(f->basis, sizeof f->basis, "costs as calibrated, class %s", f->class_);
    }
    cJSON_Delete(entry);
    return sound ? 0 : -1;
}

int figures_described(struct figures *f, const struct job *job, const struct machine_file *file) {
    const struct unit_kind core = {0, 1, 1};
    evn_route route, copy, within;
    int code = machine_file_seconds(file, job->is->name, core, job->tasks.tasks, job->tasks.weight,
                                    f->seconds);
    if (!code) code = machine_file_routes(file, job->is->name, &core, 1, &route, &copy, &within);
    if (code) return code;
    f->timed = 1;
    f->copy_per_byte = within.per_byte[0];
    f->near = f->far = (evn_way){route.latency[0], route.per_byte[0]};
    if (machine_file_nodes(file)) {
        const evn_route network = machine_file_network(file, 0, 0);
        f->far = (evn_way){network.latency[0], network.per_byte[0]};
        f->node = machine_file_node_cores(file, 0);
    }
    snprintf(f->basis, sizeof f->basis, "costs as described");
    return 0;
}

/* ---- runs ---- */

int figures_run(const struct job *job, int steps, struct way way, const struct runs_look *look,
                double *seconds, cJSON **record) {
    const int several = way.as == AS_PROCESSES;
    char class_[80], number[24], units[48], ranks[24];
    snprintf(class_, sizeof class_, "--class=%s", job->shape.class_);
    snprintf(number, sizeof number, "%d", steps);
    snprintf(units, sizeof units, "%d:CPU:%d", several ? 1 : way.processes, way.threads);
    snprintf(ranks, sizeof ranks, several ? "processes:%d" : "alone", way.processes);
    const char *const words[] = {"run",
                                 job->is->name,
                                 class_,
                                 "--steps",
                                 number,
                                 "--units",
                                 units,
                                 "--wire",
                                 ranks,
                                 "--schedule",
                                 way.as == AS_REASSIGNED ? "binpack:reassign" : "binpack",
                                 "--json",
                                 "-",
                                 "--quiet",
                                 NULL};
    cJSON *root;
    int code = runs_record(words, look, &root);
    if (code) return code;
    const double all = json_number(root, "seconds"), done = json_number(root, "steps");
    if (!(all > 0) || !(done >= 1)) {
        complain("a run of %d steps took no time", steps);
        code = EXIT_FAILED;
    }
    *seconds = all / done;
    if (record && !code)
        *record = root;
    else
        cJSON_Delete(root);
    return code;
}

/* ---- alpha ---- */

/* A number of processes and threads, and what was measured of it. */
struct point {
    int processes, threads;
    double sample[ROUNDS], seconds;
};

/* One core, all cores as one process and as many, and what lies between. */
static int make_points(struct point *point, int cores, int zones) {
    int n = 0;
    point[n++] = (struct point){.processes = 1, .threads = 1};
    for (int threads = 1; threads <= cores && n < POINTS; threads++)
        if (cores % threads == 0 && cores / threads <= zones && cores > 1)
            point[n++] = (struct point){.processes = cores / threads, .threads = threads};
    return n;
}

/* fib of all tasks together, by their times. */
static double pieces_of(const struct job *job, const double *seconds, int threads) {
    double all = 0, sum = 0;
    for (int t = 0; t < job->tasks.tasks; t++) {
        evn_phase phase[PHASES];
        const int n = job->is->teams->phases(job->state, t, phase, PHASES);
        sum += seconds[t] * evn_predict_team(0, n, phase, threads);
        all += seconds[t];
    }
    return sum / all;
}

/* Tmg / T: the share of the process that has most. */
static int longest_share(const struct job *job, const struct point *p, double *share) {
    const evn_processes how = {.processes = p->processes, .threads = p->threads};
    int *owner = malloc(sizeof *owner * (size_t)(job->tasks.tasks + p->processes));
    evn_status status = owner ? EVN_OK : evn_fail(EVN_MEMORY, "model: not enough memory");
    if (!status)
        status = evn_predict_group(&job->tasks, "binpack", &how, owner, owner + job->tasks.tasks);
    for (int i = 0; !status && i < p->processes; i++) owner[job->tasks.tasks + i] = p->threads;
    if (!status)
        *share = 1 / evn_predict_speedup(&job->tasks, &how, owner, owner + job->tasks.tasks, 0, 0);
    free(owner);
    return status ? give_up(status) : 0;
}

/* The slope over all points that were measured; the first is one core. */
static int fit(const struct job *job, const struct point *point, int n, const double *seconds,
               cJSON *entry) {
    double x[POINTS], y[POINTS], residual, share = 1;
    int m = 0;
    for (int i = 1; i < n; i++) {
        int code = longest_share(job, &point[i], &share);
        if (code) return code;
        if (point[i].threads < 2) continue; /* no team: it says nothing of one */
        const double f = point[i].seconds / point[0].seconds / share;
        x[m] = point[i].threads - 1;
        y[m++] = f / pieces_of(job, seconds, point[i].threads) - 1;
    }
    const double alpha = evn_predict_slope(m, x, y, &residual);
    record_number(entry, "alpha", fmax(0, alpha));
    record_number(entry, "residual", residual);
    cJSON_AddNumberToObject(entry, "points", m);
    return 0;
}

/* ---- costs ---- */

struct size {
    double points, seconds;
    int count;
};

static int by_points(const void *a, const void *b) {
    const struct size *x = a, *y = b;
    return (x->points > y->points) - (x->points < y->points);
}

/* A table of seconds by size, tasks of a size together: [[points, s], ..]; `seconds` receives each
 * task's. NULL: the record does not say. */
static cJSON *table_of(const struct job *job, const cJSON *record, double *seconds) {
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(record, "task_s"), *o;
    const int n = job->tasks.tasks;
    struct size *size = malloc(sizeof *size * (size_t)n);
    int t = 0;
    if (!size || cJSON_GetArraySize(times) != n) {
        free(size);
        return NULL;
    }
    cJSON_ArrayForEach(o, times) {
        seconds[t] = o->valuedouble;
        size[t] = (struct size){job->tasks.weight[t], seconds[t], 1};
        t++;
    }
    qsort(size, (size_t)n, sizeof *size, by_points);
    cJSON *table = cJSON_CreateArray();
    for (int i = 0, j; i < n; i = j) {
        double sum = 0;
        for (j = i; j < n && size[j].points == size[i].points; j++) sum += size[j].seconds;
        const double pair[] = {size[i].points, sum / (j - i)};
        cJSON_AddItemToArray(table, record_numbers(pair, 2));
    }
    free(size);
    return table;
}

/* Ways of messages on this node: the shortest one, and what a byte of the longest takes, in and out
 * copied; of copies alone what a byte takes in and out. */
static int measure_wire(cJSON *entry) {
    static const char *const words[] = {"bench",   "wire",    "--wire",   "processes:2",
                                        "--max",   "1048576", "--repeat", "3",
                                        "--quiet", "--json",  "-",        NULL};
    cJSON *root;
    int code = runs_record(words, NULL, &root);
    if (code) return code;
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(root, "sizes");
    const cJSON *last = cJSON_GetArrayItem(sizes, cJSON_GetArraySize(sizes) - 1);
    const double latency = json_number(cJSON_GetArrayItem(sizes, 0), "copied_s"),
                 bytes = json_number(last, "bytes"), copied = json_number(last, "copied_s"),
                 copies = json_number(last, "copies_s");
    if (bytes > 0 && copied > 0 && copies > 0) {
        record_number(entry, "latency_s", latency);
        record_number(entry, "between_s_per_byte", fmax(0, copied - latency) / bytes);
        record_number(entry, "within_s_per_byte", copies / 2 / bytes);
    } else {
        complain("the record of evener bench wire has no sizes");
        code = EXIT_FAILED;
    }
    cJSON_Delete(root);
    return code;
}

/* All points, in turn; the record of the first one's middle run goes to *record. */
static int measure_points(const struct job *job, struct point *point, int n, int steps, int quiet,
                          cJSON **record) {
    cJSON *alone[ROUNDS] = {NULL};
    int code = 0, middle = 0;
    for (int r = 0; !code && r < ROUNDS; r++)
        for (int i = 0; !code && i < n; i++) {
            if (!quiet)
                fprintf(stderr, "%s %s: %d x %d, round %d of %d ..\n", job->is->name,
                        job->shape.key, point[i].processes, point[i].threads, r + 1, ROUNDS);
            const struct way way = {point[i].processes, point[i].threads, AS_UNITS};
            code = figures_run(job, steps, way, NULL, &point[i].sample[r], i ? NULL : &alone[r]);
        }
    double first[ROUNDS]; /* median() sorts */
    memcpy(first, point->sample, sizeof first);
    for (int i = 0; !code && i < n; i++) point[i].seconds = median(point[i].sample, ROUNDS);
    for (int r = 0; r < ROUNDS; r++)
        if (!code && first[r] == point->seconds) middle = r;
    *record = alone[middle];
    alone[middle] = NULL;
    for (int r = 0; r < ROUNDS; r++) cJSON_Delete(alone[r]);
    return code;
}

static int keep(const struct job *job, cJSON *entry) {
    char *folder = calibration_folder();
    if (!folder)
        return complain(
            "neither XDG_CACHE_HOME nor HOME is set: there is no place for what is measured");
    cJSON *entries = cJSON_CreateArray();
    cJSON_AddItemToArray(entries, cJSON_Duplicate(entry, 1));
    int code = calibration_try_folder(folder);
    if (!code) code = calibration_keep(folder, job->machine, entries);
    cJSON_Delete(entries);
    free(folder);
    return code;
}

int figures_measure(const struct job *job, int steps, int quiet) {
    struct point point[POINTS];
    const int n = make_points(point, evn_machine_cores(job->machine), job->tasks.tasks);
    double *seconds = calloc((size_t)job->tasks.tasks, sizeof *seconds);
    cJSON *record = NULL, *entry = cJSON_CreateObject(), *table = NULL;
    int code = seconds ? 0 : give_up(evn_fail(EVN_MEMORY, "model: not enough memory"));
    if (!code) code = measure_points(job, point, n, steps, quiet, &record);
    if (!code && !(table = table_of(job, record, seconds))) {
        complain("a run's record has no times of tasks");
        code = EXIT_FAILED;
    }
    cJSON_Delete(record);
    double sum = 0;
    for (int t = 0; !code && t < job->tasks.tasks; t++) sum += seconds[t];
    cJSON_AddStringToObject(entry, "app", job->is->name);
    cJSON_AddStringToObject(entry, "class", job->shape.key);
    cJSON_AddStringToObject(entry, "unit", UNIT);
    cJSON_AddNumberToObject(entry, "tasks", job->tasks.tasks);
    cJSON_AddNumberToObject(entry, "steps", steps);
    record_number(entry, "task_s", sum / job->tasks.tasks);
    record_number(entry, "weight_per_s", job_weight(job) / sum);
    cJSON_AddItemToObject(entry, "sizes", table);
    if (!code) code = fit(job, point, n, seconds, entry);
    if (!code) code = measure_wire(entry);
    if (!code) code = keep(job, entry);
    cJSON_Delete(entry);
    free(seconds);
    return code;
}
