/* atomic, critical and locks mean between units what they mean between threads. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    enum { N = 2000 };
    long sum = 0, list = 0, last = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#ifdef BEFORE
#    pragma omp parallel for
#else
#    pragma omp teams distribute num_teams(auto)
#endif
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        sum += i;
#pragma omp critical
        list ^= i * 5;
        omp_set_lock(&lock);
        if (i > last) last = i;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    printf("%ld %ld %ld\n", sum, list, last);
}
