/* Keeping the past: shifted by a group's steps once they are all known. */
#include "tdbem/summation/history.h"
#include <stdlib.h>
#include <string.h>

static size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

evn_status history_open(struct history **out, int columns, int depth, int front, int group,
                        int single) {
    struct history *h = calloc(1, sizeof *h);
    *out = NULL;
    if (!h) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the past");
    h->columns = columns;
    h->depth = depth;
    h->front = front;
    h->group = group;
    h->single = single;
    /* windows read whole vectors beyond the last known step: two vectors' widths of zeros */
    h->stride = up((size_t)front + (size_t)depth + 2 * (size_t)group + 32, 16);
    size_t bytes = h->stride * (size_t)columns * (single ? sizeof(float) : sizeof(double));
    h->value = aligned_alloc(64, up(bytes, 64));
    if (!h->value) {
        free(h);
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the past: %zu bytes", bytes);
    }
    memset(h->value, 0, up(bytes, 64));
    *out = h;
    return EVN_OK;
}

void history_close(struct history *h) {
    if (!h) return;
    free(h->value);
    free(h);
}

void history_append(struct history *h, const double *a, int steps, int from, int to) {
    const int kept = steps < h->depth ? h->depth - steps : 0;
    const int skip = steps - (h->depth - kept); /* steps that are forgotten at once */
    for (int j = from; j < to; j++) {
        const size_t at = (size_t)j * h->stride + (size_t)h->front;
        if (h->single) {
            float *x = (float *)h->value + at;
            memmove(x, x + steps, sizeof *x * (size_t)kept);
            for (int t = kept; t < h->depth; t++)
                x[t] = (float)a[(size_t)(skip + t - kept) * (size_t)h->columns + (size_t)j];
        } else {
            double *x = (double *)h->value + at;
            memmove(x, x + steps, sizeof *x * (size_t)kept);
            for (int t = kept; t < h->depth; t++)
                x[t] = a[(size_t)(skip + t - kept) * (size_t)h->columns + (size_t)j];
        }
    }
}

void history_replace(struct history *h, const double *a, int steps, int from, int to) {
    const size_t real = h->single ? sizeof(float) : sizeof(double);
    for (int j = from; j < to; j++)
        memset((char *)h->value + ((size_t)j * h->stride + (size_t)h->front) * real, 0,
               (size_t)h->depth * real);
    history_append(h, a, steps, from, to);
}

static double element(const struct history *h, int j, int t) {
    const size_t at = (size_t)j * h->stride + (size_t)(h->front + t);
    return h->single ? (double)((const float *)h->value)[at] : ((const double *)h->value)[at];
}

void history_export(const struct history *h, double *out) {
    for (int j = 0; j < h->columns; j++)
        for (int t = 0; t < h->depth; t++) *out++ = element(h, j, t);
}

void history_import(struct history *h, const double *in) {
    for (int j = 0; j < h->columns; j++)
        for (int t = 0; t < h->depth; t++) {
            const size_t at = (size_t)j * h->stride + (size_t)(h->front + t);
            if (h->single)
                ((float *)h->value)[at] = (float)*in++;
            else
                ((double *)h->value)[at] = *in++;
        }
}
