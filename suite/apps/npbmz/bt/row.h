/* One row of BT's block elimination: set up, factored, solved, substituted back.
 *
 * Row s of a line, multiplied by T^-1 of the point behind (gas.h), reads
 *     -P X(s-1) + D X(s) + Q X(s+1) = T^-1 rhs(s).
 * With X(s-1) = y(s-1) - C(s-1) X(s) it becomes
 *     B X(s) = b - Q X(s+1),   B = D + P C(s-1),   b = T^-1 rhs(s) + P y(s-1),
 * and then y(s) = B^-1 b, C(s) = B^-1 Q. B is eliminated without pivoting in the blocks r | p q | d
 * e; the 2x2 blocks are inverted, so that there are three divisions one after the other instead of
 * five. With the unknowns in this order the zeros of Q spare most.
 *
 * The work is in three parts because of its latency: row_setup() goes up to the division for p q,
 * row_factor() from there to the inverse of d e, row_solve() and row_solve_block() do the rest. See
 * line.h for how they are interleaved.
 *
 * Operations a row: set up 105, factor 26, solve 139 (multiply-add, multiply or add) and 3
 * divisions of 3; back substitution 25, and 7 for T. 311 make 155 cycles where two units work on a
 * vector each. Memory: 11 vectors of the point read and 5 written twice each, 25 of C written and
 * read twice.
 */
#pragma once

#include "npbmz/bt/gas.h"

/* B and b after the elimination of the density. Two letters: row and column; column b: b. */
struct row {
    vec r;                  /* 1 / pivot */
    vec dr, pr, qr, er;     /* column of the density */
    vec rd, rp, rq, re, rb; /* row of the density, over the pivot */
    vec pp, pq, qp, qq;
    vec det; /* 1 / determinant of p q */
    vec pd, pe, pb, qd, qe, qb;
    vec dp, dq, ep, eq;
    vec dd, de, db, ed, ee, eb;
};

/* The rest of the factors of B. Off the diagonal, inverses have the other sign. */
struct factors {
    vec pp, pq, qp, qq; /* inverse of p q */
    vec pd, pe, qd, qe; /* times what stands at its right */
    vec dd, de, ed, ee; /* inverse of d e, after p q is eliminated */
};

/* C by columns */
struct block {
    struct five r, d, p, q, e;
};

/* D is (1 + 2 tau1 delta)/tau T^-1(behind) T(here) and twice T^-1(behind) T(here) (tau1/tau) N':
 * this is its diagonal (n for both p and q) but for the density. */
struct diagonal {
    vec d, n, e;
};
INLINE struct diagonal diagonal(const struct scheme *c, struct gas here) {
    struct diagonal a;
    a.d = c->middle + (2 * c->n43) * here.volume;
    a.n = c->middle + (2 * c->n) * here.volume;
    a.e = c->middle + (2 * c->nh) * here.volume;
    return a;
}

/* what B and b are made of, beside C and y */
struct ingredients {
    struct coupling f;
    struct change s;
    struct diagonal a;
    double middle;
};
INLINE struct ingredients ingredients(const struct scheme *c, struct gas behind, struct gas here) {
    struct ingredients i = {coupling_behind(c, behind), change(behind, here), diagonal(c, here),
                            c->middle};
    return i;
}

/* The columns of B from those of C, and b from T^-1 rhs = t and y. */
INLINE struct five column_r(const struct ingredients *i, struct five m) {
    struct five b;
    b.r = i->middle + product_r(i->f, m);
    b.d = i->middle * i->s.d + product_d(i->f, m);
    b.p = i->middle * i->s.p + product_p(i->f, m);
    b.q = i->middle * i->s.q + product_q(i->f, m);
    b.e = i->middle * i->s.e + product_e(i->f, m);
    return b;
}
INLINE struct five column_d(const struct ingredients *i, struct five m) {
    struct five b = product(i->f, m);
    b.d = i->a.d + i->f.pressure * m.r + i->f.d * m.d + C2 * m.e;
    b.e = i->a.d * i->s.d + product_e(i->f, m);
    return b;
}
INLINE struct five column_p(const struct ingredients *i, struct five m) {
    struct five b = product(i->f, m);
    b.p = i->a.n + i->f.n * m.p;
    b.e = i->a.n * i->s.p + product_e(i->f, m);
    return b;
}
INLINE struct five column_q(const struct ingredients *i, struct five m) {
    struct five b = product(i->f, m);
    b.q = i->a.n + i->f.n * m.q;
    b.e = i->a.n * i->s.q + product_e(i->f, m);
    return b;
}
INLINE struct five column_e(const struct ingredients *i, struct five m) {
    struct five b = product(i->f, m);
    b.e = i->a.e + i->f.pressure * m.d + i->f.e * m.e;
    return b;
}
INLINE struct five column_b(const struct ingredients *i, struct five t, struct five y) {
    struct five b;
    b.r = t.r + product_r(i->f, y);
    b.d = t.d + i->f.pressure * y.r + i->f.d * y.d + C2 * y.e;
    b.p = t.p + i->f.n * y.p;
    b.q = t.q + i->f.n * y.q;
    b.e = t.e + i->f.pressure * y.d + i->f.e * y.e;
    return b;
}

