/* Reading the times of a record. */
#include "plan/times_file.h"
#include "plan/foreign.h"
#include "common/cli/message.h"
#include "common/cli/json_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORES_MOST = 1000000 };

/* A kind of units of the run: what it did. Size 0: not known, as where cores were not bound. */
struct run_kind {
    struct unit_kind kind;
    double seconds, weight;   /* of its tasks, one step */
    double exchange_s, bytes; /* of its faces, one step */
};

struct run {
    int n, units, kinds;
    double *task_s, *unit_s; /* of each task; of each unit's tasks */
    int *owner, *kind_of;
    struct run_kind kind[KINDS_MAX];
};

static int lacks(const char *path, const char *what) {
    complain("%s: %s; expected the record that evener run --json writes", path, what);
    return EXIT_USAGE;
}

static int read_tasks(struct run *r, const char *path, const struct record_part *part) {
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(part->root, "task_s"),
                *owner = cJSON_GetObjectItemCaseSensitive(part->root, "owner"), *o;
    const int end = part->first + part->tasks;
    if (!cJSON_IsArray(times)) return lacks(path, "there are no times of tasks in it, \"task_s\"");
    if (part->tasks != r->n || cJSON_GetArraySize(owner) != cJSON_GetArraySize(times))
        return lacks(path, "\"task_s\" and \"owner\" are not one number a task");
    int t = 0;
    for (o = times->child; o && t < end; o = o->next, t++) {
        if (!(cJSON_IsNumber(o) && o->valuedouble >= 0 && o->valuedouble <= 1e200))
            return lacks(path, "a time in \"task_s\" is no number of seconds from 0 to 1e200");
        if (t >= part->first) r->task_s[t - part->first] = o->valuedouble;
    }
    t = 0;
    for (o = owner->child; o && t < end; o = o->next, t++) {
        if (!(cJSON_IsNumber(o) && o->valuedouble >= 0 && o->valuedouble < r->units))
            return lacks(path, "\"owner\" names a unit that is not in \"units\"");
        if (t >= part->first) r->owner[t - part->first] = o->valueint;
    }
    return 0;
}

/* Cores of a team, those that it is bound to where older records say no more. */
static int team_size(const cJSON *unit) {
    const double threads = json_number(unit, "threads");
    if (threads >= 1 && threads <= CORES_MOST) return (int)threads;
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(unit, "cores"));
}

/* The median instance's time in exchange over the mean one's, in which first and disturbed ones
 * count as well; 1 where the record does not tell. */
static double median_share(const cJSON *of, double steps) {
    const cJSON *periods = cJSON_GetObjectItemCaseSensitive(of, "periods"),
                *median = cJSON_GetObjectItemCaseSensitive(of, "median");
    const double mean = json_number(periods, "communication_s") / steps,
                 typical = json_number(median, "communication_s");
    return mean > 0 && typical >= 0 ? typical / mean : 1;
}

static int read_units(struct run *r, const char *path, const struct record_part *part,
                      double steps) {
    const cJSON *o, *did = cJSON_GetObjectItemCaseSensitive(part->of, "units");
    const double share = median_share(part->of, steps);
    int u = 0;
    if (cJSON_GetArraySize(did) != r->units) return lacks(path, "its loop has other units than it");
    did = did->child;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(part->root, "units")) {
        const char *family = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "kind"));
        const double exchange_s = json_number(did, "exchange_s");
        did = did->next;
        if (!family || (strcmp(family, "cpu") != 0 && strcmp(family, "gpu") != 0) ||
            isnan(exchange_s))
            return lacks(path, "a unit has no \"kind\" or no \"exchange_s\"");
        const int gpu = !strcmp(family, "gpu");
        const int size = gpu ? 1 : team_size(o);
        int k = 0;
        while (k < r->kinds && (r->kind[k].kind.gpu != gpu || r->kind[k].kind.size != size)) k++;
        if (k == KINDS_MAX) return lacks(path, "there are too many kinds of units in it");
        if (k == r->kinds) r->kind[r->kinds++] = (struct run_kind){.kind = {gpu, size, 0}};
        r->kind[k].kind.count++;
        r->kind[k].exchange_s += share * exchange_s / steps;
        r->kind_of[u++] = k;
    }
    return 0;
}

/* Adds up the work of each kind in a step. */
static void add_up(struct run *r, const evn_problem *tasks) {
    for (int t = 0; t < r->n; t++) {
        struct run_kind *k = &r->kind[r->kind_of[r->owner[t]]];
        k->seconds += r->task_s[t];
        k->weight += tasks->weight ? tasks->weight[t] : 1;
    }
    for (int l = 0; l < tasks->links; l++)
        for (int e = 0; e < 2; e++)
            r->kind[r->kind_of[r->owner[tasks->link[l].task[e]]]].bytes += tasks->link[l].bytes;
}

