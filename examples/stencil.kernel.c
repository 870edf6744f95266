/* A step of one zone of zones.c, from one of its fields to the other, on a device. */
#include "stencil.h"
#include <evener/kernel.h>

EVN_KERNEL(stencil, 128,
           (EVN_IN(double, a), EVN_VALUE(evn_long, from), EVN_BUFFER(double, b),
            EVN_VALUE(evn_long, to), EVN_VALUE(int, points))) {
    EVN_ITEMS(i) {
        const int at = ROW + EVN_GROUP * 128 + i;
        if (at < ROW + points) b[to / 8 + at] = MEAN(a + from / 8, at);
    }
}
