/* The gas of a point and the 5x5 matrices of BT's lines, in variables in which they are sparse.
 *
 * BT's implicit operator (RNR-94-007, section 4.3) couples the increments of neighbours on a line by
 *     +-tau A - tau1 (N + delta I),   A = dF/dU, N = dW/dU,
 * with flux F and diffusive potential W. Written for U = (density, momenta, energy) such a matrix has
 * 18 entries, and a row of the elimination is mostly made of products with them. With the increments
 * of the primitive variables,
 *     dU = T dV,   dV = (d rho, rho dv, rho d(internal energy)),
 * both matrices factor: A T = T A', N T = T N' with the same T, where
 *           | v  1  .  .  . |                    the line's own direction is d, the other two are
 *           | .  v  .  .  . |  p                 p and q; v is the velocity along the line,
 *     A' =  | .  .  v  .  . |  q                 P = p/rho the pressure over the density
 *           | P  .  .  v  c2|  d  (order r d p q e of the columns and p, q, d, e of the rows)
 *           | .  P  .  .  v |  e
 * and N' is diagonal: 0, 4/3 n for d, n for p and q, c1 c5 n for e, with n = c3 c4/rho. T differs
 * from the unit matrix in the column of the density and in the row of the energy. So if a row s of
 * the line's system is multiplied by T^-1 of the point before it, what it has on the point before
 * becomes sparse (9 entries, one of them 1), and what it has on the point itself and on the point
 * ahead gets T^-1(before) T(here), whose entries are small differences (`change` below).
 *
 * Directions: everything here is seen along the line. A line that is run through backwards is the
 * mirror image: the velocity and the momentum along it have the other sign, nothing else changes.
 */
#ifndef NPBMZ_BT_GAS_H
#define NPBMZ_BT_GAS_H

#include "lanes.h"
#include "problem.h"

#define INLINE static inline __attribute__((always_inline))

/* Five values of a point seen along a line: density, the momentum along it, the two across, energy;
 * conservative or primitive increments, or a column of a 5x5 matrix. */
struct five {
    vec r, d, p, q, e;
};

/* The gas of a point: velocities, energy E/rho, pressure p/rho, volume 1/rho. */
struct gas {
    vec d, p, q, energy, pressure, volume;
};

/* One direction's scheme; everything is divided by tau = dt/(2h). */
struct scheme {
    double dissipation; /* tau1 delta / tau = 2 delta / h */
    double middle;      /* (1 + 2 tau1 delta) / tau */
    double n, n43, nh;  /* tau1/tau times c3 c4, times 4/3 of it, times c1 c5 of it */
};

static inline struct scheme scheme(double h, double delta, double dt) {
    struct scheme c;
    c.dissipation = 2 * delta / h;
    c.middle = (1 + 2 * dt / (h * h) * delta) * (2 * h / dt);
    c.n = 2 * C34 / h;
    c.n43 = 4.0 / 3 * c.n;
    c.nh = C15 * c.n;
    return c;
}

/* T^-1 a, a conservative */
INLINE struct five primitive(struct gas g, struct five a) {
    struct five b;
    b.r = a.r;
    b.d = a.d - g.d * a.r;
    b.p = a.p - g.p * a.r;
    b.q = a.q - g.q * a.r;
    b.e = (a.e - g.energy * a.r) - g.d * b.d - g.p * b.p - g.q * b.q;
    return b;
}

/* T a, a primitive */
INLINE struct five conservative(struct gas g, struct five a) {
    struct five b;
    b.r = a.r;
    b.d = a.d + g.d * a.r;
    b.p = a.p + g.p * a.r;
    b.q = a.q + g.q * a.r;
    b.e = (a.e + g.energy * a.r) + g.d * a.d + g.p * a.p + g.q * a.q;
    return b;
}

/* T^-1(a) T(b): beside the unit matrix d, p, q, e in the column of the density and d, p, q in the row
 * of the energy */
struct change {
    vec d, p, q, e;
};
INLINE struct change change(struct gas a, struct gas b) {
    struct change s;
    s.d = b.d - a.d;
    s.p = b.p - a.p;
    s.q = b.q - a.q;
    s.e = (b.energy - a.energy) - a.d * s.d - a.p * s.p - a.q * s.q;
    return s;
}

/* The sparse matrix A' + N' + delta I (behind) or A' - N' - delta I (ahead): its diagonal r, d, n
 * (both p and q), e, and the pressure; the other entries are 1 and c2. */
struct coupling {
    vec r, d, n, e, pressure;
};
INLINE struct coupling coupling_behind(const struct scheme *c, struct gas g) {
    struct coupling f;
    f.r = g.d + c->dissipation;
    f.n = f.r + c->n * g.volume;
    f.d = f.r + c->n43 * g.volume;
    f.e = f.r + c->nh * g.volume;
    f.pressure = g.pressure;
    return f;
}
INLINE struct coupling coupling_ahead(const struct scheme *c, struct gas g) {
    struct coupling f;
    f.r = g.d - c->dissipation;
    f.n = f.r - c->n * g.volume;
    f.d = f.r - c->n43 * g.volume;
    f.e = f.r - c->nh * g.volume;
    f.pressure = g.pressure;
    return f;
}

/* rows of the product of a coupling with a column */
INLINE vec product_r(struct coupling f, struct five m) { return m.d + f.r * m.r; }
INLINE vec product_d(struct coupling f, struct five m) {
    return f.pressure * m.r + f.d * m.d + C2 * m.e;
}
INLINE vec product_p(struct coupling f, struct five m) { return f.n * m.p; }
INLINE vec product_q(struct coupling f, struct five m) { return f.n * m.q; }
INLINE vec product_e(struct coupling f, struct five m) { return f.pressure * m.d + f.e * m.e; }

INLINE struct five product(struct coupling f, struct five m) {
    struct five a = {product_r(f, m), product_d(f, m), product_p(f, m), product_q(f, m),
                     product_e(f, m)};
    return a;
}

#endif
