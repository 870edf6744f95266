/* evener bench units: what --units auto chooses, beside the best of all lists of N units of M
 * cores: by the model on machines that need not be there, or measured on this one.
 *
 * By the model every M is tried with as many units as there are cores and tasks for. That is the
 * model which auto goes by, so what it shows is that the few lists that auto looks at are enough
 * and that its liking for units of whole parts costs little; and, with another --doubling than auto
 * assumes, what auto is worth where teams cost more or less than that. Exchange is left out. */
#include "bench/bench_units.h"
#include "bench/bench.h"
#include "bench/bench_schedules.h"
#include "common/cli/message.h"
#include <math.h>
#include <evener/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORES_MAX = 1024 };

struct request {
    const char *apps, *classes, *cores, *schedule, *json;
    long part, rounds, steps;
    long doubling, within; /* per cent */
    int real;
};

static int is_over(const struct request *request, double ratio) {
    return ratio > 1 + (double)request->within / 100;
}

/* One row; *worst is the largest ratio so far. */
static int compare(struct choice_for what, const struct request *request, char class_,
                   double *worst) {
    struct choice choice;
    struct choice_try best;
    int code = choice_make(&choice, &what);
    if (code) return code;
    what.cost.doubling = (double)request->doubling / 100;
    code = choice_alike(&what, &best);
    const char *list = *choice.list ? choice.list : "auto";
    const double is = choice_over(&what, list), ratio = is / best.over;
    if (code || isnan(is)) return EXIT_FAILED;
    if (ratio > *worst) *worst = ratio;
    printf("%-6s  %5c  %5d  %-22.22s  %6.3f  %-12s  %6.3f  %5.3f%s\n", what.is->name, class_,
           evn_machine_cores(what.machine), list, is, best.list, best.over, ratio,
           is_over(request, ratio) ? " !" : "");
    return 0;
}

/* `cores` cores, of which `part` share an L3 cache. */
static int open_machine(evn_machine **machine, long cores, long part) {
    char text[96];
    if (cores % part) part = cores;
    snprintf(text, sizeof text, "package:1 l3:%ld core:%ld pu:1", cores / part, part);
    evn_status status = evn_machine_open_synthetic(machine, text);
    return status ? give_up(status) : 0;
}

static int one_problem(const struct workload *is, char class_, const long *cores, int count,
                       const struct request *request, double *worst) {
    struct job job;
    int code = bench_begin_class(&job, is, class_);
    if (!code) code = job_open(&job, 1);
    for (int i = 0; !code && i < count; i++) {
        evn_machine *machine;
        code = open_machine(&machine, cores[i], request->part);
        if (code) break;
        const struct choice_for what = {
            is,      job.state,   &job.tasks, request->schedule ? request->schedule : is->schedule,
            machine, CHOICE_COST, 0,          0};
        code = compare(what, request, class_, worst);
        evn_machine_close(machine);
    }
    job_close(&job);
    return code;
}

static int read_cores(const char *text, long *cores, int *count) {
    struct option_list list;
    int code = options_list(&list, "cores", text);
    for (int i = 0; !code && i < list.count; i++)
        if (evn_read_whole(list.word[i], 1, CORES_MAX, &cores[i]))
            code = complain("--cores %s: %s: %s", text, list.word[i], evn_message());
    *count = list.count;
    return code;
}

static int by_model(const struct request *request, const struct option_list *apps) {
    long cores[OPTION_WORDS];
    double worst = 1;
    int count = 0, code = read_cores(request->cores, cores, &count);
    if (code) return code;
    printf("by the model, times over an even share of all cores; a team's doubling costs %.3g, "
           "auto assumes %.3g\n\n%-6s  %5s  %5s  %-22s  %6s  %-12s  %6s  %5s\n",
           (double)request->doubling / 100, CHOICE_DOUBLING, "", "class", "cores", "auto", "",
           "best N:CPU:M", "", "ratio");
    for (int i = 0; i < apps->count; i++)
        for (const char *c = request->classes; !code && *c; c++)
            code = one_problem(workload_find(apps->word[i]), *c, cores, count, request, &worst);
    if (code) return code;
    printf("\nauto needs at most %.3f of the best\n", worst);
    return is_over(request, worst) ? EXIT_UNVERIFIED : EXIT_DONE;
}

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"apps", "LIST", "workloads with classes (default bt-mz,sp-mz,lu-mz)", OPTION_TEXT(apps)},
    {"classes", "LIST", "their classes (default SWABCD, with --measure SWA)", OPTION_TEXT(classes)},
    {"cores", "LIST", "of the machines (default 8,16,64,128)", OPTION_TEXT(cores)},
    {"part", "N", "cores that share an L3 cache, where that divides them (default 8)",
     OPTION_NUMBER(part, 1, CORES_MAX)},
    {"doubling", "PERCENT",
     "cost of a doubling of a team, for the model; auto assumes 20 (default 20)",
     OPTION_NUMBER(doubling, 0, 1000)},
    {"schedule", "SPEC", "of the units (default: the workload's own)", OPTION_TEXT(schedule)},
    {"within", "PERCENT", "allowed excess of auto's time over the best (default 3)",
     OPTION_NUMBER(within, 0, 1000)},
    {"measure", NULL, "on this machine's cores, runs in turn", OPTION_FLAG(real)},
    {"rounds", "N", "measured: runs of each list, of which the median counts (default 5)",
     OPTION_NUMBER(rounds, 1, UNITS_ROUNDS_MAX)},
    {"steps", "N", "measured: of each run (default 20)", OPTION_NUMBER(steps, 1, 1000000)},
    {"json", "FILE", "measured: the record; - is standard output", OPTION_OUTPUT(json)},
    {0},
};

static const struct option_rule rules[] = {
    {"measure", OPTION_EXCLUDES, "cores part doubling schedule", "it is of this machine"},
    {"rounds", OPTION_NEEDS, "measure", "whose rounds these are"},
    {"steps", OPTION_NEEDS, "measure", "whose steps these are"},
    {"json", OPTION_NEEDS, "measure", "which is what is recorded"},
    {0},
};

int bench_units(int argc, char **argv) {
    struct request request = {.apps = "bt-mz,sp-mz,lu-mz",
                              .cores = "8,16,64,128",
                              .part = 8,
                              .rounds = 5,
                              .steps = 20,
                              .doubling = (long)(100 * CHOICE_DOUBLING),
                              .within = 3};
    const struct option_set sets[] = {{table, &request, rules}, {0}};
    const char *word;
    int words;
    int code = options_read("bench units", sets, argc, argv, &word, 0, &words);
    if (code < 0) {
        printf("usage: evener bench units [options]\n\n"
               "What --units auto chooses beside the best of all lists of N units of M cores, by\n"
               "the model or measured. Exit status 1: auto is slower than --within allows.\n\n");
        options_help("bench units", sets, 0);
        return EXIT_DONE;
    }
    if (!request.classes) request.classes = request.real ? "SWA" : "SWABCD";
    struct option_list apps;
    if (!code) code = bench_read_lists(&apps, request.apps, request.classes);
    if (code) return code;
    const struct units_real real = {(int)request.steps, (int)request.rounds, request.json,
                                    (double)request.within / 100};
    return request.real ? bench_units_real(&apps, request.classes, &real)
                        : by_model(&request, &apps);
}
