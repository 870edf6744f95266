/* For programs: the front door. Machine, units and loops in a few calls, from the program's
 * arguments, its user's environment, and defaults where neither says anything.
 *
 *     evn_session *session;
 *     evn_loop *loop;
 *     evn_problem tasks = {.tasks = n, .weight = size};
 *
 *     evn_open(&session, NULL, NULL, 0);
 *     evn_open_loop(&loop, session, NULL, &tasks);
 *     for (int step = 0; step < steps; step++) evn_loop_run(loop, body, app);
 *     evn_close(session);
 *
 * The environment of such a program:
 *
 *     EVENER_UNITS=4:CPU:4,2:GPU:1   its compute units            (default: auto)
 *     EVENER_DEVICES=emulated        the back end of GPU units    (default: best)
 *     EVENER_OVERSUBSCRIBE=1         allows more cores than there are
 *     EVENER_SCHEDULE=map            schedule of its loops        (default: evn_open_loop())
 *     EVENER_RECORD=FILE             writes the record of its loops, for `evener report FILE`;
 *                                    - is standard output
 *     EVENER_TRACE=FILE              writes each unit's bursts, over ranks those of all, for
 *                                    Perfetto or chrome://tracing; FILE.prv: for Paraver;
 *                                    FILE.otf2: for Vampir
 *     EVENER_PROCESSES=4             4 forked processes, if it passes EVN_OVER_RANKS
 *
 * In the names of record and trace each %r is the process's rank: processes of a launcher that are
 * runs of their own have files of their own by it. A trace that all of them would write is refused.
 *
 * Explicit arguments win over the environment (EVN_NO_ENVIRONMENT: it says nothing). An empty
 * variable counts as not set. Messages about a variable begin with its name. */
#ifndef EVENER_OPEN_H
#define EVENER_OPEN_H

#include <evener/cluster.h>
#include <evener/loop.h>
#include <evener/machine.h>
#include <evener/schedule.h>
#include <evener/status.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A session: machine, units, the loops that run on them, and their record and trace. */
typedef struct evn_session evn_session;

/* Flag of evn_open(): the program runs over ranks, where a launcher (mpirun, srun) has started it,
 * or EVENER_PROCESSES=N asks for N forked processes of this node ("4,latency=20us": over an
 * emulated wire, as in evn_cluster_open()); otherwise it runs alone. evn_open() must then be the
 * program's first call: all later code runs on every rank, each with units of its own; EVENER_UNITS
 * is the list of each rank. Every rank makes the same calls of the session, of its loops and of
 * their exchanges, in the same order; a failure on one rank is a failure on all.
 *
 * Differences for the program: problem->units 0 means the number of all ranks' units, and bodies
 * get tasks of their rank's units. A task's memory is on the rank that has the task
 * (evn_loop_has()): evn_session_place() or evn_loop_homes() moves it, and evn_session_collect()
 * copies the results to rank 0. Only rank 0 should print and write (evn_session_rank()). A process
 * joins ranks once: a second session over them is EVN_USAGE. Without this flag a launcher's
 * processes are programs of their own, and EVENER_PROCESSES above 1 is EVN_USAGE. */
enum { EVN_OVER_RANKS = 1 << 16 };

/* Flag: evn_close() may be called by any thread. For libraries that close their session in an
 * atexit() handler, which runs in the thread that calls exit(); no other thread may use the session
 * meanwhile. */
enum { EVN_ANY_CLOSES = 1 << 17 };

/* Flag: bodies use all cores of their unit, by evn_batch_share() or by OpenMP regions of their own.
 * `auto` is then a unit of several cores for each part of the machine (<evener/unit.h>). Without
 * the flag each core is a unit of its own, so that bodies in plain C keep all cores busy. */
enum { EVN_TEAMS = 1 << 18 };

