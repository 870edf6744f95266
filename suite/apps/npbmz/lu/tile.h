/* Addresses of a tile's data, the visits of a core to its tiles, and the transposes of a tile's
 * rows into vectors with a row a lane.
 *
 * A chunk is a number of steps of a tile, in groups of LANES. Lane l of step s of a chunk that
 * begins with the tile's step f is at the point i = f + s - l of the tile's row l. In chunk 0 lanes
 * with negative i are at the end of a row of the core's previous tile, its tail: at i + period. A
 * lane that is at no interior point is dead; i = 0 and everything behind nx - 2 are. */
#pragma once

#include "common/simd/lanes.h"
#include "npbmz/host/residual.h"
#include "npbmz/lu/coefficients.h"
#include "npbmz/lu/order.h"

#if defined(__AVX512F__)
#    include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#define KERNEL static __attribute__((noinline)) /* has the registers to itself */

/* ---- memory -------------------------------------------------------------------------------- */

typedef double lu_vectors[NC][LANES]; /* vectors of a step: component, lane */

enum {
    FLOOR_STEP = NC * LANES,    /* doubles of a floor that belong to a step */
    BLOCK = NC * LANES * LANES, /* doubles of a group */
};

/* Scratch of the sweeps, for one zone at a time. A line holds the components of a row, backwards:
 * position i is i NC doubles below position 0. A floor holds one vector a component and step of a
 * tile and its tail. */
struct lu_memory {
    struct lu_progress *lower, *upper; /* progress of each core */
    double *lines;                     /* line of each plane, and a spare one of each core */
    double *floors;                    /* floor of each block */
    double *loose;                     /* v of the last block, if it sticks out of the zone */
    double *drains;                    /* by core, v of the last tail, which is done by itself */
    double *residual;
    ptrdiff_t line, floor; /* doubles of one */
};

/* Lays it out from `base` on (NULL: only counts); returns how many doubles it is. The flags, which
 * must keep their zeros, have the same place for all zones. */
static inline size_t lu_memory(const struct problem *p, const struct lu_order *o, int team,
                               double *base, struct lu_memory *m) {
    const size_t period = (size_t)o->period, cores = (size_t)team;
    const size_t planes = (size_t)o->planes, blocks = (size_t)o->blocks;
    const size_t flags = cores * sizeof(struct lu_progress) / sizeof(double);
    size_t at = 0;
#define TAKE(member, type, doubles)                                                                \
    m->member = base ? (type *)(base + at) : NULL;                                                 \
    at += ((doubles) + 7) / 8 * 8
    m->line = (ptrdiff_t)(NC * (period + 3 * LANES) + 7) / 8 * 8;
    m->floor = (ptrdiff_t)((period + LANES) * FLOOR_STEP + 16 + 7) / 8 * 8;
    TAKE(lower, struct lu_progress, flags);
    TAKE(upper, struct lu_progress, flags);
    TAKE(lines, double, (planes + cores) * (size_t)m->line);
    TAKE(floors, double, blocks *(size_t)m->floor);
    TAKE(loose, double, planes *NC *LANES *period);
    TAKE(drains, double, cores *BLOCK);
    TAKE(residual, double, residual_scratch(p, team));
#undef TAKE
    return at;
}

/* position 0 of a plane's line */
static inline double *lu_line(const struct lu_memory *m, int plane) {
    return m->lines + (plane + 1) * m->line - NC * LANES;
}

/* ---- tiles and visits ---------------------------------------------------------------------- */

/* The tile of another core that a tile waits for. */
struct lu_other {
    int core;        /* core of that tile; -1: none */
    uint64_t visits; /* visits of that core up to the beginning of that tile */
};

struct lu_place { /* where a tile's data lie */
    int number;   /* number of the tile among those of this core */
    struct lu_tile tile;
    int rows;      /* rows of the tile that are in the zone */
    double *u, *r; /* point (0, first row, plane), component 0 */
    double *line;  /* line of its plane: position 0, component 0 */
    double *floor; /* floor of its block: step 0 */
    double *v;     /* vector of step 0, component 0; the others of a group a row further each */
    ptrdiff_t v_row, v_component;
    struct lu_other y, z; /* predecessors in this sweep */
};

