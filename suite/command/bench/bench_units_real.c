/* bench units --measure: runs of auto and of all lists of N units of M cores that take all cores of
 * this machine, each a process of its own, in turn; what comes first changes from round to round.
 * And what teams cost: one unit that draws its tasks one by one does each with its whole team. */
#include "bench/bench_units.h"
#include "bench/bench_schedules.h"
#include "common/cli/files.h"
#include "common/cli/json_file.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "model/runs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 64 };

#define TOGETHER "dynamic:chunk=1,memorize=0"

/* A way to run, and its samples. */
struct timed_list {
    char units[40];        /* "auto", "2:CPU:1" */
    int together;          /* cores of the team that does each task; 0: as the schedule has it */
    char was[CHOICE_LIST]; /* what auto has chosen */
    double step[UNITS_ROUNDS_MAX], middle;
};

struct table {
    struct timed_list list[LISTS];
    int count;
};

static struct timed_list *add(struct table *t) {
    return t->count < LISTS ? &t->list[t->count++] : &t->list[LISTS - 1];
}

static void make_lists(struct table *t, int cores, int tasks) {
    t->count = 0;
    snprintf(add(t)->units, sizeof t->list->units, "auto");
    for (int m = 1; m <= cores && t->count < LISTS / 2; m++)
        if (cores % m == 0 && cores / m <= tasks)
            snprintf(add(t)->units, sizeof t->list->units, "%d:CPU:%d", cores / m, m);
    for (int m = 1; m <= cores && t->count < LISTS;
         m = 2 * m <= cores || m == cores ? 2 * m : cores) {
        struct timed_list *now = add(t);
        snprintf(now->units, sizeof now->units, "1:CPU:%d", m);
        now->together = m;
    }
}

/* The list that a run of auto had, of its units. */
static void note_units(struct timed_list *of, const cJSON *root) {
    const cJSON *unit;
    int count = 0, size = 0;
    size_t at = 0;
    *of->was = 0;
    cJSON_ArrayForEach(unit, cJSON_GetObjectItemCaseSensitive(root, "units")) {
        const int cores = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(unit, "cores"));
        if (count && cores != size && at < sizeof of->was)
            at += (size_t)snprintf(of->was + at, sizeof of->was - at, "%d:CPU:%d,", count, size);
        count = cores == size ? count + 1 : 1;
        size = cores;
    }
    if (at < sizeof of->was) snprintf(of->was + at, sizeof of->was - at, "%d:CPU:%d", count, size);
}

static int run_once(const char *app, char class_, int steps, struct timed_list *of, int round) {
    char option[16], number[24];
    snprintf(option, sizeof option, "--class=%c", class_);
    snprintf(number, sizeof number, "%d", steps);
    const char *words[] = {"run",     app,       option,   "--steps", number,
                           "--units", of->units, "--json", "-",       "--quiet",
                           "--wire",  "alone",   NULL,     NULL,      NULL};
    if (of->together) words[12] = "--schedule", words[13] = TOGETHER;
    cJSON *root;
    int code = runs_record(words, NULL, &root);
    if (code) return code;
    const double seconds = json_number(root, "seconds"), done = json_number(root, "steps");
    of->step[round] = seconds / done;
    note_units(of, root);
    cJSON_Delete(root);
    if (seconds > 0 && done >= 1) return 0;
    complain("a run of %d steps took no time", steps);
    return EXIT_FAILED;
}

static int measure(struct table *t, const char *app, char class_, const struct units_real *how) {
    int code = 0;
    for (int r = 0; !code && r < how->rounds; r++)
        for (int i = 0; !code && i < t->count; i++)
            code = run_once(app, class_, how->steps, &t->list[(i + r) % t->count], r);
    for (int i = 0; !code && i < t->count; i++) {
        double copy[UNITS_ROUNDS_MAX];
        memcpy(copy, t->list[i].step, sizeof copy);
        t->list[i].middle = median(copy, how->rounds);
    }
    return code;
}

/* The fastest list but auto. */
static const struct timed_list *best_of(const struct table *t) {
    const struct timed_list *best = NULL;
    for (int i = 1; i < t->count; i++)
        if (!t->list[i].together && (!best || t->list[i].middle < best->middle)) best = &t->list[i];
    return best;
}