/* The kind of the run that comes nearest to `kind`: of the same family, the same size or the
 * nearest one. -1: there is none of the family that ran a task. */
static int nearest(const struct run *r, struct unit_kind kind) {
    int best = -1;
    double best_distance = INFINITY;
    for (int k = 0; k < r->kinds; k++) {
        const struct run_kind *there = &r->kind[k];
        if (there->kind.gpu != kind.gpu || !(there->weight > 0) || !(there->seconds > 0)) continue;
        const double distance =
            there->kind.size ? fabs(log((double)kind.size / there->kind.size)) : 0;
        if (distance >= best_distance) continue;
        best = k;
        best_distance = distance;
    }
    return best;
}

/* Says so where teams of a size that has not run stand on others' times. */
static void say_guess(struct times_file *out, struct unit_kind kind, struct unit_kind ran) {
    char text[2][24];
    if (kind.gpu || !ran.size || kind.size == ran.size) return;
    snprintf(out->guess, sizeof out->guess,
             "no %s has run: its times are those of %s by the number of cores, as if bodies shared "
             "all of a task out",
             unit_kind_text(kind, text[0]), unit_kind_text(ran, text[1]));
}

/* Has the tasks take in all what the median instance's took: single tasks are disturbed less often
 * than one of many. Devices' units do other things between tasks. */
static void fit_tasks(struct run *r, const cJSON *median) {
    const double mean = json_number(median, "task_s"); /* older records do not tell */
    double sum = 0;
    for (int k = 0; k < r->kinds; k++)
        if (r->kind[k].kind.gpu) return;
    for (int t = 0; t < r->n; t++) sum += r->task_s[t];
    const double factor = mean * r->n / sum;
    for (int t = 0; factor > 0 && isfinite(factor) && t < r->n; t++) r->task_s[t] *= factor;
}

/* What of a run's time beside tasks was taken by waking units of a rank, by the model's rule. */
static double woken(const double *unit_s, int units, const evn_model *m) {
    const int sleep = units > 1 && m->idle_s > m->spin_s;
    double end = 0, longest = 0, own = 0;
    for (int u = 0; u < units; u++) {
        const double begin = !sleep ? 0 : u ? m->wake_s : m->wake_call_s;
        end = fmax(end, begin + unit_s[u]);
        if (!u) own = end;
        longest = fmax(longest, unit_s[u]);
    }
    return end - longest + (end - own > m->spin_s ? m->wake_s : 0);
}

/* Seconds of a step beside tasks and faces: what the run had, but for waking, which is that of the
 * units to come. */
static void put_beside(struct run *r, const struct record_part *part, evn_model *m) {
    const cJSON *median = cJSON_GetObjectItemCaseSensitive(part->of, "median"),
                *machine = cJSON_GetObjectItemCaseSensitive(part->root, "machine"),
                *list = cJSON_GetObjectItemCaseSensitive(part->root, "ranks");
    const int ranks = cJSON_GetArraySize(list),
              each = ranks > 0 && ranks <= r->units ? r->units / ranks : r->units;
    const double beside = json_number(median, "beside_s"), idle = json_number(median, "idle_s"),
                 wake = json_number(machine, "wake_s"), spin = json_number(machine, "spin_s"),
                 call = json_number(machine, "wake_call_s");
    if (!(beside >= 0)) return; /* older records do not tell */
    m->beside_s = beside;
    if (!(idle >= 0 && wake >= 0 && spin >= 0)) return;
    m->idle_s = idle;
    m->spin_s = spin;
    m->wake_s = wake;
    m->wake_call_s = call >= 0 ? call : 0; /* older records do not tell */
    for (int t = 0; t < r->n; t++) r->unit_s[r->owner[t]] += r->task_s[t];
    double most = 0;
    for (int u = 0; u + each <= r->units; u += each)
        most = fmax(most, woken(r->unit_s + u, each, m));
    m->beside_s = fmax(0, beside - most);
}