struct lu_sweep {
    struct lu_order order;
    struct lu_memory memory;
    struct lu_coefficients c;
    struct zone *z;
    int upper;                    /* 1: backwards */
    int core, tiles;              /* this core and how many tiles it has */
    struct lu_place place[4];     /* places of the current tiles */
    struct lu_progress *progress; /* progress of each core */
    uint64_t seen_y, seen_z;      /* progress seen of the cores that this one waits for */
};

static inline struct lu_other lu_other(const struct lu_sweep *w, int block, int plane) {
    const struct lu_order *o = &w->order;
    struct lu_other other = {-1, 0};
    if (o->groups * o->share == 1) return other;
    if (block < 0 || block >= o->blocks || plane < 0 || plane >= o->planes) return other;
    int n, core = lu_order_core(o, (struct lu_tile){block, plane}, &n);
    if (core == w->core) return other;
    return (struct lu_other){core, (uint64_t)(w->upper ? lu_order_tiles(o, core) - n : n) *
                                       (uint64_t)o->chunks};
}

static inline const struct lu_place *lu_place(struct lu_sweep *w, int number) {
    const struct zone *z = w->z;
    const struct lu_memory *m = &w->memory;
    const int before = w->upper ? 1 : -1;
    struct lu_place *a = &w->place[number & 3];
    if (a->number == number) return a;
    a->number = number;
    a->tile = lu_order_tile(&w->order, w->core, number);
    const int j = 1 + a->tile.block * LANES, k = 1 + a->tile.plane;
    a->rows = z->ny - 1 - j < LANES ? z->ny - 1 - j : LANES;
    a->u = z->u + zone_at(z, 0, j, k);
    a->r = z->r + zone_at(z, 0, j, k);
    a->line = lu_line(m, a->tile.plane);
    a->floor = m->floors + a->tile.block * m->floor;
    if (a->rows == LANES) {
        a->v = a->r, a->v_row = z->sj, a->v_component = z->sc;
    } else {
        a->v_row = w->order.period, a->v_component = LANES * a->v_row;
        a->v = m->loose + a->tile.plane * NC * a->v_component;
    }
    a->y = lu_other(w, a->tile.block + before, a->tile.plane);
    a->z = lu_other(w, a->tile.block, a->tile.plane + before);
    return a;
}

static inline void lu_sweep(const struct problem *p, struct zone *z, const struct scratch *s,
                            const struct team *t, int upper, struct lu_sweep *w) {
    w->order = lu_order(z->nx, z->ny, z->nz, t->cores);
    lu_memory(p, &w->order, t->cores, s->memory, &w->memory);
    lu_coefficients(p, upper ? -1 : 1, &w->c);
    w->z = z;
    w->upper = upper;
    w->core = t->core;
    w->tiles = lu_order_tiles(&w->order, w->core);
    for (int i = 0; i < 4; i++) w->place[i].number = -1;
    w->progress = upper ? w->memory.upper : w->memory.lower;
    w->seen_y = w->seen_z = 0;
}

/* One chunk: number `chunk` of the tile `head`. Chunk 0 goes together with the tail of the tile
 * before it. The first visit has no tail, the last one, after the last tile, has no head: what is
 * missing has no rows, and the addresses of the other one. */
struct lu_visit {
    int number, chunk; /* number: the core's number of the head */
    int first, steps;  /* the tile's step that is the chunk's first one, and how many it has */
    int has_head, has_tail;
    int head_rows, tail_rows;
    const struct lu_place *head, *tail;
};

