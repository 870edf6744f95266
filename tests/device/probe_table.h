/* What the probe kernels share with the test: a struct that is passed by value, and one that lies
 * in a buffer. */
#pragma once

#include <evener/kernel.h>

struct probe_values {
    double factor[3];
    int shift;
    evn_long large;
};

/* a piece of a buffer */
struct probe_piece {
    evn_long first; /* doubles from its start */
    int count, step;
};
