/* The charges: eight streams of the generator side by side, each eight numbers a step on, and
 * almost no number that is looked at twice. */
#include "mg/charges.h"
#include "common/run/npb_random.h"
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 8 };

/* Whether eight numbers have one that is beyond the limits. */
static inline int any_beyond(const uint64_t *x, uint64_t low, uint64_t high) {
    uint64_t beyond = 0;
    for (int s = 0; s < STREAMS; s++) beyond |= (uint64_t)((x[s] < low) | (x[s] > high));
    return beyond != 0;
}

int charges_look(int n, int begin, int end, double wanted, struct candidate *found, int room) {
    const int64_t plane = (int64_t)n * n, last = end * plane;
    const double part = wanted / ((double)n * (double)plane);
    const uint64_t top = NPB_RANDOM_MASK;
    const uint64_t low = part < 0.5 ? (uint64_t)(part * (double)top) : top / 2, high = top - low;
    const uint64_t jump = npb_random_power(NPB_RANDOM_FACTOR, STREAMS);
    uint64_t x[STREAMS];
    int count = 0;
    for (int s = 0; s < STREAMS; s++)
        x[s] = npb_random_at((uint64_t)(begin * plane) + 1 + (uint64_t)s);
    for (int64_t at = begin * plane; at < last; at += STREAMS) {
        for (int s = 0; s < STREAMS && any_beyond(x, low, high); s++)
            if ((x[s] < low || x[s] > high) && at + s < last) {
                if (count < room) found[count] = (struct candidate){at + s, x[s]};
                count++;
            }
        for (int s = 0; s < STREAMS; s++) x[s] = x[s] * jump & NPB_RANDOM_MASK;
    }
    return count;
}

static int by_number(const void *a, const void *b) {
    const struct candidate *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static int by_place(const void *a, const void *b) {
    const struct charge *p = a, *q = b;
    if (p->z != q->z) return p->z - q->z;
    return p->y != q->y ? p->y - q->y : p->x - q->x;
}

int charges_choose(struct charges *c, int n, struct candidate *found, int count) {
    int small = 0;
    for (int i = 0; i < count; i++) small += found[i].x <= NPB_RANDOM_MASK / 2;
    if (small < CHARGES / 2 || count - small < CHARGES / 2) return -1;
    memset(c, 0, sizeof *c);
    qsort(found, (size_t)count, sizeof *found, by_number);
    for (int i = 0; i < CHARGES; i++) {
        const int minus = i < CHARGES / 2;
        const int64_t place = found[minus ? i : count - CHARGES + i].place;
        c->at[i] = (struct charge){.x = (int)(place % n),
                                   .y = (int)(place / n % n),
                                   .z = (int)(place / n / n),
                                   .value = minus ? -1 : 1};
        c->in[c->at[i].z] = 1;
    }
    qsort(c->at, CHARGES, sizeof *c->at, by_place);
    return 0;
}

void charges_add(const struct charges *c, double *row, int y, int z) {
    for (int i = 0; c->in[z] && i < CHARGES; i++)
        if (c->at[i].z == z && c->at[i].y == y) row[c->at[i].x] += c->at[i].value;
}

/* Weight of a coordinate for coarse point 2 i + 1 of an axis: 1 there, 1/2 beside it, else 0. */
static double along(int x, int i, int n) {
    const int d = (x - 2 * i) & (n - 1);
    return d == 1 ? 1 : d == 0 || d == 2 ? 0.5 : 0;
}

void charges_restrict(const struct charges *c, double *row, int n, int j, int k) {
    if (!(c->in[2 * k] | c->in[2 * k + 1] | c->in[(2 * k + 2) & (n - 1)])) return;
    for (int q = 0; q < CHARGES; q++) {
        const struct charge *at = &c->at[q];
        const double weight = 0.5 * at->value * along(at->y, j, n) * along(at->z, k, n);
        const int half = at->x / 2, before = (half + n / 2 - 1) & (n / 2 - 1);
        if (weight == 0) continue;
        row[half] += weight * along(at->x, half, n);
        if (!(at->x & 1)) row[before] += weight * 0.5;
    }
}