static inline void lu_visit(struct lu_sweep *w, int number, int chunk, struct lu_visit *v) {
    const int first = chunk * w->order.steps, left = w->order.period - first;
    v->number = number, v->chunk = chunk, v->first = first;
    v->has_head = number < w->tiles, v->has_tail = chunk == 0 && number > 0;
    v->head = lu_place(w, v->has_head ? number : number - 1);
    v->tail = v->has_tail ? lu_place(w, number - 1) : v->head;
    v->steps = !v->has_head ? LANES : left < w->order.steps ? left : w->order.steps;
    v->head_rows = v->has_head ? v->head->rows : 0;
    v->tail_rows = v->has_tail ? v->tail->rows : 0;
}

/* Begins with the first visit of a core that has tiles; goes on to the next one, 0: there is none.
 * */
static inline void lu_visit_first(struct lu_sweep *w, struct lu_visit *v) {
    lu_visit(w, w->upper ? w->tiles : 0, 0, v);
}
static inline int lu_visit_next(struct lu_sweep *w, struct lu_visit *v) {
    int at = v->number * w->order.chunks + v->chunk + (w->upper ? -1 : 1);
    if (at < 0 || at > w->tiles * w->order.chunks) return 0;
    int chunk = v->chunk + (w->upper ? -1 : 1), number = v->number;
    if (chunk < 0) chunk = w->order.chunks - 1, number--;
    if (chunk == w->order.chunks) chunk = 0, number++;
    lu_visit(w, number, chunk, v);
    return 1;
}

/* Waits until chunk `chunk` of the tile is done; a tail is the chunk behind the last one. */
static inline void lu_wait(const struct lu_sweep *w, struct lu_other other, int chunk,
                           uint64_t *seen) {
    if (other.core < 0) return;
    const uint64_t need = other.visits + 1 + (uint64_t)(w->upper ? -chunk : chunk);
    if (*seen < need) *seen = lu_progress_wait(&w->progress[other.core], need);
}
static inline void lu_wait_y(struct lu_sweep *w, const struct lu_place *a, int chunk) {
    lu_wait(w, a->y, chunk, &w->seen_y);
}
static inline void lu_wait_z(struct lu_sweep *w, const struct lu_place *a, int chunk) {
    lu_wait(w, a->z, chunk, &w->seen_z);
}
static inline void lu_tell(const struct lu_sweep *w, const struct lu_visit *v) {
    int done = v->number * w->order.chunks + v->chunk;
    if (w->upper) done = w->tiles * w->order.chunks - done;
    lu_progress_tell(&w->progress[w->core], (uint64_t)done + 1);
}

/* ---- rows transposed to vectors and back --------------------------------------------------- */

/* The last l lanes of a, and behind them the first ones of b. */
INLINE vec lanes_join(vec a, vec b, int l) {
#define JOIN(l, ...)                                                                               \
    case l: return __builtin_shufflevector(a, b, __VA_ARGS__)
    switch (l) {
#if LANES == 8
        JOIN(1, 7, 8, 9, 10, 11, 12, 13, 14);
        JOIN(2, 6, 7, 8, 9, 10, 11, 12, 13);
        JOIN(3, 5, 6, 7, 8, 9, 10, 11, 12);
        JOIN(4, 4, 5, 6, 7, 8, 9, 10, 11);
        JOIN(5, 3, 4, 5, 6, 7, 8, 9, 10);
        JOIN(6, 2, 3, 4, 5, 6, 7, 8, 9);
        JOIN(7, 1, 2, 3, 4, 5, 6, 7, 8);
#elif LANES == 4
        JOIN(1, 3, 4, 5, 6);
        JOIN(2, 2, 3, 4, 5);
        JOIN(3, 1, 2, 3, 4);
#else
        JOIN(1, 1, 2);
#endif
    default: return b;
    }
#undef JOIN
}

/* From a row of a tile to its first one: 0 if it has no such row, which is not touched then: it may
 * be another core's. */
INLINE void lu_rows(const struct lu_sweep *w, int rows, ptrdiff_t row[LANES]) {
    for (int l = 0; l < LANES; l++) row[l] = l < rows ? l * w->z->sj : 0;
}

