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
#include "tile.h"
#include <string.h>

/* ---- what is passed on --------------------------------------------------------------------- */

/* Of the last step done: what each lane gives its successor in x and in y. */
struct carry {
    vec x[NC], y[NC];
};

/* Where the steps of a chunk find and leave things. Step s reads line_in[-s] of each component and
 * stores a vector at line_out[-s]; it reads and overwrites the vectors s of the floor. In chunk 0
 * the lanes beyond s are at the tail, which has its own line and floor. */
struct passage {
    const double *line_in;
    double *line_out, *tail_line; /* tail_line: lower sweep */
    double *floor, *tail_floor;
    double *v; /* vector of step 0, component 0 */
    ptrdiff_t in_component, line_component, v_row, v_component;
    const double *soon_u, *soon_r; /* rows that will be needed soon */
    ptrdiff_t sj, sc;
};

static const double no_line[3 * LANES]; /* 0 */

static void v_of(const struct lu_sweep *w, const struct lu_visit *v, struct passage *io) {
    if (v->b >= 0) {
        io->v = v->head->v + v->chunk * LANES;
        io->v_row = v->head->v_row, io->v_component = v->head->v_component;
    } else {
        io->v = lu_drain(w, v->tail->tile);
        io->v_row = LANES, io->v_component = LANES * LANES;
    }
}

static void clear(double *floor) {
    for (int i = 0; i < FLOOR_CHUNK; i += LANES) vec_store(floor + i, (vec){0});
}

/* The floors of a visit; plane `first` has no predecessor in z. */
static void floors_of(const struct lu_sweep *w, const struct lu_visit *v, int first,
                      double no_floor[FLOOR_CHUNK], struct passage *io) {
    io->floor = io->tail_floor = no_floor;
    if (v->b >= 0) {
        io->floor = v->head->floor + v->chunk * FLOOR_CHUNK;
        if (v->head->tile.plane == first) clear(io->floor);
    }
    if (v->chunk == 0 && v->a >= 0) {
        io->tail_floor = v->tail->floor + w->period * FLOOR_STEP;
        if (v->tail->tile.plane == first) clear(io->tail_floor);
    }
}

