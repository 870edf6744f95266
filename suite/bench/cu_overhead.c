/* Cost of a directive beside the calls that it stands for: 64 tasks, empty ones and ones of 100
 * us, by evn_loop_run() by hand, by a directive as evener-cc writes it, by OpenMP's `parallel for
 * schedule(dynamic, 1)` and by a serial loop. And what an ordinary region costs whose fork was
 * taken over, beside one that goes to the runtime at once (gcc's entry).
 *
 *     bench-cu [ROUNDS]          units as EVENER_UNITS says, 1:CPU:1 where it does not
 *
 * The kinds take turns in every round, so that what else the machine does meets all; given are the
 * medians, and each one over that by hand. */
#include <evener.h>
#include <evener/cu.h>
#include <evener/number.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 64, KINDS = 4, MOST = 20001 };

static double length; /* seconds of a task */
static int done[TASKS * 16];

static void work(int t) {
    done[t * 16]++;
    if (length <= 0) return;
    for (const double until = evn_now() + length; evn_now() < until;) {
    }
}

static void directive(void) {
    static evn_cu_site site = EVN_CU_SITE(__FILE__, __LINE__, "dynamic");
    const evn_cu_group units[] = {{1, EVN_CU_CPU, 1}};
    const evn_cu_int from = 0, step = 1;
    const evn_cu_int trips = evn_cu_trips(&site, from, TASKS, step, EVN_CU_LESS);
    if (evn_cu_enter(&site, units, 1, 0, trips))
#pragma omp parallel firstprivate(from, step)
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) work((int)(from + t * step));
}

static evn_loop *loop;

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;) work(t);
    return EVN_OK;
}

static void by_hand(void) {
    if (evn_loop_run(loop, body, NULL)) fprintf(stderr, "%s\n", evn_message());
}

static void plain(void) {
    const int threads = (int)evn_cu_count();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int t = 0; t < TASKS; t++) work(t);
}

static void serial(void) {
    for (int t = 0; t < TASKS; t++) work(t);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *a, int n) {
    qsort(a, (size_t)n, sizeof *a, ascending);
    return a[n / 2];
}

static const struct {
    const char *name;
    void (*run)(void);
} kind[KINDS] = {
    {"by hand", by_hand}, {"directive", directive}, {"parallel for", plain}, {"serial", serial}};

static double seconds[KINDS][MOST];

static void compare(const char *what, int rounds) {
    double of[KINDS];
    for (int r = -3; r < rounds; r++)
        for (int i = 0; i < KINDS; i++) {
            const int k = (i + r + 3) % KINDS; /* nobody is always behind the same */
            const double begin = evn_now();
            kind[k].run();
            if (r >= 0) seconds[k][r] = evn_now() - begin;
        }
    for (int k = 0; k < KINDS; k++) of[k] = median(seconds[k], rounds);
    for (int k = 0; k < KINDS; k++)
        printf("%-20s %-14s %12.3f us %10.4f\n", what, kind[k].name, of[k] * 1e6, of[k] / of[0]);
}

#ifdef __clang__
static void compare_regions(int rounds) { (void)rounds; }
#else
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
void __real_GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);

static void in_region(void *sum) { __atomic_fetch_add((int *)sum, 1, __ATOMIC_RELAXED); }

/* Regions of one thread, 100 a time, since these are the shortest. */
static void compare_regions(int rounds) {
    static double taken[MOST], direct[MOST];
    int sum = 0;
    for (int r = -3; r < rounds; r++)
        for (int i = 0; i < 2; i++) {
            void (*fork)(void (*)(void *), void *, unsigned, unsigned) =
                (i + r) % 2 ? GOMP_parallel : __real_GOMP_parallel;
            const double begin = evn_now();
            for (int k = 0; k < 100; k++) fork(in_region, &sum, 1, 0);
            if (r >= 0) ((i + r) % 2 ? taken : direct)[r] = evn_now() - begin;
        }
    const double of = median(direct, rounds), with = median(taken, rounds);
    printf("%-20s %-14s %12.3f us\n", "region", "by the runtime", of * 1e4);
    printf("%-20s %-14s %12.3f us %10.4f\n", "region", "taken over", with * 1e4, with / of);
}
#endif

int main(int argc, char **argv) {
    long rounds = 2001;
    if (argc > 2 || (argc == 2 && evn_read_whole(argv[1], 1, MOST, &rounds))) {
        fprintf(stderr, "usage: bench-cu [ROUNDS, at most %d]\n", MOST);
        return 1;
    }
    directive(); /* which opens the units */
    evn_schedule *schedule = NULL;
    const evn_problem tasks = {.tasks = TASKS, .units = (int)evn_cu_count()};
    evn_status status = evn_schedule_open(&schedule, "dynamic", &tasks);
    if (!status) status = evn_loop_open(&loop, evn_cu_units(), schedule);
    if (status) {
        fprintf(stderr, "bench-cu: %s\n", evn_message());
        return 1;
    }
    printf("%d tasks on %s, median of %ld rounds\n", TASKS, evn_units_text(evn_cu_units()), rounds);
    compare("empty", (int)rounds);
    length = 100e-6;
    compare("100 us", (int)(rounds / 40 + 3));
    compare_regions((int)rounds);
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    return 0;
}
