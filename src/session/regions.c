/* Regions of a session's loop: over ranks they are with their tasks, and are collected on rank 0 at
 * the end. Migrations need no callbacks: a region that has no memory of the program's here gets
 * some of the place's as its task arrives, until it leaves. Other tasks (evn_loop_change()) bring
 * their regions, and those of gone ones are removed. */
#include "base/argument.h"
#include "base/checksum.h"
#include "cluster/collective_record.h"
#include "loop/collect.h"
#include "data/use.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

/* The regions of a set of tasks, [task * each + i]. */
struct table {
    int tasks;
    int *region;
    void **host; /* the program's memory in this process; NULL: none */
    char *made;  /* 1: registered as memory of the place's */
};

struct own_regions {
    evn_place *place;
    evn_loop *loop;
    evn_cluster *cluster; /* NULL: alone */
    int each;
    struct table now, next; /* next: during a change */
    int *gone, gones;       /* regions to be removed once births have ended */
    int *going, goings;     /* regions to be removed, during a change */
    int collected;          /* 1: rank 0 has copies of regions of other ranks' tasks */
};

static void close_table(struct table *t) {
    free(t->region);
    free(t->host);
    free(t->made);
    *t = (struct table){0};
}

static void forget(struct own_regions *r) {
    if (!r) return;
    close_table(&r->now);
    close_table(&r->next);
    free(r->gone);
    free(r->going);
    free(r);
}

static size_t count_of(const struct own_regions *r, const struct table *t) {
    return (size_t)t->tasks * (size_t)r->each;
}

static evn_status no_memory(size_t count) {
    return evn_fail(EVN_MEMORY, "session: not enough memory for %zu regions", count);
}

static evn_status open_table(const struct own_regions *r, struct table *t, int tasks,
                             const int *region) {
    t->tasks = tasks;
    const size_t count = count_of(r, t);
    t->region = malloc(count * sizeof *t->region);
    t->host = calloc(count, sizeof *t->host);
    t->made = calloc(count, sizeof *t->made);
    if (!t->region || !t->host || !t->made) {
        close_table(t);
        return no_memory(count);
    }
    memcpy(t->region, region, count * sizeof *region);
    return EVN_OK;
}

/* Notes whether a region's memory here is the program's or the place's. */
static void note_memory(const struct own_regions *r, struct table *t, size_t i) {
    t->made[i] = (char)place_is_made(r->place, t->region[i]);
    t->host[i] = t->made[i] ? NULL : evn_place_host(r->place, t->region[i]);
}

static int is_here(const struct own_regions *r, size_t i) {
    return evn_loop_has(r->loop, (int)(i / (size_t)r->each));
}

