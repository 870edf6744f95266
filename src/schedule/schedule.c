/* Schedules: the list of policies, and what all of them share. */
#include <evener/status.h>
#include "schedule/cores.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct policy *const policies[] = {
    &policy_static_, &policy_dynamic,  &policy_guided, &policy_weighted,
    &policy_binpack, &policy_interval, &policy_map,    &policy_optimal,
};
enum { POLICIES = sizeof policies / sizeof *policies };

const char *evn_schedule_name(int i, const char **explanation) {
    if (i < 0 || i >= POLICIES) return NULL;
    if (explanation) *explanation = policies[i]->explanation;
    return policies[i]->name;
}

evn_status policy_no_options(const evn_schedule *s, const evn_spec *spec) {
    if (!spec->options) return EVN_OK;
    return evn_fail(EVN_USAGE, "schedule: %s takes no options, but \"%s\" was given",
                    s->policy->name, spec->option[0].key);
}

static const struct policy *find(const char *name) {
    for (int i = 0; i < POLICIES; i++)
        if (!strcmp(policies[i]->name, name)) return policies[i];
    char known[256] = "";
    for (int i = 0; i < POLICIES; i++) {
        size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", policies[i]->name);
    }
    evn_fail(EVN_USAGE, "schedule: there is none called \"%s\", expected one of: %s", name, known);
    return NULL;
}

static evn_status check(const evn_problem *p) {
    if (p->tasks < 1 || p->units < 1)
        return evn_fail(EVN_USAGE, "schedule: %d tasks on %d units, expected at least one of each",
                        p->tasks, p->units);
    for (int t = 0; p->weight && t < p->tasks; t++)
        if (!(p->weight[t] >= 0) || isinf(p->weight[t]))
            return evn_fail(
                EVN_USAGE, "schedule: the weight of task %d is %g, expected a finite number from 0",
                t, p->weight[t]);
    for (int u = 0; p->speed && u < p->units; u++)
        if (!(p->speed[u] > 0) || isinf(p->speed[u]))
            return evn_fail(
                EVN_USAGE, "schedule: the speed of unit %d is %g, expected a finite number above 0",
                u, p->speed[u]);
    if (!(p->bandwidth >= 0) || isinf(p->bandwidth))
        return evn_fail(EVN_USAGE, "schedule: the bandwidth is %g, expected a finite number from 0",
                        p->bandwidth);
    for (int l = 0; l < p->links; l++) {
        for (int e = 0; e < 2; e++)
            if (p->link[l].task[e] < 0 || p->link[l].task[e] >= p->tasks)
                return evn_fail(EVN_USAGE, "schedule: link %d names task %d, expected 0 to %d", l,
                                p->link[l].task[e], p->tasks - 1);
        if (!(p->link[l].bytes >= 0) || isinf(p->link[l].bytes))
            return evn_fail(EVN_USAGE,
                            "schedule: link %d has %g bytes, expected a finite number from 0", l,
                            p->link[l].bytes);
    }
    return EVN_OK;
}

static double *copy_or_ones(const double *from, int n) {
    double *to = malloc(sizeof *to * (size_t)n);
    for (int i = 0; to && i < n; i++) to[i] = from ? from[i] : 1;
    return to;
}

