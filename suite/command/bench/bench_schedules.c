/* evener bench schedules: all schedules beside each other on described machines, in virtual time,
 * so that the figures of the papers (multi-GPU paper, figures 11 and 12; compute-unit paper,
 * figures 16 to 19) can be set beside them.
 *
 * Each row is a whole run of a schedule: learning and migrations at its beginning count. Times of
 * tasks vary a little from step to step, as measured ones do; without that, units that draw would
 * draw the same tasks each time and nothing would migrate. The two
 * ways of exchange are shown side by side, Evener's and the papers', since what is best depends on
 * it. At the end the orders that the papers found are looked for, and where they do not hold it is
 * said what the difference is made of.
 */
#include "bench/bench_schedules.h"
#include "bench/bench.h"
#include "common/cli/message.h"
#include "machine/machine_file.h"
#include "run/job.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCHEDULES = 32, WAYS = 3, FILES = 8 };

/* The compared schedules, up to the first without a specification; add_others() adds to them.
 * `rank`: of the papers' three kinds, for their orders. */
static struct {
    const char *spec, *label;
    enum { OTHER, STATIC, DYNAMIC, FORGETFUL, GUIDED } rank;
} list[SCHEDULES + 1] = {
    {"static", "static", STATIC},
    {"dynamic:chunk=1,memorize=3", "dynamic 1", DYNAMIC},
    {"dynamic:chunk=2,memorize=3", "dynamic 2", DYNAMIC},
    {"dynamic:chunk=4,memorize=3", "dynamic 4", DYNAMIC},
    {"dynamic:chunk=8,memorize=3", "dynamic 8", DYNAMIC},
    {"dynamic:chunk=16,memorize=3", "dynamic 16", DYNAMIC},
    {"dynamic:chunk=1,memorize=0", "dynamic 1, no memory", FORGETFUL},
    {"dynamic:chunk=2,memorize=0", "dynamic 2, no memory", FORGETFUL},
    {"dynamic:chunk=4,memorize=0", "dynamic 4, no memory", FORGETFUL},
    {"dynamic:chunk=8,memorize=0", "dynamic 8, no memory", FORGETFUL},
    {"dynamic:chunk=16,memorize=0", "dynamic 16, no memory", FORGETFUL},
    {"guided:size", "guided:size", GUIDED},
    {"guided:time", "guided:time", OTHER},
    {"weighted", "weighted", OTHER},
    {"binpack", "binpack", OTHER},
    {"interval", "interval", OTHER},
    {"map", "map", OTHER},
    {"optimal:limit=0,gap=0.002", "optimal", OTHER},
    {"auto", "auto", OTHER},
};

const char *bench_schedule(int i) { return list[i].spec; }
const char *bench_schedule_label(int i) { return list[i].label; }

/* Adds the schedules of the library that the list lacks. */
static void add_others(void) {
    const char *name;
    int count = 0;
    while (list[count].spec) count++;
    for (int n = 0; (name = evn_schedule_name(n, NULL)); n++) {
        const size_t length = strlen(name);
        int i = 0;
        while (i < count && (strncmp(list[i].spec, name, length) != 0 ||
                             (list[i].spec[length] && list[i].spec[length] != ':')))
            i++;
        if (i < count || count == SCHEDULES) continue;
        list[count].spec = list[count].label = name;
        count++;
    }
}

static double step_s(const struct schedule_row *r) { return r->compute + r->exchange; }

int bench_run_schedule(struct schedule_row *row, const char *spec, const struct machine_model *m,
                       const evn_problem *tasks, int steps, double *speed) {
    *row = (struct schedule_row){0};
    evn_problem p = *tasks;
    p.units = m->model.units;
    p.speed = speed;
    p.bandwidth = evn_model_speeds(&m->model, p.weight, speed);
    p.instances = steps;
    evn_schedule *schedule;
    evn_simulation *clock = NULL;
    evn_status status = evn_schedule_open(&schedule, spec, &p);
    if (status == EVN_MISSING) return 0;
    if (!status) status = evn_simulation_open(&clock, &m->model);
    evn_step step;
    for (int i = 0; !status && i < steps; i++) {
        status = evn_simulation_step(clock, schedule, &step);
        row->compute += step.compute_s / steps;
        row->migration += step.migration_s / steps;
        row->exchange += step.exchange_s / steps;
        row->bytes += step.bytes / steps;
        row->migrations += (double)step.migrations / steps;
    }
    row->there = !status;
    evn_simulation_close(clock);
    evn_schedule_close(schedule);
    return status ? give_up(status) : 0;
}

