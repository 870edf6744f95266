/* Regions of a session's loop: over ranks they are with their tasks, and are collected on rank 0 at
 * the end. Every rank has memory for all of them, so migrations need no callbacks. */
#include "base/argument.h"
#include "session/session.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct own_regions {
    evn_place *place;
    int tasks, each;
    int *region; /* [task * each + i] */
    void **host; /* their memory in this process */
};

void session_forget(struct own_regions *r) {
    if (!r) return;
    free(r->region);
    free(r->host);
    free(r);
}

static evn_status keep(struct own_regions **out, evn_place *place, int tasks, int each,
                       const int *region) {
    const size_t count = (size_t)tasks * (size_t)each;
    struct own_regions *r = *out = calloc(1, sizeof *r);
    if (r) {
        *r = (struct own_regions){.place = place, .tasks = tasks, .each = each};
        r->region = malloc(count * sizeof *r->region);
        r->host = calloc(count, sizeof *r->host);
    }
    if (!r || !r->region || !r->host)
        return evn_fail(EVN_MEMORY, "session: not enough memory for %zu regions", count);
    memcpy(r->region, region, count * sizeof *region);
    return EVN_OK;
}

/* ---- over ranks ---------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* A region goes where its task goes, so it is one task's. */
static evn_status check_alone(const struct own_regions *r) {
    const size_t count = (size_t)r->tasks * (size_t)r->each;
    int *sorted = malloc(count * sizeof *sorted), twice = -1;
    if (!sorted) return evn_fail(EVN_MEMORY, "session: not enough memory for %zu regions", count);
    memcpy(sorted, r->region, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_number);
    for (size_t i = 1; i < count; i++)
        if (sorted[i] >= 0 && sorted[i] == sorted[i - 1]) twice = sorted[i];
    free(sorted);
    if (twice < 0) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "session: region %d is named twice; over ranks a region belongs to one task, "
                    "with which it travels",
                    twice);
}

static evn_status find_memory(struct own_regions *r) {
    for (int i = 0; i < r->tasks * r->each; i++) {
        if (r->region[i] < 0) continue;
        r->host[i] = evn_place_host(r->place, r->region[i]);
        if (!r->host[i])
            return evn_fail(EVN_USAGE,
                            "session: region %d of task %d has no memory in this process; over "
                            "ranks evn_place_add() registers memory for every task's regions on "
                            "every rank, once (or say with evn_loop_homes() how it comes and goes)",
                            r->region[i], i / r->each);
    }
    return EVN_OK;
}

/* Regions of other ranks' tasks are absent here. */
static evn_status leave(const struct own_regions *r, const evn_loop *loop) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < r->tasks * r->each; i++)
        if (r->region[i] >= 0 && !evn_loop_has(loop, i / r->each))
            status = evn_place_leave(r->place, r->region[i]);
    return status;
}

static evn_status make(void *arg, int task) {
    (void)arg, (void)task;
    return EVN_OK;
}

static void *memory(void *arg, int task, int block, size_t *bytes) {
    const struct own_regions *r = arg;
    const int i = task * r->each + block;
    *bytes = r->host[i] ? evn_place_bytes(r->place, r->region[i]) : 0;
    return r->host[i];
}

static void drop(void *arg, int task) { (void)arg, (void)task; }

static evn_status spread(struct own_regions *r, evn_loop *loop) {
    const evn_home home = {.blocks = r->each, .make = make, .memory = memory, .drop = drop};
    evn_status status = check_alone(r);
    if (!status) status = find_memory(r);
    if (!status) status = leave(r, loop);
    return status ? status : evn_loop_homes(loop, &home, r);
}

evn_status evn_session_place(evn_session *s, evn_loop *loop, evn_place *place, int regions,
                             const int *region, const evn_access *access) {
    NEED(s, "a session");
    NEED(loop, "a loop");
    evn_status status = session_foreign(s, "evn_session_place()");
    if (status) return status;
    struct opened *o = session_find(s, loop);
    struct own_regions *r = NULL;
    if (!o) return EVN_USAGE;
    if (o->regions && s->cluster)
        status = evn_fail(EVN_USAGE, "session: evn_session_place() once more; over ranks it is "
                                     "said once of a loop");
    if (!status) status = evn_loop_place(loop, place, regions, region, access);
    if (!status)
        status =
            keep(&r, place, evn_schedule_problem(evn_loop_schedule(loop))->tasks, regions, region);
    if (!status && s->cluster) status = spread(r, loop);
    status = session_agree(s, status);
    if (status && !s->cluster) {
        session_forget(r);
        return status;
    }
    if (r) { /* also after a failure: the loop may have been told of it */
        session_forget(o->regions);
        o->regions = r;
    }
    return status;
}

/* ---- collected ----------------------------------------------------------------------------- */

/* Local regions become valid in the program's memory. */
static evn_status bring_home(const struct own_regions *r, const evn_loop *loop) {
    int *own = malloc((size_t)r->tasks * (size_t)r->each * sizeof *own), count = 0;
    if (!own) return evn_fail(EVN_MEMORY, "session: not enough memory for %d tasks", r->tasks);
    for (int i = 0; i < r->tasks * r->each; i++)
        if (r->region[i] >= 0 && evn_loop_has(loop, i / r->each)) own[count++] = r->region[i];
    evn_status status = evn_place_acquire(r->place, count, own, EVN_HOST, EVN_READ);
    if (!status) status = evn_place_release(r->place, count, own, EVN_HOST);
    free(own);
    return status;
}

/* All ranks walk the tasks in the same order, so there is no deadlock. */
static evn_status carry_home(const struct own_regions *r, evn_loop *loop, evn_cluster *c) {
    const int *owner = evn_loop_next(loop, NULL), me = evn_cluster_rank(c);
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < r->tasks; t++) {
        const int from = evn_cluster_rank_of(c, owner[t]);
        for (int i = t * r->each; from && !status && i < (t + 1) * r->each; i++)
            if (r->host[i] && (me == from || !me))
                status = evn_cluster_carry(c, from, 0, r->host[i],
                                           evn_place_bytes(r->place, r->region[i]));
    }
    return status;
}

evn_status evn_session_collect(evn_session *s, evn_loop *loop) {
    NEED(s, "a session");
    NEED(loop, "a loop");
    evn_status status = session_foreign(s, "evn_session_collect()");
    if (!status) status = session_at_work(s, "evn_session_collect()");
    if (status) return status;
    const struct opened *o = session_find(s, loop);
    if (!o) return EVN_USAGE;
    if (!o->regions)
        status = evn_fail(EVN_USAGE, "session: evn_session_collect() of a loop without regions; "
                                     "evn_session_place() says which its tasks have");
    if (!status) status = bring_home(o->regions, loop);
    status = session_agree(s, status);
    if (status || !s->cluster) return status;
    return session_agree(s, carry_home(o->regions, loop, s->cluster));
}
