/* LU-MZ's time step: symmetric successive over-relaxation, a lower and an upper sweep over a zone.
 *
 * The scheme of "The NAS Parallel Benchmarks" (RNR-94-007, section 4.2), per zone as in NAS-03-010.
 * A point is finished when its predecessors in x, y and z are, and then gives each of its three
 * successors a vector w (point.h): nothing but 5-vectors is passed on and no block is formed.
 *
 * A vector's lanes are LANES rows, skewed by one point each (order.h). Thus a lane's predecessor in
 * x is its own last step, in registers; in y it is the neighbouring lane's last step: lanes moved
 * on by one, the first taking its value from a `line` that the last lane of the block before has
 * left; in z it lies in a `floor`, one vector a step, overwritten in place from plane to plane. The
 * upper sweep is the mirror image.
 *
 * r is not needed any more once a lower sweep has read it. The sweep leaves its v there, in the
 * order of its steps: vector s of a chunk in row s of the block, so that the upper sweep loads it
 * without turning it round, and no further field takes up cache. The residual at the end of the
 * step writes all of r anew.
 *
 * Count for LANES points, on the two arithmetic ports of AVX-512:
 *   state (point.h) 43 operations and a division, D^-1 17, w 51, sum of the neighbours 15 + 5 moves
 *   of lanes, turning round 15 shuffles for each of r and u (lower) or u twice (upper), update 14:
 *   161 below and 178 above, that is 10.1 and 11.1 cycles a point. Reads and writes: 120 bytes
 *   below (u, r, v), 120 above (u, v, u).
 */
#include "../lanes.h"
#include "../residual.h"
#include "order.h"
#include "point.h"
#include <string.h>

#if defined(__AVX512F__)
#    include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#define KERNEL static __attribute__((noinline)) /* registers are given out to it alone */

typedef double block[NC][LANES][LANES]; /* component, step, lane */

/* ---- memory -------------------------------------------------------------------------------- */

/* What the sweeps keep in scratch, all of it for one zone at a time. A line holds one component of
 * a row: position i lies i doubles below `line_zero`, so that a vector whose last lane is at i is
 * stored with its other lanes, no use any more, on positions not yet written. */
struct lu_memory {
    struct lu_progress *lower, *upper; /* of each core */
    double *lines;                     /* plane (and a spare one for each core), component */
    double *floors;                    /* place of a block; step; component */
    double *loose;                     /* v of the last block if it sticks out of the zone */
    double *drains;                    /* v of tails done by themselves */
    double *residual;
    ptrdiff_t line, floor;
};

enum { LINE_SLACK = LANES, FLOOR_STEP = NC * LANES };

static size_t whole_lines(size_t doubles) { return (doubles + 7) / 8 * 8; }

/* blocks whose planes are shared: with fewer cores than blocks their number varies with the zone */
static int most_left_over(const struct lu_order *o) {
    return o->blocks < o->cores ? o->blocks : o->cores - 1;
}

static size_t lu_memory(const struct problem *p, int nx, int ny, int nz, int cores, double *base,
                        struct lu_memory *m) {
    const struct zone z = {.nx = nx, .ny = ny, .nz = nz};
    const struct lu_order o = lu_order(&z, cores);
    const size_t period = (size_t)o.chunks * LANES;
    const size_t places = (size_t)(o.blocks < cores ? o.blocks : cores);
    const size_t drains = (size_t)o.planes * (size_t)most_left_over(&o) + (size_t)cores;
    m->line = (ptrdiff_t)whole_lines(period + 3 * LINE_SLACK);
    m->floor = (ptrdiff_t)whole_lines((period + LANES) * FLOOR_STEP) + 16;
    size_t at = 0;
#define TAKE(pointer, type, doubles)                                                               \
    pointer = (type *)(base + at);                                                                 \
    at += whole_lines(doubles)
    TAKE(m->lower, struct lu_progress, (size_t)cores * sizeof(struct lu_progress) / sizeof(double));
    TAKE(m->upper, struct lu_progress, (size_t)cores * sizeof(struct lu_progress) / sizeof(double));
    TAKE(m->lines, double, (size_t)((o.planes + cores) * NC) * (size_t)m->line);
    TAKE(m->floors, double, places *(size_t)m->floor);
    TAKE(m->loose, double, (size_t)o.planes *NC *LANES *period);
    TAKE(m->drains, double, drains *NC *LANES *LANES);
    TAKE(m->residual, double, residual_scratch(p, cores));
#undef TAKE
    return at;
}

