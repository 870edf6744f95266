/* Schedules: policies that say which unit takes which task.
 *
 * A schedule is pure: weights, links, unit speeds and past times go in, an assignment comes out. It
 * starts no thread, reads no clock and moves no data, so the same inputs always give the same
 * answer. It is a plan (as FFTW's): made once for a problem, fed with times after each instance of
 * the loop, exported and imported as text.
 *
 * - auto: the default of runs and sessions. Begins and learns as map; gives less to units that come
 *   and go, or lets units draw, the heaviest tasks first, where that would have been shorter of
 *   late and all units share their memory (space).
 * - static: consecutive tasks, n/U each, the remainder to the first units. static:chunk=C: chunks
 *   of C consecutive tasks to the units in turn, as OpenMP's static with a chunk.
 * - dynamic:chunk=C,memorize=M: C consecutive tasks to whichever unit asks; after M instances the
 *   assignment is kept for good (default chunk=1, memorize=3; memorize=0: never kept).
 * - guided:size: consecutive tasks; once per instance the boundary between two units moves towards
 *   equal sums of weights per speed, starting from static. guided:time: with measured times.
 * - weighted: consecutive tasks in shares by the units' speeds; weighted:size by size.
 * - binpack: the heaviest task to the unit that is done first, neighbours together where close.
 *   binpack:reassign,cap=N: the cores are to follow, see evn_schedule_reassign().
 * - interval:iterations=N: slower units give up consecutive tasks to faster ones.
 * - map: balance first, then few bytes between units, or little time on their routes (better with
 *   Scotch).
 * - optimal:limit=S,gap=F: the smallest largest load, with a proven bound (needs COIN-OR CBC). The
 *   solver is used by one thread of a process at a time; others wait, which counts for the limit.
 *
 * guided is Algorithm 3 and dynamic is section 3 of González and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021).
 */
#ifndef EVENER_SCHEDULE_H
#define EVENER_SCHEDULE_H

#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_schedule evn_schedule;

/* Two tasks that exchange data each step: `bytes` go from one to the other and as many back. */
typedef struct evn_link {
    int task[2];
    double bytes;
} evn_link;

/* How bytes go from one unit to another: in one hop, or in two, staged in the host's memory. All 0:
 * it takes no time. */
typedef struct evn_route {
    int hops;           /* 2: staged; else one */
    double latency[2];  /* s a message, of each hop */
    double per_byte[2]; /* s a byte */
} evn_route;

/* What a schedule is made for. The arrays are copied; what is 0 or NULL is not known.
 *
 * Near and far: units are of kinds and on nodes, and a route leads from each kind to each, one
 * between units of one node, another between units of two. So a cluster of a thousand like nodes is
 * a few kinds and two small matrices, and two sockets of a node are two kinds. binpack, map and
 * optimal keep neighbours near; the other schedules look at neither routes nor bandwidth. A link
 * costs each of its units the longer of its two ways, each with the latency of a message of its
 * own, in the unit of time in which speed is given (seconds, where speed is weight a second).
 *
 * Memory: binpack, map and optimal make their plan as if there was enough, and if that does not fit
 * they make one that does; if none does, or none is found, one with few bytes over. The other
 * schedules do not look at it. evn_schedule_explain() tells who is over in any case.
 *
 * States: where units do not share their memory (`space`, the ranks of a run), a task that goes to
 * a unit of another space takes its `state` along. guided:time, interval and map, which move tasks
 * by what was measured, do that only where it pays: what it saves over the instances that are left
 * is to be more than carrying takes; and if units have changed their speed before, also what it
 * saves in as many instances as the present speeds have lasted, so that one that comes and goes
 * does not make states travel to and fro. */
typedef struct evn_problem {
    int tasks;            /* n >= 1 */
    const double *weight; /* n sizes, >= 0 and finite; NULL: all 1 */
    int links;
    const evn_link *link; /* each pair of tasks at most once; NULL if links is 0 */
    int units;            /* U >= 1 */
    const double *speed;  /* U, > 0 and finite: weight done per unit of time; NULL: all 1 */
    double bandwidth; /* bytes a unit sends and receives per unit of time; 0: exchange is free */
    int instances;    /* of the loop that are to come, for schedules that weigh a remap against what
                         it saves; 0: many; not below */
    int kinds;        /* of units; 0: one */
    const int *kind;  /* U, 0 .. kinds - 1; NULL: all are of kind 0 */
    const int *node;  /* U, >= 0: where each unit is; NULL: all are on one node */
    const evn_route *route; /* kinds x kinds, route[from * kinds + to]: between two units of a node;
                               NULL: that is free if `far` is given, else the bandwidth holds */
    const evn_route *far;   /* the same between units of different nodes; NULL: as `route` */
    const double *bytes;    /* n, >= 0 and finite: what each task's data take where it is owned */
    const double *capacity; /* U, >= 0: bytes that each unit's memory holds; 0, INFINITY: enough */
    const int *space;       /* U, >= 0: units of one space share their memory; NULL: all do */
    const double *state; /* n, >= 0 and finite: bytes of each task that go along to another space;
                            NULL: none */
    double carry;        /* s that a byte of them takes, >= 0 and finite; 0: not known, 1e-9 until
                            evn_schedule_carried() */
} evn_problem;

/* Makes the schedule that `text` names. EVN_USAGE: text or problem are not understood. */
evn_status evn_schedule_open(evn_schedule **out, const char *text, const evn_problem *problem);
void evn_schedule_close(evn_schedule *schedule);

