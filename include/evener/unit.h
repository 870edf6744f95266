/* For tools: units, the compute units (CU) that share a loop's tasks.
 *
 * A unit is M cores, or G devices with the one core that manages them (González-Tallada and
 * Morancho, "Compute units in OpenMP: extensions for heterogeneous parallel programming", 2023). A
 * list of units is written
 *
 *     4:CPU:4            four units of four cores
 *     1:CPU:8,2:GPU:1    one unit of eight cores, and two units of one device each
 *     2:CPU:4@0-3@8-11   two units of four cores, the first of cores 0 to 3 and the second of cores
 *                        8 to 11
 *     1:FPGA:1           a unit of one accelerator that is no GPU (of OpenCL, or emulated); in all
 *                        else a GPU unit, also for evn_unit_is_gpu()
 *     auto               one unit for each GPU, and one for each part of the machine (the cores of
 *                        one kind, NUMA node and L3 cache) that has cores left beside the leaders
 *                        of GPU units; evn_units_text() says how many cores of how many these are
 *
 * Cores behind a @ are the system's numbers of hardware threads, as in taskset and OMP_PLACES: as
 * many as the units have, or one for the leader of each GPU unit; units of other groups get other
 * cores.
 *
 * Each unit has a leader, a POSIX thread bound to the unit's first core; the thread that opened the
 * units is the leader of unit 0. In a body the leader opens ordinary OpenMP regions for its team:
 *
 *     #pragma omp parallel num_threads(evn_unit_cores(unit))
 *
 * The team's threads are bound to the unit's cores, one each, whatever OMP_PROC_BIND says. (An
 * inner region of a nested OpenMP region would cost ten times as much as a region of a leader's own
 * thread.)
 *
 * Between loops the thread that opened the units is restored: its affinity mask and
 * omp_set_dynamic(). Its own regions then use the threads of unit 0's team, on a core each, and may
 * have fewer or more threads; the next loop restores the team. evn_units_close() releases threads
 * that the runtime keeps.
 *
 * A child of fork() has none of these threads. There evn_units_run() and loops refuse,
 * evn_units_close() only frees memory, and units may be opened again, by a new thread if the
 * calling one had a team. */
#ifndef EVENER_UNIT_H
#define EVENER_UNIT_H

#include <evener/program.h>
#include <evener/device.h>
#include <evener/machine.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the units of `list` on `machine`, which must outlive them. `flags`: those of <evener.h>
 * from EVN_OVERSUBSCRIBE to EVN_SINGLE_CORES, or 0; another bit is EVN_USAGE.
 *
 * `devices`: cuda, hip, opencl, emulated or best, with options, as in evn_devices_count();
 * `emulated` without a number gives as many as the list needs. NULL: best, and `auto` takes only
 * real GPUs. Devices are opened here, in their order, and closed with the units.
 *
 * Cores are assigned in the machine's order, the fastest kind first, each to one unit, in the order
 * of the list, but for cores that the list names: these are bound, claimed by another program or
 * not, also under a CPU quota, and never released; EVENER_BIND=none alone binds nothing. If there
 * are too few, CPU units come first, and the leaders of GPU units, which mostly wait, share the
 * rest. The calling thread becomes the leader of unit 0 and is bound while loops run
 * (EVN_STAY_BOUND: until evn_units_close(); EVN_CALLER_FREE: never); only it may run loops on these
 * units. In bodies an OpenMP region without num_threads() has as many threads as the unit has
 * cores. Where other programs of the host have claimed cores (EVENER_BIND=auto, the default), units
 * take others, and a unit with too few left is not bound; evn_unit_about() reports this, and also
 * threads that are released later. Where a CPU quota leaves fewer cores than the process may use
 * (evn_machine_about()), threads run unbound on any of these, unless EVENER_BIND demands binding.
 * Binding is advice: where the system refuses it (a container, a sandbox), threads run unbound too,
 * and a line on standard error, once a process, says so; EVENER_BIND=cores or unit, or a list that
 * names cores, makes that EVN_SYSTEM.
 *
 * EVN_USAGE: the list is not understood, asks for more cores than there are, or names one that is
 * not of this process, one twice, or any where units share cores; EVN_MISSING: it
 * asks for more devices than there are; EVN_SYSTEM: a thread could not be created or bound, or
 * OpenMP's threads have stacks of less than 64 kB. */
evn_status evn_units_open(evn_units **out, const evn_machine *machine, const char *list,
                          const char *devices, unsigned flags);

/* Closes the units. From within a job it leaves a message and closes nothing. NULL is accepted. */
void evn_units_close(evn_units *units);

/* The list in full, `2:CPU:1`; valid as long as the units are. */
const char *evn_units_text(const evn_units *units);

/* Number of units. */
int evn_units_count(const evn_units *units);

