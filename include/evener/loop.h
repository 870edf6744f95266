/* For tools: loops beyond <evener.h>, opened on units and schedules of one's own, over ranks; where
 * tasks are, visits on the host, bursts and totals. */
#ifndef EVENER_LOOP_H
#define EVENER_LOOP_H

#include <evener/program.h>
#include <evener/cluster.h>
#include <evener/place.h>
#include <evener/schedule.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* evn_batch_next() for several tasks, for a loop over them that the compiler sees whole: from the
 * returned one on, to the one before *end. More than one only where tasks are timed together. */
int evn_batch_range(evn_batch *batch, int *end);

/* Adds `seconds` to the measured time of a task of the batch, for work that was done later or
 * elsewhere. */
void evn_batch_add(evn_batch *batch, int task, double seconds);

/* Adds the time since `begin` (of evn_now()) to a task's time, with a burst. For a body on cores
 * that returns to a task after all tasks of the batch were passed, for instance after a wait. It is
 * an error on a device, and before the last task was passed (evn_batch_next() has returned -1, or
 * all are reported). */
void evn_batch_spent(evn_batch *batch, int task, double begin);

/* ---- in a body: where it runs ---- */

/* The batch's device, by its number among its unit's devices (evn_unit_device()); -1 on cores: for
 * a CPU unit, and in evn_loop_visit_host(). */
int evn_batch_device(const evn_batch *batch);

/* The space in which the batch's regions are acquired: EVN_HOST on cores. -1, with a message, on a
 * device if no regions follow the loop's tasks. */
int evn_batch_space(const evn_batch *batch);

/* ---- the loop ---- */

/* Opens a loop over the schedule's tasks on `units`; both must outlive its use. It may be closed
 * after them, but not by its body (then a message, and it stays open). EVN_USAGE: the schedule was
 * made for another number of units, or a GPU unit is only described. */
evn_status evn_loop_open(evn_loop **out, evn_units *units, evn_schedule *schedule);
void evn_loop_close(evn_loop *loop);

/* ---- over ranks ---- */

/* Opens a loop on all ranks' units: `units` are this rank's, the schedule was made for all of them
 * (evn_cluster_about().units), the same on every rank. All calls of the loop and of its exchanges
 * are then collective. A rank's bodies get tasks of its own units; owners are global numbers of
 * units. Times go to rank 0, whose schedule alone learns and whose decisions are broadcast: so a
 * schedule need not compute the same on all ranks. A task's memory is on the rank that owns it,
 * its home, only.
 *
 * A failure on one rank fails the instance on all ranks, at its end; evn_message() names the rank.
 * A failure in an exchange appears at the end of the next instance.
 *
 * Schedules from which units draw work on two levels: consecutive tasks to ranks, by speed; chunks
 * to the units of a rank.
 *
 * Exchanges need units that work side by side: a rank with several units that are only described
 * fails with EVN_USAGE.
 *
 * With a cluster of one rank, or NULL, it is evn_loop_open(). EVN_USAGE: evn_cluster_units() was
 * not called, the schedule was made for another number of units, or ranks have different schedules
 * (text, or number of tasks): the message names the first that does. Collective calls from within a
 * body return EVN_USAGE at once, on that rank. */
evn_status evn_loop_open_on(evn_loop **out, evn_units *units, evn_schedule *schedule,
                            evn_cluster *cluster);

/* Memory of tasks that move to another rank. A task has `blocks` blocks of memory; where regions
 * follow tasks (evn_loop_place()), block i is the memory of region i, and the loop calls
 * evn_place_arrive() and evn_place_leave(). All functions are called by the thread that called the
 * loop, between instances. */
typedef struct evn_home {
    int blocks;
    /* Allocates the blocks of a task that arrives; contents undefined. */
    evn_status (*make)(void *arg, int task);
    /* A block of a local task, and its bytes. NULL with 0 bytes: the task has no such block. NULL
     * with bytes: failure (as of a lost device), with evn_message(); the task then stays. */
    void *(*memory)(void *arg, int task, int block, size_t *bytes);
    /* Frees the blocks of a task that has left. */
    void (*drop)(void *arg, int task);
    /* Called when all blocks of a task have arrived; may be NULL. */
    evn_status (*arrived)(void *arg, int task);
} evn_home;

/* Registers `home`. Without it no memory moves with a task to another rank, which is an error where
 * regions or faces belong to it. `arg` must outlive the loop's use. On all ranks or none. */
evn_status evn_loop_homes(evn_loop *loop, const evn_home *home, void *arg);

/* Tells all ranks a value of each task, as for a decision that all ranks make alike: `value` has
 * `bytes` for each task, in the order of their numbers. The rank that has a task (evn_loop_has())
 * gives its value, and on return all ranks have those of all tasks (MPI_Allgatherv). Without ranks
 * it does nothing. Collective, between instances; after evn_loop_change() the tasks are those of
 * now. EVN_USAGE, on all ranks: ranks differ in `bytes`, or a `value` is NULL; or the units are at
 * work; EVN_MEMORY. After a failure values of other ranks' tasks are undefined. */
