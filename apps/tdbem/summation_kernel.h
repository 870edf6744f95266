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

/* WIDE and LANES are literal numbers, so that they can be pasted into names of lists */
#if WIDE >= LANES
#    define STACK   1
#    define BREADTH (WIDE / LANES)
#    define NARROW  LANES
#else
#    define BREADTH 1
#    define NARROW  WIDE
#    if LANES / WIDE == 2
#        define STACK 2
#    elif LANES / WIDE == 4
#        define STACK 4
#    elif LANES / WIDE == 8
#        define STACK 8
#    else
#        define STACK 16
#    endif
#endif

/* vectors of rows of a bundle: enough independent sums to hide the multiply-add's latency and to
 * share each window of the past, few enough for the registers */
#if VECTOR_BYTES == 64
#    if BREADTH >= 4
#        define HEIGHT 4
#    elif BREADTH == 2
#        define HEIGHT 4
#    elif STACK <= 1
#        define HEIGHT 8
#    elif STACK == 2
#        define HEIGHT 4
#    elif STACK == 4
#        define HEIGHT 2
#    else
#        define HEIGHT 1
#    endif
#else
#    if BREADTH >= 8
#        define HEIGHT 1
#    elif BREADTH >= 4
#        define HEIGHT 2
#    elif STACK == 1
#        define HEIGHT 4
#    elif STACK == 2
#        define HEIGHT 4
#    elif STACK == 4
#        define HEIGHT 2
#    else
#        define HEIGHT 1
#    endif
#endif

enum { KERNEL(bundle_rows) = HEIGHT * STACK };

typedef REAL KERNEL(vec) __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL KERNEL(any) __attribute__((vector_size(VECTOR_BYTES), aligned(REAL_BYTES)));
#if NARROW == 1
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
#elif STACK * REAL_BYTES == 8
    return (KERNEL(vec))vector_repeat_8(v);
#elif STACK * REAL_BYTES == 16
    return (KERNEL(vec))vector_repeat_16(v);
#else
    return (KERNEL(vec))vector_repeat_32(v);
#endif
}

/* The past from x on, each step for all rows of a vector. */
INLINE KERNEL(vec) KERNEL(window)(const REAL *x) {
#if STACK == 1
    return (KERNEL(vec)) * (const KERNEL(any) *)x;
#elif STACK == LANES
    return *x - (KERNEL(vec)){0};
#else
    KERNEL(vec) a = (KERNEL(vec)) * (const KERNEL(any) *)x;
    return __builtin_shufflevector(a, a, LIST(DUPLICATE, LANES, STACK));
#endif
}

/* Adds a vector's sums to its rows. */
INLINE void KERNEL(add)(KERNEL(vec) a, REAL *sums, const uint16_t *row) {
#if STACK == 1
    KERNEL(vec) *s = (KERNEL(vec) *)(sums + (size_t)row[0] * WIDE);
    *s += a;
#else
#    if STACK < LANES
    a = __builtin_shufflevector(a, a, LIST(SEPARATE, LANES, STACK));
#    endif
    _Alignas(VECTOR_BYTES) REAL lane[LANES];
    *(KERNEL(vec) *)lane = a;
    for (int r = 0; r < STACK; r++)
        *(KERNEL(part) *)(sums + (size_t)row[r] * WIDE) += *(KERNEL(part) *)(lane + r * WIDE);
#endif
}

/* HEIGHT * STACK rows with one start and length: column l of their values is at v + l * stride, its
 * past at window[-l]. */
INLINE void KERNEL(bundle)(const REAL *v, size_t stride, int length, const KERNEL(vec) * window,
                           REAL *sums, const uint16_t *row) {
    KERNEL(vec) acc[HEIGHT][BREADTH];
#pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++)
#pragma GCC unroll 8
        for (int w = 0; w < BREADTH; w++)
#if STACK == 1 && BREADTH == 1
            /* one addition less than adding at the end; where sums are longer than a vector,
             * waiting for them costs more than that */
            acc[r][w] = ((const KERNEL(vec) *)(sums + (size_t)row[r] * WIDE))[w];
#else
            acc[r][w] = (KERNEL(vec)){0};
#endif
    for (int l = 0; l < length; l++) {
        for (int b = 0; b < HEIGHT * STACK * REAL_BYTES; b += 64)
            __builtin_prefetch((const char *)v + AHEAD + b);
#pragma GCC unroll 8
        for (int r = 0; r < HEIGHT; r++) {
            KERNEL(vec) m = KERNEL(spread)(v + r * STACK);
#pragma GCC unroll 8
            for (int w = 0; w < BREADTH; w++) acc[r][w] += m * window[w * LANES - l];
        }
        v += stride;
    }
#if STACK == 1
#    pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) {
        KERNEL(vec) *s = (KERNEL(vec) *)(sums + (size_t)row[r] * WIDE);
#    pragma GCC unroll 8
        for (int w = 0; w < BREADTH; w++) s[w] = BREADTH == 1 ? acc[r][w] : s[w] + acc[r][w];
    }
