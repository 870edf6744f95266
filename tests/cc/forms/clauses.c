/* All clauses of teams distribute in its split form, and collapse. */
#include <stdio.h>
#define NUM_ZONES 64
#define CORES     1
static double work(int z) {
    double x = z;
    for (int i = 0; i < 10; i++) x = x * 0.5 + i;
    return x;
}
int main(void) {
    int zone, last = 0, n = 7;
    double change = 0, biggest = -1;
    double vla[n], weight[NUM_ZONES], arr[3] = {0};
    int most = -5, scale = 2;
    for (int i = 0; i < n; i++) vla[i] = i;
    for (int i = 0; i < NUM_ZONES; i++) weight[i] = i;
#pragma omp teams num_teams(2:CPU:CORES, 1::GPU::1) private(scale) shared(vla, \
        n) default(none) firstprivate(arr) reduction(+: change) reduction(max: biggest, most)
#pragma omp distribute dist_schedule(dynamic, 2, memorize = 3) lastprivate(last)                   \
    weight(weight[zone]) speed(CPU : 1, GPU : 16)
    for (zone = NUM_ZONES - 1; zone >= 0; zone -= 3) {
        last = zone;
        if (zone % 5 == 0) continue;
        for (int k = 0; k < 10; k++) {
            if (k == 3) break;
            arr[0] += k;
        }
        scale = 3;
        change += work(zone) + scale + vla[zone % n];
        if (work(zone) > biggest) biggest = work(zone);
        if (zone * 2 > most) most = zone * 2;
        last = zone;
    }
    printf("%.17g %.17g %d %d\n", change, biggest, most, last);
    int sum = 0;
#pragma omp teams loop collapse(2) num_teams(2 : CPU : 1) reduction(+ : sum)
    for (int i = 0; i < 5; i++)
        for (unsigned char j = 9; 3 < j; --j) sum += i * 10 + j;
    printf("%d\n", sum);
    for (int step = 0; step < 8; step++) {
        const int blocks = 9 + 5 * (step % 3);
#pragma omp teams distribute num_teams(2 : CPU : 1) key(7 * b + (b > 3 ? step : 0))                \
    weight(1 + b % 4) reduction(+ : sum)
        for (int b = 0; b < blocks; b++) sum += b * step;
    }
    printf("%d\n", sum);
    return 0;
}
