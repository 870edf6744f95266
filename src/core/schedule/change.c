/* Other tasks for a schedule that has learnt: evn_schedule_change(). The problem of the next
 * generation is made here, and the owners that it inherits; each policy says itself what becomes of
 * them. */
#include "schedule/origins.h"
#include "base/argument.h"
#include "base/decisions.h"
#include "schedule/policy.h"
#include "schedule/pool.h"
#include "schedule/problem.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the problem --------------------------------------------------------------------------- */

/* Arrays made here, for those that the change leaves out. */
struct derived {
    double *weight, *bytes, *state;
    evn_link *link;
};

static void drop(struct derived *d) {
    free(d->weight);
    free(d->bytes);
    free(d->state);
    free(d->link);
}

/* The change's array, or the means over origins; *failed without memory. */
static const double *amounts(const struct origins *o, const double *given, const double *before,
                             double **own, int *failed) {
    if (given || !before) return given;
    *own = malloc((size_t)o->change->tasks * sizeof **own);
    *failed |= !*own;
    if (*own) origins_mean(o, before, *own);
    return *own;
}

/* The tasks that come from each task f of before: task[first[f]] .. task[first[f + 1] - 1]. */
struct heirs {
    int *first, *task;
};

static int find_heirs(const struct origins *o, struct heirs *h) {
    const evn_change *c = o->change;
    const int n = c->tasks, m = o->before->tasks;
    const int begin = c->first ? c->first[0] : 0, end = c->first ? c->first[n] : 0;
    h->first = calloc((size_t)m + 2, sizeof *h->first);
    h->task = malloc(((size_t)(end - begin) + 1) * sizeof *h->task);
    if (!h->first || !h->task) return 1;
    for (int i = begin; i < end; i++) h->first[c->from[i] + 2]++;
    for (int f = 0; f < m; f++) h->first[f + 2] += h->first[f + 1];
    for (int t = 0; c->first && t < n; t++)
        for (int i = c->first[t]; i < c->first[t + 1]; i++) h->task[h->first[c->from[i] + 1]++] = t;
    return 0;
}

/* Links between the heirs of both ends of each link of before, in equal parts, as many as the end
 * with more heirs has. Their number; `to` NULL: that alone. */
static size_t spread_links(const struct origins *o, const struct heirs *h, evn_link *to) {
    const evn_problem *p = o->before;
    size_t count = 0;
    for (int l = 0; l < p->links; l++) {
        const int a = p->link[l].task[0], b = p->link[l].task[1];
        const int as = h->first[a + 1] - h->first[a], bs = h->first[b + 1] - h->first[b];
        const int most = as > bs ? as : bs;
        for (int i = 0; as && bs && i < most; i++) {
            const int s = h->task[h->first[a] + (int)((long long)i * as / most)];
            const int t = h->task[h->first[b] + (int)((long long)i * bs / most)];
            if (s == t) continue;
            if (to) to[count] = (evn_link){{s, t}, p->link[l].bytes / most};
            count++;
        }
    }
    return count;
}

/* Inherits links where the change gives none. */
static int inherit_links(const struct origins *o, evn_problem *p, struct derived *d) {
    struct heirs h = {0};
    int failed = find_heirs(o, &h);
    if (!failed) {
        const size_t links = spread_links(o, &h, NULL);
        failed = links > INT_MAX;
        if (!failed) d->link = malloc((links + 1) * sizeof *d->link);
        failed |= !d->link;
        p->links = failed ? 0 : (int)links;
    }
    if (!failed) spread_links(o, &h, d->link);
    p->link = d->link;
    free(h.first);
    free(h.task);
    return failed;
}

/* The problem of the next generation, with arrays of the change, of before and of `d`. */
static evn_status next_problem(const struct origins *o, evn_problem *p, struct derived *d) {
    const evn_change *c = o->change;
    int failed = 0;
    *p = *o->before;
    *d = (struct derived){0};
    p->tasks = c->tasks;
    p->instances = c->instances;
    p->weight = amounts(o, c->weight, o->before->weight, &d->weight, &failed);
    p->bytes = amounts(o, c->bytes, o->before->bytes, &d->bytes, &failed);
    p->state = amounts(o, c->state, o->before->state, &d->state, &failed);
    p->links = c->links;
    p->link = c->link;
    if (c->links == -1) failed |= inherit_links(o, p, d);
    if (failed) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", c->tasks);
    return problem_check(p);
}

/* ---- the policy ---------------------------------------------------------------------------- */

void policy_consecutive(const int *owner, int tasks, int units, int *count, int *to) {
    memset(count, 0, (size_t)units * sizeof *count);
    for (int t = 0; t < tasks; t++) count[owner[t]]++;
    for (int u = 0, t = 0; u < units; u++)
        for (int i = 0; i < count[u]; i++) to[t++] = u;
}

evn_status policy_change_anew(evn_schedule *s, const struct origins *o) {
    (void)o;
    evn_spec spec;
    void *state = s->state;
    s->state = NULL;
    s->chunk = s->settled = 0;
    s->ratio = 0;
    policy_static(s->problem.tasks, s->problem.units, s->owner);
    evn_status status = evn_spec_parse(&spec, "schedule", s->text);
    if (!status) status = s->policy->open(s, &spec);
    free(status ? s->state : state);
    return status;
}

