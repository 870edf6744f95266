/* One number that every unit, schedule, team, compiler and way of rewriting must give: sums whose
 * last bits depend on the order in which they are added, and values of inner regions. */
#include <omp_cu.h>
#include <stdio.h>
#include <string.h>

enum { N = 53, POINTS = 40 };
static double value[N][POINTS];
static unsigned long long hash;

static void mix(double x) {
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
}

/* A team's work; each point is computed by one thread. */
static double fill(int z, double from) {
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < POINTS; i++) {
        double x = from + i;
        for (int k = 0; k < 5 + z % 7; k++) x = x * 0.7 + 1.0 / (x + z + 1);
        value[z][i] = x;
    }
    return value[z][z % POINTS];
}

static double rows(void) {
    double total = 1e-3, product = 1;
#pragma omp teams distribute num_teams(2:CPU:2, 1:GPU:1) dist_schedule(runtime)                  \
    reduction(+ : total) reduction(* : product) weight(1 + z % 4)
    for (int z = N - 1; z >= 0; z--) {
        total += fill(z, total); /* twice: the copy is the iteration's own */
        total += 1e-9 * z;
        product *= 1 + 1e-3 * value[z][3];
    }
    mix(total);
    mix(product);
    return total;
}

static void blocks(double from) {
    float most = -1;
    double rest = 5;
    int last = 0, cells = 0;
    for (int step = 0; step < 3; step++) {
#pragma omp teams num_teams(2 : CPU : 2, 1 : GPU : 1) reduction(+ : cells) reduction(max : most)
        {
            double own = from;
#pragma omp distribute dist_schedule(runtime) lastprivate(last)
            for (int z = 0; z < N; z += 2) {
                last = z;
                cells += (int)fill(z, own + step);
                if ((float)value[z][7] > most) most = (float)value[z][7];
            }
        }
#pragma omp teams distribute collapse(2) num_teams(2:CPU:2, 1:GPU:1) dist_schedule(runtime)      \
    reduction(- : rest)
        for (int z = 0; z < N; z++)
            for (long i = 1; i < POINTS; i = i + 3) rest -= value[z][i] / 7;
    }
    mix(most);
    mix(rest);
    mix(last);
    mix(cells);
}

int main(void) {
    for (int step = 0; step < 3; step++) blocks(rows());
    for (int z = 0; z < N; z++)
        for (int i = 0; i < POINTS; i++) mix(value[z][i]);
    printf("%016llx\n", hash);
    return 0;
}
