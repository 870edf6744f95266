/* The matrices' double integrals by brute force; see polar.h. */
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
    double normal[3], grad[3][3], curl[3][3], area;
};

static void plane_of(struct plane *p, const struct mesh *m, int t) {
    for (int e = 0; e < 3; e++) p->corner[e] = m->x[m->corner[t][e]];
    p->area = mesh_normal(m, t, p->normal);
    for (int b = 0; b < 3; b++) { /* normal x (edge opposite to b) points to b */
        double edge[3];
        sub(edge, p->corner[(b + 2) % 3], p->corner[(b + 1) % 3]);
        cross(p->grad[b], p->normal, edge);
        for (int c = 0; c < 3; c++) p->grad[b][c] /= 2 * p->area;
        cross(p->curl[b], p->normal, p->grad[b]);
    }
}

/* what one point sees of one triangle's hat function b, by k: coefficients of curl.curl, of N_a */
struct seen {
    double curl[POLAR_K], hat[POLAR_K];
};

struct sight {
    const struct plane *inner;
    const struct slices_options *o;
    double foot[3], h, nn;
    int b, point; /* point: a potential there, not a test function */
    struct seen *out;
};

static void add(double *to, int k, double v) {
    if (k >= 0 && k < POLAR_K) to[k] += v;
}

static double longest; /* of the mesh */

/* The kernels of the formulation, as functions of time k - r/delta, at distance r; weight d rho has
 * rho, d theta and signs in it. */
