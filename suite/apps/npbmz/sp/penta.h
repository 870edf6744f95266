/* SP's line solver, row by row: three scalar pentadiagonal matrices a line, five right-hand sides,
 * eliminated from both ends to the middle. For host and device; lines.h is how a host core walks
 * along a line, sp.kernel.c how two work items do.
 *
 * The matrices of a line differ in their eigenvalue only (RNR-94-007, section 4.2): lambda = v_d
 * for components 0 to 2, v_d + a for 3, v_d - a for 4. They are divided by dt eps4, so that the two
 * outer bands are 1 and cost no multiplication. Then column s holds
 *   - T lambda - P in row s-1, 2 P + D in row s, -T lambda - P in row s+1, 1 in rows s-2 and s+2,
 *   - where T = 1/(2 h eps4), P = sigma/(h^2 eps4) + 4 and D = 1/(dt eps4) - 2.
 * All of a column belongs to one point. So the elimination goes by columns (L U with a unit
 * diagonal in L) and needs nothing of a point twice. Seen from the other end it is the same with -T
 * for T.
 *
 * From pivot to pivot one end's recurrence takes about 48 cycles of a host core, twice its
 * arithmetic; two ends at a time fill the gaps, and on a device they are two work items. They meet
 * in a 2x2 system for the two middle points.
 *
 * The one-sided ends of the fourth difference (5 instead of 6 on the diagonal of the first and of
 * the last row) need no case of their own: the elimination of an imagined row before the first,
 * with pivot 1, takes just this 1 away.
 *
 * Operations of a row: forward 9 for the column, 15 for three eliminations, 5 and a division for
 * three reciprocals (of their product), 10 for the right-hand sides; backward 15; in all 54
 * multiply-adds and a division.
 */
#pragma once

#include "npbmz/host/value.h"

/* The solver's constants in one direction, for matrices divided by dt eps4. */
struct penta {
    double T, D;
    double P0, P1; /* P = P0 + P1/rho */
};

INLINE struct penta penta_constants(double h, double delta, double dt) {
    double q = 1 / (h * h * EPS4);
    struct penta c;
    c.T = 1 / (2 * h * EPS4);
    c.D = 1 / (dt * EPS4) - 2;
    c.P0 = q * delta + 4;
    c.P1 = q * C15 * C34;
    return c;
}

/* matrix of each component */
INLINE int penta_matrix(int component) { return component < 3 ? 0 : component - 2; }

/* Column s of the three matrices: what stands in the row behind (already eliminated), on the
 * diagonal, and in the row ahead. The end that goes towards larger s calls with T, the other with
 * -T. sigma is the largest of four diffusivities, of which delta + c15 c34/rho is always the one
 * where the density is positive. */
INLINE void penta_column(const struct penta *c, double T, vec rho_inv, vec a, vec m, vec behind[3],
                         vec *diagonal, vec ahead[3]) {
    vec P = c->P0 + c->P1 * rho_inv;
    vec w = T * rho_inv;
    *diagonal = c->D + 2.0 * P;
    behind[0] = w * m - P;
    behind[1] = behind[0] + T * a;
    behind[2] = behind[0] - T * a;
    ahead[0] = -(w * m) - P;
    ahead[1] = ahead[0] - T * a;
    ahead[2] = ahead[0] + T * a;
}

/* 1/p for three pivots with one division. */
INLINE void penta_reciprocals(vec p[3]) {
    vec p01 = p[0] * p[1];
    vec inv = 1.0 / (p01 * p[2]);
    vec inv01 = inv * p[2];
    p[2] = inv * p01;
    vec p1 = p[1];
    p[1] = inv01 * p[0];
    p[0] = inv01 * p1;
}

/* State of an elimination that goes from row s-1 to row s. */
struct penta_end {
    vec l[3];      /* L(s,s-1) */
    vec l_back[3]; /* L(s-1,s-2) */
    vec p[3];      /* 1/pivot(s-1) = L(s+1,s-1) */
};

/* The pivot of column s, from U(s-1,s), 1/pivot(s-2) and l = L(s,s-1). */
INLINE vec penta_pivot(vec diagonal, vec p_back, vec l, vec above) {
    return (diagonal - p_back) - l * above;
}

/* L(s+1,s) times pivot(s), from p = 1/pivot(s-1). */
INLINE vec penta_below(vec ahead, vec p, vec above) { return ahead - p * above; }

/* Column s: U(s-1,s), the pivot, and the entry ahead. p_back = 1/pivot(s-2). */
INLINE void penta_eliminate(const struct penta_end *e, const vec p_back[3], const vec behind[3],
                            vec diagonal, const vec ahead[3], vec above[3], vec pivot[3],
                            vec below[3]) {
    for (int q = 0; q < 3; q++) {
        above[q] = behind[q] - e->l_back[q];
        pivot[q] = penta_pivot(diagonal, p_back[q], e->l[q], above[q]);
        below[q] = penta_below(ahead[q], e->p[q], above[q]);
    }
}

/* The right-hand side of row s from those of rows s-1 and s-2. */
INLINE vec penta_right(vec r, vec p_back, vec y2, vec l, vec y1) {
    return r - p_back * y2 - l * y1;
}

/* From row s, with p = 1/pivot(s), to the next. */
INLINE void penta_next(struct penta_end *e, const vec p[3], const vec below[3]) {
    for (int q = 0; q < 3; q++) {
        e->l_back[q] = e->l[q];
        e->l[q] = below[q] * p[q];
        e->p[q] = p[q];
    }
}

/* x of row s from those of the two rows nearer to the middle, x1 the next of them. */
INLINE vec penta_back(vec y, vec x2, vec above, vec x1, vec p) {
    return ((y - x2) - above * x1) * p;
}
