/* Processes by threads: the equations of the multi-zone benchmarks' authors, and the finer model
 * with every process's threads, tasks and messages. */
#include <evener/predict.h>
#include "base/argument.h"
#include "schedule/core_reassignment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 16, CORES_MAX = 1 << 24 };

static int is_amount(double x) { return x >= 0 && isfinite(x); }

/* ---- teams ---- */

/* fib of equation (2): time of a loop of `length` whole pieces on `threads` threads over an even
 * share: ceil(L / n) n / L. 1 for length 0. */
static double fib(int length, int threads) {
    if (length < 0 || threads < 1) {
        evn_fail(EVN_USAGE, "predict: a loop of %d pieces on %d threads, expected 1 thread or more",
                 length, threads);
        return NAN;
    }
    if (!length) return 1;
    const double each = ((double)length + threads - 1) / threads;
    return floor(each) * threads / length;
}

double evn_predict_team(double alpha, int phases, const evn_phase *phase, int threads) {
    if (!(alpha >= 0 && isfinite(alpha)) || phases < 0 || (phases && !phase)) {
        evn_fail(EVN_USAGE, "predict: alpha %g and %d phases, expected a number from 0", alpha,
                 phases);
        return NAN;
    }
    double pieces = phases ? 0 : 1;
    for (int i = 0; i < phases; i++) pieces += phase[i].share * fib(phase[i].length, threads);
    return (1 + (threads - 1) * alpha) * pieces;
}

double evn_predict_slope(int n, const double *x, const double *y, double *residual) {
    NEED_OR(NAN, x, "x");
    NEED_OR(NAN, y, "y");
    double xy = 0, xx = 0, rest = 0;
    for (int i = 0; i < n; i++) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
    }
    const double slope = xx > 0 ? xy / xx : 0;
    for (int i = 0; i < n; i++) rest += (y[i] - slope * x[i]) * (y[i] - slope * x[i]);
    if (residual) *residual = n > 0 ? sqrt(rest / n) : 0;
    return slope;
}

/* ---- processes ---- */

static evn_status check_tasks(const evn_problem *tasks) {
    if (tasks->tasks < 1)
        return evn_fail(EVN_USAGE, "predict: %d tasks, expected 1 or more", tasks->tasks);
    for (int t = 0; tasks->weight && t < tasks->tasks; t++)
        if (!is_amount(tasks->weight[t]))
            return evn_fail(EVN_USAGE, "predict: the weight of task %d is %g, expected one from 0",
                            t, tasks->weight[t]);
    if (tasks->links < 0 || (tasks->links && !tasks->link))
        return evn_fail(EVN_USAGE, "predict: %d links, expected 0 or more and an array of them",
                        tasks->links);
    for (int l = 0; l < tasks->links; l++) {
        const evn_link *link = &tasks->link[l];
        for (int e = 0; e < 2; e++)
            if (link->task[e] < 0 || link->task[e] >= tasks->tasks)
                return evn_fail(EVN_USAGE,
                                "predict: an end of link %d is task %d, expected 0 to %d", l,
                                link->task[e], tasks->tasks - 1);
        if (!is_amount(link->bytes))
            return evn_fail(EVN_USAGE, "predict: link %d has %g bytes, expected some from 0", l,
                            link->bytes);
    }
    return EVN_OK;
}

static evn_status check(const evn_problem *tasks, const evn_processes *p) {
    const evn_status status = check_tasks(tasks);
    if (status) return status;
    if (p->processes < 1 || p->threads < 1 || p->processes > CORES_MAX / p->threads)
        return evn_fail(EVN_USAGE,
                        "predict: %d processes of %d threads, expected one of each or more, "
                        "%d cores at most",
                        p->processes, p->threads, CORES_MAX);
    if (p->node < 0 || (p->node && p->node < p->threads))
        return evn_fail(EVN_USAGE,
                        "predict: %d threads a process on nodes of %d cores, expected "
                        "no more than that",
                        p->threads, p->node);
    if (p->cap < 0 || (p->cap && p->cap < p->threads))
        return evn_fail(EVN_USAGE,
                        "predict: %d threads a process and at most %d, expected no "
                        "fewer at most",
                        p->threads, p->cap);
    return EVN_OK;
}