/* Flag: the environment says nothing. EVENER_UNITS, EVENER_DEVICES, EVENER_OVERSUBSCRIBE,
 * EVENER_SCHEDULE, EVENER_RECORD, EVENER_TRACE and EVENER_PROCESSES are not looked at, and
 * "default" is a name as any other. For programs with options of their own, as `evener run` is one.
 */
enum { EVN_NO_ENVIRONMENT = 1 << 19 };

/* Flag: evn_open() opens no units; evn_session_units_open() does, later. Over ranks the list given
 * to evn_open() says how many cores this rank will need. */
enum { EVN_UNITS_LATER = 1 << 20 };

/* Opens the machine and units on it (evn_units_open_on()). `units` and `devices` NULL or "default":
 * EVENER_UNITS and EVENER_DEVICES if set, else `auto` and `best`. `flags`: those of
 * evn_units_open() and the five above, or 0; EVENER_OVERSUBSCRIBE=1 adds EVN_OVERSUBSCRIBE. With
 * EVN_DESCRIBE_ONLY the session has schedules and no loops (EVN_USAGE). The calling thread becomes
 * the leader of unit 0, unbound unless EVN_STAY_BOUND is given. Only this thread may use the
 * session: from another one evn_open_loop(), evn_session_place(), evn_session_collect(),
 * evn_close_loop() and evn_close() return EVN_USAGE and change nothing.
 *
 * EVENER_RECORD and EVENER_TRACE are opened here (<evener/output.h>), so that a folder without
 * write permission is reported before the run; a named pipe waits for its reader, up to 10 s.
 *
 * Over ranks rank 0 opens both: one record and one trace of all ranks. Each rank keeps its bursts
 * and messages for the trace, and evn_close() brings them to rank 0, by its clock
 * (<evener/trace.h>); meanwhile evn_trace_open() is EVN_USAGE.
 *
 * Errors of evn_machine_open() and evn_units_open_on(), over ranks of evn_cluster_open() and
 * evn_cluster_machine(); EVN_USAGE: a variable is not understood, or both files are the same;
 * EVN_SYSTEM: a file cannot be written. */
evn_status evn_open(evn_session **out, const char *units, const char *devices, unsigned flags);

/* Arguments of evn_open_with(); members that are not given are 0 or NULL. */
typedef struct evn_open_options {
    const char *units, *devices; /* as of evn_open() */
    unsigned flags;
    evn_cluster *cluster;       /* ranks that the program has joined (<evener/cluster.h>) */
    const evn_machine *machine; /* where units are opened; NULL: the session opens one */
} evn_open_options;

/* As evn_open(), with more that the program has itself. Cluster and machine stay the program's, and
 * outlive the session.
 *
 * With a cluster the session is over its ranks, as with EVN_OVER_RANKS, and the call collective;
 * one of a single rank is as none. The program, and not evn_close(), closes the cluster at the end,
 * also after evn_abandon() and failures, with their status; evn_complain() speaks for this process
 * alone. A process may have several such sessions, one after another over the same cluster or at a
 * time over different ones. EVENER_PROCESSES above 1 is EVN_USAGE. Errors as of evn_open(). */
evn_status evn_open_with(evn_session **out, const evn_open_options *options);

/* As evn_open() with EVN_OVER_RANKS, over the ranks of a communicator that the program gives by its
 * Fortran handle (evn_cluster_open_comm()): for programs that have called MPI_Init_thread()
 * themselves. Collective over these ranks; other ranks of the program do as they like. May be
 * called at any time, and for several communicators: evn_complain() then speaks for the first that
 * is open. EVENER_PROCESSES above 1 is EVN_USAGE. Errors as of evn_cluster_open_comm() and
 * evn_open(). */
evn_status evn_open_comm(evn_session **out, int comm, const char *units, const char *devices,
                         unsigned flags);

