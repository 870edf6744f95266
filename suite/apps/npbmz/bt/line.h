/* LANES lines at once: BT's block-tridiagonal systems, eliminated from both ends.
 *
 * One elimination goes from the first row up, another from the last row down; they meet in the
 * middle row, and back substitution goes outwards from there. This needs no more operations than
 * one elimination from end to end, and gives two independent ones: the operations of one row depend
 * on one another through three divisions, and a row of the other side fills the gaps. The side that
 * goes down sees the mirror image of the line (gas.h), so both have the same text.
 *
 * A branch in the loop changes which products gcc fuses, and so the bits. Instructions and cycles
 * on Zen 3 and Zen 5, and variants that were no faster: docs/notes/tuning.md. */
#pragma once

#include "npbmz/bt/bt.h"
#include "npbmz/bt/row.h"

/* LANES lines of n points. Point s lies in the block at + s*step; of its momenta and velocities,
 * the one along the line is d doubles after the first, those across p and q. */
struct line {
    double *at;
    ptrdiff_t step;
    int n;
    ptrdiff_t d, p, q;
    struct block *work; /* n of them */
    /* what to fetch meanwhile, of the lines that come next: with row s the block next + s*next_step
     */
    const double *next;
    ptrdiff_t next_step;
};

/* u of the points, for the last solve of a step: the density of point s lies at u + s*step, the
 * momenta d, p, q and the energy e doubles after it. `inside`: the lanes to be changed. */
struct line_update {
    double *u;
    ptrdiff_t step;
    ptrdiff_t d, p, q, e;
    ivec inside;
};

/* side: +1 seen in the direction of the line, -1 against it */
INLINE struct five mirror(struct five a, int side) { return side < 0 ? mirrored(a) : a; }
INLINE struct gas line_gas(const struct line *l, const double *at, int side) {
    const double *v = at + BT_V * LANES;
    struct gas g;
    g.d = side > 0 ? vec_load(v + l->d) : -vec_load(v + l->d);
    g.p = vec_load(v + l->p);
    g.q = vec_load(v + l->q);
    g.energy = vec_load(at + BT_ENERGY * LANES);
    g.pressure = vec_load(at + BT_PRESSURE * LANES);
    g.volume = vec_load(at + BT_VOLUME * LANES);
    return g;
}
INLINE struct five line_load(const struct line *l, const double *at) {
    const double *m = at + (BT_X + 1) * LANES;
    struct five a = {vec_load(at + BT_X * LANES), vec_load(m + l->d), vec_load(m + l->p),
                     vec_load(m + l->q), vec_load(at + (BT_X + NC - 1) * LANES)};
    return a;
}
INLINE void line_store(const struct line *l, double *at, struct five a) {
    double *m = at + (BT_X + 1) * LANES;
    vec_store(at + BT_X * LANES, a.r);
    vec_store(m + l->d, a.d);
    vec_store(m + l->p, a.p);
    vec_store(m + l->q, a.q);
    vec_store(at + (BT_X + NC - 1) * LANES, a.e);
}

/* Asks for a block: the hardware does not foresee those of other lines. */
INLINE void line_fetch(const double *at) {
    for (int v = 0; v < BT_BLOCK; v += 8) __builtin_prefetch(at + v, 0, 2);
}

/* One of the two eliminations: the row that is set up, and where it is. */
struct elimination {
    double *at;           /* block of the row */
    const double *behind; /* block of the row before; of the first row its own */
    ptrdiff_t step;       /* to the next row, with the direction's sign */
    const double *next;   /* to be fetched */
    struct block *C;
    struct row row;
};

/* sets up row s, the first, which has nothing behind it */
INLINE void elimination_start(struct elimination *a, const struct scheme *c, const struct line *l,
                              int s, int side) {
    static const struct block nothing;
    a->next = l->next + s * l->next_step;
    line_fetch(a->next);
    a->at = l->at + s * l->step;
    a->behind = a->at;
    a->step = side * l->step;
    a->C = l->work + s;
    struct gas here = line_gas(l, a->at, side);
    row_setup(c, here, here, &nothing, nothing.r, mirror(line_load(l, a->at), side), &a->row);
}

/* sets up the next row */
INLINE void elimination_next(struct elimination *a, const struct scheme *c, const struct line *l,
                             int side) {
    a->next += side * l->next_step;
    line_fetch(a->next);
    a->behind = a->at;
    a->at += a->step;
    row_setup(c, line_gas(l, a->behind, side), line_gas(l, a->at, side), a->C,
              line_load(l, a->behind), mirror(line_load(l, a->at), side), &a->row);
    a->C += side;
}