struct comparison {
    const struct machine_file *file;
    const evn_machine *machine; /* for describing units */
    struct job job;
    evn_problem tasks; /* of the job */
    int steps;
    int exchange; /* an evn_exchange_order; -1: ours and that of whole zones */
    double noise;
    int differ; /* places where the papers' orders do not hold */
};

/* One list of units of the file, with the figures for the job; to be closed where it is 0. */
static int open_set(const struct comparison *s, const char *set, evn_units **units,
                    struct machine_model *m) {
    evn_status status = evn_units_open(units, s->machine, set, NULL, EVN_DESCRIBE_ONLY);
    if (status) return give_up(status);
    int code = machine_model_open(m, *units, NULL, &s->tasks, job_state_bytes(&s->job),
                                  job_copied_bytes(&s->job));
    if (!code) code = machine_model_fill(m, s->file, s->job.is->name, &s->tasks);
    if (!code) return 0;
    machine_model_close(m);
    evn_units_close(*units);
    return code;
}

static int shown(const struct comparison *s, int way) {
    return s->exchange < 0 ? way != EVN_EXCHANGE_FACES : way == s->exchange;
}

/* All schedules on one list of units, `one`: the seconds of a step on its first unit alone. */
static int run_set(const struct comparison *s, const char *set,
                   struct schedule_row row[WAYS][SCHEDULES], double one[WAYS], int *units_count,
                   int *gpus) {
    evn_units *units;
    struct machine_model m;
    int code = open_set(s, set, &units, &m);
    if (code) return code;
    *units_count = evn_units_count(units);
    *gpus = evn_units_about(units).gpus;
    double *speed = malloc(sizeof *speed * (size_t)*units_count);
    if (!speed) code = EXIT_FAILED;
    for (int way = 0; !code && way < WAYS; way++) {
        if (!shown(s, way)) continue;
        m.model.sequential = way;
        m.model.noise = s->noise;
        struct schedule_row alone;
        m.model.units = 1;
        code = bench_run_schedule(&alone, "static", &m, &s->tasks, 1, speed);
        one[way] = step_s(&alone);
        m.model.units = *units_count;
        for (int i = 0; !code && list[i].spec; i++)
            code = bench_run_schedule(&row[way][i], list[i].spec, &m, &s->tasks, s->steps, speed);
    }
    free(speed);
    machine_model_close(&m);
    evn_units_close(units);
    return code;
}

static const char *const exchange_title[WAYS] = {"parallel exchange (ours)", "sequential exchange",
                                                 "whole zones (papers)"};

static void print_set(const struct comparison *s, const char *set,
                      struct schedule_row row[WAYS][SCHEDULES], const double one[WAYS]) {
    int guided = 0;
    while (list[guided].rank != GUIDED) guided++;
    printf("\n%s class %s on %s, %d %ss, %d steps\n%-21s", s->job.is->name, s->job.shape.key, set,
           s->tasks.tasks, s->job.is->noun, s->steps, "");
    for (int way = 0; way < WAYS; way++)
        if (shown(s, way)) printf("  |  %-48s", exchange_title[way]);
    printf("\n%-21s", "schedule");
    for (int way = 0; way < WAYS; way++)
        if (shown(s, way))
            printf("  |  %9s  %9s  %7s  %7s  %8s", "compute", "exchange", "/guided", "speedup",
                   "migrated");
    putchar('\n');
    for (int i = 0; list[i].spec; i++) {
        int there = 0;
        for (int way = 0; way < WAYS; way++) there |= shown(s, way) && row[way][i].there;
        if (!there) continue;
        printf("%-21s", list[i].label);
        for (int way = 0; way < WAYS; way++) {
            if (!shown(s, way)) continue;
            const struct schedule_row *r = &row[way][i];
            printf("  |  %9.4f  %9.4f  %7.3f  %7.2f  %8.2f", 1e3 * r->compute, 1e3 * r->exchange,
                   step_s(r) / step_s(&row[way][guided]), one[way] / step_s(r), r->migrations);
        }
        const double published =
            machine_file_published(s->file, s->job.is->name, s->job.shape.key, set,
                                   !strncmp(list[i].spec, "optimal", 7) ? "optimal" : list[i].spec);
        if (published > 0 && shown(s, EVN_EXCHANGE_TASKS)) printf("  published %.2f", published);
        putchar('\n');
    }
}

