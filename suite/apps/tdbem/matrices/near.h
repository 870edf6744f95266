/* The near part of some rows: row-vectors of k = 1 .. last, of all columns, for the radiation stage
 * (radiation.h) of a rank that has these rows.
 *
 * Their values come from the ranks that have the columns.
 */
#pragma once

#include "tdbem/matrices/slices.h"
#include <evener/program.h>

struct near {
    int from, to, last; /* rows from .. to-1; k up to `last` */
    struct slices s;    /* of these rows; no values before near_reserve() */
    size_t vectors, room, runs;
};

/* Largest k that the radiation stage of such groups needs. */
int near_last(int group);

evn_status near_open(struct near **out, int columns, int from, int to, int last);
void near_close(struct near *near);

/* Finds the row-vectors in the ranges of columns from .. to-1, which come in ascending order.
 * EVN_MEMORY. */
evn_status near_add(struct near *near, const struct slices *s, int from, int to);

/* Room for the values, all 0. EVN_MEMORY. */
evn_status near_reserve(struct near *near);

/* Bytes of all of it, with values. */
double near_bytes(const struct near *near);

/* The part of row-vector i of column j that is near: its first k; how many, 0: none. */
static inline int near_part(const struct slices *s, size_t at, int last, int *first) {
    const int low = s->first[at] > 1 ? s->first[at] : 1;
    const int end = s->first[at] + s->count[at] - 1, high = end < last ? end : last;
    *first = low;
    return s->count[at] && high >= low ? high - low + 1 : 0;
}