/* Puts C, and y in the place of the right-hand side. C first: the other way round gcc 12 keeps 10
 * vectors a row more on the stack, and a pair of rows has 1026 instructions instead of 973. */
INLINE void elimination_solve(struct elimination *a, const struct scheme *c, const struct line *l,
                              const struct factors *f, int side) {
    row_solve_block(c, line_gas(l, a->behind, side), line_gas(l, a->at + a->step, side), &a->row, f,
                    a->C);
    line_store(l, a->at, row_solve(&a->row, f));
}

/* finishes the row that is set up */
INLINE void elimination_finish(struct elimination *a, const struct scheme *c, const struct line *l,
                               int side) {
    const struct factors f = row_factor(&a->row);
    elimination_solve(a, c, l, &f, side);
}

/* X of the middle row, seen by `a`, in the direction of the line. `a` has come to the row before
 * it, `b` to the one after it. */
INLINE struct five line_middle(const struct elimination *a, const struct elimination *b,
                               const struct scheme *c, const struct line *l) {
    const double *at = a->at + a->step;
    line_fetch(a->next + l->next_step);
    return row_middle(c, line_gas(l, a->at, 1), line_gas(l, at, 1), line_gas(l, b->at, -1), a->C,
                      line_load(l, a->at), b->C, line_load(l, b->at), line_load(l, at));
}

/* Forward elimination: y and C of all rows but the middle one. Returns X of that. A row of one side
 * is set up before one of the other is finished. */
INLINE struct five line_forward(const struct line *l, const struct scheme *constants) {
    const struct scheme own = *constants, *c = &own; /* which no store to a block can change */
    struct elimination a, b;
    elimination_start(&a, c, l, 1, 1);
    elimination_start(&b, c, l, l->n - 2, -1);
    elimination_finish(&a, c, l, 1);
    /* the two ends by turns, until the middle row alone is left */
    for (int left = l->n - 4; left > 0; left -= 2) {
        if (left == 1) {
            elimination_finish(&b, c, l, -1);
            break;
        }
        elimination_next(&a, c, l, 1);
        elimination_finish(&b, c, l, -1);
        if (left == 2) {
            elimination_finish(&a, c, l, 1);
            break;
        }
        elimination_next(&b, c, l, -1);
        elimination_finish(&a, c, l, 1);
    }
    return line_middle(&a, &b, c, l);
}

/* Back substitution. The increments, in conservative variables again, replace y, or are added to u
 * if it is not NULL. */
INLINE void line_put(const struct line *l, const struct line_update *u, int s, struct five x,
                     int side) {
    double *at = l->at + s * l->step;
    x = mirror(conservative(line_gas(l, at, side), x), side);
    if (!u) {
        line_store(l, at, x);
        return;
    }
    double *o = u->u + s * u->step;
    const vec r = vec_load(o), d = vec_load(o + u->d), p = vec_load(o + u->p),
              q = vec_load(o + u->q), e = vec_load(o + u->e);
    vec_store(o, vec_select(u->inside, r + x.r, r));
    vec_store(o + u->d, vec_select(u->inside, d + x.d, d));
    vec_store(o + u->p, vec_select(u->inside, p + x.p, p));
    vec_store(o + u->q, vec_select(u->inside, q + x.q, q));
    vec_store(o + u->e, vec_select(u->inside, e + x.e, e));
}
INLINE void line_back_row(const struct line *l, const struct line_update *u, int s, struct five *x,
                          int side) {
    *x = row_back(l->work + s, line_load(l, l->at + s * l->step), *x);
    line_put(l, u, s, *x, side);
}
INLINE void line_back(const struct line *l, const struct line_update *u, struct five x) {
    const int middle = l->n / 2;
    struct five up = x, down = mirror(x, -1);
    line_put(l, u, middle, x, 1);
    int below = middle - 1, above = middle + 1;
    for (; above <= l->n - 2; below--, above++) {
        line_back_row(l, u, below, &up, 1);
        line_back_row(l, u, above, &down, -1);
    }
    if (below > 0) line_back_row(l, u, below, &up, 1);
}

/* Solves the lines; the increments replace the right-hand side, or are added to u if it is not
 * NULL. To be inlined where d, p, q and, where it is one, the step are constants: as a function for
 * all directions it has 50 instructions a pair of rows more. */
INLINE void line_solve(const struct line *l, const struct scheme *c, const struct line_update *u) {
    line_back(l, u, line_forward(l, c));
}