/* ---- over ranks ---------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* EVN_USAGE: a region, which travels with its task, belongs to several tasks. */
static evn_status check_alone(const struct own_regions *r, const struct table *t) {
    const size_t count = count_of(r, t);
    int *sorted = malloc(count * sizeof *sorted), twice = -1;
    if (!sorted) return no_memory(count);
    memcpy(sorted, t->region, count * sizeof *sorted);
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

/* Regions of this rank's tasks have memory, or will get the place's; those of others may be absent.
 */
static evn_status find_memory(const struct own_regions *r) {
    const struct table *t = &r->now;
    for (size_t i = 0; i < count_of(r, t); i++) {
        const int region = t->region[i];
        if (region < 0 || t->host[i] || t->made[i]) continue;
        if (is_here(r, i) || !place_is_absent(r->place, region))
            return evn_fail(EVN_USAGE,
                            "session: region %d of task %d has no memory in this process; over "
                            "ranks evn_place_add() registers memory for the regions of a rank's "
                            "own tasks, and memory or NULL for those of others; or "
                            "evn_place_make() all of them",
                            region, (int)i / r->each);
    }
    return EVN_OK;
}

/* A rank's regions, as far as all must have the same. */
struct given_regions {
    int each;
    uint64_t sizes; /* their checksum */
};

static struct given_regions given_regions(const struct own_regions *r) {
    struct given_regions g = {r->each, CHECKSUM_BEGIN};
    for (size_t i = 0; i < count_of(r, &r->now); i++) {
        const int region = r->now.region[i];
        const size_t bytes = region < 0 ? 0 : evn_place_bytes(r->place, region);
        g.sizes = checksum_add(g.sizes, &bytes, sizeof bytes);
    }
    return g;
}

static evn_status differ(const void *what, int r, const void *theirs, const void *first) {
    const struct given_regions *x = theirs, *y = first;
    if (x->each != y->each)
        return evn_fail(EVN_USAGE,
                        "session: %s with %d regions of each task on rank %d and %d on rank 0; "
                        "they are as many on all",
                        (const char *)what, x->each, r, y->each);
    if (x->sizes != y->sizes)
        return evn_fail(EVN_USAGE,
                        "session: %s with regions of other sizes on rank %d than on rank 0; a "
                        "task's region has the same on all, or is none (-1) on all",
                        (const char *)what, r);
    return EVN_OK;
}

/* EVN_OK if all ranks have as many regions, of the same sizes; with this rank's status so far; `r`
 * NULL: it has failed. Collective. */
static evn_status same_regions(evn_cluster *cluster, const struct own_regions *r, const char *what,
                               evn_status mine) {
    const struct given_regions given = mine ? (struct given_regions){0} : given_regions(r);
    return cluster_meet_alike(cluster, what, mine, &given, sizeof given, differ, what);
}

/* Makes the region of another rank's task absent here. */
static evn_status leave(const struct own_regions *r, const struct table *t, size_t i) {
    if (t->host[i]) return evn_place_leave(r->place, t->region[i]);
    place_send_away(r->place, t->region[i]);
    return EVN_OK;
}

static evn_status leave_all(const struct own_regions *r) {
    evn_status status = EVN_OK;
    for (size_t i = 0; !status && i < count_of(r, &r->now); i++)
        if (r->now.region[i] >= 0 && !is_here(r, i)) status = leave(r, &r->now, i);
    return status;
}

/* Undoes leave() for all regions, after a failure. */
static void come_back(const struct own_regions *r) {
    for (size_t i = 0; i < count_of(r, &r->now); i++) {
        const int region = r->now.region[i];
        if (region < 0 || !place_is_absent(r->place, region)) continue;
        if (r->now.host[i]) evn_place_arrive(r->place, region, r->now.host[i]);
        if (r->now.made[i]) place_take_over(r->place, region);
    }
}

static void drop(void *arg, int task) {
    const struct own_regions *r = arg;
    for (int i = task * r->each; i < (task + 1) * r->each; i++)
        if (r->now.region[i] >= 0 && !r->now.host[i]) place_send_away(r->place, r->now.region[i]);
}

/* Allocates memory of the place's on the host, with undefined content. */
static evn_status make_room(const struct own_regions *r, int i) {
    const int region = r->now.region[i];
    if (region < 0 || r->now.host[i]) return EVN_OK;
    place_take_over(r->place, region);
    evn_status status = evn_place_acquire(r->place, 1, &region, EVN_HOST, EVN_WRITE);
    return status ? status : evn_place_release(r->place, 1, &region, EVN_HOST);
}

static evn_status make(void *arg, int task) {
    const struct own_regions *r = arg;
    evn_status status = EVN_OK;
    for (int i = task * r->each; !status && i < (task + 1) * r->each; i++) status = make_room(r, i);
    if (status) drop(arg, task);
    return status;
}

static void *block_of(const struct own_regions *r, int i) {
    return r->now.host[i] ? r->now.host[i] : evn_place_host(r->place, r->now.region[i]);
}

static void *memory(void *arg, int task, int block, size_t *bytes) {
    const struct own_regions *r = arg;
    const int i = task * r->each + block;
    void *here = r->now.region[i] < 0 ? NULL : block_of(r, i);
    *bytes = here ? evn_place_bytes(r->place, r->now.region[i]) : 0;
    return here;
}

/* ---- other tasks --------------------------------------------------------------------------- */

/* Copies the regions of kept tasks to their new numbers; *born marks the other tasks. */
static void keep_regions(struct own_regions *r, const int *now, char *born) {
    const size_t each = (size_t)r->each;
    memset(born, 1, (size_t)r->next.tasks);
    for (int t = 0; t < r->now.tasks; t++) {
        if (now[t] < 0) continue;
        born[now[t]] = 0;
        memcpy(r->next.host + (size_t)now[t] * each, r->now.host + (size_t)t * each,
               each * sizeof *r->now.host);
        memcpy(r->next.made + (size_t)now[t] * each, r->now.made + (size_t)t * each, each);
    }
}

/* Finds the regions of born tasks, which must not be registered for another task. */
static evn_status find_born(struct own_regions *r, const char *born, const char *known, int most) {
    struct table *t = &r->next;
    for (size_t i = 0; i < count_of(r, t); i++) {
        const int task = (int)(i / (size_t)r->each), region = t->region[i];
        if (region < 0 || !born[task]) continue;
        if (!evn_place_bytes(r->place, region))
            return evn_fail(EVN_USAGE,
                            "session: task %d is born with region %d, which the place "
                            "does not have; evn_place_make() registers one",
                            task, region);
        if (r->cluster && region <= most && known[region])
            return evn_fail(EVN_USAGE,
                            "session: task %d is born with region %d, which a task of before has; "
                            "over ranks a region belongs to one task, with which it travels",
                            task, region);
        note_memory(r, t, i);
    }
    return EVN_OK;
}

/* Lists regions of gone tasks without memory of the program's. `known` marks those of before, and
 * then those that may go. */
static evn_status list_gone(struct own_regions *r, const int *now, char *known, int most) {
    const size_t count = count_of(r, &r->now);
    r->going = malloc((count + 1) * sizeof *r->going);
    r->goings = 0;
    if (!r->going) return no_memory(count);
    for (size_t i = 0; i < count_of(r, &r->next); i++)
        if (r->next.region[i] >= 0 && r->next.region[i] <= most) known[r->next.region[i]] = 0;
    for (size_t i = 0; i < count; i++) {
        const int region = r->now.region[i];
        if (region < 0 || r->now.host[i] || now[i / (size_t)r->each] >= 0 || !known[region])
            continue;
        known[region] = 0; /* a region of several tasks goes once */
        r->going[r->goings++] = region;
    }
    return EVN_OK;
}

static evn_status check_change(struct own_regions *r, const int *now, char *born, char *known,
                               int most) {
    for (size_t i = 0; i < count_of(r, &r->now); i++)
        if (r->now.region[i] >= 0) known[r->now.region[i]] = 1;
    keep_regions(r, now, born);
    evn_status status = find_born(r, born, known, most);
    if (!status && r->cluster) status = check_alone(r, &r->next);
    return status ? status : list_gone(r, now, known, most);
}

static evn_status may_change(void *arg, const int *now, int tasks, const int *region) {
    struct own_regions *r = arg;
    int most = -1;
    for (size_t i = 0; i < count_of(r, &r->now); i++)
        if (r->now.region[i] > most) most = r->now.region[i];
    evn_status status = open_table(r, &r->next, tasks, region);
    char *born = malloc((size_t)tasks), *known = calloc((size_t)most + 2, 1);
    if (!status && (!born || !known)) status = no_memory(count_of(r, &r->next));
    if (!status) status = check_change(r, now, born, known, most);
    free(born);
    free(known);
    return status;
}

/* Drops rank 0's copies of other ranks' regions, which are outdated. */
static void forget_collected(struct own_regions *r) {
    for (size_t i = 0; r->collected && i < count_of(r, &r->now); i++)
        if (r->now.region[i] >= 0 && !r->now.host[i] && !is_here(r, i))
            place_send_away(r->place, r->now.region[i]);
    r->collected = 0;
}

static void remove_gone(struct own_regions *r) {
    for (int i = 0; i < r->gones; i++) /* the program has removed some */
        if (place_is_made(r->place, r->gone[i]) || place_is_absent(r->place, r->gone[i]))
            evn_place_remove(r->place, r->gone[i]);
    free(r->gone);
    r->gone = NULL;
    r->gones = 0;
}

static void ended(void *arg) {
    remove_gone(arg);
    forget_collected(arg);
}

/* Gives this rank's born tasks memory of the place's, made at the first write, where the program
 * has given none. Regions of other ranks' born tasks become absent. */
static void place_born(const struct own_regions *r) {
    for (size_t i = 0; i < count_of(r, &r->now); i++) {
        if (r->now.region[i] < 0) continue;
        if (!is_here(r, i))
            leave(r, &r->now, i);
        else if (!r->now.host[i])
            place_take_over(r->place, r->now.region[i]);
    }
}

static void change(void *arg, const int *now) {
    struct own_regions *r = arg;
    if (now) {
        remove_gone(r); /* regions of an earlier change without births */
        struct table last = r->now;
        r->now = r->next;
        r->next = last;
        r->gone = r->going;
        r->gones = r->goings;
        r->going = NULL;
        r->collected = 0;
        place_born(r);
    }
    close_table(&r->next);
    free(r->going);
    r->going = NULL;
}

/* ---- said ---------------------------------------------------------------------------------- */

static evn_status keep(struct own_regions **out, evn_session *s, evn_loop *loop, evn_place *place,
                       int each, const int *region) {
    const int tasks = evn_schedule_problem(evn_loop_schedule(loop))->tasks;
    struct own_regions *r = *out = calloc(1, sizeof *r);
    if (!r) return no_memory((size_t)tasks * (size_t)each);
    *r = (struct own_regions){.place = place, .loop = loop, .cluster = s->cluster, .each = each};
    evn_status status = open_table(r, &r->now, tasks, region);
    for (size_t i = 0; !status && i < count_of(r, &r->now); i++)
        if (region[i] >= 0) note_memory(r, &r->now, i);
    return status;
}

/* Finds a loop of this session. */
static evn_status find_loop(evn_session *s, const evn_loop *loop, const char *function,
                            struct opened **o) {
    if (!loop) return argument_missing(function, "a loop");
    *o = session_find(s, loop);
    return *o ? EVN_OK : EVN_USAGE;
}

/* Over ranks: checks on all ranks, then makes the regions of other ranks' tasks absent. */
static evn_status spread(evn_session *s, struct own_regions *r, evn_status status) {
    const evn_home home = {.blocks = r ? r->each : 0, .make = make, .memory = memory, .drop = drop};
    if (!status) status = check_alone(r, &r->now);
    if (!status) status = find_memory(r);
    status = same_regions(s->cluster, r, "evn_session_place()", status);
    if (status) return status;
    status = session_agree(s, leave_all(r));
    if (!status) return evn_loop_homes(r->loop, &home, r);
    come_back(r);
    return status;
}

evn_status evn_session_place(evn_session *s, evn_loop *loop, evn_place *place, int regions,
                             const int *region, const evn_access *access) {
    static const char *const what = "evn_session_place()";
    NEED(s, "a session");
    evn_status status = session_may_open(s, what);
    if (status) return status;
    struct opened *o = NULL;
    struct own_regions *r = NULL;
    status = find_loop(s, loop, __func__, &o);
    if (status) return s->cluster ? same_regions(s->cluster, NULL, what, status) : status;
    if (o->regions && s->cluster)
        status = evn_fail(EVN_USAGE, "session: evn_session_place() once more; over ranks it is "
                                     "said once of a loop");
    if (!status) status = evn_loop_place(loop, place, regions, region, access);
    const int placed = !status;
    if (!status) status = keep(&r, s, loop, place, regions, region);
    if (s->cluster) status = spread(s, r, status);
    if (status) forget(r);
    if (status && placed) loop_forget_place(loop);
    if (!placed) return status;
    forget(o->regions);
    o->regions = status ? NULL : r;
    o->forget = forget;
    if (!status) loop_set_owner_ops(loop, &(struct owner_ops){may_change, change, ended, r});
    return status;
}

/* ---- collected ----------------------------------------------------------------------------- */

/* EVN_USAGE unless rank 0 has memory for the results: the program's, or the place's if all regions
 * are in that. */
static evn_status check_room(const struct own_regions *r) {
    const struct table *t = &r->now;
    for (size_t i = 0; !evn_cluster_rank(r->cluster) && i < count_of(r, t); i++)
        if (t->region[i] >= 0 && !t->host[i] && !t->made[i])
            return evn_fail(EVN_USAGE,
                            "session: evn_session_collect() wants memory for the regions of all "
                            "tasks on rank 0, and region %d of task %d has none there",
                            t->region[i], (int)i / r->each);
    return EVN_OK;
}

static evn_status make_rooms(struct own_regions *r) {
    evn_status status = check_room(r);
    if (evn_cluster_rank(r->cluster)) return status;
    for (int i = 0; !status && i < r->now.tasks * r->each; i++) {
        if (is_here(r, (size_t)i)) continue;
        r->collected = 1;
        status = make_room(r, i);
    }
    return status;
}

/* All ranks walk the tasks in the same order, so there is no deadlock. */
static evn_status carry_home(const struct own_regions *r) {
    const int *owner = evn_loop_owner(r->loop), me = evn_cluster_rank(r->cluster);
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < r->now.tasks; t++) {
        const int from = evn_cluster_rank_of(r->cluster, owner[t]);
        for (int i = t * r->each; from && !status && i < (t + 1) * r->each; i++)
            if (r->now.region[i] >= 0 && (me == from || !me))
                status = evn_cluster_carry(r->cluster, from, 0, block_of(r, i),
                                           evn_place_bytes(r->place, r->now.region[i]));
    }
    return status;
}

evn_status evn_session_collect(evn_session *s, evn_loop *loop) {
    static const char *const what = "evn_session_collect()";
    NEED(s, "a session");
    evn_status status = session_foreign(s, what);
    if (!status) status = session_at_work(s, what);
    if (status) return status;
    struct opened *o = NULL;
    status = find_loop(s, loop, __func__, &o);
    if (!status && !o->regions)
        status = evn_fail(EVN_USAGE, "session: evn_session_collect() of a loop without regions; "
                                     "evn_session_place() says which its tasks have");
    if (!status && s->cluster) status = make_rooms(o->regions);
    if (!status) status = loop_collect(loop);
    if (s->cluster) status = same_regions(s->cluster, status ? NULL : o->regions, what, status);
    if (status || !s->cluster) return status;
    return session_agree(s, carry_home(o->regions));
}
