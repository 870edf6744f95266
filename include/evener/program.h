/* For programs: all that <evener.h> promises, whose comment is its page of contents. */
#ifndef EVENER_PROGRAM_H
#define EVENER_PROGRAM_H

#include <evener/clock.h>
#include <evener/status.h>
#include <evener/version.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- session ---- */

/* A session: machine, units, the loops that run on them, and their record and trace. */
typedef struct evn_session evn_session;
typedef struct evn_units evn_units;     /* all units of a process: <evener/unit.h> */
typedef struct evn_unit evn_unit;       /* one unit */
typedef struct evn_machine evn_machine; /* <evener/machine.h> */
typedef struct evn_cluster evn_cluster; /* the ranks of a run: <evener/cluster.h> */

enum {
    EVN_OVERSUBSCRIBE = 1, /* allows more cores than there are; then nothing is bound */
    EVN_DESCRIBE_ONLY = 2, /* no threads, no binding, no check against the machine: for plans */
    EVN_STAY_BOUND = 4,    /* between loops the calling thread stays bound to its core, for programs
                              without OpenMP regions outside of bodies */
    EVN_CALLER_FREE = 8,   /* the calling thread is never bound, only the other threads; saves some
                              microseconds a loop */
    EVN_SINGLE_CORES = 16  /* auto: units of one core each, for bodies that use one core */
};

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

/* Opens the machine and units on it (evn_units_open()). `units` and `devices` NULL or "default":
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
 * Errors of evn_machine_open() and evn_units_open(), over ranks of evn_cluster_open() and
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

/* This process's rank; 0 without ranks. */
int evn_session_rank(const evn_session *session);

/* The session's units, those of this rank; NULL while none are open. */
evn_units *evn_session_units(const evn_session *session);

/* For a program that gives up: prints evn_message() on standard error, after `program` and ": ".
 * Over ranks rank 0 prints it for all: a rank that fails by itself, as in opening a place, leaves
 * the run, and the others fail at their next collective call with its message. Returns main()'s
 * exit status: 1 in the process that prints, 0 in others, since a launcher kills all ranks, and
 * with them the one that still has to print, as soon as one exits with another status. The session
 * must not be used afterwards. */
int evn_complain(const char *program);

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

/* ---- tasks and their loop ---- */

/* Two tasks that exchange data each step: `bytes` in each direction. */
typedef struct evn_link {
    int task[2];
    double bytes;
} evn_link;

/* Route between two units: one hop, or two if data are staged in the host's memory. All 0: free. */
typedef struct evn_route {
    int hops;           /* 2: staged; any other number: one hop */
    double latency[2];  /* s a message, of each hop */
    double per_byte[2]; /* s a byte */
} evn_route;

/* The problem that a schedule is made for. The arrays are copied; 0 or NULL means not known.
 *
 * Topology: each unit has a kind and a node. A route leads from each kind to each kind, `route`
 * between units of one node, `far` between units of two nodes. So a cluster of a thousand equal
 * nodes is a few kinds and two small matrices, and two sockets of a node are two kinds. binpack,
 * map and optimal keep neighbours near; the other schedules ignore routes and bandwidth. A link
 * costs each of its units the longer of its two directions, each with the latency of one message,
 * in the unit of time of `speed` (seconds, where speed is weight a second).
 *
 * Memory: auto, binpack, map and optimal first plan without capacities; if that plan does not fit
 * they make one that does; if none is found, one with few bytes over. The other schedules ignore
 * capacities. Loops (evn_loop_place()) and sessions (evn_open_loop()) tell both where a device is
 * too small for all tasks. evn_schedule_explain() names the units that are over in any case.
 *
 * States: where units do not share their memory (`space`, the ranks of a run), a task that moves to
 * a unit of another space takes its `state` along. guided:time, interval and map, which move tasks
 * by measured times, do so only where it pays: the saving over the remaining instances must exceed
 * the cost of carrying the state; if units have changed their speed before, so must the saving over
 * as many instances as the present speeds have lasted, so that states do not follow every short
 * disturbance. */