/* All lanes are alive in the LANES steps of the tile from `first` on. */
INLINE int lu_whole(const struct lu_sweep *w, const struct lu_visit *v, int first) {
    return first > 0 && first + LANES < w->z->nx && v->head_rows == LANES;
}

/* A field's group that begins with step `first` of the tile, transposed: t[step][m] lane l is
 * component m at the lane's point, something finite in a dead lane. a and b: where the tail and the
 * head have the points (0, first row). whole: as lu_whole says; a constant where it is used much.
 */
INLINE void lu_turn_in(const struct lu_sweep *w, const struct lu_visit *v, int whole, int first,
                       const double *a, const double *b, lu_vectors *t) {
    const ptrdiff_t sc = w->z->sc;
    ptrdiff_t head[LANES], tail[LANES] = {0};
    const int joint = !whole && first == 0;
    lu_rows(w, whole ? LANES : v->head_rows, head);
    if (joint) {
        lu_rows(w, v->tail_rows, tail);
        a += w->order.period - LANES;
    }
    b += first;
    for (int m = 0; m < NC; m++, a += sc, b += sc) {
        vec row[LANES];
        if (joint)
            for (int l = 0; l < LANES; l++)
                row[l] = lanes_join(vec_load(a + tail[l]), vec_load(b + head[l]), l);
        else
            for (int l = 0; l < LANES; l++) row[l] = vec_loadu(b + head[l] - l);
        vec_transpose(row);
        for (int s = 0; s < LANES; s++) vec_store(t[s][m], row[s]);
    }
}

/* the lanes that are alive at step s of the tile */
INLINE ivec lu_alive(const struct lu_sweep *w, const struct lu_visit *v, int s) {
    const int64_t last = w->z->nx - 2;
    const ivec lane = vec_iota();
    const ivec i = (int64_t)s - lane;
    ivec m = (i >= 1) & (i <= last) & (lane < (int64_t)v->head_rows);
    if (s < LANES)
        m |= (i < 0) & (i + (int64_t)w->order.period <= last) & (lane < (int64_t)v->tail_rows);
    return m;
}

/* The points of a chunk: U, in dead lanes with the density 1, and what lu_state makes of it. */
struct lu_chunk {
    lu_vectors u[LU_STEPS];
    double alive[LU_STEPS][LANES];   /* 1: the point is in the zone; 0 */
    double over[LU_STEPS][LANES];    /* quotients, see lu_quotient() */
    struct lu_point point[LU_STEPS]; /* point of each step */
} __attribute__((aligned(64)));

/* The group of steps [g, g + LANES) of the chunk. */
INLINE void lu_load_u_of(const struct lu_sweep *w, const struct lu_visit *v, int whole, int g,
                         struct lu_chunk *q) {
    const vec one = vec_set(1);
    lu_turn_in(w, v, whole, v->first + g, v->tail->u, v->head->u, q->u + g);
    for (int s = g; s < g + LANES; s++) {
        vec alive = one, rho = vec_load(q->u[s][0]);
        if (!whole) {
            ivec m = lu_alive(w, v, v->first + s);
            alive = vec_select(m, one, (vec){0});
            rho = vec_select(m, rho, one);
            vec_store(q->u[s][0], rho);
        }
        vec_store(q->alive[s], alive);
        struct lu_pivots pivots;
        lu_pivots(&w->c, rho, &pivots);
        vec_store(q->over[s], lu_quotient(&pivots, rho, alive));
    }
}
KERNEL void lu_load_u_part(const struct lu_sweep *w, const struct lu_visit *v, int g,
                           struct lu_chunk *q) {
    lu_load_u_of(w, v, 0, g, q);
}
KERNEL void lu_load_u(const struct lu_sweep *w, const struct lu_visit *v, struct lu_chunk *q) {
    for (int g = 0; g < v->steps; g += LANES)
        if (lu_whole(w, v, v->first + g))
            lu_load_u_of(w, v, 1, g, q);
        else
            lu_load_u_part(w, v, g, q);
}

