/* bench tasks: overhead of runtimes for tasks of given lengths. Evener under three schedules, one
 * thread, and other runtimes in several settings take turns, each run a process of its own; alone
 * on the machine, or beside a process that computes on one of its cores. */
#include "bench/bench.h"
#include "bench/tasks_run.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include <evener/machine.h>
#include <evener/number.h>
#include <evener/unit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_REPEAT = 3 };
static const double SAMPLE_S = 0.04, LONG_SAMPLE_S = 0.3, LONG_STEP_S = 1.5;

struct request {
    const char *units, *tasks, *lengths;
    long repeat;
    int competitor;
};

/* All cases of the command. */
struct study {
    struct tasks_case of;
    struct way *way;
    int ways, repeat, competes;
    double turns_per_s;
};

/* ---- a case ---- */

/* One sample of each way; `first`: which one begins. */
static int sample_all(struct study *s, int sample, int first) {
    for (int i = 0; i < s->ways; i++) {
        struct way *w = &s->way[(first + i) % s->ways];
        double wall = 0, processor = 0;
        if (w->wrong) continue;
        const int code = tasks_run(w, &s->of, w->steps, &wall, &processor, &w->wrong);
        if (code) return code;
        if (sample >= 0) {
            w->wall[sample] = wall;
            w->processor[sample] = processor;
        } else { /* the first one says how many steps a sample has */
            w->steps = (int)fmax(1, fmin(1e6, SAMPLE_S / (wall * s->of.tasks)));
        }
    }
    return 0;
}

static void sort_out(struct study *s, int repeat) {
    for (int i = 0; i < s->ways; i++) {
        struct way *w = &s->way[i];
        median(w->wall, repeat);
        median(w->processor, repeat);
    }
}

static double middle(const double *sorted, int n) { return sorted[(n - 1) / 2]; }

static const struct way *best_peer(const struct study *s, int repeat) {
    const struct way *best = NULL;
    for (int i = 0; i < s->ways; i++) {
        const struct way *w = &s->way[i];
        if (!w->ours && !w->wrong &&
            (!best || middle(w->wall, repeat) < middle(best->wall, repeat)))
            best = w;
    }
    return best;
}

static void print_case(const struct study *s, double length, int repeat, const struct way *best) {
    printf("\n%d tasks of %g us, units %s, %s, %d samples of each in turn\n\n", s->of.tasks,
           1e6 * length, s->of.units, s->competes ? "beside a competitor" : "quiet", repeat);
    printf("  %-40s %9s %9s %9s %9s   %7s %9s\n", "ns per task", "least", "median", "most",
           "processor", "ratio", "processor");
    for (int i = 0; i < s->ways; i++) {
        const struct way *w = &s->way[i];
        if (w->wrong) {
            printf("  %-40s %s\n", w->name, w->wrong == WAY_LATE ? "> limit" : "has failed");
            continue;
        }
        printf("  %-40s %9.1f %9.1f %9.1f %9.1f   %7.2f %9.2f\n", w->name, 1e9 * w->wall[0],
               1e9 * middle(w->wall, repeat), 1e9 * w->wall[repeat - 1],
               1e9 * middle(w->processor, repeat),
               best ? middle(w->wall, repeat) / middle(best->wall, repeat) : NAN,
               best ? middle(w->processor, repeat) / middle(best->processor, repeat) : NAN);
    }
    fflush(stdout);
}

/* Samples of a case, printed; `seconds` of a task. */
static int run_case(struct study *s, double seconds, int repeat) {
    const double ideal = s->of.tasks * fmax(seconds, 2e-8) / s->of.threads;
    for (int i = 0; i < s->ways; i++) {
        s->way[i].steps = (int)fmax(1, fmin(20, SAMPLE_S / 4 / ideal));
        s->way[i].wrong = 0;
    }
    const pid_t competitor = s->competes ? competitor_begin() : 0;
    if (competitor < 0) {
        complain("bench tasks: a competitor cannot be started");
        return EXIT_FAILED;
    }
    int code = 0;
    for (int r = -1; !code && r < repeat; r++) code = sample_all(s, r, (r + 1) % s->ways);
    competitor_end(competitor);
    if (code) return code;
    sort_out(s, repeat);
    print_case(s, seconds, repeat, best_peer(s, repeat));
    return 0;
}

/* ---- all cases ---- */

struct cases {
    struct option_list tasks, lengths;
    int all; /* none were asked for */
};

static int read_task(const char *text, int *tasks) {
    long n;
    if (evn_read_whole(text, 1, 100000000, &n))
        return complain("--tasks %s: %s", text, evn_message());
    *tasks = (int)n;
    return 0;
}

static int read_length(const char *text, double *seconds) {
    if (evn_read_real(text, (evn_bounds){0, 1e6, 0}, seconds))
        return complain("--lengths %s: %s", text, evn_message());
    *seconds *= 1e-6;
    return 0;
}

