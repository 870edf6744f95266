/* A row of residual_rows.h for processors with 16 vector registers (fewer than 8 lanes).
 *
 * The five components of the residual and the second sum of the energy stay in registers; other
 * values are loaded where they are needed, often twice, since a store to the stack costs more than
 * a load. The derived values of the row above come first; of two neighbours, their work before
 * either's flux. Sums have the order of residual_near(). No division is started a vector ahead.
 * residual_rows.h includes this file after its other definitions. Counts and variants that were no
 * faster: docs/notes/tuning.md. */
#pragma once

/* Bytes from component 0 to 1, and to 3: with an index times 1, 2 or 4, each component's place is
 * one address of an instruction. */
struct residual_step {
    ptrdiff_t one, three;
};

INLINE struct residual_step residual_step(ptrdiff_t doubles) {
    const ptrdiff_t one = doubles * (ptrdiff_t)sizeof(double);
    return (struct residual_step){one, 3 * one};
}

/* component m of the field at p */
INLINE const double *residual_of(const double *p, struct residual_step s, int m) {
    return (const double *)((const char *)p + (m == 3 ? s.three : m * s.one));
}

/* Sources of a row's vector, as in struct residual_row. */
struct residual_places {
    const double *u, *f, *x, *below, *here;
    double *above;
    const struct residual_row5 *ly, *lz;
    struct residual_step s;
};

/* the points at distance two on one side */
INLINE void residual_few_far(vec r[NC], const double *u, struct residual_step s, double factor) {
    const vec c = vec_set(factor);
    u = residual_at(u);
    for (int m = 0; m < NC; m++) r[m] += c * vec_load(residual_of(u, s, m));
}

/* the two neighbours along y or z: their solution and their derived values */
INLINE void residual_few_near(vec r[NC], vec *e, const double *u_lo, const double *u_hi,
                              const double *w_lo, const double *w_hi, struct residual_step s, int d,
                              const struct residual_row5 *linear, const struct residual_axis *x) {
    struct residual_point lo, hi;
    residual_load_derived(&lo, residual_at(w_lo));
    residual_load_derived(&hi, residual_at(w_hi));
    residual_work(e, &lo, &hi, d, x);
    const vec pressure = hi.p - lo.p;
    const vec a = vec_set(x->a);
    lo.u[0] = vec_load(u_lo), lo.u[4] = vec_load(residual_of(u_lo, s, 4));
    residual_load_derived(&lo, residual_at(w_lo));
    residual_side(r, &lo, d, vec_set(linear->lo) - a * lo.v[d], x);
    hi.u[0] = vec_load(u_hi), hi.u[4] = vec_load(residual_of(u_hi, s, 4));
    residual_load_derived(&hi, residual_at(w_hi));
    residual_side(r, &hi, d, vec_set(linear->hi) + a * hi.v[d], x);
    r[1 + d] += a * pressure;
}

/* all that are met along x */
INLINE void residual_few_x(vec r[NC], vec *e, const struct residual_places *at,
                           const struct residual_axis *axis) {
    const double *u = at->u, *x = at->x, *here = at->here;
    const vec far_lo = vec_load(x), far_hi = vec_load(x + 3 * LANES);
    for (int m = 0; m < NC; m++) {
        r[m] += far_lo * vec_loadu(residual_of(u - 2, at->s, m));
        r[m] += far_hi * vec_loadu(residual_of(u + 2, at->s, m));
    }
    struct residual_point lo, hi;
    lo.v[0] = residual_w_before(here), hi.v[0] = residual_w_after(here);
    lo.p = residual_w_before(here + 3 * LANES), hi.p = residual_w_after(here + 3 * LANES);
    lo.g = residual_w_before(here + 4 * LANES), hi.g = residual_w_after(here + 4 * LANES);
    residual_work(e, &lo, &hi, 0, axis);
    const vec pressure = hi.p - lo.p, a = vec_set(axis->a);
    const vec carried_lo = vec_load(x + LANES) - a * lo.v[0];
    const vec carried_hi = vec_load(x + 2 * LANES) + a * hi.v[0];
    here = residual_at(here);
    lo.u[0] = vec_loadu(u - 1), lo.u[4] = vec_loadu(residual_of(u - 1, at->s, 4));
    lo.v[1] = residual_w_before(here + LANES), lo.v[2] = residual_w_before(here + 2 * LANES);
    residual_side(r, &lo, 0, carried_lo, axis);
    here = residual_at(here);
    hi.u[0] = vec_loadu(u + 1), hi.u[4] = vec_loadu(residual_of(u + 1, at->s, 4));
    hi.v[1] = residual_w_after(here + LANES), hi.v[2] = residual_w_after(here + 2 * LANES);
    residual_side(r, &hi, 0, carried_hi, axis);
    r[1] += a * pressure;
}

