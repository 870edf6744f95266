/* Directives of compute units at run time: what <omp_cu.h> is made of, and what a program needs
 * that uses Evener's other functions beside directives.
 *
 * They are the routines of González-Tallada and Morancho, "Compute units in OpenMP: extensions for
 * heterogeneous parallel programming" (2023), table 2 and the listings; docs/language.md is the
 * manual. The library is evener-cu (`pkg-config evener-cu`, evener::cu), of which the program is
 * linked with --wrap=GOMP_parallel,--wrap=__kmpc_fork_call; evener-cc does that.
 *
 * A mistake in a call ends the program: `FILE:LINE: what` on standard error, status 1, where FILE
 * and LINE are those of the directive that runs or ran last; functions that do otherwise say so.
 *
 * Who may call: any thread, unless a function says otherwise. "In a body" is: by a unit's leader,
 * in the loop or block of a directive, outside of inner parallel regions.
 */
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

/* ---- which unit (table 2) ---- */

/* Units; GPU units; CPU units; devices of all units. Those of the directive that runs or ran last,
 * 0 before the first. */
unsigned int evn_cu_count(void);
unsigned int evn_cu_gpus(void);
unsigned int evn_cu_cpus(void);
unsigned int evn_cu_devices(void);

/* The calling thread's unit: its number, CPU units first; whether it is a GPU or a CPU unit; the
 * number of the device at hand among those of all units, UINT_MAX on a CPU unit; the number of a
 * CPU unit, UINT_MAX on a GPU unit. Outside of units' work: CPU unit 0, as in a program without
 * units. */
unsigned int evn_cu_number(void);
int evn_cu_is_gpu(void);
int evn_cu_is_cpu(void);
unsigned int evn_cu_gpu(void);
unsigned int evn_cu_cpu(void);

/* On a leader outside of inner regions the cores of its unit; elsewhere OpenMP's own value. The
 * same for teams: units within units' work, else OpenMP's. */
unsigned int evn_cu_threads(void);
unsigned int evn_cu_num_teams(void);
unsigned int evn_cu_team_num(void);

/* Waits for all work of the device at hand; nothing on cores. In a body. */
void evn_cu_synchronize(void);

/* ---- data ---- */

/* Registers a task's data: they may be brought to devices from then on, by any address in them.
 * Before the first directive, too. The memory is not to be freed, nor touched where it is not,
 * before it is unregistered. 0; -1 with evn_message(): it is (partly) registered already, there is
 * none, or not enough memory. */
int evn_cu_register(void *memory, size_t bytes);

/* Brings them home and forgets them; `memory` is what was registered. Not while a body has them. */
void evn_cu_unregister(void *memory);

/* In a body: brings the data that `memory` is in to the unit at hand, where they stay until the
 * batch ends; `access` is an evn_access, EVN_BOTH where all of it is read and written. What another
 * unit has for writing, or has and is wanted for writing here, is a mistake. Where the device is
 * full, waits for what was launched, and lets go what the batch has brought before. Outside of
 * bodies: brings them home, to be used as ever until the next directive. */
void evn_cu_migrate(void *memory, int access);

/* Number of the device where the data are (were used last); the number of devices for the host,
 * also for memory that is not registered. */
unsigned int evn_cu_where(const void *memory);

/* Copies `bytes` from registered memory to registered memory, wherever the two are: on the host, on
 * one device or from one to another (the paper's figure 15). Data stay where they are. The two do
 * not overlap. Outside of bodies, by the thread that runs the directives; returns when the bytes
 * are there. */
void evn_cu_copy(void *to, const void *from, size_t bytes);

/* ---- kernels of the dialect (<evener/kernel.h>), in a body on a GPU unit ---- */

/* Where data are that were brought: the device's arena, and the byte of it in *at. NULL and 0 on
 * cores, where memory is where it always was. */
evn_buffer *evn_cu_address(const void *memory, size_t *at);

/* The queue of the device at hand, which the loop waits for at the batch's end; NULL on cores. */
evn_queue *evn_cu_queue(void);

/* For kernels that nvcc has compiled, and libraries such as cuBLAS: where `memory` is for the unit
 * at hand, and the stream to put the work into, a cudaStream_t, which makes the device at hand the
 * calling thread's current one. On a GPU unit, by its leader, after evn_cu_migrate() has brought
 * the data: the address on the device at hand, until the batch ends. NULL, with evn_message(): the
 * devices have no addresses and no streams (emulated, OpenCL). On cores and outside of bodies:
 * `memory` itself, which is not looked at, and NULL. */
void *evn_cu_pointer(const void *memory);
void *evn_cu_stream(void);

/* An argument: a value, or memory that was brought, which is two parameters of the kernel, its
 * arena (EVN_IN, EVN_BUFFER) and the byte in it where `memory` is (EVN_VALUE(evn_long, ..)). */
typedef struct evn_cu_argument {
    const void *memory; /* NULL: a value */
    const void *value;
    size_t bytes;
} evn_cu_argument;

/* Puts a kernel of `source` into the queue, `groups` groups of the items it was written for. At
 * most 32 parameters. */
void evn_cu_launch(const evn_kernel_source *source, const char *kernel, int groups,
                   const evn_cu_argument *argument, int arguments);

/* ---- beside directives ---- */

/* The calling thread's unit, leader's or team's; NULL outside of units' work. */
evn_unit *evn_cu_unit(void);

/* All units, and the place of the data; NULL before the first directive (before anything was
 * registered). They belong to the directives and live until one has another list. For exchanges
 * (<evener/exchange.h>) between directives. */
evn_units *evn_cu_units(void);
evn_place *evn_cu_place(void);

/* The loop that the directive in that line of the file has run last (`file` as the compiler was
 * given it); NULL, with evn_message(): there is none. It lives until the directive has run eight
 * loops of other kinds, or one has another list. By the thread that runs the directives. */
evn_loop *evn_cu_loop(const char *file, int line);

#ifdef __cplusplus
}
#endif
#endif