static size_t lu_scratch(const struct problem *p, int cores) {
    struct lu_memory m;
    return lu_memory(p, p->max_nx, p->max_ny, p->max_nz, cores, NULL, &m);
}

/* ---- a tile -------------------------------------------------------------------------------- */

struct sweep {
    struct lu_order order;
    struct lu_memory memory;
    struct lu_coefficients c;
    struct zone *z;
    int core, tiles; /* this core and how many tiles it has */
    int period;      /* steps of a tile, without its tail */
};

struct place { /* a tile and where its data lie */
    struct lu_tile tile;
    int rows;      /* that are in the zone; 0: no tile, whose lanes are all dead */
    double *u, *r; /* point (0, first row, plane), component 0 */
    double *line;  /* of its plane: position 0, component 0 */
    double *floor; /* of its block: step 0 */
    double *v;     /* vector of step 0, component 0 */
    ptrdiff_t v_row, v_component;
};

static double *line_of(const struct lu_memory *m, int plane) {
    return m->lines + (plane * NC + 1) * m->line - 2 * LINE_SLACK;
}

static struct place place_of(const struct sweep *w, int number) {
    const struct zone *z = w->z;
    const struct lu_memory *m = &w->memory;
    struct place a = {.tile = lu_order_tile(&w->order, w->core, number)};
    const int j = 1 + a.tile.block * LANES, k = 1 + a.tile.plane;
    const ptrdiff_t at = zone_at(z, 0, j, k);
    a.rows = z->ny - 1 - j < LANES ? z->ny - 1 - j : LANES;
    a.u = z->u + at;
    a.r = z->r + at;
    a.line = line_of(m, a.tile.plane);
    a.floor = m->floors + a.tile.block % w->order.cores * m->floor;
    if (a.rows == LANES) {
        a.v = a.r, a.v_row = z->sj, a.v_component = z->sc;
    } else {
        a.v_row = w->period, a.v_component = LANES * w->period;
        a.v = m->loose + a.tile.plane * NC * a.v_component;
    }
    return a;
}

/* Goes with the visit `to`. Where there is no tile, there are the addresses of the other one. */
static void places_of(const struct sweep *w, struct lu_visit to, struct place *a, struct place *b) {
    if (to.a >= 0) *a = place_of(w, to.a);
    if (to.b >= 0) *b = place_of(w, to.b);
    if (to.a < 0) *a = *b, a->rows = 0;
    if (to.b < 0) *b = *a, b->rows = 0;
}

/* the v of the tail of a tile when it is done by itself */
static double *drain_of(const struct sweep *w, struct lu_tile t) {
    const struct lu_order *o = &w->order;
    int from = lu_order_left_over(o);
    ptrdiff_t n = w->core; /* among the blocks that go round all cores only a core's last tile is */
    if (t.block >= from) n = o->cores + (ptrdiff_t)t.plane * (o->blocks - from) + t.block - from;
    return w->memory.drains + n * NC * LANES * LANES;
}

/* ---- turning rows round -------------------------------------------------------------------- */

/* Row l of a chunk of tile b holds the points from i = chunk * LANES - l on. In chunk 0 the
 * negative i stand for the tail of tile a, which ends at i = period - 1. */

/* Elements [lo, hi) of p[0 .. LANES-1], the others from `rest` (load) or kept (store); they are not
 * touched: they may belong to another core. */
static inline vec load_part(const double *p, int lo, int hi, vec rest) {
#if defined(__AVX512F__)
    if (lo >= hi) return rest;
    return _mm512_mask_loadu_pd(rest, (__mmask8)((1u << hi) - (1u << lo)), p);
#else
    for (int l = 0; l < LANES; l++)
        if (l >= lo && l < hi) rest[l] = p[l];
    return rest;
#endif
}
static inline void store_part(double *p, int lo, int hi, vec a) {
#if defined(__AVX512F__)
    if (lo < hi) _mm512_mask_storeu_pd(p, (__mmask8)((1u << hi) - (1u << lo)), a);
#else
    for (int l = 0; l < LANES; l++)
        if (l >= lo && l < hi) p[l] = a[l];
#endif
}

