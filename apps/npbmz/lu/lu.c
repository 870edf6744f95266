/* LU-MZ's time step: symmetric successive over-relaxation, a lower and an upper sweep over a zone.
 *
 * The scheme of "The NAS Parallel Benchmarks" (RNR-94-007, section 3), per zone as in NAS-03-010.
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
 * without transposing it, and no further field takes up cache. The residual at the end of the
 * step writes all of r anew.
 *
 * Count for LANES points, on the two arithmetic ports of AVX-512: below 114 operations, a division
 * (3), 5 moves of lanes from row to row, 30 shuffles to transpose r and U; above 135, 3, 5 and 30
 * for U and back. That is 152 and 173, or 9.5 and 10.8 cycles a point at least. With everything in
 * the first-level cache a chunk takes 13.5 and 15: the chain from step to step, 44 cycles of
 * latency, leaves gaps. Reads and writes: 120 bytes a point below (u, r, v), 120 above (u, v, u).
 */
#include "npbmz/lu/tile.h"
#include <string.h>

/* ---- what is passed on --------------------------------------------------------------------- */

/* Of the last step done: what each lane gives its successor in x (0) and in y (1). A component's
 * two lie beside each other, else gcc would see that they can be copied as a whole, and do so in
 * halves of vectors, which whole loads then wait for. */
struct carry {
    vec of[NC][2];
};

/* Rows that will be needed soon, a row of each for each step: U, and r or v. */
struct soon {
    const double *u, *r;
    ptrdiff_t u_row, u_component, r_row, r_component;
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
    struct soon soon;
};

static const double no_line[3 * LANES]; /* 0 */

static void v_of(const struct lu_sweep *w, const struct lu_visit *v, struct passage *io) {
    io->v = w->memory.drains + w->core * BLOCK;
    io->v_row = LANES, io->v_component = LANES * LANES;
    if (!v->has_head) return;
    io->v = v->head->v + v->chunk * LANES;
    io->v_row = v->head->v_row, io->v_component = v->head->v_component;
}

static void clear(double *floor) {
    for (int i = 0; i < FLOOR_CHUNK; i += LANES) vec_store(floor + i, (vec){0});
}

/* The floors of a visit, when they are ready; plane `first` has no predecessor in z. */
static void floors_of(struct lu_sweep *w, const struct lu_visit *v, int first,
                      double no_floor[FLOOR_CHUNK], struct passage *io) {
    io->floor = io->tail_floor = no_floor;
    if (v->has_head) {
        lu_wait_z(w, v->head, v->chunk);
        io->floor = v->head->floor + v->chunk * FLOOR_CHUNK;
        if (v->head->tile.plane == first) clear(io->floor);
    }
    if (v->has_tail) {
        lu_wait_z(w, v->tail, w->order.chunks);
        io->tail_floor = v->tail->floor + w->period * FLOOR_STEP;
        if (v->tail->tile.plane == first) clear(io->tail_floor);
    }
}

