/* One small layout for each power of two below the group's length. */
#include "radiation.h"
#include "summation.h"
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MOST = 5 }; /* 2^5 = GROUP_MOST */

struct radiation {
    int group, levels;
    struct layout *layout[LEVELS_MOST];
    struct history *past[LEVELS_MOST];
    void *sums, *scratch;
    double flop;
};

static size_t up(size_t n) { return (n + 63) / 64 * 64; }

static evn_status open_levels(struct radiation *r, const struct slices *s, int single) {
    const size_t real = single ? sizeof(float) : sizeof(double);
    size_t scratch = 0, wide = 1;
    for (int steps = 1; steps < r->group; steps *= 2, r->levels++) {
        struct layout **a = &r->layout[r->levels];
        const struct layout_options o = {.kind = LAYOUT_ROWS,
                                         .single = single,
                                         .group = steps,
                                         .per_block = s->columns,
                                         .last = 2 * steps - 1};
        evn_status status = layout_open(a, s, &o);
        if (!status)
            status = history_open(&r->past[r->levels], s->columns, (*a)->depth, (*a)->front, steps,
                                  single);
        if (status) return status;
        if (summation_scratch(*a, 1) > scratch) scratch = summation_scratch(*a, 1);
        wide = (size_t)(*a)->wide;
        const int turns = (r->group - steps - 1) / (2 * steps) + 1;
        r->flop += 2.0 * (double)(*a)->nnz * steps * turns;
    }
    r->sums = aligned_alloc(64, up((size_t)s->rows * wide * real) + 64);
    r->scratch = aligned_alloc(64, up(scratch) + 64);
    if (!r->sums || !r->scratch)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the radiation stage");
    return EVN_OK;
}

evn_status radiation_open(struct radiation **out, const struct slices *s, int group, int single) {
    *out = NULL;
    struct radiation *r = calloc(1, sizeof *r);
    if (!r) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the radiation stage");
    r->group = group;
    evn_status status = open_levels(r, s, single);
    if (status) {
        radiation_close(r);
        return status;
    }
    *out = r;
    return EVN_OK;
}

void radiation_close(struct radiation *r) {
    if (!r) return;
    for (int m = 0; m < LEVELS_MOST; m++) {
        layout_close(r->layout[m]);
        history_close(r->past[m]);
    }
    free(r->sums);
    free(r->scratch);
    free(r);
}

evn_status radiation_add(struct radiation *r, int p, const double *a, double *sums, int wide) {
    int m = 0, steps = 1;
    for (; p % (2 * steps) == 0; m++) steps *= 2;
    const struct layout *l = r->layout[m];
    history_replace(r->past[m], a + (size_t)(p - steps) * (size_t)l->columns, steps);
    for (int b = 0; b < l->blocks; b++)
        for (int t = 0; t < l->tiles; t++)
            summation_part(l, b, 1, t, r->past[m], r->sums, r->scratch);
    const int count = p + steps <= r->group ? steps : r->group - p;
    for (int i = 0; i < l->rows; i++)
        for (int g = 0; g < count; g++) {
            const size_t at = (size_t)i * (size_t)l->wide + (size_t)g;
            sums[(size_t)i * (size_t)wide + (size_t)(p + g)] +=
                l->is.single ? (double)((const float *)r->sums)[at] : ((const double *)r->sums)[at];
        }
    return EVN_OK;
}

double radiation_flop(const struct radiation *r) { return r->flop; }

double radiation_bytes(const struct radiation *r) {
    double bytes = 0;
    for (int m = 0; m < r->levels; m++) bytes += r->layout[m]->bytes;
    return bytes;
}
