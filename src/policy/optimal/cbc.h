/* COIN-OR CBC, in a process of its own.
 *
 * Its library is opened there, too, and never in the program's process: LAPACK, which comes with
 * it, may start threads when it is opened; CBC keeps its options and its model in static memory,
 * takes over SIGINT, asks its user on standard output, and looks at the clock between its steps, of
 * which one can take minutes. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

/* Minimises column 0. */
struct cbc_program {
    int columns, rows, whole; /* columns 1 .. whole are 0 or 1 */
    size_t entries;
    const int *row, *column; /* row and column of each coefficient */
    const double *value;
    const double *lower, *upper; /* lower and upper bound of each row */
    const double *max, *start;   /* of each column: upper bound, initial value */
    double bound;                /* lower bound of column 0 */
    double gap;                  /* gap at which the search ends, as a fraction */
    long nodes;                  /* most nodes of the tree; 0: no limit */
};

struct cbc_answer {
    int done; /* 0: time was over, or CBC ended without an answer; nothing below is set then */
    int nodes;
    double proven;         /* lower bound of column 0; 0: none */
    int found;             /* 1: `chosen` is a solution */
    unsigned char *chosen; /* the columns from 1 that are 1; given by the caller, `whole` entries */
};

/* Solves the program. `until`: time by optimal_clock() when the process is ended, INFINITY: never;
 * `limit`: seconds of processor time after which CBC is to end by itself. EVN_MISSING: the library
 * is; EVN_MEMORY; EVN_SYSTEM: there can be no process. Any thread. */
evn_status cbc_solve(const struct cbc_program *p, double limit, double until,
                     struct cbc_answer *answer);

/* EVN_OK with version and file of the library in `text`, or an error as cbc_solve(). */
evn_status cbc_look(char *text, size_t size);