/* Waits until chunk `chunk` of the tile `blocks` and `planes` away from t is done. */
static void wait_for(const struct lu_sweep *w, struct lu_tile t, int blocks, int planes,
                     int chunk) {
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

/* Rows of a component of the same tile, `chunk` chunks from its start; past its end those of the
 * next plane (which is what the core mostly does next), before its start those of the plane before.
 */
static const double *soon(const struct lu_sweep *w, const double *row, int chunk) {
    if (chunk >= w->order.chunks) return row + w->z->sk + (chunk - w->order.chunks) * LANES;
    if (chunk < 0) return row - w->z->sk + (chunk + w->order.chunks) * LANES;
    return row + chunk * LANES;
}
INLINE void fetch(const struct passage *io, int s) {
    for (int m = 0; m < NC; m++) {
        __builtin_prefetch(io->soon_u + m * io->sc + s * io->sj);
        __builtin_prefetch(io->soon_r + m * io->sc + s * io->sj);
    }
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

INLINE void point_at(const struct lu_coefficients *c, const struct lu_chunk *q, int s,
                     struct lu_point *p) {
    vec u[NC];
    for (int m = 0; m < NC; m++) u[m] = vec_load(q->u[m][s]);
    lu_state(c, u, vec_load(q->alive[s]), p);
}

INLINE void lower_steps_of(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block r,
                           const struct passage *io, struct carry *carry, int joint) {
    vec w[3][NC];
    for (int m = 0; m < NC; m++) w[0][m] = carry->x[m], w[1][m] = carry->y[m];
    for (int s = 0; s < LANES; s++) {
        struct lu_point p;
        vec y[NC], x[NC], z;
        fetch(io, s);
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

KERNEL void lower_steps(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block r,
                        const struct passage *io, struct carry *carry) {
    lower_steps_of(c, q, r, io, carry, 0);
}
KERNEL void lower_joint(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block r,
                        const struct passage *io, struct carry *carry) {
    lower_steps_of(c, q, r, io, carry, 1);
}

static void lower_sweep(struct lu_sweep *w) {
    const struct lu_order *o = &w->order;
    double no_floor[FLOOR_CHUNK] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, o->planes + w->core);
    lu_block r[2] __attribute__((aligned(64)));
    struct lu_chunk q;
    struct carry carry;
    struct passage io = {.line_component = w->memory.line, .sj = w->z->sj, .sc = w->z->sc};
    struct lu_visit now, next;
    clear(no_floor);
    if (w->tiles == 0) return;
    lu_visit_first(w, &now);
    lu_load_r(w, &now, r[0]);
    for (int turn = 0, more = 1; more; turn ^= 1, now = next) {
        next = now;
        more = lu_visit_next(w, &next);
        lu_load_u(w, &now, &q);
        if (more) lu_load_r(w, &next, r[turn ^ 1]); /* before v is stored there */

        const struct lu_tile head = now.head->tile, tail = now.tail->tile;
        v_of(w, &now, &io);
        io.line_in = no_line + LANES, io.in_component = 0;
        io.line_out = io.tail_line = spare;
        if (now.b >= 0) {
            wait_for(w, head, 0, -1, now.chunk);
            io.line_out = now.head->line - now.chunk * LANES;
            if (head.block > 0) {
                wait_for(w, head, -1, 0, now.chunk + 1);
                io.line_in = io.line_out, io.in_component = io.line_component;
            }
        }
        if (now.chunk == 0) {
            if (now.a >= 0) {
                wait_for(w, tail, 0, -1, o->chunks);
                io.tail_line = now.tail->line - w->period;
            } else {
                memset(&carry, 0, sizeof carry);
            }
        }
        floors_of(w, &now, 0, no_floor, &io);
        io.soon_u = soon(w, now.head->u, now.chunk + 1);
        io.soon_r = soon(w, now.head->r, now.chunk + 2);
        if (now.chunk == 0)
            lower_joint(&w->c, &q, r[turn], &io, &carry);
        else
            lower_steps(&w->c, &q, r[turn], &io, &carry);
        if (o->cores > 1) {
            const uint64_t each = (uint64_t)o->chunks + 1;
            const uint64_t tile = (uint64_t)(now.b >= 0 ? now.b : now.a);
            const uint64_t chunk = (uint64_t)(now.b >= 0 ? now.chunk : o->chunks);
            lu_progress_tell(&w->memory.lower[w->core], tile * each + chunk + 1);
        }
    }
}

/* ---- upper sweep, and the new U ------------------------------------------------------------ */

INLINE void upper_steps_of(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block du,
                           const struct passage *io, struct carry *carry, int joint) {
    vec w[3][NC];
    for (int m = 0; m < NC; m++) w[0][m] = carry->x[m], w[1][m] = carry->y[m];
    for (int s = LANES - 1; s >= 0; s--) {
        struct lu_point p;
        vec y[NC], v[NC], x[NC], d[NC], z;
        fetch(io, s);
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

KERNEL void upper_steps(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block du,
                        const struct passage *io, struct carry *carry) {
    upper_steps_of(c, q, du, io, carry, 0);
}
KERNEL void upper_joint(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block du,
                        const struct passage *io, struct carry *carry) {
    upper_steps_of(c, q, du, io, carry, 1);
}

static void upper_sweep(struct lu_sweep *w) {
    const struct lu_order *o = &w->order;
    double no_floor[FLOOR_CHUNK] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, o->planes + w->core);
    lu_block du __attribute__((aligned(64)));
    struct lu_chunk q;
    struct carry carry;
    struct passage io = {.line_component = w->memory.line, .sj = w->z->sj, .sc = w->z->sc};
    struct lu_visit now;
    clear(no_floor);
    if (w->tiles == 0) return;
    lu_visit_last(w, &now);
    do {
        lu_load_u(w, &now, &q);

        v_of(w, &now, &io);
        io.line_out = spare;
        if (now.b >= 0) {
            wait_for(w, now.head->tile, 0, 1, now.chunk);
            io.line_out = now.head->line - now.chunk * LANES;
        }
        if (now.chunk == 0) {
            if (now.a >= 0) wait_for(w, now.tail->tile, 0, 1, o->chunks);
            if (now.b < 0) memset(&carry, 0, sizeof carry);
        }
        /* The last lane's predecessor in y. In chunk 0 the last lane is at the tail; but for step
         * LANES-1, where it is at i = 0, dead, and is given the finite number beside the line. */
        const struct lu_place *last = now.chunk == 0 ? now.tail : now.head;
        const int rows = now.chunk == 0 ? now.tail_rows : now.head_rows;
        const int chunk = now.chunk == 0 ? o->chunks : now.chunk;
        io.line_in = no_line + 2 * LANES, io.in_component = 0;
        if (rows > 0 && last->tile.block < o->blocks - 1) {
            wait_for(w, last->tile, 1, 0, chunk - 1);
            io.line_in = last->line - chunk * LANES + LANES - 1;
            io.in_component = io.line_component;
        }
        floors_of(w, &now, o->planes - 1, no_floor, &io);
        io.soon_u = soon(w, now.head->u, now.chunk - 1);
        io.soon_r = soon(w, now.head->r, now.chunk - 1);
        if (now.chunk == 0)
            upper_joint(&w->c, &q, du, &io, &carry);
        else
            upper_steps(&w->c, &q, du, &io, &carry);
        lu_add_to_u(w, &now, du);
        if (o->cores > 1) {
            const uint64_t each = (uint64_t)o->chunks + 1;
            const int tail = now.chunk == 0 && now.a >= 0;
            const uint64_t tile = (uint64_t)(w->tiles - 1 - (tail ? now.a : now.b));
            const uint64_t left = (uint64_t)(tail ? o->chunks : now.chunk);
            lu_progress_tell(&w->memory.upper[w->core], tile * each + each - left);
        }
    } while (lu_visit_before(w, &now));
}

/* -------------------------------------------------------------------------------------------- */

static size_t lu_scratch(const struct problem *p, int cores) {
    struct lu_order o = lu_order(p->max_nx, p->max_ny, p->max_nz, cores);
    struct lu_memory m;
    o.cores = cores; /* a smaller zone may have use for all of them */
    return lu_memory(p, &o, cores, NULL, &m);
}

/* The flags of a sweep are set back after the barrier that ends it, and read again only behind
 * another one. */
static void lu_lower(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t) {
    struct lu_sweep w;
    lu_sweep(p, z, s, t, 1, &w);
    lower_sweep(&w);
    team_barrier(t);
    lu_progress_tell(&w.memory.lower[t->core], 0);
}

static void lu_upper(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t) {
    struct lu_sweep w;
    lu_sweep(p, z, s, t, -1, &w);
    upper_sweep(&w);
    team_barrier(t);
    lu_progress_tell(&w.memory.upper[t->core], 0);
}

static void lu_residual(const struct problem *p, struct zone *z, struct scratch *s,
                        const struct team *t) {
    const struct lu_order o = lu_order(z->nx, z->ny, z->nz, t->cores);
    struct lu_memory m;
    lu_memory(p, &o, t->cores, s->memory, &m);
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
