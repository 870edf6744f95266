/* evener bench: the list of studies, general ones and those of workloads. */
#include "bench/bench.h"
#include "cli/command.h"
#include "run/table.h"
#include <string.h>

static const struct study general[] = {
    {"tasks", "time of a loop over tasks of given lengths, beside OpenMP, TBB and StarPU",
     bench_tasks},
    {"links", "latency and bandwidth between host and devices, by size", bench_links},
    {"wire", "messages between ranks by size, and barriers", bench_wire},
    {"pinning", "processes and units, with bound and unbound threads", bench_pinning},
    {"put", "one-sided puts between ranks by size, beside messages and copies to a device",
     bench_put},
    {"papers", "figures of the five papers beside those of this executable, with verdicts",
     bench_papers},
    {"schedules", "all schedules beside each other on described machines, in virtual time",
     bench_schedules},
    {"units", "the choice of --units auto beside the best of all lists, by the model or measured",
     bench_units},
    {"cluster",
     "schedules on described clusters of nodes, and a node that becomes slow, in virtual time",
     bench_cluster},
};
enum { GENERAL = sizeof general / sizeof *general };

/* The i-th of all; NULL beyond the last. */
static const struct study *study_at(int i) {
    return i < GENERAL ? &general[i] : workload_study(i - GENERAL);
}

/* "tasks, links or schedules" */
static const char *list(void) {
    static char text[512];
    size_t at = 0;
    const struct study *s;
    for (int i = 0; (s = study_at(i)) && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                               !i                ? ""
                               : study_at(i + 1) ? ", "
                                                 : " or ",
                               s->name);
    return text;
}

int command_bench(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    const struct study *s;
    for (int i = 0; (s = study_at(i)); i++)
        if (!strcmp(name, s->name)) return s->run(argc - 1, argv + 1);
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        printf("usage: evener bench NAME [options]\n\n");
        for (int i = 0; (s = study_at(i)); i++) printf("  %-9s %s\n", s->name, s->help);
        return EXIT_DONE;
    }
    if (*name)
        complain("there is no study \"%s\", expected %s", name, list());
    else
        complain("which study? expected %s", list());
    return EXIT_USAGE;
}
