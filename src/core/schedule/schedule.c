/* Schedules: the list of policies, and their common part. */
#include <evener/plugin.h>
#include <evener/status.h>
#include "base/argument.h"
#include "base/decisions.h"
#include "base/not_linked.h"
#include "base/number.h"
#include "schedule/capacity.h"
#include "schedule/core_reassignment.h"
#include "schedule/policy.h"
#include "schedule/pool_state.h"
#include "schedule/problem.h"
#include "schedule/version.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Policies beyond the core are absent where a static program does not refer to them (everything.c).
 */
#pragma weak policy_binpack
#pragma weak policy_interval
#pragma weak policy_map
#pragma weak policy_optimal
#pragma weak policy_auto

static const struct {
    const char *name;
    const struct policy *policy;
} policies[] = {
    {"static", &policy_static_},    {"dynamic", &policy_dynamic}, {"guided", &policy_guided},
    {"weighted", &policy_weighted}, {"binpack", &policy_binpack}, {"interval", &policy_interval},
    {"map", &policy_map},           {"optimal", &policy_optimal}, {"auto", &policy_auto},
};
enum { POLICIES = sizeof policies / sizeof *policies };

/* The i-th of those that are present. */
const char *evn_schedule_name(int i, const char **explanation) {
    int at = 0;
    for (int left = i; at < POLICIES && (!policies[at].policy || left-- > 0); at++) {
    }
    if (i < 0 || at == POLICIES) return NULL;
    if (explanation) *explanation = policies[at].policy->explanation;
    return policies[at].name;
}

evn_status policy_no_options(const evn_schedule *s, const evn_spec *spec) {
    if (!spec->options) return EVN_OK;
    return evn_fail(EVN_USAGE, "schedule: %s takes no options, but \"%s\" was given",
                    s->policy->name, spec->option[0].key);
}

/* EVN_USAGE: there is no such schedule; EVN_MISSING: it is not in this program. */
static evn_status find(const struct policy **policy, const char *name) {
    for (int i = 0; i < POLICIES; i++) {
        if (strcmp(policies[i].name, name)) continue;
        *policy = policies[i].policy;
        return *policy ? EVN_OK : evn_fail(EVN_MISSING, "schedule: \"%s\" " NOT_LINKED, name);
    }
    char known[256] = "";
    for (int i = 0; i < POLICIES; i++) {
        size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", policies[i].name);
    }
    return evn_fail(EVN_USAGE, "schedule: there is none called \"%s\", expected one of: %s", name,
                    known);
}

evn_status evn_schedule_library(const char *name, const char **library, char *text, size_t size) {
    NEED(name, "a schedule's name, as map");
    NEED(library, "where to put the library's name");
    NEED(text, "where to put the library's version and file");
    *library = NULL;
    if (size) *text = 0;
    const struct policy *policy;
    evn_status status = find(&policy, name);
    if (status) return status;
    *library = policy->library;
    return policy->look && size ? policy->look(text, size) : EVN_OK;
}

static evn_status no_memory(const evn_problem *p) {
    return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
}

/* A schedule with a copy of the problem, or, `shares`, its arrays. NULL: not enough memory. */
static evn_schedule *make(const struct policy *policy, const evn_problem *problem, int shares) {
    evn_schedule *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (evn_schedule){.policy = policy, .shares = shares};
    s->owner = malloc(sizeof *s->owner * (size_t)problem->tasks);
    if (shares) s->problem = *problem;
    if ((!shares && problem_copy(&s->problem, problem)) || !s->owner) {
        evn_schedule_close(s);
        return NULL;
    }
    policy_static(problem->tasks, problem->units, s->owner);
    return s;
}

/* Lets the policy begin, unless something has failed. */
static evn_status begin(evn_schedule **out, evn_schedule *s, const evn_spec *spec,
                        evn_status status) {
    if (!status) status = s->policy->open(s, spec);
    *out = status ? NULL : s;
    if (status) evn_schedule_close(s);
    return status;
}

evn_status evn_schedule_open(evn_schedule **out, const char *text, const evn_problem *problem) {
    NEED_OUT(out);
    NEED(text, "a schedule's name, as guided:time");
    NEED(problem, "a problem");
    evn_spec spec;
    evn_status status = evn_spec_parse(&spec, "schedule", text);
    if (status) return status;
    const struct policy *policy;
    if ((status = find(&policy, spec.name))) return status;
    for (int i = 0; policy->by_time && i < spec.options; i++)
        if (!strcmp(spec.option[i].key, "time")) policy = policy->by_time;
    if ((status = problem_check(problem))) return status;

    evn_schedule *s = make(policy, problem, 0);
    if (!s) return no_memory(problem);
    if (policy->pools && problem->units > 1)
        s->pool = pool_open(problem->tasks, problem->units, problem->instances);
    else if (!policy->pools && !policy->still)
        s->ran = malloc(sizeof *s->ran * (size_t)problem->tasks);
    if (!s->pool && !s->ran && !policy->still && problem->units > 1) status = no_memory(problem);
    return begin(out, s, &spec, status);
}

