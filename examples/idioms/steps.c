/* Steps whose loops were within one parallel region: the loops stay, the region goes. What single
 * or master did is plain code between loops, and each loop's end is the barrier. */
#include <stdio.h>

int main(void) {
    enum { N = 400, STEPS = 30 };
    double u[N], v[N], largest = 0;
    for (int i = 0; i < N; i++) u[i] = i % 17;
#ifdef BEFORE
#    pragma omp parallel
#endif
    for (int step = 0; step < STEPS; step++) {
#ifdef BEFORE
#    pragma omp for
#else
#    pragma omp teams distribute num_teams(auto)
#endif
        for (int i = 1; i < N - 1; i++) v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
#ifdef BEFORE
#    pragma omp single
#endif
        {
            v[0] = v[1];
            v[N - 1] = v[N - 2];
            largest += v[step];
        }
#ifdef BEFORE
#    pragma omp for
#else
#    pragma omp teams distribute num_teams(auto)
#endif
        for (int i = 0; i < N; i++) u[i] = v[i];
    }
    printf("%.15g %.15g\n", largest, u[N / 2]);
}
