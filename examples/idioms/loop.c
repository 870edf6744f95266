/* A loop over iterations of unequal work. */
#include <stdio.h>

static double work(int task) {
    double x = task;
    for (int i = 0; i < task * 100; i++) x = x * 0.5 + i % 7;
    return x;
}

int main(void) {
    enum { TASKS = 200 };
    double result[TASKS], sum = 0;
#ifdef BEFORE
#    pragma omp parallel for schedule(dynamic)
#else
#    pragma omp teams distribute num_teams(auto) weight(task)
#endif
    for (int task = 0; task < TASKS; task++) result[task] = work(task);
    for (int task = 0; task < TASKS; task++) sum += result[task];
    printf("%.15g\n", sum);
}
