/* Workloads of the programs here, their clocks, and the line that they print. */
#include "work.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* One row from the rows above and below; its two ends stay. */
static void heat_row(const double *restrict above, const double *restrict row,
                     const double *restrict below, double *restrict to, int points) {
    for (int i = 1; i < points - 1; i++)
        to[i] = 0.2 * (row[i] + row[i - 1] + row[i + 1] + above[i] + below[i]);
}

void work_heat(const double *from, double *to, int rows, int row) {
    for (int r = 1; r <= rows; r++) {
        const double *at = from + (size_t)r * row;
        heat_row(at - row, at, at + row, to + (size_t)r * row, row);
    }
}

/* The last row of the block above and the first one of the block below; a block's own outer row at
 * the ends of the plate. */
static const double *above(const work *w, int f, int t) {
    return t > 0 ? w->field[f][t - 1] + (size_t)ROWS(t - 1) * w->row : w->field[f][0];
}

static const double *below(const work *w, int f, int t) {
    return t < BLOCKS - 1 ? w->field[f][t + 1] + w->row
                          : w->field[f][t] + (size_t)(ROWS(t) + 1) * w->row;
}

static void copy_neighbours(const work *w, int f, int t) {
    const size_t bytes = (size_t)w->row * sizeof(double);
    if (t > 0) memcpy(w->field[f][t], above(w, f, t), bytes);
    if (t < BLOCKS - 1)
        memcpy(w->field[f][t] + (size_t)(ROWS(t) + 1) * w->row, below(w, f, t), bytes);
}

static void heat_task(const work *w, int step, int t) {
    const int f = step % 2;
    copy_neighbours(w, f, t);
    work_heat(w->field[f][t], w->field[1 - f][t], ROWS(t), w->row);
}

static void heat_direct_task(const work *w, int step, int t) {
    const int f = step % 2, row = w->row, rows = ROWS(t);
    const double *from = w->field[f][t];
    double *to = w->field[1 - f][t];
    for (int r = 1; r <= rows; r++) {
        const double *at = from + (size_t)r * row;
        heat_row(r == 1 ? above(w, f, t) : at - row, at, r == rows ? below(w, f, t) : at + row,
                 to + (size_t)r * row, row);
    }
}

static void *allocate(size_t bytes) {
    void *found = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!found) {
        fprintf(stderr, "not enough memory for %zu bytes\n", bytes);
        exit(3);
    }
    return found;
}

static void heat_open(work *w) {
    w->tasks = BLOCKS;
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < BLOCKS; t++) {
            const size_t points = (size_t)(ROWS(t) + 2) * w->row;
            w->field[f][t] = allocate(points * sizeof(double));
            for (size_t i = 0; i < points; i++) w->field[f][t][i] = (double)((i + 7 * t) % 11);
        }
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < BLOCKS; t++) copy_neighbours(w, f, t);
    w->weight = allocate(BLOCKS * sizeof(double));
    for (int t = 0; t < BLOCKS; t++) w->weight[t] = ROWS(t);
}

/* A chain of dependent integer operations, which no compiler makes shorter. */
static void turn(const work *w, int t, long turns) {
    unsigned long long x = w->state[8 * (size_t)t];
    for (long i = 0; i < turns; i++) x = x * 6364136223846793005ull + 1442695040888963407ull;
    w->state[8 * (size_t)t] = x;
}

static void even_task(const work *w, int step, int t) {
    (void)step;
    turn(w, t, w->turns);
}

static void uneven_task(const work *w, int step, int t) {
    (void)step;
    turn(w, t, w->turns * ROWS(t) / 32);
}

static void turns_open(work *w, int uneven) {
    w->state = allocate(8 * (size_t)w->tasks * sizeof *w->state);
    w->weight = allocate((size_t)w->tasks * sizeof(double));
    for (int t = 0; t < w->tasks; t++) {
        w->state[8 * (size_t)t] = (unsigned long long)t;
        w->weight[t] = uneven ? ROWS(t) : 1;
    }
}

static long number(const char *text, long least) {
    char *end;
    const long n = text ? strtol(text, &end, 10) : 0;
    if (!text || *end || n < least || n > 1000000000) {
        fprintf(stderr, "%s: expected a whole number from %ld\n", text ? text : "(nothing)", least);
        exit(2);
    }
    return n;
}

void work_prepare(work *w, int argc, char **argv) {
    *w = (work){0};
    const char *name = argc > 3 ? argv[3] : "";
    const int heat = !strcmp(name, "heat"), direct = !strcmp(name, "heat-direct");
    const int even = !strcmp(name, "even"), uneven = !strcmp(name, "uneven");
    if (!(heat || direct ? argc == 5 : (even || uneven) && argc == 6)) {
        fprintf(
            stderr,
            "usage: %s MODE STEPS heat|heat-direct ROW, or MODE STEPS even|uneven TASKS TURNS\n",
            argv[0]);
        exit(2);
    }
    w->mode = argv[1];
    w->steps = (int)number(argv[2], 1);
    w->warm = w->steps / 10 + 1;
    w->task = heat ? heat_task : direct ? heat_direct_task : even ? even_task : uneven_task;
    if (heat || direct) {
        w->row = (int)number(argv[4], 4);
        heat_open(w);
    } else {
        w->tasks = (int)number(argv[4], 1);
        w->turns = number(argv[5], 0);
        turns_open(w, uneven);
    }
}

int work_threads(void) {
    const char *text = getenv("PEERS_THREADS");
    return text ? (int)number(text, 1) : 0;
}

void work_cut(const work *w, int parts, int *cut) {
    double all = 0, before = 0;
    int p = 0;
    for (int t = 0; t < w->tasks; t++) all += w->weight[t];
    cut[0] = 0;
    for (int t = 0; t < w->tasks; t++) {
        while (p < parts - 1 && before + w->weight[t] / 2 >= all * (p + 1) / parts) cut[++p] = t;
        before += w->weight[t];
    }
    while (p < parts) cut[++p] = w->tasks;
}

static double wall_s, processor_s;

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void work_begin(void) {
    if (getenv("PEERS_READY")) {
        printf("ready\n");
        fflush(stdout);
        if (getchar() == EOF) exit(3);
    }
    processor_s = processor();
    wall_s = wall();
}

void work_end(void) {
    wall_s = wall() - wall_s;
    processor_s = processor() - processor_s;
}

static unsigned long long hash(const work *w) {
    unsigned long long h = 1469598103934665603ull, bits;
    const int f = (w->warm + w->steps) % 2;
    for (int t = 0; t < w->tasks; t++) {
        if (!w->row) h = (h ^ w->state[8 * (size_t)t]) * 1099511628211ull;
        for (size_t i = 0; w->row && i < (size_t)ROWS(t) * w->row; i++) {
            memcpy(&bits, &w->field[f][t][w->row + i], sizeof bits);
            h = (h ^ bits) * 1099511628211ull;
        }
    }
    return h;
}

void work_print(const work *w) {
    printf("%.9f %.9f %d %016llx\n", wall_s / w->steps, processor_s / w->steps, w->steps, hash(w));
}
