/* evener bench: the list of studies. */
#include "bench/bench.h"
#include "cli/command.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct study {
    const char *name, *help;
    int (*run)(int, char **);
} studies[] = {
    {"tasks", "cost of the loop itself for empty tasks, beside OpenMP and StarPU", bench_tasks},
    {"npbmz", "NPB-MZ: phase by phase against the machine's peak, and against another program",
     bench_npbmz},
    {"td-bem", "the summation stage of TD-BEM against the machine's peak and a sparse product",
     bench_tdbem},
    {"links", "latency and bandwidth between host and devices, by size", bench_links},
    {"exchange", "the exchange of zones' faces on 1, 2, 4 devices, in virtual time",
     bench_exchange},
    {"schedules", "all schedules beside each other on described machines, in virtual time",
     bench_schedules},
};
enum { STUDIES = sizeof studies / sizeof *studies };

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *sample, int n) {
    qsort(sample, (size_t)n, sizeof *sample, by_value);
    return sample[(n - 1) / 2];
}

int command_bench(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    for (int i = 0; i < STUDIES; i++)
        if (!strcmp(name, studies[i].name)) return studies[i].run(argc - 1, argv + 1);
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        printf("usage: evener bench NAME [options]\n\n");
        for (int i = 0; i < STUDIES; i++) printf("  %-9s %s\n", studies[i].name, studies[i].help);
        return EXIT_DONE;
    }
    if (*name)
        complain("there is no study \"%s\", expected tasks, npbmz, td-bem, links, "
                 "exchange or schedules",
                 name);
    else
        complain("which study? expected tasks, npbmz, td-bem, links, "
                 "exchange or schedules");
    return EXIT_USAGE;
}