/* t[step] lane l = the field at lane l's point; something finite where that is no interior point */
INLINE void turn_in(const struct sweep *w, const double *a, int a_rows, const double *b, int b_rows,
                    int chunk, vec t[LANES]) {
    const ptrdiff_t sj = w->z->sj;
    b += chunk * LANES;
    if (b_rows == LANES) {
        for (int l = 0; l < LANES; l++) t[l] = vec_loadu(b + l * sj - l);
    } else {
        for (int l = 0; l < LANES; l++) t[l] = vec_loadu(l < b_rows ? b + l * sj - l : b);
    }
    if (chunk == 0)
        for (int l = 1; l < LANES; l++)
            if (l < a_rows) t[l] = load_part(a + l * sj + w->period - l, 0, l, t[l]);
    vec_transpose(t);
}

/* the field at lane l's point += t[step] lane l, at interior points */
INLINE void turn_out_add(const struct sweep *w, double *a, int a_rows, double *b, int b_rows,
                         int chunk, vec t[LANES]) {
    const ptrdiff_t sj = w->z->sj;
    const int first = chunk * LANES, end = w->z->nx - 1;
    vec_transpose(t);
    if (chunk > 0 && first + LANES <= end && b_rows == LANES) {
        for (int l = 0; l < LANES; l++) {
            double *p = b + l * sj + first - l;
            vec_storeu(p, vec_loadu(p) + t[l]);
        }
        return;
    }
    for (int l = 0; l < LANES; l++) {
        int at = first - l;
        if (l < b_rows) {
            int lo = at < 1 ? 1 - at : 0, hi = end - at < LANES ? end - at : LANES;
            double *p = b + l * sj + at;
            store_part(p, lo, hi, load_part(p, lo, hi, t[l]) + t[l]);
        }
        at += w->period;
        if (chunk == 0 && l < a_rows) {
            int hi = end - at < l ? end - at : l;
            double *p = a + l * sj + at;
            store_part(p, 0, hi, load_part(p, 0, hi, t[l]) + t[l]);
        }
    }
}

/* the lanes that are interior points at step s */
INLINE ivec alive_lanes(const struct sweep *w, const struct place *a, const struct place *b,
                        int chunk, int s) {
    const int64_t last = w->z->nx - 2;
    const ivec lane = vec_iota();
    ivec i = (int64_t)(chunk * LANES + s) - lane;
    ivec m = (i >= 1) & (i <= last) & (lane < (int64_t)b->rows);
    if (chunk == 0) m |= (i < 0) & (i + (int64_t)w->period <= last) & (lane < (int64_t)a->rows);
    return m;
}

/* a chunk's points */
struct chunk {
    double u[NC][LANES][LANES], alive[LANES][LANES]; /* step, lane */
} __attribute__((aligned(64)));

KERNEL void load_u(const struct sweep *w, const struct place *a, const struct place *b, int chunk,
                   struct chunk *q) {
    const vec one = vec_set(1);
    for (int m = 0; m < NC; m++) {
        vec t[LANES];
        turn_in(w, a->u + m * w->z->sc, a->rows, b->u + m * w->z->sc, b->rows, chunk, t);
        for (int s = 0; s < LANES; s++) vec_store(q->u[m][s], t[s]);
    }
    if (chunk > 0 && (chunk + 1) * LANES < w->z->nx && b->rows == LANES) {
        for (int s = 0; s < LANES; s++) vec_store(q->alive[s], one);
    } else {
        for (int s = 0; s < LANES; s++) {
            ivec m = alive_lanes(w, a, b, chunk, s);
            vec_store(q->alive[s], vec_select(m, one, (vec){0}));
            vec_store(q->u[0][s], vec_select(m, vec_load(q->u[0][s]), one));
        }
    }
}

