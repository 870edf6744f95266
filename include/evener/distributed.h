/* For programs: tasks distributed over ranks, where no rank has an array of all tasks. In C only.
 *
 *     evn_distributed_open(&mesh, &own);              each rank: its own tasks, 0 .. n - 1
 *     evn_distributed_add(mesh, count, face);         faces, also to tasks of other ranks
 *     evn_distributed_run(mesh, step, arg);           exchange, then the loop of each rank
 *     evn_distributed_change(mesh, &change, bytes);   each rank's tasks come and go
 *     evn_distributed_bear(mesh, refine, arg);        new tasks' data
 *     evn_distributed_balance(mesh, &moved);          boundaries between ranks move
 *
 * A loop over ranks (evn_loop_open_on()) replicates the problem on all of them. Here a rank knows
 * its own tasks, the faces that touch them, and one number of each rank: memory on a rank is
 * O(own tasks + ranks + own faces). A task is named by its rank and its number there; its global
 * number is the number of all tasks of lower ranks plus its own. Ranks have
 * consecutive global numbers, so a program that numbers along a curve has compact ranks.
 *
 * Within a rank there is a loop (<evener/loop.h>) of its own tasks on its own units, under any
 * schedule, `auto`, `map`, `dynamic` and `optimal` included; it sees no other rank. Between ranks
 * evn_distributed_balance() moves boundaries between consecutive tasks; there is no other schedule
 * over ranks. A rank may have no tasks, and then has no loop.
 *
 * All data of tasks are regions (<evener/place.h>) that the place makes: evn_place_make(). They are
 * read and written while they are acquired, as in bodies. The library makes them for tasks that are
 * born or arrive, and removes those of tasks that are gone or leave.
 *
 * Functions marked collective are called by all ranks in the same order, by the thread that opened
 * the units, and return the same status on all. EVN_USAGE of a collective function changes nothing
 * on any rank. After any other failure of evn_distributed_add(), _change() and _balance() the
 * object can only be closed: further collective calls return EVN_USAGE, and say so. */
#ifndef EVENER_DISTRIBUTED_H
#define EVENER_DISTRIBUTED_H

#include <evener/program.h>
#include <evener/cluster.h>
#include <evener/exchange.h>
#include <evener/loop.h>
#include <evener/place.h>
#include <evener/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_distributed evn_distributed;

/* A task by its rank, and by its number on it. */
typedef struct evn_rank_task {
    int rank, number;
} evn_rank_task;

/* This rank's part. Arrays are only read during the call; cluster, units and place must outlive the
 * object. */
typedef struct evn_distribution {
    evn_cluster *cluster; /* NULL: one rank */
    evn_units *units;     /* this rank's units */
    evn_place *place;     /* this rank's place, opened for these units */
    const char *schedule; /* within this rank, as of evn_schedule_open(); NULL: "auto" */
    int tasks;            /* n >= 0 of this rank; at least one on all ranks together */
    const double *weight; /* n, >= 0 and finite; NULL: all 1 */
    int instances;       /* runs to come in all, over all changes; 0: many. The same on all ranks */
    int regions;         /* k >= 1 of each task, the same on all ranks */
    const size_t *bytes; /* n x k, [task * k + i]; 0: the task has no region i */
    const evn_access *access; /* k: of bodies to regions, as of evn_loop_place() */
    size_t element;           /* bytes of a value of faces, >= 1, the same on all ranks */
} evn_distribution;

/* Opens the object and, where there are tasks, the rank's loop. The regions hold nothing yet: write
 * them first, as by evn_loop_visit_host() of the rank's loop (evn_distributed_part()) with
 * EVN_WRITE. Collective. EVN_USAGE: a number out of its range, or ranks differ; EVN_MEMORY,
 * EVN_DEVICE. */
evn_status evn_distributed_open(evn_distributed **out, const evn_distribution *own);

/* Closes the object, its loop, and removes all regions. Collective only in that neighbours must
 * have ended their runs: evn_cluster_agree() before. NULL is accepted. */
void evn_distributed_close(evn_distributed *distributed);

/* ---- queries, of this rank alone ---- */

