/* OpenMP: one parallel region around all steps. Modes: dynamic, guided, static (consecutive tasks),
 * weight (consecutive tasks of about the same weight), taskloop (one thread makes the tasks). */
#include "work.h"
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 1024 };
enum mode { DYNAMIC, GUIDED, STATIC, WEIGHT, TASKLOOP, MODES };
static const char *const name[MODES] = {"dynamic", "guided", "static", "weight", "taskloop"};
static int cut[THREADS_MAX + 1];

/* Called by every thread of the team; ends with a barrier. */
static void run(const work *w, enum mode mode, int step) {
    const int me = omp_get_thread_num();
    switch (mode) {
    case DYNAMIC:
#pragma omp for schedule(dynamic, 1)
        for (int t = 0; t < w->tasks; t++) w->task(w, step, t);
        break;
    case GUIDED:
#pragma omp for schedule(guided)
        for (int t = 0; t < w->tasks; t++) w->task(w, step, t);
        break;
    case STATIC:
#pragma omp for schedule(static)
        for (int t = 0; t < w->tasks; t++) w->task(w, step, t);
        break;
    case WEIGHT:
        for (int t = cut[me]; t < cut[me + 1]; t++) w->task(w, step, t);
#pragma omp barrier
        break;
    default:
#pragma omp single
    {
#pragma omp taskloop
        for (int t = 0; t < w->tasks; t++) w->task(w, step, t);
    }
    }
}

int WORK_MAIN(int argc, char **argv) {
    static work w;
    work_prepare(&w, argc, argv);
    int mode = 0;
    while (mode < MODES && strcmp(w.mode, name[mode])) mode++;
    if (mode == MODES) {
        fprintf(stderr, "%s: expected dynamic, guided, static, weight or taskloop\n", w.mode);
        return 2;
    }
    const int wanted = work_threads() ? work_threads() : omp_get_max_threads();
    const int threads = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    work_cut(&w, threads, cut);
#pragma omp parallel num_threads(threads)
    for (int s = 0; s < w.warm + w.steps; s++) {
        if (s == w.warm) {
#pragma omp master
            work_begin();
#pragma omp barrier
        }
        run(&w, (enum mode)mode, s);
    }
    work_end();
    work_print(&w);
    return 0;
}
