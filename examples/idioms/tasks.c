/* Independent tasks and sections: iterations of a loop over what is to be done. Tasks within an
 * iteration are its unit's. */
#include <stdio.h>

static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

int main(void) {
    static const int job[] = {20, 5, 18, 22, 9, 21};
    enum { JOBS = sizeof job / sizeof *job };
    long result[JOBS], sum = 0;
#ifdef BEFORE
#    pragma omp parallel
#    pragma omp single
    for (int i = 0; i < JOBS; i++) {
#    pragma omp task firstprivate(i)
        result[i] = fibonacci(job[i]);
    }
#else
#    pragma omp teams distribute num_teams(auto) dist_schedule(dynamic)
    for (int i = 0; i < JOBS; i++) result[i] = fibonacci(job[i]);
#endif
    for (int i = 0; i < JOBS; i++) sum += result[i];
    printf("%ld\n", sum);
}