/* What will also be written is asked for as such: it may be in another core's cache. */
INLINE void fetch_lower(const struct soon *a, int s) {
    for (int m = 0; m < NC; m++) {
        __builtin_prefetch(a->u + m * a->u_component + s * a->u_row, 0);
        __builtin_prefetch(a->r + m * a->r_component + s * a->r_row, 1);
    }
}
INLINE void fetch_upper(const struct soon *a, int s) {
    for (int m = 0; m < NC; m++) {
        __builtin_prefetch(a->u + m * a->u_component + s * a->u_row, 1);
        __builtin_prefetch(a->r + m * a->r_component + s * a->r_row, 0);
    }
}
/* What another core has just written: the steps will read it one by one. */
static void fetch_line(const struct passage *io) {
    for (int m = 0; m < NC; m++) {
        __builtin_prefetch(io->line_in + m * io->in_component);
        __builtin_prefetch(io->line_in + m * io->in_component - (LANES - 1));
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
    for (int m = 0; m < NC; m++) w[0][m] = carry->of[m][0], w[1][m] = carry->of[m][1];
    for (int s = 0; s < LANES; s++) {
        struct lu_point p;
        vec y[NC], x[NC], z;
        fetch_lower(&io->soon, s);
        point_at(c, q, s, &p);
        for (int m = 0; m < NC; m++) {
            vec south = lanes_up(io->line_in[m * io->in_component - s], w[1][m]);
            y[m] = vec_load(r[m][s]) + c->a[2] * floor_load(io, joint, s, m);
            y[m] = y[m] + c->a[0] * w[0][m];
            y[m] = y[m] + c->a[1] * south;
        }
        lu_solve(c, &p, y, 0, x, &z);
        lu_scatter(c, &p, x, z, w);
        double *line = joint && s < LANES - 1 ? io->tail_line : io->line_out;
        for (int m = 0; m < NC; m++) {
            vec_store(io->v + m * io->v_component + s * io->v_row, x[m]);
            floor_store(io, joint, s, m, w[2][m]);
            vec_storeu(line + m * io->line_component - s, w[1][m]);
        }
    }
    for (int m = 0; m < NC; m++) carry->of[m][0] = w[0][m], carry->of[m][1] = w[1][m];
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
    double no_floor[FLOOR_CHUNK] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, w->order.planes + w->core);
    lu_block r[2] __attribute__((aligned(64)));
    struct lu_chunk q;
    struct carry carry;
    struct passage io = {.line_component = w->memory.line};
    struct lu_visit now, next, after;
    if (w->tiles == 0) return;
    memset(&carry, 0, sizeof carry);
    clear(no_floor);
    io.soon.u_row = io.soon.r_row = w->z->sj;
    io.soon.u_component = io.soon.r_component = w->z->sc;
    lu_visit_first(w, &now);
    next = now;
    lu_visit_next(w, &next);
    lu_load_r(w, &now, r[0]);
    for (int half = 0, more = 1; more; half ^= 1, now = next, next = after) {
        const struct lu_place *head = now.head;
        io.line_in = no_line + LANES, io.in_component = 0;
        io.line_out = now.has_head ? head->line - now.chunk * LANES : spare;
        io.tail_line = (now.has_tail ? now.tail->line : spare) - w->period;
        if (now.has_head && head->tile.block > 0) {
            lu_wait_y(w, head, now.chunk + 1);
            io.line_in = io.line_out, io.in_component = io.line_component;
            if (head->y.core >= 0) fetch_line(&io);
        }
        floors_of(w, &now, 0, no_floor, &io);
        v_of(w, &now, &io);

        after = next;
        lu_visit_next(w, &after);
        more = now.has_head;
        lu_load_u(w, &now, &q);
        if (more) lu_load_r(w, &next, r[half ^ 1]); /* before v is stored there */
        io.soon.u = next.head->u + next.chunk * LANES;
        io.soon.r = after.head->r + after.chunk * LANES;
        if (now.chunk == 0)
            lower_joint(&w->c, &q, r[half], &io, &carry);
        else
            lower_steps(&w->c, &q, r[half], &io, &carry);
        lu_tell(w, &now);
    }
}

/* ---- upper sweep, and the new U ------------------------------------------------------------ */