/* Prints why b is longer or shorter than a, as a sentence. */
static void explain(const struct schedule_row *a, const struct schedule_row *b) {
    printf("it spends %.2f times guided's time computing",
           (b->compute - b->migration) / (a->compute - a->migration));
    if (b->migration > 0.005 * b->compute) printf(", %.2f ms a step migrating", 1e3 * b->migration);
    printf(" and %.2f times its time exchanging (%.2f times the bytes between units)\n",
           b->exchange / a->exchange, b->bytes / a->bytes);
}

/* The papers' orders: guided is best of static, dynamic and guided; dynamic without memory loses
 * against the same with memory, to transfers. */
static void check_orders(struct comparison *s, const char *set,
                         struct schedule_row row[WAYS][SCHEDULES]) {
    int guided = 0;
    while (list[guided].rank != GUIDED) guided++;
    for (int way = 0; way < WAYS; way++) {
        if (!shown(s, way)) continue;
        const struct schedule_row *g = &row[way][guided];
        const char *name = exchange_name[way];
        int best = guided;
        for (int i = 0; list[i].spec; i++) {
            if (list[i].rank == OTHER || !row[way][i].there) continue;
            if (step_s(&row[way][i]) < step_s(&row[way][best]) * (1 - 1e-9)) best = i;
        }
        printf("%s %s on %s, %s exchange: ", s->job.is->name, s->job.shape.key, set, name);
        if (best == guided) {
            printf("neither static nor any dynamic is shorter than guided\n");
        } else {
            s->differ++;
            printf("%s beats guided by %.1f %%, unlike in the papers: ", list[best].label,
                   100 * (step_s(g) / step_s(&row[way][best]) - 1));
            explain(g, &row[way][best]);
        }
        for (int i = 0; list[i].spec; i++) {
            if (list[i].rank != FORGETFUL || !row[way][i].there) continue;
            int with = 0; /* the same chunk with memory */
            while (list[with].rank != DYNAMIC ||
                   strncmp(list[with].spec, list[i].spec,
                           (size_t)(strchr(list[i].spec, ',') - list[i].spec + 1)) != 0)
                with++;
            const struct schedule_row *a = &row[way][with], *b = &row[way][i];
            if (!(step_s(b) < step_s(a) * (1 - 1e-9))) continue;
            s->differ++;
            printf("  %s is %.1f %% shorter than with memory, unlike in the papers: %.2f tasks "
                   "migrate a step, for %.2f ms, and what it draws anew is shorter by %.2f ms than "
                   "what memory keeps\n",
                   list[i].label, 100 * (1 - step_s(b) / step_s(a)), b->migrations,
                   1e3 * b->migration, 1e3 * (step_s(a) - step_s(b) + b->migration));
        }
    }
}

int bench_begin_class(struct job *job, const struct workload *is, char class_) {
    char option[16];
    snprintf(option, sizeof option, "--class=%c", class_);
    int code = job_begin(job, is);
    if (!code) code = job_option(job, "bench schedules", option);
    return code ? code : job_check(job);
}

static int open_workload(struct comparison *s, const struct workload *is, char class_) {
    int code = bench_begin_class(&s->job, is, class_);
    if (!code) code = job_open(&s->job, 0);
    s->tasks = s->job.tasks;
    return code;
}

/* Whether a machine's file has all figures for one workload. */
static int look_at_workload(struct comparison *s, const struct workload *is, char class_) {
    int code = open_workload(s, is, class_);
    const char *set;
    for (int i = 0; !code && (set = machine_file_set(s->file, i)); i++) {
        evn_units *units;
        struct machine_model m;
        code = open_set(s, set, &units, &m);
        if (code) break;
        machine_model_close(&m);
        evn_units_close(units);
    }
    job_close(&s->job);
    return code;
}

