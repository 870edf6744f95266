/* Units: the compute units (CU) that pull the load together.
 *
 * A unit is M cores, or G devices with the one core that manages them (González-Tallada and
 * Morancho, "Compute units in OpenMP: extensions for heterogeneous parallel programming", 2023). A
 * list of units is written
 *
 *     4:CPU:4            four units of four cores
 *     1:CPU:8,2:GPU:1    one unit of eight cores, and two units of one device each
 *     auto               one unit for each GPU there is, and one of each part of the machine: of
 *                        the cores of one kind and one L3 cache, as far as leaders of GPU units
 *                        leave some; the list says how many of how many cores these are
 *
 * Each unit has a leader, a POSIX thread bound to the unit's first core; the thread that opened the
 * units is the leader of unit 0. Inside of a body the leader opens ordinary OpenMP regions for its
 * team:
 *
 *     #pragma omp parallel num_threads(evn_unit_cores(unit))
 *
 * and the team's threads are bound to the unit's cores, one each, whatever OMP_PROC_BIND says. (An
 * inner region under a nested OpenMP region would cost ten times as much as one under a thread of
 * its own.)
 *
 * Between loops the thread that opened the units is as it was before: where it may run, and
 * omp_set_dynamic(). Regions of its own then have the threads of unit 0's team, on a core each,
 * and may have fewer or more: what they change is put right when the next loop begins. Threads that
 * the runtime keeps are let go by evn_units_close().
 *
 * A process made by fork() has none of these threads. In it evn_units_run() and loops refuse,
 * evn_units_close() only frees, and units may be opened anew, by a new thread if the calling one
 * had a team.
 */
#ifndef EVENER_UNIT_H
#define EVENER_UNIT_H

#include <evener/device.h>
#include <evener/machine.h>
#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_units evn_units; /* all units of a program */
typedef struct evn_unit evn_unit;   /* one of them */

enum {
    EVN_OVERSUBSCRIBE = 1, /* more cores may be asked for than there are; then nothing is bound */
    EVN_DESCRIBE_ONLY = 2, /* no threads, no binding, no check against the machine: for plans */
    EVN_STAY_BOUND = 4     /* between loops the calling thread stays on its core: spares some
                              microseconds a loop, for programs that open no OpenMP regions of their
                              own outside of bodies */
};

/* Makes the units of `list` on `machine`, which must outlive them. `flags`: the enum above, or 0;
 * another bit is EVN_USAGE.
 *
 * Cores are dealt out in the machine's order, the fastest kind first, each to one unit, in the
 * order of the list. Where there are too few for all, CPU units come first and the leaders of GPU
 * units, which mostly wait, share what there is. The calling thread becomes the leader of unit 0,
 * and is bound while loops run (EVN_STAY_BOUND: until evn_units_close()); only it may run loops on
 * these units. Where a CPU quota leaves fewer cores than the process may use
 * (evn_machine_limits()), threads are not bound unless EVENER_BIND asks for it, and run on any of
 * these.
 *
 * EVN_USAGE: the list is not understood, or asks for more cores than there are; EVN_MISSING: it
 * asks for more devices than there are; EVN_SYSTEM: a thread could not be made or bound, or those
 * of OpenMP have stacks of less than 64 kB. */
evn_status evn_units_open(evn_units **out, const evn_machine *machine, const char *list,
                          unsigned flags);

/* The same with devices from `devices`: cuda, opencl, emulated or best, with options, as
 * evn_devices_count() takes them; `emulated` without a number gives as many as are asked for. NULL:
 * best, and `auto` takes only what is really a GPU. Devices are opened here, in their order, and
 * closed with the units. */
evn_status evn_units_open_on(evn_units **out, const evn_machine *machine, const char *list,
                             const char *devices, unsigned flags);

/* Not from within a job: then there is a message, and nothing is closed. NULL is accepted. */
void evn_units_close(evn_units *units);

/* Takes unit `number` away, whose device has failed, and closes its devices; those behind it move
 * up by one. Loops on these units can then only be closed, and places have lost the device's space
 * before (evn_place_lose()); <evener/recover.h> does all of it, and a loop goes on. By the thread
 * that opened the units. EVN_USAGE: another thread, it is the last one, or the units are at work.
 */
evn_status evn_units_remove(evn_units *units, int number);

/* The machine they are on. */
const evn_machine *evn_units_machine(const evn_units *units);

