/* Interception of the fork call of parallel regions at link time
 * (--wrap=GOMP_parallel,--wrap=__kmpc_fork_call): a region announced by a directive is run by the
 * leaders of the units, any other by the OpenMP runtime. */
#include "cu/internal.h"
#include <omp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void (*microtask)(int *, int *, ...);

/* The runtime's own; NULL where the program was linked without --wrap, or the other runtime is used
 * and does not have it. */
void __real_GOMP_parallel(void (*)(void *), void *, unsigned, unsigned) __attribute__((weak));
void __real___kmpc_fork_call(void *, int, microtask, ...) __attribute__((weak));
/* libomp's, with which it calls a region's function; it wants one word for the tool interface. */
int __kmp_invoke_microtask(microtask, int, int, int, void **, void **) __attribute__((weak));
int __kmpc_global_thread_num(void *) __attribute__((weak));

void __wrap_GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
void __wrap___kmpc_fork_call(void *where, int count, microtask function, ...);

int cu_fork_is_taken(void) { return __real_GOMP_parallel || __real___kmpc_fork_call; }

/* ---- on a leader --------------------------------------------------------------------------- */

static void call(const struct closure *c) {
    if (c->gomp) {
        c->gomp(c->data);
        return;
    }
    void *frame = NULL;
    __kmp_invoke_microtask(c->kmpc, __kmpc_global_thread_num(NULL), 0, c->argc, c->argv, &frame);
}

/* An instance: the region, or what batch() names, and the loop variable's values. */
struct work {
    const struct closure *closure;
    void (*batch)(const evn_cu_int *, int);
    evn_cu_int from, step;
    struct site *site;
    int instance;
    void (*own)(void *); /* a program's own body, or NULL */
    void *own_arg;
};

/* A batch by a program's own body, which takes all of its tasks. */
static void call_own(const struct work *w, evn_batch *batch) {
    struct cu_thread *me = &cu_here;
    me->own = 1;
    me->stage = TASK_NONE;
    w->own(w->own_arg);
    me->own = 0;
    if (me->stage != TASK_NONE)
        cu_die(w->site->where, "omp_cu_run: the body returned before omp_commit_task(%lld)",
               me->task);
    if (evn_batch_next(batch) >= 0)
        cu_die(w->site->where, "omp_cu_run: the body returned before omp_get_task() gave -1; it is "
                               "to take tasks until there are none");
}

static void must_own(const char *call) {
    if (!cu_here.own)
        cu_die(NULL, "%s: outside of a body of omp_cu_run(), or within an inner region of it",
               call);
}

evn_cu_int evn_cu_get_task(void) {
    struct cu_thread *me = &cu_here;
    must_own("omp_get_task");
    if (me->stage != TASK_NONE)
        cu_die(NULL, "omp_get_task: before omp_commit_task(%lld)", me->task);
    me->iteration++;
    me->task = evn_batch_next(me->batch);
    if (me->task >= 0) me->stage = TASK_TAKEN;
    return me->task;
}

void evn_cu_execute_task(evn_cu_int task) {
    struct cu_thread *me = &cu_here;
    must_own("omp_execute_task");
    if (me->stage != TASK_TAKEN || task != me->task)
        cu_die(NULL, "omp_execute_task(%lld): it is not the task that omp_get_task() gave last",
               task);
    me->stage = TASK_EXECUTES;
}

void evn_cu_commit_task(evn_cu_int task) {
    struct cu_thread *me = &cu_here;
    must_own("omp_commit_task");
    if (me->stage != TASK_EXECUTES || task != me->task)
        cu_die(NULL, "omp_commit_task(%lld): it is not the task of the last omp_execute_task()",
               task);
    me->stage = TASK_NONE;
}

