/* The loop over ranks: all times go to rank 0, its schedule learns, and its decision about the next
 * instance is broadcast. (Plans made by every rank would have to be identical; a schedule with a
 * time limit, or with a library that differs between nodes, cannot guarantee that.) */
#include <evener/clock.h>
#include "loop/loop_ranks.h"
#include "base/checksum.h"
#include "cluster/collective_record.h"
#include "schedule/weigh.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int loop_chunk(const evn_loop *loop) {
    return loop->together ? loop->together->chunk : evn_schedule_chunk(loop->schedule);
}

const int *loop_next(const evn_loop *loop) {
    return loop->together ? loop->together->next : evn_schedule_owner(loop->schedule);
}

int loop_instance(const evn_loop *loop) {
    return loop->together ? loop->together->instance : evn_schedule_instance(loop->schedule);
}

/* ---- units that draw ----------------------------------------------------------------------- */

/* Where units draw, each rank has consecutive tasks by the speed of its units, and chunks are drawn
 * within. Until they are, a rank's first unit owns them. */
void together_deal(evn_loop *loop, int *to_unit) {
    const evn_problem *p = loop->problem;
    const int ranks = evn_cluster_size(loop->cluster);
    double all = 0, speeds = 0, weight = 0, before = 0;
    for (int t = 0; t < p->tasks; t++) all += p->weight[t];
    for (int u = 0; u < p->units; u++) speeds += p->speed[u];
    int t = 0;
    for (int r = 0; r < ranks; r++) {
        const int from = evn_cluster_first_unit(loop->cluster, r);
        const int to = r + 1 < ranks ? evn_cluster_first_unit(loop->cluster, r + 1) : p->units;
        for (int u = from; u < to; u++) before += p->speed[u];
        if (from == loop->first) loop->lo = t;
        /* a task belongs to the rank in whose share its middle lies */
        for (; t < p->tasks &&
               (r == ranks - 1 || weight + 0.5 * p->weight[t] < all * (before / speeds));
             t++) {
            weight += p->weight[t];
            to_unit[t] = from;
        }
        if (from == loop->first) loop->hi = t;
    }
}

/* ---- rank 0 decides ------------------------------------------------------------------------ */

static void write_decision(evn_loop *loop, const void **down, size_t *bytes) {
    const size_t n = (size_t)loop->problem->tasks;
    struct decision *d = loop->together->decision;
    const int *next = evn_schedule_owner(loop->schedule);
    /* without an assignment of tasks to ranks there is nothing to draw from */
    d->chunk = loop->together->chunk ? evn_schedule_chunk(loop->schedule) : 0;
    d->instance = evn_schedule_instance(loop->schedule);
    d->changed = memcmp(next, loop->together->next, n * sizeof *next) != 0;
    if (d->changed) memcpy(d + 1, next, n * sizeof *next);
    *down = d;
    *bytes = sizeof *d + (d->changed ? n * sizeof *next : 0);
}

/* Takes what the ranks have done, lets the schedule learn, and writes the decision. */
static evn_status decide(void *arg, const struct cluster_record *of, const void **down,
                         size_t *bytes) {
    evn_loop *loop = arg;
    for (int r = 0; r < evn_cluster_size(loop->cluster); r++) {
        const char *said = of[r].data;
        for (size_t i = 0; i < of[r].bytes / sizeof(struct done); i++) {
            struct done done; /* received data are unaligned */
            memcpy(&done, said + i * sizeof done, sizeof done);
            loop->owner[done.task] = done.owner;
            loop->seconds[done.task] = done.seconds;
        }
    }
    evn_status status = evn_schedule_learn(loop->schedule, loop->owner, loop->seconds);
    write_decision(loop, down, bytes);
    return status;
}

static const char weights_call[] = "evn_loop_weights()";

static evn_status differ_in_weights(const void *arg, int r, const void *theirs, const void *first) {
    (void)arg;
    if (!memcmp(theirs, first, sizeof(uint64_t))) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "loop: %s with other weights on rank %d than on rank 0; all ranks say the same",
                    weights_call, r);
}