#else
#    pragma GCC unroll 8
    for (int r = 0; r < HEIGHT; r++) KERNEL(add)(acc[r][0], sums, row + r * STACK);
#endif
}

/* The windows of slice j's past: window[t] begins with x_j[t], from t = -front on. */
INLINE void KERNEL(windows)(const struct layout *a, const struct history *past, int j,
                            KERNEL(vec) * window) {
    const REAL *x = (const REAL *)past->value + (size_t)j * past->stride + past->front;
    for (int t = -a->front; t < a->depth + (BREADTH - 1) * LANES; t++)
        window[t] = KERNEL(window)(x + t);
}

static void KERNEL(rows)(const struct layout *a, int block, int tile, const struct history *past,
                         REAL *sums, void *scratch) {
    enum { ROWS = HEIGHT * STACK };
    KERNEL(vec) *window = (KERNEL(vec) *)scratch + a->front;
    for (int j = a->slice[block]; j < a->slice[block + 1]; j++) {
        const struct part *p = &a->part[(size_t)tile * (size_t)a->columns + (size_t)j];
        if (!p->count) continue;
        const REAL *v = (const REAL *)a->value + p->value;
        const uint16_t *meta = a->meta + p->meta;
        KERNEL(windows)(a, past, j, window);
        for (int b = 0; b < p->count; b++) {
            const int length = meta[1];
            KERNEL(bundle)(v, ROWS, length, window + (a->depth - meta[0]), sums, meta + 2);
            v += (size_t)length * ROWS;
            meta += 2 + ROWS;
        }
    }
}

static void KERNEL(full)(const struct layout *a, int block, int tile, const struct history *past,
                         REAL *sums, void *scratch) {
    enum { ROWS = HEIGHT * STACK };
    const size_t tall = (size_t)a->tall;
    const int height = a->tile_row[tile + 1] - a->tile_row[tile];
    KERNEL(vec) *window = (KERNEL(vec) *)scratch + a->front;
    for (int j = a->slice[block]; j < a->slice[block + 1]; j++) {
        const struct part *p = &a->part[(size_t)tile * (size_t)a->columns + (size_t)j];
        const REAL *v = (const REAL *)a->value + p->value;
        const struct full *f = a->full + p->meta;
        KERNEL(windows)(a, past, j, window);
        for (int b = 0; b < p->count; b++, v += tall * (size_t)a->is.bc)
            for (int r = 0; r < a->tall && (int)f[b].row + r < height; r += ROWS) {
                uint16_t row[ROWS];
                for (int i = 0; i < ROWS; i++) row[i] = (uint16_t)((int)f[b].row + r + i);
                KERNEL(bundle)(v + r, tall, a->is.bc, window + (a->depth - f[b].start), sums, row);
            }
    }
}

/* Rows have starts of their own, so a vector holds the steps of one row and each brings its own
 * window. */
static void KERNEL(contiguous)(const struct layout *a, int block, int tile,
                               const struct history *past, REAL *sums, void *scratch) {
    enum { ROWS = 8 };
    (void)scratch;
    const int from = a->tile_row[tile], to = a->tile_row[tile + 1];
    const size_t rows = (size_t)a->rows;
    for (int j = a->slice[block]; j < a->slice[block + 1]; j++) {
        const REAL *x =
            (const REAL *)past->value + (size_t)j * past->stride + past->front + a->depth;
        const REAL *v = (const REAL *)a->value + (size_t)j * rows * (size_t)a->padded;
        const uint16_t *start = a->meta + (size_t)j * rows;
        int i = from;
        for (; i + ROWS <= to; i += ROWS) {
            KERNEL(part) acc[ROWS][BREADTH];
            const REAL *at[ROWS];
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++) {
                at[r] = x - start[i + r];
                for (int w = 0; w < BREADTH; w++) acc[r][w] = (KERNEL(part)){0};
            }
            for (int l = 0; l < a->padded; l++)
#pragma GCC unroll 8
                for (int r = 0; r < ROWS; r++)
                    for (int w = 0; w < BREADTH; w++)
                        acc[r][w] += v[(size_t)l * rows + (size_t)(i + r)] *
                                     *(const KERNEL(part_any) *)(at[r] - l + w * NARROW);
            for (int r = 0; r < ROWS; r++)
                for (int w = 0; w < BREADTH; w++)
                    *(KERNEL(part) *)(sums + (size_t)(i + r - from) * WIDE + w * NARROW) +=
                        acc[r][w];
        }
        for (; i < to; i++)
            for (int w = 0; w < BREADTH; w++) {
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
#undef BREADTH
#undef NARROW
#undef HEIGHT
