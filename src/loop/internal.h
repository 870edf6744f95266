/* What a loop is made of, for the files of this room: loop.c runs instances, batch.c is what bodies
 * ask, regions.c brings the tasks' data, devices.c keeps batches in flight on a GPU unit's devices,
 * subteams.c does them by parts of a team,
 * burst.c remembers intervals, recover.c goes on without a unit. */
#ifndef LOOP_INTERNAL_H
#define LOOP_INTERNAL_H

#include <evener/kernel.h>
#include <evener/loop.h>
#include <stdatomic.h>

struct worker;
struct in_flight;
struct subteams;

struct evn_batch {
    const int *task;
    int count;
    int next;   /* tasks that were begun one by one, and 1 once the last one is done */
    int plain;  /* up to which `next` evn_batch_next() has nothing to look at: `count` on cores, -1
                   on devices, on slow units, and after evn_batch_done() */
    int done;   /* tasks that were done together, or shared out */
    int shared; /* evn_batch_share() was called */
    int adds;   /* evn_batch_add() was called */
    int device, space;           /* of the unit's devices; -1 and EVN_HOST on cores */
    double since;                /* when the task at hand, or the batch, began; on cores */
    double slowness;             /* of the unit, in a run on cores; else 1 */
    double *seconds;             /* of all tasks */
    struct in_flight *in_flight; /* NULL on cores */
    evn_unit *unit;
    evn_loop *loop;
    struct worker *worker;
};

/* The latest bursts of a unit; `next` of them were ever recorded. */
struct ring {
    evn_burst *burst;
    long next;
    int size;
};
enum { BURSTS = 1024 };

/* Where a batch on a device was when tasks of it were done. */
struct mark {
    evn_event *event, *own; /* own: to be used again; the last mark may be the batch's end */
    int until;              /* tasks done, from the first */
    double seconds;         /* since the mark before */
};

/* The table of a batch's tasks and places in a device's memory (evn_batch_table()). */
struct table {
    evn_buffer *buffer;
    evn_long *sent, *row; /* what is there, and room for the next */
    int rows;             /* that were sent */
};

/* A unit's tasks on one of its devices, and the batch of them that is in flight. */
struct in_flight {
    evn_batch batch;
    const int *task;
    int count, done; /* tasks of the device; before the batch in flight */
    int held;        /* regions */
    double seconds;  /* the batch took on the device */
    evn_event *begin, *end;
    struct mark *mark;
    int marks, room;
    struct table table;
};

/* What one unit does in one instance. */
struct worker {
    _Alignas(64) evn_batch batch;
    evn_body body;
    void *arg;
    int *mine;   /* its tasks, when owners are fixed; or the chunk drawn */
    int tasks;   /* computed in this instance */
    double busy; /* in bodies in this instance */
    double copy; /* bringing regions in this instance */
    evn_status status;
    char message[512];
    evn_unit_stats stats;
    struct ring ring;
    int *region;      /* of the tasks at hand */
    evn_access *mode; /* of each of them; NULL where all are alike */
    int *noted;       /* of each region: where it was noted last; NULL where tasks share none */
    struct in_flight *in_flight; /* of each device of the unit; NULL for a CPU unit */
    int devices;
    struct subteams *subteams[2]; /* as cut last, and before that; NULL: none were wanted yet */
    evn_burst_kind kind;          /* of the instance at hand */
    int instance;
    double origin;
};

/* Who has to know that the loop goes on with other units (evn_recovery_go_on()): called when they
 * are what they will be, from the thread that opened them. */
struct loop_listener {
    void (*units_changed)(void *arg);
    void *arg;
    struct loop_listener *next;
};

struct evn_loop {
    evn_units *units;
    evn_schedule *schedule, *own_schedule; /* own: made after a unit was lost; else NULL */
    const evn_problem *problem;
    int count;            /* units of this rank */
    int first;            /* number of the first of them among those of all ranks */
    evn_cluster *cluster; /* NULL: alone */
    struct together *together;
    evn_home home; /* home.memory NULL: tasks stay on their rank */
    void *home_arg;
    int plan;      /* of which assignment of tasks to ranks: counts what rank 0 has told */
    int lo, hi;    /* tasks that our units draw: all, alone */
    double origin; /* when it was opened */
    struct worker *worker;
    int *owner, *before; /* of each task now, and in the instance before */
    double *seconds;     /* of each task in the last run; then in the last visit */
    double *added;       /* by evn_batch_add() to the batch at hand; else 0 */
    evn_loop_totals totals;
    evn_place *place;   /* NULL: tasks have no regions */
    int regions;        /* of each task; 0 */
    int *region;        /* [task * regions + i]; -1: none */
    evn_access *access; /* of each of a task's regions */
    struct loop_listener *listener;
    /* the instance at hand */
    int chunk;
    const int *order;         /* in which tasks are drawn; NULL: as they are numbered */
    int failed_unit;          /* the one that ended the last instance; -1 */
    evn_status failed_status; /* what it said itself */
    int on_host;              /* a visit on the host's cores */
    evn_access host_access;   /* of such a visit */
    /* evn_loop_join(): what it returns */
    evn_status join_status;
    char join_message[1024];
    atomic_int joined;               /* leaders that have come */
    _Alignas(64) atomic_long cursor; /* first task that no unit has drawn */
    _Alignas(64) atomic_int failed;
};

