/* Births on a device: a task's values are those of its origins, each times its rank among them. */
#include <evener/kernel.h>

/* A group a row of a batch's table, for tasks of one region. */
EVN_KERNEL(bear, 8,
           (EVN_BUFFER(double, arena), EVN_IN(evn_long, table), EVN_VALUE(int, width),
            EVN_VALUE(int, values), EVN_VALUE(int, in_row))) {
    EVN_SHARE(i, values) {
        const evn_long row = (evn_long)EVN_GROUP * width;
        const evn_long at = table[row + 1] / 8, count = table[row + 2], more = table[row + 3];
        double sum = 1;
        for (evn_long k = 0; k < count; k++) {
            const evn_long from = (k < in_row ? table[row + 4 + k] : table[more + k - in_row]) / 8;
            sum = sum + (double)(k + 1) * arena[from + i];
        }
        arena[at + i] = sum;
    }
}
