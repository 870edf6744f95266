/* What a loop is made of, for the files of this room. */
#ifndef LOOP_INTERNAL_H
#define LOOP_INTERNAL_H

#include <evener/loop.h>
#include <stdatomic.h>

struct evn_batch {
    const int *task;
    int count;
    int next;        /* tasks that were begun one by one, and 1 once the last one is done */
    int done;        /* tasks that were done together */
    double since;    /* when the task at hand, or the batch, began */
    double *seconds; /* of all tasks */
    int device;      /* of the unit's devices; -1 */
    const evn_problem *problem;
    struct worker *worker;
};

/* The latest bursts of a unit; `next` of them were ever recorded. */
struct ring {
    evn_burst *burst;
    long next;
    int size;
};
enum { BURSTS = 1024 };

/* A batch on one of a unit's devices. */
struct flight {
    const int *task;
    int count;
    evn_event *begin, *end;
};

/* What one unit does in one instance. */
struct worker {
    _Alignas(64) evn_batch batch;
    int *mine;   /* its tasks, when owners are fixed; or the chunk drawn */
    int tasks;   /* computed in this instance */
    double busy; /* in bodies in this instance */
    evn_status status;
    char message[512];
    evn_unit_stats stats;
    struct ring ring;
    int *regions;          /* of the tasks at hand */
    struct flight *flight; /* of each device of the unit; NULL for a CPU unit */
    evn_burst_kind kind;   /* of the instance at hand */
    int instance;
    double origin;
};

/* Who has to know that the loop goes on with other units: called when they are what they will be,
 * from the thread that opened them. */
struct loop_listener {
    void (*units_changed)(void *arg);
    void *arg;
    struct loop_listener *next;
};

struct evn_loop {
    evn_units *units;
    evn_schedule *schedule;
    const evn_problem *problem;
    int count;     /* units */
    double origin; /* when it was opened */
    struct worker *worker;
    int *owner, *before; /* of each task now, and in the instance before */
    double *seconds;
    evn_loop_totals totals;
    evn_place *place; /* NULL: tasks have no regions */
    int *region;      /* of each task, `regions` one after another */
    int regions;      /* of a task */
    evn_access access;
    int exchanges; /* that are open, and count bytes; none: visits do */
    struct loop_listener *listener;
    int cut_stale; /* owners have changed since the cut was counted */
    double cut_bytes;
    int cut_pairs;
    /* the instance at hand */
    evn_body body;
    void *arg;
    int chunk;
    int failed_unit;                 /* the one that ended the last instance */
    int on_host;                     /* a visit on the host's cores */
    evn_access host_access;          /* of such a visit */
    _Alignas(64) atomic_long cursor; /* first task nobody has drawn */
    _Alignas(64) atomic_int failed;
};

/* Adds what an exchange took: `busy` seconds of each unit, `wall` in all. */
void loop_add_exchange(evn_loop *loop, const double *busy, double wall);

/* Adds what an exchange moved: bytes that came to each unit and left it, and `messages` and
 * `copies` as in evn_loop_totals. */
void loop_add_moved(evn_loop *loop, const double *in, const double *out, int messages, int copies);

/* The unit whose failure has ended an exchange; -1: none has. */
void loop_set_failed(evn_loop *loop, int unit);

void loop_listen(evn_loop *loop, struct loop_listener *listener);
void loop_unlisten(evn_loop *loop, struct loop_listener *listener);

/* Records a burst of a unit; times are evn_now()'s. */
void loop_record(evn_loop *loop, int unit, evn_burst_kind kind, int task, int count, double begin,
                 double end);

#endif
