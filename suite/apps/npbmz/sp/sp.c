/* SP-MZ's time step: the scalar pentadiagonal solver, four passes over a zone.
 *
 * The approximate factorisation of "The NAS Parallel Benchmarks" (RNR-94-007, section 4.2) with
 * diagonalised blocks, per zone as in NAS-03-010. Each pointwise change of variables works on
 * values that the solve before it (or the residual) has in registers; none is a pass of its own.
 *
 * Count for LANES points, beside the residual: first transform 26 operations, a division and a
 * root; a line solve 57 (lines.h), with 8 for the transform along x and y, 35 and a division along
 * z for the transform and the addition; transposes for x 34 more. On AVX-512, two operations a
 * cycle: 50 cycles for 8 points along x, 33 along y, 47 along z. Each solve reads 64 bytes a point
 * and writes 40. */
#include "npbmz/sp/sp.h"

#include "npbmz/sp/lines.h"
#include "npbmz/host/residual_rows.h"
#include "npbmz/sp/transforms.h"
#include "npbmz/host/transpose.h"

/* A core's buffer for lines along x: rows -1 to blocks*LANES + 1 of a line group transposed, with
 * the solver's work in the same rows, and a row of the zone for lanes that have no line. */
enum { X_ROW = NC * LANES + PENTA_WORK };
static ptrdiff_t x_spare(int blocks) { return (ptrdiff_t)(blocks * LANES + 2) * X_ROW; }

static size_t own_doubles(int nx, int ny, int nz) {
    int blocks = inner_blocks(nx), n = ny > nz ? ny : nz;
    ptrdiff_t x = X_ROW + x_spare(blocks) + blocks * SP_BLOCK;
    ptrdiff_t yz = (ptrdiff_t)(n + 2) * PENTA_WORK;
    return (size_t)odd_lines(x > yz ? x : yz);
}

struct workspace sp_work(const struct problem *p, const struct zone *z, const struct scratch *s,
                         const struct team *t) {
    return workspace(p, z, s, t, SP_BLOCK, own_doubles(z->nx, z->ny, z->nz));
}

static size_t sp_scratch(const struct problem *p, int cores) {
    return workspace_scratch(p, cores, SP_BLOCK, own_doubles(p->max_nx, p->max_ny, p->max_nz));
}

/* The matrices of a solve are divided by dt eps4, so the right-hand side that a transform makes for
 * it is too. */
static double over_dt_eps4(const struct problem *p) { return 1 / (p->dt * EPS4); }

/* ---- residual ------------------------------------------------------------------------------ */

INLINE void rhs_put(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                    const struct residual_point *q) {
    const struct workspace *w = with;
    double *b = w->b + k * w->bk + j * w->bj + i / LANES * SP_BLOCK;
    vec s[NC], rho_inv, a;
    (void)inside;
    sp_to_x(1 / EPS4, q->u[0], q->v, q->p, r, s, &rho_inv, &a);
    for (int c = 0; c < NC; c++) vec_store(b + c * LANES, s[c]);
    vec_store(b + SP_RHO_INV * LANES, rho_inv);
    vec_store(b + SP_SOUND * LANES, a);
}

void sp_rhs(const struct problem *p, const struct zone *z, const struct workspace *w,
            const struct team *t) {
    residual_with(p, z, z->u, z->f, w->residual, t, rhs_put, w);
}

/* ---- x ------------------------------------------------------------------------------------- */

struct x_out {
    double *r;
    double scale;
};
INLINE void x_row(void *context, int s, const vec x[NC]) {
    const struct x_out *o = context;
    vec y[NC];
    sp_x_to_y(o->scale, x, y);
    for (int c = 0; c < NC; c++) vec_store(o->r + s * X_ROW + c * LANES, y[c]);
}

/* LANES lines at once, transposed into a buffer so that a lane is a line. In the last group,
 * lanes beyond the last line repeat it and give their answer to a spare row. */
void sp_x(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1) {
    const struct penta c = penta_constants(p->h[0], DELTA(0), p->dt);
    const int rows = z->ny - 2, lines = rows * (k1 - k0), blocks = w->blocks;
    double *transposed = w->own + X_ROW;
    double *spare = transposed + x_spare(blocks);
    const struct penta_line line = {.r = transposed,
                                    .work = transposed + NC * LANES,
                                    .m = transposed + SP_BLOCK,
                                    .sr = X_ROW,
                                    .sm = X_ROW,
                                    .sw = X_ROW,
                                    .n = z->nx};
    struct x_out out = {transposed, over_dt_eps4(p)};
    int lo, hi;
    team_share(t, (lines + LANES - 1) / LANES, &lo, &hi);
    for (int group = lo; group < hi; group++) {
        const double *r[LANES], *m[LANES];
        double *answer[LANES];
        for (int l = 0; l < LANES; l++) {
            int q = group * LANES + l, real = q < lines;
            if (!real) q = lines - 1;
            int k = k0 + q / rows, j = 1 + q % rows;
            double *at = w->b + k * w->bk + j * w->bj;
            r[l] = at;
            answer[l] = real ? at : spare;
            m[l] = z->u + z->sc + zone_at(z, 0, j, k);
        }
        for (int b = 0; b < blocks; b++) {
            double *to = transposed + b * LANES * X_ROW;
            for (int q = 0; q < NC + 2; q++)
                transpose_in(r, b * SP_BLOCK + q * LANES, to + q * LANES, X_ROW);
            transpose_in(m, b * LANES, to + SP_BLOCK, X_ROW);
        }
        penta_begin(&line);
        penta_solve(&c, &line, x_row, &out);
        for (int b = 0; b < blocks; b++)
            for (int q = 0; q < NC; q++)
                transpose_out(transposed + b * LANES * X_ROW + q * LANES, X_ROW, answer,
                              b * SP_BLOCK + q * LANES);
    }
}

