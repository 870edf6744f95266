/* A step of a zone, by zones.f90's arithmetic: each group takes a zone of the batch. */
#include <evener/kernel.h>

/* A row of the table is a task's number and the bytes to its two fields. */
EVN_KERNEL(zones_step, 64,
           (EVN_BUFFER(double, all), EVN_IN(evn_long, table), EVN_VALUE(int, from))) {
    const int zone = (int)table[3 * EVN_GROUP], nz = 16;
    const int nx = 6 + 7 * (zone % 6), ny = 5 + 6 * (zone / 6);
    const evn_long u = table[3 * EVN_GROUP + 1 + from] / 8;
    const evn_long v = table[3 * EVN_GROUP + 2 - from] / 8;
    const int row = nx + 2, plane = row * (ny + 2);
    EVN_SHARE(i, nx * ny * (nz - 2)) {
        const int at = (1 + i / (nx * ny)) * plane + (1 + i / nx % ny) * row + 1 + i % nx;
        const evn_long c = u + at;
        all[v + at] = 0.125 * (2 * all[c] + all[c - 1] + all[c + 1] + all[c - row] + all[c + row] +
                               all[c - plane] + all[c + plane]);
    }
}
