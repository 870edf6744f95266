/* LU-MZ's time step: symmetric successive over-relaxation, a lower and an upper sweep over a zone
 * ("The NAS Parallel Benchmarks", RNR-94-007, section 3; per zone as in NAS-03-010).
 *
 * A point is computed after its predecessors in x, y and z, and then gives each of its three
 * successors a vector w (point.h): only 5-vectors are passed on, no block is formed. A vector's
 * lanes are LANES rows, each skewed by one point (order.h): a lane's predecessor in x is its own
 * last step, in registers; in y the neighbouring lane's last step; in z a `floor`, one vector a
 * step, overwritten from plane to plane. The first lane takes its predecessor in y from a `line`,
 * left by the last lane of the block before. The upper sweep is the mirror image.
 *
 * Storage: the lower sweep leaves its result v in r, in the order of its steps, so the upper sweep
 * loads it without a transpose; the residual at the end of the step writes r anew. Latency: a step
 * waits 48 cycles for the one before it, by way of w. The states of the next chunk (lu_state) are
 * computed in these gaps, one behind each step; their divisions are done when U is loaded, a chunk
 * ahead. Operations for LANES points: lower 114 and a division, upper 135 and one. Cycles, and
 * variants that were no faster: docs/notes/tuning.md. */
#include "npbmz/lu/tile.h"
#include <string.h>

/* ---- values passed on ---- */

/* Values of the last step done that each lane gives its successor in x (0) and in y (1). A
 * component's two lie beside each other, else gcc would see that they can be copied as a whole, and
 * do so in halves of vectors, which whole loads then wait for. */
struct carry {
    vec of[NC][2];
};

/* Rows that will be needed soon, a row of each for each of the first steps: U, and r or v. */
struct soon {
    const double *u, *r;        /* NULL: none that is not on its way already */
    int rows;                   /* left to fetch */
    ptrdiff_t u_row, r_row;     /* doubles to the next row */
    ptrdiff_t u_bytes, r_bytes; /* to the next component */
};

/* Where the steps of a chunk find and leave things. Step s reads position s of line_in and
 * leaves in line_out what one lane gives, the last, in the upper sweep the first; it reads and
 * overwrites the vectors s of the floor. In the first LANES steps of chunk 0 the lanes beyond s are
 * at the tail, which has its own line and floor. */
struct passage {
    const double *line_in;
    double *line_out, *tail_line; /* tail_line: lower sweep */
    double *floor, *tail_floor;
    double *v;                    /* vector of step 0, component 0 */
    ptrdiff_t v_row, v_component; /* the next group begins LANES doubles further */
    int last_ahead;               /* last step of the next chunk, which may be shorter */
    struct soon soon;
};

static const double no_line[NC * (LU_STEPS + 1)]; /* zeros, for a line that is not there */

static void v_of(const struct lu_sweep *w, const struct lu_visit *v, struct passage *io) {
    io->v = w->memory.drains + w->core * BLOCK;
    io->v_row = LANES, io->v_component = LANES * LANES;
    if (!v->has_head) return;
    io->v = v->head->v + v->first;
    io->v_row = v->head->v_row, io->v_component = v->head->v_component;
}

static void clear(double *floor, int steps) {
    for (int i = 0; i < steps * FLOOR_STEP; i += LANES) vec_store(floor + i, (vec){0});
}

/* The floors of a visit, when they are ready; plane `first` has no predecessor in z. */
static void floors_of(struct lu_sweep *w, const struct lu_visit *v, int first, double *no_floor,
                      struct passage *io) {
    io->floor = io->tail_floor = no_floor;
    if (v->has_head) {
        lu_wait_z(w, v->head, v->chunk);
        io->floor = v->head->floor + v->first * FLOOR_STEP;
        if (v->head->tile.plane == first) clear(io->floor, v->steps);
    }
    if (v->has_tail) {
        lu_wait_z(w, v->tail, w->order.chunks);
        io->tail_floor = v->tail->floor + w->order.period * FLOOR_STEP;
        if (v->tail->tile.plane == first) clear(io->tail_floor, LANES);
    }
}

