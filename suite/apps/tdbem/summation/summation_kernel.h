/* The summation's kernels for one precision and one number of steps; included once for each.
 *
 * Given: REAL, REAL_BYTES, WIDE (steps, a power of two), and KERNEL(name), which makes names
 * unique. A vector holds WIDE steps of one row (STACK 1; BREADTH vectors where WIDE exceeds it), or
 * of STACK rows, rows fastest: lane g * STACK + r.
 */
#if VECTOR_BYTES / REAL_BYTES == 16
#    define LANES 16
#elif VECTOR_BYTES / REAL_BYTES == 8
#    define LANES 8
#elif VECTOR_BYTES / REAL_BYTES == 4
#    define LANES 4
#else
#    define LANES 2
#endif

/* rows of a bundle: enough independent sums to hide the multiply-add's latency and to share each
 * window of the past, few enough for the registers */
#if VECTOR_BYTES == 64
#    if WIDE > LANES
#        define ROWS 4
#    elif LANES / WIDE == 16
#        define ROWS 16
#    else
#        define ROWS 8
#    endif
#else
#    if WIDE / LANES >= 8
#        define ROWS 1
#    elif WIDE / LANES >= 4
#        define ROWS 2
#    elif WIDE >= LANES
#        define ROWS 4
#    else
#        define ROWS 8
#    endif
#endif

/* Rows that share a vector: as many that two vectors of steps take one load of their values, since
 * a core loads as often as it multiplies and adds. Not more, since of two vectors of steps one
 * permutation for each makes sums of whole rows. Where a vector is as wide as a group these
 * permutations, in and out, take longer than the loads that they would save. */
#if WIDE >= LANES
#    define STACK 1
#elif 2 * LANES / WIDE <= ROWS && WIDE > 2
#    define STACK (2 * LANES / WIDE)
#elif LANES < ROWS
#    define STACK LANES
#else
#    define STACK ROWS
#endif
#define STEPS   (LANES / STACK)
#define BREADTH (WIDE / STEPS)
#define HEIGHT  (ROWS / STACK)
#define NARROW  (WIDE < LANES ? WIDE : LANES)
/* Where a vector has one row, products are added to its sum: an addition less than at the end,
 * which costs more than the wait for the sum. Not where the sums of a row need many vectors. */
#define CARRIES (STACK == 1 && (BREADTH == 1 || VECTOR_BYTES > 16))

enum { KERNEL(bundle_rows) = ROWS, KERNEL(carries) = CARRIES };

typedef REAL KERNEL(vec) __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL KERNEL(any) __attribute__((vector_size(VECTOR_BYTES), aligned(REAL_BYTES)));
#if WIDE == 1
typedef REAL KERNEL(part);
typedef REAL KERNEL(part_any);
#else
typedef REAL KERNEL(part) __attribute__((vector_size(NARROW * REAL_BYTES)));
typedef REAL KERNEL(part_any)
    __attribute__((vector_size(NARROW * REAL_BYTES), aligned(REAL_BYTES)));
#endif

/* STACK values, each for all steps of its row */
INLINE KERNEL(vec) KERNEL(spread)(const REAL *v) {
#if STACK == 1
    return *v - (KERNEL(vec)){0};
#elif STACK == LANES
    return (KERNEL(vec)) * (const KERNEL(any) *)v;
#elif STACK * REAL_BYTES == 16
    return (KERNEL(vec))vector_repeat_16(v);
#else
    return (KERNEL(vec))vector_repeat_32(v);
#endif
}

/* The past, each step for all rows of a vector: window[t] is for STEPS steps from x_j[t] on. What
 * one load can spread stays as it is. */
#if STACK == LANES
typedef REAL KERNEL(window);
INLINE KERNEL(vec) KERNEL(past)(const REAL *window) { return *window - (KERNEL(vec)){0}; }
#else
typedef KERNEL(vec) KERNEL(window);
INLINE KERNEL(vec) KERNEL(past)(const KERNEL(vec) * window) { return *window; }
#endif

/* From t = -front on; `room` is for as many as may be read. */
INLINE const KERNEL(window) *
    KERNEL(windows)(const struct layout *a, const struct history *past, int j, void *room) {
    const REAL *x = (const REAL *)past->value + (size_t)j * past->stride + past->front;
#if STACK == LANES
    (void)a;
    (void)room;
    return x;
#else
    KERNEL(vec) *window = (KERNEL(vec) *)room + a->front;
    for (int t = -a->front; t < a->depth + WIDE - STEPS; t++) {
        KERNEL(vec) w = (KERNEL(vec)) * (const KERNEL(any) *)(x + t);
#    if STACK > 1
#        define SPREAD(lane) (lane) / STACK
        w = __builtin_shufflevector(w, w, EACH_LANE(SPREAD, 0));
#        undef SPREAD
#    endif
        window[t] = w;
    }
    return window;
#endif
}

