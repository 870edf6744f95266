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
 * A step waits for the one before it, by way of w: 48 cycles of latency. What does not wait, the
 * state of the points (lu_state: a division and 60 cycles of latency), is made for the chunk that
 * comes next, a step of it beside each step of this one, so that it fills the gaps; its divisions
 * are done when U is loaded, since a processor that cannot retire an instruction for so long takes
 * no new ones. U is therefore loaded a chunk before it is used, and fetched two before.
 *
 * Count for LANES points: below 114 operations, a division, 5 moves of lanes from row to row, 30
 * shuffles to transpose r and U; above 135, one, 5 and 30 for U and back. On two ports of AVX-512,
 * which all of these share, that is 152 and 173, or 9.5 and 10.8 cycles a point at least. On a Zen
 * 3 (4 lanes, 256 entries of reorder buffer) operations alone need 57 and 68 cycles a step, the
 * steps take 68 and 81 with all in the first-level cache, about 90 in a zone of class A, and what
 * is around them, mostly loading U and going from chunk to chunk, 50 to 60. Reads and writes: 120
 * bytes a point below (u, r, v), 120 above (u, v, u).
 *
 * Tried with 4 lanes and not kept, since nothing was gained: states made apart from the steps,
 * before them (lower 1.0, upper 0.3 ns a point slower); the division made in the steps, a step
 * before its quotient is used; f, g and c2 rho made anew instead of stored with the state; the
 * state in the steps before y instead of behind it; visits within a tile without looking up its
 * place (1 % of the lower sweep); -mtune=haswell and znver3, -fschedule-insns, loops that are not
 * turned into copies (-fno-tree-loop-distribute-patterns). By count lost: keeping the states of the
 * lower sweep for the upper one, 88 bytes a point more each way for 40 operations.
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
    const double *u, *r;        /* NULL: none that is not on its way already */
    ptrdiff_t u_row, r_row;     /* doubles to the next row */
    ptrdiff_t u_bytes, r_bytes; /* to the next component */
};

/* Where the steps of a chunk find and leave things. Step s reads position s of line_in and stores
 * vectors at position s of line_out; it reads and overwrites the vectors s of the floor. In chunk 0
 * the lanes beyond s are at the tail, which has its own line and floor. */
struct passage {
    const double *line_in;
    double *line_out, *tail_line; /* tail_line: lower sweep */
    double *floor, *tail_floor;
    double *v; /* vector of step 0, component 0 */
    ptrdiff_t v_row, v_component;
    struct soon soon;
};

static const double no_line[NC * (LANES + 1)]; /* 0 */

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

/* m components further, which are so many bytes apart: then gcc scales them in addresses */
INLINE double *component(double *p, int m, ptrdiff_t bytes) {
    return (double *)((char *)p + m * bytes);
}

