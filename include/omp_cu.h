/* For programs: compute units in OpenMP, the routines of González-Tallada and Morancho, "Compute
 * units in OpenMP: extensions for heterogeneous parallel programming" (2023), for programs with
 * directives such as
 *
 *     #pragma omp teams distribute num_teams(4:CPU:4, 2:GPU:1) dist_schedule(dynamic)
 *
 * compiled by evener-cc. With any other compiler this file needs nothing of Evener and may be
 * copied into a program: there is then one CPU unit, the host, and data do not move; with OpenMP's
 * own teams a team is a unit. The program gives the same results.
 *
 * To let standard OpenMP compilers accept a directive, put the clauses that they do not know into
 * OMP_CU(..), which is empty for them and its contents for evener-cc:
 *
 *     #pragma omp teams distribute OMP_CU(num_teams(4:CPU:4, 2:GPU:1) dist_schedule(dynamic))
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OMP_CU_H
#define OMP_CU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(_OPENMP)
#    include <omp.h>
#elif defined(__has_include) /* its prototypes come before the macros below */
#    if __has_include(<omp.h>)
#        include <omp.h>
#    endif
#endif

#ifdef __EVENER_CC__ /* ---- with units ---- */

#    include <evener/cu.h>

#    define OMP_CU(...) __VA_ARGS__

/* Numbers of units, GPU units and CPU units. */
static inline unsigned int omp_get_num_cus(void) { return evn_cu_count(); }
static inline unsigned int omp_get_num_gpus(void) { return evn_cu_gpus(); }
static inline unsigned int omp_get_num_cpus(void) { return evn_cu_cpus(); }

/* The calling thread's unit: its kind; its number; its device (UINT_MAX on a CPU unit); its number
 * among the CPU units (UINT_MAX on a GPU unit). */
static inline bool omp_is_gpu(void) { return evn_cu_is_gpu(); }
static inline bool omp_is_cpu(void) { return evn_cu_is_cpu(); }
static inline unsigned int omp_get_cu_num(void) { return evn_cu_number(); }
static inline unsigned int omp_get_gpu(void) { return evn_cu_gpu(); }
static inline unsigned int omp_get_cpu(void) { return evn_cu_cpu(); }

/* Waits for the device of the calling thread's unit. */
static inline void omp_synchronize(void) { evn_cu_synchronize(); }

/* The paper's scheduling object, for loops of the program's own (figure 13): every unit's leader
 * calls body(arg), which takes tasks 0 to tasks - 1 until omp_get_task() returns -1; each is taken
 * once. `schedule`: a constant text, as "dynamic:chunk=2".
 *
 *     static void body(void *mesh) {
 *         for (long long z; (z = omp_get_task()) >= 0;) {
 *             omp_execute_task(z);
 *             .. work ..
 *             if (omp_is_gpu()) omp_synchronize();
 *             omp_commit_task(z);
 *         }
 *     }
 *     omp_cu_run("dynamic", zones, body, mesh); */
static inline long long omp_get_task(void) { return evn_cu_get_task(); }
static inline void omp_execute_task(long long task) { evn_cu_execute_task(task); }
static inline void omp_commit_task(long long task) { evn_cu_commit_task(task); }
#    define omp_cu_run(schedule, tasks, body, arg)                                                 \
        do {                                                                                       \
            static evn_cu_site omp_cu_site_ = EVN_CU_SITE(__FILE__, __LINE__, schedule);           \
            evn_cu_run(&omp_cu_site_, tasks, body, arg);                                           \
        } while (0)

/* A task's data. omp_register() returns 0, or -1. omp_migrate() moves them to the current unit
 * until its batch ends; outside of bodies to the host. omp_get_data_placement(): a device's number,
 * or the number of devices for the host. */
static inline int omp_register(void *memory, size_t bytes) {
    return evn_cu_register(memory, bytes);
}
static inline void omp_unregister(void *memory) { evn_cu_unregister(memory); }
static inline void omp_migrate(void *memory) { evn_cu_migrate(memory, EVN_BOTH); }
static inline void omp_migrate_for(void *memory, int access) { evn_cu_migrate(memory, access); }
static inline unsigned int omp_get_data_placement(const void *memory) {
    return evn_cu_where(memory);
}
static inline bool omp_is_device(unsigned int placement) { return placement < evn_cu_devices(); }
static inline bool omp_is_host(unsigned int placement) { return placement >= evn_cu_devices(); }

/* Copies bytes between two registered memories, wherever they are; between directives. */
static inline void omp_cu_copy(void *to, const void *from, size_t bytes) {
    evn_cu_copy(to, from, bytes);
}

/* For kernels of Evener's dialect: the arena (an evn_buffer) that holds migrated memory, and its
 * byte in it; NULL on cores. A launch: omp_cu_launch(&NAME_kernels, "kernel", groups,
 * OMP_CU_MEMORY(u), OMP_CU_VALUE(n)); memory takes two parameters, arena and byte. */
static inline void *omp_cu_address(const void *memory, size_t *at) {
    return evn_cu_address(memory, at);
}
/* For kernels compiled by nvcc and libraries such as cuBLAS: the device address of migrated memory,
 * and the stream, a cudaStream_t. NULL on devices without addresses (emulated, OpenCL); on cores
 * the memory itself, and no stream. */