typedef struct evn_problem {
    int tasks;            /* n >= 1 */
    const double *weight; /* n sizes, >= 0 and finite; NULL: all 1 */
    int links;
    const evn_link *link; /* each pair of tasks at most once; NULL if links is 0 */
    int units;            /* U >= 1 */
    const double *speed;  /* U, > 0 and finite: weight per unit of time; NULL: all 1 */
    double bandwidth; /* bytes a unit sends and receives per unit of time; 0: exchange is free */
    int instances;    /* remaining instances of the loop, for schedules that weigh the cost of a
                         migration against its saving; 0: many; not negative */
    int kinds;        /* kinds of units; 0: one */
    const int *kind;  /* kind of each unit, U, 0 .. kinds - 1; NULL: all of kind 0 */
    const int *node;  /* node of each unit, U, >= 0; NULL: one node */
    const evn_route *route; /* kinds x kinds, route[from * kinds + to]: between two units of a node;
                               NULL: free if `far` is given, else by the bandwidth */
    const evn_route *far;   /* kinds x kinds: between units of different nodes; NULL: as `route` */
    const double *bytes;    /* n, >= 0 and finite: memory of each task on its owner, bytes */
    const double *capacity; /* U, >= 0: memory of each unit, bytes; 0, INFINITY: enough */
    const int *space;       /* U, >= 0: units of equal space share their memory; NULL: all do */
    const double *state;    /* n: bytes that go along to another space; NULL: none */
    double carry;           /* seconds a byte of `state`, >= 0 and finite; 0: not known, 1e-9 until
                               ranks measure it */
} evn_problem;

typedef struct evn_loop evn_loop;
typedef struct evn_batch evn_batch;

/* Opens a loop with a schedule of its own; the session owns both.
 *
 * `schedule` NULL or "default": EVENER_SCHEDULE if set, else `auto`, which learns the costs of
 * tasks and the speeds of units, moves few tasks, and goes on learning; for a problem that
 * announces fewer than 10 instances, `dynamic`, since such a loop ends before `auto` has learnt.
 *
 * `problem` may leave out what the session knows: units 0 is their number; speed NULL is each
 * unit's evn_unit_about().speed; capacity NULL with bytes given is the memory of each unit's
 * devices; space NULL is the host's memory and one of each device, over ranks with state given one
 * of each rank. Over ranks units are those of all ranks, and the call is collective, as
 * evn_loop_open_on(), with the same schedule and problem on all. EVN_USAGE, EVN_MEMORY. */
evn_status evn_open_loop(evn_loop **out, evn_session *session, const char *schedule,
                         const evn_problem *problem);

/* Closes one of the session's loops and its schedule early; evn_close() closes the rest. Its
 * results go into the record and the trace. NULL is accepted. EVN_USAGE: it is no loop of the
 * session, or the units are at work, and nothing was closed; EVN_SYSTEM, EVN_MEMORY: its part of
 * record or trace was lost, which evn_close() reports again. */
evn_status evn_close_loop(evn_session *session, evn_loop *loop);

/* The body, called by the leader of `unit`. Any status but EVN_OK ends the instance: other units
 * finish their batch and take no more. A message set by evn_fail() becomes the instance's message.
 * A body may not run, join or visit a loop of these units. */
typedef evn_status (*evn_body)(evn_unit *unit, evn_batch *batch, void *arg);

/* Runs one instance of the loop: every task exactly once, then the schedule learns. Call it from
 * the thread that opened the units. EVN_BODY: a body failed; evn_message() has its status and
 * message. EVN_DEVICE: a device of unit evn_loop_about().failed_unit has failed. EVN_USAGE: the
 * units are at work already, or belong to another thread or process. */
evn_status evn_loop_run(evn_loop *loop, evn_body body, void *arg);

/* Visits every task once on the unit that owns it now, unless that is late (evn_loop_stealing());
 * the schedule does not learn. For work that
 * goes with the tasks' data, such as first touch or an exchange between instances. `body` NULL: the
 * regions are moved, nothing else. Failures as of evn_loop_run(). */
evn_status evn_loop_visit(evn_loop *loop, evn_body body, void *arg);

/* Replaces the tasks' weights from the next instance on, as for cells whose atoms have moved: one
 * for each task, >= 0 and finite, copied; NULL: all 1. The loop keeps its regions, its totals and
 * the learnt seconds per weight (docs/schedule.md describes the new assignment of each
 * schedule). Unchanged weights are compared and change nothing. Call it between instances, from the
 * thread that runs the loop; within a job (evn_loop_join()) from the first unit's leader, while the
 * others wait for it, as before evn_unit_synchronize(). Over ranks it is collective, with the same
 * weights on all; a task that changes its rank moves at once, as after an instance. EVN_USAGE: a
 * weight is negative or not finite, or other than on rank 0; or the units are at work. EVN_MEMORY.
 * After either nothing has changed, on any rank, but where a task found no room on the rank that it
 * goes to. */
evn_status evn_loop_weights(evn_loop *loop, const double *weight);

/* 1 if the task is on this rank; always without ranks. */
int evn_loop_has(const evn_loop *loop, int task);