/* Adds the sums of STACK rows to theirs. */
INLINE void KERNEL(add)(const KERNEL(vec) * acc, REAL *sums, const uint16_t *row) {
#if STACK == 1
    KERNEL(vec) *s = (KERNEL(vec) *)(sums + (size_t)*row * WIDE);
#    pragma GCC unroll 16
    for (int w = 0; w < BREADTH; w++) s[w] = CARRIES ? acc[w] : s[w] + acc[w];
#else
    /* from lane step * STACK + row, over all vectors of steps, to row * WIDE + step */
#    define TO_ROWS(lane) (lane) % WIDE *STACK + (lane) / WIDE
    const KERNEL(vec) a = acc[0], b = acc[BREADTH - 1];
    const KERNEL(vec) rows[] = {
        __builtin_shufflevector(a, b, EACH_LANE(TO_ROWS, 0)),
#    if WIDE * STACK == 2 * LANES
        __builtin_shufflevector(a, b, EACH_LANE(TO_ROWS, LANES)),
#    endif
    };
#    undef TO_ROWS
    /* a row of few bytes is not worth an instruction of its own; of rows that are none any is kept
     */
#    if VECTOR_BYTES == 64 && REAL_BYTES == 4 && WIDE == 1
    const __m512i n = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)row));
    const KERNEL(vec) s = (KERNEL(vec))_mm512_i32gather_ps(n, sums, 4) + rows[0];
    _mm512_i32scatter_ps(sums, n, (__m512)s, 4);
#    elif VECTOR_BYTES == 64 && REAL_BYTES == 4 && WIDE == 2
    const __m256i n = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)row));
    const KERNEL(vec) s = (KERNEL(vec))_mm512_i32gather_pd(n, sums, 8) + rows[0];
    _mm512_i32scatter_pd(sums, n, (__m512d)s, 8);
#    else
    _Alignas(VECTOR_BYTES) REAL lane[BREADTH * LANES];
#        pragma GCC unroll 2
    for (int w = 0; w < BREADTH; w++) ((KERNEL(vec) *)lane)[w] = rows[w];
#        pragma GCC unroll 16
    for (int r = 0; r < STACK; r++)
        *(KERNEL(part) *)(sums + (size_t)row[r] * WIDE) += *(KERNEL(part) *)(lane + r * WIDE);
#    endif
#endif
}

INLINE void KERNEL(begin)(KERNEL(vec) * acc, const REAL *sums, const uint16_t *row) {
    const KERNEL(vec) *s = (const KERNEL(vec) *)(sums + (size_t)*row * WIDE);
#pragma GCC unroll 16
    for (int w = 0; w < BREADTH; w++) acc[w] = CARRIES ? s[w] : (KERNEL(vec)){0};
}

/* One column of a bundle. */
INLINE void KERNEL(column)(KERNEL(vec) acc[HEIGHT][BREADTH], const REAL *v,
                           const KERNEL(window) * window) {
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) {
        const KERNEL(vec) m = KERNEL(spread)(v + r * STACK);
#pragma GCC unroll 16
        for (int w = 0; w < BREADTH; w++) acc[r][w] += m * KERNEL(past)(window + w * STEPS);
    }
}

INLINE void KERNEL(bundle)(const REAL *v, size_t stride, int length, const KERNEL(window) * window,
                           REAL *sums, const uint16_t *row) {
    KERNEL(vec) acc[HEIGHT][BREADTH];
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) KERNEL(begin)(acc[r], sums, row + r * STACK);
    for (int l = 0; l < length; l++) {
        for (int b = 0; b < ROWS * REAL_BYTES; b += 64)
            __builtin_prefetch((const char *)v + AHEAD + b);
        KERNEL(column)(acc, v, window - l);
        v += stride;
    }
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) KERNEL(add)(acc[r], sums, row + r * STACK);
}

/* The sum of a bundle without a loop: `length` is a literal number, and so is what lies between
 * columns. */
INLINE void KERNEL(bundle_of)(const REAL *v, const int length, const KERNEL(window) * window,
                              REAL *sums, const uint16_t *row) {
    KERNEL(vec) acc[HEIGHT][BREADTH];
    __asm__("" : "+r"(window)); /* one pointer and literal offsets, not an address a column */
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) KERNEL(begin)(acc[r], sums, row + r * STACK);
#pragma GCC unroll 16
    for (int l = 0; l < length; l++) {
        for (int b = 0; b < ROWS * REAL_BYTES; b += 64)
            if ((l * ROWS * REAL_BYTES + b) % 64 == 0)
                __builtin_prefetch((const char *)(v + l * ROWS) + AHEAD + b);
        KERNEL(column)(acc, v + l * ROWS, window - l);
    }
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) KERNEL(add)(acc[r], sums, row + r * STACK);
}

