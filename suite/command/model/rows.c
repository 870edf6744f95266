/* Predicting and measuring processes by threads. */
#include "model/rows.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

static const char *const grouping[GROUPINGS] = {"binpack", "map"};

static evn_status predict(struct row *row, const struct job *job, const struct figures *f,
                          const evn_processes *p, int *owner) {
    int *threads = owner + job->tasks.tasks;
    const evn_prediction_input in = {.tasks = &job->tasks,
                                     .seconds = f->seconds,
                                     .alpha = f->alpha,
                                     .phases = job->is->teams->phases,
                                     .arg = job->state,
                                     .copy_per_byte = f->copy_per_byte,
                                     .near = f->near,
                                     .far = f->far};
    evn_status status = EVN_OK;
    for (int g = GROUPINGS - 1; !status && g >= 0; g--) { /* binpack last: its threads are shown */
        status = evn_predict_group(&job->tasks, grouping[g], p, owner, threads);
        if (!status) status = evn_predict_step(&in, p, owner, threads, &row->with[g]);
    }
    if (status) return status;
    row->eq1 = evn_predict_speedup(&job->tasks, p, owner, threads, f->alpha,
                                   job->is->teams->length(job->state));
    row->least = row->most = threads[0];
    for (int i = 1; i < p->processes; i++) {
        row->least = threads[i] < row->least ? threads[i] : row->least;
        row->most = threads[i] > row->most ? threads[i] : row->most;
    }
    return EVN_OK;
}

static struct row *new_row(struct rows *rows) {
    if (rows->count == rows->room) {
        const int room = rows->room ? 2 * rows->room : 16;
        struct row *row = realloc(rows->row, (size_t)room * sizeof *row);
        if (!row) return NULL;
        rows->row = row;
        rows->room = room;
    }
    struct row *row = &rows->row[rows->count++];
    *row = (struct row){.measured = {NAN, NAN}};
    return row;
}

int rows_add(struct rows *rows, const struct job *job, const struct figures *f, int cores,
             int node) {
    const int tasks = job->tasks.tasks, before = rows->count;
    for (int n = 1; n <= cores && n <= tasks; n++) {
        if (cores % n || (node && cores / n > node)) continue;
        const evn_processes p = {.processes = n, .threads = cores / n, .node = node};
        struct row *row = new_row(rows);
        int *owner = malloc(sizeof *owner * (size_t)(tasks + n));
        evn_status status =
            row && owner ? EVN_OK
                         : evn_fail(EVN_MEMORY, "model: not enough memory for %d tasks", tasks);
        if (!status) {
            row->cores = cores;
            row->processes = n;
            row->threads = cores / n;
            status = predict(row, job, f, &p, owner);
        }
        free(owner);
        if (status) return give_up(status);
    }
    if (rows->count > before) return 0;
    return complain("--cores %d: no number of processes up to the %d %ss divides them into threads "
                    "that fit nodes of %d cores; expected at most %lld, or more cores of a node",
                    cores, tasks, job->is->noun, node, (long long)tasks * node);
}

void rows_close(struct rows *rows) {
    free(rows->row);
    *rows = (struct rows){0};
}

/* One row in all ways that there are: a process alone is a unit, and threads that were shared out
 * again are not of one list for all processes. */
static int measure(struct row *row, const struct job *job, int steps, int quiet) {
    static const char *const name[] = {"processes", "units", "units, reassigned"};
    const int reassigned = row->least != row->most, alone = row->processes == 1;
    const enum as way[] = {AS_PROCESSES, reassigned ? AS_REASSIGNED : AS_UNITS};
    double sample[2][ROUNDS];
    int code = 0;
    for (int r = 0; !code && r < ROUNDS; r++)
        for (int w = reassigned; !code && w < 2 - alone; w++) {
            if (!quiet)
                fprintf(stderr, "%s %s: %d x %d as %s, round %d of %d ..\n", job->is->name,
                        job->shape.key, row->processes, row->threads, name[way[w]], r + 1, ROUNDS);
            code = figures_run(job, steps, (struct way){row->processes, row->threads, way[w]}, NULL,
                               &sample[w][r], NULL);
        }
    for (int w = reassigned; !code && w < 2 - alone; w++)
        row->measured[w] = median(sample[w], ROUNDS);
    if (alone) row->measured[1] = row->measured[0];
    return code;
}

int rows_measure(struct rows *rows, const struct job *job, int steps, int quiet) {
    int code = 0;
    for (int i = 0; !code && i < rows->count; i++)
        if (rows->row[i].cores <= evn_machine_cores(job->machine))
            code = measure(&rows->row[i], job, steps, quiet);
    return code;
}

double row_measured(const struct row *row) {
    return isnan(row->measured[0]) ? row->measured[1] : row->measured[0];
}

/* The row with the least of what `of` gives, of those from i on with as many cores; *next: the
 * first of others. -1: none has one. */
static int least(const struct rows *rows, int i, double (*of)(const struct row *), int *next) {
    int best = -1, k = i;
    for (; k < rows->count && rows->row[k].cores == rows->row[i].cores; k++) {
        if (isnan(of(&rows->row[k]))) continue;
        if (best < 0 || of(&rows->row[k]) < of(&rows->row[best])) best = k;
    }
    *next = k;
    return best;
}

static double predicted(const struct row *row) { return row->with[0].step_s; }
static double slowness(const struct row *row) { return 1 / row->eq1; }

void rows_rate(struct rows *rows) {
    for (int i = 0, next; i < rows->count; i = next) {
        const int best = least(rows, i, predicted, &next), eq1 = least(rows, i, slowness, &next),
                  measured = least(rows, i, row_measured, &next);
        if (best >= 0) rows->row[best].best = 1;
        if (eq1 >= 0) rows->row[eq1].best_eq1 = 1;
        if (measured >= 0) rows->row[measured].best_measured = 1;
    }
}

int rows_errors(const struct rows *rows, double *largest, double *middle) {
    double *error = malloc(sizeof *error * (size_t)(rows->count + 1));
    int n = 0;
    *largest = *middle = NAN;
    for (int i = 0; error && i < rows->count; i++) {
        const double is = row_measured(&rows->row[i]);
        if (!isnan(is)) error[n++] = fabs(predicted(&rows->row[i]) / is - 1);
    }
    if (n) *middle = median(error, n); /* which sorts */
    if (n) *largest = error[n - 1];
    free(error);
    return n;
}

double rows_choice(const struct rows *rows) {
    double worst = NAN;
    for (int i = 0, next; i < rows->count; i = next) {
        const int measured = least(rows, i, row_measured, &next);
        if (measured < 0) continue;
        int best = -1; /* predicted, of those that were measured */
        for (int k = i; k < next; k++) {
            if (isnan(row_measured(&rows->row[k]))) continue;
            if (best < 0 || predicted(&rows->row[k]) < predicted(&rows->row[best])) best = k;
        }
        worst = fmax(worst, row_measured(&rows->row[best]) / row_measured(&rows->row[measured]));
    }
    return worst;
}
