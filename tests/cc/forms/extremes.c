/* Reductions of min and max that find nothing, or infinities, leave what was there. */
#include <math.h>
#include <stdio.h>

int main(void) {
    float most = -INFINITY, f = INFINITY;
    double least = INFINITY, d = -INFINITY, none = NAN;
    long double l = -INFINITY;
    unsigned char small = 3, large = 3;
    long long low = -1, high = 1;
#pragma omp teams distribute num_teams(3                                                           \
                                       : CPU : 1) reduction(max                                    \
                                                            : most, d, l, large, high, none)       \
    reduction(min                                                                                  \
              : f, least, small, low)
    for (int i = 0; i < 12; i++) {
        if (i > 20) most = 1, least = 1;
        if (-INFINITY > d) d = 1;
        if (i == 7) f = -INFINITY, l = INFINITY;
        if (i % 5 + 1 < small) small = (unsigned char)(i % 5 + 1);
        if (i > large) large = (unsigned char)i;
        if (i - 30 < low) low = i - 30;
        if (i > none) none = i;
        if (i - 30 > high) high = i;
    }
    printf("%g %g %g %g %Lg %d %d %lld %lld %d\n", most, least, f, d, l, small, large, low, high,
           none != none);
#pragma omp teams num_teams(2 : CPU : 2) reduction(max : d) reduction(min : least)
    {
#pragma omp distribute
        for (int i = 0; i < 12; i++)
            if (i > 20) d = 1, least = 1;
    }
    printf("%g %g\n", d, least);
    return 0;
}
