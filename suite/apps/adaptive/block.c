/* The scheme on one block. */
#include "adaptive/block.h"
#include <math.h>
#include <string.h>

static const double GAMMA = 1.4, STRENGTH = 5, PI = 3.14159265358979323846;

/* ---- the exact solution -------------------------------------------------------------------- */

/* The nearest distance from the vortex, which begins in the middle and moves by (1, 1). */
static double distance(double at, double time, double square) {
    const double d = at - square / 2 - time;
    return d - square * floor(d / square + 0.5);
}

void block_exact(const struct frame *f, double time, int i, int j, double u[FIELDS]) {
    const double x = distance(f->x + (i + 0.5) * f->h, time, f->square);
    const double y = distance(f->y + (j + 0.5) * f->h, time, f->square);
    const double e = exp((1 - x * x - y * y) / 2);
    const double turn = STRENGTH / (2 * PI) * e, vx = 1 - turn * y, vy = 1 + turn * x;
    const double density = pow(1 - (GAMMA - 1) / (2 * GAMMA) * turn * turn, 1 / (GAMMA - 1));
    u[0] = density;
    u[1] = density * vx;
    u[2] = density * vy;
    u[3] = pow(density, GAMMA) / (GAMMA - 1) + density * (vx * vx + vy * vy) / 2;
}

void adaptive_block_start(struct block *b, const struct frame *f) {
    double u[FIELDS];
    memset(b, 0, sizeof *b);
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            block_exact(f, 0, i, j, u);
            for (int k = 0; k < FIELDS; k++) b->u[k][j + GHOSTS][i + GHOSTS] = u[k];
        }
}

struct sums block_sums(const struct block *b, const struct frame *f, double time) {
    struct sums s = {0};
    double u[FIELDS];
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            block_exact(f, time, i, j, u);
            s.error += fabs(b->u[0][j + GHOSTS][i + GHOSTS] - u[0]);
            s.mass += b->u[0][j + GHOSTS][i + GHOSTS];
            s.energy += b->u[3][j + GHOSTS][i + GHOSTS];
        }
    s.error *= f->h * f->h;
    s.mass *= f->h * f->h;
    s.energy *= f->h * f->h;
    return s;
}

/* ---- ghosts beside coarser blocks ---------------------------------------------------------- */

/* Where cell (along, out) of a side is in a field: `out` -2 and -1 are ghosts, from 0 on cells. */
static double *at_side(double u[PITCH][PITCH], int side, int along, int out) {
    const int across = side % 2 ? CELLS - 1 - out : out;
    return side < 2 ? &u[along + GHOSTS][across + GHOSTS] : &u[across + GHOSTS][along + GHOSTS];
}

/* Ghosts repeat a coarse value 2 x 2 times. Linear ones instead: along the side by the coarse
 * neighbours, across it towards the mean of the cells in front. */
static void smooth_ghosts(double u[PITCH][PITCH], int side) {
    double coarse[CELLS / 2], front[CELLS / 2];
    for (int c = 0; c < CELLS / 2; c++) {
        coarse[c] = *at_side(u, side, 2 * c, -1);
        front[c] = (*at_side(u, side, 2 * c, 0) + *at_side(u, side, 2 * c + 1, 0) +
                    *at_side(u, side, 2 * c, 1) + *at_side(u, side, 2 * c + 1, 1)) /
                   4;
    }
    for (int c = 0; c < CELLS / 2; c++) {
        const int lo = c ? c - 1 : c, hi = c < CELLS / 2 - 1 ? c + 1 : c;
        const double along = (coarse[hi] - coarse[lo]) / (hi - lo) / 4;
        const double across = (front[c] - coarse[c]) / 4;
        for (int out = -2; out < 0; out++)
            for (int half = 0; half < 2; half++)
                *at_side(u, side, 2 * c + half, out) =
                    coarse[c] + (half ? along : -along) + (out == -1 ? across : -across);
    }
}

/* ---- fluxes -------------------------------------------------------------------------------- */

