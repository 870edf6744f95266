/* teams blocks, distribute in them and in functions they call, macros, variants. */
#include <stdio.h>
#define FOR_Z(z) for (int z = 0; z < 20; z++)
#define UNITS    2 : CPU : 1
struct zone {
    unsigned n : 5;
};
static double a[40], b[40];
static void orphan(int n) {
#pragma omp distribute dist_schedule(static)
    for (int i = 0; i < n; i++) b[i] = a[i] * 2 + 1;
}
int pick_gpu(const int *x, double (*u)[3], int v[static 1]) {
    return 100 + *x + (int)u[0][1] + v[0];
}
#pragma omp declare variant(pick_gpu) match(device = {kind(gpu)})
int pick(const int *x, double (*u)[3], int v[static 1]) { return *x + (int)u[0][1] + v[0]; }
void say_gpu(void) { printf("gpu\n"); }
#pragma omp declare variant(say_gpu) match(device = {kind(gpu)})
static void say(void) { printf("cpu\n"); }
int main(void) {
    long total = 0;
    int last = -1, k = 3;
    struct zone zone = {17};
#pragma omp teams num_teams(2 : CPU : 1) reduction(+ : total) thread_limit(2)
    {
        int mine = 5;
#pragma omp distribute lastprivate(last) firstprivate(mine)
        for (long i = 0; i < zone.n; ++i) {
            a[i] = (double)(i + mine);
            last = (int)i;
            total += i;
        }
        orphan(17);
        int own = mine++;
#pragma omp distribute lastprivate(own) /* each unit's own, which all get */
        for (int i = 0; i < 9; i++) own = i;
        total += 8 - own;
#pragma omp distribute collapse(2) private(k)
        for (int i = 0; i < 4; i++) {
            for (int j = 10; j > 0; j = j - 3) k = i, total += k * j;
        }
    }
    double sum = 0;
    for (int i = 0; i < 17; i++) sum += a[i] * b[i];
    printf("%ld %d %g %d\n", total, last, sum, k);
    int s = 0;
#pragma omp teams distribute num_teams(UNITS) reduction(+ : s)
    for (int q = 0; q < 10; q++) s += q;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : s)
    FOR_Z(w) s += w;
    int u;
#pragma omp teams loop num_teams(auto) lastprivate(u) OMP_CU(dist_schedule(guided                  \
                                                                           : size)) bind(teams)    \
    order(concurrent)
    for (u = 3; u <= 9; u = u + 2) {
        ;
    }
    printf("%d %d\n", s, u);
    orphan(4);
    double x[1][3] = {{0, 4, 0}};
    int two = 2;
    printf("%d\n", pick(&two, x, &two));
    say();
    return 0;
}
