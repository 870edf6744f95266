/* Subteams: a unit's cores cut into parts that do tasks of their own.
 *
 * A team that does every task together waits at each of its barriers for its slowest core, and
 * shares out planes and lines until there are too few of them. A batch that has tasks enough is
 * done better by cores that take whole ones: only what is too large for that is done by all. So a
 * body may say what one task is, for however many cores, and leave the cut to the library:
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
 * The cut is made from the tasks' weights and kept as long as they are the same, or in turn the two
 * parts that a batch is done in: first the largest tasks, if there are such, one after another by
 * all cores; then the others by subteams of one core or some, in proportion to what they have to
 * do. Each subteam has tasks of its own, so that their data stay in its cores' caches, and takes
 * from the others when it has done them and they would not be done sooner there: a core that other
 * programs disturb delays no more than a task, or where its subteam is larger than all that are
 * through, as many as that would do in the time of one.
 */
#ifndef EVENER_SUBTEAM_H
#define EVENER_SUBTEAM_H

#include <evener/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who does a task: some of a unit's cores, or all. */
typedef struct evn_subteam {
    int core, cores; /* the calling core's number in it, from 0, and how many there are */
    int first;       /* the number of its core 0 in the unit's team: memory that only it uses can
                        go by it */
    evn_unit *unit;
    void *barrier; /* the library's */
} evn_subteam;

/* One task, called on each core of the subteam that does it, which is done when all have returned.
 * May not run a loop, nor ask the batch for anything. */
typedef void (*evn_task_body)(const evn_subteam *by, int task, void *arg);

/* Does `count` tasks of the batch; task NULL: all of them. Called by the leader, from the loop's
 * body, outside of its team's regions; returns when all are done. Several calls may each do some of
 * the batch's tasks, and together do all, once each. Then, when all were passed, tasks may be done
 * again: this time is added to theirs, as with evn_batch_spent().
 *
 * Times are what a task took times its subteam's share of the unit's cores, made larger in
 * proportion so that their sum is the batch's time; there is one burst for all. Where the unit has
 * one core, tasks are done one after another, as with evn_batch_next().
 *
 * EVN_USAGE: the batch is on a device, a task is not one of the batch's, or the body has used
 * evn_batch_next() or evn_batch_done(). EVN_MEMORY. Then nothing was done. */
evn_status evn_batch_share(evn_batch *batch, const int *task, int count, evn_task_body body,
                           void *arg);

/* Waits until all cores of the subteam have come here, and sees what they have written. */
void evn_subteam_barrier(const evn_subteam *by);

#ifdef __cplusplus
}
#endif
#endif