/* Unit of each task in the last instance or visit, of a stolen task its owner; before the first,
 * the schedule's first assignment. For a task that has moved to another rank since, its new owner.
 */
const int *evn_loop_owner(const evn_loop *loop);

/* ---- in a body ----
 *
 * All functions mean the same on cores and on a device. A body reports its progress in one of three
 * ways, from which the times for the schedule are taken: it asks for tasks one by one
 * (evn_batch_next()), reports how many are done (evn_batch_done()), or does neither and has done
 * the whole batch on return. On a device a task counts as done when its work is in the batch's
 * queue; the times are read when the queue has finished. (Each report is an event in the queue; a
 * body with one launch for all its tasks needs none.) Where several devices of a unit work at a
 * time, the times of all their tasks are scaled so that their sum is the time of the slowest
 * device.
 *
 * A wrong question (a task that is not of the batch, a region that the task has not) returns NULL
 * or 0 with a message, and fails the instance with that message, whatever the body returns. */

/* The unit that does the batch: its number from 0; 1 if it is devices with the core that manages
 * them; and the threads of its team, 1 for a GPU unit. */
int evn_unit_number(const evn_unit *unit);
int evn_unit_is_gpu(const evn_unit *unit);
int evn_unit_cores(const evn_unit *unit);

/* The batch's next task, -1 after the last. Each call ends the time of the task before: call it
 * when that task is done, or on a device, when its work is in the queue. On cores, behind
 * the first tasks of a batch, those of less than a microsecond are timed together and share the
 * time by weight. */
int evn_batch_next(evn_batch *batch);

/* All tasks of the batch, *count of them, ascending; valid until the body returns. */
const int *evn_batch_tasks(const evn_batch *batch, int *count);

/* For bodies that do tasks together: reports the batch's next `count` tasks as done. They share the
 * time since the last report by weight. It is an error to report more than are left, or fewer than
 * 0, or to mix it with evn_batch_next(). */
void evn_batch_done(evn_batch *batch, int count);

/* Subteams, a unit's cores divided into groups that do tasks of their own.
 *
 * A team that does every task together waits at each barrier for its slowest core, and small tasks
 * have too few planes and lines to share. With enough tasks a batch is faster if cores take whole
 * tasks, and only those that are too large are done by all cores. A body therefore describes one
 * task for any number of cores, and the library divides the cores:
 *
 *     static void step(const evn_subteam *by, int task, void *arg) {
 *         work_on(task, by->core, by->cores);
 *         evn_subteam_barrier(by);
 *         ...
 *     }
 *     static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
 *         return evn_batch_share(batch, NULL, 0, step, arg);
 *     }
 *
 * The division is made from the tasks' weights and kept as long as they are the same, for each of
 * up to two parts of a batch: first the largest tasks, if there are any, one after another by all
 * cores; then the others by subteams of one core or more, in proportion to their loads. Each
 * subteam has tasks of its own, so that their data stay in its cores' caches. A subteam that has
 * finished takes tasks from another one if it would finish them sooner: so a core that other
 * programs disturb delays at most one task, or where its subteam is larger than all that have
 * finished, as many as that one would do in the time of one. */

/* The cores that do a task: some of a unit's cores, or all. */
typedef struct evn_subteam {
    int core, cores; /* the calling core's number in the subteam, from 0, and the subteam's number
                        of cores */
    int first;       /* the number of its core 0 in the unit's team, to index memory that only this
                        subteam uses */
    evn_unit *unit;
    void *barrier; /* for evn_subteam_barrier() */
} evn_subteam;

/* One task; called on each core of its subteam, and done when all have returned. It may not run a
 * loop nor call functions of the batch. */
typedef void (*evn_task_body)(const evn_subteam *by, int task, void *arg);

/* Does `count` tasks of the batch; task NULL: all. Called by the leader, from the loop's body,
 * outside of its team's regions; returns when all are done. Several calls may do some of the
 * batch's tasks each; together they must do each task once. After that tasks may be done again, and
 * the time is added to theirs, as by evn_batch_spent().
 *
 * A task's time is its elapsed time times its subteam's share of the unit's cores, scaled so that
 * the sum is the batch's time; there is one burst for all. On a unit of one core tasks are done one
 * after another, as with evn_batch_next().
 *
 * EVN_USAGE: the batch is on a device, a task is not one of the batch's, or the body has used
 * evn_batch_next() or evn_batch_done(). EVN_MEMORY. Nothing was done then. */