static int put(const struct run *r, const char *path, struct machine_model *m, int keep_routes,
               struct times_file *out) {
    const size_t n = (size_t)r->n;
    for (int k = 0; k < m->kinds; k++) {
        double *seconds = m->seconds + (size_t)k * n;
        const int same = nearest(r, m->unit_kind[k]);
        if (same < 0) {
            char text[24];
            double known = 0;
            for (size_t t = 0; t < n; t++) known += seconds[t];
            if (known > 0) continue; /* as the machine's file has it */
            complain("%s: no unit like %s has run a task in it; plan for units of its kinds, or "
                     "describe the others with --machine FILE",
                     path, unit_kind_text(m->unit_kind[k], text));
            return EXIT_USAGE;
        }
        const struct run_kind *like = &r->kind[same];
        say_guess(out, m->unit_kind[k], like->kind);
        const double cores = like->kind.size ? (double)like->kind.size / m->unit_kind[k].size : 1;
        for (size_t t = 0; t < n; t++) {
            const struct run_kind *ran = &r->kind[r->kind_of[r->owner[t]]];
            seconds[t] = r->task_s[t] * cores;
            if (ran != like && ran->seconds > 0)
                seconds[t] *= (like->seconds / like->weight) / (ran->seconds / ran->weight);
        }
        if (keep_routes) continue;
        const double per_byte = like->bytes > 0 ? like->exchange_s / like->bytes * cores : 0;
        m->within[k] = (evn_route){.hops = 1, .per_byte = {per_byte}};
        for (int from = 0; from < m->kinds; from++) /* the receiving unit takes it */
            m->route[from * m->kinds + k] = (evn_route){.hops = 2, .per_byte = {0, per_byte}};
    }
    return 0;
}

/* Whether the record is of this workload and problem; its class stands for the problem in records
 * that do not name it. */
static int check_problem(const char *path, const cJSON *root, const struct job *job) {
    if (!job->is->run) return 0; /* the tasks are the record's own */
    const char *was = json_text(root, "app"), *key = json_text(root, "problem");
    if (!key) key = json_text(root, "class");
    if (!was || !key) return lacks(path, "it does not say of which workload it is");
    if (!strcmp(was, job->is->name) && !strcmp(key, job->shape.key)) return 0;
    const char *word = job->shape.class_ ? " class" : ":";
    complain("%s is the record of %s%s %s, and this is a plan for %s%s %s", path, was, word, key,
             job->is->name, word, job->shape.key);
    return EXIT_USAGE;
}

static int read_run(struct times_file *out, const char *path, const cJSON *root,
                    const struct job *job, struct machine_model *m, int keep_routes) {
    const evn_problem *tasks = &job->tasks;
    const struct foreign *own = job->is->run ? NULL : job->state;
    struct record_part part;
    int code = check_problem(path, root, job);
    if (!code) code = record_part_find(&part, path, root, own ? own->loop : NULL);
    if (code) return code;
    double steps = json_number(part.of, "instances"); /* of the loop */
    if (isnan(steps)) steps = json_number(part.of, "steps");
    const cJSON *units = cJSON_GetObjectItemCaseSensitive(root, "units"),
                *periods = cJSON_GetObjectItemCaseSensitive(part.of, "periods"),
                *median = cJSON_GetObjectItemCaseSensitive(part.of, "median");
    if (!(steps >= 1)) return lacks(path, "no step was run in it");
    if (!cJSON_IsArray(units) || !units->child) return lacks(path, "there are no \"units\" in it");
    struct run r = {.n = tasks->tasks, .units = cJSON_GetArraySize(units)};
    r.task_s = malloc((size_t)r.n * sizeof *r.task_s);
    r.owner = malloc((size_t)r.n * sizeof *r.owner);
    r.kind_of = malloc((size_t)r.units * sizeof *r.kind_of);
    r.unit_s = calloc((size_t)r.units, sizeof *r.unit_s);
    if (!r.task_s || !r.owner || !r.kind_of || !r.unit_s) {
        complain("not enough memory for %d tasks", r.n);
        code = EXIT_USAGE;
    }
    if (!code) code = read_units(&r, path, &part, steps);
    if (!code) code = read_tasks(&r, path, &part);
    *out = (struct times_file){
        .step_s = json_number(part.of, "seconds") / steps,
        .compute_s = json_number(periods, "compute_s") / steps,
        .communication_s = json_number(periods, "communication_s") / steps,
        .median_s = json_number(median, "step_s"),
    };
    if (!code) {
        fit_tasks(&r, median);
        put_beside(&r, &part, &m->model);
        add_up(&r, tasks);
        code = put(&r, path, m, keep_routes, out);
        if (r.units < m->model.units && !m->model.crowd && !m->model.beside)
            out->unknown = "tasks beside each other take what they took on fewer units: a record "
                           "cannot know, \"crowd\" in a --machine FILE can";
    }
    free(r.task_s);
    free(r.owner);
    free(r.kind_of);
    free(r.unit_s);
    return code;
}

int times_file_read(struct times_file *out, const char *path, const struct job *job,
                    struct machine_model *m, int keep_routes) {
    const struct foreign *own = job->is->run ? NULL : job->state;
    cJSON *root;
    if (own && own->root) /* a pipe is read once */
        return read_run(out, path, own->root, job, m, keep_routes);
    int code = json_file_read(&root, path);
    if (!code) code = read_run(out, path, root, job, m, keep_routes);
    cJSON_Delete(root);
    return code;
}