/* r and the second sum *e of a vector */
INLINE void residual_few_sum(vec r[NC], vec *e, const struct residual_places *at,
                             const struct residual_row *w, double mid,
                             const struct residual_constants *c) {
    const struct residual_step s = at->s, fs = residual_step(w->fc);
    const double *u = at->u, *here = at->here;
    struct residual_point q;
    for (int m = 0; m < NC; m++) {
        r[m] = vec_load(residual_of(at->f, fs, m));
        __builtin_prefetch(residual_of(at->f + RESIDUAL_AHEAD, fs, m));
        q.u[m] = vec_load(residual_of(u, s, m));
    }
    residual_load_derived(&q, here);
    residual_here(r, e, &q, vec_load(at->x + 4 * LANES) + mid, c);
    residual_few_x(r, e, at, &c->axis[0]);
    residual_few_far(r, u + w->y_far_lo, s, at->ly->far_lo);
    residual_few_far(r, u + w->y_far_hi, s, at->ly->far_hi);
    residual_few_near(r, e, u - w->y, u + w->y, here - w->next, here + w->next, s, 1, at->ly,
                      &c->axis[1]);
    residual_few_far(r, u + w->z_far_lo, s, at->lz->far_lo);
    const double *far = residual_at(u + w->z_far_hi);
    for (int m = 0; m < NC; m++) __builtin_prefetch(residual_of(far + RESIDUAL_AHEAD, s, m));
    residual_few_far(r, far, s, at->lz->far_hi);
    residual_few_near(r, e, u - w->z, u + w->z, at->below, at->above, s, 2, at->lz, &c->axis[2]);
}

/* the derived values of the row above */
INLINE void residual_few_derive(double *above, const double *u, struct residual_step s) {
    struct residual_point q;
    u = residual_at(u);
    for (int m = 0; m < NC; m++) q.u[m] = vec_load(residual_of(u, s, m));
    residual_derive(&q, vec_set(1) / q.u[0]);
    residual_store_derived(above, &q);
}

/* Makes the residual of a row and, on the way, the derived values of the row above it. */
INLINE void residual_do_row(const struct residual_row *w, const struct residual_constants *c,
                            residual_put *put, const void *with) {
    struct residual_places at = {
        w->u, w->f, w->x, w->below, w->here, w->above, w->ly, w->lz, residual_step(w->sc)};
    const double mid = w->ly->mid + w->lz->mid;
    for (int i = 0; i < w->nx - 1; i += LANES) {
        RESIDUAL_IN_REGISTER(at.u);
        RESIDUAL_IN_REGISTER(at.f);
        RESIDUAL_IN_REGISTER(at.x);
        RESIDUAL_IN_REGISTER(at.below);
        RESIDUAL_IN_REGISTER(at.here);
        RESIDUAL_IN_REGISTER(at.above);
        RESIDUAL_IN_REGISTER(at.ly);
        RESIDUAL_IN_REGISTER(at.lz);
        RESIDUAL_IN_REGISTER(at.s.one);
        RESIDUAL_IN_REGISTER(at.s.three);
        RESIDUAL_IN_REGISTER(c); /* constants come from memory, not from registers or the stack */
        vec r[NC], e;
        residual_few_derive(at.above, at.u + w->z, at.s);
        residual_few_sum(r, &e, &at, w, mid, c);
        r[4] += e;

        struct residual_point q;
        const double *u = residual_at(at.u);
        for (int m = 0; m < NC; m++) q.u[m] = vec_load(residual_of(u, at.s, m));
        residual_load_derived(&q, residual_at(at.here));
        put(with, i, w->j, w->k, vec_interior(i, w->nx), r, &q);
        at.u += LANES, at.f += LANES, at.x += RESIDUAL_VECTOR;
        at.below += RESIDUAL_VECTOR, at.here += RESIDUAL_VECTOR, at.above += RESIDUAL_VECTOR;
    }
}