KERNEL void load_r(const struct sweep *w, const struct place *a, const struct place *b, int chunk,
                   block r) {
    for (int m = 0; m < NC; m++) {
        vec t[LANES];
        turn_in(w, a->r + m * w->z->sc, a->rows, b->r + m * w->z->sc, b->rows, chunk, t);
        for (int s = 0; s < LANES; s++) vec_store(r[m][s], t[s]);
    }
}

KERNEL void add_to_u(const struct sweep *w, const struct place *a, const struct place *b, int chunk,
                     block du) {
    for (int m = 0; m < NC; m++) {
        vec t[LANES];
        for (int s = 0; s < LANES; s++) t[s] = vec_load(du[m][s]);
        turn_out_add(w, a->u + m * w->z->sc, a->rows, b->u + m * w->z->sc, b->rows, chunk, t);
    }
}

/* ---- what is passed on --------------------------------------------------------------------- */

/* Of the last step done: what each lane gives its successor in x and in y. */
struct carry {
    vec x[NC], y[NC];
};

/* Where the steps of a chunk find and leave things. Step s reads line_in[-s] of each component and
 * stores a vector at line_out[-s]; it reads and overwrites the vectors s of the floor. In a chunk 0
 * the lanes beyond s belong to the tail of another tile, with its own line and floor. */
struct passage {
    const double *line_in;
    double *line_out, *tail_line; /* tail_line: lower sweep */
    double *floor, *tail_floor;
    double *v; /* vector of step 0, component 0 */
    ptrdiff_t in_component, line_component, v_row, v_component;
};

static const double no_line[3 * LANES]; /* 0 */

static void clear_floor(double *floor) {
    for (int s = 0; s < LANES * NC; s++) vec_store(floor + s * LANES, (vec){0});
}

static void v_of(const struct sweep *w, struct lu_visit v, const struct place *a,
                 const struct place *b, struct passage *io) {
    if (v.b >= 0) {
        io->v = b->v + v.chunk * LANES;
        io->v_row = b->v_row, io->v_component = b->v_component;
    } else {
        io->v = drain_of(w, a->tile);
        io->v_row = LANES, io->v_component = LANES * LANES;
    }
}

/* The floors of a visit; `first` is the plane that has no predecessor in z. */
static void floors_of(const struct sweep *w, struct lu_visit v, const struct place *a,
                      const struct place *b, int first, double *no_floor, struct passage *io) {
    io->floor = io->tail_floor = no_floor;
    if (v.b >= 0) {
        io->floor = b->floor + v.chunk * LANES * FLOOR_STEP;
        if (b->tile.plane == first) clear_floor(io->floor);
    }
    if (v.chunk == 0 && v.a >= 0) {
        io->tail_floor = a->floor + w->period * FLOOR_STEP;
        if (a->tile.plane == first) clear_floor(io->tail_floor);
    }
}

/* Waits until chunk `chunk` of the tile `blocks` and `planes` away from t is done. */
static void wait_for(const struct sweep *w, struct lu_tile t, int blocks, int planes, int chunk) {
    const struct lu_order *o = &w->order;
    const int upper = blocks + planes > 0;
    if (o->cores == 1) return;
    t.block += blocks, t.plane += planes;
    if (t.block < 0 || t.block >= o->blocks || t.plane < 0 || t.plane >= o->planes) return;
    int n, core = lu_order_core(o, t, &n);
    if (core == w->core) return;
    uint64_t each = (uint64_t)o->chunks + 1;
    if (upper)
        lu_progress_wait(&w->memory.upper[core],
                         (uint64_t)(lu_order_tiles(o, core) - 1 - n) * each +
                             (uint64_t)(o->chunks - chunk + 1));
    else
        lu_progress_wait(&w->memory.lower[core], (uint64_t)n * each + (uint64_t)(chunk + 1));
}

/* ---- lower sweep --------------------------------------------------------------------------- */