/* What will also be written is asked for as such: it may be in another core's cache. */
INLINE void fetch(const double *p, ptrdiff_t bytes, int write) {
    for (int m = 0; m < NC; m++)
        if (write)
            __builtin_prefetch((const char *)p + m * bytes, 1);
        else
            __builtin_prefetch((const char *)p + m * bytes, 0);
}
/* What another core has just written: the steps will read it one by one. */
static void fetch_line(const double *line_in) {
    const char *last = (const char *)(line_in + NC),
               *p = (const char *)(line_in - (LANES - 1) * NC);
    for (; p < last; p += 64) __builtin_prefetch(p);
    __builtin_prefetch(last - 1);
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

INLINE void state_at(const struct lu_coefficients *c, struct lu_chunk *q, int s) {
    vec u[NC];
    for (int m = 0; m < NC; m++) u[m] = vec_load(q->u[m][s]);
    lu_state_of(c, u, vec_load(q->alive[s]), vec_load(q->over[s]), &q->point[s]);
}
KERNEL void states(const struct lu_coefficients *c, struct lu_chunk *q) {
    for (int s = 0; s < LANES; s++) state_at(c, q, s);
}

/* y: what the points of step s have got from their predecessors, in x and y from the step before,
 * whose w is there, in z from the floor. Made as soon as w is there, so that 5 vectors live from
 * step to step instead of 10. */
INLINE void lower_given(const struct lu_coefficients *c, lu_block r, const struct passage *io,
                        const double *in, int joint, int s, vec w[2][NC], vec y[NC]) {
    for (int m = 0; m < NC; m++) {
        vec a = vec_load(r[m][s]) + c->a[2] * floor_load(io, joint, s, m);
        a = a + c->a[0] * w[0][m];
        y[m] = a + c->a[1] * lanes_up(in[m], w[1][m]);
    }
}

INLINE void lower_steps_of(const struct lu_coefficients *c, const struct lu_chunk *q,
                           struct lu_chunk *ahead, lu_block r, const struct passage *io,
                           struct carry *carry, int joint) {
    const ptrdiff_t v_bytes = io->v_component * 8, v_row = io->v_row;
    const double *in = io->line_in, *soon_u = io->soon.u, *soon_r = io->soon.r;
    double *out = (joint ? io->tail_line : io->line_out) + (LANES - 1) * (NC - 1), *v = io->v;
    vec y[NC], before[2][NC];
    for (int m = 0; m < NC; m++) before[0][m] = carry->of[m][0], before[1][m] = carry->of[m][1];
    lower_given(c, r, io, in, joint, 0, before, y);
    for (int s = 0;; s++) {
        const struct lu_point *p = &q->point[s];
        vec w[3][NC], x[NC], z;
        if (soon_u) {
            fetch(soon_u, io->soon.u_bytes, 0), soon_u += io->soon.u_row;
            fetch(soon_r, io->soon.r_bytes, 1), soon_r += io->soon.r_row;
        }
        state_at(c, ahead, s);
        lu_solve(c, p, y, 0, x, &z);
        lu_scatter(c, p, x, z, w);
        if (joint && s == LANES - 1) out = io->line_out - s * NC + (LANES - 1) * (NC - 1);
        for (int m = NC - 1; m >= 0; m--) vec_storeu(out + m, w[1][m]);
        for (int m = 0; m < NC; m++) {
            vec_store(component(v, m, v_bytes), x[m]);
            floor_store(io, joint, s, m, w[2][m]);
        }
        if (s == LANES - 1) {
            for (int m = 0; m < NC; m++) carry->of[m][0] = w[0][m], carry->of[m][1] = w[1][m];
            break;
        }
        in -= NC, out -= NC, v += v_row;
        lower_given(c, r, io, in, joint, s + 1, w, y);
    }
}

KERNEL void lower_steps(const struct lu_coefficients *c, const struct lu_chunk *q,
                        struct lu_chunk *ahead, lu_block r, const struct passage *io,
                        struct carry *carry) {
    lower_steps_of(c, q, ahead, r, io, carry, 0);
}
KERNEL void lower_joint(const struct lu_coefficients *c, const struct lu_chunk *q,
                        struct lu_chunk *ahead, lu_block r, const struct passage *io,
                        struct carry *carry) {
    lower_steps_of(c, q, ahead, r, io, carry, 1);
}

static void lower_sweep(struct lu_sweep *w) {
    double no_floor[FLOOR_CHUNK] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, w->order.planes + w->core);
    lu_block r[2] __attribute__((aligned(64)));
    struct lu_chunk q[2];
    struct carry carry;
    struct passage io;
    struct lu_visit now, next, after;
    if (w->tiles == 0) return;
    memset(&carry, 0, sizeof carry);
    clear(no_floor);
    io.soon.u_row = io.soon.r_row = w->z->sj;
    io.soon.u_bytes = io.soon.r_bytes = w->z->sc * 8;
    lu_visit_first(w, &now);
    next = now;
    lu_visit_next(w, &next);
    lu_load_r(w, &now, r[0]);
    lu_load_u(w, &now, &q[0]);
    states(&w->c, &q[0]);
    for (int half = 0, more = 1; more; half ^= 1, now = next, next = after) {
        const struct lu_place *head = now.head;
        io.line_in = no_line + NC * LANES;
        io.line_out = now.has_head ? head->line - now.chunk * LANES * NC : spare;
        io.tail_line = (now.has_tail ? now.tail->line : spare) - w->period * NC;
        if (now.has_head && head->tile.block > 0) {
            lu_wait_y(w, head, now.chunk + 1);
            io.line_in = io.line_out;
            if (head->y.core >= 0) fetch_line(io.line_in);
        }
        floors_of(w, &now, 0, no_floor, &io);
        v_of(w, &now, &io);

        after = next;
        lu_visit_next(w, &after);
        more = now.has_head;
        lu_load_u(w, &next, &q[half ^ 1]);
        if (more) lu_load_r(w, &next, r[half ^ 1]); /* before v is stored there */
        io.soon.u = io.soon.r = NULL; /* a line of cache holds 8 points: once is enough */
        if (after.chunk * LANES % 8 == 0) {
            io.soon.u = after.head->u + after.chunk * LANES;
            io.soon.r = after.head->r + after.chunk * LANES;
        }
        if (now.chunk == 0)
            lower_joint(&w->c, &q[half], &q[half ^ 1], r[half], &io, &carry);
        else
            lower_steps(&w->c, &q[half], &q[half ^ 1], r[half], &io, &carry);
        /* what the upper sweep finds beside the line, where it needs a finite number */
        for (int m = 0; now.has_tail && m < NC; m++) io.tail_line[m] = 0;
        lu_tell(w, &now);
    }
}

/* ---- upper sweep, and the new U ------------------------------------------------------------ */

INLINE void upper_given(const struct lu_coefficients *c, const struct passage *io, const double *in,
                        int joint, int s, vec w[2][NC], vec y[NC]) {
    for (int m = 0; m < NC; m++) {
        vec a = c->a[2] * floor_load(io, joint, s, m);
        a = a + c->a[0] * w[0][m];
        y[m] = a + c->a[1] * lanes_down(w[1][m], in[m]);
    }
}

