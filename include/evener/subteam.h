/* For programs: subteams, a unit's cores divided into groups that do tasks of their own.
 *
 * A team that does every task together waits at each barrier for its slowest core, and small tasks
 * have too few planes and lines to share. With enough tasks a batch is faster if cores take whole
 * tasks, and only those that are too large are done by all cores. A body therefore describes one
 * task for any number of cores, and the library divides the cores:
 *
 *     static void step(const evn_subteam *by, int task, void *arg) {
 *         work_on(task, by->core, by->cores);
 *         evn_subteam_barrier(by);
 *         ...
 *     }
 *     static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
 *         return evn_batch_share(batch, NULL, 0, step, arg);
 *     }
 *
 * The division is made from the tasks' weights and kept as long as they are the same, for each of
 * up to two parts of a batch: first the largest tasks, if there are any, one after another by all
 * cores; then the others by subteams of one core or more, in proportion to their loads. Each
 * subteam has tasks of its own, so that their data stay in its cores' caches. A subteam that has
 * finished takes tasks from another one if it would finish them sooner: so a core that other
 * programs disturb delays at most one task, or where its subteam is larger than all that have
 * finished, as many as that one would do in the time of one. */
#ifndef EVENER_SUBTEAM_H
#define EVENER_SUBTEAM_H

#include <evener/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The cores that do a task: some of a unit's cores, or all. */
typedef struct evn_subteam {
    int core, cores; /* the calling core's number in the subteam, from 0, and the subteam's number
                        of cores */
    int first;       /* the number of its core 0 in the unit's team, to index memory that only this
                        subteam uses */
    evn_unit *unit;
    void *barrier; /* for evn_subteam_barrier() */
} evn_subteam;

/* One task; called on each core of its subteam, and done when all have returned. It may not run a
 * loop nor call functions of the batch. */
typedef void (*evn_task_body)(const evn_subteam *by, int task, void *arg);

/* Does `count` tasks of the batch; task NULL: all. Called by the leader, from the loop's body,
 * outside of its team's regions; returns when all are done. Several calls may do some of the
 * batch's tasks each; together they must do each task once. After that tasks may be done again, and
 * the time is added to theirs, as by evn_batch_spent().
 *
 * A task's time is its elapsed time times its subteam's share of the unit's cores, scaled so that
 * the sum is the batch's time; there is one burst for all. On a unit of one core tasks are done one
 * after another, as with evn_batch_next().
 *
 * EVN_USAGE: the batch is on a device, a task is not one of the batch's, or the body has used
 * evn_batch_next() or evn_batch_done(). EVN_MEMORY. Nothing was done then. */
evn_status evn_batch_share(evn_batch *batch, const int *task, int count, evn_task_body body,
                           void *arg);

/* Barrier of the subteam; earlier writes of its cores are then visible. */
void evn_subteam_barrier(const evn_subteam *by);

#ifdef __cplusplus
}
#endif
#endif