/* The elimination of the density column by column: r first, q after p. */
INLINE void eliminate_r(struct row *o, struct five b) {
    o->r = 1.0 / b.r;
    o->dr = b.d, o->pr = b.p, o->qr = b.q, o->er = b.e;
}
INLINE struct five eliminate(const struct row *o, struct five b) {
    b.r = b.r * o->r;
    b.d = b.d - o->dr * b.r;
    b.p = b.p - o->pr * b.r;
    b.q = b.q - o->qr * b.r;
    b.e = b.e - o->er * b.r;
    return b;
}
INLINE void eliminate_p(struct row *o, struct five b) {
    b = eliminate(o, b);
    o->rp = b.r, o->dp = b.d, o->pp = b.p, o->qp = b.q, o->ep = b.e;
}
INLINE void eliminate_q(struct row *o, struct five b) {
    b = eliminate(o, b);
    o->rq = b.r, o->dq = b.d, o->pq = b.p, o->qq = b.q, o->eq = b.e;
    o->det = 1.0 / (o->pp * o->qq - o->pq * o->qp);
}
INLINE void eliminate_d(struct row *o, struct five b) {
    b = eliminate(o, b);
    o->rd = b.r, o->dd = b.d, o->pd = b.p, o->qd = b.q, o->ed = b.e;
}
INLINE void eliminate_e(struct row *o, struct five b) {
    b = eliminate(o, b);
    o->re = b.r, o->de = b.d, o->pe = b.p, o->qe = b.q, o->ee = b.e;
}
INLINE void eliminate_b(struct row *o, struct five b) {
    b = eliminate(o, b);
    o->rb = b.r, o->db = b.d, o->pb = b.p, o->qb = b.q, o->eb = b.e;
}

/* Sets up the row of `here`, with right-hand side rhs; C and y are those of the point behind. */
INLINE void row_setup(const struct scheme *c, struct gas behind, struct gas here,
                      const struct block *C, struct five y, struct five rhs, struct row *to) {
    const struct ingredients i = ingredients(c, behind, here);
    struct row o;
    eliminate_r(&o, column_r(&i, C->r));
    eliminate_p(&o, column_p(&i, C->p));
    eliminate_q(&o, column_q(&i, C->q));
    eliminate_d(&o, column_d(&i, C->d));
    eliminate_e(&o, column_e(&i, C->e));
    eliminate_b(&o, column_b(&i, primitive(behind, rhs), y));
    *to = o;
}

INLINE struct factors row_factor(const struct row *o) {
    struct factors f;
    f.pp = o->qq * o->det, f.pq = o->pq * o->det, f.qp = o->qp * o->det, f.qq = o->pp * o->det;
    f.pd = f.pp * o->pd - f.pq * o->qd, f.qd = f.qq * o->qd - f.qp * o->pd;
    f.pe = f.pp * o->pe - f.pq * o->qe, f.qe = f.qq * o->qe - f.qp * o->pe;
    vec dd = o->dd - o->dp * f.pd - o->dq * f.qd;
    vec de = o->de - o->dp * f.pe - o->dq * f.qe;
    vec ed = o->ed - o->ep * f.pd - o->eq * f.qd;
    vec ee = o->ee - o->ep * f.pe - o->eq * f.qe;
    vec det = 1.0 / (dd * ee - de * ed);
    f.dd = ee * det, f.de = de * det, f.ed = ed * det, f.ee = dd * det;
    return f;
}

/* The end of B^-1 a: d e are known, p q lack them, r lacks all others. */
INLINE void solve_up(const struct row *o, const struct factors *f, struct five *x) {
    x->p = x->p - f->pd * x->d - f->pe * x->e;
    x->q = x->q - f->qd * x->d - f->qe * x->e;
    x->r = x->r - o->rd * x->d - o->re * x->e - o->rp * x->p - o->rq * x->q;
}

/* B^-1 a, where the density is eliminated from a already */
INLINE struct five solve(const struct row *o, const struct factors *f, struct five a) {
    struct five x;
    x.r = a.r;
    x.p = f->pp * a.p - f->pq * a.q;
    x.q = f->qq * a.q - f->qp * a.p;
    vec d = a.d - o->dp * x.p - o->dq * x.q;
    vec e = a.e - o->ep * x.p - o->eq * x.q;
    x.d = f->dd * d - f->de * e;
    x.e = f->ee * e - f->ed * d;
    solve_up(o, f, &x);
    return x;
}

/* y */
INLINE struct five row_solve(const struct row *o, const struct factors *f) {
    struct five b = {o->rb, o->db, o->pb, o->qb, o->eb};
    return solve(o, f, b);
}

/* C = B^-1 Q, column by column; Q = T^-1(behind) T(ahead) times the coupling ahead. Columns p, q
 * and e have zeros at the beginning. */