evn_status schedule_open_part(evn_schedule **out, const struct policy *policy,
                              const evn_schedule *whole) {
    const evn_spec spec = {0};
    evn_schedule *s = make(policy, &whole->problem, 1);
    return s ? begin(out, s, &spec, EVN_OK) : no_memory(&whole->problem);
}

void evn_schedule_close(evn_schedule *s) {
    if (!s) return;
    if (s->state && s->policy->close) s->policy->close(s);
    if (!s->shares) problem_drop(&s->problem);
    free(s->pool);
    free(s->ran);
    free(s->owner);
    free(s->state);
    free(s);
}

int evn_schedule_uses_speeds(const char *text) {
    for (int i = 0; text && i < POLICIES; i++) {
        const size_t length = strlen(policies[i].name);
        if (!strncmp(text, policies[i].name, length) && (!text[length] || text[length] == ':'))
            return policies[i].policy && !policies[i].policy->blind;
    }
    return 0;
}

const char *evn_schedule_text(const evn_schedule *s) {
    NEED_OR("", s, "a schedule");
    return s->text;
}
const int *evn_schedule_owner(const evn_schedule *s) {
    NEED_OR(NULL, s, "a schedule");
    return s->owner;
}
int schedule_chunk(const evn_schedule *s) { return s->chunk; }
int schedule_instance(const evn_schedule *s) { return s->instance; }
int schedule_settled(const evn_schedule *s) { return s->settled; }
evn_schedule_info evn_schedule_about(const evn_schedule *s) {
    NEED_OR((evn_schedule_info){0}, s, "a schedule");
    return (evn_schedule_info){s->instance, s->chunk, s->chunk ? s->order : NULL, s->reassigns};
}
const evn_problem *evn_schedule_problem(const evn_schedule *s) {
    NEED_OR(NULL, s, "a schedule");
    return &s->problem;
}

/* Two numbers side by side, of the compiler's vectors: no bit of a sum depends on how it adds. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

/* The sum of all times; NAN where one has a sign, which no time has. */
static double sum_times(const double *seconds, int n) {
    pair a = {0}, b = {0};
    pair_bits bits = {0};
    int t = 0;
    for (; t + 4 <= n; t += 4) {
        pair x, y;
        memcpy(&x, seconds + t, sizeof x);
        memcpy(&y, seconds + t + 2, sizeof y);
        a += x;
        b += y;
        bits |= (pair_bits)x | (pair_bits)y;
    }
    double sum = (a[0] + a[1]) + (b[0] + b[1]);
    int negative = (bits[0] | bits[1]) < 0;
    for (; t < n; t++) {
        sum += seconds[t];
        negative |= signbit(seconds[t]) != 0;
    }
    return negative ? NAN : sum;
}

static int all_units(const int *owner, int n, int units) {
    unsigned most = 0;
    for (int t = 0; t < n; t++) most = (unsigned)owner[t] > most ? (unsigned)owner[t] : most;
    return most < (unsigned)units;
}

/* Finds the first owner or time that is invalid. */
static evn_status check_instance(const evn_schedule *s, const int *owner, const double *seconds) {
    for (int t = 0; t < s->problem.tasks; t++) {
        if (owner[t] < 0 || owner[t] >= s->problem.units)
            return evn_fail(EVN_USAGE, "schedule: task %d ran on unit %d, expected 0 to %d", t,
                            owner[t], s->problem.units - 1);
        if (!(seconds[t] >= 0) || isinf(seconds[t]))
            return evn_fail(EVN_USAGE, "schedule: task %d took %g s, expected a finite time from 0",
                            t, seconds[t]);
    }
    return EVN_OK;
}

evn_status schedule_check_times(const evn_schedule *s, const int *owner, const double *seconds,
                                double *total) {
    const int n = s->problem.tasks;
    *total = sum_times(seconds, n);
    if (*total < INFINITY && (owner == s->owner || all_units(owner, n, s->problem.units)))
        return EVN_OK;
    return check_instance(s, owner, seconds);
}