/* Whether a step is so long that it is run only where it is asked for. */
static int left_out(const struct cases *c, int tasks, double seconds) {
    return c->all && tasks * seconds > LONG_STEP_S;
}

static int run_scene(struct study *s, const struct cases *c) {
    for (int i = 0; i < c->tasks.count; i++)
        for (int k = 0; k < c->lengths.count; k++) {
            double seconds;
            int code = read_task(c->tasks.word[i], &s->of.tasks);
            if (!code) code = read_length(c->lengths.word[k], &seconds);
            if (code) return code;
            if (left_out(c, s->of.tasks, seconds)) {
                printf("\n%d tasks of %g us: left out, a step takes too long; --tasks %d "
                       "--lengths %g runs them\n",
                       s->of.tasks, 1e6 * seconds, s->of.tasks, 1e6 * seconds);
                continue;
            }
            const double step = s->of.tasks * seconds / s->of.threads;
            const int repeat =
                step > LONG_SAMPLE_S && s->repeat > LONG_REPEAT ? LONG_REPEAT : s->repeat;
            s->of.turns = lround(seconds * s->turns_per_s);
            code = run_case(s, seconds, repeat);
            if (code) return code;
        }
    return 0;
}

/* All words are numbers, before anything is run. */
static int check_cases(const struct cases *c) {
    int tasks, code = 0;
    double seconds;
    for (int i = 0; !code && i < c->tasks.count; i++) code = read_task(c->tasks.word[i], &tasks);
    for (int i = 0; !code && i < c->lengths.count; i++)
        code = read_length(c->lengths.word[i], &seconds);
    return code;
}

static int run_all(struct study *s, const struct cases *c, int competitor) {
    int code = tasks_turns(&s->turns_per_s);
    for (s->competes = 0; !code && s->competes <= competitor; s->competes++) code = run_scene(s, c);
    if (code) return code;
    printf("\nratio: median over that of the best peer, which is the way of the least median that "
           "is not ours; and processor time likewise\n");
    return EXIT_DONE;
}

/* ---- the command ---- */

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"units", "LIST", "compute units (default 2:CPU:1); peers have as many threads as they cores",
     OPTION_TEXT(units)},
    {"tasks", "LIST", "tasks of an instance (default 64,4096,100000)", OPTION_TEXT(tasks)},
    {"lengths", "LIST", "of a task, us (default 0,0.1,1,10,100; with --tasks 0)",
     OPTION_TEXT(lengths)},
    {"repeat", "N", "samples (default 11; at most 3 of instances of more than 0.3 s)",
     OPTION_NUMBER(repeat, 1, WAY_SAMPLES_MAX)},
    {"competitor", NULL, "once more beside a process that computes on one of the cores",
     OPTION_FLAG(competitor)},
    {0},
};

/* Opens the units, as every run of ours does again, so that a wrong list is refused at once. */
static int look_at_units(const char *units, int *cores, int *teams) {
    evn_machine *machine;
    evn_units *list;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    status = evn_units_open(&list, machine, units, NULL, 0);
    *cores = *teams = 0;
    for (int u = 0; !status && u < evn_units_count(list); u++) {
        const int n = evn_unit_cores(evn_units_get(list, u));
        *cores += n;
        *teams |= n > 1;
    }
    const int code = status ? give_up(status) : 0;
    if (!status) evn_units_close(list);
    evn_machine_close(machine);
    return code;
}

int bench_tasks(int argc, char **argv) {
    struct request request = {.units = "2:CPU:1", .tasks = NULL, .lengths = NULL, .repeat = 11};
    if (argc > 2 && !strcmp(argv[1], "--program")) return tasks_program(argc - 2, argv + 2);
    int code = options_read_plain(
        "bench tasks",
        "usage: evener bench tasks [options]\n"
        "\n"
        "Time of a loop over tasks of given lengths, beside other runtimes in several settings.",
        (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    struct cases cases = {.all = !request.tasks && !request.lengths};
    struct study study = {.repeat = (int)request.repeat, .of.units = request.units};
    code = options_list(&cases.tasks, "tasks", request.tasks ? request.tasks : "64,4096,100000");
    if (!code)
        code = options_list(&cases.lengths, "lengths",
                            request.lengths ? request.lengths
                            : request.tasks ? "0"
                                            : "0,0.1,1,10,100");
    if (!code) code = check_cases(&cases);
    int teams;
    if (!code) code = look_at_units(request.units, &study.of.threads, &teams);
    if (code) return code;
    study.way = malloc(WAYS_MAX * sizeof *study.way);
    if (!study.way) return give_up(evn_fail(EVN_MEMORY, "bench tasks: not enough memory"));
    study.ways = ways_list(study.way, teams ? "share" : "pull");
    code = run_all(&study, &cases, request.competitor);
    free(study.way);
    return code;
}