/* ---- y ------------------------------------------------------------------------------------- */

/* Lines along y and z are more streams than a core's prefetcher follows: asks for the row's block
 * of the next line group. */
INLINE void next_block(const double *r) {
    for (int q = 0; q < SP_BLOCK; q += 8) __builtin_prefetch(r + SP_BLOCK + q);
}

struct y_out {
    double *r;
    ptrdiff_t sr;
    double scale;
};
INLINE void y_row(void *context, int s, const vec x[NC]) {
    const struct y_out *o = context;
    vec y[NC];
    sp_y_to_z(o->scale, x, y);
    next_block(o->r + s * o->sr);
    for (int c = 0; c < NC; c++) vec_store(o->r + s * o->sr + c * LANES, y[c]);
}

/* A lane is a point along i; a group of lines is a block of a plane k. */
void sp_y(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1) {
    const struct penta c = penta_constants(p->h[1], DELTA(1), p->dt);
    int lo, hi;
    team_share(t, w->blocks * (k1 - k0), &lo, &hi);
    for (int g = lo; g < hi; g++) {
        int k = k0 + g / w->blocks, b = g % w->blocks;
        const struct penta_line line = {.work = w->own + PENTA_WORK,
                                        .r = w->b + k * w->bk + b * SP_BLOCK,
                                        .m = z->u + 2 * z->sc + zone_at(z, b * LANES, 0, k),
                                        .sr = w->bj,
                                        .sm = z->sj,
                                        .sw = PENTA_WORK,
                                        .n = z->ny};
        if (g == lo) penta_begin(&line);
        struct y_out out = {line.r, line.sr, over_dt_eps4(p)};
        penta_solve(&c, &line, y_row, &out);
    }
}

/* ---- z ------------------------------------------------------------------------------------- */

struct z_out {
    double *r, *u;
    ptrdiff_t sr, su, sc;
    ivec interior;
};

/* Adds the increment of row s to u. */
INLINE void z_add(const struct z_out *o, int s, const vec x[NC]) {
    const double *r = o->r + s * o->sr;
    double *at = o->u + s * o->su;
    next_block(r);
    for (int c = 0; c < NC; c++) __builtin_prefetch(at + c * o->sc + LANES);
    vec rho_inv = vec_load(r + SP_RHO_INV * LANES), a = vec_load(r + SP_SOUND * LANES);
    vec u[NC], y[NC];
    for (int c = 0; c < NC; c++) u[c] = vec_load(at + c * o->sc);
    vec v[3] = {u[1] * rho_inv, u[2] * rho_inv, u[3] * rho_inv};
    sp_from_z(u[0], v, a, u[4] * rho_inv, x, y);
    for (int c = 0; c < NC; c++)
        vec_store(at + c * o->sc, vec_select(o->interior, u[c] + y[c], u[c]));
}

INLINE void z_row(void *context, int s, const vec x[NC]) {
    const struct z_out *o = context;
    if (!PENTA_FEW)
        z_add(o, s, x);
    else
        for (int c = 0; c < NC; c++) vec_store(o->r + s * o->sr + c * LANES, x[c]);
}

/* With few registers increments are made when the line is solved: with the two rows that the
 * solver holds, most values would be spilled. */
void sp_z(const struct problem *p, struct zone *z, const struct workspace *w,
          const struct team *t) {
    const struct penta c = penta_constants(p->h[2], DELTA(2), p->dt);
    int lo, hi;
    team_share(t, w->blocks * (z->ny - 2), &lo, &hi);
    for (int g = lo; g < hi; g++) {
        int j = 1 + g / w->blocks, b = g % w->blocks;
        double *u = z->u + zone_at(z, b * LANES, j, 0);
        const struct penta_line line = {.work = w->own + PENTA_WORK,
                                        .r = w->b + j * w->bj + b * SP_BLOCK,
                                        .m = u + 3 * z->sc,
                                        .sr = w->bk,
                                        .sm = z->sk,
                                        .sw = PENTA_WORK,
                                        .n = z->nz};
        if (g == lo) penta_begin(&line);
        struct z_out out = {line.r, u, line.sr, z->sk, z->sc, vec_interior(b * LANES, z->nx)};
        penta_solve(&c, &line, z_row, &out);
        for (int k = 1; PENTA_FEW && k < z->nz - 1; k++) {
            vec x[NC];
            for (int q = 0; q < NC; q++) x[q] = vec_load(line.r + k * line.sr + q * LANES);
            z_add(&out, k, x);
        }
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

/* well below a second-level cache: of 1 to 2 MB with AVX-512, else of 256 KB or 512 KB */
static const struct passes passes = {3 << (LANES == 8 ? 19 : 16), sp_rhs, sp_x, sp_y, sp_z};

static void sp_step(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t) {
    const struct workspace w = sp_work(p, z, s, t);
    passes_step(&passes, p, z, s, &w, t);
}

static void sp_phase(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t, int phase) {
    const struct workspace w = sp_work(p, z, s, t);
    passes_phase(&passes, p, z, s, &w, t, phase);
}

static size_t sp_kept(const struct zone *z) { return workspace_kept(z, SP_BLOCK); }

const struct solver solver_sp = {.name = "sp-mz",
                                 .scratch = sp_scratch,
                                 .step = sp_step,
                                 .phases = 4,
                                 .phase = sp_phase,
                                 .kept = sp_kept};
