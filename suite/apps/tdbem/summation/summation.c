/* The kernels for every precision and number of steps, and the choice among them. */
#include "tdbem/summation/summation.h"
#include "tdbem/summation/summation_tree.h"
#include "tdbem/layout/kernel_rows.h"
#include "tdbem/summation/vector.h"
#include <string.h>

/* bytes of values to be fetched ahead of use: some bundles, since a bundle's sums keep the core
 * busy for longer than it can look ahead */
enum { AHEAD = 2048 };

#define INLINE                  static inline __attribute__((always_inline))
#define JOIN_(name, real, wide) name##_##real##_##wide
#define JOIN(name, real, wide)  JOIN_(name, real, wide)
#define KERNEL(name)            JOIN(name, REAL, WIDE)

/* f of each lane's number, from `first` on */
#define LANES_2(f, i)         f(i), f(i + 1)
#define LANES_4(f, i)         LANES_2(f, i), LANES_2(f, i + 2)
#define LANES_8(f, i)         LANES_4(f, i), LANES_4(f, i + 4)
#define LANES_16(f, i)        LANES_8(f, i), LANES_8(f, i + 8)
#define LANES_(f, first, n)   LANES_##n(f, first)
#define LANES_OF(f, first, n) LANES_(f, first, n)
#define EACH_LANE(f, first)   LANES_OF(f, first, LANES)

/* Bundles of one length that follow each other, each without a loop: neither counting columns nor
 * finding their places then takes instructions, of which there would be more than of products. */
#define BUNDLES(n)                                                                                 \
    for (; b < p->count && meta[1] == n; b++) {                                                    \
        KERNEL(bundle_of)(v, n, window - meta[0], sums, meta + 2);                                 \
        v += n * ROWS;                                                                             \
        meta += 2 + ROWS;                                                                          \
    }
enum { LENGTH_MAX = 16 };
#define EACH_LENGTH(f)                                                                             \
    f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16)

#define REAL       double
#define REAL_BYTES 8
#include "tdbem/summation/summation_steps.h"
#undef REAL
#undef REAL_BYTES
#define REAL       float
#define REAL_BYTES 4
#include "tdbem/summation/summation_steps.h"
#undef REAL
#undef REAL_BYTES

/* f(real, wide) for every width */
#define EACH_WIDE(f, real) f(real, 1) f(real, 2) f(real, 4) f(real, 8) f(real, 16) f(real, 32)

int summation_bundle_rows(int single, int wide) {
#define CASE(real, n)                                                                              \
    case n: return bundle_rows_##real##_##n;
    if (single) switch (wide) {
            EACH_WIDE(CASE, float)
        default: return 0;
        }
    switch (wide) {
        EACH_WIDE(CASE, double)
    default: return 0;
    }
#undef CASE
}

/* f(real, wide) for all that have strips (summation_kernel.h) */
#if VECTOR_BYTES == 64
#    define EACH_STRIP_double(f) f(double, 4) f(double, 8)
#    define EACH_STRIP_float(f)  f(float, 1) f(float, 2) f(float, 4) f(float, 8)
#else
#    define EACH_STRIP_double(f)
#    define EACH_STRIP_float(f)
#endif