/* lane 0: first; lane l: a's lane l - 1 */
static inline vec lanes_up(double first, vec a) {
#if LANES == 8
    return __builtin_shufflevector(vec_set(first), a, 7, 8, 9, 10, 11, 12, 13, 14);
#elif LANES == 4
    return __builtin_shufflevector(vec_set(first), a, 3, 4, 5, 6);
#else
    return __builtin_shufflevector(vec_set(first), a, 1, 2);
#endif
}
/* lane LANES-1: last; lane l: a's lane l + 1 */
static inline vec lanes_down(vec a, double last) {
#if LANES == 8
    return __builtin_shufflevector(a, vec_set(last), 1, 2, 3, 4, 5, 6, 7, 8);
#elif LANES == 4
    return __builtin_shufflevector(a, vec_set(last), 1, 2, 3, 4);
#else
    return __builtin_shufflevector(a, vec_set(last), 1, 2);
#endif
}

/* What step s finds on the floor, and leaves there. joint: this is a chunk 0. */
INLINE vec floor_load(const struct passage *io, int joint, int s, int m) {
    const ptrdiff_t at = s * FLOOR_STEP + m * LANES;
    vec a = vec_load(io->floor + at);
    return joint ? vec_select(vec_iota() <= (int64_t)s, a, vec_load(io->tail_floor + at)) : a;
}
INLINE void floor_store(const struct passage *io, int joint, int s, int m, vec a) {
    const ptrdiff_t at = s * FLOOR_STEP + m * LANES;
    vec_store(io->floor + at, a);
    if (joint) vec_store(io->tail_floor + at, a);
}

INLINE void point_at(const struct lu_coefficients *c, const struct chunk *q, int s,
                     struct lu_point *p) {
    vec u[NC];
    for (int m = 0; m < NC; m++) u[m] = vec_load(q->u[m][s]);
    lu_state(c, u, vec_load(q->alive[s]), p);
}

INLINE void lower_steps_of(const struct lu_coefficients *c, const struct chunk *q, block r,
                           const struct passage *io, struct carry *carry, int joint) {
    vec w[3][NC];
    for (int m = 0; m < NC; m++) w[0][m] = carry->x[m], w[1][m] = carry->y[m];
    for (int s = 0; s < LANES; s++) {
        struct lu_point p;
        vec y[NC], x[NC], z;
        point_at(c, q, s, &p);
        for (int m = 0; m < NC; m++) {
            vec south = lanes_up(io->line_in[m * io->in_component - s], w[1][m]);
            y[m] = vec_load(r[m][s]) + c->a[2] * floor_load(io, joint, s, m);
            y[m] = y[m] + c->a[0] * w[0][m];
            y[m] = y[m] + c->a[1] * south;
        }
        lu_solve(c, &p, y, NULL, x, &z);
        lu_scatter(c, &p, x, z, w);
        double *line = joint && s < LANES - 1 ? io->tail_line : io->line_out;
        for (int m = 0; m < NC; m++) {
            vec_store(io->v + m * io->v_component + s * io->v_row, x[m]);
            floor_store(io, joint, s, m, w[2][m]);
            vec_storeu(line + m * io->line_component - s, w[1][m]);
        }
    }
    for (int m = 0; m < NC; m++) carry->x[m] = w[0][m], carry->y[m] = w[1][m];
}

KERNEL void lower_steps(const struct lu_coefficients *c, const struct chunk *q, block r,
                        const struct passage *io, struct carry *carry) {
    lower_steps_of(c, q, r, io, carry, 0);
}
KERNEL void lower_joint(const struct lu_coefficients *c, const struct chunk *q, block r,
                        const struct passage *io, struct carry *carry) {
    lower_steps_of(c, q, r, io, carry, 1);
}

