/* For programs: the exchange of halo values (faces) between tasks, from one instance of a loop to
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

#include <evener/loop.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_exchange evn_exchange;

/* Values along one index of a face. */
typedef enum evn_resolution {
    EVN_SAME,  /* value i is value i of the source */
    EVN_MEAN,  /* value i is the mean of values 2i and 2i+1 of the source */
    EVN_REPEAT /* value i is value i/2 of the source, rounded down */
} evn_resolution;

/* Numbers of which means are taken. */
enum { EVN_FLOATS = 4, EVN_DOUBLES = 8 };

/* A block of n[0] x n[1] x n[2] values copied from one task to another. Value (a,b,c) lies at
 * from_at + a*from_stride[0] + b*from_stride[1] + c*from_stride[2] values from the beginning of
 * region from_region of task `from` (0: its first, or only one); its target is given by the same
 * formula with to_, in region to_region of task `to`. Let the last index be the contiguous one, if
 * one is. Strides may be negative; strides of the source may be 0.
 *
 * resolution[d] other than EVN_SAME: n[d] counts the values that are written; of the source 2 n[d]
 * are read for means, (n[d] + 1) / 2 for repetitions, each from_stride[d] apart. (Where repeated
 * values end in mid-pair on the near side, let both strides run backwards.) Several indices
 * together: a mean of 4 or 8 values is their sum, the last index fastest, times 1/4 or 1/8, in the
 * arithmetic of the numbers; so its bits are the same on cores, devices and over ranks. A value is
 * then one number or several, each with its own mean: `numbers` says which. Without means `numbers`
 * is not looked at. */
typedef struct evn_face {
    int from, to;
    long long from_at, to_at;
    long long from_stride[3], to_stride[3];
    int n[3];
    int from_region, to_region;
    evn_resolution resolution[3]; /* of each index; 0: EVN_SAME */
    int numbers;                  /* EVN_DOUBLES or EVN_FLOATS */
} evn_face;

/* Opens an exchange of `count` faces (copied) between the tasks of a loop, which must outlive it.
 * `element`: bytes of a value (8: double; any number from 1 on; multiples of 8 or 4 are fastest on
 * devices). If regions follow the loop's tasks (evn_loop_place()), faces are blocks of these
 * regions, the place must outlive the exchange, and `host` is ignored. Otherwise `host` gives each
 * task's memory, n pointers (copied), and from_region and to_region are 0.
 *
 * EVN_USAGE, naming the face: a task or region that does not exist; a block with a negative extent
 * or beyond its region; an unknown resolution; means of values that are not made of `numbers`; a
 * value that is written twice, or written and read (the check is exact; where faces are no boxes of
 * one grid it takes as long as a few exchanges). EVN_MEMORY. EVN_DEVICE: a device failed when peer
 * access was enabled. Over ranks all make the same call with the same faces and `element`, and
 * memory of the tasks that each has; where they differ, or one fails, all fail. */
evn_status evn_exchange_open(evn_exchange **out, evn_loop *loop, size_t element, int count,
                             const evn_face *face, void *const *host);

/* Adds faces to an exchange, all or none: checks as of evn_exchange_open(), against each other and
 * against the faces of the same regions. `host`: as of evn_exchange_open(), n pointers of the
 * present tasks, of which those with faces are looked at. Faces have numbers that last: those of
 * evn_exchange_open() are 0 .. count - 1, additions continue them, and messages name them. A run
 * before faces were added lacks them; those of tasks of several changes may come together, after
 * the last of these. Over ranks all make the same call with the same faces, and memory of the tasks
 * that each has; where they differ it is EVN_USAGE on all. EVN_USAGE, EVN_MEMORY: nothing was
 * added. */
evn_status evn_exchange_add(evn_exchange *exchange, int count, const evn_face *face,
                            void *const *host);

/* Removes faces by their lasting numbers, all or none: those between kept tasks that are not any
 * more, since their neighbours are. EVN_USAGE: a number twice, or of no face there is. */
evn_status evn_exchange_drop(evn_exchange *exchange, int count, const int *face);

/* Closes the exchange. From within a body of the loop it leaves a message and closes nothing. NULL
 * is accepted. */
void evn_exchange_close(evn_exchange *exchange);

/* Copies all faces; returns when all values are in place. The exchange plans its messages again
 * when tasks have moved, unless all faces were copied early. The loop's totals count bytes,
 * messages and copies; its unit stats count time and bytes in and out. EVN_DEVICE: see
 * evn_loop_failed_unit(); the regions' contents are then undefined, and the next run plans again.
 * EVN_USAGE: the loop was given other regions since, or they are in use. */
evn_status evn_exchange_run(evn_exchange *exchange);

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
