/* Workloads that one program for each runtime runs, so that runtimes are compared by the same tasks
 * in the same memory. A step is a loop over tasks and a barrier; tasks of a step are independent.
 *
 *     PROGRAM MODE STEPS heat ROW            64 blocks of 4 to 60 rows of ROW points, two fields
 *     PROGRAM MODE STEPS heat-direct ROW     the same; rows of neighbours are read in place
 *     PROGRAM MODE STEPS uneven TASKS TURNS  tasks of 1/8 to 15/8 of TURNS turns of a generator
 *     PROGRAM MODE STEPS even TASKS TURNS    all of TURNS turns: tiles
 *
 * prints seconds and processor seconds of a step, steps, and a hash of all results. A tenth as many
 * steps go before and are not timed. With PEERS_READY set the program says "ready" before the timed
 * steps and waits for a line. PEERS_THREADS: threads of the peers, all cores where it is not set.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The entry of a program; evener bench tasks has some of them under other names. */
#ifndef WORK_MAIN
#    define WORK_MAIN main
#endif
int WORK_MAIN(int argc, char **argv);

enum { BLOCKS = 64 };
#define ROWS(t) (4 + (t)*29 % 57)

typedef struct work {
    const char *mode; /* one of the runtime's modes */
    int tasks, steps, warm;
    double *weight; /* weight of each task */
    /* Task t in a step counted from 0, the warm ones included. */
    void (*task)(const struct work *w, int step, int t);
    int row;                   /* heat: points of a row; 0 for other workloads */
    double *field[2][BLOCKS];  /* ROWS(t) + 2 rows, the first and the last are the neighbours' */
    long turns;                /* turns of a mean task */
    unsigned long long *state; /* eight numbers each, of which the first counts */
} work;

/* Reads the command line; ends the program with status 2 where that is wrong. */
void work_prepare(work *w, int argc, char **argv);
/* Threads that the user asks for, 0: the runtime's own choice. */
int work_threads(void);
/* Before and after the timed steps, by the thread that began the program. */
void work_begin(void);
void work_end(void);
/* Prints the line. */
void work_print(const work *w);
/* A block's new field, rows 1 to ROWS(t), from the old one. */
void work_heat(const double *from, double *to, int rows, int row);
/* Cuts tasks into parts of consecutive ones with about the same weight: cut[0] to cut[parts]. */
void work_cut(const work *w, int parts, int *cut);

#ifdef __cplusplus
}
#endif