evn_status evn_batch_share(evn_batch *batch, const int *task, int count, evn_task_body body,
                           void *arg);

/* Barrier of the subteam; earlier writes of its cores are then visible. */
void evn_subteam_barrier(const evn_subteam *by);

/* ---- data ---- */

/* The regions of a program, blocks of memory that move to where they are used: <evener/place.h>. */
typedef struct evn_place evn_place;
typedef struct evn_buffer evn_buffer; /* of a device: <evener/device.h> */
typedef struct evn_queue evn_queue;

typedef enum evn_access {
    EVN_READ = 1,  /* reads the content, does not change it */
    EVN_WRITE = 2, /* overwrites all of the content: nothing is copied */
    EVN_BOTH = 3
} evn_access;

/* Opens the place of a program's regions, for the host and all devices of `units`, which must
 * outlive it. `share`: the part of a device's memory that regions may use, 0 < share <= 1.
 * EVN_USAGE: another share, or units that are only described; EVN_MEMORY; EVN_DEVICE. */
evn_status evn_place_open(evn_place **out, evn_units *units, double share);

/* Closes the place. The regions' host memory belongs to the program again, with its present
 * contents; memory made by the place is freed. NULL is accepted. */
void evn_place_close(evn_place *place);

/* Registers `bytes` at `host` as a region, valid on the host. *region: its number, the lowest that
 * is free. The place owns the memory while it is registered: access it only while it is acquired
 * for the host. `host` NULL: the region is absent. At any time. EVN_USAGE: no bytes, or memory that
 * overlaps another region's; EVN_MEMORY. */
evn_status evn_place_add(evn_place *place, void *host, size_t bytes, int *region);

/* Registers a region whose memory the place makes on its first acquire, which must be for
 * EVN_WRITE. On the host it is 64-byte aligned; while the region lives on devices only, it has no
 * host memory until it is copied back. EVN_USAGE: no bytes; EVN_MEMORY. */
evn_status evn_place_make(evn_place *place, size_t bytes, int *region);

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

/* ---- data, in a body ---- */

/* The batch's queue, and the device's arena, which holds its regions; NULL on cores. */
evn_queue *evn_batch_queue(const evn_batch *batch);
evn_buffer *evn_batch_buffer(const evn_batch *batch);

/* Region number i (of evn_loop_place()) of a task of the batch. evn_batch_at(): on a device, the
 * offset in the arena, bytes (0 on cores; an error if the task has no such region).
 * evn_batch_host(): on cores, its memory (NULL on a device, and if the task has no such region). */
size_t evn_batch_at(const evn_batch *batch, int task, int i);
void *evn_batch_host(const evn_batch *batch, int task, int i);

/* A table of the batch in device memory, for kernels: one row of 1 + regions numbers (evn_long) for
 * each task, in the order of evn_batch_tasks(): the task's number, then the offset in the arena of
 * each of its regions, bytes; -1 for a region that it has not. The loop owns the table and sends it
 * when it has changed. Valid for work that this body puts into the batch's queue. NULL on cores. */
evn_buffer *evn_batch_table(const evn_batch *batch);

/* A kernel's argument: a buffer, or the value itself. */
typedef struct evn_argument {
    evn_buffer *buffer; /* NULL: a value */
    const void *value;
    size_t bytes;
} evn_argument;

/* Made of a file NAME.kernel.c: <evener/kernel.h>. */
typedef struct evn_kernel_source evn_kernel_source;

/* Enqueues a kernel in the batch's queue: `groups` groups of the items it was written for. The
 * kernel is opened once a device and kept; `source` must outlive the loop. EVN_USAGE: the batch is
 * on cores, or the arguments do not fit the kernel; EVN_SYSTEM: the compiler's message. */
evn_status evn_batch_launch(const evn_batch *batch, const evn_kernel_source *source,
                            const char *kernel, int groups, const evn_argument *argument,
                            int arguments);

/* ---- exchange ---- */

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

/* Copies all faces; returns when all values are in place. The exchange plans its messages again
 * when tasks have moved, unless all faces were copied early. The loop's totals count bytes,
 * messages and copies; its unit stats count time and bytes in and out. EVN_DEVICE: see
 * evn_loop_about().failed_unit; the regions' contents are then undefined, and the next run plans
 * again. EVN_USAGE: the loop was given other regions since, or they are in use. */
evn_status evn_exchange_run(evn_exchange *exchange);

/* Closes the exchange. From within a body of the loop it leaves a message and closes nothing. NULL
 * is accepted. */
void evn_exchange_close(evn_exchange *exchange);

#ifdef __cplusplus
}
#endif
#endif