/* What the units are on, and whether they work. */
typedef struct evn_units_info {
    const evn_machine *machine; /* where they are opened */
    int gpus;                   /* GPU units among them */
    int devices;                /* of all units */
    int running; /* 1: evn_units_run() is at work, inside of a job, and of a loop's body */
} evn_units_info;
evn_units_info evn_units_about(const evn_units *units);

/* Unit number `number` from 0; NULL beyond the last. */
evn_unit *evn_units_get(const evn_units *units, int number);

/* Runs job(unit, arg) once on every unit, each by its own leader, and returns when all are done. A
 * job must return, and so must a loop's body: one that ends its thread (pthread_exit()) or lets a
 * C++ exception pass ends the program by abort(), with a message. On units that are only described
 * the caller runs one after the other. EVN_USAGE, and the job was not run: from within a job of
 * these units, by another thread than the one that opened them, or in a child of fork().
 * EVN_SYSTEM: a thread could not be created or bound again. */
evn_status evn_units_run(evn_units *units, void (*job)(evn_unit *unit, void *arg), void *arg);

/* Checks that this process can create `count` more threads, with the stacks of OpenMP's threads,
 * and that these have `stack` bytes or more. For programs with OpenMP regions of their own: the
 * runtime ends a program whose threads it cannot create. The threads are created, all at a time,
 * and end; units do this when they are opened. Any thread. EVN_SYSTEM: the number of threads that
 * could be created, and why; EVN_MEMORY. */
evn_status evn_threads_try(int count, size_t stack);

/* The unit of the calling thread: a leader in a job, or a thread of its team. NULL outside of jobs,
 * and for threads of a region nested in a region of the team (with omp_set_max_active_levels()).
 * Any thread. */
evn_unit *evn_units_here(void);

/* A unit's properties, beside its number, cores and whether it is devices (<evener.h>). */
int evn_unit_core_number(const evn_unit *unit,
                         int core); /* the system's number of a core of the unit; -1 beyond */

/* Share of the time that the unit's threads were ready to run in which they had no core, since
 * other threads had it, of this program or another: 0 to 1, by the kernel's count, since the units
 * were opened or it was asked with `anew` 1, which begins a new count. Waiting for tasks or for
 * other units is no part of it. Threads that have ended are left out. NAN: the kernel does not
 * count, or the unit is only described. Between instances, any thread; some microseconds for each
 * thread of the unit. */
double evn_unit_taken(const evn_unit *unit, int anew);
/* A share that is worth saying: from here on times are clearly longer than the work. */
#define EVN_TAKEN_NOTED 0.05

typedef struct evn_unit_info {
    /* Binding of the unit's threads: "core", each to a core of its own; "unit", to the unit's
     * cores; "none"; "taken", none, since other programs of the host have claimed cores and left
     * too few; "let go", none any more, since its core was contended while another was idle
     * (evn_unit_core_number() still names its cores). */
    const char *binding;
    /* Estimated speed before any measurement: the number of its cores times the speed of the
     * slowest of them, where a core of the node's fastest kind has 1 (evn_machine_kind()). The
     * number of cores alone if the list asks for more than there are; 1 for a GPU unit, without its
     * devices. */
    double speed;
    int kind;   /* of its cores, for evn_machine_kind(): that of the slowest of them; 0 for a GPU
                   unit, and if the list asks for more cores than there are */
    int device; /* number of its first device among the devices of all units, the others follow; -1:
                   it has none */
} evn_unit_info;
/* Any thread. */
evn_unit_info evn_unit_about(const evn_unit *unit);

/* Devices of a GPU unit: their number (0 for a CPU unit); the i-th one, and its queue for compute
 * work. NULL beyond. Owned by the units. */
int evn_unit_devices(const evn_unit *unit);
evn_device *evn_unit_device(const evn_unit *unit, int i);
evn_queue *evn_unit_queue(const evn_unit *unit, int i);

/* For studies of unequal units: the unit takes `factor` times as long (1 to 1000; initially 1) for
 * a loop's tasks, by waiting after them. Devices of GPU units have factors of their own
 * (emulated:speed=..) and are unaffected. Between instances; an invalid factor changes nothing and
 * leaves a message. */
void evn_unit_slow(evn_unit *unit, double factor);

/* Barrier of all units. Inside evn_units_run(), by every leader, outside of its team's regions;
 * elsewhere it returns at once, with a message. */
void evn_unit_synchronize(evn_unit *unit);

/* Checks the binding of every unit's threads: each team opens a region, and each thread compares
 * its affinity with its assigned core. EVN_OK also where nothing is bound (oversubscribed,
 * described only). EVN_SYSTEM names the first thread that is elsewhere. */
evn_status evn_units_check_binding(evn_units *units);

#ifdef __cplusplus
}
#endif
#endif