static evn_status check_owners(const evn_problem *tasks, const evn_processes *p, const int *owner,
                               const int *threads) {
    evn_status status = check(tasks, p);
    for (int t = 0; !status && t < tasks->tasks; t++)
        if (owner[t] < 0 || owner[t] >= p->processes)
            status = evn_fail(EVN_USAGE, "predict: task %d is of process %d, expected 0 to %d", t,
                              owner[t], p->processes - 1);
    for (int i = 0; !status && i < p->processes; i++)
        if (threads[i] < 1)
            status = evn_fail(EVN_USAGE, "predict: process %d has %d threads, expected 1 or more",
                              i, threads[i]);
    return status;
}

static double weight(const evn_problem *tasks, int t) {
    return tasks->weight ? tasks->weight[t] : 1;
}

/* Processes of a node. */
static int on_a_node(const evn_processes *p) {
    return p->node ? p->node / p->threads : p->processes;
}

evn_status evn_predict_group(const evn_problem *tasks, const char *text, const evn_processes *p,
                             int *owner, int *threads) {
    NEED(tasks, "tasks");
    NEED(text, "a schedule");
    NEED(p, "a number of processes");
    NEED(owner, "where to put the tasks' processes");
    NEED(threads, "where to put the processes' threads");
    evn_status status = check(tasks, p);
    if (status) return status;
    const evn_problem problem = {.tasks = tasks->tasks,
                                 .weight = tasks->weight,
                                 .links = tasks->links,
                                 .link = tasks->link,
                                 .units = p->processes};
    evn_schedule *schedule;
    double *load = calloc((size_t)p->processes, sizeof *load);
    status = load ? evn_schedule_open(&schedule, text, &problem)
                  : evn_fail(EVN_MEMORY, "predict: no memory for %d processes", p->processes);
    if (!status) {
        memcpy(owner, evn_schedule_owner(schedule), (size_t)tasks->tasks * sizeof *owner);
        evn_schedule_close(schedule);
        for (int t = 0; t < tasks->tasks; t++) load[owner[t]] += weight(tasks, t);
    }
    const int each = on_a_node(p);
    for (int i = 0; !status && i < p->processes; i += each) {
        const int here = each < p->processes - i ? each : p->processes - i;
        status = policy_reassign(load + i, here, here * p->threads, p->cap, threads + i);
    }
    free(load);
    return status;
}

double evn_predict_speedup(const evn_problem *tasks, const evn_processes *p, const int *owner,
                           const int *threads, double alpha, int length) {
    NEED_OR(NAN, tasks, "tasks");
    NEED_OR(NAN, p, "a number of processes");
    NEED_OR(NAN, owner, "the tasks' processes");
    NEED_OR(NAN, threads, "the processes' threads");
    if (check_owners(tasks, p, owner, threads)) return NAN;
    const evn_phase loop = {1, length};
    const double f = evn_predict_team(alpha, 1, &loop, p->threads);
    double *load = calloc((size_t)p->processes, sizeof *load), total = 0, longest = 0;
    if (!load) {
        evn_fail(EVN_MEMORY, "predict: no memory for %d processes", p->processes);
        return NAN;
    }
    for (int t = 0; t < tasks->tasks; t++) {
        total += weight(tasks, t);
        load[owner[t]] += weight(tasks, t);
    }
    for (int i = 0; i < p->processes; i++) {
        /* with fmax() gcc 12 for aarch64 fails on this loop (internal compiler error) */
        const double s = load[i] / threads[i];
        if (s > longest) longest = s;
    }
    free(load);
    return longest > 0 ? total / (longest * f) : 1 / f;
}

/* ---- a step ---- */

/* Faces between two processes: first one a link, then one a pair. */
struct pair {
    int a, b;
    double bytes;
};

