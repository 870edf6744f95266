/* The gas of a point and the 5x5 matrices of BT's lines, in variables in which they are sparse.
 *
 * BT's implicit operator (RNR-94-007, section 4.3) couples the increments of neighbours on a line
 * with the matrices
 *     +-tau A - tau1 (N + delta I),   A = dF/dU,  N = dW/dU,  tau = dt/(2h),  tau1 = dt/h^2,
 * F being the flux and W the diffusive potential. In U = (density, momenta, energy) they have 18
 * entries, and most of an elimination is products with them. In increments of primitive variables,
 *     dU = T dV,   dV = (d rho, rho dv, rho d(internal energy)),
 * they are T times matrices of 9 entries: A T = T A', N T = T N'. In the order density, velocity v
 * along the line (d), velocities across it (p, q), internal energy,
 *
 *          | v  1  .  .  .  |
 *          | P  v  .  .  c2 |     N' = diag(0, 4/3 n, n, n, c1 c5 n),
 *     A' = | .  .  v  .  .  | ,   P = p/rho,  n = c3 c4/rho,
 *          | .  .  .  v  .  |     T = the unit matrix but for the column of the density
 *          | .  P  .  .  v  |         and the row of the energy.
 *
 * So each row of a line's system is multiplied by T^-1 of the point behind it: the block of that
 * point, the only one to be multiplied with something full, becomes sparse, and the other two get
 * the factor T^-1(behind) T(here), whose entries are differences between points (`change`).
 *
 * Everything is seen along the line. A line run through backwards is the mirror image: velocity and
 * momentum along it have the other sign, and nothing else changes.
 *
 * Host and device code share this text (value.h), and row.h too.
 */
#pragma once

#include "npbmz/host/value.h"

/* Five values seen along a line: of the density, of what goes along it, of the two across, of the
 * energy. Increments, conservative or primitive, or a column of a 5x5 matrix. */
struct five {
    vec r, d, p, q, e;
};

/* The gas of a point, a unit of mass: velocities, energy E/rho, p/rho, 1/rho. */
struct gas {
    vec d, p, q, energy, pressure, volume;
};

/* The scheme in one direction; all matrices are divided by tau. */
struct scheme {
    double dissipation; /* delta tau1/tau */
    double middle;      /* (1 + 2 tau1 delta)/tau */
    double n, n43, nh;  /* c3 c4 tau1/tau, 4/3 of it, c1 c5 of it */
};

INLINE struct scheme scheme(double h, double delta, double dt) {
    double tau = dt / (2 * h), tau1 = dt / (h * h);
    struct scheme c;
    c.dissipation = delta * tau1 / tau;
    c.middle = (1 + 2 * tau1 * delta) / tau;
    c.n = C34 * tau1 / tau;
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

/* the gas seen from the other end of the line */
INLINE struct five mirrored(struct five a) {
    a.d = -a.d;
    return a;
}

/* T^-1(a) T(b) is the unit matrix and d, p, q, e in the column of the density, d, p, q in the row
 * of the energy. */
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

/* A' + (tau1/tau) (N' + delta I) of the point behind, A' - the same of the point ahead: the
 * diagonal (n for both p and q) and the pressure; the other entries are 1 and c2. */
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

/* coupling times column, by rows and as a whole */
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