/* The list written out, `2:CPU:1`; valid as long as the units are. */
const char *evn_units_text(const evn_units *units);

/* Number of units; of CPU units; of GPU units. */
int evn_units_count(const evn_units *units);
int evn_units_cpus(const evn_units *units);
int evn_units_gpus(const evn_units *units);

/* Unit number `number` from 0; NULL beyond the last. */
evn_unit *evn_units_get(const evn_units *units, int number);

/* Runs job(unit, arg) once on every unit, each by its own leader, and returns when all are done. On
 * units that are only described the caller does one after the other. EVN_USAGE, and the job was not
 * run: from within a job of these units, by another thread than the one that opened them, or in a
 * process forked since. EVN_SYSTEM: a thread could not be made or bound again. */
evn_status evn_units_run(evn_units *units, void (*job)(evn_unit *unit, void *arg), void *arg);

/* Whether this process can have `count` threads more now, with the stacks that OpenMP's will have,
 * and whether these are `stack` bytes or more. For programs that open regions of their own: the
 * runtime ends the program where it cannot have its threads. They are made, all at a time, and end;
 * units do this when they are opened. Any thread. EVN_SYSTEM: how many there were, and why;
 * EVN_MEMORY. */
evn_status evn_threads_try(int count, size_t stack);

/* The unit that the calling thread works for: a leader in a job, or a thread of its team. NULL
 * outside of jobs. A thread that the runtime makes for a region within a region of the team, which
 * omp_set_max_active_levels() must have allowed, belongs to no unit: NULL. Any thread may ask. */
evn_unit *evn_units_here(void);

/* Whether evn_units_run() is at work on them: true inside of a job, and of a loop's body. */
int evn_units_running(const evn_units *units);

/* What a body may ask of its unit. */
int evn_unit_number(const evn_unit *unit);     /* which am I, from 0 */
int evn_unit_count(const evn_unit *unit);      /* how many are we */
int evn_unit_count_cpus(const evn_unit *unit); /* how many of us are CPU units */
int evn_unit_count_gpus(const evn_unit *unit); /* how many of us are GPU units */
int evn_unit_is_cpu(const evn_unit *unit);
int evn_unit_is_gpu(const evn_unit *unit);
int evn_unit_cores(const evn_unit *unit); /* threads of my team; 1 for a GPU unit */
int evn_unit_core_number(const evn_unit *unit,
                         int core); /* the system's number of my core-th core; -1 beyond */

/* How strong its cores are together before anything was measured: their number times the speed of
 * the slowest of them, where a core of the node's fastest kind has 1 (evn_machine_kind()). Their
 * number alone where the list asks for more cores than there are; 1 for a GPU unit, whose devices
 * do not count. */
double evn_unit_speed(const evn_unit *unit);

/* The kind of its cores, for evn_machine_kind(): that of the slowest of them; 0 for a GPU unit, and
 * where the list asks for more cores than there are. -1: no unit. */
int evn_unit_core_kind(const evn_unit *unit);

/* Devices of a GPU unit: how many (0 for a CPU unit); the i-th one, the queue that its compute work
 * goes to, and its number among the devices of all units. NULL and -1 beyond. They belong to the
 * units. */
int evn_unit_devices(const evn_unit *unit);
evn_device *evn_unit_device(const evn_unit *unit, int i);
evn_queue *evn_unit_queue(const evn_unit *unit, int i);
int evn_unit_device_number(const evn_unit *unit, int i);

/* Devices of all units. */
int evn_units_devices(const evn_units *units);

/* For studies of unequal units: the unit takes `factor` times as long (1 to 1000; 1 when units are
 * opened) for the tasks of a loop's runs, by waiting when it has done them. A GPU unit's devices
 * have factors of their own (emulated:speed=..) and are left as they are. Between instances;
 * another factor changes nothing and leaves a message. */
void evn_unit_slow(evn_unit *unit, double factor);
double evn_unit_slowness(const evn_unit *unit);

/* Waits until all units have come here. Only inside evn_units_run(), by every leader, outside of
 * its team's regions; where no job is run it returns at once, with a message. */
void evn_unit_synchronize(evn_unit *unit);

/* Checks where the threads of every unit really run: each team opens a region, and each thread
 * compares its own binding with the core it was given. EVN_OK also where nothing is bound
 * (oversubscribed, described only). EVN_SYSTEM names the first thread that is elsewhere. */
evn_status evn_units_check_binding(evn_units *units);

#ifdef __cplusplus
}
#endif
#endif
