/* evener plan: what a schedule does with a workload, iteration by iteration, in a virtual clock. */
#include "command.h"
#include "options.h"
#include "record.h"
#include "workload.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One iteration as an object of the record. */
static cJSON *iteration(const evn_problem *tasks, const int *owner, const double *load,
                        double imbalance, double cut, int migrations) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "owner", cJSON_CreateIntArray(owner, tasks->tasks));
    cJSON_AddItemToObject(o, "load", record_numbers(load, tasks->units));
    record_number(o, "imbalance", imbalance);
    record_number(o, "cut_bytes", cut);
    cJSON_AddNumberToObject(o, "migrations", migrations);
    return o;
}

/* The zones as they lie in the mesh, each with the letter of its unit; north is up. */
static void draw_map(const npbmz_shape *shape, const int *owner, int units, FILE *out) {
    static const char letter[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (units > (int)sizeof letter - 1 || shape->zones[0] > 64) return;
    fprintf(out, "\nzones by unit, x to the right, y upwards:\n");
    for (int j = shape->zones[1] - 1; j >= 0; j--) {
        fputs("  ", out);
        for (int i = 0; i < shape->zones[0]; i++)
            fprintf(out, " %c", letter[owner[i + j * shape->zones[0]]]);
        fputc('\n', out);
    }
}

static int plan(struct workload *w, long iterations, struct output *record, int quiet,
                int verbose) {
    const evn_problem *tasks = &w->tasks;
    const size_t n = (size_t)tasks->tasks;
    int *owner = malloc(2 * n * sizeof *owner);
    int *before = owner ? owner + n : NULL;
    double *seconds = malloc(n * sizeof *seconds),
           *load = malloc((size_t)tasks->units * sizeof *load);
    cJSON *list = cJSON_CreateArray();
    evn_status status = EVN_OK;
    FILE *out = record->path && !strcmp(record->path, "-") ? stderr : stdout;
    if (!owner || !seconds || !load || !list) {
        complain("not enough memory for %zu tasks", n);
        status = EVN_MEMORY;
    }
    if (!status && !quiet)
        fprintf(out, "%s class %c: %d zones on %s under %s\n\n%9s  %9s  %9s  %12s  %10s\n",
                w->shape.name, w->shape.class_, tasks->tasks, evn_units_text(w->units),
                evn_schedule_text(w->schedule), "iteration", "imbalance", "speedup", "cut bytes",
                "migrations");
    for (long i = 0; !status && i < iterations; i++) {
        status = evn_schedule_simulate(w->schedule, owner, seconds);
        if (status) break;
        double imbalance = evn_problem_imbalance(tasks, owner, load);
        double cut = evn_problem_cut(tasks, owner, NULL);
        double total = 0, longest = 0, fastest = 0;
        for (int u = 0; u < tasks->units; u++) {
            total += load[u];
            longest = fmax(longest, load[u] / tasks->speed[u]);
            fastest = fmax(fastest, tasks->speed[u]);
        }
        int migrations = 0;
        for (size_t t = 0; i && t < n; t++) migrations += owner[t] != before[t];
        memcpy(before, owner, n * sizeof *owner);
        if (!quiet)
            fprintf(out, "%9ld  %9.3f  %9.3f  %12.0f  %10d\n", i + 1, imbalance,
                    total / fastest / longest, cut, migrations);
        cJSON_AddItemToArray(list, iteration(tasks, owner, load, imbalance, cut, migrations));
        status = evn_schedule_learn(w->schedule, owner, seconds);
    }
    if (!status && !quiet && tasks->units > 1) draw_map(&w->shape, owner, tasks->units, out);
    if (!status && verbose && !quiet) {
        char *text = evn_schedule_export(w->schedule);
        if (text) fprintf(out, "\nplan: %s\n", text);
        free(text);
    }
    int code = status ? give_up(status) : 0;
    if (!code && record->path) {
        cJSON *root = cJSON_CreateObject();
        char class_[2] = {w->shape.class_, 0};
        cJSON_AddStringToObject(root, "evener", EVN_VERSION);
        cJSON_AddStringToObject(root, "app", w->shape.name);
        cJSON_AddStringToObject(root, "class", class_);
        cJSON_AddStringToObject(root, "units", evn_units_text(w->units));
        cJSON_AddStringToObject(root, "schedule", evn_schedule_text(w->schedule));
        cJSON_AddNumberToObject(root, "tasks", tasks->tasks);
        cJSON_AddItemToObject(root, "weight", record_numbers(tasks->weight, tasks->tasks));
        cJSON_AddItemToObject(root, "speed", record_numbers(tasks->speed, tasks->units));
        cJSON_AddItemToObject(root, "iterations", list);
        list = NULL;
        cJSON_AddStringToObject(root, "command", command_line);
        char *text = record_text(root);
        if (!text || output_commit(record, text)) code = EXIT_FAILED;
        free(text);
    }
    cJSON_Delete(list);
    free(owner);
    free(seconds);
    free(load);
    return code;
}

int command_plan(int argc, char **argv) {
    struct workload_names names = {.class_ = "S", .units = "auto", .schedule = "guided:size"};
    const char *json = NULL;
    long iterations = 4;
    int quiet = 0, verbose = 0;
    const struct option table[] = {
        {"class", "S", "problem class, S W A B C D E or F (default S)", OPTION_TEXT, &names.class_,
         0, 0},
        {"units", "LIST",
         "compute units, as 4:CPU:4,2:GPU:1; they need not be there (default auto)", OPTION_TEXT,
         &names.units, 0, 0},
        {"speeds", "LIST", "speed of each unit, as 1,1,5 (default: its number of cores)",
         OPTION_TEXT, &names.speeds, 0, 0},
        {"schedule", "SPEC",
         "static, dynamic, guided:size (default), guided:time, weighted, binpack, interval, map, "
         "optimal",
         OPTION_TEXT, &names.schedule, 0, 0},
        {"iterations", "N", "instances of the loop to plan (default 4)", OPTION_NUMBER, &iterations,
         1, 1000000},
        {"json", "FILE", "the record; - is standard output", OPTION_TEXT, &json, 0, 0},
        {"quiet", NULL, "no table", OPTION_FLAG, &quiet, 0, 0},
        {"verbose", NULL, "the plan as text, too", OPTION_FLAG, &verbose, 0, 0},
        {0},
    };
    int words;
    int code = options_read("plan", table, argc, argv, &names.app, 1, &words);
    if (code < 0) {
        printf(
            "usage: evener plan APP [options]\n\n"
            "What a schedule does with a workload's tasks, without computing anything. Each\n"
            "iteration is one instance of the loop in a virtual clock, in which a task takes its\n"
            "weight over the speed of its unit.\n\n");
        options_help(table);
        return EXIT_DONE;
    }
    if (code) return code;
    struct workload w;
    struct output record = {.fd = -1};
    code = workload_open(&w, &names, EVN_DESCRIBE_ONLY);
    if (!code && output_open(&record, json)) code = EXIT_USAGE;
    if (!code) code = plan(&w, iterations, &record, quiet, verbose);
    output_discard(&record);
    workload_close(&w);
    return code;
}