/* Other units in the same session, for programs that try several lists: closes those that are open
 * and opens `units` on the session's machine. `units`, `devices` and `flags` as of evn_open(),
 * flags those of evn_units_open() and EVN_TEAMS. The calling thread becomes the leader of unit 0.
 * After a failure the session has no units, and may open others. Record and trace are of the loops
 * on the units opened last; a trace for Perfetto of one process has those before, too.
 *
 * Places and exchanges of the former units are closed before. Over ranks collective; the ranks keep
 * the cores that evn_open() has given them. EVN_USAGE: a loop of the session is open, which the
 * message names, and nothing was closed; or as of evn_open(). */
evn_status evn_session_units_open(evn_session *session, const char *units, const char *devices,
                                  unsigned flags);

/* Closes the units, as before work that needs all cores; the session has none until
 * evn_session_units_open(). Not collective. EVN_USAGE as there. */
evn_status evn_session_units_close(evn_session *session);

/* Opens a schedule with all that the session knows, for plans, checkpoints and evn_open_loop_on().
 * `text` and `problem` as of evn_open_loop(). The program closes it, after its loop. Over ranks
 * collective. EVN_USAGE, EVN_MEMORY. */
evn_status evn_session_schedule(evn_schedule **out, evn_session *session, const char *text,
                                const evn_problem *problem);

/* Opens a loop with a schedule of its own; the session owns both.
 *
 * `schedule` NULL or "default": EVENER_SCHEDULE if set, else `auto`, which learns the costs of
 * tasks and the speeds of units, moves few tasks, and goes on learning; for a problem that
 * announces fewer than 10 instances, `dynamic`, since such a loop ends before `auto` has learnt.
 *
 * `problem` may leave out what the session knows: units 0 is their number; speed NULL is each
 * unit's evn_unit_speed(); capacity NULL with bytes given is the memory of each unit's devices;
 * space NULL is the host's memory and one of each device, over ranks with state given one of each
 * rank. Over ranks units are those of all ranks, and the call is collective, as evn_loop_open_on(),
 * with the same schedule and problem on all. EVN_USAGE, EVN_MEMORY. */
evn_status evn_open_loop(evn_loop **out, evn_session *session, const char *schedule,
                         const evn_problem *problem);

/* Opens a loop with a schedule that stays the program's, as one of evn_session_schedule() that has
 * imported a plan. The session owns the loop alone. Over ranks collective. EVN_USAGE, EVN_MEMORY.
 */
evn_status evn_open_loop_on(evn_loop **out, evn_session *session, evn_schedule *schedule);

/* Names a loop of the session for the record and the page of `evener report`, which has one section
 * a name. Several loops may share a name, as where the same code opens a loop repeatedly. The text
 * is copied. EVN_USAGE, EVN_MEMORY. */
evn_status evn_name_loop(evn_session *session, evn_loop *loop, const char *name);

/* As evn_loop_place(), also over ranks. There every rank registers all regions, each by
 * evn_place_make(), or by evn_place_add(): those of its own tasks with memory, those of other
 * ranks' tasks with memory or, to save it, with NULL. Regions of other ranks' tasks are absent here
 * and come and go with their tasks; a region without memory of the program's gets some of the
 * place's as its task arrives, until it leaves (evn_batch_host()). Over ranks it is collective,
 * once a loop, one region for one task. Close `place` after the exchanges and before the session
 * and the loop. Errors as of evn_loop_place(), and then the loop's tasks have no regions, over
 * ranks on all of them; there also where ranks differ in the number of regions, or in their sizes
 * (as also evn_session_collect() finds, after changes of the tasks).
 *
 * The loop's tasks may change (evn_loop_change()). Regions of born tasks are registered on every
 * rank before, as above; one without memory is the place's, made where the task is born, as it is
 * written. Regions of gone tasks are removed once evn_loop_bear() or the next run has ended, but
 * those with memory of the program's here, which the program then removes. */
evn_status evn_session_place(evn_session *session, evn_loop *loop, evn_place *place, int regions,
                             const int *region, const evn_access *access);

