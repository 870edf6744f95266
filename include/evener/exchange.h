/* The exchange: what crosses between tasks from one instance of a loop to the next.
 *
 * The program says once which block of which task's region is copied to which block of another's.
 * Where tasks live, the exchange finds out: what stays within a space is copied there directly, by
 * one kernel on a device; all that goes from one unit to another in a different space is packed
 * into one message, moved by the shortest way (device to device directly where they can; else by
 * way of the host's pinned memory) and unpacked. So there are at most as many messages as ordered
 * pairs of units that are neighbours, however many tasks there are.
 *
 * All units exchange at the same time. So no value may be written by two faces, nor be written by
 * one and read by another; faces of zones are so: interior points are read, boundary points
 * written. (The multi-GPU papers take zones one after another, and pay with up to a hundred times
 * the time.)
 *
 * A loop may have any number of exchanges, for several fields or levels. They are opened, run and
 * closed in any order, by the thread that opened the units; the two halves of one (below) may lie
 * around those of others.
 */
#ifndef EVENER_EXCHANGE_H
#define EVENER_EXCHANGE_H

#include <evener/loop.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_exchange evn_exchange;

/* A block of n[0] x n[1] x n[2] values that goes from task to task. Value (a,b,c) lies at
 * from_at + a*from_stride[0] + b*from_stride[1] + c*from_stride[2] values from the beginning of
 * region from_region of task `from` (0: its first, or only one), and goes to the same with to_ in
 * that of task `to`. The last index is the one to be contiguous, if one is. Strides may be
 * negative; of what is read they may be 0. */
typedef struct evn_face {
    int from, to;
    long long from_at, to_at;
    long long from_stride[3], to_stride[3];
    int n[3];
    int from_region, to_region;
} evn_face;

/* An exchange of `count` faces (copied) between the tasks of a loop, which must outlive it, of
 * values of `element` bytes (8: doubles; any number from 1 on; multiples of 8 or 4 are the fastest
 * on devices). If regions follow the loop's tasks (evn_loop_place()), faces are blocks of these,
 * the place must outlive the exchange, and `host` is not looked at; else `host` gives each task's
 * memory, n pointers (copied), and from_region and to_region are 0.
 *
 * EVN_USAGE, naming the face: a task or region that is not there; a block that has less than 0
 * values in an index, or reaches beyond its region; a value that is written twice, or written and
 * read (checked value by value, which takes as long as a few exchanges). EVN_MEMORY. EVN_DEVICE:
 * one has failed when its ways to the others were opened. */
evn_status evn_exchange_open(evn_exchange **out, evn_loop *loop, size_t element, int count,
                             const evn_face *face, void *const *host);

/* Not from within a body of the loop: then there is a message, and nothing is closed. NULL is
 * accepted. */
void evn_exchange_close(evn_exchange *exchange);

/* Copies all faces; returns when all are where they belong. The exchange of faces between units is
 * planned anew when tasks have moved, unless all was copied ahead. The loop's totals count bytes,
 * messages and copies; its unit stats, the time and what came in and went out. EVN_DEVICE:
 * evn_loop_failed_unit(); regions then hold nothing in particular, and the next run plans anew.
 * EVN_USAGE: the loop was given other regions since; they are in use. */
evn_status evn_exchange_run(evn_exchange *exchange);

/* The same in two halves, so that messages travel while the body computes what does not need them.
 * The first one packs, copies what stays within a space, and lets messages go; where *open comes
 * out as 0 it did everything, as evn_exchange_run() does (all is copied by cores and nothing
 * crosses, or tasks will move in the next instance, so that nobody knows where to unpack). Where
 * devices copy within them and nothing crosses, *open spares the wait for them. Otherwise the body
 * of the next instance must call the second half once in each batch, with its unit and
 * evn_batch_device(), after which what was received is where it belongs, or will be once the
 * device's queue has come past. Where there is nothing to finish the second half does nothing.
 * EVN_USAGE: the unit is not of the loop's units, or regions have moved between the halves. */
evn_status evn_exchange_start(evn_exchange *exchange, int *open);
evn_status evn_exchange_finish(evn_exchange *exchange, evn_unit *unit, int device);

/* Of cores: a body says that a task has its new values, which stay as they are until the next run.
 * Its faces from and to tasks of which that was said since the latest run, too, are copied at once,
 * by the calling thread, while they are in its caches; the next run copies the others only. So
 * boundary values are those of the next instance from then on: not to be said in an instance after
 * which something else reads them, nor where tasks are written before the next run, also where an
 * instance has failed and is done again. Said once of a task between two runs, by any thread. What
 * it takes is the body's time, and no longer the exchange's; the next run counts bytes and messages
 * as ever. Does nothing where regions follow tasks, over ranks, and before the first run.
 * EVN_USAGE: there is no such task, or it was said already. */
evn_status evn_exchange_ahead(evn_exchange *exchange, int task);

/* Whether a message brings some of the task's faces, as tasks lay at the latest run or first half:
 * a body does those that need nothing before it calls evn_exchange_finish(). Any thread; -1, with
 * evn_message(), where there is no such task, or was no run yet. */
int evn_exchange_needs(const evn_exchange *exchange, int task);

/* What one run moves as tasks lie now, by ordered pair of units: bytes from unit a to unit b are
 * bytes[a*U + b] (a == b: within a unit). Returns the number of messages: pairs of different units
 * with bytes; -1, with evn_message(), where a run would fail, too. */
int evn_exchange_pairs(evn_exchange *exchange, double *bytes);

#ifdef __cplusplus
}
#endif
#endif