evn_status evn_loop_allgather(evn_loop *loop, void *value, size_t bytes);

/* ---- running ---- */

/* Makes regions follow tasks, `regions` of them each (at least 1): region[t * regions + i] is
 * region number i of task t, -1 for none; access[i] is how all tasks use region i. When a unit
 * takes a task, its regions are acquired for the unit's space while the body runs. If a device
 * cannot hold all regions of a batch at once, the body gets the batch in parts. The arrays are
 * copied; `place` must outlive the loop's use. A second call replaces the first. EVN_USAGE: no
 * regions, a number below -1, or an unknown access; a number that the place does not have is found
 * by the run that uses it. EVN_MEMORY: no regions follow.
 *
 * Before the first instance, and without ranks, the schedule learns the bytes of each task's
 * regions and the place's room on each unit's devices, unless the problem has said capacities
 * (evn_problem): auto, binpack, map and optimal then give a device that is too small the tasks that
 * fit, and evn_loop_owner() may change. */
evn_status evn_loop_place(evn_loop *loop, evn_place *place, int regions, const int *region,
                          const evn_access *access);

/* Runs an instance from within a job: every leader calls it in evn_units_run(), outside of its
 * team's regions, with its own body and argument for its unit's batches. Returns the same on all
 * leaders when the whole instance is done; each has the message. Owners and times may be read until
 * the first unit's leader calls it again. EVN_USAGE: not in such a job. */
evn_status evn_loop_join(evn_loop *loop, evn_unit *unit, evn_body body, void *arg);

/* Visits every task on the host's cores: leaders of GPU units visit the tasks of their units, and
 * regions are acquired for the host with `access`. EVN_USAGE: `access` is none of the three. */
evn_status evn_loop_visit_host(evn_loop *loop, evn_body body, void *arg, evn_access access);

/* Moves each task's regions to the unit that owns it, so that the next instance finds them there;
 * those that it only writes stay where they are. */
evn_status evn_loop_bring(evn_loop *loop);

/* Writes each task's device, n numbers: its number among the devices of its unit, -1 for cores. In
 * the next run (`now` 0), of the units that evn_schedule_owner() names, -1 for all tasks where
 * units will draw; in visits before it (`now` 1), of those that evn_loop_owner() names. */
void evn_loop_devices(const evn_loop *loop, int now, int *device);

/* Unit of each task in the next instance, by global number: the schedule's answer, over ranks that
 * of rank 0. Valid until the next instance. *draws (may be NULL) says whether other units may run
 * the task, in the next run and in visits before it; plan by owners only what must hold for 0:
 *   0  none may: each unit runs all of its tasks;
 *   1  units draw tasks; the entry is one of the units of the rank whose units will draw the task;
 *   2  units steal tasks from late ones, one batch or several (evn_loop_stealing()). */
const int *evn_loop_next(const evn_loop *loop, int *draws);

/* Stealing: a CPU unit that has done its own tasks takes tasks of a unit that is late, in runs and
 * visits, under the default schedule, auto; not over ranks, beside devices,
 * or where regions must be moved. A body then gets a unit's tasks in several batches, with other
 * units' tasks among them; evn_loop_owner() names the schedule's unit all the same, which is
 * charged with the time. Bodies that use the tasks' own data, and workspace of the unit that they
 * are called with, need not know. For others, such as those that plan by owners or share borders
 * between a unit's neighbouring tasks, `allowed` 0 forbids it from the next instance on; what is
 * left is that units may draw, which evn_loop_next() tells. Allowed at first. Call it between
 * instances. EVN_USAGE: the units are at work. */
evn_status evn_loop_stealing(evn_loop *loop, int allowed);

/* A loop's parts and state. */
typedef struct evn_loop_info {
    const evn_units *units;
    evn_cluster *cluster; /* NULL: without ranks */
    int first_unit;       /* global number of this rank's first unit */
    int failed_unit;      /* whose failure ended the last instance, visit or exchange; -1: none */
    int generation;       /* changes of tasks since the loop was opened (<evener/change.h>) */
    int borns;            /* tasks of this rank that the last change bore, until the next run */
    const int *born;      /* their numbers, ascending */
} evn_loop_info;
evn_loop_info evn_loop_about(const evn_loop *loop);

/* Time of each task in the last run, s. Over ranks of this rank's tasks; on rank 0 of all, those of
 * other ranks as of the latest report where there are more than 4096. */
const double *evn_loop_seconds(const evn_loop *loop);

/* Links of the tasks, one of each pair: the bytes that the loop's exchanges move in an instance, in
 * the mean of both directions and of all instances that statistics are of; without exchanges, those
 * that its schedule was made for. Of exchanges that were closed before, only where a session keeps
 * a record. malloc'ed, *links of them; free() them. NULL without memory. */
