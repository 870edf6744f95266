/* Births and steps on a device for tasks of one or two regions, of which the first is worked on. */
#include <evener/kernel.h>

/* A group a row of a table of births: half of each origin's values, and one. */
EVN_KERNEL(bear_half, 8,
           (EVN_BUFFER(double, arena), EVN_IN(evn_long, table), EVN_VALUE(int, width),
            EVN_VALUE(int, values), EVN_VALUE(int, in_row))) {
    EVN_SHARE(i, values) {
        const evn_long row = (evn_long)EVN_GROUP * width;
        const evn_long at = table[row + 1] / 8, count = table[row + 2], more = table[row + 3];
        double sum = 1;
        for (evn_long k = 0; k < count; k++) {
            const evn_long from = (k < in_row ? table[row + 4 + k] : table[more + k - in_row]) / 8;
            sum = sum + 0.5 * arena[from + i];
        }
        arena[at + i] = sum;
    }
}

EVN_KERNEL(halve, 8,
           (EVN_BUFFER(double, arena), EVN_IN(evn_long, table), EVN_VALUE(int, width),
            EVN_VALUE(int, values), EVN_VALUE(int, step))) {
    EVN_SHARE(i, values) {
        const evn_long at = table[EVN_GROUP * width + 1] / 8;
        arena[at + i] = 0.5 * arena[at + i] + (double)(i + step);
    }
}
