/* What evener-cc gives every C file before its first line: the calls of the code that it makes from
 * directives of compute units. Programs do not call these; docs/language.md is about directives.
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
 *         for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
 *             int z = (int)(from + t * step);
 *             work(z);
 *         }
 *     }
 *
 * evn_cu_enter() notes that the parallel region that follows is ours. The call with which the
 * compiler forks it (GOMP_parallel, __kmpc_fork_call) is taken over at link time (--wrap), and the
 * region's function is run by the leaders of the units, once for each batch of iterations, instead
 * of by a team.
 *
 * It includes nothing, is C99, and may stand before any line of a program. What goes wrong in these
 * calls ends the program: `FILE:LINE: what, and what would be right` on standard error, status 1.
 */
#ifndef EVENER_CU_PRELUDE_H
#define EVENER_CU_PRELUDE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef long long evn_cu_int;

enum { EVN_CU_CPU, EVN_CU_GPU };
enum { EVN_CU_LESS, EVN_CU_LESS_EQUAL, EVN_CU_MORE, EVN_CU_MORE_EQUAL };

/* COUNT:FAMILY:SIZE of num_teams. */
typedef struct evn_cu_group {
    evn_cu_int count;
    int family;
    evn_cu_int size;
} evn_cu_group;

/* A directive in a program's text: one static variable of this type. `schedule` is the kind of
 * dist_schedule without its options, "dynamic" or "guided:size"; "runtime": EVENER_SCHEDULE. */
typedef struct evn_cu_site {
    const char *file;
    int line;
    const char *schedule;
    void *state; /* the library's; NULL at first */
} evn_cu_site;
#define EVN_CU_SITE(file, line, schedule)                                                          \
    { file, line, schedule, 0 }

/* ---- before a region, by the thread that will open it ---- */

/* Number of iterations of `for (i = from; i RELATION to; i += step)`; 0 where there are none. Ends
 * the program: the step is 0 or leads away from the bound, or there are more than 2^31-1. */
evn_cu_int evn_cu_trips(evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                        int relation);

/* What the next evn_cu_enter() or evn_cu_distribute() of the site takes, in any order: an option of
 * its schedule (dist_schedule(dynamic, 2): "chunk", 2); speed(CPU: 1, GPU: 16), how much a unit of
 * each family counts; batch(g), called once for each batch on a GPU unit, instead of the region's
 * function, with the values of the loop variable (by the site's last evn_cu_trips()). */
void evn_cu_option(evn_cu_site *site, const char *name, evn_cu_int value);
void evn_cu_speed(evn_cu_site *site, int family, double speed);
void evn_cu_batch(evn_cu_site *site, void (*body)(const evn_cu_int *iteration, int count));

/* The same for weight(expr): `trips` numbers to be filled, those of the iterations. */
double *evn_cu_weights(evn_cu_site *site, evn_cu_int trips);

/* Memory for `trips` values of `bytes` of reduction variable number `which`, from 0; all leaders
 * that ask within a teams block get the same. It lives until the site is entered again. */
void *evn_cu_parts(evn_cu_site *site, int which, __SIZE_TYPE__ bytes, evn_cu_int trips);

/* 0: nothing to do, no iterations. 1: the parallel region that follows is taken, its function is
 * called once a batch. `limit`: thread_limit, or 0; below 0: refused; `groups` 0: num_teams(auto).
 */
int evn_cu_enter(evn_cu_site *site, const evn_cu_group *group, int groups, evn_cu_int limit,
                 evn_cu_int trips);

/* A teams block: the parallel region that follows is taken, its function is called once by each
 * leader. Returns the number of units, so that evn_cu_parts() can be asked for a value of each. */
int evn_cu_teams(evn_cu_site *site, const evn_cu_group *group, int groups, evn_cu_int limit);

/* ---- within a teams block, by every leader ---- */

/* A distribute: its iterations are shared out among all units. 1: the parallel region that follows
 * is taken, as after evn_cu_enter(), for this leader's batches, with this leader's variables; 0: no
 * iterations. All leaders leave the region together. Where no teams block of ours is running (the
 * function of an orphaned distribute was called from elsewhere) the region takes the iterations
 * that OpenMP's static distribute gives to the calling team: all, outside of teams. */
int evn_cu_distribute(evn_cu_site *site, evn_cu_int trips);

/* Number of the calling leader's unit, from 0: of the team, as omp_get_team_num() says there. */
evn_cu_int evn_cu_team(void);

/* ---- in the region ---- */

/* The leader's next iteration, -1 after the last of its batch. */
evn_cu_int evn_cu_next(void);

/* Behind the loop around an iteration's body, which only a break leads to: one in a macro of a
 * header, say, that evener-cc has not seen. Compilers that leave out what nothing leads to (gcc 5
 * and clang 14 on, with and without optimisation) refuse a call that they have not left out; of
 * others it ends the program when it is met. */
#if defined(__has_attribute)
#    if __has_attribute(error)
__attribute__((error("break leaves the loop over compute units; its iterations run on several "
                     "units at a time, so none can end the others")))
#    endif
#endif
__attribute__((noreturn, cold)) void
evn_cu_left(void);

/* After the last evn_cu_next(), still in the region: nothing has to be done yet. May be left out.
 */
void evn_cu_distributed(evn_cu_site *site);

/* ---- loops of which evener-cc --kernels has made a kernel ---- */

/* Such a loop: what devices' compilers get is `dialect` and then `text`, whose kernel "evn_loop"
 * evn_cu_kernel_run() launches; `run` is it on the emulated device, `parameter` as in
 * evn_kernel_entry. `buffers` of its parameters are the device's memory, then come the values, and
 * where there are sums, room for `sums` numbers of each group. */
typedef struct evn_cu_kernel {
    const char *file;
    int line;
    const char *dialect, *text;
    void (*run)(const void *const *argument, int groups, int group, int items);
    const int *parameter;
    int buffers, sums;
    int contract; /* a*b+c may be one rounding */
    void *state;  /* the library's; NULL at first */
} evn_cu_kernel;

/* An array that the loop uses. */
typedef struct evn_cu_array {
    const void *memory;
    const char *name;
    int written;
    int bytes;     /* of an element */
    evn_cu_int at; /* on a device: the element of its memory at which it begins */
} evn_cu_array;

/* Brings the arrays to where the caller is, as omp_migrate_for() does: those that are registered,
 * on a device all must be. 1: it leads a GPU unit, and they have their `at`; 0: elsewhere, where
 * the loop runs as it is. */
int evn_cu_kernel_here(evn_cu_kernel *kernel, evn_cu_array *array, int arrays);

/* Iterations from `from` to `to`, or to `to` itself. */
evn_cu_int evn_cu_kernel_span(evn_cu_int from, evn_cu_int to, int inclusive);
/* Of all loops, which are `loops`. */
evn_cu_int evn_cu_kernel_trips(evn_cu_kernel *kernel, int loops, const evn_cu_int *count);

/* Puts it into the queue of the device, 128 iterations a group; with sums it waits for them, which
 * are of groups in their order: the same on all devices. */
void evn_cu_kernel_run(evn_cu_kernel *kernel, evn_cu_int trips, const void *values,
                       __SIZE_TYPE__ bytes, double *sum);

/* Threads for the loop where it runs as it is: of a leader its unit's cores. */
int evn_cu_kernel_threads(void);

#ifdef __cplusplus
}
#endif
#endif
