/* The first of many, where a serial loop would break: the least of what iterations find. */
#include <limits.h>
#include <stdio.h>

int main(void) {
    enum { N = 5000 };
    int first = INT_MAX;
#ifdef BEFORE
#    pragma omp parallel for reduction(min : first)
#else
#    pragma omp teams distribute num_teams(auto) reduction(min : first)
#endif
    for (int i = 0; i < N; i++) {
        if (i > first) continue; /* of this unit's or thread's own */
        if ((long)i * i % 1009 == 5 && i < first) first = i;
    }
    printf("%d\n", first);
}