static void lower_sweep(const struct sweep *w) {
    const struct lu_order *o = &w->order;
    struct chunk q;
    block r[2] __attribute__((aligned(64)));
    double no_floor[LANES * FLOOR_STEP] __attribute__((aligned(64)));
    struct carry carry;
    struct passage io;
    struct lu_visit now = lu_visit_first();
    struct place a = {.rows = 0}, b = a;
    double *const spare = line_of(&w->memory, o->planes + w->core);
    if (w->tiles == 0) return;
    memset(no_floor, 0, sizeof no_floor);
    places_of(w, now, &a, &b);
    load_r(w, &a, &b, now.chunk, r[0]);
    for (int turn = 0;; turn ^= 1) {
        struct lu_visit next = now;
        struct place next_a = a, next_b = b;
        const int more = lu_visit_next(o, w->core, w->tiles, &next);
        if (more && next.chunk == 0) places_of(w, next, &next_a, &next_b);

        load_u(w, &a, &b, now.chunk, &q);
        if (more) load_r(w, &next_a, &next_b, next.chunk, r[turn ^ 1]); /* before v goes there */

        v_of(w, now, &a, &b, &io);
        io.line_component = w->memory.line;
        io.line_out = spare;
        io.line_in = no_line + LANES, io.in_component = 0;
        if (now.b >= 0) {
            wait_for(w, b.tile, 0, -1, now.chunk);
            io.line_out = b.line - now.chunk * LANES;
            if (b.tile.block > 0) {
                wait_for(w, b.tile, -1, 0, now.chunk + 1);
                io.line_in = io.line_out, io.in_component = io.line_component;
            }
        }
        if (now.chunk == 0) {
            if (now.a >= 0) wait_for(w, a.tile, 0, -1, o->chunks);
            if (now.a < 0) memset(&carry, 0, sizeof carry);
            io.tail_line = (now.a >= 0 ? a.line : spare) - w->period;
        }
        floors_of(w, now, &a, &b, 0, no_floor, &io);
        if (now.chunk == 0)
            lower_joint(&w->c, &q, r[turn], &io, &carry);
        else
            lower_steps(&w->c, &q, r[turn], &io, &carry);
        if (o->cores > 1) {
            uint64_t n = (uint64_t)(now.b >= 0 ? now.b : now.a), each = (uint64_t)o->chunks + 1;
            uint64_t chunk = (uint64_t)(now.b >= 0 ? now.chunk : o->chunks);
            lu_progress_tell(&w->memory.lower[w->core], n * each + chunk + 1);
        }
        if (!more) break;
        now = next, a = next_a, b = next_b;
    }
}

/* ---- upper sweep, and the new U ------------------------------------------------------------ */

INLINE void upper_steps_of(const struct lu_coefficients *c, const struct chunk *q, block du,
                           const struct passage *io, struct carry *carry, int joint) {
    vec w[3][NC];
    for (int m = 0; m < NC; m++) w[0][m] = carry->x[m], w[1][m] = carry->y[m];
    for (int s = LANES - 1; s >= 0; s--) {
        struct lu_point p;
        vec y[NC], v[NC], x[NC], d[NC], z;
        point_at(c, q, s, &p);
        for (int m = 0; m < NC; m++) {
            vec north = lanes_down(w[1][m], io->line_in[m * io->in_component - s]);
            y[m] = c->a[2] * floor_load(io, joint, s, m);
            y[m] = y[m] + c->a[0] * w[0][m];
            y[m] = y[m] + c->a[1] * north;
            v[m] = vec_load(io->v + m * io->v_component + s * io->v_row);
        }
        lu_solve(c, &p, y, v, x, &z);
        lu_scatter(c, &p, x, z, w);
        lu_conserved(&p, x, d);
        for (int m = 0; m < NC; m++) {
            vec_store(du[m][s], c->update * d[m]);
            floor_store(io, joint, s, m, w[2][m]);
            vec_storeu(io->line_out + m * io->line_component - s, w[1][m]);
        }
    }
    for (int m = 0; m < NC; m++) carry->x[m] = w[0][m], carry->y[m] = w[1][m];
}

KERNEL void upper_steps(const struct lu_coefficients *c, const struct chunk *q, block du,
                        const struct passage *io, struct carry *carry) {
    upper_steps_of(c, q, du, io, carry, 0);
}
KERNEL void upper_joint(const struct lu_coefficients *c, const struct chunk *q, block du,
                        const struct passage *io, struct carry *carry) {
    upper_steps_of(c, q, du, io, carry, 1);
}