/* Weights that were checked, and those before. */
struct weighing {
    evn_loop *loop;
    const double *weight, *before;
};

/* The same where weights change: nothing was learnt, and where units draw, tasks stay on the rank
 * that has them. */
static evn_status decide_weighed(void *arg, const struct cluster_record *of, const void **down,
                                 size_t *bytes) {
    const struct weighing *w = arg;
    evn_loop *loop = w->loop;
    struct decision *d = loop->together->decision;
    evn_status status =
        cluster_compare(loop->cluster, of, sizeof(uint64_t), differ_in_weights, NULL);
    if (status) return status;
    schedule_weigh(loop->schedule, w->weight, w->before);
    write_decision(loop, down, bytes);
    if (d->chunk) {
        d->changed = 0;
        *bytes = sizeof *d;
    }
    return EVN_OK;
}

double together_state(const evn_loop *loop, const int *from, const int *to) {
    const evn_problem *p = loop->problem;
    double bytes = 0;
    for (int t = 0; p->space && p->state && t < p->tasks; t++)
        if (p->space[from[t]] != p->space[to[t]]) bytes += p->state[t];
    return bytes;
}

/* Tasks that go to another rank are there from now on, and not only in the next instance. */
evn_status together_carry(evn_loop *loop, const int *from, const int *to, const char *what) {
    const int n = loop->problem->tasks;
    int *next = loop->together->next, across = 0;
    for (int t = 0; t < n; t++) across += loop_crosses(loop, from[t], to[t]);
    if (!across) {
        if (next != to) memcpy(next, to, (size_t)n * sizeof *next);
        return EVN_OK;
    }
    const double state = together_state(loop, from, to), begin = evn_now();
    loop->plan++;
    evn_status status = move_tasks(loop, from, to);
    for (int t = 0; t < n; t++)
        if (loop_crosses(loop, from[t], to[t])) loop->owner[t] = to[t];
    if (next != to) memcpy(next, to, (size_t)n * sizeof *next); /* `to` may be a meeting's */
    loop->totals.migrations += across;
    status = together_agree(loop, what, status);
    if (status || !(state > 0)) return status;
    return evn_schedule_carried(loop->schedule, state, evn_now() - begin);
}

/* Applies rank 0's decision. Drawn tasks stay on their rank: their owners are known there alone
 * until the assignment is fixed. */
static evn_status follow(evn_loop *loop, const struct decision *d, const char *what) {
    struct together *g = loop->together;
    g->chunk = d->chunk;
    g->instance = d->instance;
    if (!d->changed) return EVN_OK;
    const int *next = (const int *)(d + 1);
    return together_carry(loop, g->next, next, what);
}

evn_status together_learn(evn_loop *loop, evn_status mine) {
    struct together *g = loop->together;
    size_t count = 0;
    for (int t = 0; !mine && t < loop->problem->tasks; t++)
        if (loop_own(loop, loop->owner[t]) >= 0)
            g->done[count++] = (struct done){t, loop->owner[t], loop->seconds[t]};
    struct meeting m = {.what = "evn_loop_run()",
                        .up = g->done,
                        .up_bytes = count * sizeof *g->done,
                        .decide = decide,
                        .arg = loop};
    evn_status status = cluster_meet(loop->cluster, mine, &m);
    return status ? status : follow(loop, m.down, m.what);
}

/* Of the values, whichever way they are given. */
static uint64_t checksum_of(const double *weight, int tasks) {
    uint64_t sum = CHECKSUM_BEGIN;
    for (int t = 0; t < tasks; t++) {
        const double w = weight ? weight[t] + 0.0 : 1; /* not -0 */
        sum = checksum_add(sum, &w, sizeof w);
    }
    return sum;
}

