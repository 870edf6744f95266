/* The radiation stage on a device: what radiation.c computes and in its order, from entries by rows
 * instead of bundles, since no two items may add to one sum. Given: REAL.
 *
 * An item has a row and up to four of the steps; eight rows' entries lie one from each of them
 * after the other. Where the host adds up the products of each column by themselves, an entry that
 * is a column's first has its place complemented.
 *
 * Cost of an entry: 2 `steps` operations; 4 bytes for its place and w for its value from device
 * memory, once for each four steps from a cache, and a window of the past from there.
 */
#include "tdbem/solve/solve.kernel.h"
#include "tdbem/summation/radiation.kernel.h"

/* Rows that an item has at once: a core waits for a row's sums, and other rows' entries are beside
 * it; a device has other items for that. FEW sums of a row are a vector of the core's. */
#if EVN_ON_DEVICE
#    define ROWS                    1
#    define UNROLL                  _Pragma("unroll")
#    define EACH(n)                 UNROLL for (int g = 0; g < (n); g++)
#    define SUMS(name, n)           REAL name[ROWS][n]
#    define ZERO(sum, n)            EACH(n) sum[g] = 0
#    define SCALE(sum, v, n)        EACH(n) sum[g] *= (v)
#    define ADD_SUM(sum, v, of, n)  EACH(n) sum[g] += (v)*of[g]
#    define ADD_PAST(sum, v, of, n) EACH(n) sum[g] += (v) * (of)[g]
#else
#    define ROWS          RADIATION_STRIP
#    define UNROLL        _Pragma("GCC unroll 8")
typedef REAL few_1 __attribute__((vector_size(sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL few_2 __attribute__((vector_size(2 * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL few_4 __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
#    define SUMS(name, n) few_##n name[ROWS]
#    define ZERO(sum, n)                                                                           \
        sum = (few_##n) { 0 }
#    define SCALE(sum, v, n)        sum *= (v)
#    define ADD_SUM(sum, v, of, n)  sum += (v)*of
#    define ADD_PAST(sum, v, of, n) sum += (v) * *(const few_##n *)(of)
#endif
#define GROUPS (RADIATION_STRIP / ROWS)

/* The latest steps, in time for each column. */
EVN_KERNEL(radiation_past, RADIATION_ITEMS,
           (EVN_IN(double, solution), EVN_IN(struct solve_state, state), EVN_BUFFER(REAL, past),
            EVN_VALUE(struct radiation_update, a))) {
    if (SOLVE_READY(state, a.before)) {
        EVN_ITEMS(i) {
            const int j = EVN_GROUP * RADIATION_ITEMS + i;
            if (j < a.columns)
                for (int t = 0; t < RADIATION_WINDOW(a.steps); t++) {
                    const int step = t - a.steps;
                    const int known = step >= 0 && step < a.steps;
                    past[(evn_long)j * RADIATION_WINDOW(a.steps) + t] =
                        known ? (REAL)solution[a.at + (evn_long)step * a.stride + j] : 0;
                }
        }
    }
}

/* Where the past is that an entry meets, and what becomes of the sums before it is added.
 *
 * Where the sum of a column begins anew, what there is goes to the total. Columns are short where
 * steps are few, and no branch would be guessed. */
#define ANEW(n)                                                                                    \
    const int x = EVN_SELECT(at < 0, ~at, at);                                                     \
    const REAL anew = at < 0;                                                                      \
    ADD_SUM(total[r], anew, acc[r], n);                                                            \
    SCALE(acc[r], 1 - anew, n);
/* Sums that only go on. */
#define ON(n) const int x = at;

/* An item's rows and n of the steps, from part * n on. */
#define ADD(n, FRESH)                                                                              \
    if (SOLVE_READY(state, a.before)) {                                                            \
        const int parts = a.steps / n, strips = RADIATION_ITEMS / RADIATION_STRIP / parts;         \
        EVN_SHARE_AMONG(i, RADIATION_ITEMS / ROWS, RADIATION_ITEMS / ROWS) {                       \
            const int part = i / GROUPS % parts;                                                   \
            const int strip = EVN_GROUP * strips + i / (GROUPS * parts);                           \
            const int lane = i % GROUPS, row = strip * RADIATION_STRIP + lane;                     \
            if (row < a.rows) {                                                                    \
                SUMS(total, n);                                                                    \
                SUMS(acc, n);                                                                      \
                UNROLL for (int r = 0; r < ROWS; r++) {                                            \
                    ZERO(total[r], n);                                                             \
                    ZERO(acc[r], n);                                                               \
                }                                                                                  \
                for (evn_long e = begin[strip]; e < begin[strip + 1]; e++) {                       \
                    UNROLL for (int r = 0; r < ROWS; r++) {                                        \
                        const REAL v = value[e * RADIATION_STRIP + lane + r];                      \
                        const int at = where[e * RADIATION_STRIP + lane + r];                      \
                        FRESH(n)                                                                   \
                        ADD_PAST(acc[r], v, past + part * n + x, n);                               \
                    }                                                                              \
                }                                                                                  \
                UNROLL for (int r = 0; r < ROWS; r++) {                                            \
                    ADD_SUM(total[r], 1, acc[r], n);                                               \
                    for (int g = 0; g < n; g++)                                                    \
                        if (row + r < a.rows && part * n + g < a.count)                            \
                            sums[(evn_long)(row + r) * a.wide + a.known + part * n + g] +=         \
                                (double)total[r][g];                                               \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

EVN_KERNEL(radiation_one, RADIATION_ITEMS,
           (EVN_IN(evn_long, begin), EVN_IN(int, where), EVN_IN(REAL, value), EVN_IN(REAL, past),
            EVN_IN(struct solve_state, state), EVN_BUFFER(double, sums),
            EVN_VALUE(struct radiation_update, a))){ADD(1, ANEW)}

EVN_KERNEL(radiation_two, RADIATION_ITEMS,
           (EVN_IN(evn_long, begin), EVN_IN(int, where), EVN_IN(REAL, value), EVN_IN(REAL, past),
            EVN_IN(struct solve_state, state), EVN_BUFFER(double, sums),
            EVN_VALUE(struct radiation_update, a))){ADD(2, ANEW)}

EVN_KERNEL(radiation_on, RADIATION_ITEMS,
           (EVN_IN(evn_long, begin), EVN_IN(int, where), EVN_IN(REAL, value), EVN_IN(REAL, past),
            EVN_IN(struct solve_state, state), EVN_BUFFER(double, sums),
            EVN_VALUE(struct radiation_update, a))){ADD(4, ON)}

EVN_KERNEL(radiation_four, RADIATION_ITEMS,
           (EVN_IN(evn_long, begin), EVN_IN(int, where), EVN_IN(REAL, value), EVN_IN(REAL, past),
            EVN_IN(struct solve_state, state), EVN_BUFFER(double, sums),
            EVN_VALUE(struct radiation_update, a))) {
    ADD(4, ANEW)
}
