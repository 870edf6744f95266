/* SP's line solver: LANES grid lines at once, three scalar pentadiagonal matrices a line, five
 * right-hand sides, eliminated from both ends to the middle.
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
 * From pivot to pivot one end's recurrence takes about 48 cycles, twice its arithmetic; two ends at
 * a time fill the gaps. They meet in a 2x2 system for the two middle points.
 *
 * The one-sided ends of the fourth difference (5 instead of 6 on the diagonal of the first and of
 * the last row) need no case of their own: the elimination of an imagined row before the first,
 * with pivot 1, takes just this 1 away.
 *
 * Cost of a row of LANES points: forward 9 for the column, 15 for three eliminations, 5 and a
 * division for three reciprocals (of their product), 10 for the right-hand sides; backward 15; in
 * all 54 multiply-adds and a division (3 instructions more): 28.5 cycles on two ports. 21 loads and
 * 11 stores forward, 11 loads backward; the work stays in the first-level cache.
 */
#ifndef NPBMZ_SP_PENTA_H
#define NPBMZ_SP_PENTA_H

#include "lanes.h"
#include "problem.h"

#define PENTA_INLINE static inline __attribute__((always_inline))

/* The solver's constants in one direction, for matrices divided by dt eps4. */
struct penta {
    double T, D;
    double P0, P1; /* P = P0 + P1/rho */
};

static inline struct penta penta_constants(double h, double delta, double dt) {
    double q = 1 / (h * h * EPS4);
    return (struct penta){.T = 1 / (2 * h * EPS4),
                          .D = 1 / (dt * EPS4) - 2,
                          .P0 = q * delta + 4,
                          .P1 = q * C15 * C34};
}

/* Column s of the three matrices: what stands in the row behind (already eliminated), on the
 * diagonal, and in the row ahead. The end that goes towards larger s calls with T, the other with
 * -T. sigma is the largest of four diffusivities, of which delta + c15 c34/rho is always the one
 * where the density is positive. */
