/* The loop: units take tasks as the schedule says, the program's body runs, times go back to the
 * schedule.
 *
 *     static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
 *         for (int t; (t = evn_batch_next(batch)) >= 0;) work_on(t);
 *         return EVN_OK;
 *     }
 *     ...
 *     for (int step = 0; step < steps; step++) evn_loop_run(loop, body, arg);
 *
 * A body gets a batch of tasks, not one task, because a GPU wants all its zones in one launch and a
 * CPU wants one zone at a time in its cache. A schedule with fixed owners hands a unit all its
 * tasks as one batch; one that units draw from hands out chunks.
 */
#ifndef EVENER_LOOP_H
#define EVENER_LOOP_H

#include <evener/place.h>
#include <evener/schedule.h>
#include <evener/status.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_loop evn_loop;
typedef struct evn_batch evn_batch;

/* The body, called by the leader of `unit`. Anything but EVN_OK ends the instance: other units
 * finish the batch they are in and take no more. */
typedef evn_status (*evn_body)(evn_unit *unit, evn_batch *batch, void *arg);

/* The batch's next task, -1 after the last. Measures the time of each task on the way, so call it
 * when the task before is really done. A body that never asks for tasks has done all of them
 * together. */
int evn_batch_next(evn_batch *batch);

/* The whole batch: *count tasks, ascending; valid until the body returns. */
const int *evn_batch_tasks(const evn_batch *batch, int *count);

/* The same for bodies that do tasks together: the batch's next `count` tasks are done, and share by
 * weight the time since those before them were. */
void evn_batch_done(evn_batch *batch, int count);

/* Adds to the time of a task of the batch what was done for it after its turn, s. */
void evn_batch_add(evn_batch *batch, int task, double seconds);

/* The device the batch is for: its number among its unit's devices (evn_unit_device(), queue:
 * evn_unit_queue()); -1 for a CPU unit, and in evn_loop_visit_host(). */
int evn_batch_device(const evn_batch *batch);

/* A loop over the schedule's tasks on `units`; both must outlive it. EVN_USAGE: the schedule was
 * made for another number of units. */
evn_status evn_loop_open(evn_loop **out, evn_units *units, evn_schedule *schedule);
void evn_loop_close(evn_loop *loop);

/* Lets regions follow tasks: `region` has n entries, the region of each task, which is brought to
 * the space of whichever unit takes the task and acquired there with `access` while the body runs.
 * If a device cannot hold all regions of a batch at once, the body gets it in parts. `place` must
 * outlive the loop. EVN_MEMORY. */
evn_status evn_loop_place(evn_loop *loop, evn_place *place, const int *region, evn_access access);

/* One instance of the loop: every task exactly once, then the schedule learns. Call from the thread
 * that opened the units. EVN_BODY: a body failed; its status and message are in evn_message().
 * EVN_DEVICE: a device has failed, that of unit evn_loop_failed_unit(). */
evn_status evn_loop_run(evn_loop *loop, evn_body body, void *arg);

/* Every task exactly once on the unit that owns it now, and nothing is learnt: for what goes
 * with the tasks' data, as first touch, and the exchange between two instances of the loop. */
evn_status evn_loop_visit(evn_loop *loop, evn_body body, void *arg);

/* The same on the host's cores: tasks of GPU units are visited by those units' leaders, and regions
 * are acquired for the host with `access`. */
evn_status evn_loop_visit_host(evn_loop *loop, evn_body body, void *arg, evn_access access);

/* Brings each task's region to the unit that owns it, so that the next instance finds it there. */
evn_status evn_loop_bring(evn_loop *loop);

/* The unit whose failure ended the last instance, visit or exchange. */
int evn_loop_failed_unit(const evn_loop *loop);

/* Unit of each task in the last instance or visit; the schedule's first assignment before that. */
const int *evn_loop_owner(const evn_loop *loop);

/* Time of each task in the last instance, s. */
const double *evn_loop_seconds(const evn_loop *loop);

/* A burst: one interval of one unit, in the manner of the traces of the multi-zone paper (figures 5
 * to 9). What lies between two bursts of a unit is waiting. */
typedef enum evn_burst_kind {
    EVN_BURST_COMPUTE,  /* in the body of a run */
    EVN_BURST_EXCHANGE, /* in that of a visit, or in an exchange */
    EVN_BURST_COPY      /* bringing regions that were elsewhere */
} evn_burst_kind;
typedef struct evn_burst {
    double begin, end; /* s since the loop was opened */
    evn_burst_kind kind;
    int task;     /* the first one */
    int count;    /* 1, or more where a body took its batch as a whole */
    int instance; /* runs learnt from before it */
} evn_burst;

/* Bursts are always recorded, a few nanoseconds each; of each unit the latest 1024 are kept. This
 * keeps the latest `max` instead (at least 1) and forgets those there are. EVN_MEMORY: then
 * nothing has changed. */
evn_status evn_loop_keep_bursts(evn_loop *loop, int max);

/* How many bursts of a unit there are, and the i-th of them, oldest first. */
int evn_loop_bursts(const evn_loop *loop, int unit);
evn_burst evn_loop_burst(const evn_loop *loop, int unit, int i);

/* The units it runs on, and its schedule. */
const evn_units *evn_loop_units(const evn_loop *loop);
const evn_schedule *evn_loop_schedule(const evn_loop *loop);

/* What a unit did since the loop was opened or evn_loop_reset_stats() was called. */
typedef struct evn_unit_stats {
    double compute_s;  /* in bodies of evn_loop_run() */
    double exchange_s; /* in bodies of evn_loop_visit() */
    double idle_s;     /* inside of runs and visits, waiting for others */
    long long tasks;   /* tasks computed */
    double bytes_in;   /* that came over links for exchanges (evn_exchange_run()) */
    double bytes_out;  /* and that left */
} evn_unit_stats;
evn_unit_stats evn_loop_stats(const evn_loop *loop, int unit);

/* What the whole loop did in that time. */
typedef struct evn_loop_totals {
    double compute_s;     /* wall time of runs: the papers' Computation Period */
    double exchange_s;    /* wall time of visits: the Communication Period */
    long long instances;  /* runs */
    long long migrations; /* tasks that ran on another unit than in the instance before */
    double bytes;         /* that crossed between units in exchanges; where the loop has no
                             evn_exchange, in visits, by the schedule's links */
    long long messages;   /* ordered pairs of units between which some crossed, summed over
                             exchanges or visits */
    long long copies;     /* copies from one space to another for exchanges */
} evn_loop_totals;
evn_loop_totals evn_loop_sum(const evn_loop *loop);
void evn_loop_reset_stats(evn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