/* The unit of each task's heaviest origin; without one, that of the task before it. */
static void inherit(const struct origins *o, const int *before, int *owner) {
    for (int t = 0, last = before[0]; t < o->change->tasks; t++) {
        if (o->heaviest[t] >= 0) last = before[o->heaviest[t]];
        owner[t] = last;
    }
}

/* Allocates the arrays of a schedule that have an entry a task. */
static int make_room(evn_schedule *s, const evn_schedule *was) {
    const size_t n = (size_t)s->problem.tasks;
    s->owner = malloc(n * sizeof *s->owner);
    if (was->ran) s->ran = malloc(n * sizeof *s->ran);
    if (was->pool) s->pool = pool_change(was->pool, s->problem.tasks);
    return !s->owner || (was->ran && !s->ran) || (was->pool && !s->pool);
}

static void drop_room(evn_schedule *s) {
    if (!s->shares) problem_drop(&s->problem);
    free(s->owner);
    free(s->ran);
    free(s->pool);
}

/* The problem's address stays, since learners have it. */
static evn_status renew(evn_schedule *s, const evn_problem *problem, const struct origins *o) {
    const evn_schedule was = *s;
    s->owner = s->ran = NULL;
    s->pool = NULL;
    if (s->shares) s->problem = *problem;
    int failed = !s->shares && problem_copy(&s->problem, problem);
    s->problem.carry = was.problem.carry;
    failed = make_room(s, &was) || failed;
    evn_status status =
        failed ? evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", problem->tasks)
               : EVN_OK;
    if (!status) inherit(o, was.owner, s->owner);
    if (!status) status = (s->policy->change ? s->policy->change : policy_change_anew)(s, o);
    evn_schedule old = status ? *s : was;
    if (status) *s = was;
    old.state = NULL; /* the policy has freed it, or uses it in the new state */
    drop_room(&old);
    if (!status) s->version++;
    if (!status) s->generation++;
    return status;
}

/* 1 if the change alters nothing. */
static int is_same(const struct origins *o) {
    const evn_change *c = o->change;
    int same = o->renumbers && c->links == -1 && !c->bytes && !c->state;
    for (int t = 0; same && t < c->tasks; t++) same = o->now[t] == t;
    return same;
}

evn_status schedule_change(evn_schedule *s, const struct origins *o) {
    if (is_same(o)) return EVN_OK;
    evn_problem problem;
    struct derived derived;
    evn_status status = next_problem(o, &problem, &derived);
    if (!status) status = renew(s, &problem, o);
    if (!status && decisions_wanted(OF_SCHEDULES)) decisions.schedule(s, "other tasks");
    drop(&derived);
    return status;
}

evn_status schedule_change_part(evn_schedule *part, const evn_schedule *whole,
                                const struct origins *o) {
    return renew(part, &whole->problem, o);
}

evn_status schedule_change_check(const struct origins *o) {
    evn_problem problem;
    struct derived derived;
    evn_status status = next_problem(o, &problem, &derived);
    drop(&derived);
    return status;
}

evn_status evn_schedule_change(evn_schedule *s, const evn_change *change) {
    NEED(s, "a schedule");
    NEED(change, "a change");
    struct origins o;
    const evn_problem before = s->problem;
    evn_status status = origins_open(&o, &before, change, "schedule");
    if (status) return status;
    status = schedule_change(s, &o);
    origins_close(&o);
    return status;
}

/* ---- ranks that follow --------------------------------------------------------------------- */

static evn_status told_open(evn_schedule *s, const evn_spec *spec) {
    (void)s, (void)spec;
    return EVN_OK;
}

static evn_status told_import(evn_schedule *s) {
    (void)s;
    return evn_fail(EVN_USAGE, "schedule: an assignment is imported on a rank that follows rank "
                               "0's schedule; import it there");
}

/* Policy of a schedule that only receives rank 0's decisions. */
static const struct policy told = {
    .name = "told", .still = 1, .open = told_open, .import = told_import};

evn_status schedule_follow_open(struct schedule_follow *f, const struct origins *o) {
    evn_problem problem;
    struct derived derived;
    *f = (struct schedule_follow){0};
    evn_status status = next_problem(o, &problem, &derived);
    if (!status) {
        f->owner = malloc((size_t)problem.tasks * sizeof *f->owner);
        if (problem_copy(&f->problem, &problem) || !f->owner)
            status =
                evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", problem.tasks);
    }
    drop(&derived);
    if (status) schedule_follow_close(f);
    return status;
}

void schedule_follow(evn_schedule *s, struct schedule_follow *f, const int *owner, int chunk,
                     int instance) {
    const double carry = s->problem.carry;
    if (s->state && s->policy->close) s->policy->close(s);
    free(s->state);
    drop_room(s);
    memcpy(f->owner, owner, (size_t)f->problem.tasks * sizeof *owner);
    s->problem = f->problem;
    s->problem.carry = carry;
    s->owner = f->owner;
    s->state = NULL;
    s->ran = NULL;
    s->pool = NULL;
    s->order = NULL;
    s->policy = &told;
    s->chunk = chunk;
    s->instance = instance;
    s->ratio = 0;
    s->version++;
    s->generation++;
    *f = (struct schedule_follow){0};
}

void schedule_follow_close(struct schedule_follow *f) {
    problem_drop(&f->problem);
    free(f->owner);
    *f = (struct schedule_follow){0};
}
