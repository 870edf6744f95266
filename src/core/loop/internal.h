/* Internals of a loop: loop.c runs instances, batch.c serves bodies, regions.c moves the tasks'
 * data, devices.c and batch_device.c keep batches in flight on a GPU unit's devices, subteams.c
 * runs tasks on parts of a team, lists.c assigns tasks to units, burst.c records intervals,
 * recover.c removes a unit, change.c goes on with other tasks. */
#pragma once

#include <evener/kernel.h>
#include <evener/loop.h>
#include <evener/change.h>
#include "base/ticks.h"
#include "schedule/version.h"
#include "loop/alone.h"
#include "loop/collect.h"
#include "loop/links.h"
#include "loop/recent.h"
#include "data/use.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* s of work that is taken from a unit's list at a time, and whose tasks are timed together; at
 * least a task. Of so many tasks at most. */
#define GRAIN 1e-6
enum { GRAIN_MAX = 1024 };

struct worker;
struct in_flight;
struct subteams;
struct birth;
struct rank_ops;

struct evn_batch {
    const int *task;
    int count;
    int next;           /* tasks begun by evn_batch_next() */
    int timed;          /* of these, tasks whose time is taken */
    int until;          /* end of the tasks that are timed together with the one at `timed` */
    int open;           /* 1: the unit may add more of its own tasks */
    int done;           /* tasks reported by evn_batch_done(), or shared */
    int shared;         /* evn_batch_share() was called */
    int adds;           /* evn_batch_add() was called */
    int device, space;  /* index among the unit's devices; -1 and EVN_HOST on cores */
    double since;       /* begin of the current task, or of the batch; on cores */
    struct ticks_at at; /* clock from which `since` is read between tasks */
    double slowness;    /* slowness of the unit in a run on cores; else 1 */
    double *seconds;    /* seconds of all tasks */
    struct in_flight *in_flight; /* NULL on cores */
    void *const *host;           /* the loop's table, if regions are in place; NULL */
    int regions;                 /* number of regions held */
    evn_unit *unit;
    evn_loop *loop;
    struct worker *worker;
};

/* The latest bursts of a unit; `next` counts all that were recorded. */
struct ring {
    evn_burst *burst, *at, *end; /* at: the next one's room */
    int full;                    /* the oldest one is at `at`; else the first is */
};
enum { BURSTS = 1024 };

/* A mark in a device's queue, set when tasks of the batch are done. */
struct mark {
    evn_event *event, *own; /* own: reusable; the last mark may be the batch's end */
    int until;              /* number of tasks done */
    double seconds;         /* seconds since the previous mark */
};

/* The table of a batch's tasks and places in a device's memory (evn_batch_table()). */
struct table {
    evn_buffer *buffer;
    evn_long *sent, *row; /* content on the device, and the next one */
    int rows;             /* number of rows sent */
};

/* A unit's tasks on one of its devices, and the batch of them that is in flight. */
struct in_flight {
    evn_batch batch;
    const int *task;
    int count, done; /* tasks of the device; those before the batch in flight */
    int held;        /* number of regions held */
    double seconds;  /* seconds of the batch on the device */
    evn_event *begin, *end;
    struct mark *mark;
    int marks, room;
    struct table table;
};

/* State of one unit in an instance. */
struct worker {
    _Alignas(64) evn_batch batch;
    evn_body body;
    void *arg;
    _Alignas(64) _Atomic uint64_t ends; /* ends of the remaining part of its own list (lists.c) */
    int *own;                           /* this unit's tasks under fixed owners */
    int listed;                         /* number of these tasks */
    double speed;                       /* estimated speed of its cores */
    int *mine;                          /* the chunk drawn */
    const int *base;                    /* array of its batches' tasks: `mine`, or a list */
    int together;                       /* tasks that are timed together next, at most */
    int met_long;                       /* 1: what was timed at once was long */
    int tasks;                          /* tasks computed in this instance */
    int stolen;                         /* of these, other units' */
    int adds;                           /* 1: evn_batch_add() was called */
    double busy;                        /* s in bodies in this instance */
    double copy;                        /* s of moving regions in this instance */
    double shared_wall, shared_work;    /* s in evn_batch_share(), and of its cores in tasks */
    evn_status status;
    char message[512];
    evn_unit_stats stats;
    long long brought; /* regions brought, as in evn_loop_totals */
    double brought_bytes;
    struct ring ring;
    int *region;      /* regions of the current tasks */
    evn_access *mode; /* access of each; NULL: all alike */
    int *noted;       /* index of each region's last entry; NULL: tasks share no region */
    struct in_flight *in_flight; /* one for each device of the unit; NULL for a CPU unit */
    int devices;
    struct subteams *subteams[2]; /* last division and the one before; NULL: none yet */
    evn_burst common; /* what the current instance's bursts of one task have in common: all but the
                         times and the task */
    double origin;
};

