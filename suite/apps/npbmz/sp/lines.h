/* SP's lines in a host core's memory: LANES grid lines at once, solved in place by the rows of
 * penta.h.
 *
 * Cost of a row of LANES points: 54 multiply-adds and a division (3 more instructions): 28.5 cycles
 * on two ports. 24 loads and 11 stores forward, 11 loads backward; the work stays in the
 * first-level cache. Cycles on Zen 3 and Zen 5, and variants that were no faster:
 * docs/notes/tuning.md. */
#pragma once

#include "common/simd/lanes.h"
#include "npbmz/sp/penta.h"
#include "npbmz/problem.h"

/* One line group in memory. Row s of the group has NC right-hand sides, 1/rho and a, LANES doubles
 * each, at r + s*sr, and the momentum of the direction at m + s*sm. Rows 1 to n-2 are solved in
 * place, for the matrices divided by dt eps4. PENTA_WORK doubles a row, rows -1 to n,
 * at work + s*sw: 1/pivot, then U(s, next). They may lie where 1/rho, a and the momentum are, if
 * those are not wanted afterwards. */
enum { PENTA_WORK = 6 * LANES };

/* Whether there are 16 vector registers, not 32. What an end hands on, L(s,s-1), L(s-1,s-2) and
 * 1/pivot(s-1) of three matrices, is 18 vectors for two ends; so U(s,s+1) is made one row ahead and
 * goes to its place at once, for a multiplication, a multiply-add and 6 loads more, and nothing is
 * spilled. */
#if LANES == 8 || defined(__aarch64__)
enum { PENTA_FEW = 0 };
#else
enum { PENTA_FEW = 1 };
#endif

struct penta_line {
    double *r, *work;
    const double *m;
    ptrdiff_t sr, sm, sw;
    int n;
};

/* Sets the rows beside the line: 1/pivot is 0 just before the first row, 1 before that (penta.h).
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

/* State of an end, before its row s. */
struct penta_walk {
    vec l[3];              /* L(s,s-1) */
    vec l_back[3];         /* L(s-1,s-2); not of PENTA_FEW */
    const double *y1, *y2; /* right-hand sides of rows s-1 and s-2 */
};

static const double penta_zero[NC * LANES] __attribute__((aligned(64)));

/* The column of row s; step is +1 from the low end, -1 from the high end. */
INLINE void penta_at(const struct penta *c, int step, const struct penta_line *line, int s,
                     vec behind[3], vec *diagonal, vec ahead[3]) {
    const double *r = line->r + s * line->sr;
    penta_column(c, step * c->T, vec_load(r + NC * LANES), vec_load(r + (NC + 1) * LANES),
                 vec_load(line->m + s * line->sm), behind, diagonal, ahead);
}

/* U(s-step,s), from l = L(s-step,s-2step), to its place. */
INLINE void penta_above(const struct penta *c, int step, const struct penta_line *line, int s,
                        const vec l[3]) {
    double *above = line->work + (s - step) * line->sw + 3 * LANES;
    vec behind[3], ahead[3], diagonal;
    penta_at(c, step, line, s, behind, &diagonal, ahead);
    for (int t = 0; t < 3; t++) vec_store(above + t * LANES, behind[t] - l[t]);
}

/* Before the first row. Each value by itself, here and below: of a loop that only copies gcc makes
 * copies in memory, by halves of a vector, for which loads of the whole have to wait. */
INLINE void penta_start(const struct penta *c, int step, const struct penta_line *line, int s,
                        struct penta_walk *w) {
    w->l[0] = w->l[1] = w->l[2] = vec_set(0);
    w->l_back[0] = w->l_back[1] = w->l_back[2] = vec_set(0);
    w->y1 = w->y2 = penta_zero;
    if (PENTA_FEW) penta_above(c, step, line, s, w->l);
}