static inline void *omp_cu_pointer(const void *memory) { return evn_cu_pointer(memory); }
static inline void *omp_cu_stream(void) { return evn_cu_stream(); }
#    define OMP_CU_MEMORY(pointer)                                                                 \
        { (pointer), 0, 0 }
#    define OMP_CU_VALUE(variable)                                                                 \
        { 0, &(variable), sizeof(variable) }
#    ifdef __cplusplus
template <size_t count>
inline void evn_cxx_launch(const evn_kernel_source *source, const char *kernel, int groups,
                           const evn_cu_argument (&argument)[count]) {
    evn_cu_launch(source, kernel, groups, argument, static_cast<int>(count));
}
#        define omp_cu_launch(source, kernel, groups, ...)                                         \
            evn_cxx_launch(source, kernel, groups, {__VA_ARGS__})
#    else
#        define omp_cu_launch(source, kernel, groups, ...)                                         \
            evn_cu_launch(                                                                         \
                source, kernel, groups, (const evn_cu_argument[]){__VA_ARGS__},                    \
                (int)(sizeof((const evn_cu_argument[]){__VA_ARGS__}) / sizeof(evn_cu_argument)))
#    endif

/* OpenMP's queries, right on a unit's leader, too: the unit's cores, the number of units, its
 * number. */
#    define omp_get_num_threads() ((int)evn_cu_threads())
#    define omp_get_num_teams()   ((int)evn_cu_num_teams())
#    define omp_get_team_num()    ((int)evn_cu_team_num())

#else /* ---- without: the same, on the host ---- */

#    define OMP_CU(...)

#    ifndef _OPENMP /* nor OpenMP: what programs ask of it here */
#        define omp_get_num_threads()          1
#        define omp_get_max_threads()          1
#        define omp_get_thread_num()           0
#        define omp_get_num_teams()            1
#        define omp_get_team_num()             0
#        define omp_set_num_threads(threads)   ((void)(threads))
#        define omp_set_default_device(device) ((void)(device))
#    endif

#    ifndef EVENER_PLACE_H
enum { EVN_READ = 1, EVN_WRITE = 2, EVN_BOTH = 3 };
#    endif

static inline unsigned int omp_get_num_cus(void) { return (unsigned int)omp_get_num_teams(); }
static inline unsigned int omp_get_num_gpus(void) { return 0; }
static inline unsigned int omp_get_num_cpus(void) { return omp_get_num_cus(); }
static inline bool omp_is_gpu(void) { return false; }
static inline bool omp_is_cpu(void) { return true; }
static inline unsigned int omp_get_cu_num(void) { return (unsigned int)omp_get_team_num(); }
static inline unsigned int omp_get_gpu(void) { return UINT_MAX; }
static inline unsigned int omp_get_cpu(void) { return omp_get_cu_num(); }
static inline void omp_synchronize(void) {}
static inline long long *omp_cu_tasks_(void) { /* the next task, and their number */
    static __thread long long at[2];
    return at;
}
static inline long long omp_get_task(void) {
    long long *at = omp_cu_tasks_();
    return at[0] < at[1] ? at[0]++ : -1;
}
static inline void omp_execute_task(long long task) { (void)task; }
static inline void omp_commit_task(long long task) { (void)task; }
static inline void omp_cu_run_(long long tasks, void (*body)(void *arg), void *arg) {
    omp_cu_tasks_()[0] = 0;
    omp_cu_tasks_()[1] = tasks;
    body(arg);
}
#    define omp_cu_run(schedule, tasks, body, arg) omp_cu_run_(tasks, body, arg)
static inline int omp_register(void *memory, size_t bytes) { return memory && bytes ? 0 : -1; }
static inline void omp_unregister(void *memory) { (void)memory; }
static inline void omp_migrate(void *memory) { (void)memory; }
static inline void omp_migrate_for(void *memory, int access) { (void)memory, (void)access; }
static inline unsigned int omp_get_data_placement(const void *memory) {
    (void)memory;
    return 0;
}
static inline bool omp_is_device(unsigned int placement) {
    (void)placement;
    return false;
}
static inline bool omp_is_host(unsigned int placement) {
    (void)placement;
    return true;
}
static inline void omp_cu_copy(void *to, const void *from, size_t bytes) {
    memmove(to, from, bytes);
}
static inline void *omp_cu_address(const void *memory, size_t *at) {
    (void)memory;
    *at = 0;
    return NULL;
}
static inline void *omp_cu_pointer(const void *memory) { return (void *)(size_t)memory; }
static inline void *omp_cu_stream(void) { return NULL; }
typedef struct evn_kernel_source evn_kernel_source;
/* no effect, but the arguments count as used: there is no GPU unit */
#    define OMP_CU_MEMORY(pointer)                 (pointer)
#    define OMP_CU_VALUE(variable)                 &(variable)
#    define omp_cu_launch(source, kernel, groups, ...)                                             \
        ((void)sizeof(source), (void)(kernel), (void)(groups),                                     \
         (void)sizeof((const void *[]){__VA_ARGS__}))

#endif

#endif