INLINE void upper_steps_of(const struct lu_coefficients *c, const struct lu_chunk *q,
                           struct lu_chunk *ahead, lu_block du, const struct passage *io,
                           struct carry *carry, int joint) {
    const ptrdiff_t v_bytes = io->v_component * 8, v_row = io->v_row;
    const double *in = io->line_in - (LANES - 1) * NC, *soon_u = io->soon.u, *soon_r = io->soon.r;
    double *out = io->line_out - (LANES - 1) * NC, *from = io->v + (LANES - 1) * v_row;
    vec y[NC], before[2][NC];
    for (int m = 0; m < NC; m++) before[0][m] = carry->of[m][0], before[1][m] = carry->of[m][1];
    upper_given(c, io, in, joint, LANES - 1, before, y);
    for (int s = LANES - 1;; s--) {
        const struct lu_point *p = &q->point[s];
        vec w[3][NC], v[NC], x[NC], d[NC], z;
        if (soon_u) fetch(soon_u, io->soon.u_bytes, 1), soon_u += io->soon.u_row;
        if (soon_r) fetch(soon_r, io->soon.r_bytes, 0), soon_r += io->soon.r_row;
        state_at(c, ahead, s);
        for (int m = 0; m < NC; m++) v[m] = vec_load(component(from, m, v_bytes));
        lu_solve(c, p, y, v, x, &z);
        lu_scatter(c, p, x, z, w);
        for (int m = 0; m < NC; m++) vec_storeu(out + m, w[1][m]);
        lu_conserved(p, x, d);
        for (int m = 0; m < NC; m++) {
            vec_store(du[m][s], c->update * d[m]);
            floor_store(io, joint, s, m, w[2][m]);
        }
        if (s == 0) {
            for (int m = 0; m < NC; m++) carry->of[m][0] = w[0][m], carry->of[m][1] = w[1][m];
            break;
        }
        in += NC, out += NC, from -= v_row;
        upper_given(c, io, in, joint, s - 1, w, y);
    }
}

KERNEL void upper_steps(const struct lu_coefficients *c, const struct lu_chunk *q,
                        struct lu_chunk *ahead, lu_block du, const struct passage *io,
                        struct carry *carry) {
    upper_steps_of(c, q, ahead, du, io, carry, 0);
}
KERNEL void upper_joint(const struct lu_coefficients *c, const struct lu_chunk *q,
                        struct lu_chunk *ahead, lu_block du, const struct passage *io,
                        struct carry *carry) {
    upper_steps_of(c, q, ahead, du, io, carry, 1);
}

static void upper_sweep(struct lu_sweep *w) {
    double no_floor[FLOOR_CHUNK] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, w->order.planes + w->core);
    lu_block du __attribute__((aligned(64)));
    struct lu_chunk q[2];
    struct carry carry;
    struct passage io;
    struct lu_visit now, next, after;
    if (w->tiles == 0) return;
    memset(&carry, 0, sizeof carry);
    clear(no_floor);
    io.soon.u_row = w->z->sj, io.soon.u_bytes = w->z->sc * 8;
    lu_visit_first(w, &now);
    next = now;
    lu_visit_next(w, &next);
    lu_load_u(w, &now, &q[0]);
    states(&w->c, &q[0]);
    for (int half = 0, more = 1; more; half ^= 1, now = next, next = after) {
        /* The last lane's predecessor in y. In chunk 0 the last lane is at the tail; but for step
         * LANES-1, where it is at i = 0, dead, and is given the finite number beside the line. */
        const struct lu_place *last = now.chunk == 0 ? now.tail : now.head;
        const int chunk = now.chunk == 0 ? w->order.chunks : now.chunk;
        io.line_in = no_line + NC * LANES;
        io.line_out = now.has_head ? now.head->line - now.chunk * LANES * NC : spare;
        if ((now.chunk > 0 || now.has_tail) && last->tile.block < w->order.blocks - 1) {
            lu_wait_y(w, last, chunk - 1);
            io.line_in = last->line - (chunk * LANES - (LANES - 1)) * NC;
            if (last->y.core >= 0) fetch_line(io.line_in);
        }
        floors_of(w, &now, w->order.planes - 1, no_floor, &io);
        v_of(w, &now, &io);

        after = next;
        lu_visit_next(w, &after);
        more = now.number > 0 || now.chunk > 0;
        lu_load_u(w, &next, &q[half ^ 1]);
        /* the rows of a chunk reach back into the line of cache before its own */
        io.soon.u = io.soon.r = NULL;
        if (after.chunk == 0)
            io.soon.u = after.tail->u + w->period - LANES;
        else if (after.chunk * LANES % 8 == 0)
            io.soon.u = after.head->u + (after.chunk - 1) * LANES;
        if (after.chunk == w->order.chunks - 1 || (after.chunk + 1) * LANES % 8 == 0) {
            io.soon.r = after.head->v + after.chunk * LANES;
            io.soon.r_row = after.head->v_row, io.soon.r_bytes = after.head->v_component * 8;
        }
        if (now.chunk == 0)
            upper_joint(&w->c, &q[half], &q[half ^ 1], du, &io, &carry);
        else
            upper_steps(&w->c, &q[half], &q[half ^ 1], du, &io, &carry);
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
