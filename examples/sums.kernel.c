/* Partial sums: each group of items adds up its part of x. */
#include <evener/kernel.h>

#define GROUP 128

EVN_KERNEL(partial_sums, GROUP, (EVN_IN(double, x), EVN_BUFFER(double, sum), EVN_VALUE(int, n))) {
    EVN_LOCAL_ARRAY(double, part, GROUP);
    EVN_ITEMS(i) {
        double s = 0;
        for (int at = EVN_GROUP * GROUP + i; at < n; at += EVN_GROUPS * GROUP) s += x[at];
        part[i] = s;
    }
    EVN_BARRIER;
    EVN_FIRST {
        double s = 0;
        for (int i = 0; i < GROUP; i++) s += part[i];
        sum[EVN_GROUP] = s;
    }
}