/* Observer of a change of units (evn_recovery_go_on()), called when the new units are in place; and
 * of tasks (evn_loop_change()): may_change() checks and makes memory, then change() follows,
 * without fail, or is called with `now` NULL where the change does not come about. now[t] is the
 * number that task t of before has among the `tasks` of now; -1: none. By the thread that opened
 * the units. links() adds the bytes that all runs so far have moved between tasks. Each may be
 * NULL. */
struct loop_listener {
    void (*units_changed)(void *arg);
    evn_status (*may_change)(void *arg, const int *now, int tasks);
    void (*change)(void *arg, const int *now, int tasks);
    void (*links)(void *arg, struct links *to);
    void *arg;
    struct loop_listener *next;
};

/* The next instance of a loop over ranks, as rank 0 has decided. */
struct replicated {
    int *next; /* owners */
    int chunk, instance;
    int draws;                 /* 1: units drew in the first instance, and may after a change */
    struct done *done;         /* of this rank's tasks */
    struct decision *decision; /* with room for owners */
    int suffice;               /* lessons_suffice() */
    int reported;              /* 1: rank 0 has got the times of all of these tasks once */
    double *unit_s;            /* times of units: of this rank's; rank 0 gets the others */
    double *own;               /* last times of this rank's tasks, in the order of the units' lists;
                                  `tasks` further on their sums, and the sums kept before */
};

struct evn_loop {
    evn_units *units;
    evn_schedule *schedule, *own_schedule; /* own: made after the loss of a unit; else NULL */
    const evn_problem *problem;
    int count;                     /* number of this rank's units */
    int first;                     /* global number of the first */
    evn_cluster *cluster;          /* NULL: no ranks */
    const struct rank_ops *ranks;  /* of a cluster (rank_ops.h) */
    struct replicated *replicated; /* of a cluster, once it is open */
    evn_home home;                 /* home.memory NULL: tasks stay on their rank */
    void *home_arg;
    int plan;    /* counts the assignments that rank 0 has sent */
    int pending; /* 1: tasks may be on other ranks than those of the next instance, until it
                    begins: the set of tasks was changed */
    struct owner_ops owner_ops; /* the owner of the regions; functions NULL: the program */
    int bears;                  /* 1: births may come; the same on all ranks */
    int lo, hi;                 /* range of tasks that this rank's units draw; without ranks, all */
    double origin;              /* time of opening */
    struct worker *worker;
    int *owner, *before; /* unit of each task now, and in the instance before */
    int assignment;      /* counts changes of `owner` */
    int learnt;          /* `assignment` in the last instance that the schedule was told of */
    int changed;         /* `owner` is not what it was before the latest instance, or may be */
    int steady; /* 1: `owner` is as in the last run, and as in the next one; without ranks only
                   while the schedule's version is version_run */
    unsigned version_run;        /* the schedule's version in the last run; over ranks 0 */
    int generation;              /* changes of tasks so far */
    int *born, borns;            /* this rank's tasks born in the last change, until the next run */
    struct birth *birth;         /* origins of born tasks; NULL: there was no change */
    struct evn_changed *changes; /* `generation` of them */
    int *list, *listed;          /* the units' lists, and the owners they are for */
    int lists;                   /* 1: there are lists */
    int even;                    /* 1: all weights are alike, known while there are lists */
    int grain;                   /* tasks that are taken at a time */
    double task_seconds;         /* mean seconds of a task in the last instance */
    struct alone alone;          /* whether unit 0 does all of it */
    double *seconds;             /* seconds of each task in the last run; then in the last visit */
    double *added; /* seconds added by evn_batch_add() to each task of the batch at hand; else 0 */
    int keeps_owners; /* 1: evn_loop_stealing() allows no stealing */
    evn_loop_totals totals;
    struct recent recent;
    struct evn_watched_loop *watched; /* counters that others see (watcher.h); NULL: none */
    long resets;                      /* counts evn_loop_reset_stats() */
    int notes;                        /* 1: for a record, keeps the two below */
    struct links closed; /* of exchanges that were closed, since then, and the tasks are these */
    double *bytes;       /* of each task's regions; NULL: not known */
    int ran;             /* 1: tasks have run on their `owner`, in an instance or a visit */
    evn_place *place;    /* NULL: tasks have no regions */
    int regions;         /* regions of each task; 0 */
    int *region;         /* [task * regions + i]; -1: none */
    evn_access *access;  /* access to each of a task's regions */
    void **host;         /* host memory of each region, if all are in place */
    struct loop_listener *listener;
    unsigned long settled; /* the place's version when all regions were acquired; 0: none */
    /* the current instance */
    int steals;            /* 1: units take each other's tasks */
    int looks;             /* 1: tasks may be long that are timed together with short ones */
    int in_place;          /* 1: regions are in place: none is acquired */
    struct place_use use;  /* use of the regions in place */
    unsigned long version; /* otherwise: version of the place at the begin */
    int chunk;
    const int *order;            /* order in which tasks are drawn; NULL: by number */
    int failed_unit;             /* unit that ended the last instance; -1 */
    evn_status failed_status;    /* status of that unit */
    int on_host;                 /* 1: a visit on the host's cores */
    const struct birth *bearing; /* the visit is of these tasks alone; NULL: of all */
    evn_access host_access;      /* access of such a visit */
    /* result of evn_loop_join() */
    evn_status join_begun, join_status;
    char join_message[1024];
    atomic_int joined;               /* number of leaders that have arrived */
    _Alignas(64) atomic_long cursor; /* first task not drawn yet */
    _Alignas(64) atomic_int failed;
};

