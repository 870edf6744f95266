/* For programs: change. The tasks of a loop come and go between two instances, as the blocks of an
 * adaptive mesh do, and what was learnt, and where data are, goes along.
 *
 *     evn_loop_change(loop, &change);              tasks are renumbered
 *     evn_exchange_add(halo, count, face, host);   each exchange: faces of tasks that came
 *     evn_loop_bear(loop, refine, mesh, EVN_READ); new tasks' data, where their origins' are
 *     evn_loop_run(loop, step, mesh);              tasks go to where it was decided
 *
 * A generation is the set of tasks between two changes. Tasks have numbers 0 .. n - 1, anew in each
 * generation, in the program's order: schedules of consecutive tasks take neighbours together if
 * the program numbers along a curve. A task comes from tasks of the generation before, its origins.
 * It is kept if it is one of them, under another number: then its regions, times, owner and faces
 * stay. Otherwise it is born, of one origin (refined), of several (coarsened) or of none. A task
 * that nobody keeps is gone. evn_change, in <evener/schedule.h>, says so; evn_exchange_add() is in
 * <evener/exchange.h>. Programs compare (number, memory) to tell a kept task: memory that is
 * used again is another task's. */
#ifndef EVENER_CHANGE_H
#define EVENER_CHANGE_H

#include <evener/program.h>
#include <evener/loop.h>
#include <evener/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The loop goes on with other tasks, between instances, by the thread that opened the units. Kept
 * tasks keep their regions, their times in evn_loop_seconds() (those of born ones are 0) and their
 * owner in evn_loop_owner(); born ones are where their heaviest origin is; evn_loop_next() is the
 * decision of the schedule. Faces of gone tasks leave the loop's exchanges, those between kept
 * tasks stay. Regions of gone tasks are not removed: the program may remove them once births have
 * ended, or the next run. Under evn_session_place() the session then removes those for which the
 * program has given no memory here.
 *
 * Over ranks all make the same call with the same arrays (`region` apart, whose numbers are each
 * rank's own), and rank 0's schedule decides; on other ranks the schedule holds the new problem and
 * the owners told. First the origins of each born task come to the rank of the heaviest one, by
 * the functions of evn_loop_homes() and the numbers of before; once the call has returned those
 * functions get the numbers of now. Born tasks have memory on the rank that has them
 * (evn_loop_has()); their regions are registered on all ranks, as absent ones (evn_place_add() with
 * NULL), and arrive there with that memory (evn_place_arrive()). Under evn_session_place() they are
 * registered on all ranks by evn_place_make(), or as absent ones, and the session does the rest.
 * Tasks that were decided to be on another rank travel as the next run begins. Where several born
 * tasks share origins, all of these go to the rank of the first of them.
 *
 * EVN_USAGE: origins are wrong (the message names the task); a number is out of its range; from
 * within a body, a job or a visit; an exchange's second half is open, or tasks were announced to it
 * (evn_exchange_ahead()) and it has not run since; under evn_session_place(): a born task's region
 * is not registered; over ranks, on all of them: ranks differ, the message names the first that
 * does; origins of a born task were sent to several ranks for other tasks; under
 * evn_session_place() a region of a born task is another task's, also of before. EVN_MEMORY; over
 * ranks EVN_DEVICE: an origin's only valid copy was on a device that is lost. After a failure the
 * loop, its schedule, its exchanges and the data of all tasks are as before, on all ranks: an
 * origin that goes to another rank has memory on both until all have agreed. */
evn_status evn_loop_change(evn_loop *loop, const evn_change *change);

/* A change that was made, for records. */
typedef struct evn_changed {
    int instance;          /* number of runs learnt before the change */
    int tasks, kept, born; /* tasks of the new generation: all, kept and born ones */
    int gone;              /* tasks of the generation before that nobody keeps */
    int moved;             /* tasks that the schedule moves from the unit that they inherited */
    double moved_bytes; /* bytes of these tasks' regions; without regions their evn_problem.bytes,
                           or else evn_problem.state */
    int faces_added, faces_gone; /* in all exchanges, from this change to the next */
    double seconds;   /* time of evn_loop_change() and evn_exchange_add(), on the calling thread */
    double begin;     /* begin of evn_loop_change(), s since the loop was opened, as in evn_burst */
    double imbalance; /* evn_imbalance() of the units' tasks in the last run before the change; NAN:
                         no run since the change before. Over ranks on rank 0 */
} evn_changed;

/* The i-th change of a loop, of evn_loop_about().generation; all 0, with a message, beyond. */
evn_changed evn_loop_changed(const evn_loop *loop, int i);

/* Births: a visit of born tasks, each on the unit of its heaviest origin and there in its space,
 * with its own regions for writing and those of its origins with access `origins`: EVN_READ;
 * EVN_BOTH if no region is an origin's of two tasks. So nothing is copied from another space but
 * regions of other origins that are elsewhere. Programs may also fill born tasks themselves. Times
 * are not learnt. Does nothing if no task is born, or the next run has begun. Over ranks all make
 * the call, those without born tasks, too. Failures as of evn_loop_visit(); EVN_USAGE: a region of
 * an origin was removed, the message names it; a region of an origin that is removed must not be
 * named again for a born task before births have ended. */
evn_status evn_loop_bear(evn_loop *loop, evn_body body, void *arg, evn_access origins);

/* In a body of births: number of origins of a task of the batch, -1 with a message elsewhere; and
 * region i (of evn_loop_place()) of its origin k, in the order of `from`: its memory on cores (NULL
 * on a device, and if it has none), its offset in the arena on a device (0 on cores). */
int evn_batch_origins(const evn_batch *batch, int task);
void *evn_batch_origin_host(const evn_batch *batch, int task, int k, int i);
size_t evn_batch_origin_at(const evn_batch *batch, int task, int k, int i);

/* evn_batch_table() of births has rows of 1 + regions + 2 + 8 * regions numbers: task and its
 * regions as ever; the number of origins; where in the table (counted in numbers) the regions of
 * the ninth origin and those behind it begin, -1: there are none; the regions of eight origins, -1
 * for those that it has not. */
enum { EVN_ORIGINS_IN_ROW = 8 };

#ifdef __cplusplus
}
#endif
#endif