INLINE void row_solve_block(const struct scheme *c, struct gas behind, struct gas ahead,
                            const struct row *o, const struct factors *f, struct block *C) {
    const struct coupling g = coupling_ahead(c, ahead);
    const struct change s = change(behind, ahead);
    struct five a, x;
    a.r = g.r * o->r;
    a.p = s.p * g.r - o->pr * a.r;
    a.q = s.q * g.r - o->qr * a.r;
    a.d = g.pressure + s.d * g.r - o->dr * a.r;
    a.e = s.e * g.r + s.d * g.pressure - o->er * a.r;
    C->r = solve(o, f, a);

    a.r = o->r; /* 1 in the row of the density */
    a.p = s.p - o->pr * a.r;
    a.q = s.q - o->qr * a.r;
    a.d = s.d + g.d - o->dr * a.r;
    a.e = s.e + g.pressure + s.d * g.d - o->er * a.r;
    C->d = solve(o, f, a);

    /* from here on the density has a zero: only p and e in column p */
    vec p = f->pp * g.n, q = f->qp * g.n;
    vec d = o->dq * q - o->dp * p, e = s.p * g.n - o->ep * p + o->eq * q;
    x.d = f->dd * d - f->de * e;
    x.e = f->ee * e - f->ed * d;
    x.p = p - f->pd * x.d - f->pe * x.e;
    x.q = -q - f->qd * x.d - f->qe * x.e;
    x.r = -o->rd * x.d - o->re * x.e - o->rp * x.p - o->rq * x.q;
    C->p = x;

    p = f->pq * g.n, q = f->qq * g.n;
    d = o->dp * p - o->dq * q, e = s.q * g.n + o->ep * p - o->eq * q;
    x.d = f->dd * d - f->de * e;
    x.e = f->ee * e - f->ed * d;
    x.p = -p - f->pd * x.d - f->pe * x.e;
    x.q = q - f->qd * x.d - f->qe * x.e;
    x.r = -o->rd * x.d - o->re * x.e - o->rp * x.p - o->rq * x.q;
    C->q = x;

    e = C2 * s.d + g.e;
    x.d = f->dd * C2 - f->de * e;
    x.e = f->ee * e - f->ed * C2;
    x.p = -f->pd * x.d - f->pe * x.e;
    x.q = -f->qd * x.d - f->qe * x.e;
    x.r = -o->rd * x.d - o->re * x.e - o->rp * x.p - o->rq * x.q;
    C->e = x;
}

/* The other elimination's contribution to the middle row, a column of it in this one's variables:
 * product with the coupling, conservative, mirrored, multiplied by this row's T^-1; added to b. */
INLINE struct five row_across(struct coupling f, struct gas other, struct gas behind, struct five m,
                              struct five b) {
    const struct five a = primitive(behind, mirrored(conservative(other, product(f, m))));
    const struct five sum = {b.r + a.r, b.d + a.d, b.p + a.p, b.q + a.q, b.e + a.e};
    return sum;
}

/* X of the middle row, which has an elimination behind it, with C and y, and one on its other side:
 * D and z at the point `other`, mirrored as all that side sees. */
INLINE struct five row_middle(const struct scheme *c, struct gas behind, struct gas here,
                              struct gas other, const struct block *C, struct five y,
                              const struct block *D, struct five z, struct five rhs) {
    const struct ingredients i = ingredients(c, behind, here);
    const struct coupling f = coupling_behind(c, other);
    const struct five minus = {-D->d.r, -D->d.d, -D->d.p, -D->d.q, -D->d.e}; /* unknown mirrored */
    struct row o;
    eliminate_r(&o, row_across(f, other, behind, D->r, column_r(&i, C->r)));
    eliminate_p(&o, row_across(f, other, behind, D->p, column_p(&i, C->p)));
    eliminate_q(&o, row_across(f, other, behind, D->q, column_q(&i, C->q)));
    eliminate_d(&o, row_across(f, other, behind, minus, column_d(&i, C->d)));
    eliminate_e(&o, row_across(f, other, behind, D->e, column_e(&i, C->e)));
    const struct five t = primitive(behind, rhs);
    eliminate_b(&o, row_across(f, other, behind, z, column_b(&i, t, y)));
    const struct factors g = row_factor(&o);
    return row_solve(&o, &g);
}

/* y - C x */
INLINE struct five row_back(const struct block *C, struct five y, struct five x) {
    struct five z;
    z.r = y.r - C->r.r * x.r - C->d.r * x.d - C->p.r * x.p - C->q.r * x.q - C->e.r * x.e;
    z.d = y.d - C->r.d * x.r - C->d.d * x.d - C->p.d * x.p - C->q.d * x.q - C->e.d * x.e;
    z.p = y.p - C->r.p * x.r - C->d.p * x.d - C->p.p * x.p - C->q.p * x.q - C->e.p * x.e;
    z.q = y.q - C->r.q * x.r - C->d.q * x.d - C->p.q * x.p - C->q.q * x.q - C->e.q * x.e;
    z.e = y.e - C->r.e * x.r - C->d.e * x.d - C->p.e * x.p - C->q.e * x.q - C->e.e * x.e;
    return z;
}