/* ---- loop.c ---- */

/* Records a unit's failure with the thread's message; the first one counts. */
void worker_fail(evn_loop *loop, struct worker *w, evn_status status);

/* A visit, when it may begin. */
evn_status loop_visit(evn_loop *loop, evn_body body, void *arg);

/* 1 if the calling thread is in a body of the loop. */
int loop_is_at_work(const evn_loop *loop);

/* EVN_USAGE if the units are at work already; `what`: the call. */
evn_status loop_may_begin(const evn_loop *loop, const char *what);

/* Opens a loop in steps: checks arguments and makes a loop of these units, without tasks; opens its
 * parts. After a failure of the latter evn_loop_close(). EVN_USAGE, EVN_MEMORY. */
evn_status loop_make(evn_loop **out, evn_units *units, const evn_schedule *schedule);
evn_status loop_open_parts(evn_loop *loop, evn_schedule *schedule);
/* EVN_USAGE: the schedule is for another number of units than there are, `where`. */
evn_status loop_check_count(const evn_schedule *schedule, int count, const char *where);

/* Begins with a schedule that has learnt nothing: tasks are where it puts them first. */
void loop_begin_schedule(evn_loop *loop, evn_schedule *schedule);

/* Removes a unit that units_remove() has taken away, with a schedule for the remaining ones,
 * which the loop owns from now on. */
void loop_drop_unit(evn_loop *loop, int unit, evn_schedule *schedule);

/* A run has ended, or births. */
static inline void loop_ended(const evn_loop *loop) {
    if (loop->owner_ops.ended) loop->owner_ops.ended(loop->owner_ops.arg);
}

/* Notes faces that an exchange was given or has lost, in `seconds`. */
void loop_note_faces(evn_loop *loop, int added, int gone, double seconds);

/* Keeps what an exchange that is closed has moved, if the loop notes links. */
void loop_keep_links(evn_loop *loop, const struct loop_listener *of);

void loop_listen(evn_loop *loop, struct loop_listener *listener);
void loop_unlisten(evn_loop *loop, struct loop_listener *listener);

/* Adds the times of an exchange: `busy` seconds of each unit, `wall` in all. */
void loop_add_exchange(evn_loop *loop, const double *busy, double wall);