static void sample(const struct sight *s, const double y[3], double r, double weight) {
    const double delta = s->o->delta, rho = r / delta;
    double hat = 1;
    for (int c = 0; c < 3; c++) hat += (y[c] - s->inner->corner[s->b][c]) * s->inner->grad[s->b][c];
    const int shell = (int)floor(rho);
    weight /= 4 * M_PI;
    if (s->o->problem == TDBEM_SOFT && (s->point || s->o->eta == 0)) {
        add(s->out->hat, shell, (s->point ? -1 : 1) * weight * hat / r);
        return;
    }
    if (s->o->problem == TDBEM_SOFT) { /* over time steps of delta: differences, and a hat */
        const double layer = s->o->eta * weight * hat * s->h / (r * r * r), u = shell - rho;
        add(s->out->hat, shell,
            (1 / delta + 1 / longest) * weight * hat / r + layer * (1 + u + rho));
        add(s->out->hat, shell + 1, -weight * hat / r / delta + layer * (1 - (u + 1) - rho));
        return;
    }
    for (int k = shell; k <= shell + 2; k++) { /* no kernel has any other k at this distance */
        const double u = k - rho;
        double q = 0, q2 = 0, b = 0;
        if (u >= -1 && u < 0) q = (1 + u) * (1 + u) / 2, q2 = 1, b = 1 + u + rho;
        if (u >= 0 && u < 1) q = 0.5 + u - u * u, q2 = -2, b = 1 - u - rho;
        if (u >= 1 && u < 2) q = (2 - u) * (2 - u) / 2, q2 = 1;
        double before = 0; /* b of k - 1 */
        if (u - 1 >= -1 && u - 1 < 0) before = 1 + (u - 1) + rho;
        if (u - 1 >= 0 && u - 1 < 1) before = 1 - (u - 1) - rho;
        const double layer = weight * hat * s->h / (r * r * r);
        if (s->point) {
            add(s->out->hat, k, layer * b);
            continue;
        }
        add(s->out->curl, k, weight * q / r);
        add(s->out->hat, k, weight * hat * s->nn / (delta * delta) * q2 / r);
        add(s->out->hat, k, -s->o->eta / delta * layer * (b - before));
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

static void see(struct seen *out, const struct plane *inner, const struct slices_options *o,
                const double x[3], double nn, int b, int same, int point) {
    struct sight s = {.inner = inner, .o = o, .nn = nn, .b = b, .point = point, .out = out};
    double v[3];
    memset(out, 0, sizeof *out);
    sub(v, x, inner->corner[0]);
    s.h = same ? 0 : dot(v, inner->normal);
    if (fabs(s.h) < 1e-13) s.h = 0;
    for (int c = 0; c < 3; c++) s.foot[c] = x[c] - s.h * inner->normal[c];
    for (int e = 0; e < 3; e++) fan(&s, e);
}

struct outer {
    const struct plane *T, *P;
    const struct slices_options *o;
    int a, b, same;
};

/* 7-point rule of degree 5 on a part of the outer triangle, given by barycentric corners */
static void rule(double row[POLAR_K], const struct outer *q, double part[3][3]) {
    static const double at[7][3] = {{1 / 3., 1 / 3., 1 / 3.},
                                    {0.059715871789770, 0.470142064105115, 0.470142064105115},
                                    {0.470142064105115, 0.059715871789770, 0.470142064105115},
                                    {0.470142064105115, 0.470142064105115, 0.059715871789770},
                                    {0.797426985353088, 0.101286507323456, 0.101286507323456},
                                    {0.101286507323456, 0.797426985353088, 0.101286507323456},
                                    {0.101286507323456, 0.101286507323456, 0.797426985353088}};
    static const double weight[7] = {0.225,
                                     0.132394152788506,
                                     0.132394152788506,
                                     0.132394152788506,
                                     0.125939180544827,
                                     0.125939180544827,
                                     0.125939180544827};
    /* share of the whole triangle */
    double size = fabs(part[0][0] * (part[1][1] * part[2][2] - part[1][2] * part[2][1]) -
                       part[0][1] * (part[1][0] * part[2][2] - part[1][2] * part[2][0]) +
                       part[0][2] * (part[1][0] * part[2][1] - part[1][1] * part[2][0]));
    const double cc = dot(q->T->curl[q->a], q->P->curl[q->b]), nn = dot(q->T->normal, q->P->normal);
    memset(row, 0, POLAR_K * sizeof *row);
    for (int p = 0; p < 7; p++) {
        double l[3], x[3];
        for (int c = 0; c < 3; c++)
            l[c] = at[p][0] * part[0][c] + at[p][1] * part[1][c] + at[p][2] * part[2][c];
        for (int c = 0; c < 3; c++)
            x[c] =
                l[0] * q->T->corner[0][c] + l[1] * q->T->corner[1][c] + l[2] * q->T->corner[2][c];
        struct seen s;
        see(&s, q->P, q->o, x, nn, q->b, q->same, 0);
        const double w = weight[p] * size * q->T->area;
        for (int k = 0; k < POLAR_K; k++) row[k] += w * (cc * s.curl[k] + l[q->a] * s.hat[k]);
    }
}

static void adapt(double row[POLAR_K], const struct outer *q, double part[3][3],
                  const double coarse[POLAR_K], double tolerance, int depth) {
    double child[4][3][3], fine[4][POLAR_K], middle[3][3], worst = 0;
    for (int e = 0; e < 3; e++)
        for (int c = 0; c < 3; c++) middle[e][c] = 0.5 * (part[e][c] + part[(e + 1) % 3][c]);
    for (int e = 0; e < 3; e++) {
        memcpy(child[e][0], part[e], sizeof part[e]);
        memcpy(child[e][1], middle[e], sizeof part[e]);
        memcpy(child[e][2], middle[(e + 2) % 3], sizeof part[e]);
    }
    memcpy(child[3], middle, sizeof middle);
    for (int n = 0; n < 4; n++) rule(fine[n], q, child[n]);
    for (int k = 0; k < POLAR_K; k++)
        worst = fmax(worst, fabs(fine[0][k] + fine[1][k] + fine[2][k] + fine[3][k] - coarse[k]));
    if (worst < tolerance || depth == 0) {
        for (int n = 0; n < 4; n++)
            for (int k = 0; k < POLAR_K; k++) row[k] += fine[n][k];
        return;
    }
    for (int n = 0; n < 4; n++) adapt(row, q, child[n], fine[n], tolerance / 2, depth - 1);
}

static int corner_of(const struct mesh *m, int t, int v) {
    for (int e = 0; e < 3; e++)
        if (m->corner[t][e] == v) return e;
    return -1;
}

void polar_row(double row[POLAR_K], const struct mesh *m, const struct slices_options *o, int i,
               int j, double tolerance) {
    memset(row, 0, POLAR_K * sizeof *row);
    longest = m->longest;
#pragma omp parallel for schedule(dynamic, 1) collapse(2)
    for (int t = 0; t < m->triangles; t++)
        for (int p = 0; p < m->triangles; p++) {
            /* the normal derivative of a single layer is the transpose of a double layer */
            const int turned = o->problem == TDBEM_SOFT && o->eta > 0;
            const int a = corner_of(m, t, turned ? j : i), b = corner_of(m, p, turned ? i : j);
            if (a < 0 || b < 0) continue;
            struct plane T, P;
            plane_of(&T, m, t);
            plane_of(&P, m, p);
            struct outer q = {&T, &P, o, a, b, t == p};
            double whole[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, coarse[POLAR_K];
            double mine[POLAR_K] = {0};
            rule(coarse, &q, whole);
            adapt(mine, &q, whole, coarse, tolerance / 4, 7);
            const double half = t == p ? T.area / (a == b ? 6 : 12) * o->eta / 2 : 0;
            const int rigid = o->problem == TDBEM_RIGID;
            mine[0] += rigid ? half / o->delta : half;
            if (rigid) mine[1] -= half / o->delta;
#pragma omp critical
            for (int k = 0; k < POLAR_K; k++) row[k] += mine[k];
        }
}

void polar_point(double row[POLAR_K], const struct mesh *m, const struct slices_options *o,
                 const double x[3], int j) {
    memset(row, 0, POLAR_K * sizeof *row);
    for (int p = 0; p < m->triangles; p++) {
        const int b = corner_of(m, p, j);
        if (b < 0) continue;
        struct plane P;
        struct seen s;
        plane_of(&P, m, p);
        see(&s, &P, o, x, 0, b, 0, 1);
        for (int k = 0; k < POLAR_K; k++) row[k] += s.hat[k];
    }
}
