/* The far field on a device: what far_march.c computes and in its order. An item has a row and a
 * step, and goes through pairs, columns and taps by itself, so no two add to one sum. Given: VALUE,
 * of row-vectors.
 *
 * Cost of a value: 2 operations a step, and its bytes once for the steps of a group of items; rings
 * come from a cache.
 */
#include "tdbem/fast/far.kernel.h"

/* An item's row and step of its cell, the last ones again where there are no more. */
#define PLACE(part)                                                                                \
    EVN_ITEMS(i) {                                                                                 \
        const int at = evn_imin((part).from + i, (part).count - 1);                                \
        EVN_OWN(row, i) = at / a.steps;                                                            \
        EVN_OWN(q, i) = at % a.steps;                                                              \
    }

/* Adds what sums above it give to each item's. */
#define ADD_ABOVE(part)                                                                            \
    for (int r = 0; r < (part).above_rows; r++) {                                                  \
        EVN_ITEMS(i) {                                                                             \
            EVN_OWN(sum, i) +=                                                                     \
                weight[(part).weight + (evn_long)r * (part).stride + EVN_OWN(row, i)] *            \
                state[(part).above + (evn_long)r * a.stride + a.from + EVN_OWN(q, i)];             \
        }                                                                                          \
    }

/* The sums of a level's targets: what far cells give, and the larger cell. */
EVN_KERNEL(far_across, FAR_ITEMS,
           (EVN_IN(struct far_rows, part), EVN_IN(struct far_link, link),
            EVN_IN(unsigned short, first), EVN_IN(VALUE, value), EVN_IN(double, weight),
            EVN_BUFFER(double, state), EVN_VALUE(struct far_now, a))) {
    const struct far_rows p = part[a.group + EVN_GROUP];
    EVN_PRIVATE(double, sum);
    EVN_PRIVATE(int, row);
    EVN_PRIVATE(int, q);
    PLACE(p)
    EVN_ITEMS(i) { EVN_OWN(sum, i) = 0; }
    for (int l = p.link; l < p.link + p.links; l++) {
        const struct far_link from = link[l];
        for (int s = 0; s < from.columns; s++) {
            EVN_ITEMS(i) {
                const evn_long entry = from.entry + (evn_long)s * p.rows + EVN_OWN(row, i);
                const evn_long at =
                    from.ring + (evn_long)s * a.length + a.ring + EVN_OWN(q, i) - first[entry];
                double mine = EVN_OWN(sum, i);
                for (int k = 0; k < a.taps; k++)
                    mine += from.scale * value[entry * a.taps + k] * state[at - k * a.apart];
                EVN_OWN(sum, i) = mine;
            }
        }
    }
    ADD_ABOVE(p)
    EVN_ITEMS(i) {
        if (p.from + i < p.count) state[p.to + p.from + i] = EVN_OWN(sum, i);
    }
}

/* Where a step's solution begins. */
#define PAST(n) (a.past + (evn_long)(((n) + a.kept) % a.kept) * a.vertices)

/* The sums of the leaves' vertices, less what a constant would make. */
EVN_KERNEL(far_leaves, FAR_ITEMS,
           (EVN_IN(struct far_rows, part), EVN_IN(double, rest), EVN_IN(double, weight),
            EVN_BUFFER(double, state), EVN_VALUE(struct far_now, a))) {
    const struct far_rows p = part[a.group + EVN_GROUP];
    EVN_PRIVATE(double, sum);
    EVN_PRIVATE(int, row);
    EVN_PRIVATE(int, q);
    PLACE(p)
    EVN_ITEMS(i) {
        const int of = p.first + EVN_OWN(row, i);
        EVN_OWN(sum, i) = -rest[of] * state[PAST(a.n + EVN_OWN(q, i) - a.period) + of % a.vertices];
    }
    ADD_ABOVE(p)
    EVN_ITEMS(i) {
        if (p.from + i < p.count) state[p.to + p.from + i] = EVN_OWN(sum, i);
    }
}

/* The means of a period's steps, by the trapezoidal rule. */
EVN_KERNEL(far_means, FAR_ITEMS, (EVN_BUFFER(double, state), EVN_VALUE(struct far_now, a))) {
    EVN_ITEMS(i) {
        const evn_long at = (evn_long)EVN_GROUP * FAR_ITEMS + i;
        if (at < (evn_long)a.period * a.vertices) {
            const int q = (int)(at / a.vertices), v = (int)(at % a.vertices);
            double sum = 0.5 * (state[PAST(a.n + q - a.mean) + v] + state[PAST(a.n + q) + v]);
            for (int k = 1; k < a.mean; k++) sum += state[PAST(a.n + q - k) + v];
            state[a.recent + at] = a.mean ? sum / a.mean : sum;
        }
    }
}

/* What has gone out of reach makes room, in the rings of a group's rows, one after the other. */
EVN_KERNEL(far_slide, FAR_ITEMS,
           (EVN_IN(struct far_ring, part), EVN_BUFFER(double, state),
            EVN_VALUE(struct far_now, a))) {
    const struct far_ring p = part[a.group + EVN_GROUP];
    const int begin = (p.from + a.steps - 1) / a.steps;
    const int end = (evn_imin(p.from + FAR_ITEMS, p.count) + a.steps - 1) / a.steps;
    EVN_PRIVATE(double, moved);
    for (int r = begin; r < end; r++) {
        const evn_long ring = p.to + (evn_long)r * a.length;
        for (int at = 0; at < a.reach; at += FAR_ITEMS) {
            EVN_ITEMS(i) {
                EVN_OWN(moved, i) = state[ring + evn_imin(at + i, a.reach - 1) + a.slide];
            }
            EVN_BARRIER;
            EVN_ITEMS(i) {
                if (at + i < a.reach) state[ring + at + i] = EVN_OWN(moved, i);
            }
            EVN_BARRIER;
        }
    }
}

/* A period's steps to the rings of a level. */
EVN_KERNEL(far_grow, FAR_ITEMS,
           (EVN_IN(struct far_ring, part), EVN_IN(evn_long, candidate), EVN_IN(double, weight),
            EVN_BUFFER(double, state), EVN_VALUE(struct far_now, a))) {
    const struct far_ring p = part[a.group + EVN_GROUP];
    EVN_PRIVATE(double, sum);
    EVN_PRIVATE(int, row);
    EVN_PRIVATE(int, q);
    PLACE(p)
    EVN_ITEMS(i) { EVN_OWN(sum, i) = 0; }
    for (int c = 0; c < p.stride; c++) {
        const evn_long from = candidate[p.candidates + c] + a.from;
        EVN_ITEMS(i) {
            EVN_OWN(sum, i) += weight[p.weight + (evn_long)EVN_OWN(row, i) * p.stride + c] *
                               state[from + (evn_long)EVN_OWN(q, i) * a.stride];
        }
    }
    EVN_ITEMS(i) {
        if (p.from + i < p.count)
            state[p.to + (evn_long)EVN_OWN(row, i) * a.length + a.ring + EVN_OWN(q, i)] =
                EVN_OWN(sum, i);
    }
}
