/* The kernel of the cases: what they do to a block of cells, in the arena from a byte on. */
#include <evener/kernel.h>

EVN_KERNEL(grow, 128,
           (EVN_BUFFER(double, arena), EVN_VALUE(evn_long, at), EVN_VALUE(double, by),
            EVN_VALUE(int, n))) {
    EVN_ITEMS(k) {
        const int i = EVN_GROUP * 128 + k;
        if (i < n) arena[at / 8 + i] = arena[at / 8 + i] * 0.5 + by * i;
    }
}