/* m components further, which are so many bytes apart: then gcc scales them in addresses */
INLINE double *component(double *p, int m, ptrdiff_t bytes) {
    return (double *)((char *)p + m * bytes);
}

/* Prefetches; `write`: for writing, since the line may be in another core's cache. */
INLINE void fetch(const double *p, ptrdiff_t bytes, int write) {
    for (int m = 0; m < NC; m++)
        if (write)
            __builtin_prefetch((const char *)p + m * bytes, 1);
        else
            __builtin_prefetch((const char *)p + m * bytes, 0);
}
/* Prefetches data from memory that are needed later, into the second-level cache. */
INLINE void fetch_far(const double *p, ptrdiff_t bytes) {
    for (int m = 0; m < NC; m++) __builtin_prefetch((const char *)p + m * bytes, 0, 2);
}
/* Prefetches a line that another core has just written; the steps read it one by one. */
static void fetch_line(const double *line_in, int steps) {
    const char *last = (const char *)(line_in + NC),
               *p = (const char *)(line_in - (steps - 1) * NC);
    for (; p < last; p += 64) __builtin_prefetch(p);
    __builtin_prefetch(last - 1);
}

/* ---- lower sweep --------------------------------------------------------------------------- */

/* lane 0: a's last lane; lane l: its lane l - 1 */
static inline vec lanes_turned(vec a) {
#if LANES == 8
    return __builtin_shufflevector(a, a, 7, 0, 1, 2, 3, 4, 5, 6);
#elif LANES == 4
    return __builtin_shufflevector(a, a, 3, 0, 1, 2);
#else
    return __builtin_shufflevector(a, a, 1, 0);
#endif
}
/* a, but for lane 0 */
static inline vec lanes_first(double first, vec a) {
    return vec_select(vec_iota() == 0, vec_set(first), a);
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

/* Loads step s's values from the floor, and stores them there. joint: some lanes are at the tail.
 * */
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

/* Step s: what lu_state makes of the points of step `from`. */
INLINE void state_at(const struct lu_coefficients *c, struct lu_chunk *q, int s, int from) {
    vec u[NC];
    for (int m = 0; m < NC; m++) u[m] = vec_load(q->u[from][m]);
    struct lu_pivots w;
    lu_pivots(c, u[0], &w);
    lu_state_of(u, vec_load(q->alive[from]), &w, vec_load(q->over[from]), &q->point[s]);
}
KERNEL void states(const struct lu_coefficients *c, struct lu_chunk *q, int from, int to) {
    for (int s = from; s < to; s++) state_at(c, q, s, s);
}
/* The state of the next chunk, whose last step is `last`, that is made beside step s, which does
 * not need its own any more. */
INLINE void state_ahead(const struct lu_coefficients *c, struct lu_chunk *q, int last, int s) {
    state_at(c, q, s, s < last ? s : last);
}

/* y: what the points of step s have got from their predecessors, in x and y from the step before,
 * whose w is there, in z from the floor. Made as soon as w is there, so that 5 vectors live from
 * step to step instead of 10. */
INLINE void lower_given(const struct lu_coefficients *c, lu_vectors *r, const struct passage *io,
                        const double *in, int joint, int s, vec w[2][NC], vec y[NC]) {
    for (int m = 0; m < NC; m++) {
        vec a = vec_load(r[s][m]) + c->a[2] * floor_load(io, joint, s, m);
        a = a + c->a[0] * w[0][m];
        y[m] = a + c->a[1] * lanes_first(in[m], w[1][m]);
    }
}

/* The steps [from, to) of a chunk. */
INLINE void lower_steps_of(const struct lu_coefficients *c, struct lu_chunk *q, lu_vectors *r,
                           const struct passage *io, struct carry *carry, int joint, int from,
                           int to) {
    const ptrdiff_t v_bytes = io->v_component * 8, v_row = io->v_row;
    const double *in = io->line_in - from * NC, *soon_u = io->soon.u, *soon_r = io->soon.r;
    double *out = (joint ? io->tail_line : io->line_out) - from * NC + (LANES - 1) * NC;
    double *v = io->v + from;
    int soon = io->soon.rows;
    vec y[NC], before[2][NC];
    for (int m = 0; m < NC; m++) before[0][m] = carry->of[m][0], before[1][m] = carry->of[m][1];
    lower_given(c, r, io, in, joint, from, before, y);
    for (int s = from;; s++) {
        const struct lu_point *p = &q->point[s];
        struct lu_flow flow;
        vec w[3][NC], x[NC], z;
        if (soon > 0) {
            fetch_far(soon_u, io->soon.u_bytes), soon_u += io->soon.u_row;
            fetch_far(soon_r, io->soon.r_bytes), soon_r += io->soon.r_row;
            soon--;
        }
        lu_solve(c, p, y, 0, x, &z);
        lu_flow(c, p, &flow);
        lu_scatter(c, p, &flow, x, z, w);
        if (joint && s == LANES - 1) out = io->line_out - s * NC + (LANES - 1) * NC;
        for (int m = 0; m < NC; m++) {
            w[1][m] = lanes_turned(w[1][m]);
            out[m] = w[1][m][0];
        }
        for (int m = 0; m < NC; m++) {
            vec_store(component(v, m, v_bytes), x[m]);
            floor_store(io, joint, s, m, w[2][m]);
        }
        state_ahead(c, q, io->last_ahead, s);
        if (s == to - 1) {
            for (int m = 0; m < NC; m++) carry->of[m][0] = w[0][m], carry->of[m][1] = w[1][m];
            break;
        }
        in -= NC, out -= NC, v += v_row;
        if (s % LANES == LANES - 1) v -= LANES * v_row - LANES;
        lower_given(c, r, io, in, joint, s + 1, w, y);
    }
}

KERNEL void lower_steps(const struct lu_coefficients *c, struct lu_chunk *q, lu_vectors *r,
                        const struct passage *io, struct carry *carry, int from, int to) {
    lower_steps_of(c, q, r, io, carry, 0, from, to);
}
KERNEL void lower_joint(const struct lu_coefficients *c, struct lu_chunk *q, lu_vectors *r,
                        const struct passage *io, struct carry *carry) {
    lower_steps_of(c, q, r, io, carry, 1, 0, LANES);
}

/* A chunk; of chunk 0 first the steps in which some lanes are at the tail. */
static void lower_chunk(struct lu_sweep *w, const struct lu_visit *v, struct lu_chunk *q,
                        lu_vectors *r, struct passage *io, struct carry *carry) {
    int from = 0;
    if (v->chunk == 0) {
        lower_joint(&w->c, q, r, io, carry);
        from = LANES, io->soon.rows = 0;
    }
    if (from < v->steps) lower_steps(&w->c, q, r, io, carry, from, v->steps);
}

static void lower_sweep(struct lu_sweep *w) {
    double no_floor[LU_STEPS * FLOOR_STEP] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, w->order.planes + w->core);
    lu_vectors r[2][LU_STEPS] __attribute__((aligned(64)));
    struct lu_chunk q;
    struct carry carry;
    struct passage io;
    struct lu_visit now, next;
    if (w->tiles == 0) return;
    memset(&carry, 0, sizeof carry);
    clear(no_floor, LU_STEPS);
    io.soon.u_row = io.soon.r_row = w->z->sj;
    io.soon.u_bytes = io.soon.r_bytes = w->z->sc * 8;
    lu_visit_first(w, &now);
    next = now;
    lu_visit_next(w, &next);
    lu_load_r(w, &now, r[0]);
    lu_load_u(w, &now, &q);
    states(&w->c, &q, 0, now.steps);
    for (int half = 0, more = 1; more; half ^= 1) {
        const struct lu_place *head = now.head;
        io.line_in = no_line + NC * LU_STEPS;
        io.line_out = now.has_head ? head->line - now.first * NC : spare;
        io.tail_line = (now.has_tail ? now.tail->line : spare) - w->order.period * NC;
        if (now.has_head && head->tile.block > 0) {
            lu_wait_y(w, head, now.chunk + 1);
            io.line_in = io.line_out;
            if (head->y.core >= 0) fetch_line(io.line_in, now.steps);
        }
        floors_of(w, &now, 0, no_floor, &io);
        v_of(w, &now, &io);

        more = now.has_head;
        if (more) lu_load_r(w, &next, r[half ^ 1]); /* before v is stored there */
        lu_load_u(w, &next, &q); /* last: the steps begin while its divisions are under way */
        /* prefetch the next tile, every eighth time: a line of cache holds 8 points */
        io.soon.rows = 0;
        if (now.first % 8 == 0 && now.number + 1 < w->tiles) {
            const struct lu_place *far = lu_place(w, now.number + 1);
            io.soon.rows = LANES;
            io.soon.u = far->u + now.first;
            io.soon.r = far->r + now.first;
        }
        io.last_ahead = next.steps - 1;
        lower_chunk(w, &now, &q, r[half], &io, &carry);
        if (next.steps > now.steps) states(&w->c, &q, now.steps, next.steps);
        /* what the upper sweep finds beside the line, where it needs a finite number */
        for (int m = 0; now.has_tail && m < NC; m++) io.tail_line[m] = 0;
        lu_tell(w, &now);
        now = next;
        lu_visit_next(w, &next);
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

/* The steps [from, to) of a chunk, backwards. */
INLINE void upper_steps_of(const struct lu_coefficients *c, struct lu_chunk *q, lu_vectors *du,
                           const struct passage *io, struct carry *carry, int joint, int from,
                           int to) {
    const ptrdiff_t v_bytes = io->v_component * 8, v_row = io->v_row;
    const double *in = io->line_in - (to - 1) * NC, *soon_u = io->soon.u, *soon_r = io->soon.r;
    double *out = io->line_out - (to - 1) * NC, *at = io->v + to - LANES + (LANES - 1) * v_row;
    int soon = io->soon.rows;
    vec y[NC], before[2][NC];
    for (int m = 0; m < NC; m++) before[0][m] = carry->of[m][0], before[1][m] = carry->of[m][1];
    upper_given(c, io, in, joint, to - 1, before, y);
    for (int s = to - 1;; s--) {
        const struct lu_point *p = &q->point[s];
        struct lu_flow flow;
        vec w[3][NC], v[NC], x[NC], d[NC], z;
        if (soon > 0) {
            if (soon_u) fetch(soon_u, io->soon.u_bytes, 1), soon_u += io->soon.u_row;
            if (soon_r) fetch(soon_r, io->soon.r_bytes, 0), soon_r += io->soon.r_row;
            soon--;
        }
        for (int m = 0; m < NC; m++) v[m] = vec_load(component(at, m, v_bytes));
        lu_solve(c, p, y, v, x, &z);
        lu_flow(c, p, &flow);
        lu_scatter(c, p, &flow, x, z, w);
        for (int m = 0; m < NC; m++) out[m] = w[1][m][0];
        lu_conserved(p, x, d);
        for (int m = 0; m < NC; m++) {
            vec_store(du[s][m], c->update * d[m]);
            floor_store(io, joint, s, m, w[2][m]);
        }
        state_ahead(c, q, io->last_ahead, s);
        if (s == from) {
            for (int m = 0; m < NC; m++) carry->of[m][0] = w[0][m], carry->of[m][1] = w[1][m];
            break;
        }
        in += NC, out += NC, at -= v_row;
        if (s % LANES == 0) at += LANES * v_row - LANES;
        upper_given(c, io, in, joint, s - 1, w, y);
    }
}

KERNEL void upper_steps(const struct lu_coefficients *c, struct lu_chunk *q, lu_vectors *du,
                        const struct passage *io, struct carry *carry, int from, int to) {
    upper_steps_of(c, q, du, io, carry, 0, from, to);
}
KERNEL void upper_joint(const struct lu_coefficients *c, struct lu_chunk *q, lu_vectors *du,
                        const struct passage *io, struct carry *carry) {
    upper_steps_of(c, q, du, io, carry, 1, 0, LANES);
}

/* The line that the last lane of steps reads from the block after the tile's; its position 0 is for
 * the tile's step `first`. It is ready when the block after has done its chunk `needs`. */
static const double *upper_line(struct lu_sweep *w, const struct lu_place *a, int first, int needs,
                                int steps) {
    if (a->tile.block == w->order.blocks - 1) return no_line + NC * LU_STEPS;
    lu_wait_y(w, a, needs);
    const double *line = a->line - (first - (LANES - 1)) * NC;
    if (a->y.core >= 0) fetch_line(line, steps);
    return line;
}

/* Does chunk 0 backwards: first the steps of which all lanes are at the head. */
static void upper_first(struct lu_sweep *w, const struct lu_visit *v, struct lu_chunk *q,
                        lu_vectors *du, struct passage *io, struct carry *carry) {
    if (v->steps > LANES) {
        const double *tail_line = io->line_in;
        io->line_in = upper_line(w, v->head, 0, 0, v->steps);
        upper_steps(&w->c, q, du, io, carry, LANES, v->steps);
        io->line_in = tail_line;
        io->soon.rows = 0;
    }
    upper_joint(&w->c, q, du, io, carry);
}

static void upper_sweep(struct lu_sweep *w) {
    double no_floor[LU_STEPS * FLOOR_STEP] __attribute__((aligned(64)));
    double *const spare = lu_line(&w->memory, w->order.planes + w->core);
    lu_vectors du[LU_STEPS] __attribute__((aligned(64)));
    struct lu_chunk q;
    struct carry carry;
    struct passage io;
    struct lu_visit now, next, after;
    if (w->tiles == 0) return;
    memset(&carry, 0, sizeof carry);
    clear(no_floor, LU_STEPS);
    io.soon.u_row = w->z->sj, io.soon.u_bytes = w->z->sc * 8;
    lu_visit_first(w, &now);
    next = now;
    lu_visit_next(w, &next);
    lu_load_u(w, &now, &q);
    states(&w->c, &q, 0, now.steps);
    for (int more = 1; more; now = next, next = after) {
        /* The last lane's predecessor in y. In chunk 0 the last lane is at the tail; but for step
         * LANES-1, where it is at i = 0, dead, and is given the finite number beside the line. */
        const struct lu_place *last = now.chunk == 0 ? now.tail : now.head;
        const int first = now.chunk == 0 ? w->order.period : now.first;
        const int needs = now.chunk == 0 ? w->order.chunks - 1 : now.chunk - 1;
        io.line_in = no_line + NC * LU_STEPS;
        io.line_out = now.has_head ? now.head->line - now.first * NC : spare;
        if (now.chunk > 0 || now.has_tail)
            io.line_in = upper_line(w, last, first, needs, now.chunk == 0 ? LANES : now.steps);
        floors_of(w, &now, w->order.planes - 1, no_floor, &io);
        v_of(w, &now, &io);

        after = next;
        lu_visit_next(w, &after);
        more = now.number > 0 || now.chunk > 0;
        lu_load_u(w, &next, &q);
        /* the rows of a chunk reach back into the line of cache before its own */
        io.soon.u = io.soon.r = NULL;
        if (after.chunk == 0)
            io.soon.u = after.tail->u + w->order.period - LANES;
        else if (after.first % 8 == 0)
            io.soon.u = after.head->u + after.first - LANES;
        if (after.chunk == w->order.chunks - 1 || (after.first + after.steps) % 8 == 0) {
            io.soon.r = after.head->v + after.first;
            io.soon.r_row = after.head->v_row, io.soon.r_bytes = after.head->v_component * 8;
        }
        io.soon.rows = LANES;
        io.last_ahead = next.steps - 1;
        if (now.chunk == 0)
            upper_first(w, &now, &q, du, &io, &carry);
        else
            upper_steps(&w->c, &q, du, &io, &carry, 0, now.steps);
        if (next.steps > now.steps) states(&w->c, &q, now.steps, next.steps);
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

/* The sweeps are one phase: the lower one leaves v in the order of its team's cores, some of it in
 * their scratch. The two phases leave each other nothing but u. */
static void lu_phase(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t, int phase) {
    (phase ? lu_finish : lu_sweeps)(p, z, s, t);
}

static size_t lu_kept(const struct zone *z) {
    (void)z;
    return 0;
}

const struct solver solver_lu = {.name = "lu-mz",
                                 .scratch = lu_scratch,
                                 .prepare = lu_residual,
                                 .step = lu_step,
                                 .begin = lu_sweeps,
                                 .finish = lu_finish,
                                 .phases = 2,
                                 .phase = lu_phase,
                                 .kept = lu_kept};
