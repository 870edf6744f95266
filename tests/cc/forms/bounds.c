/* Bounds as C compares them: unsigned ones near the top, signed ones that become unsigned, narrow
 * variables; and weights whose expression runs directives of its own, the same one included. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST = 16 };

static void show(const char *name, const int *seen, int count) {
    printf("%s %d:", name, count);
    for (int i = 0; i < MOST; i++) printf(" %d", seen[i]);
    puts("");
}

#define CASE(name, type, head, at)                                                                 \
    {                                                                                              \
        int seen[MOST] = {0}, count = 0;                                                           \
        _Pragma("omp teams distribute num_teams(2:CPU:1) reduction(+ : count)") for (type head) {  \
            count++;                                                                               \
            seen[at] = 1 + (int)((uint64_t)i % 7);                                                 \
        }                                                                                          \
        show(name, seen, count);                                                                   \
    }

static double measure(int n) {
    double s = 0;
#pragma omp teams distribute num_teams(2:CPU:1) weight(n < 3 ? k + 1 : measure(2)) reduction(+ : s) dist_schedule(weighted : size)
    for (int k = 0; k < 2 * n; k++) s += k;
    return s + 1;
}

int main(void) {
    const unsigned long long middle = 1ULL << 63, top = ~0ULL;
    const size_t most = SIZE_MAX;
    const int minus = -1;
    CASE("middle", unsigned long long, i = middle - 4; i < middle + 4; i++, i - (middle - 4))
    CASE("middle down", unsigned long long, i = middle + 4; i >= middle - 4;
         i -= 2, i - (middle - 4))
    CASE("top", unsigned long long, i = top - 9; i < top; i += 3, i - (top - 9))
    CASE("size", size_t, i = most / 2 - 5; most / 2 + 5 > i; i++, i - (most / 2 - 5))
    CASE("unsigned above a negative", unsigned, i = 5; i > minus; i--, i)
    CASE("unsigned below a negative", unsigned, i = (unsigned)minus - 3; i < minus;
         i++, (unsigned)minus - i)
    CASE("signed below an unsigned", int, i = minus; i < 5u; i++, i + 1)
    CASE("signed below an unsigned 64", int, i = minus - 3; i < 5ULL; i++, i + 4)
    CASE("narrow", unsigned char, i = 250; i < 255; i++, i - 250)
    CASE("narrow and signed", signed char, i = -128; i < -120; i += 3, i + 128)
    CASE("short and unsigned", unsigned short, i = 9; i > minus + 1; i--, i) {
        unsigned long long i = 3;
        int seen[MOST] = {0}, count = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : count) lastprivate(i)
        for (i = top - 8; i < top - 1; i += 2) {
            seen[i - (top - 8)] = 1;
            count++;
        }
        show("declared before", seen, count);
        printf("%llu\n", i);
    }
    {
        int seen[MOST] = {0}, count = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) collapse(2) reduction(+ : count)
        for (uint64_t i = middle - 2; i < middle + 2; i++)
            for (uint32_t k = 0xFFFFFFFDu; k < 0xFFFFFFFFu; k++) {
                count++;
                seen[4 * (i - (middle - 2)) + (k - 0xFFFFFFFDu)] = 1;
            }
        show("collapsed", seen, count);
    }
    double x[10] = {0};
#pragma omp teams distribute num_teams(2                                                           \
                                       : CPU : 1) weight(measure(i + 1)) dist_schedule(weighted    \
                                                                                       : size)
    for (int i = 0; i < 10; i++) x[i] = i;
    for (int i = 0; i < 10; i++) printf("%g ", x[i]);
    printf("%g\n", measure(4));
    return 0;
}