/* ---- loop.c ---- */

/* A failure of a unit, with the thread's message; the first one counts. */
void worker_fail(evn_loop *loop, struct worker *w, evn_status status);

/* Whether the calling thread is in a body of the loop. */
int loop_is_at_work(const evn_loop *loop);

/* EVN_USAGE if the units are at work already; `what`: the call. */
evn_status loop_may_begin(const evn_loop *loop, const char *what);

/* Goes on without a unit, which evn_units_remove() has taken away, by a schedule for those that are
 * left; it belongs to the loop from now on. */
void loop_drop_unit(evn_loop *loop, int unit, evn_schedule *schedule);

void loop_listen(evn_loop *loop, struct loop_listener *listener);
void loop_unlisten(evn_loop *loop, struct loop_listener *listener);

/* Adds what an exchange took: `busy` seconds of each unit, `wall` in all. */
void loop_add_exchange(evn_loop *loop, const double *busy, double wall);

/* Adds what an exchange moved: bytes that came to each unit and left it, and `messages` and
 * `copies` as in evn_loop_totals. */
void loop_add_moved(evn_loop *loop, const double *in, const double *out, int messages, int copies);

/* Adds a message that went to another rank. */
void loop_add_sent(evn_loop *loop, double bytes);

/* The unit whose failure has ended an exchange; -1: none has. */
void loop_set_failed(evn_loop *loop, int unit);

/* Of the next instance: 0, or how many tasks units draw at a time; the owners; how many were learnt
 * from before. The schedule's own, or what rank 0 has told. */
int loop_chunk(const evn_loop *loop);
const int *loop_next(const evn_loop *loop);
int loop_instance(const evn_loop *loop);

/* The unit of this rank with a global number; -1: it is another rank's. */
static inline int loop_own(const evn_loop *loop, int unit) {
    const int own = unit - loop->first;
    return own >= 0 && own < loop->count ? own : -1;
}

/* ---- batch.c ---- */

/* Calls the body; a failure has a message of its own. */
evn_status batch_run(evn_batch *b);

/* Ends a batch on cores: what nobody has told the time of shares what is left of it, and what was
 * added. Returns when the batch ended. */
double batch_end(evn_batch *b);

/* The first task that neither next() nor done() has ended. */
static inline int batch_first_open(const evn_batch *b) { return b->next ? b->next - 1 : b->done; }

/* The time of tasks that were done together, by weight. */
void batch_share(const evn_problem *p, const int *task, int count, double seconds, double *to);

/* What evn_batch_share() asks and says. Whether it may do these tasks of the batch; then that it
 * begins; then that they are done, and in what proportion they took the time since. */
evn_status batch_may_share(const evn_batch *b, const int *task, int count);
void batch_share_begins(evn_batch *b);
void batch_shared(evn_batch *b, const int *task, int count, const double *part);

/* Adds what evn_batch_add() was told to the tasks' times. */
void batch_settle(evn_batch *b);

void batch_forget(struct in_flight *f);

/* ---- regions.c ---- */

/* Acquires the regions of tasks in w->mine for a space, *held of them; a burst where some had to
 * come from elsewhere. */
evn_status regions_acquire(evn_loop *loop, struct worker *w, const int *task, int count, int space,
                           int *held);
void regions_release(evn_loop *loop, struct worker *w, const int *task, int held, int space);

/* How many of the tasks, *count at most and at least 1, a device can hold at once. */
evn_status regions_fit(evn_loop *loop, struct worker *w, const int *task, int space, int *count);

void regions_forget(struct worker *w);
void regions_close(evn_loop *loop);

/* ---- devices.c ---- */

evn_status devices_open(evn_loop *loop, struct worker *w, evn_unit *unit);
void devices_close(struct worker *w);

/* Splits `count` tasks in w->mine among the unit's devices: consecutive ones, by weight. */
void devices_split(const evn_loop *loop, struct worker *w, int count);

/* Runs what w->in_flight[..] was given, from `begin` on; returns when it ended. */
double devices_run(evn_loop *loop, evn_unit *unit, struct worker *w, double begin);

/* In the batch's queue: tasks up to number `until` of the batch are done. */
evn_status devices_mark(evn_batch *b, int until);

/* ---- burst.c ---- */

static inline void burst_record(struct worker *w, evn_burst_kind kind, int task, int count,
                                double begin, double end) {
    w->ring.burst[w->ring.next++ % w->ring.size] = (evn_burst){.begin = begin - w->origin,
                                                               .end = end - w->origin,
                                                               .kind = kind,
                                                               .task = task,
                                                               .count = count,
                                                               .instance = w->instance};
}

/* evn_loop_keep_bursts() of a loop that nobody runs; EVN_MEMORY. */
evn_status loop_keep_bursts(evn_loop *loop, int max);

/* Records a burst of a unit between instances; times are evn_now()'s. */
void loop_record(evn_loop *loop, int unit, evn_burst_kind kind, int task, int count, double begin,
                 double end);

#endif
