/* Potentials of hat functions by brute force; see polar.h. */
#include "polar.h"
#include <math.h>
#include <string.h>

enum { GAUSS = 8 };
static const double gauss_at[GAUSS] = {
    -0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
    0.1834346424956498,  0.5255324099163290,  0.7966664774136267,  0.9602898564975363};
static const double gauss_weight[GAUSS] = {
    0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
    0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void sub(double d[3], const double a[3], const double b[3]) {
    for (int c = 0; c < 3; c++) d[c] = a[c] - b[c];
}
static void cross(double c[3], const double a[3], const double b[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

struct plane {
    const double *corner[3];
    double normal[3], grad[3][3];
};

static void plane_of(struct plane *p, const struct mesh *m, int t) {
    for (int e = 0; e < 3; e++) p->corner[e] = m->x[m->corner[t][e]];
    const double area = mesh_normal(m, t, p->normal);
    for (int b = 0; b < 3; b++) { /* normal x (edge opposite to b) points to b */
        double edge[3];
        sub(edge, p->corner[(b + 2) % 3], p->corner[(b + 1) % 3]);
        cross(p->grad[b], p->normal, edge);
        for (int c = 0; c < 3; c++) p->grad[b][c] /= 2 * area;
    }
}

/* What a point sees of a triangle's hat function b, which is added to row[k]. */
struct sight {
    const struct plane *inner;
    const struct slices_options *o;
    double foot[3], h, *row;
    int b;
};

static void add(double *to, int k, double v) {
    if (k >= 0 && k < POLAR_K) to[k] += v;
}

/* The kernel of a potential at a point, as a function of time k - r/delta, at distance r; weight
 * d rho has rho, d theta and signs in it. */
static void sample(const struct sight *s, const double y[3], double r, double weight) {
    const double rho = r / s->o->delta;
    const int shell = (int)floor(rho);
    double hat = weight / (4 * M_PI);
    for (int c = 0; c < 3; c++)
        hat += weight / (4 * M_PI) * (y[c] - s->inner->corner[s->b][c]) * s->inner->grad[s->b][c];
    if (s->o->problem == TDBEM_SOFT) {
        add(s->row, shell, -hat / r);
        return;
    }
    for (int k = shell; k <= shell + 1; k++) { /* no kernel has any other k at this distance */
        const double u = k - rho, b = u < 0 ? 1 + u + rho : 1 - u - rho;
        if (u >= -1 && u < 1) add(s->row, k, hat * s->h / (r * r * r) * b);
    }
}

/* along a ray from the foot out to rho_end; the substitution rho = |h| sinh u keeps small heights
 * smooth */
static void ray(const struct sight *s, const double direction[3], double rho_end, double weight) {
    const double h = fabs(s->h), delta = s->o->delta;
    const double r_end = sqrt(rho_end * rho_end + h * h);
    double r = h;
    while (r < r_end) {
        double next = (floor(r / delta * (1 + 1e-14) + 1e-14) + 1) * delta;
        if (next > r_end) next = r_end;
        double from, to;
        const int flat = h < 1e-13 * (r_end + delta);
        if (flat)
            from = r, to = next;
        else
            from = acosh(fmax(1, r / h)), to = acosh(fmax(1, next / h));
        int pieces = flat ? 1 : 1 + (int)((to - from) / 1.2);
        for (int p = 0; p < pieces; p++) {
            double a = from + (to - from) * p / pieces, b = from + (to - from) * (p + 1) / pieces;
            for (int g = 0; g < GAUSS; g++) {
                double u = 0.5 * (a + b) + 0.5 * (b - a) * gauss_at[g], rho, at, jacobian, y[3];
                if (flat)
                    rho = at = u, jacobian = u;
                else
                    rho = h * sinh(u), at = h * cosh(u), jacobian = rho * at;
                for (int c = 0; c < 3; c++) y[c] = s->foot[c] + rho * direction[c];
                sample(s, y, at, weight * gauss_weight[g] * 0.5 * (b - a) * jacobian);
            }
        }
        r = next;
    }
}

/* one edge's signed fan of rays; along the edge s = d sinh w, so that the angle is smooth in w */
static void fan(const struct sight *s, int e) {
    const double *a = s->inner->corner[(e + 1) % 3], *b = s->inner->corner[(e + 2) % 3];
    double t[3], nu[3], v[3];
    sub(t, b, a);
    const double length = sqrt(dot(t, t));
    for (int c = 0; c < 3; c++) t[c] /= length;
    cross(nu, t, s->inner->normal);
    sub(v, a, s->foot);
    const double d = dot(v, nu), from = dot(v, t), to = from + length, ad = fabs(d);
    if (ad < 1e-13 * (fabs(from) + length)) return;
    double cut[2 * POLAR_K + 3];
    int cuts = 0;
    cut[cuts++] = from;
    const double l2 = d * d + s->h * s->h;
    for (int k = POLAR_K - 1; k > 0; k--) { /* where spheres cross the edge */
        double c2 = k * s->o->delta * k * s->o->delta - l2;
        if (c2 > 0 && -sqrt(c2) > from && -sqrt(c2) < to) cut[cuts++] = -sqrt(c2);
    }
    for (int k = 1; k < POLAR_K; k++) {
        double c2 = k * s->o->delta * k * s->o->delta - l2;
        if (c2 > 0 && sqrt(c2) > from && sqrt(c2) < to) cut[cuts++] = sqrt(c2);
    }
    cut[cuts++] = to;
    for (int i = 0; i + 1 < cuts; i++) {
        const double w0 = asinh(cut[i] / ad), w1 = asinh(cut[i + 1] / ad);
        const int pieces = 1 + (int)((w1 - w0) / 0.8);
        for (int p = 0; p < pieces; p++) {
            double lo = w0 + (w1 - w0) * p / pieces, hi = w0 + (w1 - w0) * (p + 1) / pieces;
            for (int g = 0; g < GAUSS; g++) {
                double w = 0.5 * (lo + hi) + 0.5 * (hi - lo) * gauss_at[g];
                double rho = ad * cosh(w), along = ad * sinh(w), direction[3];
                for (int c = 0; c < 3; c++) direction[c] = (d * nu[c] + along * t[c]) / rho;
                /* d theta = dw / cosh w, signed by the side of the edge */
                ray(s, direction, rho,
                    (d > 0 ? 1 : -1) * gauss_weight[g] * 0.5 * (hi - lo) / cosh(w));
            }
        }
    }
}

static void see(double *row, const struct plane *inner, const struct slices_options *o,
                const double x[3], int b) {
    struct sight s = {.inner = inner, .o = o, .b = b, .row = row};
    double v[3];
    sub(v, x, inner->corner[0]);
    s.h = dot(v, inner->normal);
    if (fabs(s.h) < 1e-13) s.h = 0;
    for (int c = 0; c < 3; c++) s.foot[c] = x[c] - s.h * inner->normal[c];
    for (int e = 0; e < 3; e++) fan(&s, e);
}

static int corner_of(const struct mesh *m, int t, int v) {
    for (int e = 0; e < 3; e++)
        if (m->corner[t][e] == v) return e;
    return -1;
}

void polar_point(double row[POLAR_K], const struct mesh *m, const struct slices_options *o,
                 const double x[3], int j) {
    memset(row, 0, POLAR_K * sizeof *row);
    for (int p = 0; p < m->triangles; p++) {
        const int b = corner_of(m, p, j);
        if (b < 0) continue;
        struct plane P;
        plane_of(&P, m, p);
        see(row, &P, o, x, b);
    }
}
