/* bench tasks: what the loop itself costs. Empty tasks, so that nothing but the loop is measured,
 * beside an OpenMP loop and StarPU in the same run, sample by sample in turn. */
#include "bench/bench.h"
#include "common/median.h"
#include "common/message.h"
#include "common/options.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    while (evn_batch_next(batch) >= 0) {
    }
    return EVN_OK;
}

/* One way to run empty tasks, and its samples in s/task. */
struct way {
    const char *name;
    const char *schedule; /* NULL: OpenMP */
    evn_units *units;
    evn_schedule *plan;
    evn_loop *loop;
    double *sample;
};

static double openmp_loop(int tasks, int threads) {
    double begin = evn_now();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int t = 0; t < tasks; t++) {
        __asm__ volatile("" : : "r"(t)); /* or the compiler would drop the loop */
    }
    return (evn_now() - begin) / tasks;
}

/* What the StarPU program beside this one prints: seconds per task. -1 if it is not there. */
static double starpu_tasks(int tasks, int threads) {
    char path[4096], command[4400], line[64];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return -1;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return -1;
    snprintf(slash, sizeof path - (size_t)(slash - path), "/bench-starpu");
    if (access(path, X_OK)) return -1;
    snprintf(command, sizeof command, "'%s' %d %d 2>/dev/null", path, tasks, threads);
    FILE *f = popen(command, "r");
    if (!f) return -1;
    double seconds = fgets(line, sizeof line, f) ? atof(line) : -1;
    return pclose(f) ? -1 : seconds;
}

static void print_row(const char *name, double *sample, int n, double base) {
    double middle = median(sample, n);
    printf("  %-34s %9.1f %9.1f %9.1f   %7.2f\n", name, 1e9 * sample[0], 1e9 * middle,
           1e9 * sample[n - 1], middle / base);
}

static evn_status open_way(struct way *w, int tasks) {
    evn_problem p = {.tasks = tasks, .units = evn_units_count(w->units)};
    evn_status status = evn_schedule_open(&w->plan, w->schedule, &p);
    return status ? status : evn_loop_open(&w->loop, w->units, w->plan);
}

static int study(evn_units *units, int tasks, int repeat) {
    struct way ways[] = {
        {.name = "evener dynamic:chunk=1,memorize=0", .schedule = "dynamic:chunk=1,memorize=0"},
        {.name = "evener dynamic:chunk=16,memorize=0", .schedule = "dynamic:chunk=16,memorize=0"},
        {.name = "evener static", .schedule = "static"},
        {.name = "OpenMP schedule(dynamic,1)"},
        {.name = "StarPU (eager, no data)"},
    };
    enum { WAYS = sizeof ways / sizeof *ways, OPENMP = 3, STARPU = 4 };
    evn_status status = EVN_OK;
    double *samples = malloc(sizeof *samples * (size_t)repeat * WAYS);
    if (!samples) status = evn_fail(EVN_MEMORY, "bench tasks: not enough memory");
    for (int i = 0; !status && i < WAYS; i++) {
        ways[i].units = units;
        ways[i].sample = samples + i * repeat;
        if (ways[i].schedule) status = open_way(&ways[i], tasks);
    }
    int threads = evn_units_count(units);
    int starpu = !status && starpu_tasks(1000, threads) > 0;
    for (int r = -1; !status && r < repeat; r++) /* the first round warms up and is not kept */
        for (int i = 0; !status && i < WAYS; i++) {
            double seconds = 0;
            if (ways[i].loop) {
                double begin = evn_now();
                status = evn_loop_run(ways[i].loop, body, NULL);
                seconds = (evn_now() - begin) / tasks;
            } else if (i == OPENMP) {
                seconds = openmp_loop(tasks, threads);
            } else if (starpu && r >= 0) {
                seconds = starpu_tasks(tasks, threads);
            }
            if (r >= 0) ways[i].sample[r] = seconds;
        }
    if (!status) {
        printf("%d empty tasks on %s, %d samples of each in turn\n\n", tasks, evn_units_text(units),
               repeat);
        printf("  %-34s %9s %9s %9s   %7s\n", "ns per task", "least", "median", "most", "ratio");
        double base = median(ways[OPENMP].sample, repeat);
        for (int i = 0; i < WAYS; i++)
            if (i != STARPU || starpu) print_row(ways[i].name, ways[i].sample, repeat, base);
        if (!starpu) printf("  StarPU is not here: it was not found when this was built\n");
        printf("\nratio: median over that of the OpenMP loop\n");
    }
    for (int i = 0; i < WAYS; i++) {
        evn_loop_close(ways[i].loop);
        evn_schedule_close(ways[i].plan);
    }
    free(samples);
    return status ? give_up(status) : EXIT_DONE;
}

struct request {
    const char *units;
    long tasks, repeat;
};

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"units", "LIST", "compute units (default 2:CPU:1)", OPTION_TEXT, AT(units), 0, 0},
    {"tasks", "N", "tasks of an instance (default 100000)", OPTION_NUMBER, AT(tasks), 1, 100000000},
    {"repeat", "N", "samples (default 11)", OPTION_NUMBER, AT(repeat), 1, 1000},
    {0},
};
#undef AT

int bench_tasks(int argc, char **argv) {
    struct request request = {.units = "2:CPU:1", .tasks = 100000, .repeat = 11};
    int code = options_read_plain("bench tasks",
                                  "usage: evener bench tasks [options]\n\n"
                                  "The cost of the loop itself for empty tasks.",
                                  (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    evn_machine *machine;
    evn_units *units;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    status = evn_units_open(&units, machine, request.units, EVN_STAY_BOUND);
    code = status ? give_up(status) : study(units, (int)request.tasks, (int)request.repeat);
    if (!status) evn_units_close(units);
    evn_machine_close(machine);
    return code;
}