static int by_pair(const void *x, const void *y) {
    const struct pair *p = x, *q = y;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

/* Adds each process's messages to `exchange`; a link has both directions. */
static void messages(const evn_prediction_input *in, const evn_processes *p, struct pair *pair,
                     int n, double *exchange) {
    const int each = on_a_node(p);
    qsort(pair, (size_t)n, sizeof *pair, by_pair);
    for (int i = 0, j; i < n; i = j) {
        double bytes = 0;
        for (j = i; j < n && !by_pair(&pair[i], &pair[j]); j++) bytes += pair[j].bytes;
        const evn_way *way = pair[i].a / each == pair[i].b / each ? &in->near : &in->far;
        const double seconds = way->latency + bytes * way->per_byte;
        exchange[pair[i].a] += seconds;
        exchange[pair[i].b] += seconds;
    }
}

/* Seconds of each process with its tasks. */
static evn_status teams(const evn_prediction_input *in, const int *owner, const int *threads,
                        double *compute) {
    for (int t = 0; t < in->tasks->tasks; t++) {
        evn_phase phase[PHASES];
        const int phases = in->phases ? in->phases(in->arg, t, phase, PHASES) : 0;
        const int n = threads[owner[t]];
        const double f = evn_predict_team(in->alpha, phases, phase, n);
        if (isnan(f)) return EVN_USAGE;
        if (!is_amount(in->seconds[t]))
            return evn_fail(EVN_USAGE, "predict: task %d takes %g s, expected a time from 0", t,
                            in->seconds[t]);
        compute[owner[t]] += in->seconds[t] * f / n;
    }
    return EVN_OK;
}

static void longest(const evn_processes *p, const double *compute, const double *exchange,
                    evn_prediction *out) {
    for (int i = 0; i < p->processes; i++) {
        if (i && compute[i] + exchange[i] <= out->compute_s + out->exchange_s) continue;
        out->compute_s = compute[i];
        out->exchange_s = exchange[i];
    }
}

evn_status evn_predict_step(const evn_prediction_input *in, const evn_processes *p,
                            const int *owner, const int *threads, evn_prediction *out) {
    NEED(in, "tasks and times");
    NEED(p, "a number of processes");
    NEED(owner, "the tasks' processes");
    NEED(threads, "the processes' threads");
    NEED(out, "where to put the prediction");
    NEED(in->tasks, "tasks");
    NEED(in->seconds, "the tasks' seconds");
    const double numbers[] = {in->alpha,         in->copy_per_byte, in->near.latency,
                              in->near.per_byte, in->far.latency,   in->far.per_byte};
    for (int i = 0; i < 6; i++)
        if (!is_amount(numbers[i]))
            return evn_fail(EVN_USAGE, "predict: alpha or a way is %g, expected a number from 0",
                            numbers[i]);
    const evn_problem *tasks = in->tasks;
    *out = (evn_prediction){0};
    evn_status status = check_owners(tasks, p, owner, threads);
    if (status) return status;
    double *compute = calloc(2 * (size_t)p->processes, sizeof *compute);
    struct pair *pair = malloc(((size_t)tasks->links + 1) * sizeof *pair);
    if (!compute || !pair)
        status = evn_fail(EVN_MEMORY, "predict: no memory for %d processes", p->processes);
    else
        status = teams(in, owner, threads, compute);
    double *exchange = compute + p->processes;
    int n = 0;
    for (int l = 0; !status && l < tasks->links; l++) {
        const int a = owner[tasks->link[l].task[0]], b = owner[tasks->link[l].task[1]];
        exchange[a] += tasks->link[l].bytes * in->copy_per_byte;
        exchange[b] += tasks->link[l].bytes * in->copy_per_byte;
        if (a != b) pair[n++] = (struct pair){a < b ? a : b, a < b ? b : a, tasks->link[l].bytes};
    }
    if (!status) {
        messages(in, p, pair, n, exchange);
        longest(p, compute, exchange, out);
        int hops = 0;
        while ((1LL << hops) < p->processes) hops++;
        out->tree_s = 2 * hops * (on_a_node(p) < p->processes ? in->far.latency : in->near.latency);
        out->step_s = out->compute_s + out->exchange_s + out->tree_s;
    }
    free(pair);
    free(compute);
    return status;
}
