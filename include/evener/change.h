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
 * that nobody keeps is gone. Programs compare (number, memory) to tell a kept task: memory that is
 * used again is another task's. */
#ifndef EVENER_CHANGE_H
#define EVENER_CHANGE_H

#include <evener/exchange.h>
#include <evener/loop.h>
#include <evener/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The next generation, of n tasks; m is the number of tasks before. Arrays are only read during
 * the call. */
typedef struct evn_change {
    int tasks;        /* n >= 1 */
    const int *first; /* n + 1: task t comes from tasks from[first[t]] .. from[first[t + 1] - 1], */
    const int *from;  /* each 0 .. m - 1; first[0] >= 0; NULL if there are none */
    const char *kept; /* n: 1 if t is its only origin; no other task may keep that one. NULL: no
                         task is kept */
    const double *weight, *bytes, *state; /* n, as in evn_problem. NULL: kept tasks keep theirs,
                                             born ones have the mean of their origins' (without
                                             origins, of all tasks) */
    int links;            /* -1: kept tasks keep theirs, born ones have those of their origins, in
                             equal parts */
    const evn_link *link; /* as in evn_problem */
    int instances;     /* instances to come in all, under later changes too, and not until the next
                          change: placement outlives a generation. 0: many */
    const int *region; /* n x regions of evn_loop_place(): those of born tasks, -1 for none; entries
                          of kept tasks are not looked at. NULL: born tasks have none */
    const int *family; /* n, NULL: none. Born tasks of one number >= 0 may be coarsened together.
                          For changes over ranks; on one rank not looked at */
    double most; /* of auto and map: part of all weight that may leave its unit in this change, 0 to
                    1, beside what goes with origins; 0: what pays */
} evn_change;

/* The schedule goes on with other tasks. What was learnt of units stays. A kept task keeps its
 * cost; a born one costs by its weight what its origins did by theirs. Owners:
 *
 * - auto, map: each task begins on the unit of its heaviest origin (the first of equal ones); from
 *   there tasks move until units are even and few bytes are cut, as far as that pays over the
 *   instances to come. Where the cut has grown beyond a plan's, a plan is made anew, with its parts
 *   named so that most weight stays.
 * - guided, interval: boundaries between units stay beside the same tasks, and go on from there; by
 *   time at once to where learnt costs are even.
 * - binpack, optimal: as inherited, then moves as long as the longest unit gets shorter.
 * - static, weighted: cut anew. dynamic: drawn, and memorized anew.
 *
 * EVN_USAGE: the origins are wrong (the message names the task), or a number is out of its range;
 * EVN_MEMORY. After a failure the schedule is as before. */
evn_status evn_schedule_change(evn_schedule *schedule, const evn_change *change);

/* The loop goes on with other tasks, between instances, by the thread that opened the units. Kept
 * tasks keep their regions, their times in evn_loop_seconds() (those of born ones are 0) and their
 * owner in evn_loop_owner(); born ones are where their heaviest origin is; evn_loop_next() is the
 * decision of the schedule. Faces of gone tasks leave the loop's exchanges, those between kept
 * tasks stay. Regions of gone tasks are not removed: the program may remove them once births have
 * ended, or the next run.
 *
 * EVN_USAGE, beside evn_schedule_change()'s: over several ranks; from within a body, a job or a
 * visit; an exchange's second half is open, or tasks were announced to it (evn_exchange_ahead())
 * and it has not run since. EVN_MEMORY. After a failure the loop, its schedule and its exchanges
 * are as before. */
evn_status evn_loop_change(evn_loop *loop, const evn_change *change);

/* Number of changes since the loop was opened. */
int evn_loop_generation(const evn_loop *loop);

/* The tasks of this rank that the last change bore, ascending, *count of them; valid until the next
 * run, from then on none. */
const int *evn_loop_born(const evn_loop *loop, int *count);

/* A change that was made, for records. */
typedef struct evn_changed {
    int instance;                /* runs learnt before it */
    int tasks, kept, born;       /* of now */
    int gone;                    /* of before */
    int moved;                   /* tasks that were decided to leave the unit that they inherited */
    double moved_bytes;          /* of their regions; without regions as evn_problem.bytes */
    int faces_added, faces_gone; /* in all exchanges, until the next change */
    double seconds; /* evn_loop_change() and evn_exchange_add(), on the calling thread */
} evn_changed;

/* Number of changes of a loop since it was opened, and the i-th of them; all 0, with a message, if
 * there is none. */
int evn_loop_changes(const evn_loop *loop);
evn_changed evn_loop_changed(const evn_loop *loop, int i);

/* Births: a visit of born tasks, each on the unit of its heaviest origin and there in its space,
 * with its own regions for writing and those of its origins with access `origins`: EVN_READ;
 * EVN_BOTH if no region is an origin's of two tasks. So nothing is copied from another space but
 * regions of other origins that are elsewhere. Programs may also fill born tasks themselves. Times
 * are not learnt. Does nothing if no task is born, or the next run has begun. Failures as of
 * evn_loop_visit(); EVN_USAGE: a region of an origin was removed, the message names it; a region of
 * an origin that is removed must not be named again for a born task before births have ended. */
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

/* Adds faces to an exchange, all or none: checks as of evn_exchange_open(), against each other and
 * against the faces of the same regions. `host`: as of evn_exchange_open(), n pointers of the
 * present tasks, of which those with faces are looked at. Faces have numbers that last: those of
 * evn_exchange_open() are 0 .. count - 1, additions continue them, and messages name them. A run
 * before faces were added lacks them. EVN_USAGE, EVN_MEMORY: nothing was added. */
evn_status evn_exchange_add(evn_exchange *exchange, int count, const evn_face *face,
                            void *const *host);

/* Removes faces by their lasting numbers, all or none: those between kept tasks that are not any
 * more, since their neighbours are. EVN_USAGE: a number twice, or of no face there is. */
evn_status evn_exchange_drop(evn_exchange *exchange, int count, const int *face);

#ifdef __cplusplus
}
#endif
#endif