/* A batch on a device by what batch() names. */
static evn_status call_batch(const struct work *w, const evn_batch *batch) {
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    evn_cu_int *value = malloc((size_t)count * sizeof *value);
    if (!value) return evn_fail(EVN_MEMORY, "batch: not enough memory for %d iterations", count);
    for (int i = 0; i < count; i++)
        value[i] = (evn_cu_int)((unsigned long long)w->from +
                                (unsigned long long)task[i] * (unsigned long long)w->step);
    w->batch(value, count);
    free(value);
    return EVN_OK;
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct work *w = arg;
    struct cu_thread *me = &cu_here;
    evn_unit *before = me->unit;
    evn_status status = EVN_OK;
    omp_set_num_threads(evn_unit_cores(unit)); /* for inner regions */
    me->unit = unit;
    me->batch = batch;
    me->instance = w->instance;
    me->iteration++;
    me->threw = 0;
    if (w->own)
        call_own(w, batch);
    else if (w->batch && evn_batch_device(batch) >= 0)
        status = call_batch(w, batch);
    else
        call(w->closure);
    evn_status released = me->count ? cu_place_release() : EVN_OK;
    me->batch = NULL;
    me->unit = before;
    if (me->threw) status = evn_fail(EVN_BODY, "an exception has left the body");
    me->threw = 0;
    return status ? status : released;
}

static void job(evn_unit *unit, void *arg) {
    const struct work *w = arg;
    struct cu_thread *me = &cu_here;
    omp_set_num_threads(evn_unit_cores(unit));
    me->unit = unit;
    me->iteration++;
    me->instances = 0;
    call(w->closure);
    if (me->count && cu_place_release()) cu_die_of_message(NULL);
    me->unit = NULL;
}

/* ---- the region that was announced --------------------------------------------------------- */

static void run_loop(struct work *w, struct kept *kept) {
    const int threads = omp_get_max_threads();
    w->instance = 1;
    atomic_store(&cu.thrown, 0);
    evn_status status = evn_loop_run(kept->loop, body, (void *)w);
    omp_set_num_threads(threads);
    if (status && atomic_load(&cu.thrown))
        cu_here.thrown = 1;
    else if (status)
        cu_die_of_message(w->site->where);
}

void cu_fork_run(struct site *site, struct kept *kept, void (*own)(void *), void *arg) {
    struct work w = {.site = site, .own = own, .own_arg = arg};
    run_loop(&w, kept);
}

static void run_teams(const struct work *w) {
    const int threads = omp_get_max_threads();
    atomic_store(&cu.thrown, 0);
    atomic_store(&cu.left, 0);
    evn_status status = evn_units_run(cu.units, job, (void *)w);
    omp_set_num_threads(threads);
    if (status) cu_die_of_message(w->site->where);
    cu_here.thrown = atomic_load(&cu.left);
}

/* All leaders count their instances alike. */
static void run_join(struct work *w, struct kept *kept) {
    const int instance = w->instance = ++cu_here.instances;
    evn_status status = cu_here.count ? cu_place_release() : EVN_OK;
    if (!status) status = evn_loop_join(kept->loop, cu_here.unit, body, (void *)w);
    if (status && atomic_load(&cu.thrown) >= instance)
        cu_here.thrown = 3;
    else if (status)
        cu_die_of_message(w->site->where);
}

static void run_standard(const struct work *w) {
    cu_here.takes = 1;
    cu_here.threw = 0;
    call(w->closure);
    cu_here.takes = 0;
    if (cu_here.threw) cu_here.thrown = 2;
    cu_here.threw = 0;
}

static void take(const struct closure *closure) {
    struct cu_thread *me = &cu_here;
    struct work w = {.closure = closure,
                     .batch = me->batch_body,
                     .from = me->from,
                     .step = me->step,
                     .site = me->site};
    const enum armed armed = me->armed;
    me->armed = ARMED_NOT;
    if (armed == ARMED_LOOP)
        run_loop(&w, me->kept);
    else if (armed == ARMED_TEAMS)
        run_teams(&w);
    else if (armed == ARMED_JOIN)
        run_join(&w, me->kept);
    else
        run_standard(&w);
}

/* The leader's next iteration. As the first call in a region, it also detects a region that was not
 * intercepted. */
evn_cu_int evn_cu_next(void) {
    struct cu_thread *me = &cu_here;
    if (me->threw) return -1;
    me->iteration++;
    if (me->batch) return evn_batch_next(me->batch);
    if (me->takes) return me->next < me->end ? me->next++ : -1;
    cu_die(NULL, "the parallel region of this directive was not taken over: it is in a part of the "
                 "program that was linked without evener-cc, or compiled for an OpenMP runtime "
                 "that is neither GNU's nor LLVM's");
}