void schedule_give_lesson(evn_schedule *s, const int *owner, const double *seconds) {
    s->version++;
    if (s->ran && owner == s->owner)
        owner = memcpy(s->ran, owner, (size_t)s->problem.tasks * sizeof *owner);
    const int settled = s->settled;
    if (s->policy->learn) s->policy->learn(s, owner, seconds);
    if (s->settled != settled && decisions_wanted(OF_SCHEDULES))
        decisions.schedule(s, settled ? "no longer settled" : "settled");
}

double *schedule_unit_times(evn_schedule *s) {
    if (s->pool) pool_set_apart(s->pool, 0);
    return s->pool ? s->pool->unit_now : NULL;
}

evn_status schedule_learn_units(evn_schedule *s, const int *owner, const double *seconds,
                                int same) {
    struct pool *p = s->pool;
    double total;
    s->instance++;
    const struct pool_turn turn = pool_note(p, owner, same, &s->passed);
    evn_status status = EVN_OK;
    if (turn.taken || turn.lesson == POOL_LAST)
        status = schedule_check_times(s, owner, seconds, &total);
    if (status) {
        pool_forget(p);
        return status;
    }
    pool_turn(&turn, p->tasks, seconds, p->sum, p->before);
    if (turn.lesson == POOL_MEAN) schedule_give_lesson(s, p->owner, p->sum);
    if (turn.lesson == POOL_LAST) schedule_give_lesson(s, owner, seconds);
    return EVN_OK;
}

int schedule_pass(evn_schedule *s) {
    /* one unit has all tasks, and the first lessons have shown their costs */
    const int passes = s->policy->still ||
                       (s->policy->pools && s->problem.units == 1 && s->instance >= LEARN_WINDOW);
    s->instance += passes;
    return passes;
}

evn_status evn_schedule_learn(evn_schedule *s, const int *owner, const double *seconds) {
    NEED(s, "a schedule");
    NEED(owner && seconds, "the tasks' owners and times");
    double total;
    evn_status status = schedule_check_times(s, owner, seconds, &total);
    if (status || schedule_pass(s)) return status;
    double *unit_s = schedule_unit_times(s);
    if (!unit_s) {
        s->instance++;
        s->passed = 1;
        schedule_give_lesson(s, owner, seconds);
        return EVN_OK;
    }
    memset(unit_s, 0, (size_t)s->problem.units * sizeof *unit_s);
    for (int t = 0; t < s->problem.tasks; t++) unit_s[owner[t]] += seconds[t];
    return schedule_learn_units(s, owner, seconds, 0);
}

void schedule_set_stealing(evn_schedule *s, int stealing) { s->stealing = stealing; }

unsigned schedule_version(const evn_schedule *s) { return s->version; }

evn_status schedule_carried(evn_schedule *s, double bytes, double seconds) {
    if (!(bytes > 0) || isinf(bytes) || !(seconds >= 0) || isinf(seconds))
        return evn_fail(EVN_USAGE,
                        "schedule: %g bytes were carried in %g s, expected finite numbers, bytes "
                        "above 0 and a time from 0",
                        bytes, seconds);
    s->carried_bytes = 0.5 * s->carried_bytes + bytes;
    s->carried_s = 0.5 * s->carried_s + seconds;
    s->problem.carry = fmin(s->carried_s / s->carried_bytes, 1e300);
    return EVN_OK;
}

/* Imbalance of the assignment by weight. */
static void explain_loads(const evn_schedule *s, const double *load, FILE *f) {
    const evn_problem *p = &s->problem;
    double total = 0, total_speed = 0, longest = 0;
    int last = 0;
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

static char *explain(const evn_schedule *s) {
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
        evn_problem_imbalance(p, s->owner, load);
        explain_loads(s, load, f);
    }
    if (f && load && s->policy->explain) s->policy->explain(s, f);
    int failed = !f || !load || capacity_explain(p, s->owner, f);
    if (f) failed = fclose(f) || failed;
    free(load);
    if (!failed) return text;
    free(text);
    return NULL;
}

char *evn_schedule_explain(const evn_schedule *s) {
    NEED_OR(NULL, s, "a schedule");
    const locale_t before = number_locale_begin();
    char *text = explain(s);
    number_locale_end(before);
    return text;
}

int schedule_steals(const evn_schedule *s) { return s->policy->steals; }

evn_status evn_schedule_reassign(const evn_schedule *s, int cores, int *share) {
    NEED(s, "a schedule");
    NEED(share, "where to put the units' cores");
    double *load = malloc((size_t)s->problem.units * sizeof *load);
    if (!load)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", s->problem.units);
    evn_problem_imbalance(&s->problem, s->owner, load);
    evn_status status = policy_reassign(load, s->problem.units, cores, s->cap, share);
    free(load);
    return status;
}
