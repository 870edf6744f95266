/* For tools: schedules, policies that assign tasks to units.
 *
 * A schedule is pure: weights, links, unit speeds and past times go in, an assignment comes out. It
 * starts no thread, reads no clock and moves no data, so the same inputs always give the same
 * answer. It is a plan (as FFTW's): made once for a problem, fed with times after each instance of
 * the loop, exported and imported as text.
 *
 * A schedule is named by a text with its options behind a colon; evn_schedule_name() lists all, and
 * docs/schedule.md says more of them and of their sources.
 *
 * - auto: the default of runs and sessions. Starts and learns as map. It gives less work to units
 *   whose speed varies, or lets units draw tasks, the heaviest first, where that would have been
 *   shorter in recent instances and all units share their memory (space).
 * - static: consecutive tasks, n/U each, the remainder to the first units. static:chunk=C: chunks
 *   of C consecutive tasks to the units in turn, as OpenMP's static with a chunk.
 * - dynamic:chunk=C,memorize=M: C consecutive tasks to whichever unit asks; after M instances the
 *   assignment is fixed (default chunk=1, memorize=3; memorize=0: never fixed).
 * - guided:size: consecutive tasks; once per instance the boundary between two units moves towards
 *   equal sums of weights per speed, starting from static. guided:time: with measured times.
 * - weighted: consecutive tasks in shares by the units' speeds; weighted:size by weight.
 * - binpack: the heaviest task to the unit that would finish it first, neighbours together where
 *   close. binpack:reassign,cap=N: the cores are to follow, see evn_schedule_reassign().
 *   binpack:time: the same at first; then by times, as tasks and units turn out to be, where moves
 *   or another packing pay.
 * - interval:iterations=N: slower units give up consecutive tasks to faster ones.
 * - map: balance first, then few bytes between units, or little time on their routes (better with
 *   Scotch, whose library is opened when it is first needed, up to 20,000 tasks).
 * - optimal:limit=S,gap=F: the smallest largest load, with a proven bound, in S seconds of
 *   processor time and at most a tenth more. Where search and argument do not come within the gap,
 * COIN-OR CBC is needed (EVN_MISSING: it is not there). It is opened and runs in a forked process,
 * which has ended when the call returns and in which nothing of the program's runs: no stream,
 * handler or atexit(). optimal:time,limit=S: the same at first; then for the costs that times tell,
 * and again when they have changed, under the same limit each time.
 *
 * guided is Algorithm 3 and dynamic is section 3 of González and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021). */
#ifndef EVENER_SCHEDULE_H
#define EVENER_SCHEDULE_H

#include <evener/program.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_schedule evn_schedule;

/* Makes the schedule that `text` names. EVN_USAGE: text or problem are invalid. EVN_MISSING: the
 * schedule needs a solver that is not there; or it is not in this program, which links the archive
 * without the flags of pkg-config or CMake (docs/programs.md, "Linking"). */
evn_status evn_schedule_open(evn_schedule **out, const char *text, const evn_problem *problem);
void evn_schedule_close(evn_schedule *schedule);

/* 1 if the schedule that `text` names uses the speeds of units; 0 for static and dynamic, and if
 * there is no such schedule. Callers skip measuring speeds then. */
int evn_schedule_uses_speeds(const char *text);

/* The schedule with all its options, "dynamic:chunk=1,memorize=3". */
const char *evn_schedule_text(const evn_schedule *schedule);

/* The problem it was made for, with arrays of its own (never NULL); valid as long as the schedule
 * is. */
const evn_problem *evn_schedule_problem(const evn_schedule *schedule);

/* The state of a schedule. */
typedef struct evn_schedule_info {
    int instance;     /* instances learnt so far */
    int chunk;        /* of the next instance of the loop. 0: each task runs on the unit that
                         evn_schedule_owner() names. Otherwise units draw that many consecutive tasks
                         at a time from a common queue, 0 .. n-1 or `order` */
    const int *order; /* n entries, the order in which units draw the tasks, valid until the next
                         evn_schedule_learn(); NULL: 0 .. n-1, or units do not draw */
    int reassigns;    /* 1: cores are to be reassigned after the schedule (binpack:reassign) */
} evn_schedule_info;
evn_schedule_info evn_schedule_about(const evn_schedule *schedule);

/* Unit of each task in the next instance; while units draw, in the last instance (static before the
 * first), under `auto` the assignment that would hold without drawing. n entries, valid until the
 * next evn_schedule_learn(). */
const int *evn_schedule_owner(const evn_schedule *schedule);

/* Reports an instance: the unit that ran each task and its time in seconds (n entries each), from
 * which the schedule decides about the next instance. EVN_USAGE: an owner is no unit, or a time is
 * negative or not finite; nothing was learnt. */
evn_status evn_schedule_learn(evn_schedule *schedule, const int *owner, const double *seconds);

/* Other tasks, as of an adaptive mesh (<evener/change.h> has the words): n of them; m is the number
 * of tasks before. Arrays are only read during
 * the call. */