/* The median of the rounds' own ratios. */
static double ratio_of(const struct timed_list *a, const struct timed_list *b, int rounds) {
    double ratio[UNITS_ROUNDS_MAX];
    for (int r = 0; r < rounds; r++) ratio[r] = a->step[r] / b->step[r];
    return median(ratio, rounds);
}

static const struct timed_list *alone(const struct table *t) {
    for (int i = 0; i < t->count; i++)
        if (t->list[i].together == 1) return &t->list[i];
    return NULL;
}

static void print(const struct table *t, const char *app, char class_, const struct units_real *how,
                  FILE *out) {
    const struct timed_list *best = best_of(t), *one = alone(t);
    fprintf(out, "%-6s  %c  auto %-14.14s %9.4g ms  best %-12s %9.4g ms  %5.3f\n", app, class_,
            t->list->was, 1e3 * t->list->middle, best->units, 1e3 * best->middle,
            ratio_of(t->list, best, how->rounds));
    for (int i = 0; one && i < t->count; i++)
        if (t->list[i].together > 1) {
            const int m = t->list[i].together;
            const double speed = ratio_of(one, &t->list[i], how->rounds);
            fprintf(out, "%11s a team of %d at each task is %.2f cores: a doubling costs %.2f\n",
                    "", m, speed, (m / speed - 1) / log2(m));
        }
}

static void record(cJSON *list, const struct table *t, const char *app, char class_) {
    const char name[2] = {class_, 0};
    cJSON *o = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(o, "lists");
    cJSON_AddStringToObject(o, "app", app);
    cJSON_AddStringToObject(o, "class", name);
    for (int i = 0; i < t->count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "units", t->list[i].units);
        if (!i) cJSON_AddStringToObject(one, "chosen", t->list[i].was);
        cJSON_AddNumberToObject(one, "together", t->list[i].together);
        record_number(one, "step_s", t->list[i].middle);
        cJSON_AddItemToArray(all, one);
    }
    cJSON_AddItemToArray(list, o);
}

static int one_problem(struct table *t, const struct workload *is, char class_, int cores,
                       const struct units_real *how) {
    struct job job;
    int code = bench_begin_class(&job, is, class_);
    if (!code) code = job_open(&job, 1);
    if (!code) make_lists(t, cores, job.tasks.tasks);
    if (!code) code = measure(t, is->name, class_, how);
    job_close(&job);
    return code;
}

/* All problems; *worst is auto's largest ratio. */
static int study(const struct option_list *apps, const char *classes, const struct units_real *how,
                 cJSON *list, double *worst) {
    evn_machine *machine;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    const int cores = evn_machine_cores(machine);
    evn_machine_close(machine);
    struct table *t = calloc(1, sizeof *t);
    int code = t ? 0 : give_up(evn_fail(EVN_MEMORY, "bench units: not enough memory"));
    for (int i = 0; !code && i < apps->count; i++)
        for (const char *c = classes; !code && *c; c++) {
            code = one_problem(t, workload_find(apps->word[i]), *c, cores, how);
            if (code) break;
            *worst = fmax(*worst, ratio_of(t->list, best_of(t), how->rounds));
            print(t, apps->word[i], *c, how, files_page());
            record(list, t, apps->word[i], *c);
        }
    free(t);
    return code;
}

int bench_units_real(const struct option_list *apps, const char *classes,
                     const struct units_real *how) {
    evn_output *file = NULL;
    double worst = 0;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON *list = cJSON_AddArrayToObject(root, "choices");
    int code = output_open(&file, how->json);
    if (!code) code = study(apps, classes, how, list, &worst);
    if (!code) fprintf(files_page(), "\nauto needs at most %.3f of the best\n", worst);
    cJSON_AddStringToObject(root, "command", command_line);
    if (code || !file) {
        cJSON_Delete(root);
    } else {
        char *text = record_text(root);
        if (!text || output_commit(file, text)) code = EXIT_FAILED;
        free(text);
    }
    evn_output_close(file);
    return code ? code : worst > 1 + how->within ? EXIT_UNVERIFIED : EXIT_DONE;
}
