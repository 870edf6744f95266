/* For tools: the run-time calls in code that evener-cc makes from directives of compute units; it
 * puts this header before the first line of every C file. Programs do not call these functions;
 * docs/language.md is the manual of the directives.
 *
 *     #pragma omp teams distribute num_teams(2:CPU:4) dist_schedule(dynamic, 2)
 *     for (int z = 0; z < n; z++) work(z);
 *
 * becomes
 *
 *     {
 *         static evn_cu_site here = EVN_CU_SITE("zones.c", 48, "dynamic");
 *         const evn_cu_group units[] = {{(2), EVN_CU_CPU, (4)}};
 *         const evn_cu_int from = (0), to = (n), step = (1);
 *         const evn_cu_int trips = evn_cu_trips(&here, from, to, step, EVN_CU_LESS);
 *         evn_cu_option(&here, "chunk", (2));
 *         if (evn_cu_enter(&here, units, 1, 0, trips))
 *     #pragma omp parallel firstprivate(from, step)
 *         for (evn_cu_int t, end; (t = evn_cu_range(&end)) >= 0;)
 *             for (; t < end; t++) {
 *                 int z = (int)(from + t * step);
 *                 work(z);
 *             }
 *     }
 *
 * evn_cu_enter() announces that the next parallel region is the directive's. The compiler's fork
 * call (GOMP_parallel, __kmpc_fork_call) is intercepted at link time (--wrap); the leaders of the
 * units then run the region's function, once for each batch of iterations, instead of a team.
 *
 * The header is C99, declares nothing but its own names, whatever macros there are
 * (evener/cu_words.h), and may stand before any line of a program. An error in
 * these calls ends the program with `FILE:LINE: message` on standard error and status 1. */
#ifndef EVENER_CU_PRELUDE_H
#define EVENER_CU_PRELUDE_H

#include <evener/cu_words.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef long long evn_cu_int;
typedef double evn_cu_real;

enum { EVN_CU_AUTO_CORES = -1 };

enum { EVN_CU_CPU, EVN_CU_GPU, EVN_CU_FPGA };
enum { EVN_CU_LESS, EVN_CU_LESS_EQUAL, EVN_CU_MORE, EVN_CU_MORE_EQUAL };
/* Flags added to a relation: EVN_CU_UNSIGNED: the comparison is unsigned, by C's conversions;
 * EVN_CU_NATURAL: the loop variable is unsigned; EVN_CU_BYTE times the loop variable's size in
 * bytes. */
enum { EVN_CU_UNSIGNED = 4, EVN_CU_NATURAL = 8, EVN_CU_BYTE = 16 };

/* COUNT:FAMILY:SIZE of num_teams. */
typedef struct evn_cu_group {
    evn_cu_int count;
    int family;
    evn_cu_int size;
} evn_cu_group;

/* A directive in the program's text, one static variable each. `schedule`: the kind of
 * dist_schedule without its options, "dynamic" or "guided:size"; "runtime": EVENER_SCHEDULE, or
 * auto. */
typedef struct evn_cu_site {
    const char *file;
    int line;
    const char *schedule;
    void *state; /* the library's; NULL at first */
} evn_cu_site;
#define EVN_CU_SITE(file, line, schedule)                                                          \
    { file, line, schedule, 0 }

/* ---- before a region, by the thread that will open it ---- */

/* Number of iterations of `for (i = from; i RELATION to; i += step)`. Ends the program if the step
 * is 0 or leads away from the bound, if there are more than 2^31-1 iterations, or if the variable
 * cannot hold its last value. The first call of a directive. */
evn_cu_int evn_cu_trips(evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                        int relation);

/* Settings for the site's next evn_cu_enter() or evn_cu_distribute(), in any order. Option: of the
 * schedule; dist_schedule(dynamic, 2) is "chunk", 2. Speed: the relative speed of a unit of a
 * family; speed(CPU: 1, GPU: 16). Batch: batch(g), a function called once for each batch on a GPU
 * unit, instead of the region's function, with the values of the loop variable (by the site's last
 * evn_cu_trips()). */
void evn_cu_option(evn_cu_site *site, const char *name, evn_cu_int value);
void evn_cu_speed(evn_cu_site *site, int family, double speed);
void evn_cu_batch(evn_cu_site *site, void (*body)(const evn_cu_int *iteration, int count));

/* Room for weight(expr): `trips` numbers to be filled, one for each iteration. */
double *evn_cu_weights(evn_cu_site *site, evn_cu_int trips);

/* Room for key(expr): `trips` names of the iterations, by which they are known in the next
 * instance. */
evn_cu_int *evn_cu_keys(evn_cu_site *site, evn_cu_int trips);

/* Room for affinity(a, i): numbers of the iterations, of `trips`, whose element is on this rank;
 * these alone are entered; given back behind the region. And whether one is, by
 * evn_shared_is_here(); ends the program where there is no such element. */