/* Adds the transfers of an exchange: bytes into and out of each unit, `messages` and `copies` as in
 * evn_loop_totals. */
void loop_add_moved(evn_loop *loop, const double *in, const double *out, int messages, int copies);

/* Adds a message that went to another rank. */
void loop_add_sent(evn_loop *loop, double bytes);

/* Sets the unit whose failure ended an exchange; -1: none. */
void loop_set_failed(evn_loop *loop, int unit);

/* The next instance: chunk size (0: fixed owners); owners; number of instances learnt before. From
 * the schedule, or from rank 0. */
static inline int loop_chunk(const evn_loop *loop) {
    return loop->replicated ? loop->replicated->chunk : schedule_chunk(loop->schedule);
}
static inline const int *loop_next(const evn_loop *loop) {
    return loop->replicated ? loop->replicated->next : evn_schedule_owner(loop->schedule);
}
static inline int loop_instance(const evn_loop *loop) {
    return loop->replicated ? loop->replicated->instance : schedule_instance(loop->schedule);
}

/* 1 if CPU units take tasks of late ones in runs and visits with fixed owners (evn_loop_next()).
 * Not over ranks or beside devices, nor where regions must be moved. */
int loop_may_steal(const evn_loop *loop);

/* Local number of a unit with a global number; -1: another rank's. */
static inline int loop_own(const evn_loop *loop, int unit) {
    const int own = unit - loop->first;
    return own >= 0 && own < loop->count ? own : -1;
}

/* ---- batch.c ---- */