typedef struct evn_change {
    int tasks;        /* n >= 1 */
    const int *first; /* n + 1, first[0] >= 0, none below the one before: task t comes from tasks
                         from[first[t]] .. from[first[t + 1] - 1]. NULL: no task has origins */
    const int *from;  /* tasks of before, each 0 .. m - 1; NULL if no task has origins */
    const char *kept; /* n: 1 if t is its only origin; no other task may keep that one. NULL: no
                         task is kept */
    const double *weight, *bytes, *state; /* n, as in evn_problem. NULL: kept tasks keep theirs,
                                             born ones have the mean of their origins' (without
                                             origins, of all tasks) */
    int links;            /* -1: kept tasks keep theirs, born ones have those of their origins, in
                             equal parts. 0: no task has any. Faces of exchanges are no links */
    const evn_link *link; /* as in evn_problem */
    int instances;     /* instances to come in all, under later changes too, and not until the next
                          change: placement outlives a generation. 0: many */
    const int *region; /* n x regions of evn_loop_place(): those of born tasks, -1 for none; entries
                          of kept tasks are not looked at. NULL: born tasks have none */
    const int *family; /* n, NULL: none. Born tasks of one number >= 0 may be coarsened together.
                          Not looked at yet: origins on several ranks come together at the change */
    double most; /* largest part of all weight, 0 to 1, that auto and map move from its unit in this
                    change, beside what goes with origins; 0: what pays */
} evn_change;

/* The schedule goes on with other tasks. What was learnt of units stays. A kept task keeps its
 * cost; a born one costs by its weight what its origins did by theirs. Owners:
 *
 * - auto, map: each task begins on the unit of its heaviest origin (the first of equal ones); from
 *   there tasks move until units are even and few bytes are cut, as far as that pays over the
 *   instances to come. Over many changes the cut grows beyond a new plan's: open a loop anew from
 *   time to time where bytes count.
 * - guided, interval: boundaries between units stay beside the same tasks, and go on from there; by
 *   time at once to where learnt costs are even.
 * - binpack, optimal: as inherited, then moves as long as the longest unit gets shorter;
 *   binpack:time by learnt costs, and where they pay.
 * - static, weighted: cut anew. dynamic: drawn, and memorized anew.
 *
 * EVN_USAGE: the origins are wrong (the message names the task), or a number is out of its range;
 * EVN_MEMORY. After a failure the schedule is as before. */
evn_status evn_schedule_change(evn_schedule *schedule, const evn_change *change);

/* The assignment as one line of text, and back. The text names the schedule, the numbers of tasks
 * and units, and the owners as runs, "guided:size 16 tasks 4 units: 7*0 4*1 3*2 2*3"; after changes
 * of the tasks, their number too, "map 20 tasks 4 units generation 3: ..". Export: malloc'ed,
 * free() it; NULL without memory. Import: the next instance has this assignment, and learning
 * continues from it; a generation in the text is the schedule's from then on, so that a program
 * that opens a loop with the tasks of then goes on counting; or a list of owners, the unit of each
 * task with white space between two, as partitioners write it. EVN_USAGE: no such text, or not for
 * this problem. */
char *evn_schedule_export(const evn_schedule *schedule);
evn_status evn_schedule_import(evn_schedule *schedule, const char *text);

/* Explains the next instance in a few lines, each ended by a newline: the assignment's value by the
 * schedule's own model (in the unit of the times that it has learnt, s in a loop; before that in
 * weight over speed), bound and gap of `optimal`, progress of learning, units over their
 * capacity, by how much, and whether that is unavoidable. malloc'ed, free() it; NULL without
 * memory. */
char *evn_schedule_explain(const evn_schedule *schedule);

/* Assigns cores instead of tasks: divides `cores` cores among the schedule's units by the loads of
 * its assignment, at least one each, at most N each under binpack:reassign,cap=N, so that the
 * largest load per core is small; `share`: U entries. This is the thread reassignment of NPB-MZ
 * (NAS-03-010, section 5), which follows its grouping of tasks: make the schedule for units of
 * equal speed, then give the units these cores. Works after any schedule. EVN_USAGE: fewer cores
 * than units, or more than units * N. */
evn_status evn_schedule_reassign(const evn_schedule *schedule, int cores, int *share);

/* The imbalance of units that took `seconds`: the longest time over the shortest, w.u. of the
 * multi-GPU NPB-MZ paper. 1 is perfect, also if all times are 0; infinite if one unit took no time;
 * NAN, with a message, for less than one unit. */
double evn_imbalance(int units, const double *seconds);

/* Loads of the assignment `owner` for `problem`: `load` (U entries, or NULL) receives the sum of
 * each unit's weights; returns the imbalance of load/speed. NAN without memory, or with an owner
 * that is no unit. */
double evn_problem_imbalance(const evn_problem *problem, const int *owner, double *load);

/* Simulates one instance in a virtual clock, where a task takes weight / speed on its unit: fills
 * `owner` and `seconds` (n entries each) of the next instance; units draw chunks in the order in
 * which they become free (the lowest number first). EVN_MEMORY. */
evn_status evn_schedule_simulate(const evn_schedule *schedule, int *owner, double *seconds);

/* Bytes per step that cross between units under `owner`, both directions; *pairs (may be NULL): the
 * ordered pairs of units with bytes, which are the messages of a step. NAN, with a message: an
 * owner is no unit, or a link's end no task. */
double evn_problem_cut(const evn_problem *problem, const int *owner, int *pairs);

/* Name and one line of explanation of the i-th schedule of this program; NULL beyond the last. For
 * help texts and tests. */
const char *evn_schedule_name(int i, const char **explanation);

#ifdef __cplusplus
}
#endif
#endif