/* All sets of a machine's file for one workload; prints the tables, and at the end the orders. */
static int study_workload(struct comparison *s, const struct workload *is, char class_,
                          long steps) {
    int code = open_workload(s, is, class_);
    s->steps = steps > 0 ? (int)steps : s->job.shape.steps;
    const char *set;
    for (int i = 0; !code && (set = machine_file_set(s->file, i)); i++) {
        struct schedule_row row[WAYS][SCHEDULES];
        double one[WAYS];
        int units = 0, gpus = 0;
        code = run_set(s, set, row, one, &units, &gpus);
        if (code || units == 1) continue; /* one unit is what the others are compared with */
        print_set(s, set, row, one);
        putchar('\n');
        if (units == gpus) check_orders(s, set, row); /* the orders are of equal devices */
    }
    job_close(&s->job);
    return code;
}

static int has_classes(const struct workload *is) {
    for (const struct option *o = is->options; o && o->name; o++)
        if (!strcmp(o->name, "class")) return 1;
    return 0;
}

int bench_read_lists(struct option_list *apps, const char *text, const char *classes) {
    int code = options_list(apps, "apps", text);
    for (int i = 0; !code && i < apps->count; i++) {
        const struct workload *is = workload_find(apps->word[i]);
        if (!is)
            code = complain("--apps %s: there is no workload \"%s\", expected %s", text,
                            apps->word[i], workload_list());
        if (!code && !has_classes(is))
            code = complain("--apps %s: %s has no classes", text, is->name);
        for (const char *c = classes; !code && *c; c++) {
            struct job job;
            if (strchr(c + 1, *c))
                return complain("--classes %s: %c is there twice; name it once", classes, *c);
            code = bench_begin_class(&job, is, *c);
            job_close(&job);
        }
    }
    return code;
}

/* Checks a machine file before any table is printed. Its figures are the same for all classes. A
 * file without sets of units to be compared, as of a cluster, is left out: *path is NULL then. */
static int look_at_file(struct comparison *s, const char **path, const struct option_list *apps,
                        char class_) {
    struct machine_file *file;
    int code = machine_file_open(&file, *path);
    if (code) return code;
    s->file = file;
    const int compares = machine_file_set(file, 0) != NULL;
    if (!compares) {
        complain("warning: %s is left out: there are no \"sets\" of units in it to be compared",
                 *path);
        *path = NULL;
    }
    for (int i = 0; compares && !code && i < apps->count; i++)
        code = look_at_workload(s, workload_find(apps->word[i]), class_);
    machine_file_close(file);
    return code;
}

static int study_file(struct comparison *s, const char *path, const struct option_list *apps,
                      const char *classes, long steps) {
    struct machine_file *file;
    int code = machine_file_open(&file, path);
    if (code) return code;
    s->file = file;
    printf("\n== %s ==\nmilliseconds a step, mean over a run; /guided: step over guided:size's; "
           "speedup over the first unit alone;\nmigrated: tasks a step\n",
           machine_file_name(file));
    for (int i = 0; !code && i < apps->count; i++)
        for (const char *c = classes; !code && *c; c++)
            code = study_workload(s, workload_find(apps->word[i]), *c, steps);
    machine_file_close(file);
    return code;
}

/* ---- the command ---- */

struct request {
    const char *apps, *classes, *exchange;
    const char *unit_list, *machine;
    long steps, tasks, units, noise;
    int map, planning, default_, intervals;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"apps", "LIST", "workloads, as bt-mz,sp-mz,lu-mz (default bt-mz)", OPTION_TEXT(apps)},
    {"classes", "LIST", "problem classes (default BCD)", OPTION_TEXT(classes)},
    {"steps", "N", "instead of the class's own number", OPTION_NUMBER(steps, 1, 1000000)},
    {"exchange", "HOW", "parallel, sequential or zones (default: parallel and zones)",
     OPTION_TEXT(exchange)},
    {"noise", "PERCENT", "by which times of tasks vary from step to step (default 2)",
     OPTION_NUMBER(noise, 0, 99)},
    {"units", "LIST",
     "of a record: units, as 4:CPU:4,2:GPU:1; they need not be there (default auto)",
     OPTION_TEXT(unit_list)},
    {"machine", "FILE", "of a record: machine described in FILE", OPTION_INPUT(machine)},
    {"map", NULL, "the table of map beside the others instead, balance and bytes cut",
     OPTION_FLAG(map)},
    {"default", NULL, "the default schedule beside all others instead", OPTION_FLAG(default_)},
    {"intervals", NULL, "interval beside the best contiguous intervals instead",
     OPTION_FLAG(intervals)},
    {"planning", NULL, "the times of planning instead", OPTION_FLAG(planning)},
    {"tasks", "N", "with --planning (default 1000000)", OPTION_NUMBER(tasks, 1, 100000000)},
    {"unit-count", "N", "with --planning (default 10000)", OPTION_NUMBER(units, 1, 1000000)},
    {0},
};