enum { LINE = CELLS + 1 }; /* interfaces of a line of cells */

/* Density, velocity along the line and across it, pressure, of the cells of a line. */
struct line {
    double w[FIELDS][PITCH];
};

static void to_primitive(struct line *l, const double *rho, const double *along,
                         const double *across, const double *energy, int step) {
    for (int i = 0; i < PITCH; i++) {
        const double r = rho[i * step], a = along[i * step] / r, b = across[i * step] / r;
        l->w[0][i] = r;
        l->w[1][i] = a;
        l->w[2][i] = b;
        l->w[3][i] = (GAMMA - 1) * (energy[i * step] - r * (a * a + b * b) / 2);
    }
}

/* Half of van Leer's slope of the middle one of three values. */
static inline double half_slope(double a, double b, double c) {
    const double left = b - a, right = c - b, product = left * right;
    return product > 0 ? product / (left + right) : 0;
}

/* Values left and right of each interface. */
static void reconstruct(const double w[PITCH], double left[LINE], double right[LINE]) {
    for (int i = 0; i < LINE; i++) {
        const double a = w[i], b = w[i + 1], c = w[i + 2], d = w[i + 3];
        left[i] = b + half_slope(a, b, c);
        right[i] = c - half_slope(b, c, d);
    }
}

/* Conserved values and fluxes of a state. */
static inline void expand(const double w[FIELDS], double u[FIELDS], double f[FIELDS]) {
    u[0] = w[0];
    u[1] = w[0] * w[1];
    u[2] = w[0] * w[2];
    u[3] = w[3] / (GAMMA - 1) + w[0] * (w[1] * w[1] + w[2] * w[2]) / 2;
    f[0] = u[1];
    f[1] = u[1] * w[1] + w[3];
    f[2] = u[1] * w[2];
    f[3] = (u[3] + w[3]) * w[1];
}

/* HLL with the estimate of Davis: signals are the extremes of both sides. */
static void line_fluxes(const struct line *l, double flux[FIELDS][LINE]) {
    double left[FIELDS][LINE], right[FIELDS][LINE];
    for (int k = 0; k < FIELDS; k++) reconstruct(l->w[k], left[k], right[k]);
    for (int i = 0; i < LINE; i++) {
        double a[FIELDS], b[FIELDS], ua[FIELDS], ub[FIELDS], fa[FIELDS], fb[FIELDS];
        for (int k = 0; k < FIELDS; k++) a[k] = left[k][i], b[k] = right[k][i];
        expand(a, ua, fa);
        expand(b, ub, fb);
        const double ca = sqrt(GAMMA * a[3] / a[0]), cb = sqrt(GAMMA * b[3] / b[0]);
        const double lo = fmin(fmin(a[1] - ca, b[1] - cb), 0);
        const double hi = fmax(fmax(a[1] + ca, b[1] + cb), 0), over = 1 / (hi - lo);
        for (int k = 0; k < FIELDS; k++)
            flux[k][i] = (hi * fa[k] - lo * fb[k] + hi * lo * (ub[k] - ua[k])) * over;
    }
}

/* ---- a stage ------------------------------------------------------------------------------- */

/* Adds a stage's fluxes through a side: each of two stages counts half. */
static void keep_fluxes(struct block *b, int stage, int side, int along, int k, double flux) {
    double *kept = &b->flux[side][k][along];
    *kept = (stage ? *kept : 0) + flux / 2;
}

static void add_lines(struct block *b, int stage, int y, double rate[FIELDS][CELLS][CELLS]) {
    const int one = y ? 2 : 1, other = y ? 1 : 2, step = y ? PITCH : 1;
    for (int n = 0; n < CELLS; n++) {
        struct line l;
        double flux[FIELDS][LINE];
        const double *u = (const double *)b->u + (y ? n + GHOSTS : (n + GHOSTS) * PITCH);
        to_primitive(&l, u, u + one * AREA, u + other * AREA, u + 3 * AREA, step);
        line_fluxes(&l, flux);
        for (int k = 0; k < FIELDS; k++) {
            const double *f = flux[k == 1 ? one : k == 2 ? other : k];
            for (int i = 0; i < CELLS; i++)
                *(y ? &rate[k][i][n] : &rate[k][n][i]) += f[i] - f[i + 1];
            keep_fluxes(b, stage, 2 * y, n, k, f[0]);
            keep_fluxes(b, stage, 2 * y + 1, n, k, f[CELLS]);
        }
    }
}