KERNEL void lu_load_r(const struct lu_sweep *w, const struct lu_visit *v, lu_vectors *r) {
    for (int g = 0; g < v->steps; g += LANES)
        lu_turn_in(w, v, 0, v->first + g, v->tail->r, v->head->r, r + g);
}

/* The elements of `a` whose bits are set are added to those of p; the others are not touched. */
INLINE void lu_add_part(double *p, unsigned elements, vec a) {
#if defined(__AVX512F__)
    const __mmask8 some = (__mmask8)elements;
    _mm512_mask_storeu_pd(p, some, _mm512_maskz_loadu_pd(some, p) + a);
#else
    if (elements == (1u << LANES) - 1)
        vec_storeu(p, vec_loadu(p) + a);
    else if (elements)
        for (int l = 0; l < LANES; l++)
            if (elements >> l & 1) p[l] += a[l];
#endif
}

/* Points of the head that are interior points, of row l's vector for the LANES steps from `first`
 * on, as bits; lu_tail_bits(): those of the tail. */
INLINE unsigned lu_head_bits(const struct lu_sweep *w, const struct lu_visit *v, int first, int l) {
    const int left = w->z->nx - 1 - first + l, end = left < LANES ? left : LANES;
    const unsigned bits = (1u << end) - 1;
    return l >= v->head_rows ? 0 : first > 0 ? bits : bits & ~1u << l;
}
INLINE unsigned lu_tail_bits(const struct lu_sweep *w, const struct lu_visit *v, int l) {
    const int end = l + w->z->nx - 1 - w->order.period;
    return l >= v->tail_rows || end <= 0 ? 0 : (1u << (end < l ? end : l)) - 1;
}

/* A group of steps: all lanes alive; no lane at the tail; or the first of chunk 0. */
enum lu_add { ADD_WHOLE, ADD_HEAD, ADD_JOINT };

/* Adds the group of du that begins with step g: du[step] lane l goes to U at the lane's point, if
 * it is alive. */
INLINE void lu_add_of(const struct lu_sweep *w, const struct lu_visit *v, enum lu_add what, int g,
                      lu_vectors *du) {
    const ptrdiff_t sj = w->z->sj, sc = w->z->sc;
    const int first = what == ADD_JOINT ? 0 : v->first + g;
    double *a = v->tail->u + w->order.period, *b = v->head->u + first;
    unsigned head[LANES], tail[LANES];
    for (int l = 0; l < LANES; l++) {
        head[l] = what == ADD_WHOLE ? 0 : lu_head_bits(w, v, first, l);
        tail[l] = what == ADD_JOINT ? lu_tail_bits(w, v, l) : 0;
    }
    for (int m = 0; m < NC; m++, a += sc, b += sc) {
        vec t[LANES];
        for (int s = 0; s < LANES; s++) t[s] = vec_load(du[g + s][m]);
        vec_transpose(t);
        for (int l = 0; l < LANES; l++) {
            double *p = b + l * sj - l;
            if (what == ADD_WHOLE)
                vec_storeu(p, vec_loadu(p) + t[l]);
            else
                lu_add_part(p, head[l], t[l]);
            if (what == ADD_JOINT) lu_add_part(a + l * sj - l, tail[l], t[l]);
        }
    }
}
KERNEL void lu_add_joint(const struct lu_sweep *w, const struct lu_visit *v, lu_vectors *du) {
    lu_add_of(w, v, ADD_JOINT, 0, du);
}
KERNEL void lu_add_head(const struct lu_sweep *w, const struct lu_visit *v, int g, lu_vectors *du) {
    lu_add_of(w, v, ADD_HEAD, g, du);
}
KERNEL void lu_add_to_u(const struct lu_sweep *w, const struct lu_visit *v, lu_vectors *du) {
    for (int g = 0; g < v->steps; g += LANES)
        if (lu_whole(w, v, v->first + g))
            lu_add_of(w, v, ADD_WHOLE, g, du);
        else if (v->first + g > 0)
            lu_add_head(w, v, g, du);
        else
            lu_add_joint(w, v, du);
}
