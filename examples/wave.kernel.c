/* Half a step of the wave equation each: a group takes a block of the batch. */
#include "wave.h"
#include <evener/kernel.h>

/* A row of the table is a task's number and the bytes to its pressure, velocity and shape. */
#define PLACES(table, all, ints)                                                                   \
    const evn_long p = table[4 * EVN_GROUP + 1] / 8, s = table[4 * EVN_GROUP + 3] / 4;             \
    const int nx = ints[s + NX], ny = ints[s + NY], row = nx + 2;                                  \
    const evn_long u = table[4 * EVN_GROUP + 2] / 8, v = u + row * (ny + 2)

EVN_KERNEL(wave_pressure, 64,
           (EVN_BUFFER(double, all), EVN_IN(int, ints), EVN_IN(evn_long, table))) {
    PLACES(table, all, ints);
    EVN_SHARE(i, nx * ny) {
        const int at = (i / nx + 1) * row + i % nx + 1;
        all[p + at] = PRESSURE((all + p), (all + u), (all + v), at, row);
    }
}

EVN_KERNEL(wave_velocity, 64,
           (EVN_BUFFER(double, all), EVN_IN(int, ints), EVN_IN(evn_long, table))) {
    PLACES(table, all, ints);
    EVN_SHARE(i, nx * ny) {
        const int at = (i / nx + 1) * row + i % nx + 1;
        if (i % nx || !ints[s + AT_LEFT]) all[u + at] = ALONG_X((all + p), (all + u), at);
        if (i / nx || !ints[s + AT_BOTTOM]) all[v + at] = ALONG_Y((all + p), (all + v), at, row);
    }
}
