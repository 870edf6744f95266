/* Arguments of the radiation stage's kernels, common to host and kernels. */
#pragma once

#include <evener/kernel.h>

#define RADIATION_ITEMS 64
#define RADIATION_STRIP 8 /* rows whose entries lie one from each after the other */

/* One update: the latest `steps` steps, known - steps .. known-1 of the group, into the next ones.
 */
struct radiation_update {
    evn_long at; /* where the latest steps' solutions begin */
    int stride;  /* from one step's solution to the next one's */
    int columns, rows;
    int strips; /* strips of the rows */
    int steps, known;
    int count;  /* steps that they go into: fewer than `steps` at the group's end */
    int wide;   /* width of the sums */
    int before; /* as SOLVE_READY wants it */
};

/* The latest steps lie in time for each column: RADIATION_WINDOW elements, of which the first
 * `steps` are zero, then come the steps, and then zeros for those that are not known. An entry
 * M_k(i,j) meets what is at RADIATION_PLACE and behind it. */
#define RADIATION_WINDOW(steps)      (4 * (steps))
#define RADIATION_PLACE(steps, j, k) ((j)*RADIATION_WINDOW(steps) + 2 * (steps) - (k))
