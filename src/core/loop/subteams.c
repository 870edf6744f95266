/* Subteams: a batch's tasks on parts of a team (evener/subteam.h).
 *
 * The team is forked once for all tasks. Each subteam has a list of tasks, the largest first; its
 * core 0 takes the next one, or if its list is empty one from the end of the longest remaining
 * list, and announces it to the subteam at a barrier. */
#include "loop/subteams.h"
#include "base/argument.h"
#include "base/gate.h"
#include "unit/share.h"
#include "loop/subteam_split.h"
#include "loop/ends.h"
#include "loop/rank_ops.h"
#include <evener/clock.h>
#include <evener/program.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A subteam, in memory of its core 0's own cache lines. */
struct part {
    _Alignas(64) _Atomic uint64_t ends; /* ends of the remaining part of its list */
    int begin;                          /* begin of its list in `order` */
    int task;                           /* at hand, for all of its cores; -1: no more */
    struct barrier barrier;
};

struct subteams {
    int cores;        /* number of the unit's cores */
    int *task, count; /* tasks that were cut last, as they were given */
    struct cut cut;
    int *order;             /* the tasks: those of all cores, then each subteam's list */
    double *seconds;        /* seconds of each task in `order` */
    double *weight;         /* scratch: weight of each task */
    int *to;                /* scratch: subteam of each task */
    struct part *part;      /* part of each core */
    struct barrier barrier; /* barrier of all cores */
    /* the call at hand */
    evn_batch *batch;
    evn_task_body body;
    void *arg;
};

/* ---- memory -------------------------------------------------------------------------------- */

void subteams_forget(struct subteams *s) {
    if (s) s->count = 0;
}

void subteams_close(struct subteams *s) {
    if (!s) return;
    free(s->part);
    free(s->task);
    free(s->order);
    free(s->seconds);
    free(s->weight);
    free(s->to);
    cut_close(&s->cut);
    free(s);
}

static struct subteams *make(const evn_unit *unit, int room) {
    const int cores = evn_unit_cores(unit);
    const double spin = unit_spin(unit);
    const size_t n = (size_t)room;
    struct subteams *s = aligned_alloc(_Alignof(struct subteams), sizeof *s);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    s->cores = cores;
    barrier_init(&s->barrier, spin);
    s->task = malloc(n * sizeof *s->task);
    s->order = malloc(n * sizeof *s->order);
    s->seconds = malloc(n * sizeof *s->seconds);
    s->weight = malloc(n * sizeof *s->weight);
    s->to = malloc(n * sizeof *s->to);
    const int none = cut_open(&s->cut, cores);
    s->part = aligned_alloc(_Alignof(struct part), (size_t)cores * sizeof *s->part);
    for (int c = 0; s->part && c < cores; c++) barrier_init(&s->part[c].barrier, spin);
    if (s->task && s->order && s->seconds && s->weight && s->to && !none && s->part) return s;
    subteams_close(s);
    return NULL;
}

/* ---- the cut ------------------------------------------------------------------------------- */

/* The lists, one after another in `order`; within each the weights go on descending. */
static void make_lists(struct subteams *s) {
    const int together = s->cut.together;
    int at = together;
    memcpy(s->task, s->order, (size_t)s->count * sizeof *s->task);
    for (int p = 0; p < s->cut.subteams; p++) {
        s->part[p].begin = at;
        for (int t = together; t < s->count; t++)
            if (s->to[t] == p) s->order[at++] = s->task[t];
    }
}

static int is_cut(const struct subteams *s, const int *task, int count) {
    return s && count == s->count && !memcmp(task, s->task, (size_t)count * sizeof *task);
}

/* The division that was made for these tasks, or else the one that was not used last. So a body
 * that does its batch in two parts, step after step, has both kept. NULL: no memory. */
static struct subteams *find(struct worker *w, const evn_batch *b, const int *task, int count) {
    struct subteams *last = w->subteams[0];
    if (is_cut(last, task, count)) return last;
    w->subteams[0] = w->subteams[1];
    w->subteams[1] = last;
    if (!w->subteams[0]) w->subteams[0] = make(b->unit, b->loop->problem->tasks);
    return w->subteams[0];
}

static void cut_tasks(struct subteams *s, const double *weight, const int *task, int count) {
    if (is_cut(s, task, count)) return;
    s->count = count;
    memcpy(s->order, task, (size_t)count * sizeof *task);
    cut_sort(count, s->order, weight, s->weight);
    cut_choose(&s->cut, count, s->weight);
    cut_deal_near(&s->cut, count, s->weight, s->to);
    make_lists(s);
    memcpy(s->task, task, (size_t)count * sizeof *task);
}

static int end_of(const struct subteams *s, int p) {
    return p + 1 < s->cut.subteams ? s->part[p + 1].begin : s->count;
}

/* ---- taking tasks -------------------------------------------------------------------------- */

/* From the front of a list, or from its end; its place in `order`, -1: it is empty. */
static int take(struct part *p, int at_end) {
    int first;
    return ends_take(&p->ends, 1, at_end, &first) ? p->begin + first : -1;
}

/* Whether subteam `me` may take the last of `left` tasks from another: it would be done with it
 * before that other, which has one at hand that is no smaller, has done all of them. */
static int may_take(const struct subteams *s, int me, int other, int left) {
    const int mine = cut_size(&s->cut, me), theirs = cut_size(&s->cut, other);
    return mine >= theirs || (left + 1.0) * mine >= theirs;
}

