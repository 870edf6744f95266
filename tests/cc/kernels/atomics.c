/* atomic in its forms, of every type that devices exchange. */
#include <omp_cu.h>
#include <stdio.h>

enum { N = 700, BINS = 7 };
struct bin {
    int count;
    float weight;
};

#pragma omp declare target
static void add(long *to, long by) {
#pragma omp atomic
    *to += by;
}
#pragma omp end declare target

static void fill(int n, const int *a, int *count, unsigned *bits, long *sum, unsigned long *mix,
                 float *f, double *d, struct bin *bin, int *order, int *second, int *third,
                 int *taken) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        const int k = a[i] % BINS;
        int own = 0, seen, later;
        long was;
#pragma omp atomic
        count[k]++;
#pragma omp atomic update
        bits[k] |= 1u << i % 32;
#pragma omp atomic relaxed
        sum[k] = sum[k] + (long)i * 10000000000;
#pragma omp atomic
        mix[k] = ((unsigned long)i << 33) ^ mix[k];
#pragma omp atomic
        f[k] += 0.5f;
#pragma omp atomic
        d[k] -= i % 4 * 0.25;
#pragma omp atomic
        bin[k].count += 2;
#pragma omp atomic
        bin[k].weight *= i % 70 ? 1 : 2;
#pragma omp atomic
        own += i;
        add(&sum[BINS], own);
#pragma omp atomic capture
        seen = count[BINS]++;
        order[seen] = 1;
#pragma omp atomic capture
        later = count[BINS + 1] += 2;
        taken[later / 2 - 1] = later;
#pragma omp atomic capture
        {
            was = sum[BINS + 1];
            sum[BINS + 1] += 1;
        }
        second[was] += 2;
#pragma omp atomic write
        bits[BINS] = 5;
#pragma omp atomic read
        seen = count[BINS + 2];
        third[i] = seen;
    }
}

static int a[N], count[BINS + 3], order[N], second[N], third[N], taken[N];
static unsigned bits[BINS + 1];
static long sum[BINS + 2];
static unsigned long mix[BINS];
static float f[BINS];
static double d[BINS];
static struct bin bin[BINS];

int main(void) {
    for (int i = 0; i < N; i++) a[i] = i * 7919 % 1009;
    for (int i = 0; i < BINS; i++) bin[i].weight = 1;
    count[BINS + 2] = 9;
    omp_register(a, sizeof a), omp_register(count, sizeof count), omp_register(bits, sizeof bits);
    omp_register(sum, sizeof sum), omp_register(mix, sizeof mix), omp_register(f, sizeof f);
    omp_register(d, sizeof d), omp_register(bin, sizeof bin), omp_register(order, sizeof order);
    omp_register(second, sizeof second), omp_register(third, sizeof third);
    omp_register(taken, sizeof taken);
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int once = 0; once < 1; once++)
        fill(N, a, count, bits, sum, mix, f, d, bin, order, second, third, taken);
    omp_migrate(count), omp_migrate(bits), omp_migrate(sum), omp_migrate(mix), omp_migrate(f);
    omp_migrate(d), omp_migrate(bin), omp_migrate(order), omp_migrate(second);
    omp_migrate(third), omp_migrate(taken);
    long all = 0;
    for (int i = 0; i < N; i++) all += order[i] * (i % 9 + 1) + taken[i] + second[i] * i + third[i];
    for (int i = 0; i < BINS; i++)
        printf("%d %u %ld %lu %g %g %d %g\n", count[i], bits[i], sum[i], mix[i], f[i], d[i],
               bin[i].count, bin[i].weight);
    printf("%ld %ld %ld %u %d %d\n", all, sum[BINS], sum[BINS + 1], bits[BINS], count[BINS],
           count[BINS + 1]);
    return 0;
}
