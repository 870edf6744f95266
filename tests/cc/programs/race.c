/* A race between two units, for clang's thread sanitizer: with -DRACE every iteration adds to a
 * variable that all share, else each to its own. The units meet in between, so both are at work. */
#include <omp_cu.h>
#include <stdio.h>

int main(void) {
    long value[64] = {0}, all = 0;
    int come = 0;
    for (int round = 0; round < 20; round++) {
        come = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1)
        for (int z = 0; z < 2; z++) {
            __atomic_fetch_add(&come, 1, __ATOMIC_RELAXED);
            while (__atomic_load_n(&come, __ATOMIC_RELAXED) < 2) continue;
            for (int i = 0; i < 2000; i++) {
#ifdef RACE
                all += i;
#endif
                value[z * 32] += i;
            }
        }
    }
    for (int z = 0; z < 64; z++) all += value[z];
    printf("%d\n", all >= 2 * 20 * 1999000L);
    return 0;
}
