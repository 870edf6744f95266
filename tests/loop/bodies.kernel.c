/* What the bodies of the loop's tests do on a device. */
#include <evener/kernel.h>

/* Rows first .. first + rows - 1 of a batch's table: each task's counter goes up by the factor, a
 * double in the second region (1 where there is none), and its number is noted beside. All other
 * groups only cost time. */
EVN_KERNEL(visit, 8,
           (EVN_BUFFER(double, arena), EVN_IN(evn_long, table), EVN_VALUE(int, width),
            EVN_VALUE(int, first), EVN_VALUE(int, rows))) {
    EVN_FIRST {
        for (int r = first; EVN_GROUP == 0 && r < first + rows; r++) {
            const evn_long at = table[r * width + 1] / 8;
            const evn_long factor = width > 2 ? table[r * width + 2] : -1;
            arena[at] += factor < 0 ? 1 : arena[factor / 8];
            arena[at + 1] = (double)table[r * width];
        }
    }
}

/* One task, where evn_batch_at() says it is. */
EVN_KERNEL(visit_at, 8,
           (EVN_BUFFER(double, arena), EVN_VALUE(evn_long, at), EVN_VALUE(evn_long, factor),
            EVN_VALUE(int, task))) {
    EVN_FIRST {
        if (EVN_GROUP == 0) {
            arena[at / 8] += factor < 0 ? 1 : arena[factor / 8];
            arena[at / 8 + 1] = task;
        }
    }
}
