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

#include <evener/cluster.h>
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
 * finish the batch they are in and take no more. What it leaves with evn_fail() is the instance's
 * message. It may not run, join or visit a loop of these units. */
typedef evn_status (*evn_body)(evn_unit *unit, evn_batch *batch, void *arg);

/* ---- what a body asks: its tasks ----
 *
 * All of it means the same on cores and on a device. A body says in one of three ways what it does
 * with its batch, and from this come the times that schedules learn from: it asks for tasks one by
 * one (evn_batch_next()), says how many are done (evn_batch_done()), or does neither and has done
 * all of them together. On a device work is asynchronous: there the batch's queue is what tasks are
 * done in, so that it is enough to have put a task's work into it, and the times are read when the
 * queue has finished. (Each mark is an event in the queue; a body that launches once for all its
 * tasks does without.) Where several devices of a unit work at a time, all their tasks' times are
 * made smaller in proportion, so that their sum is the time of the slowest device.
 *
 * What cannot be answered (a task that is not of the batch, a region that it has not) is NULL or 0
 * with a message, and the instance fails with it, whatever the body returns. */

/* The batch's next task, -1 after the last. Measures the time of each task on the way, so call it
 * when the task before is really done; on a device, when its work is in the queue. */
int evn_batch_next(evn_batch *batch);

/* The whole batch: *count tasks, ascending; valid until the body returns. */
const int *evn_batch_tasks(const evn_batch *batch, int *count);

/* For bodies that do tasks together: the batch's next `count` tasks are done, and share by weight
 * the time since those before them were. More than are left, or less than 0, are a mistake. Not in
 * a body that uses evn_batch_next(). */
void evn_batch_done(evn_batch *batch, int count);

/* Adds to the time of a task of the batch what is not in it: seconds that were spent on it later,
 * or elsewhere. */
void evn_batch_add(evn_batch *batch, int task, double seconds);

/* The same for a body that comes back to a task when all of the batch were passed, since it had to
 * wait for something, on the unit's cores: adds the time since `begin` of evn_now(), and there is a
 * burst of it. A mistake on a device, and before the last task was passed (evn_batch_next() has
 * given -1, or all are done). */
void evn_batch_spent(evn_batch *batch, int task, double begin);

/* ---- what a body asks: where it runs ---- */

/* The device the batch is for: its number among its unit's devices (evn_unit_device()); -1 on
 * cores: for a CPU unit, and in evn_loop_visit_host(). */
int evn_batch_device(const evn_batch *batch);

/* The space in which the batch's regions are acquired: EVN_HOST on cores. -1, a mistake: a device,
 * and no regions follow the loop's tasks. */
int evn_batch_space(const evn_batch *batch);

/* The queue that the batch's work goes to, and the device's arena, in which its regions are; NULL
 * on cores. */
evn_queue *evn_batch_queue(const evn_batch *batch);
evn_buffer *evn_batch_buffer(const evn_batch *batch);

/* Region number i (of evn_loop_place()) of a task of the batch: bytes from the buffer's beginning,
 * on a device (0 on cores; a mistake if the task has none); its memory, on cores (NULL on a device,
 * and if the task has none). */
size_t evn_batch_at(const evn_batch *batch, int task, int i);
void *evn_batch_host(const evn_batch *batch, int task, int i);

/* A table of the batch in the device's memory, for kernels: a row for each task, in the order of
 * evn_batch_tasks(), of 1 + regions numbers (evn_long): the task's number, then the bytes from the
 * buffer's beginning to each of its regions, -1 where it has none. It belongs to the loop, which
 * sends it when it is not what the device has already; it is right for what is put into the batch's
 * queue by this body. NULL on cores. */
evn_buffer *evn_batch_table(const evn_batch *batch);

/* Puts a kernel into the batch's queue: `groups` groups of as many items as it was written for. It
 * is opened once for each device and kept; `source` must outlive the loop. EVN_USAGE: the batch is
 * on cores, or the arguments are not the kernel's; EVN_SYSTEM: the compiler's message. */
evn_status evn_batch_launch(const evn_batch *batch, const evn_kernel_source *source,
                            const char *kernel, int groups, const evn_argument *argument,
                            int arguments);

/* ---- the loop ---- */

/* A loop over the schedule's tasks on `units`; both must outlive its use, and it may be closed when
 * they are gone, but not by its body (a message, and it stays open). EVN_USAGE: the schedule was
 * made for another number of units, or a GPU unit is only described. */
evn_status evn_loop_open(evn_loop **out, evn_units *units, evn_schedule *schedule);
void evn_loop_close(evn_loop *loop);

