/* One row of BT's block elimination: set up, factored, solved.
 *
 * Row s of a line reads  -P X(s-1) + D X(s) + Q X(s+1) = right-hand side  (gas.h: P is the coupling
 * behind, Q the coupling ahead, all multiplied by T^-1 of the point behind). With
 * X(s-1) = y(s-1) - C(s-1) X(s) it becomes
 *     B X(s) = b - Q X(s+1),   B = D + P C(s-1),   b = right-hand side + P y(s-1),
 * and so y(s) = B^-1 b and C(s) = B^-1 Q. B is eliminated without pivoting in the blocks r | p q |
 * d e, 2x2 blocks by their inverses: three divisions one after the other instead of five, and the
 * columns of Q have their zeros where nothing then needs to be computed.
 *
 * The work comes in three parts because of its latency: row_setup() up to the division for p q,
 * row_factor() from there to the inverse of d e, row_solve() the rest. The line (line.h) has two
 * eliminations going, and sets up a row of one between solving and factoring rows of the other.
 *
 * Operations: set up 135, factor 31, solve 121, and 3 divisions of 3: 296 (148 cycles with two
 * units of a vector each); back substitution 25 and 7 for T.
 */
#ifndef NPBMZ_BT_ROW_H
#define NPBMZ_BT_ROW_H

#include "gas.h"

/* A row after the elimination of its density. Two letters: row, column; b: right-hand side. */
struct row {
    vec r;              /* 1 / pivot */
    vec dr, pr, qr, er; /* column of the density */
    vec rd, rp, rq, re; /* row of the density, over the pivot */
    vec rb;
    vec pp, pq, qp, qq, det; /* det: 1 / determinant of p q */
    vec pd, pe, pb, qd, qe, qb;
    vec dp, dq, ep, eq;
    vec dd, de, db, ed, ee, eb;
};

/* B's inverse blocks; upper right block times the inverse of p q */
struct factors {
    vec pp, pq, qp, qq; /* inverse of p q; pq and qp with the sign changed */
    vec pd, pe, qd, qe;
    vec dd, de, ed, ee; /* inverse of d e; de and ed with the sign changed */
};

/* C(s) by columns */
struct block {
    struct five r, d, p, q, e;
};

/* D: middle T^-1(behind) T(here) (1 + ..) on the diagonal, see gas.h */
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

/* What B and b are made of */
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

/* The columns of B = D + P C, from that of C, and b = T^-1 rhs + P y */
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

/* The elimination of the density, column by column, that of the density first, q after p */
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

/* The row of `here` with right-hand side rhs; C and y are those of the point behind. */
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

/* the end of B^-1 a: x of d e known, of p q before d e are substituted, of r before all are */
INLINE void solve_up(const struct row *o, const struct factors *f, struct five *x) {
    x->p = x->p - f->pd * x->d - f->pe * x->e;
    x->q = x->q - f->qd * x->d - f->qe * x->e;
    x->r = x->r - o->rd * x->d - o->re * x->e - o->rp * x->p - o->rq * x->q;
}

/* B^-1 a, where the density of a is eliminated already: x over the pivot */
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

/* C = B^-1 Q; Q = T^-1(behind) T(ahead) times the coupling ahead */
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

#endif
