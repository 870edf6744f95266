/* The tasks of a step as a directive of compute units, compiled by evener-cc. Mode: pull. */
#include "work.h"

int main(int argc, char **argv) {
    static work w;
    work_prepare(&w, argc, argv);
    for (int s = 0; s < w.warm + w.steps; s++) {
        if (s == w.warm) work_begin();
#pragma omp teams distribute num_teams(auto) dist_schedule(auto) weight(w.weight[t])
        for (int t = 0; t < w.tasks; t++) w.task(&w, s, t);
    }
    work_end();
    work_print(&w);
    return 0;
}
