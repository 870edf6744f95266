/* A first program: 16 zones of unequal work on two units of one core each. Two lines differ from a
 * serial program, the #include of omp_cu.h and the #pragma; any other C compiler ignores the pragma
 * and computes the same bits. Build and run:
 *     evener-cc -O2 first.c -o first -lm
 *     EVENER_REPORT=1 ./first */
#include <math.h>
#include <omp_cu.h>
#include <stdio.h>

enum { ZONES = 16, STEPS = 200 };
static double value[ZONES];

/* The last zone is sixteen times the work of the first one. */
static void advance(int zone) {
    for (int i = 0; i < 2000 * (zone + 1); i++) value[zone] = sin(value[zone] + zone);
}

int main(void) {
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp teams distribute num_teams(2 : CPU : 1) dist_schedule(runtime) weight(zone + 1)
        for (int zone = 0; zone < ZONES; zone++) advance(zone);
    }
    for (int zone = 0; zone < ZONES; zone++) sum += value[zone];
    printf("%.17g\n", sum);
}