static void KERNEL(rows)(const struct layout *a, int block, int tile, const struct history *past,
                         REAL *sums, void *scratch) {
    for (int j = a->slice[block]; j < a->slice[block + 1]; j++) {
        const struct part *p = &a->part[(size_t)tile * (size_t)a->columns + (size_t)j];
        if (!p->count) continue;
        const REAL *v = (const REAL *)a->value + p->value;
        const uint16_t *meta = a->meta + p->meta;
        const KERNEL(window) *window = KERNEL(windows)(a, past, j, scratch) + a->depth;
        /* they are in order of length */
        int b = 0;
        EACH_LENGTH(BUNDLES)
        for (; b < p->count; b++) {
            KERNEL(bundle)(v, ROWS, meta[1], window - meta[0], sums, meta + 2);
            v += meta[1] * ROWS;
            meta += 2 + ROWS;
        }
    }
}

static void KERNEL(full)(const struct layout *a, int block, int tile, const struct history *past,
                         REAL *sums, void *scratch) {
    const size_t tall = (size_t)a->tall;
    const int height = a->tile_row[tile + 1] - a->tile_row[tile];
    for (int j = a->slice[block]; j < a->slice[block + 1]; j++) {
        const struct part *p = &a->part[(size_t)tile * (size_t)a->columns + (size_t)j];
        const REAL *v = (const REAL *)a->value + p->value;
        const struct full *f = a->full + p->meta;
        const KERNEL(window) *window = KERNEL(windows)(a, past, j, scratch) + a->depth;
        for (int b = 0; b < p->count; b++, v += tall * (size_t)a->is.bc)
            for (int r = 0; r < a->tall && (int)f[b].row + r < height; r += ROWS) {
                uint16_t row[ROWS];
                for (int i = 0; i < ROWS; i++) row[i] = (uint16_t)((int)f[b].row + r + i);
                KERNEL(bundle)(v + r, tall, a->is.bc, window - f[b].start, sums, row);
            }
    }
}

/* Rows have starts of their own, so a vector holds the steps of one row and each brings its own
 * window. */
static void KERNEL(contiguous)(const struct layout *a, int block, int tile,
                               const struct history *past, REAL *sums, void *scratch) {
    enum { FEW = 8 };
    (void)scratch;
    const int from = a->tile_row[tile], to = a->tile_row[tile + 1];
    const size_t rows = (size_t)a->rows;
    for (int j = a->slice[block]; j < a->slice[block + 1]; j++) {
        const REAL *x =
            (const REAL *)past->value + (size_t)j * past->stride + past->front + a->depth;
        const REAL *v = (const REAL *)a->value + a->part[j].value;
        const uint16_t *start = a->meta + a->part[j].meta;
        int i = from;
        for (; i + FEW <= to; i += FEW) {
            KERNEL(part) acc[FEW][WIDE / NARROW];
            const REAL *at[FEW];
#pragma GCC unroll 8
            for (int r = 0; r < FEW; r++) {
                at[r] = x - start[i + r];
                for (int w = 0; w < WIDE / NARROW; w++) acc[r][w] = (KERNEL(part)){0};
            }
            for (int l = 0; l < a->padded; l++)
#pragma GCC unroll 8
                for (int r = 0; r < FEW; r++)
                    for (int w = 0; w < WIDE / NARROW; w++)
                        acc[r][w] += v[(size_t)l * rows + (size_t)(i + r)] *
                                     *(const KERNEL(part_any) *)(at[r] - l + w * NARROW);
            for (int r = 0; r < FEW; r++)
                for (int w = 0; w < WIDE / NARROW; w++)
                    *(KERNEL(part) *)(sums + (size_t)(i + r - from) * WIDE + w * NARROW) +=
                        acc[r][w];
        }
        for (; i < to; i++)
            for (int w = 0; w < WIDE / NARROW; w++) {
                KERNEL(part) acc = (KERNEL(part)){0};
                for (int l = 0; l < a->padded; l++)
                    acc += v[(size_t)l * rows + (size_t)i] *
                           *(const KERNEL(part_any) *)(x - start[i] - l + w * NARROW);
                *(KERNEL(part) *)(sums + (size_t)(i - from) * WIDE + w * NARROW) += acc;
            }
    }
}

#undef LANES
#undef STACK
#undef ROWS
#undef STEPS
#undef BREADTH
#undef NARROW
#undef CARRIES
#undef HEIGHT

/* Strips, where permutations cost less than the sums of scattered rows, and steps fit the
 * registers.
 */
#if VECTOR_BYTES == 64 && WIDE <= 8 && (REAL_BYTES == 4 || WIDE >= 4)
#    include "tdbem/summation/summation_strip.h"
#endif
