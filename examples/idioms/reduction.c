/* Sums: a variable, an array, an element, and a member by a variable of its own. */
#include <stdio.h>

int main(void) {
    enum { N = 1000, BINS = 8 };
    struct {
        long count;
    } all = {5};
    long sum = 0, histogram[BINS] = {0}, *slot = histogram;
    int most = -1;
    long count = all.count;
#ifdef BEFORE
#    pragma omp parallel for reduction(+ : sum, count, histogram[:BINS]) reduction(max : most)
#else
#pragma omp teams distribute num_teams(auto) reduction(+ : sum, count, histogram[:BINS]) reduction(max : most)
#endif
    for (int i = 0; i < N; i++) {
        sum += i;
        count += i % 3 == 0;
        histogram[i * 7 % BINS]++;
        if (i * 37 % 1001 > most) most = i * 37 % 1001;
    }
    all.count = count;
#ifdef BEFORE
#    pragma omp parallel for reduction(+ : slot[3])
#else
#    pragma omp teams distribute num_teams(auto) reduction(+ : slot[3])
#endif
    for (int i = 0; i < N; i++) slot[3] += i;
    printf("%ld %ld %d %ld %ld\n", sum, all.count, most, histogram[3], histogram[7]);
}