evn_cu_int evn_cu_range(evn_cu_int *end) {
    struct cu_thread *me = &cu_here;
    if (me->threw || !me->batch) {
        const evn_cu_int t = evn_cu_next();
        *end = t + 1;
        return t;
    }
    int behind;
    me->iteration++;
    const int first = evn_batch_range(me->batch, &behind);
    *end = behind;
    return first;
}

/* ---- exceptions of C++ (evener/cu_prelude.h) ----------------------------------------------------
 */

int evn_cu_caught(void) {
    struct cu_thread *me = &cu_here;
    me->threw = 1;
    if (!me->batch) return 2;
    for (int before = atomic_load(&cu.thrown); before < me->instance;)
        if (atomic_compare_exchange_weak(&cu.thrown, &before, me->instance)) return 1;
    return 0;
}

int evn_cu_left_teams(int same, const char *text) {
    if (!same && evn_units_count(cu.units) > 1)
        cu_die(NULL,
               "an exception (%s) has left a teams block on unit %d, between its loops, where the "
               "other units would wait for this one; catch it in the block, or throw it in a loop",
               text, evn_unit_number(cu_here.unit));
    atomic_store(&cu.left, 1);
    return !same;
}

int evn_cu_thrown(void) {
    const int thrown = cu_here.thrown;
    cu_here.thrown = 0;
    return thrown;
}

void evn_cu_left(void) { cu_die(NULL, "break leaves the loop over compute units"); }

/* ---- the two entries ----------------------------------------------------------------------- */

void __wrap_GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags) {
    if (cu_here.armed == ARMED_NOT) {
        __real_GOMP_parallel(function, data, threads, flags);
        return;
    }
    const struct closure c = {.gomp = function, .data = data};
    take(&c);
}

/* 16 of them, from the i-th. */
#define SIXTEEN(a, i)                                                                              \
    a[i], a[(i) + 1], a[(i) + 2], a[(i) + 3], a[(i) + 4], a[(i) + 5], a[(i) + 6], a[(i) + 7],      \
        a[(i) + 8], a[(i) + 9], a[(i) + 10], a[(i) + 11], a[(i) + 12], a[(i) + 13], a[(i) + 14],   \
        a[(i) + 15]
#define SIXTY_FOUR(a, i)                                                                           \
    SIXTEEN(a, i), SIXTEEN(a, (i) + 16), SIXTEEN(a, (i) + 32), SIXTEEN(a, (i) + 48)

/* An ordinary region: C cannot hand on a list of unknown length, but a longer one does no harm. */
static void fork_on(void *where, int count, microtask function, void **a) {
    if (count <= 16)
        __real___kmpc_fork_call(where, count, function, SIXTEEN(a, 0));
    else
        __real___kmpc_fork_call(where, count, function, SIXTY_FOUR(a, 0), SIXTY_FOUR(a, 64),
                                SIXTY_FOUR(a, 128), SIXTY_FOUR(a, 192));
}

void __wrap___kmpc_fork_call(void *where, int count, microtask function, ...) {
    enum { MOST = 256 };
    void *argument[MOST];
    if (count > MOST)
        cu_die(NULL, "a parallel region with %d variables; at most %d can be handed on", count,
               (int)MOST);
    for (int i = count; i < 16; i++) argument[i] = NULL;
    va_list list;
    va_start(list, function);
    for (int i = 0; i < count; i++) argument[i] = va_arg(list, void *);
    va_end(list);
    if (cu_here.armed == ARMED_NOT) {
        if (count > 16)
            for (int i = count; i < MOST; i++) argument[i] = NULL;
        fork_on(where, count, function, argument);
        return;
    }
    if (!__kmp_invoke_microtask || !__kmpc_global_thread_num)
        cu_die(NULL,
               "this OpenMP runtime has no __kmp_invoke_microtask(), which LLVM's libomp has");
    const struct closure c = {.kmpc = function, .argc = count, .argv = argument};
    take(&c);
}
