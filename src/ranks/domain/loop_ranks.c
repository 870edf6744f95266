/* The loop over ranks: times go to rank 0, its schedule learns, and its decision about the next
 * instance is broadcast. (Plans made by every rank would have to be identical; a schedule with a
 * time limit, or with a library that differs between nodes, cannot guarantee that.)
 *
 * Of few tasks all times go there after each instance. Of many, whose schedule learns from means of
 * instances, the units' times do; each rank adds up those of its own tasks until rank 0 wants them,
 * and only then owners may come back. So a step costs a rank what its own tasks do. */
#include <evener/clock.h>
#include "domain/exchange_ranks.h"
#include "unit/share.h"
#include "domain/loop_ranks.h"
#include "loop/rank_ops.h"
#include "base/checksum.h"
#include "cluster/cluster.h"
#include "cluster/collective_record.h"
#include "schedule/weigh.h"
#include "schedule/version.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- units that draw ----------------------------------------------------------------------- */

/* Where units draw, each rank has consecutive tasks by the speed of its units, and chunks are drawn
 * within. Until they are, a rank's first unit owns them. */
void replicated_deal(evn_loop *loop, int *to_unit) {
    const evn_problem *p = loop->problem;
    const int ranks = evn_cluster_size(loop->cluster),
              *first = evn_cluster_about(loop->cluster).first;
    double all = 0, speeds = 0, weight = 0, before = 0;
    for (int t = 0; t < p->tasks; t++) all += p->weight[t];
    for (int u = 0; u < p->units; u++) speeds += p->speed[u];
    int t = 0;
    for (int r = 0; r < ranks; r++) {
        const int from = first[r], to = first[r + 1];
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

/* Tasks up to which all times fill a message or two. */
enum { FEW = 4096 };

/* Whether all tasks' times go to rank 0 after the instance at hand; the same on all ranks. */
static int sends_all(const evn_loop *loop) {
    const struct replicated *g = loop->replicated;
    return !g->suffice || !g->reported || loop->chunk || loop->problem->tasks <= FEW;
}

static void write_decision(evn_loop *loop, const void **down, size_t *bytes) {
    const size_t n = (size_t)loop->problem->tasks;
    struct decision *d = loop->replicated->decision;
    const int *next = evn_schedule_owner(loop->schedule);
    /* without an assignment of tasks to ranks there is nothing to draw from */
    *d = (struct decision){.chunk = loop->replicated->chunk ? schedule_chunk(loop->schedule) : 0,
                           .instance = schedule_instance(loop->schedule),
                           .changed = memcmp(next, loop->replicated->next, n * sizeof *next) != 0};
    if (d->changed) memcpy(d + 1, next, n * sizeof *next);
    if (d->changed) lessons_forget(loop->schedule);
    *down = d;
    *bytes = sizeof *d + (d->changed ? n * sizeof *next : 0);
}

/* Takes what the units took, and says what is done with the tasks' times. */
static evn_status decide_turn(void *arg, const struct cluster_record *of, const void **down,
                              size_t *bytes) {
    evn_loop *loop = arg;
    struct decision *d = loop->replicated->decision;
    const int *first = evn_cluster_about(loop->cluster).first;
    for (int r = 0; r < evn_cluster_size(loop->cluster); r++)
        memcpy(loop->replicated->unit_s + first[r], of[r].data, of[r].bytes);
    *d = (struct decision){.turn = lessons_note(loop->schedule, loop->replicated->unit_s)};
    d->instance = schedule_instance(loop->schedule);
    *down = d;
    *bytes = sizeof *d;
    return EVN_OK;
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
    evn_status (*learn)(evn_schedule *, const int *, const double *) =
        sends_all(loop) ? evn_schedule_learn : lessons_learn;
    evn_status status = learn(loop->schedule, loop->owner, loop->seconds);
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

/* Rank 0's decision where weights have changed: nothing was learnt; where units draw tasks, these
 * stay on the rank that has them. */
static evn_status decide_weighed(void *arg, const struct cluster_record *of, const void **down,
                                 size_t *bytes) {
    const struct weighing *w = arg;
    evn_loop *loop = w->loop;
    struct decision *d = loop->replicated->decision;
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

double replicated_state(const evn_loop *loop, const int *from, const int *to) {
    const evn_problem *p = loop->problem;
    double bytes = 0;
    for (int t = 0; p->space && p->state && t < p->tasks; t++)
        if (p->space[from[t]] != p->space[to[t]]) bytes += p->state[t];
    return bytes;
}

/* Tasks that go to another rank are there from now on, and not only in the next instance. */
evn_status replicated_carry(evn_loop *loop, const int *from, const int *to, const char *what) {
    const int n = loop->problem->tasks;
    int *next = loop->replicated->next, across = 0;
    loop->steady = 0;
    for (int t = 0; t < n; t++) across += loop_crosses(loop, from[t], to[t]);
    if (!across) {
        if (next != to) memcpy(next, to, (size_t)n * sizeof *next);
        return EVN_OK;
    }
    const double state = replicated_state(loop, from, to), begin = evn_now();
    loop->plan++;
    evn_status status = move_tasks(loop, from, to);
    for (int t = 0; t < n; t++)
        if (loop_crosses(loop, from[t], to[t])) loop->owner[t] = to[t];
    if (next != to) memcpy(next, to, (size_t)n * sizeof *next); /* `to` may be a meeting's */
    loop->totals.migrations += across;
    status = replicated_agree(loop, what, status);
    if (status || !(state > 0)) return status;
    return schedule_carried(loop->schedule, state, evn_now() - begin);
}

/* Applies rank 0's decision. Drawn tasks stay on their rank: their owners are known there alone
 * until the assignment is fixed. */
static evn_status follow(evn_loop *loop, const struct decision *d, const char *what) {
    struct replicated *g = loop->replicated;
    g->chunk = d->chunk;
    g->instance = d->instance;
    if (!d->changed) return EVN_OK;
    const int *next = (const int *)(d + 1);
    return replicated_carry(loop, g->next, next, what);
}

/* This rank's tasks with their times of the instance, or with others, in the order of the lists. */
static size_t list_done(const evn_loop *loop, const double *times) {
    struct done *done = loop->replicated->done;
    for (int t = loop->lo; loop->chunk && t < loop->hi; t++)
        *done++ = (struct done){t, loop->owner[t], loop->seconds[t]};
    for (int u = 0; !loop->chunk && u < loop->count; u++) {
        const struct worker *w = &loop->worker[u];
        for (int i = 0; i < w->listed; i++)
            *done++ = (struct done){w->own[i], loop->first + u,
                                    times ? *times++ : loop->seconds[w->own[i]]};
    }
    return (size_t)(done - loop->replicated->done);
}

static const char run_call[] = "evn_loop_run()";

/* All ranks' tasks and times go to rank 0, which decides. */
static evn_status report(evn_loop *loop, const double *times, evn_status mine) {
    struct replicated *g = loop->replicated;
    struct meeting m = {.what = run_call, .up = g->done, .decide = decide, .arg = loop};
    if (!mine) m.up_bytes = list_done(loop, times) * sizeof *g->done;
    evn_status status = cluster_meet(loop->cluster, mine, &m);
    if (status) return status;
    g->reported = 1;
    return follow(loop, m.down, run_call);
}

/* Adds up this rank's units' times, NAN where one is none, and copies those of its tasks; their
 * number. */
static int add_up(const evn_loop *loop) {
    const struct replicated *g = loop->replicated;
    double *own = g->own;
    for (int u = 0; u < loop->count; u++) {
        const struct worker *w = &loop->worker[u];
        double sum = 0;
        int wrong = 0;
        for (int i = 0; i < w->listed; i++) {
            const double seconds = loop->seconds[w->own[i]];
            sum += seconds;
            wrong |= !(seconds >= 0);
            *own++ = seconds;
        }
        g->unit_s[loop->first + u] = wrong ? NAN : sum;
    }
    return (int)(own - g->own);
}

/* Rank 0 has got means. */
static void restore_last(evn_loop *loop) {
    const double *own = loop->replicated->own;
    for (int u = 0; u < loop->count; u++)
        for (int i = 0; i < loop->worker[u].listed; i++)
            loop->seconds[loop->worker[u].own[i]] = *own++;
}

evn_status replicated_learn(evn_loop *loop, evn_status mine) {
    struct replicated *g = loop->replicated;
    if (sends_all(loop)) return report(loop, NULL, mine);
    const int own = mine ? 0 : add_up(loop);
    struct meeting m = {.what = run_call,
                        .up = g->unit_s + loop->first,
                        .up_bytes = (size_t)loop->count * sizeof *g->unit_s,
                        .decide = decide_turn,
                        .arg = loop};
    evn_status status = cluster_meet(loop->cluster, mine, &m);
    if (status) return status;
    struct decision d;
    memcpy(&d, m.down, sizeof d);
    g->instance = d.instance;
    double *sum = g->own + loop->problem->tasks;
    pool_turn(&d.turn, own, g->own, sum, sum + loop->problem->tasks);
    if (d.turn.lesson != POOL_MEAN && d.turn.lesson != POOL_LAST) return EVN_OK;
    status = report(loop, d.turn.lesson == POOL_MEAN ? sum : NULL, EVN_OK);
    if (!evn_cluster_rank(loop->cluster)) restore_last(loop);
    return status;
}

/* Scales the sums of times of this rank's tasks as their weights have changed. */
static void scale_own(const evn_loop *loop, const double *before, const double *now) {
    const size_t n = (size_t)loop->problem->tasks;
    double *sum = loop->replicated->own + n;
    for (int u = 0; u < loop->count; u++)
        for (int i = 0; i < loop->worker[u].listed; i++, sum++) {
            const int t = loop->worker[u].own[i];
            pool_scale(sum, before + t, now + t, 1);
            pool_scale(sum + n, before + t, now + t, 1);
        }
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

evn_status replicated_weigh(evn_loop *loop, const double *weight) {
    const evn_status settled = replicated_settle(loop);
    if (settled) return settled;
    const size_t n = (size_t)loop->problem->tasks;
    double *before;
    evn_status mine = schedule_weigh_open(&before, loop->schedule, weight);
    const uint64_t sum = mine ? 0 : checksum_of(weight, loop->problem->tasks);
    if (!mine)
        mine = cluster_reserve(loop->cluster, sizeof sum,
                               sizeof(struct decision) + n * sizeof *loop->replicated->next);
    struct weighing weighing = {loop, weight, before};
    struct meeting m = {.what = weights_call,
                        .up = &sum,
                        .up_bytes = sizeof sum,
                        .decide = decide_weighed,
                        .arg = &weighing};
    evn_status status = cluster_meet(loop->cluster, mine, &m);
    if (!status && evn_cluster_rank(loop->cluster)) schedule_weigh(loop->schedule, weight, before);
    if (!status && before) scale_own(loop, before, loop->problem->weight);
    free(before);
    return status ? status : follow(loop, m.down, m.what);
}

evn_status replicated_agree(evn_loop *loop, const char *what, evn_status mine) {
    return cluster_agree(loop->cluster, what, mine);
}

/* ---- opening ------------------------------------------------------------------------------- */

static evn_status open_decisions(evn_loop *loop) {
    const size_t n = (size_t)loop->problem->tasks;
    struct replicated *g = loop->replicated = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", n);
    g->next = malloc(n * sizeof *g->next);
    g->done = malloc(n * sizeof *g->done);
    g->decision = malloc(sizeof *g->decision + n * sizeof *g->next);
    g->unit_s = malloc((size_t)loop->problem->units * sizeof *g->unit_s);
    g->own = calloc(3 * n, sizeof *g->own);
    if (!g->next || !g->done || !g->decision || !g->unit_s || !g->own)
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", n);
    g->suffice = lessons_suffice(loop->schedule);
    if (g->suffice && !evn_cluster_rank(loop->cluster)) {
        const evn_status status = lessons_open(loop->schedule);
        if (status) return status;
    }
    memcpy(g->next, evn_schedule_owner(loop->schedule), n * sizeof *g->next);
    g->chunk = schedule_chunk(loop->schedule);
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
    *down = loop->replicated->next;
    *bytes = (size_t)loop->problem->tasks * sizeof *loop->replicated->next;
    return cluster_compare(loop->cluster, of, sizeof(struct given), differ, NULL);
}

/* On all ranks, with this rank's status of opening the loop: whether all have the same schedule,
 * and the first assignment. */
static evn_status begin(evn_loop *loop, const evn_schedule *schedule, evn_status mine) {
    if (mine) return cluster_agree(loop->cluster, open_call, mine);
    struct given given = {.tasks = loop->problem->tasks};
    snprintf(given.text, sizeof given.text, "%s", evn_schedule_text(schedule));
    struct meeting m = {.what = open_call,
                        .up = &given,
                        .up_bytes = sizeof given,
                        .decide = first_plan,
                        .arg = loop};
    evn_status status = cluster_meet(loop->cluster, EVN_OK, &m);
    if (status) return status;
    memcpy(loop->replicated->next, m.down, m.down_bytes);
    memcpy(loop->owner, m.down, m.down_bytes);
    if (!loop->replicated->chunk) return EVN_OK;
    replicated_deal(loop, loop->replicated->next);
    memcpy(loop->owner, loop->replicated->next, m.down_bytes);
    return EVN_OK;
}

void replicated_close(evn_loop *loop) {
    struct replicated *g = loop->replicated;
    if (!g) return;
    free(g->next);
    free(g->done);
    free(g->decision);
    free(g->unit_s);
    free(g->own);
    free(g);
    loop->replicated = NULL;
}

static const struct rank_ops ops = {
    .poll = cluster_poll,
    .failed = cluster_failed,
    .fail = cluster_fail,
    .settle = replicated_settle,
    .learn = replicated_learn,
    .weigh = replicated_weigh,
    .agree = replicated_agree,
    .same = replicated_same,
    .room_open = replicated_room_open,
    .room_close = replicated_room_close,
    .change = replicated_change,
    .take = replicated_take,
    .close = replicated_close,
    .remote = &remote_ops,
};

/* The cluster's size says how many units the schedule is for, and which of them are ours. */
static evn_status join_cluster(evn_loop *loop, evn_cluster *cluster) {
    loop->cluster = cluster;
    loop->ranks = &ops;
    const evn_cluster_info about = evn_cluster_about(cluster);
    loop->first = about.first[evn_cluster_rank(cluster)];
    if (about.units) return EVN_OK;
    return evn_fail(EVN_USAGE, "loop: evn_loop_open_on() before evn_cluster_units(), which tells "
                               "all ranks of each one's units");
}

static evn_status open_on(evn_loop *loop, evn_schedule *schedule, evn_cluster *cluster) {
    evn_status status = join_cluster(loop, cluster);
    if (!status)
        status = loop_check_count(schedule, evn_cluster_about(cluster).units, " on all ranks");
    if (!status) status = loop_open_parts(loop, schedule);
    if (!status) status = open_decisions(loop);
    return begin(loop, schedule, status);
}

evn_status evn_loop_open_on(evn_loop **out, evn_units *units, evn_schedule *schedule,
                            evn_cluster *cluster) {
    if (!cluster || evn_cluster_size(cluster) == 1) return evn_loop_open(out, units, schedule);
    if (out) *out = NULL;
    if (units && units_running(units))
        return evn_fail(EVN_USAGE, "loop: evn_loop_open_on() while the units are at work, from "
                                   "within a body or a job");
    evn_status status = loop_make(out, units, schedule);
    if (status) return cluster_agree(cluster, open_call, status);
    status = open_on(*out, schedule, cluster);
    if (!status) return EVN_OK;
    evn_loop_close(*out);
    *out = NULL;
    return status;
}