/* ---- over ranks ---- */

/* A loop of all ranks' units: `units` are mine, the schedule was made for all of them
 * (evn_cluster_unit_count()), and every rank makes the same one. Every call of the loop and of its
 * exchanges is collective then. Each rank's bodies get tasks of its own units; owners are global
 * numbers of units. Times of all tasks go to rank 0, whose schedule alone learns, and what it
 * decides is told to all: so a schedule need not be the same computation everywhere. A task's
 * memory is on the rank that owns it (its home), nowhere else.
 *
 * A failure on one rank is a failure of the instance on all, at its end; evn_message() names the
 * rank. One in an exchange shows at the end of the next instance.
 *
 * A schedule from which units draw works on two levels: consecutive tasks to ranks, by speed, and
 * chunks to the units of a rank.
 *
 * Exchanges want units that are at work side by side: several of a rank that are only described
 * fail with EVN_USAGE.
 *
 * With a cluster of one rank, or NULL, it is evn_loop_open(). EVN_USAGE: evn_cluster_units() was
 * not called, or the schedule was made for another number of units. */
evn_status evn_loop_open_on(evn_loop **out, evn_units *units, evn_schedule *schedule,
                            evn_cluster *cluster);

/* How a task's memory comes and goes when it moves to another rank. A task has `blocks` blocks of
 * memory; where regions follow tasks (evn_loop_place()), block i is the memory of region i, and the
 * loop lets regions leave and arrive. All are called by the thread that called the loop, between
 * instances. */
typedef struct evn_home {
    int blocks;
    /* Room for the blocks of a task that comes; what they hold does not matter. */
    evn_status (*make)(void *arg, int task);
    /* A block of a task that is here, and its bytes; NULL, 0: it has none. NULL and bytes: it has
     * failed (a device that is lost), and evn_message() says how; the task does not leave. */
    void *(*memory)(void *arg, int task, int block, size_t *bytes);
    /* The task has gone: gives its blocks back. */
    void (*drop)(void *arg, int task);
    /* All blocks of a task that comes have arrived; may be NULL. */
    evn_status (*arrived)(void *arg, int task);
} evn_home;

/* Without it nothing travels when a task moves to another rank, which is a mistake where regions or
 * faces belong to it. `arg` must outlive the loop's use. Call it on all ranks or none. */
evn_status evn_loop_homes(evn_loop *loop, const evn_home *home, void *arg);

/* Whether the task is on this rank: always, alone. */
int evn_loop_has(const evn_loop *loop, int task);

/* The cluster it runs on, NULL alone; and the global number of this rank's first unit. */
evn_cluster *evn_loop_cluster(const evn_loop *loop);
int evn_loop_first_unit(const evn_loop *loop);

/* ---- running ---- */

/* Lets regions follow tasks, `regions` of them each (at least 1): region[t * regions + i] is region
 * number i of task t, -1 if it has none, and access[i] how all tasks use theirs. They are brought
 * to the space of whichever unit takes the task and are acquired there while the body runs. If a
 * device cannot hold all regions of a batch at once, the body gets it in parts. The arrays are
 * copied; `place` must outlive the loop's use. Called again, it replaces what was said before.
 * EVN_USAGE: no regions, a number below -1, or no such access; a number that the place has not is
 * found by the run that wants it. EVN_MEMORY: no regions follow. */
evn_status evn_loop_place(evn_loop *loop, evn_place *place, int regions, const int *region,
                          const evn_access *access);

/* One instance of the loop: every task exactly once, then the schedule learns. Call from the thread
 * that opened the units. EVN_BODY: a body failed; its status and message are in evn_message().
 * EVN_DEVICE: a device has failed, that of unit evn_loop_failed_unit(). EVN_USAGE: the units are at
 * work already, or belong to another thread or process. */
evn_status evn_loop_run(evn_loop *loop, evn_body body, void *arg);

/* The same from within a job: called by every leader in evn_units_run(), outside of its team's
 * regions, each with its own body and argument for the batches that its unit gets. Returns the same
 * to all, when the whole instance is done; each has the message. Owners and times may be looked at
 * until the first unit's leader calls it again. EVN_USAGE: not in such a job. */
evn_status evn_loop_join(evn_loop *loop, evn_unit *unit, evn_body body, void *arg);

/* Every task exactly once on the unit that owns it now, and nothing is learnt: for what goes
 * with the tasks' data, as first touch, and the exchange between two instances of the loop. `body`
 * NULL: regions are brought, and that is all. Failures as with evn_loop_run(). */
evn_status evn_loop_visit(evn_loop *loop, evn_body body, void *arg);