evn_link *evn_loop_links(const evn_loop *loop, int *links);

/* A burst: one interval of one unit, as in the traces of the multi-zone paper (figures 5 to 9).
 * Between two bursts a unit waits. */
typedef enum evn_burst_kind {
    EVN_BURST_COMPUTE,  /* in the body of a run */
    EVN_BURST_EXCHANGE, /* in the body of a visit, or in an exchange */
    EVN_BURST_COPY      /* moving regions from another space */
} evn_burst_kind;
typedef struct evn_burst {
    double begin, end; /* s since the loop was opened */
    evn_burst_kind kind;
    int task;     /* first task */
    int count;    /* number of tasks: 1, or more if they were done together */
    int instance; /* number of runs learnt before the burst */
} evn_burst;

/* Keeps the latest `max` bursts of each unit (at least 1) and forgets earlier ones. By default the
 * latest 1024 are kept; recording one takes a few nanoseconds. Bursts of a unit do not overlap. On
 * cores evn_batch_next() and evn_batch_done() end a burst; on a device the host's interval is
 * divided as the queue's events are; where several devices of a unit work at a time, one burst
 * covers all their tasks. EVN_USAGE: less than 1, or from within a body; EVN_MEMORY: then nothing
 * has changed. */
evn_status evn_loop_keep_bursts(evn_loop *loop, int max);

/* Number of bursts kept of a unit, and the i-th of them, oldest first; 0 and an empty one, with a
 * message, if there is no such unit or burst. */
int evn_loop_bursts(const evn_loop *loop, int unit);
evn_burst evn_loop_burst(const evn_loop *loop, int unit, int i);

/* The loop's schedule. */
const evn_schedule *evn_loop_schedule(const evn_loop *loop);

/* Counts regions that a body has moved by itself from another space, beside those of
 * evn_loop_place(), in evn_loop_totals. By the thread that has the batch; a NULL `batch` leaves a
 * message. */
void evn_batch_brought(evn_batch *batch, long long regions, double bytes);

/* Statistics of a unit since the loop was opened or evn_loop_reset_stats(). */
typedef struct evn_unit_stats {
    double compute_s;  /* time in bodies of evn_loop_run() and evn_loop_join() */
    double exchange_s; /* time in bodies of evn_loop_visit(), and in exchanges */
    double copy_s;     /* time to move regions, for runs and visits */
    double idle_s;     /* remaining time: waiting for others */
    long long tasks;   /* number of tasks computed */
    double bytes_in;   /* bytes received over links in exchanges (evn_exchange_run()) */
    double bytes_out;  /* bytes sent over links in exchanges */
} evn_unit_stats;
/* All 0, with a message, if there is no such unit. */
evn_unit_stats evn_loop_stats(const evn_loop *loop, int unit);

/* Totals of the whole loop in the same period. */
typedef struct evn_loop_totals {
    double compute_s;     /* wall time of runs: the papers' Computation Period */
    double exchange_s;    /* wall time of visits: the Communication Period */
    long long instances;  /* number of runs */
    long long migrations; /* tasks that ran on another unit than in the instance before, or, in the
                             first one, than in the visit before */
    double bytes;         /* bytes that crossed between units in exchanges (evn_exchange_run()) */
    long long messages;   /* ordered pairs of units with bytes, summed over exchanges */
    long long copies;     /* copies from one space to another in exchanges */
    /* over ranks: what this rank has sent */
    long long rank_messages; /* messages of exchanges to other ranks */
    double rank_bytes;       /* bytes in these messages, without headers */
    long long moved;         /* tasks that moved to another rank */
    double moved_bytes;      /* bytes of these tasks' memory */
    /* regions moved from another space for tasks (evn_loop_place(), evn_batch_brought()) */
    long long brought;
    double brought_bytes;
    long long
        stolen; /* tasks that another unit than their owner ran, in runs (evn_loop_stealing()) */
} evn_loop_totals;
evn_loop_totals evn_loop_sum(const evn_loop *loop);
/* Adds one rank's evn_loop_sum() to `all`, which begins as zeros; call it once for each rank. Times
 * are those of the longest rank; instances and migrations are the same on all ranks; counts are
 * summed, and `messages` includes those to other ranks. Any thread; a NULL argument leaves a
 * message. */
void evn_loop_add_totals(evn_loop_totals *all, const evn_loop_totals *of_rank);
/* Medians over the latest 128 instances at most: wall time of a run, of visits and exchanges since
 * the run before, and of both together. Of the latter the part beside what the longest unit has to
 * do, in which units are woken and waited for; and how long the units had nothing to do before
 * the run. task_s: what this rank's units did with tasks in a run, over the number of all tasks. 0
 * before the first run. */
typedef struct evn_loop_medians {
    double compute_s, exchange_s, step_s, beside_s, idle_s, task_s;
} evn_loop_medians;
evn_loop_medians evn_loop_median(const evn_loop *loop);
void evn_loop_reset_stats(evn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
