/* Reductions of elements and sections: arrays, those of variable length, pointers, parameters. */
#include <stdio.h>
#include <stdlib.h>
static int hist[8];
static double most[5] = {-1e300, -1e300, 7, -1e300, -1e300};
static void count(int n, const int *key, int *restrict into, int bins, int from) {
#pragma omp teams distribute num_teams(3:CPU:1) reduction(+ : into[from : bins - from]) dist_schedule(dynamic, 2)
    for (int i = 0; i < n; i++)
        if (key[i] >= from) into[key[i]]++;
}
int main(void) {
    enum { N = 500 };
    int key[N], bins = 8, vla[bins];
    double sum = 0.5, *heap = calloc(4, sizeof *heap);
    unsigned char bits[2] = {0xff, 0xf0};
    for (int i = 0; i < N; i++) key[i] = i * 7 % 8;
    for (int b = 0; b < bins; b++) vla[b] = b;
    count(N, key, hist, bins, 2);
#pragma omp teams distribute num_teams(2:CPU:1, 1:CPU:2) reduction(+ : vla[:bins], sum) reduction(max : most[1 : 3]) reduction(- : heap[0 : 4])
    for (int i = 0; i < N; i++) {
        vla[key[i]] += sizeof vla / sizeof *vla == 8;
        sum += 1. / (i + 1);
        if (key[i] < 3 && i > most[1 + key[i]]) most[1 + key[i]] = i;
        heap[i % 4] -= i;
        if (i % 100 == 3) continue;
    }
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(& : bits[1])
    for (int i = 0; i < 9; i++) bits[1] &= (unsigned char)(0xff - (i == 4) * 16);
#pragma omp teams num_teams(2 : CPU : 1) reduction(+ : hist[7])
    {
#pragma omp distribute
        for (int i = 0; i < 10; i++) hist[7] += i;
    }
    for (int b = 0; b < bins; b++) printf("%d %d ", hist[b], vla[b]);
    for (int b = 0; b < 5; b++) printf("%g ", most[b]);
    for (int b = 0; b < 4; b++) printf("%g ", heap[b]);
    printf("%.17g %x %x\n", sum, bits[0], bits[1]);
    free(heap);
    return 0;
}