evn_status together_weigh(evn_loop *loop, const double *weight) {
    const evn_status settled = together_settle(loop);
    if (settled) return settled;
    const size_t n = (size_t)loop->problem->tasks;
    double *before;
    evn_status mine = schedule_weigh_open(&before, loop->schedule, weight);
    const uint64_t sum = mine ? 0 : checksum_of(weight, loop->problem->tasks);
    if (!mine)
        mine = cluster_reserve(loop->cluster, sizeof sum,
                               sizeof(struct decision) + n * sizeof *loop->together->next);
    struct weighing weighing = {loop, weight, before};
    struct meeting m = {.what = weights_call,
                        .up = &sum,
                        .up_bytes = sizeof sum,
                        .decide = decide_weighed,
                        .arg = &weighing};
    evn_status status = cluster_meet(loop->cluster, mine, &m);
    if (!status && evn_cluster_rank(loop->cluster)) schedule_weigh(loop->schedule, weight, before);
    free(before);
    return status ? status : follow(loop, m.down, m.what);
}

evn_status together_agree(evn_loop *loop, const char *what, evn_status mine) {
    return cluster_meet(loop->cluster, mine, &(struct meeting){.what = what});
}

/* ---- opening ------------------------------------------------------------------------------- */

evn_status together_open(evn_loop *loop) {
    const size_t n = (size_t)loop->problem->tasks;
    struct together *g = loop->together = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", n);
    g->next = malloc(n * sizeof *g->next);
    g->done = malloc(n * sizeof *g->done);
    g->decision = malloc(sizeof *g->decision + n * sizeof *g->next);
    if (!g->next || !g->done || !g->decision)
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", n);
    memcpy(g->next, evn_schedule_owner(loop->schedule), n * sizeof *g->next);
    g->chunk = evn_schedule_chunk(loop->schedule);
    g->draws = g->chunk > 0;
    return EVN_OK;
}

static const char open_call[] = "evn_loop_open_on()";

/* A rank's schedule, as far as all must have the same. */
struct given {
    int tasks;
    char text[200];
};

static evn_status differ(const void *arg, int r, const void *theirs, const void *first) {
    const struct given *x = theirs, *y = first;
    (void)arg;
    if (x->tasks == y->tasks && !strcmp(x->text, y->text)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "loop: %s with %d tasks under \"%s\" on rank %d and %d under \"%s\" on rank 0; "
                    "all ranks have the same schedule",
                    open_call, x->tasks, x->text, r, y->tasks, y->text);
}

/* Rank 0's first plan holds on all ranks: a schedule need not compute the same on each. */
static evn_status first_plan(void *arg, const struct cluster_record *of, const void **down,
                             size_t *bytes) {
    const evn_loop *loop = arg;
    *down = loop->together->next;
    *bytes = (size_t)loop->problem->tasks * sizeof *loop->together->next;
    return cluster_compare(loop->cluster, of, sizeof(struct given), differ, NULL);
}

evn_status together_begin_without(evn_cluster *cluster, evn_status mine) {
    return cluster_meet(cluster, mine, &(struct meeting){.what = open_call});
}

evn_status together_begin(evn_loop *loop, const evn_schedule *schedule, evn_status mine) {
    if (mine) return together_begin_without(loop->cluster, mine);
    struct given given = {.tasks = loop->problem->tasks};
    snprintf(given.text, sizeof given.text, "%s", evn_schedule_text(schedule));
    struct meeting m = {.what = open_call,
                        .up = &given,
                        .up_bytes = sizeof given,
                        .decide = first_plan,
                        .arg = loop};
    evn_status status = cluster_meet(loop->cluster, EVN_OK, &m);
    if (status) return status;
    memcpy(loop->together->next, m.down, m.down_bytes);
    memcpy(loop->owner, m.down, m.down_bytes);
    if (!loop->together->chunk) return EVN_OK;
    together_deal(loop, loop->together->next);
    memcpy(loop->owner, loop->together->next, m.down_bytes);
    return EVN_OK;
}

void together_close(evn_loop *loop) {
    struct together *g = loop->together;
    if (!g) return;
    free(g->next);
    free(g->done);
    free(g->decision);
    free(g);
    loop->together = NULL;
}
