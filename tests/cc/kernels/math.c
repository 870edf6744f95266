/* --kernels-math=same: functions within 1 ulp of those of long double, with what C says of
 * infinity, NaN and both zeros, and a hash of all their bits, which is to be the same everywhere.
 */
#include <math.h>
#include <omp_cu.h>
#include <stdio.h>
#include <string.h>

#define ONE(x)                                                                                     \
    x(exp) x(exp2) x(expm1) x(log) x(log2) x(log10) x(log1p) x(cbrt) x(sin) x(cos) x(tan) x(asin)  \
        x(acos) x(atan) x(sinh) x(cosh) x(tanh) x(asinh) x(acosh) x(atanh) x(erf) x(erfc)
#define TWO(x) x(pow) x(hypot) x(atan2)

enum { SPECIAL = 17, NUMBERS = SPECIAL * SPECIAL + 8 * 100, FUNCTIONS = 25 };
static double a[NUMBERS], b[NUMBERS], result[FUNCTIONS][NUMBERS];
static float single[2][NUMBERS];

static unsigned long long bits_of(double x) {
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7ff8000000000000 : bits;
}

static double random_number(double from, double to) {
    static unsigned long long state = 88172645463325252;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return from + (to - from) * (double)(state >> 11) * 0x1p-53;
}

static double random_power(void) {
    const double digits = random_number(1, 2);
    const double x = ldexp(digits, (int)random_number(-1074, 1024));
    return random_number(-1, 1) < 0 ? -x : x;
}

static void fill(void) {
    static const double special[SPECIAL] = {0,
                                            -0.0,
                                            1,
                                            -1,
                                            0.5,
                                            -0.5,
                                            2,
                                            -2,
                                            3,
                                            -3,
                                            0x1p-1074,
                                            0x1p+53,
                                            -0x1.fffffffffffffp+52,
                                            0x1.fffffffffffffp+1023,
                                            INFINITY,
                                            -INFINITY,
                                            NAN};
    static const double range[] = {1, 2, 10, 30, 800, 1e6, 1e18};
    for (int i = 0; i < NUMBERS; i++) {
        const int group = (i - SPECIAL * SPECIAL) / 100;
        const int pair = i < SPECIAL * SPECIAL, wide = group == 7;
        a[i] = pair   ? special[i / SPECIAL]
               : wide ? random_power()
                      : random_number(-range[group], range[group]);
        b[i] = pair ? special[i % SPECIAL] : wide ? random_power() : random_number(-20, 20);
    }
}

#define EVALUATE(name)   result[f++][i] = name(a[i]);
#define EVALUATE_2(name) result[f++][i] = name(a[i], b[i]);
static double twice(double x) { return 2 * sin(x); }
static void evaluate(int from, int to) {
#pragma omp target teams distribute parallel for
    for (int i = from; i < to; i++) {
        int f = 0;
        ONE(EVALUATE)
        TWO(EVALUATE_2)
        single[0][i] = expf((float)a[i] / 10) + powf(1.5f, (float)b[i]);
        single[1][i] = twice(a[i]);
    }
}

static int wrong(double is, long double right) {
    const double r = right, size = fabs(r);
    if (r != r || is != is) return (r != r) != (is != is);
    if (r == 0 || isinf(r) || isinf(is)) return r != is || signbit(r) != signbit(is);
    const long double ulp = size < 0x1p-1021 ? 0x1p-1074 : nextafter(size, INFINITY) - size;
    return fabsl(is - right) > 1.001L * ulp;
}

#define COMPARE(name)   compare(f, #name, i, name##l(a[i])), f++;
#define COMPARE_2(name) compare(f, #name, i, name##l(a[i], b[i])), f++;
static int faults;
static void compare(int f, const char *name, int i, long double right) {
    if (wrong(result[f][i], right) && faults++ < 20)
        printf("%s(%a, %a) is %a, not %La\n", name, a[i], b[i], result[f][i], right);
}

int main(void) {
    unsigned long long hash = 0;
    omp_register(a, sizeof a);
    omp_register(b, sizeof b);
    omp_register(result, sizeof result);
    omp_register(single, sizeof single);
    fill();
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int k = 0; k < 1; k++) evaluate(0, NUMBERS);
    omp_migrate(result);
    omp_migrate(single);
    omp_migrate(a);
    omp_migrate(b);
    for (int i = 0; i < NUMBERS; i++) {
        int f = 0;
        ONE(COMPARE)
        TWO(COMPARE_2)
        for (f = 0; f < FUNCTIONS; f++) hash = hash * 1000003 + bits_of(result[f][i]);
        hash = hash * 1000003 + bits_of(single[0][i]) + 7 * bits_of(single[1][i]);
        if (single[1][i] != (float)(2 * result[8][i]) && result[8][i] == result[8][i]) faults++;
    }
    printf("%d faults, %llx\n", faults, hash);
    return 0;
}