/* Whether the schedule that `text` names goes by the speeds of units: 0 for static and dynamic, and
 * where there is no such schedule. Who has to find speeds out can leave it then. */
int evn_schedule_uses_speeds(const char *text);

/* The schedule written out with all its options, "dynamic:chunk=1,memorize=3". */
const char *evn_schedule_text(const evn_schedule *schedule);

/* The problem it was made for, with arrays of its own (never NULL); valid as long as the schedule
 * is. */
const evn_problem *evn_schedule_problem(const evn_schedule *schedule);

/* The next instance of the loop. If *chunk is 0, each task runs where evn_schedule_owner() says.
 * Otherwise units draw *chunk consecutive tasks at a time from a common queue 0 .. n-1, or of
 * evn_schedule_order(). */
int evn_schedule_chunk(const evn_schedule *schedule);

/* In which order units draw the tasks: n entries, valid until the next call of
 * evn_schedule_learn(); NULL: 0 .. n-1, or nobody draws. */
const int *evn_schedule_order(const evn_schedule *schedule);

/* Unit of each task: what the next instance shall do, or, while units draw, what the last one did
 * (static before the first), under `auto` what they would do if they did not. n entries, valid
 * until the next call of evn_schedule_learn(). */
const int *evn_schedule_owner(const evn_schedule *schedule);

/* Tells what happened in an instance: who ran each task and how long it took, in seconds (n entries
 * each). With this the schedule decides about the next instance. EVN_USAGE: an owner is no unit or
 * a time is negative or not finite; then nothing was learnt. */
evn_status evn_schedule_learn(evn_schedule *schedule, const int *owner, const double *seconds);

/* Tells what carrying took: `bytes` of the tasks' states went to other spaces in `seconds`. What it
 * takes a byte is from now on what was told, of late more than long ago. EVN_USAGE: bytes that are
 * not above 0 or a time that is below, or either not finite. */
evn_status evn_schedule_carried(evn_schedule *schedule, double bytes, double seconds);

/* Instances learnt so far. */
int evn_schedule_instance(const evn_schedule *schedule);

/* Whether the assignment will stay as it is as long as tasks and units do not change their speed.
 */
int evn_schedule_settled(const evn_schedule *schedule);

/* The assignment as one line of text, and back. The text names the schedule, the number of tasks
 * and of units, and the owners as runs, "guided:size 16 tasks 4 units: 7*0 4*1 3*2 2*3". Export:
 * malloc'ed, free() it; NULL if there is no memory. Import: the next instance runs so, and learning
 * goes on from there; EVN_USAGE: not such a text, or not for this problem. */
char *evn_schedule_export(const evn_schedule *schedule);
evn_status evn_schedule_import(evn_schedule *schedule, const char *text);

/* Why the next instance goes as it does, in a few lines of text that end with a newline each: what
 * the assignment is worth by the schedule's own model, the bound and the gap of `optimal`, how far
 * learning has come, which units are over their capacity by how much and whether that must be.
 * malloc'ed, free() it; NULL if there is no memory. */
char *evn_schedule_explain(const evn_schedule *schedule);

/* Whether the schedule is one after which cores are to be reassigned: binpack:reassign. */
int evn_schedule_reassigns(const evn_schedule *schedule);

/* Cores instead of tasks: shares `cores` cores out to the schedule's units by the loads that its
 * assignment gives them, at least one and at most N each under binpack:reassign,cap=N, so that the
 * largest load per core becomes small; `share`, U entries, receives them. It is the thread
 * reassignment of NPB-MZ (NAS-03-010, section 5), which follows its grouping of tasks: make the
 * schedule for units of equal speed, then give the units these cores. Works after any schedule.
 * EVN_USAGE: there are fewer cores than units, or more than units * N. */
evn_status evn_schedule_reassign(const evn_schedule *schedule, int cores, int *share);

/* The imbalance of units that took `seconds`: the longest time over the shortest, w.u. of the
 * multi-GPU NPB-MZ paper. 1 is perfect, also where nobody took any time; infinite when a unit took
 * none; NAN, with a message, for less than one unit. */
double evn_imbalance(int units, const double *seconds);

/* What the assignment `owner` means for `problem`: `load`, U entries, the sum of each unit's
 * weights; returns the imbalance of load/speed. NULL instead of `load`: not asked for. Without
 * memory for it, or with an owner that is no unit, NAN. */
double evn_problem_imbalance(const evn_problem *problem, const int *owner, double *load);

/* One instance in a virtual clock, where a task takes weight / speed on its unit: fills `owner` and
 * `seconds` (n entries each) as the next instance would go, units drawing chunks in the order in
 * which they become free (the lowest number first). EVN_MEMORY. */
evn_status evn_schedule_simulate(const evn_schedule *schedule, int *owner, double *seconds);

/* Bytes per step that cross between units under `owner`, both ways; in *pairs (may be NULL) the
 * ordered pairs of units between which some cross: the messages of a step. NAN, with a message: an
 * owner is no unit, or a link's end no task. */
double evn_problem_cut(const evn_problem *problem, const int *owner, int *pairs);

/* The i-th schedule's name and one line of explanation; NULL beyond the last. For help texts and
 * tests. */
const char *evn_schedule_name(int i, const char **explanation);

#ifdef __cplusplus
}
#endif
#endif
