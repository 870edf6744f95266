/* The rows of the model's table: processes by threads, predicted and measured. */
#pragma once

#include "model/figures.h"

enum { GROUPINGS = 2 }; /* binpack, map */

struct row {
    int cores, processes, threads;
    int least, most;                   /* threads of a process, under binpack */
    double eq1;                        /* speedup by equation (1), binpack */
    evn_prediction with[GROUPINGS];    /* the finer one */
    double measured[2];                /* seconds a step, binpack: processes, units; NAN */
    int best, best_eq1, best_measured; /* of its number of cores */
};

struct rows {
    int count, room;
    struct row *row;
};

/* All processes x threads of `cores` cores: processes divide them, there are no more than tasks,
 * and threads fit a node of `node` cores (0: any number). 0, or an exit status after a message. */
int rows_add(struct rows *rows, const struct job *job, const struct figures *f, int cores,
             int node);

/* Measures what fits this node, both ways, in turn. As above. */
int rows_measure(struct rows *rows, const struct job *job, int steps, int quiet);

/* Measured time of a row: as processes, or if there is none as units; NAN. */
double row_measured(const struct row *row);

/* Finds the best of each number of cores. */
void rows_rate(struct rows *rows);

/* Deviation of predicted from measured times, as ratios above 0; the number of rows. */
int rows_errors(const struct rows *rows, double *largest, double *middle);

/* Measured time of the best predicted over the best measured, the worst of all numbers of cores;
 * NAN: nothing is measured. */
double rows_choice(const struct rows *rows);

void rows_close(struct rows *rows);