static int take_any(struct subteams *s, int me) {
    int at = take(&s->part[me], 0);
    while (at < 0) {
        int most = 0, from = -1;
        for (int p = 0; p < s->cut.subteams; p++) {
            const int left = ends_left(&s->part[p].ends);
            if (left > most && may_take(s, me, p, left)) most = left, from = p;
        }
        if (from < 0) return -1;
        at = take(&s->part[from], 1);
    }
    return at;
}

/* ---- the team ------------------------------------------------------------------------------ */

/* A task, by the calling core; number 0 has its time, since the one before has ended. */
static void do_task(struct subteams *s, const evn_subteam *by, int at, double *since) {
    s->body(by, s->order[at], s->arg);
    if (by->cores > 1) evn_subteam_barrier(by);
    if (by->core) return;
    const double now = evn_now();
    s->seconds[at] = (now - *since) * by->cores / s->cores;
    *since = now;
    /* messages between ranks come on while tasks are done */
    const evn_loop *loop = s->batch->loop;
    if (!by->first && loop->ranks) loop->ranks->poll(loop->cluster);
}

static void do_own(struct subteams *s, int core, double since) {
    const int *first = s->cut.first;
    int me = 0;
    while (first[me + 1] <= core) me++;
    struct part *p = &s->part[me];
    const evn_subteam by = {core - first[me], cut_size(&s->cut, me), first[me], s->batch->unit,
                            &p->barrier};
    for (;;) {
        if (by.core == 0) p->task = take_any(s, me);
        if (by.cores > 1) evn_subteam_barrier(&by);
        if (p->task < 0) return;
        do_task(s, &by, p->task, &since); /* at its end all have read p->task */
    }
}

static void work(int core, void *arg) {
    struct subteams *s = arg;
    double since = evn_now();
    const evn_subteam all = {core, s->cores, 0, s->batch->unit, &s->barrier};
    for (int at = 0; at < s->cut.together; at++) do_task(s, &all, at, &since);
    if (s->cut.together < s->count) do_own(s, core, since);
}

/* 1 if cores wait for each other within tasks: then all must take part. Else those that do take
 * tasks that the others have not begun. */
static int is_joint(const struct subteams *s) {
    return s->cut.together || s->cut.subteams < s->cores;
}

static evn_status run(struct subteams *s) {
    for (int p = 0; p < s->cut.subteams; p++)
        ends_fill(&s->part[p].ends, end_of(s, p) - s->part[p].begin);
    return helpers_share(s->batch->unit, is_joint(s), work, s);
}

/* ---- public functions ---- */

void evn_subteam_barrier(const evn_subteam *by) {
    NEED_OR(, by, "a subteam");
    if (by->cores > 1) barrier_wait(by->barrier, by->cores);
}

static void do_alone(evn_batch *b, const int *task, evn_task_body body, void *arg) {
    const evn_subteam alone = {0, 1, 0, b->unit, NULL};
    body(&alone, *task, arg);
    batch_shared(b, task, 1, &(double){1});
    if (b->loop->ranks) b->loop->ranks->poll(b->loop->cluster);
}

/* A unit of one core, or the leader alone: tasks one after another, each with its time. */
static evn_status run_alone(evn_batch *b, const int *task, int count, evn_task_body body,
                            void *arg) {
    evn_status status = batch_may_share(b, task, count);
    if (status || !count) return status;
    batch_share_begins(b);
    for (int i = 0; i < count; i++) do_alone(b, &task[i], body, arg);
    return EVN_OK;
}

/* All tasks of a batch that is open, which others may take some of meanwhile. */
static evn_status run_open(evn_batch *b, evn_task_body body, void *arg) {
    evn_status status = batch_may_share(b, b->task, 0);
    if (status) return status;
    batch_share_begins(b);
    do {
        while (b->done < b->count) do_alone(b, &b->task[b->done], body, arg);
    } while (batch_take_more(b, 0));
    return EVN_OK;
}

/* The cores of the unit. */
static evn_status run_team(evn_batch *b, const int *task, int count, evn_task_body body,
                           void *arg) {
    evn_status status = batch_may_share(b, task, count);
    if (status || !count) return status;
    struct subteams *s = find(b->worker, b, task, count);
    if (!s)
        return evn_fail(EVN_MEMORY, "loop: no memory for subteams of %d cores",
                        evn_unit_cores(b->unit));
    cut_tasks(s, b->loop->problem->weight, task, count);
    s->batch = b;
    s->body = body;
    s->arg = arg;
    batch_share_begins(b);
    status = run(s);
    if (!status) batch_shared(b, s->order, count, s->seconds);
    for (int i = 0; i < count; i++) b->worker->shared_work += s->seconds[i] * s->cores;
    return status;
}

evn_status evn_batch_share(evn_batch *b, const int *task, int count, evn_task_body body,
                           void *arg) {
    NEED(b, "a batch");
    NEED(body, "a body");
    const int cores = evn_unit_cores(b->unit);
    if (!task && b->open && cores == 1) return run_open(b, body, arg);
    if (!task) task = evn_batch_tasks(b, &count);
    if (cores == 1) return run_alone(b, task, count, body, arg);
    const int alone = b->loop->count == 1 && b->loop->alone.now;
    const double begin = evn_now();
    evn_status status = (alone ? run_alone : run_team)(b, task, count, body, arg);
    const double wall = evn_now() - begin;
    b->worker->shared_wall += wall;
    if (alone) b->worker->shared_work += wall;
    return status;
}
