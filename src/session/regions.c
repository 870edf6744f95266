/* Regions of a session's loop: over ranks they are with their tasks, and are collected on rank 0 at
 * the end. Migrations need no callbacks: a region that has no memory here gets some as its task
 * arrives, until it leaves. */
#include "base/argument.h"
#include "loop/collect.h"
#include "place/use.h"
#include "session/session.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

struct own_regions {
    evn_place *place;
    int tasks, each;
    int *region; /* [task * each + i] */
    void **host; /* the program's memory in this process; NULL: none */
    void **made; /* memory of those that have none, while their tasks are here */
};

void session_forget(struct own_regions *r) {
    if (!r) return;
    for (int i = 0; r->made && i < r->tasks * r->each; i++) free(r->made[i]);
    free(r->region);
    free(r->host);
    free(r->made);
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
        r->made = calloc(count, sizeof *r->made);
    }
    if (!r || !r->region || !r->host || !r->made)
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

/* Regions of this rank's tasks have memory; those of others may be absent. */
static evn_status find_memory(struct own_regions *r, const evn_loop *loop) {
    for (int i = 0; i < r->tasks * r->each; i++) {
        if (r->region[i] < 0) continue;
        r->host[i] = evn_place_host(r->place, r->region[i]);
        const int mine = evn_loop_has(loop, i / r->each);
        if (!r->host[i] && (mine || !place_is_absent(r->place, r->region[i])))
            return evn_fail(EVN_USAGE,
                            "session: region %d of task %d has no memory in this process; over "
                            "ranks evn_place_add() registers memory for the regions of a rank's "
                            "own tasks, and memory or NULL for those of others",
                            r->region[i], i / r->each);
    }
    return EVN_OK;
}

/* Regions of other ranks' tasks are absent here. */
static evn_status leave(const struct own_regions *r, const evn_loop *loop) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < r->tasks * r->each; i++)
        if (r->region[i] >= 0 && r->host[i] && !evn_loop_has(loop, i / r->each))
            status = evn_place_leave(r->place, r->region[i]);
    return status;
}

static void drop(void *arg, int task) {
    struct own_regions *r = arg;
    for (int i = task * r->each; i < (task + 1) * r->each; i++) {
        free(r->made[i]);
        r->made[i] = NULL;
    }
}

static evn_status make(void *arg, int task) {
    struct own_regions *r = arg;
    for (int i = task * r->each; i < (task + 1) * r->each; i++) {
        if (r->region[i] < 0 || r->host[i] || r->made[i]) continue;
        const size_t bytes = evn_place_bytes(r->place, r->region[i]);
        r->made[i] = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
        if (r->made[i]) continue;
        drop(r, task);
        return evn_fail(EVN_MEMORY, "session: no memory for region %d of task %d, which arrives",
                        r->region[i], task);
    }
    return EVN_OK;
}

static void *memory(void *arg, int task, int block, size_t *bytes) {
    const struct own_regions *r = arg;
    const int i = task * r->each + block;
    void *here = r->host[i] ? r->host[i] : r->made[i];
    *bytes = here ? evn_place_bytes(r->place, r->region[i]) : 0;
    return here;
}

static evn_status spread(struct own_regions *r, evn_loop *loop) {
    const evn_home home = {.blocks = r->each, .make = make, .memory = memory, .drop = drop};
    evn_status status = check_alone(r);
    if (!status) status = find_memory(r, loop);
    if (!status) status = leave(r, loop);
    if (!status) loop_tie(loop);
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

/* The results go to memory of the program's on rank 0. */
static evn_status check_room(const struct own_regions *r, const evn_cluster *c) {
    for (int i = 0; !evn_cluster_rank(c) && i < r->tasks * r->each; i++)
        if (r->region[i] >= 0 && !r->host[i])
            return evn_fail(EVN_USAGE,
                            "session: evn_session_collect() wants memory for the regions of all "
                            "tasks on rank 0, and region %d of task %d has none there",
                            r->region[i], i / r->each);
    return EVN_OK;
}

/* All ranks walk the tasks in the same order, so there is no deadlock. */
static evn_status carry_home(const struct own_regions *r, evn_loop *loop, evn_cluster *c) {
    const int *owner = evn_loop_next(loop, NULL), me = evn_cluster_rank(c);
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < r->tasks; t++) {
        const int from = evn_cluster_rank_of(c, owner[t]);
        for (int i = t * r->each; from && !status && i < (t + 1) * r->each; i++)
            if (r->region[i] >= 0 && (me == from || !me))
                status = evn_cluster_carry(c, from, 0, r->host[i] ? r->host[i] : r->made[i],
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
    if (!status && s->cluster) status = check_room(o->regions, s->cluster);
    if (!status) status = loop_collect(loop);
    status = session_agree(s, status);
    if (status || !s->cluster) return status;
    return session_agree(s, carry_home(o->regions, loop, s->cluster));
}