evn_cu_int *evn_cu_here(evn_cu_site *site, evn_cu_int trips);
void evn_cu_here_end(evn_cu_int *iteration);
int evn_cu_is_here(evn_cu_site *site, int what);

/* Memory for `trips` values of `bytes` of reduction variable number `which`, from 0. All leaders in
 * a teams block get the same memory. It lives until the site is entered again. */
void *evn_cu_parts(evn_cu_site *site, int which, __SIZE_TYPE__ bytes, evn_cu_int trips);

/* Variable number `which` of lastprivate within a teams block: the leader of the last iteration
 * puts its own; behind the loop each leader whose own is another variable gets the value. `copies`
 * 0: the type is no bytes, and the program ends where one would get it. */
void evn_cu_last_put(evn_cu_site *site, int which, void *own, __SIZE_TYPE__ bytes);
void evn_cu_last_get(evn_cu_site *site, int which, void *own, __SIZE_TYPE__ bytes, int copies);

/* Ends the program where a reduction's section has no such count, or where the array that it is of
 * has more than 1 MiB: each leader has one on its stack. */
void evn_cu_section(evn_cu_site *site, evn_cu_int count, __SIZE_TYPE__ bytes);

/* Begins a teams distribute. Returns 1: the next parallel region is intercepted and its function is
 * called once a batch; 0: there are no iterations. `limit`: thread_limit, 0 for none, below 0
 * refused. `groups` 0: num_teams(auto); EVN_CU_AUTO_CORES: the same with CPU units of one core
 * each, since no inner region is visible to the compiler. */
int evn_cu_enter(evn_cu_site *site, const evn_cu_group *group, int groups, evn_cu_int limit,
                 evn_cu_int trips);

/* Begins a teams block: the next parallel region is intercepted and each leader calls its function
 * once. Returns the number of units, for evn_cu_parts() with one value a unit. */
int evn_cu_teams(evn_cu_site *site, const evn_cu_group *group, int groups, evn_cu_int limit);

/* ---- within a teams block, by every leader ---- */

/* Begins a distribute, whose iterations are shared out among all units. Returns 1: the next
 * parallel region is intercepted, as after evn_cu_enter(), for this leader's batches with this
 * leader's variables; 0: there are no iterations. All leaders leave the region together. Outside of
 * our teams blocks (an orphaned distribute called from elsewhere) the region gets the iterations
 * that OpenMP's static distribute gives to the calling team: all of them outside of teams. */
int evn_cu_distribute(evn_cu_site *site, evn_cu_int trips);

/* Number of the calling leader's unit, from 0; the directive's omp_get_team_num(). */
evn_cu_int evn_cu_team(void);

/* ---- in the region ---- */

/* The leader's next iteration, -1 after the last of its batch; and several that are short and timed
 * together, up to the one before *end. */
evn_cu_int evn_cu_next(void);
evn_cu_int evn_cu_range(evn_cu_int *end);

/* Stands behind the loop around an iteration's body, where only a break leads, such as one in a
 * header's macro that evener-cc has not seen. Compilers that remove unreachable calls (gcc 5 and
 * clang 14 on, at every level) refuse a program in which the call is left; with others the call
 * ends the program at run time. */
#if defined(__has_attribute)
#    if __has_attribute(__error__)
__attribute__((__error__("break leaves the loop over compute units; its iterations run on several "
                         "units at a time, so none can end the others")))
#    endif
#endif
__attribute__((__noreturn__, __cold__)) void
evn_cu_left(void);

/* ---- exceptions of C++ that leave a body (evener/cu_exceptions.h) ---- */

/* In the handler of an exception that leaves a body: the batch ends with this iteration. 1: it is
 * the instance's first, to be kept for all threads; 2: to be kept for this thread; 0: not to be
 * kept. */
int evn_cu_caught(void);
/* In the handler of one that leaves a teams block; `same`: it is the one of the block's last loop,
 * which all leaders have. Ends the program where other leaders would wait for this one; else 1: to
 * be kept. */
int evn_cu_left_teams(int same, const char *text);
/* Behind a region: an exception has ended it, which is kept for all threads (1: for the last time,
 * 3: other leaders take it, too) or for this one (2). 0: none has. */
int evn_cu_thrown(void);

/* ---- loops of which evener-cc --kernels has made a kernel ---- */

/* A loop as a kernel. Device compilers get `dialect` followed by `text`, whose kernel "evn_loop"
 * evn_cu_kernel_run() launches. `run` is that kernel on the emulated device, `parameter` as in
 * evn_kernel_entry. Parameters: `buffers` device buffers, then the values, and with reductions room
 * for `sums` real numbers and `counts` integers a group. `combine`: one letter for each reduction,
 * real numbers first: + * & | ^, < and > for min and max, l and g for unsigned min and max. */
typedef struct evn_cu_kernel {
    const char *file;
    int line;
    const char *dialect, *text;
    void (*run)(const void *const *argument, int groups, int group, int items);
    const int *parameter;
    int buffers, sums, counts;
    const char *combine;
    int contract; /* a*b+c may be one rounding */
    void *state;  /* the library's; NULL at first */
} evn_cu_kernel;