/* A wrong question of a body, which fails the instance. */
evn_status batch_mistake(const evn_batch *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A task of the batch among those that are born; EVN_USAGE: it is none, or these are no births. */
evn_status batch_find_birth(const evn_batch *b, int task, int *index);

/* Calls the body; every failure has a message. */
evn_status batch_run(evn_batch *b);

/* Adds tasks of the unit's own list to an open batch, all or as many as are taken at a time;
 * returns their number. They follow the batch's tasks. */
int batch_take_more(evn_batch *b, int all);

/* Ends a batch on cores: tasks without a reported time share the rest of its time; added times are
 * added. Returns the end of the batch. */
double batch_end(evn_batch *b);

/* The first task that neither next() nor done() has ended. */
static inline int batch_first_open(const evn_batch *b) { return b->next ? b->timed : b->done; }

/* Divides the time of tasks that were done together, by weight. */
void batch_share(const evn_loop *loop, const int *task, int count, double seconds, double *to);

/* For evn_batch_share(): check that it may do these tasks of the batch; begin; report that they are
 * done, and their parts of the time since. */
evn_status batch_may_share(evn_batch *b, const int *task, int count);
void batch_share_begins(evn_batch *b);
void batch_shared(evn_batch *b, const int *task, int count, const double *part);

/* Adds the seconds of evn_batch_add() to the tasks' times. */
void batch_settle(evn_batch *b);

/* ---- batch_device.c ---- */

/* The next batch has other tasks, or a wider table. */
void batch_forget(struct in_flight *f);

/* ---- regions.c ---- */

/* Acquires the regions of tasks in w->base for a space, *held of them; records a burst if some had
 * to move. */
evn_status regions_acquire(evn_loop *loop, struct worker *w, const int *task, int count, int space,
                           int *held);
void regions_release(evn_loop *loop, struct worker *w, const int *task, int held, int space);

/* Number of the tasks, *count at most and at least 1, that a device can hold at once. */
evn_status regions_fit(evn_loop *loop, struct worker *w, const int *task, int space, int *count);

/* Functions of a loop with a place: a table, so that loops without one link no places. Only
 * evn_loop_place() gives a loop its place; it is in the same file. */
struct region_ops {
    evn_status (*acquire)(evn_loop *loop, struct worker *w, const int *task, int count, int space,
                          int *held);
    void (*release)(evn_loop *loop, struct worker *w, const int *task, int held, int space);
    /* 1 if a comparison of the place's version may replace acquiring: all regions are in the only
     * space, and tasks share none */
    int (*may_stay)(const evn_loop *loop);
    /* Bracket an instance: take the regions of all tasks at once if they are in place; end()
     * returns `status`, or the failure of releasing them */
    void (*begin)(evn_loop *loop);
    evn_status (*end)(evn_loop *loop, evn_status status);
    size_t (*at)(const evn_place *place, int region, int space);
    void *(*host)(const evn_place *place, int region);
};
extern const struct region_ops region_ops __attribute__((weak));

/* The tasks' regions are no longer known. */
static inline void regions_close(evn_loop *loop) {
    free(loop->region);
    free(loop->access);
    free(loop->host);
    loop->host = NULL;
    loop->region = NULL;
    loop->access = NULL;
    loop->regions = 0;
}

/* Memory for other regions, made before they take the place of the present ones: open, EVN_MEMORY;
 * take, without fail, which leaves the room with the memory of before; close. */
struct regions_room {
    int regions;
    int *region;
    evn_access *access;
    void **host;
    struct unit_room {
        int *region, *noted;
        evn_access *mode;
    } * unit; /* memory of each unit */
};
/* EVN_USAGE: a number below -1. */
evn_status regions_check_numbers(int tasks, int regions, const int *region);
evn_status regions_room_open(const evn_loop *loop, struct regions_room *room, int tasks,
                             int regions, const int *region, const evn_access *access);
void regions_room_take(evn_loop *loop, struct regions_room *room);

/* Memory for `n` region numbers in all, of `modes` access modes; as regions_room_open(). */
evn_status regions_room_open_any(const evn_loop *loop, struct regions_room *room, size_t n,
                                 const int *region, int modes, const evn_access *access);
void regions_room_close(const evn_loop *loop, struct regions_room *room);

/* ---- memory.c ---- */

/* Tells the schedule the memory of devices and the bytes of the tasks' regions. EVN_MEMORY. */
evn_status loop_tell_memory(evn_loop *loop);

/* Notes the bytes of the tasks' regions for a record, if the loop does. */
void loop_note_bytes(evn_loop *loop);

/* ---- device_split.c ---- */

/* Divides `count` tasks in w->base among the unit's devices: consecutive ones, by weight. */
void devices_split(const evn_loop *loop, struct worker *w, int count);

/* ---- devices.c: of struct device_ops ---- */

evn_status devices_open(evn_loop *loop, struct worker *w, evn_unit *unit);
void devices_close(struct worker *w);

/* Runs the batches of w->in_flight[..], from `begin` on; returns their end. */
double devices_run(evn_loop *loop, evn_unit *unit, struct worker *w, double begin);

/* Marks in the batch's queue that tasks up to number `until` are done. */
evn_status devices_mark(evn_batch *b, int until);

/* ---- burst.c ---- */

static inline void burst_next(struct worker *w) {
    struct ring *r = &w->ring;
    if (++r->at != r->end) return;
    r->at = r->burst;
    r->full = 1;
}

static inline void burst_record(struct worker *w, evn_burst_kind kind, int task, int count,
                                double begin, double end) {
    *w->ring.at = (evn_burst){.begin = begin - w->origin,
                              .end = end - w->origin,
                              .kind = kind,
                              .task = task,
                              .count = count,
                              .instance = w->common.instance};
    burst_next(w);
}

/* burst_record() of one task of the current instance; what its bursts have in common is copied in
 * one piece. */
static inline void burst_record_task(struct worker *w, int task, double begin, double end) {
    evn_burst *burst = w->ring.at;
    const size_t head = offsetof(evn_burst, kind);
    memcpy((char *)burst + head, (const char *)&w->common + head, sizeof *burst - head);
    burst->begin = begin - w->origin;
    burst->end = end - w->origin;
    burst->task = task;
    burst_next(w);
}

/* evn_loop_keep_bursts() while no instance runs; EVN_MEMORY. */
evn_status loop_keep_bursts(evn_loop *loop, int max);

/* Records a burst of a unit between instances; times are evn_now()'s. */
void loop_record(evn_loop *loop, int unit, evn_burst_kind kind, int task, int count, double begin,
                 double end);

/* A task's present memory; `known`: if no homes were registered. */
static inline char *move_memory(const evn_loop *loop, int task, char *known) {
    size_t bytes;
    return loop->home.memory ? loop->home.memory(loop->home_arg, task, 0, &bytes) : known;
}
