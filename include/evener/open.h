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

/* Opens the machine and units on it (evn_units_open_on()). `units` and `devices` NULL or "default":
 * EVENER_UNITS and EVENER_DEVICES where they are set, else `auto` and `best`. `flags`: those of
 * evn_units_open(), or 0; EVENER_OVERSUBSCRIBE=1 adds EVN_OVERSUBSCRIBE. The calling thread becomes
 * the leader of unit 0, and is the one that calls all of the below.
 *
 * EVENER_RECORD and EVENER_TRACE are opened here (<evener/output.h>): a folder that lets no file be
 * made is found out now, and a named pipe waits for its reader, up to 10 s.
 *
 * The errors of evn_machine_open() and evn_units_open_on(); EVN_USAGE: a variable is not
 * understood, or both files are the same; EVN_SYSTEM: a file cannot be written. */
evn_status evn_open(evn_session **out, const char *units, const char *devices, unsigned flags);

/* Opens a loop with a schedule of its own, both of which belong to the session.
 *
 * `schedule` NULL or "default": EVENER_SCHEDULE where it is set, else `guided:time`, which learns
 * what tasks cost and how fast units are, moves few tasks, and goes on learning; or, where the
 * problem announces fewer than 10 instances, which are over before that has learnt, `dynamic`.
 *
 * `problem` may leave out what the session knows: units 0 is their number, and speed NULL is the
 * number of each one's cores, or of its devices. EVN_USAGE, EVN_MEMORY. */
evn_status evn_open_loop(evn_loop **out, evn_session *session, const char *schedule,
                         const evn_problem *problem);

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

/* They belong to the session. */
evn_units *evn_session_units(const evn_session *session);
const evn_machine *evn_session_machine(const evn_session *session);

/* The record is one JSON object, as of `evener run --json` (docs/report.md): `evener`, `app` (the
 * program's name), `class` and `verified` (null), `steps`, `seconds`, `units`, `schedule`,
 * `imbalance`, `periods`, `transfers`, `devices`, `owner`, `task_s`, `bursts`, `loops`, `machine`,
 * `command`. Where there are several loops, times, bytes and tasks are those of all of them, tasks
 * numbered through in the order in which loops were opened; `steps`, `schedule` and the steps of
 * `bursts` are those of the loop that took longest; `loops` has each by itself. Loops count from
 * when they were opened or evn_loop_reset_stats() was called, `seconds` and `periods` are wall time
 * of runs and visits. */

#ifdef __cplusplus
}
#endif
#endif
