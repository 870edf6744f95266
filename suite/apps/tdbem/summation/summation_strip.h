/* The summation's kernel for strips, of one precision and one number of steps; included once for
 * each, where vectors have 64 bytes.
 *
 * Given: REAL, REAL_BYTES, WIDE (steps, a power of two up to 8) and KERNEL(name). A lane is a row
 * of the strip, and a register holds one step of all of them, so that a block's sums stay in
 * registers while its slices pass by: nothing is scattered. Value l of the rows meets the step g in
 * the window m = l - g of the past, each row at its own place; a permutation picks these places out
 * of what one load brings. Windows serve neighbouring values and steps: length + WIDE - 1 of them
 * for length * WIDE products.
 */

/* Windows that come from one load: the next ones are the same lanes one element further. More of
 * them leave less room for rows that begin apart. */
#if REAL_BYTES == 4
#    define LANES  16
#    define SHARED 4
#    define INDEX  int32_t
#else
#    define LANES  8
#    define SHARED 2
#    define INDEX  int64_t
#endif

/* Bundles rotate among so many sets of sums: enough sums to hide the latency of an addition to
 * each, which waits for the one before. */
#define SETS (8 / WIDE)

enum {
    KERNEL(strip_rows) = LANES,
    KERNEL(strip_near) = LANES - SHARED,
    KERNEL(strip_far) = 2 * LANES - SHARED
};

#ifdef __clang__ /* gives up early where it is told a number */
#    define WHOLLY_UNROLLED _Pragma("clang loop unroll(full)")
#else
#    define WHOLLY_UNROLLED _Pragma("GCC unroll 16")
#endif

typedef REAL KERNEL(lane) __attribute__((vector_size(64)));
typedef INDEX KERNEL(index) __attribute__((vector_size(64)));

/* Begin of each row's window, for the last window of a load. */
INLINE KERNEL(index) KERNEL(ahead)(const uint8_t *ahead) {
#if REAL_BYTES == 4
    return (KERNEL(index))_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)ahead));
#else
    return (KERNEL(index))_mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)ahead));
#endif
}

INLINE KERNEL(lane) KERNEL(pick)(const REAL *x, KERNEL(index) at, const int far) {
#if REAL_BYTES == 4
    const __m512 low = _mm512_loadu_ps(x);
    return (KERNEL(lane))(far ? _mm512_permutex2var_ps(low, (__m512i)at, _mm512_loadu_ps(x + LANES))
                              : _mm512_permutexvar_ps((__m512i)at, low));
#else
    const __m512d low = _mm512_loadu_pd(x);
    return (KERNEL(lane))(far ? _mm512_permutex2var_pd(low, (__m512i)at, _mm512_loadu_pd(x + LANES))
                              : _mm512_permutexvar_pd((__m512i)at, low));
#endif
}

/* Window m: of the row that begins latest, x[-m]. */
INLINE KERNEL(lane)
    KERNEL(places)(const REAL *x, const KERNEL(index) * at, const int m, const int far) {
    const int load = m >= 0 ? m / SHARED : -((SHARED - 1 - m) / SHARED);
    return KERNEL(pick)(x - load * SHARED - (SHARED - 1), at[SHARED - 1 - (m - load * SHARED)],
                        far);
}

/* `length` columns, a literal number, without a loop: neither counting nor finding places then
 * takes instructions. */
INLINE void KERNEL(columns)(KERNEL(lane) * sum, const REAL *v, const int length, const REAL *x,
                            const uint8_t *ahead, const int far) {
    KERNEL(index) at[SHARED];
    KERNEL(lane) w[WIDE - 1 + LENGTH_MAX]; /* window m is w[WIDE - 1 + m] */
    at[0] = KERNEL(ahead)(ahead);
#pragma GCC unroll 4
    for (int k = 1; k < SHARED; k++) at[k] = at[0] + k;
#pragma GCC unroll 8
    for (int m = 1 - WIDE; m < 0; m++) w[WIDE - 1 + m] = KERNEL(places)(x, at, m, far);
    WHOLLY_UNROLLED
    for (int l = 0; l < length; l++) {
        const KERNEL(lane) value = *(const KERNEL(lane) *)(v + l * LANES);
        w[WIDE - 1 + l] = KERNEL(places)(x, at, l, far);
        __builtin_prefetch((const char *)(v + l * LANES) + AHEAD);
#pragma GCC unroll 8
        for (int g = 0; g < WIDE; g++) sum[g] += value * w[WIDE - 1 + l - g];
    }
}

INLINE void KERNEL(strip_rotate)(KERNEL(lane) sum[SETS][WIDE], const KERNEL(lane) * last) {
    KERNEL(lane) next[SETS][WIDE]; /* moved at once, by compilers that would else move memory */
#pragma GCC unroll 8
    for (int s = 0; s < SETS; s++)
#pragma GCC unroll 8
        for (int g = 0; g < WIDE; g++) next[s][g] = s + 1 < SETS ? sum[(s + 1) % SETS][g] : last[g];
#pragma GCC unroll 8
    for (int s = 0; s < SETS; s++)
#pragma GCC unroll 8
        for (int g = 0; g < WIDE; g++) sum[s][g] = next[s][g];
}

