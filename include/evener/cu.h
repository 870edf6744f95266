/* For programs: the run-time functions of directives for compute units. <omp_cu.h> is made of them;
 * programs that call other functions of Evener beside directives include this header.
 *
 * The functions are the routines of González-Tallada and Morancho, "Compute units in OpenMP:
 * extensions for heterogeneous parallel programming" (2023), table 2 and the listings;
 * docs/language.md is the manual. The library is evener-cu (`pkg-config evener-cu`, evener::cu).
 * evener-cc links the program with --wrap=GOMP_parallel,--wrap=__kmpc_fork_call.
 *
 * A wrong call ends the program with `FILE:LINE: message` on standard error and status 1, where
 * FILE and LINE are those of the current or the last directive. Functions that return an error
 * instead say so.
 *
 * Any thread may call a function unless its comment says otherwise. "In a body" means: by a unit's
 * leader, in the loop or block of a directive, outside of inner parallel regions. */
#ifndef EVENER_CU_H
#define EVENER_CU_H

#include <evener/cu_prelude.h>
#include <evener/device.h>
#include <evener/loop.h>
#include <evener/place.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- units (table 2) ---- */

/* Numbers of units, of GPU units, of CPU units, and of the devices of all units, in the current or
 * the last directive; 0 before the first. */
unsigned int evn_cu_count(void);
unsigned int evn_cu_gpus(void);
unsigned int evn_cu_cpus(void);
unsigned int evn_cu_devices(void);

/* The calling thread's unit: its number (CPU units first); whether it is a GPU or a CPU unit; the
 * number of the current device among those of all units (UINT_MAX on a CPU unit); the number among
 * the CPU units (UINT_MAX on a GPU unit). Outside of units' work: CPU unit 0, as in a program
 * without units. */
unsigned int evn_cu_number(void);
int evn_cu_is_gpu(void);
int evn_cu_is_cpu(void);
unsigned int evn_cu_gpu(void);
unsigned int evn_cu_cpu(void);

/* Replacements of OpenMP's functions. evn_cu_threads(): the unit's cores on a leader outside of
 * inner regions, else OpenMP's value. The two for teams: number of units and number of this unit
 * within units' work, else OpenMP's values. */
unsigned int evn_cu_threads(void);
unsigned int evn_cu_num_teams(void);
unsigned int evn_cu_team_num(void);

/* Waits for all work of the current device; does nothing on cores. In a body. */
void evn_cu_synchronize(void);

/* ---- a loop of the program's own (figure 13) ---- */

/* Runs `tasks` tasks once each: every leader calls body(arg), in which it takes tasks until there
 * are none, as the paper's compiler makes of a directive. It may call it several times, once for
 * each batch. Units are those at hand, else those of EVENER_UNITS, else auto. By the thread that
 * runs the directives; omp_cu_run() of <omp_cu.h> has the site. */
void evn_cu_run(evn_cu_site *site, evn_cu_int tasks, void (*body)(void *arg), void *arg);

/* In that body, by a leader outside of inner regions, in this order for each task, or the program
 * ends with a message. Take: the next task from 0, -1 after the last; the time of the task before
 * ends. Execute: its work begins. Commit: it is done, or on a device in the queue. */
evn_cu_int evn_cu_get_task(void);
void evn_cu_execute_task(evn_cu_int task);
void evn_cu_commit_task(evn_cu_int task);

/* ---- data ---- */

/* Registers a task's memory, so that it can be moved to devices, by any address in it. Allowed
 * before the first directive. Do not free the memory before it is unregistered; access it on the
 * host only when it is there. Returns 0, or -1 with evn_message(): part of it is registered
 * already, it is empty, or there is not enough memory. */
int evn_cu_register(void *memory, size_t bytes);

/* Copies the data back to the host and unregisters the memory; `memory` is the registered address.
 * Not while a body uses it. */
void evn_cu_unregister(void *memory);

/* In a body: moves the registered memory that contains `memory` to the current unit, where it stays
 * until the batch ends. `access`: an evn_access, EVN_BOTH for data that is read and written. It is
 * an error if another unit has the data for writing, or has it for reading and this one wants to
 * write. On a full device the call waits for the work launched so far and evicts earlier data of
 * the batch. Outside of bodies: moves the data to the host, valid until the next directive. */
void evn_cu_migrate(void *memory, int access);

/* Number of the device that holds the data (or used them last); the number of devices for the host
 * and for memory that is not registered. */
unsigned int evn_cu_where(const void *memory);

/* Copies `bytes` between two registered, disjoint memories wherever they are: on the host, on one
 * device, or from one device to another (the paper's figure 15). The data stay where they are.
 * Outside of bodies, by the thread that runs the directives; returns when the copy is complete. */
void evn_cu_copy(void *to, const void *from, size_t bytes);

/* ---- kernels of the dialect (<evener/kernel.h>), in a body on a GPU unit ---- */

/* The device's arena that holds migrated data, and the byte of `memory` in it in *at. NULL and 0 on
 * cores, where the data are in `memory` itself. */
evn_buffer *evn_cu_address(const void *memory, size_t *at);

/* The current device's queue, which the loop waits for at the end of the batch; NULL on cores. */
evn_queue *evn_cu_queue(void);

/* For kernels compiled by nvcc and for libraries such as cuBLAS: the device address of `memory`,
 * valid until the batch ends, and the stream (a cudaStream_t); evn_cu_stream() also makes the
 * current device current for the calling thread. By the leader of a GPU unit, after
 * evn_cu_migrate(). NULL, with evn_message(), if the devices have no addresses and streams
 * (emulated, OpenCL). On cores and outside of bodies: `memory` unchanged, and NULL for the stream.
 */
void *evn_cu_pointer(const void *memory);
void *evn_cu_stream(void);

/* A kernel's argument: a value, or migrated memory. Memory takes two parameters of the kernel: its
 * arena (EVN_IN, EVN_BUFFER) and the byte of `memory` in it (EVN_VALUE(evn_long, ..)). */
typedef struct evn_cu_argument {
    const void *memory; /* NULL: a value */
    const void *value;
    size_t bytes;
} evn_cu_argument;

/* Enqueues kernel `kernel` of `source` with `groups` groups of the items it was written for. At
 * most 32 parameters. */
void evn_cu_launch(const evn_kernel_source *source, const char *kernel, int groups,
                   const evn_cu_argument *argument, int arguments);

/* ---- beside directives ---- */

/* The unit of the calling thread, a leader or a thread of its team; NULL outside of units' work. */
evn_unit *evn_cu_unit(void);

/* All units (NULL before the first directive), and the place of the registered data (NULL before
 * any was registered). The directives own them, until a directive has another list of units. For
 * exchanges (<evener/exchange.h>) between directives. */
evn_units *evn_cu_units(void);
evn_place *evn_cu_place(void);

/* The loop last run by the directive at `line` of `file` (as the compiler was given it); NULL, with
 * evn_message(), if there is none. It lives until the directive has run eight loops of other kinds,
 * or a directive has another list of units. By the thread that runs the directives. */
evn_loop *evn_cu_loop(const char *file, int line);

#ifdef __cplusplus
}
#endif
#endif
