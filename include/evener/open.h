/* The front door: machine, units and loops in a few calls, from what the program says, what its
 * user has set in the environment, and what is best where neither says anything.
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
 * A program that opens its loops so has what the runs of `evener run` have, without a line more:
 *
 *     EVENER_UNITS=4:CPU:4,2:GPU:1   its compute units            (default: auto)
 *     EVENER_DEVICES=emulated        where GPU units come from    (default: best)
 *     EVENER_OVERSUBSCRIBE=1         more cores than there are
 *     EVENER_SCHEDULE=map            schedule of its loops        (default: evn_open_loop())
 *     EVENER_RECORD=FILE             the record of its loops: `evener report FILE` shows it;
 *                                    - is standard output
 *     EVENER_TRACE=FILE              what each unit did when, for Perfetto or chrome://tracing
 *     EVENER_PROCESSES=4             over 4 forked processes, where it says EVN_OVER_RANKS
 *
 * What the program gives explicitly wins over the environment. A variable that is empty counts as
 * not set. Messages about a variable begin with its name.
 */
#ifndef EVENER_OPEN_H
#define EVENER_OPEN_H

#include <evener/loop.h>
#include <evener/machine.h>
#include <evener/schedule.h>
#include <evener/status.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A machine, units on it, the loops that run on these, and the files about them. */
typedef struct evn_session evn_session;

/* Among the flags of evn_open(): the program runs over ranks, where a launcher (mpirun, srun) has
 * started it, or EVENER_PROCESSES=N asks for N forked processes of this node ("4,latency=20us":
 * over an emulated wire, as evn_cluster_open() reads it); else it runs alone, as without it.
 * evn_open() is the first of all then: what comes behind it is done by every rank, each with units
 * of its own, EVENER_UNITS that of each rank. Every rank makes the same calls of the session, of
 * its loops and of their exchanges, in the same order; a failure on one is one on all.
 *
 * What changes for the program: problem->units 0 is the number of all ranks' units, and bodies get
 * the tasks of their rank's. Its tasks' memory is on the rank that has the task (evn_loop_has()),
 * which evn_session_place() or evn_loop_homes() sees to, and is on rank 0 after
 * evn_session_collect(). Rank 0 alone prints and writes (evn_session_rank()). Ranks are joined
 * once: a second session over them is EVN_USAGE. Without this flag the processes of a launcher are
 * programs of their own, and EVENER_PROCESSES of more than 1 is EVN_USAGE. */
enum { EVN_OVER_RANKS = 1 << 16 };

/* Opens the machine and units on it (evn_units_open_on()). `units` and `devices` NULL or "default":
 * EVENER_UNITS and EVENER_DEVICES where they are set, else `auto` and `best`. `flags`: those of
 * evn_units_open(), EVN_OVER_RANKS, or 0; EVENER_OVERSUBSCRIBE=1 adds EVN_OVERSUBSCRIBE. The
 * calling thread becomes the leader of unit 0, and is the one that calls all of the below.
 *
 * EVENER_RECORD and EVENER_TRACE are opened here (<evener/output.h>): a folder that lets no file be
 * made is found out now, and a named pipe waits for its reader, up to 10 s.
 *
 * Over ranks rank 0 opens EVENER_RECORD, which is about all of them; EVENER_TRACE is EVN_USAGE.
 *
 * The errors of evn_machine_open() and evn_units_open_on(), over ranks those of evn_cluster_open()
 * and evn_cluster_machine(); EVN_USAGE: a variable is not understood, or both files are the same;
 * EVN_SYSTEM: a file cannot be written. */
evn_status evn_open(evn_session **out, const char *units, const char *devices, unsigned flags);

/* Opens a loop with a schedule of its own, both of which belong to the session.
 *
 * `schedule` NULL or "default": EVENER_SCHEDULE where it is set, else `auto`, which learns
 * what tasks cost and how fast units are, moves few tasks, and goes on learning; or, where the
 * problem announces fewer than 10 instances, which are over before that has learnt, `dynamic`.
 *
 * `problem` may leave out what the session knows: units 0 is their number, and speed NULL is the
 * evn_unit_speed() of each one, or the number of its devices; over ranks, of all ranks' units.
 * EVN_USAGE, EVN_MEMORY. Over ranks it is evn_loop_open_on(), and collective. */