evn_status evn_schedule_open(evn_schedule **out, const char *text, const evn_problem *problem) {
    *out = NULL;
    evn_spec spec;
    evn_status status = evn_spec_parse(&spec, "schedule", text);
    if (status) return status;
    const struct policy *policy = find(spec.name);
    if (!policy) return EVN_USAGE;
    if ((status = check(problem))) return status;

    evn_schedule *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "schedule: not enough memory");
    s->policy = policy;
    s->problem = *problem;
    double *weight = copy_or_ones(problem->weight, problem->tasks);
    double *speed = copy_or_ones(problem->speed, problem->units);
    size_t links = sizeof(evn_link) * (size_t)problem->links;
    evn_link *link = malloc(links + 1);
    s->owner = malloc(sizeof *s->owner * (size_t)problem->tasks);
    s->problem.weight = weight;
    s->problem.speed = speed;
    s->problem.link = link;
    if (!weight || !speed || !link || !s->owner) {
        evn_schedule_close(s);
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", problem->tasks);
    }
    if (links) memcpy(link, problem->link, links);
    policy_static(problem->tasks, problem->units, s->owner);
    if ((status = policy->open(s, &spec))) {
        evn_schedule_close(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

void evn_schedule_close(evn_schedule *s) {
    if (!s) return;
    free((void *)s->problem.weight);
    free((void *)s->problem.speed);
    free((void *)s->problem.link);
    free(s->owner);
    free(s->state);
    free(s);
}

const char *evn_schedule_text(const evn_schedule *s) { return s->text; }
int evn_schedule_chunk(const evn_schedule *s) { return s->chunk; }
const int *evn_schedule_owner(const evn_schedule *s) { return s->owner; }
int evn_schedule_instance(const evn_schedule *s) { return s->instance; }
int evn_schedule_settled(const evn_schedule *s) { return s->settled; }
const evn_problem *evn_schedule_problem(const evn_schedule *s) { return &s->problem; }

evn_status evn_schedule_learn(evn_schedule *s, const int *owner, const double *seconds) {
    for (int t = 0; t < s->problem.tasks; t++) {
        if (owner[t] < 0 || owner[t] >= s->problem.units)
            return evn_fail(EVN_USAGE, "schedule: task %d ran on unit %d, expected 0 to %d", t,
                            owner[t], s->problem.units - 1);
        if (!(seconds[t] >= 0) || isinf(seconds[t]))
            return evn_fail(EVN_USAGE, "schedule: task %d took %g s, expected a finite time from 0",
                            t, seconds[t]);
    }
    s->instance++;
    s->policy->learn(s, owner, seconds);
    return EVN_OK;
}

char *evn_schedule_export(const evn_schedule *s) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    const int n = s->problem.tasks;
    fprintf(f, "%s %d tasks %d units:", s->text, n, s->problem.units);
    for (int t = 0; t < n;) {
        int from = t;
        while (t < n && s->owner[t] == s->owner[from]) t++;
        fprintf(f, " %d*%d", t - from, s->owner[from]);
    }
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}

/* Reads " 7*0 4*1 .." into owner; the number of tasks read, -1 if it is not of that form. */
static int read_runs(const char *p, int tasks, int units, int *owner) {
    int t = 0;
    while (*p == ' ') {
        long count, unit;
        p++;
        if (!evn_text_number(&p, tasks - t, &count) || *p++ != '*' ||
            !evn_text_number(&p, units - 1, &unit))
            return -1;
        while (count--) owner[t++] = (int)unit;
    }
    return *p && *p != '\n' ? -1 : t;
}

evn_status evn_schedule_import(evn_schedule *s, const char *text) {
    const int n = s->problem.tasks;
    char head[256];
    int length = snprintf(head, sizeof head, "%s %d tasks %d units:", s->text, n, s->problem.units);
    if (strncmp(text, head, (size_t)length) != 0)
        return evn_fail(EVN_USAGE, "schedule: cannot import \"%.60s\", expected \"%s ..\"", text,
                        head);
    int *owner = malloc(sizeof *owner * (size_t)n);
    int *old = s->owner;
    if (!owner) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", n);
    int got = read_runs(text + length, n, s->problem.units, owner);
    if (got != n) {
        free(owner);
        return evn_fail(EVN_USAGE,
                        "schedule: cannot import \"%.60s\": expected runs COUNT*UNIT for %d tasks",
                        text, n);
    }
    s->owner = owner;
    evn_status status = s->policy->import(s);
    if (status) s->owner = old;
    free(status ? owner : old);
    return status;
}

double evn_problem_imbalance(const evn_problem *p, const int *owner, double *load) {
    double *sum = load ? load : malloc(sizeof *sum * (size_t)p->units);
    if (!sum) return NAN;
    for (int u = 0; u < p->units; u++) sum[u] = 0;
    for (int t = 0; t < p->tasks; t++) sum[owner[t]] += p->weight ? p->weight[t] : 1;
    double longest = 0, shortest = INFINITY;
    for (int u = 0; u < p->units; u++) {
        double time = sum[u] / (p->speed ? p->speed[u] : 1);
        longest = fmax(longest, time);
        shortest = fmin(shortest, time);
    }
    if (!load) free(sum);
    return shortest > 0 ? longest / shortest : longest > 0 ? INFINITY : 1;
}

/* The unit that is free first, the lowest number of several, is the first of a heap; it has become
 * later and sinks. */
static void sink(int *heap, int units, const double *busy) {
    const int unit = heap[0];
    int i = 0;
    for (int c; (c = 2 * i + 1) < units; i = c) {
#define SOONER(a, b) (busy[a] < busy[b] || (busy[a] == busy[b] && (a) < (b)))
        if (c + 1 < units && SOONER(heap[c + 1], heap[c])) c++;
        if (!SOONER(heap[c], unit)) break;
#undef SOONER
        heap[i] = heap[c];
    }
    heap[i] = unit;
}

evn_status evn_schedule_simulate(const evn_schedule *s, int *owner, double *seconds) {
    const evn_problem *p = &s->problem;
    const size_t units = (size_t)p->units;
    double *busy = calloc(units, sizeof *busy);
    int *heap = malloc(units * sizeof *heap);
    if (!busy || !heap) {
        free(busy);
        free(heap);
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu units", units);
    }
    for (int u = 0; u < p->units; u++) heap[u] = u;
    for (int t = 0; t < p->tasks; t++) {
        /* a new chunk goes to whoever is free first */
        if (s->chunk && t && t % s->chunk == 0) sink(heap, p->units, busy);
        const int unit = s->chunk ? heap[0] : s->owner[t];
        owner[t] = unit;
        seconds[t] = p->weight[t] / p->speed[unit];
        busy[unit] += seconds[t];
    }
    free(heap);
    free(busy);
    return EVN_OK;
}

char *evn_schedule_explain(const evn_schedule *s) {
    const evn_problem *p = &s->problem;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    double *load = malloc((size_t)p->units * sizeof *load);
    if (f && load && s->chunk) {
        fprintf(f, "units draw %d %s at a time; after %d %s nothing is kept yet\n", s->chunk,
                s->chunk == 1 ? "task" : "tasks", s->instance,
                s->instance == 1 ? "instance" : "instances");
    } else if (f && load) {
        double total = 0, total_speed = 0, longest = 0;
        int last = 0;
        evn_problem_imbalance(p, s->owner, load);
        for (int u = 0; u < p->units; u++) {
            total += load[u];
            total_speed += p->speed[u];
            if (!(load[u] / p->speed[u] > longest)) continue;
            longest = load[u] / p->speed[u];
            last = u;
        }
        const double mean = total / total_speed;
        if (!(total > 0))
            fputs("no task weighs anything\n", f);
        else if (isinf(total) || isinf(longest / mean))
            fputs("the weights are too large to be added up\n", f);
        else
            fprintf(f, "unit %d has the largest load by weight, %.3f %% above the mean\n", last,
                    100 * (longest / mean - 1));
    }
    if (f && load && s->policy->explain) s->policy->explain(s, f);
    int failed = !f || !load;
    if (f) failed = fclose(f) || failed;
    free(load);
    if (!failed) return text;
    free(text);
    return NULL;
}

evn_status evn_schedule_reassign(const evn_schedule *s, int cores, int cap, int *share) {
    double *load = malloc((size_t)s->problem.units * sizeof *load);
    if (!load)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", s->problem.units);
    evn_problem_imbalance(&s->problem, s->owner, load);
    evn_status status = policy_reassign(load, s->problem.units, cores, cap, share);
    free(load);
    return status;
}

double evn_problem_cut(const evn_problem *p, const int *owner, int *pairs) {
    double bytes = 0;
    size_t units = (size_t)p->units;
    char *neighbours = pairs ? calloc(units, units) : NULL;
    if (pairs) *pairs = 0;
    for (int l = 0; l < p->links; l++) {
        int a = owner[p->link[l].task[0]], b = owner[p->link[l].task[1]];
        if (a == b) continue;
        bytes += 2 * p->link[l].bytes;
        if (!neighbours || neighbours[(size_t)a * units + (size_t)b]) continue;
        neighbours[(size_t)a * units + (size_t)b] = neighbours[(size_t)b * units + (size_t)a] = 1;
        *pairs += 2;
    }
    free(neighbours);
    return bytes;
}
