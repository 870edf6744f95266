/* One thread, without a runtime. Modes: plain; calibrate prints the least seconds of a task of
 * TURNS turns. */
#include "work.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of all steps, so that other processes' work does not count. */
static void calibrate(const work *w) {
    double least = 1e9;
    for (int s = 0; s < w->steps; s++) {
        const double begin = now();
        for (int t = 0; t < w->tasks; t++) w->task(w, s, t);
        const double took = now() - begin;
        if (took < least) least = took;
    }
    printf("%.9e\n", least / w->tasks);
}

int WORK_MAIN(int argc, char **argv) {
    static work w;
    work_prepare(&w, argc, argv);
    if (!strcmp(w.mode, "calibrate")) return calibrate(&w), 0;
    for (int s = 0; s < w.warm + w.steps; s++) {
        if (s == w.warm) work_begin();
        for (int t = 0; t < w.tasks; t++) w.task(&w, s, t);
    }
    work_end();
    work_print(&w);
    return 0;
}