struct summation_strip summation_strip(int single, int wide) {
#define CASE(real, n)                                                                              \
    case n:                                                                                        \
        return (struct summation_strip){strip_rows_##real##_##n, strip_near_##real##_##n,          \
                                        strip_far_##real##_##n};
    if (single) switch (wide) {
            EACH_STRIP_float(CASE) default : return (struct summation_strip){0};
        }
    switch (wide) { EACH_STRIP_double(CASE) default : return (struct summation_strip){0}; }
#undef CASE
}

int summation_carries(const struct layout *a) {
#define CASE(real, n)                                                                              \
    case n: return carries_##real##_##n;
    if (a->is.kind == LAYOUT_CONTIGUOUS) return 0;
    if (a->is.single) switch (a->wide) {
            EACH_WIDE(CASE, float)
        default: return 0;
        }
    switch (a->wide) {
        EACH_WIDE(CASE, double)
    default: return 0;
    }
#undef CASE
}

static size_t up(size_t n) { return (n + 63) / 64 * 64; }

/* rows of padding behind a tile's sums: for rows that are none, and the end of a block */
static size_t slack(const struct layout *a) {
    return (size_t)(a->is.kind == LAYOUT_FULL ? a->tall : 0) + 64;
}

static size_t tallest(const struct layout *a) {
    int max = 0;
    for (int t = 0; t < a->tiles; t++) {
        int n = a->tile_row[t + 1] - a->tile_row[t];
        if (n > max) max = n;
    }
    return (size_t)max;
}

static size_t real(const struct layout *a) { return a->is.single ? sizeof(float) : sizeof(double); }

static size_t windows_bytes(const struct layout *a) {
    return up((size_t)(a->front + a->depth + GROUP_MAX) * VECTOR_BYTES);
}

/* One node's sums in a tile. */
static size_t tile_bytes(const struct layout *a) {
    return up((tallest(a) + slack(a)) * (size_t)a->wide * real(a));
}

size_t summation_scratch(const struct layout *a, int span) {
    int nodes = 2; /* at each size one node waits for its right half */
    for (int size = 1; size < span; size *= 2) nodes++;
    return windows_bytes(a) + (size_t)nodes * tile_bytes(a);
}

/* The strips of a tile. */
static void sum_strips(const struct layout *a, int block, int tile, const struct history *past,
                       void *sums) {
    const int from = a->tile_row[tile], end = a->tile_row[tile + 1];
    for (int row = from; row < end; row += a->strip) {
        const int rows = end - row < a->strip ? end - row : a->strip;
        const int strip = row / a->strip;
        void *out = (char *)sums + (size_t)(row - from) * (size_t)a->wide * real(a);
        (void)past, (void)block, (void)strip, (void)rows, (void)out; /* without any kernel */
#define RUN(real, n)                                                                               \
    case n: strip_##real##_##n(a, block, strip, past, out, rows); break;
        if (a->is.single) switch (a->wide) {
                EACH_STRIP_float(RUN) default : break;
            }
        else
            switch (a->wide) { EACH_STRIP_double(RUN) default : break; }
#undef RUN
    }
}

/* Rows of the tile, overwritten. */
static void sum_block(const struct layout *a, int block, int tile, const struct history *past,
                      void *sums, void *windows) {
    if (a->strip) {
        sum_strips(a, block, tile, past, sums);
        return;
    }
    const size_t height = (size_t)(a->tile_row[tile + 1] - a->tile_row[tile]);
    memset(sums, 0, (height + slack(a)) * (size_t)a->wide * real(a));
#define RUN(real, n)                                                                               \
    case n:                                                                                        \
        if (a->is.kind == LAYOUT_ROWS)                                                             \
            rows_##real##_##n(a, block, tile, past, sums, windows);                                \
        else if (a->is.kind == LAYOUT_FULL)                                                        \
            full_##real##_##n(a, block, tile, past, sums, windows);                                \
        else                                                                                       \
            contiguous_##real##_##n(a, block, tile, past, sums, windows);                          \
        break;
    if (a->is.single) switch (a->wide) {
            EACH_WIDE(RUN, float)
        default: break;
        }
    else
        switch (a->wide) {
            EACH_WIDE(RUN, double)
        default: break;
        }
}

void summation_part(const struct layout *a, int block, int span, int tile,
                    const struct history *past, void *sums, void *scratch) {
    const int from = a->tile_row[tile], height = a->tile_row[tile + 1] - from;
    const size_t row = (size_t)a->wide * real(a), bytes = tile_bytes(a);
    char *first = (char *)scratch + windows_bytes(a), *node = first;
    for (int done = 1; done <= span; done++) {
        sum_block(a, block + done - 1, tile, past, node, scratch);
        for (int left = done; left % 2 == 0; left /= 2, node -= bytes)
            summation_add(a, node - bytes, node, (size_t)height * (size_t)a->wide);
        node += bytes;
    }
    memcpy((char *)sums + (size_t)from * row, first, (size_t)height * row);
}