static const struct option_rule rules[] = {
    {"map", OPTION_EXCLUDES, "planning apps steps exchange noise units machine FILE",
     "its table is of bt-mz's zones, on units of its own"},
    {"default", OPTION_EXCLUDES,
     "map planning apps classes steps exchange noise units machine FILE",
     "its tasks, units and disturbances are made up"},
    {"intervals", OPTION_EXCLUDES,
     "default map planning apps classes steps exchange noise units machine FILE",
     "its tasks and workers are the paper's"},
    {"planning", OPTION_EXCLUDES, "apps classes steps exchange noise units machine FILE",
     "its tasks and units are made up; --tasks and --unit-count say how many"},
    {"tasks", OPTION_NEEDS, "planning", "whose tasks these are"},
    {"unit-count", OPTION_NEEDS, "planning", "whose units these are"},
    {0},
};

int bench_schedules(int argc, char **argv) {
    struct request request = {
        .apps = "bt-mz", .classes = "BCD", .tasks = 1000000, .units = 10000, .noise = 2};
    const struct option_set sets[] = {{table, &request, rules}, {0}};
    const char *path[FILES];
    int files;
    int code = options_read("bench schedules", sets, argc, argv, path, FILES, &files);
    if (code < 0) {
        printf(
            "usage: evener bench schedules [options] FILE ..\n"
            "       evener bench schedules [options] RECORD\n\n"
            "All schedules in virtual time on the machines that are described in the files, as\n"
            "suite/bench/machines/power9-4v100.json and suite/bench/machines/epyc-2mi50.json; or\n"
            "with the tasks and times of a program's record, EVENER_RECORD=FILE.\n\n");
        options_help("bench schedules", sets, 0);
        return EXIT_DONE;
    }
    struct option_list apps;
    if (!code) code = bench_read_lists(&apps, request.apps, request.classes);
    if (code) return code;
    add_others();
    if (request.map) return bench_map_table(request.classes) ? EXIT_FAILED : EXIT_DONE;
    if (request.intervals) return bench_intervals();
    if (request.default_) return bench_default() ? EXIT_FAILED : EXIT_DONE;
    if (request.planning)
        return bench_planning((int)request.tasks, (int)request.units, 10) ? EXIT_FAILED : EXIT_DONE;
    int exchange = -1;
    if (request.exchange && (code = exchange_read(&exchange, request.exchange))) return code;
    if (!files)
        return complain("bench schedules: which machines? name files that describe them, as "
                        "suite/bench/machines/*.json");
    if (files == 1 && bench_is_record(path[0])) {
        const struct record_request of = {.path = path[0],
                                          .units = request.unit_list ? request.unit_list : "auto",
                                          .machine = request.machine,
                                          .steps = request.steps,
                                          .exchange = exchange < 0 ? 0 : exchange,
                                          .noise = request.noise / 100.0};
        return bench_record(&of);
    }
    if (request.unit_list || request.machine)
        return complain("bench schedules: --units and --machine are for the record of a program; a "
                        "file of a machine names its own");
    struct comparison s = {.exchange = exchange, .noise = request.noise / 100.0};
    evn_machine *machine;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    s.machine = machine;
    int left = 0;
    for (int i = 0; !code && i < files; i++) {
        code = look_at_file(&s, &path[i], &apps, *request.classes);
        left += path[i] != NULL;
    }
    if (!code && !left)
        code = complain("bench schedules: none of the files has \"sets\" of units to be compared, "
                        "as suite/bench/machines/power9-4v100.json has");
    for (int i = 0; !code && i < files; i++)
        if (path[i]) code = study_file(&s, path[i], &apps, request.classes, request.steps);
    if (!code)
        printf("\n%d of the papers' orders do not hold here; each is said above\n", s.differ);
    evn_machine_close(machine);
    return code;
}
