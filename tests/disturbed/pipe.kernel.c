/* A step: each group takes a block of the batch. */
#include "pipe.h"
#include <evener/kernel.h>

EVN_KERNEL(pipe_step, 64,
           (EVN_BUFFER(double, all), EVN_IN(evn_long, table), EVN_VALUE(int, from))) {
    const evn_long u = table[3 * EVN_GROUP + 1 + from] / 8 + ROW;
    const evn_long v = table[3 * EVN_GROUP + 2 - from] / 8 + ROW;
    const int points = ROWS((int)table[3 * EVN_GROUP]) * ROW;
    EVN_SHARE(i, points) { all[v + i] = MOVED(all, u + i); }
}