/* Row s of one end, but for what needs its pivot's reciprocal. */
INLINE void penta_row(const struct penta *c, int step, const struct penta_line *line, int s,
                      const struct penta_walk *w, vec pivot[3], vec below[3]) {
    double *r = line->r + s * line->sr, *work1 = line->work + (s - step) * line->sw;
    const double *work2 = work1 - step * line->sw;
    vec behind[3], ahead[3], diagonal;
    penta_at(c, step, line, s, behind, &diagonal, ahead);
    for (int t = 0; t < 3; t++) {
        double *at = work1 + (3 + t) * LANES;
        if (!PENTA_FEW) vec_store(at, behind[t] - w->l_back[t]);
        vec above = vec_load(at), p_back = vec_load(work2 + t * LANES);
        pivot[t] = penta_pivot(diagonal, p_back, w->l[t], above);
        below[t] = penta_below(ahead[t], vec_load(work1 + t * LANES), above);
        for (int q = t == 0 ? 0 : t + 2; q < t + 3; q++)
            vec_store(r + q * LANES,
                      penta_right(vec_load(r + q * LANES), p_back, vec_load(w->y2 + q * LANES),
                                  w->l[t], vec_load(w->y1 + q * LANES)));
    }
}

/* Eliminates row s and goes on to the next. */
INLINE void penta_forward(const struct penta *c, int step, const struct penta_line *line, int s,
                          struct penta_walk *w) {
    vec p[3], below[3];
    if (PENTA_FEW) penta_above(c, step, line, s + step, w->l);
    penta_row(c, step, line, s, w, p, below);
    penta_reciprocals(p);
    penta_store(line->work + s * line->sw, p);
    for (int t = 0; t < 3; t++) {
        w->l_back[t] = w->l[t];
        w->l[t] = below[t] * p[t];
    }
    w->y2 = w->y1;
    w->y1 = line->r + s * line->sr;
}

/* The two middle points, s of the low end and s+1 of the high end. */
INLINE void penta_meet(const struct penta *c, const struct penta_line *line, int s,
                       const struct penta_walk *low, const struct penta_walk *high, vec x0[NC],
                       vec x1[NC]) {
    const double *r0 = line->r + s * line->sr, *r1 = r0 + line->sr;
    vec a00[3], a10[3], a11[3], a01[3], det[3], low_p[3], high_p[3];
    penta_row(c, 1, line, s, low, a00, a10);
    penta_row(c, -1, line, s + 1, high, a11, a01);
    penta_load(line->work + (s - 1) * line->sw, low_p);
    penta_load(line->work + (s + 2) * line->sw, high_p);
    for (int q = 0; q < 3; q++) { /* each end's last two rows reach into the other's */
        a00[q] -= high_p[q];
        a11[q] -= low_p[q];
        a10[q] -= high->l[q];
        a01[q] -= low->l[q];
        det[q] = a00[q] * a11[q] - a10[q] * a01[q];
    }
    penta_reciprocals(det);
    for (int q = 0; q < NC; q++) {
        int t = penta_matrix(q);
        vec y0 = vec_load(r0 + q * LANES) - high_p[t] * vec_load(high->y1 + q * LANES);
        vec y1 = vec_load(r1 + q * LANES) - low_p[t] * vec_load(low->y1 + q * LANES);
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
        int t = penta_matrix(q);
        vec x = penta_back(vec_load(r + q * LANES), x2[q], above[t], x1[q], p[t]);
        x2[q] = x1[q];
        x1[q] = x;
    }
}

/* Gets the rows of the answer one by one, from the middle to the low end, then to the high end; may
 * write the row's own right-hand sides. */
typedef void penta_out(void *context, int s, const vec x[NC]);

INLINE void penta_copy(vec to[NC], const vec from[NC]) {
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3], to[4] = from[4];
}

/* Back substitution from the middle of a line to one end. */
INLINE void penta_backward_all(const struct penta_line *line, int s, int step, const vec x1[NC],
                               const vec x2[NC], penta_out *out, void *context) {
    vec next[NC], far[NC];
    penta_copy(next, x1);
    penta_copy(far, x2);
    for (;;) {
        out(context, s, next);
        s += step;
        if (s < 1 || s > line->n - 2) break;
        penta_backward(line, s, next, far);
    }
}

/* Solves a line group of n >= 5 rows. */
INLINE void penta_solve(const struct penta *c, const struct penta_line *line, penta_out *out,
                        void *context) {
    struct penta_walk low, high;
    int a = 1, b = line->n - 2;
    penta_start(c, 1, line, a, &low);
    penta_start(c, -1, line, b, &high);
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