/* The same on the host's cores: tasks of GPU units are visited by those units' leaders, and regions
 * are acquired for the host with `access`; EVN_USAGE: none of the three. */
evn_status evn_loop_visit_host(evn_loop *loop, evn_body body, void *arg, evn_access access);

/* Brings each task's regions to the unit that owns it, so that the next instance finds them there.
 */
evn_status evn_loop_bring(evn_loop *loop);

/* The device on which each task will be in the next run: its number among the devices of the unit
 * that evn_schedule_owner() names; -1 for cores, and for all tasks where units will draw. Writes n
 * numbers. */
void evn_loop_devices(const evn_loop *loop, int *device);

/* The same for visits until then: of the units that evn_loop_owner() names. */
void evn_loop_devices_now(const evn_loop *loop, int *device);

/* Unit of each task in the next instance, among those of all ranks: what the schedule says, over
 * ranks what rank 0 has told. While units draw, *draws (may be NULL) is not 0, and it is a unit of
 * the rank whose units will. Valid until the next instance. */
const int *evn_loop_next(const evn_loop *loop, int *draws);

/* The unit whose failure ended the last instance, visit or exchange; -1 if none has. */
int evn_loop_failed_unit(const evn_loop *loop);

/* Unit of each task in the last instance or visit; the schedule's first assignment before that. A
 * task that has gone to another rank since is its new owner's. */
const int *evn_loop_owner(const evn_loop *loop);

/* Time of each task in the last run, s. */
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
    int count;    /* 1, or more where tasks were done together */
    int instance; /* runs learnt from before it */
} evn_burst;

/* Bursts are always recorded, a few nanoseconds each; of each unit the latest 1024 are kept. Those
 * of a unit do not overlap. On cores there is one for what evn_batch_next() or evn_batch_done()
 * have ended; on a device the host's interval is cut as its marks are; where several devices of a
 * unit work at a time, one is for all their tasks. This keeps the latest `max` instead (at least 1)
 * and forgets those there are. EVN_USAGE: less than 1, or from within a body; EVN_MEMORY: then
 * nothing has changed. */
evn_status evn_loop_keep_bursts(evn_loop *loop, int max);

/* How many bursts of a unit there are, and the i-th of them, oldest first; 0 and an empty one, with
 * a message, for what there is not. */
int evn_loop_bursts(const evn_loop *loop, int unit);
evn_burst evn_loop_burst(const evn_loop *loop, int unit, int i);

/* The units it runs on, and its schedule. */
const evn_units *evn_loop_units(const evn_loop *loop);
const evn_schedule *evn_loop_schedule(const evn_loop *loop);

/* What a unit did since the loop was opened or evn_loop_reset_stats() was called. */
typedef struct evn_unit_stats {
    double compute_s;  /* in bodies of evn_loop_run() and evn_loop_join() */
    double exchange_s; /* in bodies of evn_loop_visit(), and in exchanges */
    double copy_s;     /* bringing regions, for runs and visits */
    double idle_s;     /* what is left of these: waiting for others */
    long long tasks;   /* tasks computed */
    double bytes_in;   /* that came over links for exchanges (evn_exchange_run()) */
    double bytes_out;  /* and that left */
} evn_unit_stats;
evn_unit_stats evn_loop_stats(const evn_loop *loop, int unit); /* zeros, with a message, beyond */

/* What the whole loop did in that time. */
typedef struct evn_loop_totals {
    double compute_s;     /* wall time of runs: the papers' Computation Period */
    double exchange_s;    /* wall time of visits: the Communication Period */
    long long instances;  /* runs */
    long long migrations; /* tasks that ran on another unit than in the instance before */
    double bytes;         /* that crossed between units in exchanges (evn_exchange_run()) */
    long long messages;   /* ordered pairs of units between which some crossed, summed over them */
    long long copies;     /* copies from one space to another for exchanges */
    /* over ranks, what this one sent */
    long long rank_messages; /* messages of exchanges to other ranks */
    double rank_bytes;       /* in them, without their headers */
    long long moved;         /* tasks that went to another rank */
    double moved_bytes;      /* of their memory */
} evn_loop_totals;
evn_loop_totals evn_loop_sum(const evn_loop *loop);
/* Adds what one rank has of a loop to what all have, which begins as zeros: each rank's
 * evn_loop_sum() once. Times are the longest rank's, instances and migrations, which are the same
 * on all, too; what was counted is added up, and `messages` has those to other ranks in it. Any
 * thread; nothing, with a message, if one is NULL. */
void evn_loop_add_totals(evn_loop_totals *all, const evn_loop_totals *of_rank);
void evn_loop_reset_stats(evn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