/* Says that the program has this kernel, once, before main() begins: so kernels can be compiled
 * side by side when the first of them is wanted. */
void evn_cu_kernel_announce(evn_cu_kernel *kernel);

/* An array that the loop uses. */
typedef struct evn_cu_array {
    const void *memory;
    const char *name;
    int written;
    int bytes;     /* bytes of an element */
    evn_cu_int at; /* on a device: its element 0, counted in elements of the memory it is in; below
                      0 where only a section is there */
} evn_cu_array;

/* Migrates the loop's arrays to the caller's unit, as omp_migrate_for() does: the registered ones
 * on cores; on a device all must be registered. Returns 1 on a GPU unit, where each array's `at` is
 * then set; 0 elsewhere, where the loop runs as plain C. */
int evn_cu_kernel_here(evn_cu_kernel *kernel, evn_cu_array *array, int arrays);

/* Number of iterations of a loop, as evn_cu_trips() counts them. */
evn_cu_int evn_cu_kernel_count(evn_cu_kernel *kernel, evn_cu_int from, evn_cu_int to,
                               evn_cu_int step, int relation);
/* Product of the iterations of `loops` collapsed loops. */
evn_cu_int evn_cu_kernel_trips(evn_cu_kernel *kernel, int loops, const evn_cu_int *count);

/* Checks a member that is read through a pointer before the loop: an error if its memory is
 * registered and on a device. */
void evn_cu_kernel_member(evn_cu_kernel *kernel, const void *memory, const char *name);

/* Enqueues the loop on the current device, 128 iterations a group. With reductions it waits, and
 * adds each group's results to sum[] and count[] in the order of groups, so that all devices give
 * the same bits. */
void evn_cu_kernel_run(evn_cu_kernel *kernel, evn_cu_int trips, const void *values,
                       __SIZE_TYPE__ bytes, double *sum, evn_cu_int *count);

/* Memory that a clause map(..), to(..) or from(..) names. */
enum { EVN_CU_MAP_TO, EVN_CU_MAP_FROM, EVN_CU_MAP_ALLOC, EVN_CU_MAP_DELETE };
typedef struct evn_cu_map {
    const void *base; /* the array's element 0, which need not be in the memory */
    void *memory;
    __SIZE_TYPE__ bytes; /* 0: nothing */
    const char *name;
    int how;
    int ours; /* the library's; 0 at first */
} evn_cu_map;

/* Registers memory of a loop that the program has not registered, on a GPU unit and until
 * evn_cu_map_end(), which takes it home. */
void evn_cu_map_loop(evn_cu_kernel *kernel, evn_cu_map *map, int count);
/* The same on every unit and outside of them: target data, until evn_cu_map_end(), and target enter
 * data, until target exit data. On a GPU unit what is mapped `to` is taken there. */
void evn_cu_map_begin(const evn_cu_site *site, evn_cu_map *map, int count);
void evn_cu_map_enter(const evn_cu_site *site, evn_cu_map *map, int count);
void evn_cu_map_end(evn_cu_map *map, int count);
void evn_cu_map_exit(const evn_cu_site *site, evn_cu_map *map, int count);
/* target update to(..) and from(..). */
void evn_cu_map_update(const evn_cu_site *site, evn_cu_map *map, int count);

/* Takes mapped or registered memory to the host, for statements between a region's loops. */
void evn_cu_map_home(const void *memory);

/* Ends the program as assert() does, with the text of assertion `failed`, counted from 1; 0: none
 * failed. */
void evn_cu_kernel_asserted(evn_cu_int failed, const char *const *text);

/* Number of threads for the loop as plain C: on a leader its unit's cores. */
int evn_cu_kernel_threads(void);

/* Functions of evener/kernel_math.h on cores, for --kernels-math=same; of float by those of double.
 */
#define EVN_CU_MATH(x)                                                                             \
    x(exp) x(exp2) x(expm1) x(log) x(log2) x(log10) x(log1p) x(cbrt) x(sin) x(cos) x(tan) x(asin)  \
        x(acos) x(atan) x(sinh) x(cosh) x(tanh) x(asinh) x(acosh) x(atanh) x(erf) x(erfc)
#define EVN_CU_MATH_2(x) x(pow) x(hypot) x(atan2)
#define EVN_CU_MATH_OF(name)                                                                       \
    double evn_cu_##name(double);                                                                  \
    float evn_cu_##name##f(float);
#define EVN_CU_MATH_OF_2(name)                                                                     \
    double evn_cu_##name(double, double);                                                          \
    float evn_cu_##name##f(float, float);
EVN_CU_MATH(EVN_CU_MATH_OF)
EVN_CU_MATH_2(EVN_CU_MATH_OF_2)

#ifdef __cplusplus
}
#endif

#include <evener/cu_words.h>
#endif