static inline void penta_column(const struct penta *c, double T, vec rho_inv, vec a, vec m,
                                vec behind[3], vec *diagonal, vec ahead[3]) {
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
static inline void penta_reciprocals(vec p[3]) {
    vec p01 = p[0] * p[1];
    vec inv = 1.0 / (p01 * p[2]);
    vec inv01 = inv * p[2];
    p[2] = inv * p01;
    vec p1 = p[1];
    p[1] = inv01 * p[0];
    p[0] = inv01 * p1;
}

/* What an end hands on from its row s-1 to its row s. */
struct penta_end {
    vec l[3];      /* L(s,s-1) */
    vec l_back[3]; /* L(s-1,s-2) */
    vec p[3];      /* 1/pivot(s-1) = L(s+1,s-1) */
};

/* Column s: U(s-1,s), the pivot, and the entry ahead, which times 1/pivot is L(s+1,s).
 * p_back = 1/pivot(s-2). */
static inline void penta_eliminate(const struct penta_end *e, const vec p_back[3],
                                   const vec behind[3], vec diagonal, const vec ahead[3],
                                   vec above[3], vec pivot[3], vec below[3]) {
    for (int q = 0; q < 3; q++) {
        above[q] = behind[q] - e->l_back[q];
        pivot[q] = (diagonal - p_back[q]) - e->l[q] * above[q];
        below[q] = ahead[q] - e->p[q] * above[q];
    }
}

static const unsigned char penta_matrix[NC] = {0, 0, 0, 1, 2}; /* matrix of each component */

/* One line group in memory. Row s of the group has NC right-hand sides, 1/rho and a, LANES doubles
 * each, at r + s*sr, and the momentum of the direction at m + s*sm. Rows 1 to n-2 are solved in
 * place, for the matrices divided by dt eps4. PENTA_WORK doubles a row, rows -1 to n,
 * at work + s*sw: 1/pivot, then U(s, next). They may lie where 1/rho, a and the momentum are, if
 * those are not wanted afterwards. */
enum { PENTA_WORK = 6 * LANES };

struct penta_line {
    double *r, *work;
    const double *m;
    ptrdiff_t sr, sm, sw;
    int n;
};

/* Sets the rows beside the line: 1/pivot is 0 just before the first row, 1 before that (see above).
 * Lines of the same n in the same work need it once. */
static inline void penta_begin(const struct penta_line *line) {
    for (int q = 0; q < 3; q++) {
        vec_store(line->work - line->sw + q * LANES, vec_set(1));
        vec_store(line->work + q * LANES, vec_set(0));
        vec_store(line->work + (line->n - 1) * line->sw + q * LANES, vec_set(0));
        vec_store(line->work + line->n * line->sw + q * LANES, vec_set(1));
    }
}

static inline void penta_load(const double *p, vec a[3]) {
    for (int q = 0; q < 3; q++) a[q] = vec_load(p + q * LANES);
}
static inline void penta_store(double *p, const vec a[3]) {
    for (int q = 0; q < 3; q++) vec_store(p + q * LANES, a[q]);
}

/* Where an end is. */
struct penta_walk {
    struct penta_end e;
    const double *y1, *y2; /* right-hand sides of rows s-1 and s-2 */
};

static const double penta_zero[NC * LANES] __attribute__((aligned(64)));

/* Row s of one end, but for what needs its pivot's reciprocal; step is +1 from the low end, -1 from
 * the high end. */
PENTA_INLINE void penta_row(const struct penta *c, int step, const struct penta_line *line, int s,
                            const struct penta_walk *w, vec pivot[3], vec below[3]) {
    double *r = line->r + s * line->sr, *work = line->work + s * line->sw;
    vec behind[3], ahead[3], diagonal, above[3], p_back[3];
    penta_column(c, step * c->T, vec_load(r + NC * LANES), vec_load(r + (NC + 1) * LANES),
                 vec_load(line->m + s * line->sm), behind, &diagonal, ahead);
    penta_load(work - 2 * step * line->sw, p_back);
    penta_eliminate(&w->e, p_back, behind, diagonal, ahead, above, pivot, below);
    penta_store(work - step * line->sw + 3 * LANES, above);
    for (int q = 0; q < NC; q++) {
        int t = penta_matrix[q];
        vec y = vec_load(r + q * LANES) - p_back[t] * vec_load(w->y2 + q * LANES) -
                w->e.l[t] * vec_load(w->y1 + q * LANES);
        vec_store(r + q * LANES, y);
    }
}

/* Eliminates row s and goes on to the next. */
PENTA_INLINE void penta_forward(const struct penta *c, int step, const struct penta_line *line,
                                int s, struct penta_walk *w) {
    vec p[3], below[3];
    penta_row(c, step, line, s, w, p, below);
    penta_reciprocals(p);
    penta_store(line->work + s * line->sw, p);
    for (int q = 0; q < 3; q++) {
        w->e.l_back[q] = w->e.l[q];
        w->e.l[q] = below[q] * p[q];
        w->e.p[q] = p[q];
    }
    w->y2 = w->y1;
    w->y1 = line->r + s * line->sr;
}

/* The two middle points, s of the low end and s+1 of the high end. */
PENTA_INLINE void penta_meet(const struct penta *c, const struct penta_line *line, int s,
                             const struct penta_walk *low, const struct penta_walk *high,
                             vec x0[NC], vec x1[NC]) {
    const double *r0 = line->r + s * line->sr, *r1 = r0 + line->sr;
    vec a00[3], a10[3], a11[3], a01[3], det[3];
    penta_row(c, 1, line, s, low, a00, a10);
    penta_row(c, -1, line, s + 1, high, a11, a01);
    for (int q = 0; q < 3; q++) { /* each end's last two rows reach into the other's */
        a00[q] -= high->e.p[q];
        a11[q] -= low->e.p[q];
        a10[q] -= high->e.l[q];
        a01[q] -= low->e.l[q];
        det[q] = a00[q] * a11[q] - a10[q] * a01[q];
    }
    penta_reciprocals(det);
    for (int q = 0; q < NC; q++) {
        int t = penta_matrix[q];
        vec y0 = vec_load(r0 + q * LANES) - high->e.p[t] * vec_load(high->y1 + q * LANES);
        vec y1 = vec_load(r1 + q * LANES) - low->e.p[t] * vec_load(low->y1 + q * LANES);
        x0[q] = (a11[t] * y0 - a01[t] * y1) * det[t];
        x1[q] = (a00[t] * y1 - a10[t] * y0) * det[t];
    }
}

/* Row s from the two rows nearer to the middle, of which x1 is the next. */
static inline void penta_backward(const struct penta_line *line, int s, vec x1[NC], vec x2[NC]) {
    const double *r = line->r + s * line->sr, *work = line->work + s * line->sw;
    vec p[3], above[3];
    penta_load(work, p);
    penta_load(work + 3 * LANES, above);
    for (int q = 0; q < NC; q++) {
        int t = penta_matrix[q];
        vec x = ((vec_load(r + q * LANES) - x2[q]) - above[t] * x1[q]) * p[t];
        x2[q] = x1[q];
        x1[q] = x;
    }
}

/* Gets the rows of the answer one by one, from the middle to the low end, then to the high end; may
 * write the row's own right-hand sides. */
typedef void penta_out(void *context, int s, const vec x[NC]);

/* From the middle to one end. */
PENTA_INLINE void penta_backward_all(const struct penta_line *line, int s, int step,
                                     const vec x1[NC], const vec x2[NC], penta_out *out,
                                     void *context) {
    vec next[NC], far[NC];
    for (int q = 0; q < NC; q++) next[q] = x1[q], far[q] = x2[q];
    for (;;) {
        out(context, s, next);
        s += step;
        if (s < 1 || s > line->n - 2) break;
        penta_backward(line, s, next, far);
    }
}

/* Solves a line group of n >= 5 rows. */
PENTA_INLINE void penta_solve(const struct penta *c, const struct penta_line *line, penta_out *out,
                              void *context) {
    struct penta_walk low = {.y1 = penta_zero, .y2 = penta_zero}, high = low;
    int a = 1, b = line->n - 2;
    if ((b - a) % 2 == 0) penta_forward(c, -1, line, b--, &high);
    for (; b - a > 1; a++, b--) {
        penta_forward(c, 1, line, a, &low);
        penta_forward(c, -1, line, b, &high);
    }
    vec x0[NC], x1[NC];
    penta_meet(c, line, a, &low, &high, x0, x1);
    penta_backward_all(line, a, -1, x0, x1, out, context);
    penta_backward_all(line, b, 1, x1, x0, out, context);
}

#endif
