/* Work space of each thread, threadprivate or made in the region: variables of a teams block are
 * the unit's own, and live as long as the block. */
#include <stdio.h>
#include <stdlib.h>

static void fill(double *space, int n, int task) {
    for (int i = 0; i < n; i++) space[i] = task + 1.0 / (i + 1);
}

int main(void) {
    enum { TASKS = 60, N = 500 };
    double result[TASKS], sum = 0;
#ifdef BEFORE
#    pragma omp parallel
#else
#    pragma omp teams num_teams(auto)
#endif
    {
        double *space = malloc(N * sizeof *space);
        if (!space) abort();
#ifdef BEFORE
#    pragma omp for
#else
#    pragma omp distribute
#endif
        for (int task = 0; task < TASKS; task++) {
            fill(space, N, task);
            result[task] = space[task % N] + space[N - 1];
        }
        free(space);
    }
    for (int task = 0; task < TASKS; task++) sum += result[task];
    printf("%.15g\n", sum);
}