/* This rank's part. */
typedef struct evn_rank_part {
    int tasks;            /* of this rank */
    const long long *sum; /* sum[r]: tasks of ranks below r, 0 .. number of ranks; the last is the
                             number of all tasks. Valid until the next collective call */
    evn_loop *loop; /* for visits and questions; NULL: no tasks. The object's, and another one when
                       tasks have come to a rank without any: ask again after each change and
                       balance. It must not be run, changed or closed, nor get exchanges */
    const int *region; /* [task * k + i], -1: none; valid until the next collective call */
    const evn_rank_task *origin; /* after a change or balance that has moved tasks: each task's rank
                                    and number before; rank -1: born. Valid until the next of them;
                                    NULL before the first */
    int within, from, to; /* faces that write this rank's tasks, from its own and from other ranks,
                             and that other ranks read here */
    double carried;       /* regions' bytes sent to other ranks by evn_distributed_balance() */
} evn_rank_part;
evn_rank_part evn_distributed_part(const evn_distributed *distributed);

/* ---- faces ---- */

/* A face between two tasks of any ranks. `block` has the two areas, regions and resolutions, as of
 * <evener/exchange.h>; its own `from` and `to` are not looked at. */
typedef struct evn_rank_face {
    evn_rank_task from, to;
    evn_face block;
} evn_rank_face;

/* Adds faces: each is given once, on any one rank, as that of `to` or of `from`. Ranks may add
 * none, but all make the call. Faces within a rank go to an exchange of its loop, those between two
 * ranks into one message a run for each ordered pair of ranks. Collective. EVN_USAGE, naming the
 * face by its number in the call and the rank that gave it: no such rank, task or region; a block
 * beyond its region; resolutions as of evn_exchange_open(); a value that two faces write, or one
 * writes and another reads. Nothing was added on any rank. */
evn_status evn_distributed_add(evn_distributed *distributed, int count, const evn_rank_face *face);

/* ---- runs ---- */

/* One instance: all faces are copied, messages to other ranks being sent before anything is waited
 * for, and faces within ranks copied while they travel; then each rank runs its loop. Regions with
 * faces to other ranks come to the host for that. A rank without tasks takes part. Collective; a
 * failure on one rank is that of all, at the end of the instance. */
evn_status evn_distributed_run(evn_distributed *distributed, evn_body body, void *arg);

/* ---- changes ---- */

/* Other tasks: each rank passes its own change, in numbers of its own tasks, before and now. So the
 * origins of a born task are on the rank that gives it: tasks that shall become one are on one rank
 * first. `tasks` may be 0. Of the struct `first`, `from`, `kept`, `weight`, `instances`, `most`
 * are used; `links` is -1 or 0, the others are NULL. `bytes`: n x k, of the regions of born tasks
 * (entries of kept tasks are not looked at); NULL: as their first origin's.
 *
 * A rank that has no tasks cannot bear any; it gets some by evn_distributed_balance(). Faces of
 * kept tasks stay, whatever number their other end has got on its rank; faces of gone tasks go, on
 * both ranks. Collective. EVN_USAGE beside evn_loop_change()'s: as above; no tasks are left on all
 * ranks; a born task whose regions have no size is given no origin. */
evn_status evn_distributed_change(evn_distributed *distributed, const evn_change *change,
                                  const size_t *bytes);

/* Births, as evn_loop_bear() with EVN_READ for origins, on all ranks, those without born tasks too.
 * Afterwards, or with the next change, balance or run, the regions of gone tasks are removed.
 * Collective. */
evn_status evn_distributed_bear(evn_distributed *distributed, evn_body body, void *arg);

/* Where tasks have gone in the last change or balance: replaces each of `count` tasks of any ranks
 * and numbers of before by those of now; rank -1: the task is gone. For faces between a new task
 * and one of another rank whose number there has changed. Ranks ask for as many as they like.
 * Collective. EVN_USAGE: no such rank, or no such task there before; or nothing has changed yet. */
evn_status evn_distributed_now(evn_distributed *distributed, int count, evn_rank_task *task);

/* ---- balance ---- */

/* Moves tasks between ranks, in the order of their global numbers, so that the measured seconds of
 * each rank's tasks, times the speed of their units, are in proportion to the sum of its units'
 * speeds (evn_unit_about().speed). Before the first run weights stand for seconds. A task counts
 * with the mean of its runs that favours recent ones; a born one by weight as its origins. They
 * move where the longest rank gets shorter by a fiftieth at least and, once times are known, by
 * more over the instances to come than carrying the regions takes. *moved (may be NULL): tasks of
 * all ranks that have moved; 0: all is as it was. Regions, times and faces go along. Afterwards ask
 * for number, loop and regions again. Collective. */
evn_status evn_distributed_balance(evn_distributed *distributed, int *moved);

#ifdef __cplusplus
}
#endif
#endif
