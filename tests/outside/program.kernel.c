/* Each group takes a block of the batch; a row of the table is its number and the bytes to p and v.
 */
#include <evener/kernel.h>
#include "program.h"

EVN_KERNEL(sheet_begin, 64,
           (EVN_BUFFER(double, all), EVN_IN(evn_long, table), EVN_VALUE(int, row),
            EVN_VALUE(int, scale))) {
    const int t = (int)table[3 * EVN_GROUP], values = (scale * ROWS(t) + 2) * row;
    const evn_long p = table[3 * EVN_GROUP + 1] / 8, v = table[3 * EVN_GROUP + 2] / 8;
    EVN_SHARE(i, values) { all[p + i] = all[v + i] = FIRST(t, i); }
}

EVN_KERNEL(sheet_step, 64,
           (EVN_BUFFER(double, all), EVN_IN(evn_long, table), EVN_VALUE(int, row),
            EVN_VALUE(int, scale))) {
    const int rows = scale * ROWS((int)table[3 * EVN_GROUP]);
    EVN_GLOBAL double *p = all + table[3 * EVN_GROUP + 1] / 8;
    EVN_GLOBAL double *v = all + table[3 * EVN_GROUP + 2] / 8;
    EVN_SHARE(i, (rows + 1) * row) { v[i] = PUSHED(v, p, i, row); }
    EVN_BARRIER;
    EVN_SHARE(i, rows * row) { p[row + i] = DRAWN(p, v, row + i, row); }
}
