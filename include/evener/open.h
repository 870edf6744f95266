/* For tools: sessions beyond <evener.h>: several lists of units, schedules of one's own, ranks of a
 * program's communicator, the session's parts, and its record. */
#ifndef EVENER_OPEN_H
#define EVENER_OPEN_H

#include <evener/program.h>
#include <evener/cluster.h>
#include <evener/loop.h>
#include <evener/machine.h>
#include <evener/schedule.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flag: evn_open() opens no units; evn_session_units_open() does, later. Over ranks the list given
 * to evn_open() says how many cores this rank will need. */
enum { EVN_UNITS_LATER = 1 << 20 };

/* As evn_open() with EVN_OVER_RANKS, over the ranks of a communicator that the program gives by its
 * Fortran handle (`mpi:comm=` of evn_cluster_open()): for programs that have called
 * MPI_Init_thread() themselves. Collective over these ranks; other ranks of the program do as they
 * like. May be called at any time, and for several communicators: evn_complain() then speaks for
 * the first that is open. Close it before MPI_Finalize(): later evn_close() returns EVN_STOPPED,
 * and gives memory back alone. EVENER_PROCESSES above 1 is EVN_USAGE. Errors as of
 * evn_cluster_open() and evn_open(). */
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

/* Opens a loop with a schedule that stays the program's, as one of evn_session_schedule() that has
 * imported a plan. The session owns the loop alone. Over ranks collective. EVN_USAGE, EVN_MEMORY.
 */
evn_status evn_open_loop_on(evn_loop **out, evn_session *session, evn_schedule *schedule);

/* Names a loop of the session for the record and the page of `evener report`, which has one section
 * a name. Several loops may share a name, as where the same code opens a loop repeatedly. The text
 * is copied. EVN_USAGE, EVN_MEMORY. */
evn_status evn_name_loop(evn_session *session, evn_loop *loop, const char *name);

/* Owned by the session, but for a cluster and a machine of the program's; units and machine are
 * this rank's. The cluster is NULL without ranks, units are while none are open. */
evn_cluster *evn_session_cluster(const evn_session *session);
const evn_machine *evn_session_machine(const evn_session *session);

/* The record is one JSON object, as of `evener run --json` (docs/report.md): `evener`, `app` (the
 * program's name), `class` and `verified` (null), `steps`, `seconds`, `units`, `schedule`,
 * `imbalance`, `periods`, `transfers`, `devices`, `owner`, `task_s`, `bursts`, `loops`, `machine`,
 * `command`. With several loops, times, bytes and tasks are those of all of them, and tasks are
 * numbered through in the order in which loops were opened; `steps`, `schedule` and the steps of
 * `bursts` are those of the longest loop; `loops` has each loop with the name of evn_name_loop().
 * `moved_regions` and `moved_bytes` of `transfers` are regions moved from another space for tasks,
 * `stolen` tasks that another unit than their owner ran (evn_loop_stealing()).
 * A loop counts from when it was opened or evn_loop_reset_stats() was called; `seconds` and
 * `periods` are wall time of runs and visits. Over ranks there are also `wire` and `ranks`, units
 * are those of all ranks with `rank` and `host`, `machine` is rank 0's, and there are no `bursts`.
 */

#ifdef __cplusplus
}
#endif
#endif