static void upper_sweep(const struct sweep *w) {
    const struct lu_order *o = &w->order;
    struct chunk q;
    block du __attribute__((aligned(64)));
    double no_floor[LANES * FLOOR_STEP] __attribute__((aligned(64)));
    struct carry carry;
    struct passage io;
    struct lu_visit now = lu_visit_last(w->tiles);
    struct place a = {.rows = 0}, b = a;
    double *const spare = line_of(&w->memory, o->planes + w->core);
    int more;
    if (w->tiles == 0) return;
    memset(no_floor, 0, sizeof no_floor);
    places_of(w, now, &a, &b);
    do {
        load_u(w, &a, &b, now.chunk, &q);

        v_of(w, now, &a, &b, &io);
        io.line_component = w->memory.line;
        io.line_out = spare;
        if (now.b >= 0) {
            wait_for(w, b.tile, 0, 1, now.chunk);
            io.line_out = b.line - now.chunk * LANES;
        }
        /* The last lane's predecessor in y. In a chunk 0 it is in the tail, but for step LANES-1,
         * where it is at i = 0, dead, and reads a finite number next to the line. */
        const struct place *last = now.chunk == 0 ? &a : &b;
        const int chunk = now.chunk == 0 ? o->chunks : now.chunk;
        io.line_in = no_line + 2 * LANES, io.in_component = 0;
        if (last->rows && last->tile.block < o->blocks - 1) {
            wait_for(w, last->tile, 1, 0, chunk - 1);
            io.line_in = last->line - chunk * LANES + LANES - 1;
            io.in_component = w->memory.line;
        }
        if (now.chunk == 0) {
            if (now.a >= 0) wait_for(w, a.tile, 0, 1, o->chunks);
            if (now.b < 0) memset(&carry, 0, sizeof carry);
        }
        floors_of(w, now, &a, &b, o->planes - 1, no_floor, &io);
        if (now.chunk == 0)
            upper_joint(&w->c, &q, du, &io, &carry);
        else
            upper_steps(&w->c, &q, du, &io, &carry);
        add_to_u(w, &a, &b, now.chunk, du);
        if (o->cores > 1) {
            int tail = now.chunk == 0 && now.a >= 0;
            uint64_t n = (uint64_t)(w->tiles - 1 - (tail ? now.a : now.b));
            uint64_t each = (uint64_t)o->chunks + 1;
            uint64_t left = (uint64_t)(tail ? o->chunks : now.chunk);
            lu_progress_tell(&w->memory.upper[w->core], n * each + each - left);
        }
        struct lu_visit before = now;
        more = lu_visit_before(o, w->core, &now);
        if (more && (before.chunk == 0 || now.chunk == 0)) places_of(w, now, &a, &b);
    } while (more);
}

/* -------------------------------------------------------------------------------------------- */

static struct sweep sweep_of(const struct problem *p, struct zone *z, const struct scratch *s,
                             const struct team *t, double sign) {
    struct sweep w = {.order = lu_order(z, t->cores), .z = z, .core = t->core};
    lu_memory(p, z->nx, z->ny, z->nz, t->cores, s->memory, &w.memory);
    lu_coefficients(p, sign, &w.c);
    w.tiles = lu_order_tiles(&w.order, w.core);
    w.period = w.order.chunks * LANES;
    return w;
}

/* The flags of a sweep are set back after the barrier that ends it, and read again only behind
 * another one. */
static void lu_lower(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t) {
    const struct sweep w = sweep_of(p, z, s, t, 1);
    lower_sweep(&w);
    team_barrier(t);
    lu_progress_tell(&w.memory.lower[t->core], 0);
}

static void lu_upper(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t) {
    const struct sweep w = sweep_of(p, z, s, t, -1);
    upper_sweep(&w);
    team_barrier(t);
    lu_progress_tell(&w.memory.upper[t->core], 0);
}

static void lu_residual(const struct problem *p, struct zone *z, struct scratch *s,
                        const struct team *t) {
    struct lu_memory m;
    lu_memory(p, z->nx, z->ny, z->nz, t->cores, s->memory, &m);
    residual(p, z, z->u, z->f, 1, z->r, m.residual, t);
    team_barrier(t);
}

static void lu_step(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t) {
    phase_start(s, t);
    lu_lower(p, z, s, t);
    phase_mark(s, t, PH_LOWER);
    lu_upper(p, z, s, t);
    phase_mark(s, t, PH_UPPER);
    lu_residual(p, z, s, t);
    phase_mark(s, t, PH_RHS);
}

const struct solver solver_lu = {
    .name = "lu-mz", .scratch = lu_scratch, .prepare = lu_residual, .step = lu_step};