/* Collects the results: copies the data of the loop's tasks to the memory given to
 * evn_session_place(), of all tasks on rank 0, of its own tasks on another rank; readable until the
 * next instance. Regions of evn_place_make() are then on rank 0, too (evn_place_host()); EVN_USAGE:
 * evn_place_add() gave one no memory there. Collective, between instances, which
 * continue undisturbed. A failure in the last step's exchange appears here. EVN_USAGE: a region is
 * held, or evn_session_place() was not called; EVN_DEVICE, EVN_SYSTEM: as of evn_place_acquire()
 * and evn_cluster_carry(). */
evn_status evn_session_collect(evn_session *session, evn_loop *loop);

/* For a program that gives up: prints evn_message() on standard error, after `program` and ": ".
 * Over ranks rank 0 prints it for all: a rank that fails by itself, as in opening a place, leaves
 * the run, and the others fail at their next collective call with its message. Returns main()'s
 * exit status: 1 in the process that prints, 0 in others, since a launcher kills all ranks, and
 * with them the one that still has to print, as soon as one exits with another status. The session
 * must not be used afterwards. */
int evn_complain(const char *program);

/* Closes one of the session's loops and its schedule early; evn_close() closes the rest. Its
 * results go into the record and the trace. NULL is accepted. EVN_USAGE: it is no loop of the
 * session, or the units are at work, and nothing was closed; EVN_SYSTEM, EVN_MEMORY: its part of
 * record or trace was lost, which evn_close() reports again. */
evn_status evn_close_loop(evn_session *session, evn_loop *loop);

/* Closes everything, in the right order, and publishes record and trace. A file appears whole or
 * not at all (<evener/output.h>): two programs with the same file do not mix, and a program that
 * fails, or exits without this call, leaves an earlier file unchanged. Close exchanges and places
 * of the loops before.
 *
 * Everything is closed except after EVN_USAGE: the units are at work (a body calls it), or another
 * thread has opened the session. EVN_SYSTEM, EVN_MEMORY: a file could not be written. NULL is
 * accepted. In a child of fork() it frees memory and touches no file; evn_open_loop() and
 * evn_close_loop() are EVN_USAGE there. */
evn_status evn_close(evn_session *session);

/* Closes everything, as evn_close() does, after a failure that the program does not recover from:
 * no file is published, and earlier ones stay. evn_message() is still the failure's. Over ranks
 * this rank leaves, and the others fail at their next collective call with this rank's message; it
 * returns when all ranks have left. Close exchanges and places of the loops before. By another
 * thread, or while the units are at work, it leaves a message and closes nothing. NULL is accepted.
 */
void evn_abandon(evn_session *session);

/* This process's rank; 0 without ranks. */
int evn_session_rank(const evn_session *session);

/* Owned by the session, but for a cluster and a machine of the program's; units and machine are
 * this rank's. The cluster is NULL without ranks, units are while none are open. */
evn_cluster *evn_session_cluster(const evn_session *session);
evn_units *evn_session_units(const evn_session *session);
const evn_machine *evn_session_machine(const evn_session *session);

/* The record is one JSON object, as of `evener run --json` (docs/report.md): `evener`, `app` (the
 * program's name), `class` and `verified` (null), `steps`, `seconds`, `units`, `schedule`,
 * `imbalance`, `periods`, `transfers`, `devices`, `owner`, `task_s`, `bursts`, `loops`, `machine`,
 * `command`. With several loops, times, bytes and tasks are those of all of them, and tasks are
 * numbered through in the order in which loops were opened; `steps`, `schedule` and the steps of
 * `bursts` are those of the longest loop; `loops` has each loop with the name of evn_name_loop().
 * `moved_regions` and `moved_bytes` of `transfers` are regions moved from another space for tasks.
 * A loop counts from when it was opened or evn_loop_reset_stats() was called; `seconds` and
 * `periods` are wall time of runs and visits. Over ranks there are also `wire` and `ranks`, units
 * are those of all ranks with `rank` and `host`, `machine` is rank 0's, and there are no `bursts`.
 */

#ifdef __cplusplus
}
#endif
#endif