evn_status evn_open_loop(evn_loop **out, evn_session *session, const char *schedule,
                         const evn_problem *problem);

/* evn_loop_place() of a loop of the session: regions follow its tasks, over ranks, too. There every
 * rank has registered memory for all regions (evn_place_add()), of which it uses that of its own
 * tasks: the regions of others are absent here (evn_place_leave()), and come and go with their
 * tasks. (Where that is too much memory, evn_loop_homes() says how it is made.) Over ranks
 * collective, once for a loop, a region for one task. Close `place` before the session, after the
 * exchanges. Errors as of evn_loop_place(). */
evn_status evn_session_place(evn_session *session, evn_loop *loop, evn_place *place, int regions,
                             const int *region, const evn_access *access);

/* The results: memory that evn_session_place() was told of holds what the loop's tasks have in it,
 * of all tasks on rank 0, of its own on another; until the next instance it may be read.
 * Collective, between instances, which go on as if it had not been called. What has failed in an
 * exchange of the last step shows here. EVN_USAGE: a region is held, or evn_session_place() was not
 * called; EVN_DEVICE, EVN_SYSTEM: as of evn_place_acquire() and evn_cluster_carry(). */
evn_status evn_session_collect(evn_session *session, evn_loop *loop);

/* For a program that gives up: says evn_message() on standard error, after `program` and ": ". Over
 * ranks rank 0 says it, for all: a rank that fails by itself, as in opening a place, leaves the
 * others, whose next common call fails with what it has to say. Returns 1 in the process that
 * speaks, 0 in others: what main() is to return, since launchers end all ranks, and with them who
 * still has to say why, as soon as one returns something else than 0. To be called where no session
 * is used any more. */
int evn_complain(const char *program);

/* Closes one of the session's loops and its schedule before the others, as evn_close() does with
 * all that are left. What it did will be in the record, and is in the trace. NULL is accepted.
 * EVN_USAGE: it is no loop of the session, or the units are at work, and was not closed;
 * EVN_SYSTEM, EVN_MEMORY: its part of record or trace could not be kept, which evn_close() says
 * again. */
evn_status evn_close_loop(evn_session *session, evn_loop *loop);

/* Closes everything, in the right order, and puts record and trace in their places. A file appears
 * whole or not at all (<evener/output.h>): two programs with the same file do not mix, and one that
 * fails, or exits without this call, leaves an earlier file as it was, and nothing else. What
 * stands on loops (exchanges, places) is to be closed before.
 *
 * Everything is closed in any case but EVN_USAGE: the units are at work, by a body that calls this.
 * EVN_SYSTEM, EVN_MEMORY: a file could not be written. NULL is accepted. In a process that was
 * forked since evn_open() it gives memory back and touches no file; evn_open_loop() and
 * evn_close_loop() are EVN_USAGE there. */
evn_status evn_close(evn_session *session);

/* This process's rank, 0 alone. */
int evn_session_rank(const evn_session *session);

/* They belong to the session; units and machine are this rank's. The cluster is NULL alone. */
evn_cluster *evn_session_cluster(const evn_session *session);
evn_units *evn_session_units(const evn_session *session);
const evn_machine *evn_session_machine(const evn_session *session);

/* The record is one JSON object, as of `evener run --json` (docs/report.md): `evener`, `app` (the
 * program's name), `class` and `verified` (null), `steps`, `seconds`, `units`, `schedule`,
 * `imbalance`, `periods`, `transfers`, `devices`, `owner`, `task_s`, `bursts`, `loops`, `machine`,
 * `command`. Where there are several loops, times, bytes and tasks are those of all of them, tasks
 * numbered through in the order in which loops were opened; `steps`, `schedule` and the steps of
 * `bursts` are those of the loop that took longest; `loops` has each by itself. Loops count from
 * when they were opened or evn_loop_reset_stats() was called, `seconds` and `periods` are wall time
 * of runs and visits. Over ranks there are `wire` and `ranks`, units are those of all ranks with
 * `rank` and `host`, `machine` is rank 0's, and there are no `bursts`. */

#ifdef __cplusplus
}
#endif
#endif
