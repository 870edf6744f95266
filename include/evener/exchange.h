/* For tools: the exchange of halo values (faces) between tasks, from one instance of a loop to
 * the next.
 *
 * The program says once which block of which task's region is copied to which block of another
 * task's. The exchange finds out where tasks live: faces within one space are copied there
 * directly, on a device by one kernel; all faces from one unit to another in a different space are
 * packed into one message, moved by the shortest way (peer copy if possible, else through the
 * host's pinned memory) and unpacked. So there are at most as many messages as ordered pairs of
 * neighbouring units, however many tasks there are.
 *
 * All units exchange at the same time. So no value may be written by two faces, nor written by one
 * and read by another. Faces of zones meet this: interior points are read, boundary points written.
 *
 * A loop may have any number of exchanges, for several fields or levels. They are opened, run and
 * closed in any order, by the thread that opened the units; the halves of one exchange (below) may
 * enclose others.
 *
 * Between blocks of two resolutions, as of an adaptive mesh, a face takes means of two values along
 * an index (restriction) or repeats each value twice (prolongation, piecewise constant). Messages
 * have the coarse values. */
#ifndef EVENER_EXCHANGE_H
#define EVENER_EXCHANGE_H

#include <evener/program.h>
#include <evener/loop.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exchange in two halves, so that messages travel while the body computes interior values.
 * evn_exchange_start() packs, copies within spaces, and sends. *open 0: it has completed the
 * exchange, as evn_exchange_run() does (all copies are by cores and no message crosses, or tasks
 * will move in the next instance, so that the target is not known yet). Otherwise the body of the
 * next instance must call evn_exchange_finish() once in each batch, with its unit and
 * evn_batch_device(); received values are then in place, on a device once its queue has come past.
 * If devices copy within themselves and no message crosses, the halves save the wait for the
 * devices. Without anything to finish evn_exchange_finish() does nothing. EVN_USAGE: the unit is
 * not of the loop's units, or regions have moved between the halves. */
evn_status evn_exchange_start(evn_exchange *exchange, int *open);
evn_status evn_exchange_finish(evn_exchange *exchange, evn_unit *unit, int device);

/* Early copies, on cores: a body announces that `task` has its new values, which do not change
 * until the next run. The calling thread copies, while they are in its caches, the faces between
 * this task and tasks announced before it since the latest run; the next run copies the remaining
 * ones. Boundary values are those of the next instance from then on: do not announce in an instance
 * after which other code reads boundary values, nor if tasks are written before the next run, nor
 * if an instance may fail and be repeated. At most once a task between two runs, by any thread. The
 * time counts as the body's; the next run counts bytes and messages as ever. Does nothing where
 * regions follow tasks, over ranks, and before the first run. EVN_USAGE: there is no such task, or
 * it was announced already. */
evn_status evn_exchange_ahead(evn_exchange *exchange, int task);

/* 1 if a message brings some of the task's faces, by the owners at the latest run or first half: a
 * body computes the other tasks before it calls evn_exchange_finish(). Any thread. -1, with
 * evn_message(): there is no such task, or no run yet. */
int evn_exchange_needs(const evn_exchange *exchange, int task);

/* Bytes that one run moves under the present owners, by ordered pair of units: bytes[a*U + b] go
 * from unit a to unit b (a == b: within a unit). Returns the number of messages: pairs of different
 * units with bytes; -1, with evn_message(), where a run would fail, too. */
int evn_exchange_pairs(evn_exchange *exchange, double *bytes);

#ifdef __cplusplus
}
#endif
#endif