INLINE void upper_steps_of(const struct lu_coefficients *c, const struct lu_chunk *q, lu_block du,
                           const struct passage *io, struct carry *carry, int joint) {
    vec w[3][NC];
    for (int m = 0; m < NC; m++) w[0][m] = carry->of[m][0], w[1][m] = carry->of[m][1];
    for (int s = LANES - 1; s >= 0; s--) {
        struct lu_point p;
        vec y[NC], v[NC], x[NC], d[NC], z;
        fetch_upper(&io->soon, s);
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
    for (int m = 0; m < NC; m++) carry->of[m][0] = w[0][m], carry->of[m][1] = w[1][m];
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
    double no_floor[FLOOR_CHUNK] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, w->order.planes + w->core);
    lu_block du __attribute__((aligned(64)));
    struct lu_chunk q;
    struct carry carry;
    struct passage io = {.line_component = w->memory.line};
    struct lu_visit now, next;
    if (w->tiles == 0) return;
    memset(&carry, 0, sizeof carry);
    clear(no_floor);
    io.soon.u_row = w->z->sj, io.soon.u_component = w->z->sc;
    lu_visit_first(w, &now);
    for (int more = 1; more; now = next) {
        /* The last lane's predecessor in y. In chunk 0 the last lane is at the tail; but for step
         * LANES-1, where it is at i = 0, dead, and is given the finite number beside the line. */
        const struct lu_place *last = now.chunk == 0 ? now.tail : now.head;
        const int chunk = now.chunk == 0 ? w->order.chunks : now.chunk;
        io.line_in = no_line + 2 * LANES, io.in_component = 0;
        io.line_out = now.has_head ? now.head->line - now.chunk * LANES : spare;
        if ((now.chunk > 0 || now.has_tail) && last->tile.block < w->order.blocks - 1) {
            lu_wait_y(w, last, chunk - 1);
            io.line_in = last->line - chunk * LANES + LANES - 1;
            io.in_component = io.line_component;
            if (last->y.core >= 0) fetch_line(&io);
        }
        floors_of(w, &now, w->order.planes - 1, no_floor, &io);
        v_of(w, &now, &io);

        lu_load_u(w, &now, &q);
        next = now;
        more = lu_visit_next(w, &next);
        io.soon.u = next.head->u + next.chunk * LANES;
        io.soon.r = next.head->v + next.chunk * LANES;
        io.soon.r_row = next.head->v_row, io.soon.r_component = next.head->v_component;
        if (now.chunk == 0)
            upper_joint(&w->c, &q, du, &io, &carry);
        else
            upper_steps(&w->c, &q, du, &io, &carry);
        lu_add_to_u(w, &now, du);
        lu_tell(w, &now);
    }
}

/* -------------------------------------------------------------------------------------------- */

static size_t lu_scratch(const struct problem *p, int cores) {
    const struct lu_order o = lu_order(p->max_nx, p->max_ny, p->max_nz, cores);
    struct lu_memory m;
    return lu_memory(p, &o, cores, NULL, &m);
}

/* The flags of a sweep are set back after the barrier that ends it, and read again only behind
 * another one. */
static void lu_lower(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t) {
    struct lu_sweep w;
    lu_sweep(p, z, s, t, 0, &w);
    lower_sweep(&w);
    team_barrier(t);
    lu_progress_tell(&w.progress[t->core], 0);
}

static void lu_upper(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t) {
    struct lu_sweep w;
    lu_sweep(p, z, s, t, 1, &w);
    upper_sweep(&w);
    team_barrier(t);
    lu_progress_tell(&w.progress[t->core], 0);
}

/* The step in two parts. The sweeps read interior points only: ghosts may be filled while they run,
 * and are needed when the residual begins. */
static void lu_sweeps(const struct problem *p, struct zone *z, struct scratch *s,
                      const struct team *t) {
    phase_start(s, t);
    lu_lower(p, z, s, t);
    phase_mark(s, t, NPBMZ_LOWER);
    lu_upper(p, z, s, t);
    phase_mark(s, t, NPBMZ_UPPER);
}

static void lu_residual(const struct problem *p, struct zone *z, struct scratch *s,
                        const struct team *t) {
    const struct lu_order o = lu_order(z->nx, z->ny, z->nz, t->cores);
    struct lu_memory m;
    lu_memory(p, &o, t->cores, s->memory, &m);
    residual(p, z, z->u, z->f, 1, z->r, m.residual, t);
    team_barrier(t);
}

static void lu_finish(const struct problem *p, struct zone *z, struct scratch *s,
                      const struct team *t) {
    phase_start(s, t);
    lu_residual(p, z, s, t);
    phase_mark(s, t, NPBMZ_RHS);
}

static void lu_step(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t) {
    lu_sweeps(p, z, s, t);
    lu_finish(p, z, s, t);
}

const struct solver solver_lu = {.name = "lu-mz",
                                 .scratch = lu_scratch,
                                 .prepare = lu_residual,
                                 .step = lu_step,
                                 .begin = lu_sweeps,
                                 .finish = lu_finish};