INLINE void KERNEL(strip_bundle)(KERNEL(lane) sum[SETS][WIDE], const REAL *v, const int length,
                                 const REAL *x, const uint8_t *ahead, const int far) {
    KERNEL(lane) acc[WIDE];
#pragma GCC unroll 8
    for (int g = 0; g < WIDE; g++) acc[g] = sum[0][g];
    KERNEL(columns)(acc, v, length, x, ahead, far);
    KERNEL(strip_rotate)(sum, acc);
}

/* Any length, column by column. */
static __attribute__((noinline)) void
KERNEL(strip_long)(KERNEL(lane) * sum, const REAL *v, const REAL *x, const struct strip_bundle *b) {
    const int length = b->length & (BUNDLE_FAR - 1);
    for (int l = 0; l < length; l++) KERNEL(columns)(sum, v + l * LANES, 1, x - l, b->ahead, 1);
}

/* From lane = row, register = step to rows of steps: each round deals the first half of the
 * registers and the second half alternately, which takes the steps' number one bit further down. */
INLINE void KERNEL(transpose)(KERNEL(lane) * sum) {
#define LOW(i)  ((i) / 2 + (i) % 2 * LANES)
#define HIGH(i) (LOW(i) + LANES / 2)
#pragma GCC unroll 4
    for (int round = 1; round < WIDE; round *= 2) {
        KERNEL(lane) dealt[WIDE];
#pragma GCC unroll 8
        for (int g = 0; g < WIDE / 2; g++) {
            const KERNEL(lane) a = sum[g], b = sum[g + WIDE / 2];
            dealt[2 * g] = __builtin_shufflevector(a, b, EACH_LANE(LOW, 0));
            dealt[2 * g + 1] = __builtin_shufflevector(a, b, EACH_LANE(HIGH, 0));
        }
#pragma GCC unroll 8
        for (int g = 0; g < WIDE; g++) sum[g] = dealt[g];
    }
#undef LOW
#undef HIGH
}

/* One strip's sums of a block: `rows` of them into `out`. */
static void KERNEL(strip)(const struct layout *a, int block, int strip, const struct history *past,
                          REAL *out, int rows) {
    const struct part *p = &a->part[(size_t)block * (size_t)a->strips + (size_t)strip];
    const size_t stride = past->stride;
    const REAL *x =
        (const REAL *)past->value + (size_t)a->slice[block] * stride + past->front + a->depth;
    const REAL *v = (const REAL *)a->value + p->value;
    const uint16_t *meta = a->meta + p->meta;
    KERNEL(lane) sum[SETS][WIDE];
#pragma GCC unroll 8
    for (int s = 0; s < SETS; s++)
#pragma GCC unroll 8
        for (int g = 0; g < WIDE; g++) sum[s][g] = (KERNEL(lane)){0};
    const struct strip_bundle *b = (const void *)meta;
    int n = 0;
    /* they are in order of nearness, then of length */
#define NEXT(n_columns)                                                                            \
    v += (n_columns)*LANES;                                                                        \
    b = (const void *)((const char *)b + sizeof *b + LANES);                                       \
    n++;
#define RUN_OF(length_, far_)                                                                      \
    while (n < p->count && b->length == (length_) + (far_)*BUNDLE_FAR) {                           \
        KERNEL(strip_bundle)                                                                       \
        (sum, v, length_, x + b->slice * stride - b->start, b->ahead, far_);                       \
        NEXT(length_)                                                                              \
    }
#define NEAR_OF(length_) RUN_OF(length_, 0)
#define FAR_OF(length_)  RUN_OF(length_, 1)
    while (n < p->count) {
        EACH_LENGTH(NEAR_OF)
        if (n == p->count) break;
        EACH_LENGTH(FAR_OF)
        while (n < p->count && (b->length & (BUNDLE_FAR - 1)) > LENGTH_MAX) {
            KERNEL(lane) acc[WIDE];
            memcpy(acc, sum[0], sizeof acc);
            KERNEL(strip_long)(acc, v, x + b->slice * stride - b->start, b);
            KERNEL(strip_rotate)(sum, acc);
            NEXT(b->length & (BUNDLE_FAR - 1))
        }
    }
#undef NEXT
#undef RUN_OF
#undef NEAR_OF
#undef FAR_OF
#pragma GCC unroll 8
    for (int s = 1; s < SETS; s++)
#pragma GCC unroll 8
        for (int g = 0; g < WIDE; g++) sum[0][g] += sum[s][g];
    KERNEL(transpose)(sum[0]);
    KERNEL(lane) whole[WIDE]; /* the sums themselves have no address, and so stay in registers */
#pragma GCC unroll 8
    for (int g = 0; g < WIDE; g++) whole[g] = sum[0][g];
    memcpy(out, whole, (size_t)rows * WIDE * REAL_BYTES);
}

#undef LANES
#undef SHARED
#undef INDEX
#undef SETS
#undef WHOLLY_UNROLLED