void block_stage(struct block *b, int stage, double dt, double h, const char coarser[4]) {
    double rate[FIELDS][CELLS][CELLS] = {0};
    for (int side = 0; side < 4; side++)
        for (int k = 0; coarser[side] && k < FIELDS; k++) smooth_ghosts(b->u[k], side);
    add_lines(b, stage, 0, rate);
    add_lines(b, stage, 1, rate);
    for (int k = 0; k < FIELDS; k++)
        for (int j = 0; j < CELLS; j++)
            for (int i = 0; i < CELLS; i++) {
                double *u = &b->u[k][j + GHOSTS][i + GHOSTS], *old = &b->old[k][j][i];
                const double next = *u + dt / h * rate[k][j][i];
                if (!stage) *old = *u;
                *u = stage ? (*old + next) / 2 : next;
            }
}

void block_correct(struct block *b, double dt, double h, const char finer[4]) {
    for (int side = 0; side < 4; side++)
        for (int k = 0; finer[side] && k < FIELDS; k++)
            for (int i = 0; i < CELLS; i++) {
                const double more = b->finer[side][k][i] - b->flux[side][k][i];
                *at_side(b->u[k], side, i, 0) += dt / h * (side % 2 ? -more : more);
            }
}

/* ---- changes ------------------------------------------------------------------------------- */

double block_steepness(const struct block *b) {
    double most = 0;
    for (int j = GHOSTS; j < CELLS + GHOSTS - 1; j++)
        for (int i = GHOSTS; i < CELLS + GHOSTS - 1; i++) {
            const double u = b->u[0][j][i];
            most = fmax(most, fmax(fabs(b->u[0][j][i + 1] - u), fabs(b->u[0][j + 1][i] - u)));
        }
    return most;
}

/* Slope of cells of a block along a direction, from the cells of the block alone. */
static double slope_of(const double *u, int at, int step) {
    const double left = at ? u[0] - u[-step] : 0, right = at < CELLS - 1 ? u[step] - u[0] : 0;
    if (!at || at == CELLS - 1) return at ? left : right;
    return 2 * half_slope(u[-step], u[0], u[step]);
}

void block_refine(struct block *child, const struct block *parent, int quarter) {
    const int x = quarter % 2 * CELLS / 2, y = quarter / 2 * CELLS / 2;
    for (int k = 0; k < FIELDS; k++)
        for (int j = 0; j < CELLS; j++)
            for (int i = 0; i < CELLS; i++) {
                const int pi = x + i / 2, pj = y + j / 2;
                const double *u = &parent->u[k][pj + GHOSTS][pi + GHOSTS];
                const double sx = slope_of(u, pi, 1) / 4, sy = slope_of(u, pj, PITCH) / 4;
                child->u[k][j + GHOSTS][i + GHOSTS] = *u + (i % 2 ? sx : -sx) + (j % 2 ? sy : -sy);
            }
}

void block_merge(struct block *parent, const struct block *child, int quarter) {
    const int x = quarter % 2 * CELLS / 2, y = quarter / 2 * CELLS / 2;
    for (int k = 0; k < FIELDS; k++)
        for (int j = 0; j < CELLS / 2; j++)
            for (int i = 0; i < CELLS / 2; i++) {
                const double *u = &child->u[k][2 * j + GHOSTS][2 * i + GHOSTS];
                parent->u[k][y + j + GHOSTS][x + i + GHOSTS] =
                    (u[0] + u[1] + u[PITCH] + u[PITCH + 1]) / 4;
            }
}
