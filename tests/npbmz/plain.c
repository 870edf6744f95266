/* NPB-MZ written plainly; plain.h says what for.
 *
 * Nothing here is clever: matrices are full, every line is gathered into an array, solved and put
 * back, and LU's sweeps go through the points in their natural order.
 */
#include "plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gas and scheme (RNR-94-007, section 3) */
static const double gamma_1 = 1.4, gamma_2 = 0.4, visc = 0.1, heat = 1.96, cond = 0.196;
static const double second[3] = {0.75, 0.75, 1.0}, fourth = 0.25, relax = 1.2;

size_t plain_points(const struct plain_zone *z) { return (size_t)z->nx * z->ny * z->nz; }

size_t plain_at(const struct plain_zone *z, int i, int j, int k) {
    return ((size_t)k * z->ny + j) * z->nx + i;
}

static void *get_memory(size_t bytes) {
    void *p = calloc(bytes, 1);
    if (!p) {
        fprintf(stderr, "plain: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

plain_point *plain_field(const struct plain_zone *z) {
    return get_memory(plain_points(z) * sizeof(plain_point));
}

void plain_zone_open(struct plain_zone *z, enum npbmz_benchmark b, int nx, int ny, int nz,
                     const double h[3], double dt) {
    *z = (struct plain_zone){.nx = nx, .ny = ny, .nz = nz, .benchmark = b, .dt = dt};
    memcpy(z->h, h, sizeof z->h);
    z->u = plain_field(z);
    z->f = plain_field(z);
    if (b == NPBMZ_LU) z->r = plain_field(z);
}

void plain_zone_close(struct plain_zone *z) {
    free(z->u);
    free(z->f);
    free(z->r);
    z->u = z->f = z->r = NULL;
}

/* For all interior points (i,j,k). */
#define INTERIOR(z)                                                                                \
    for (int k = 1; k <= (z)->nz - 2; k++)                                                         \
        for (int j = 1; j <= (z)->ny - 2; j++)                                                     \
            for (int i = 1; i <= (z)->nx - 2; i++)
#define ALL(z)                                                                                     \
    for (int k = 0; k < (z)->nz; k++)                                                              \
        for (int j = 0; j < (z)->ny; j++)                                                          \
            for (int i = 0; i < (z)->nx; i++)

static int is_interior(const struct plain_zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}

/* ---- the mesh ------------------------------------------------------------------------------ */

static void cut(int g, int parts, double ratio, int *width) {
    int end = 0;
    for (int i = 1; i <= parts; i++) {
        int next = g * i / parts;
        if (ratio > 1) {
            double r = pow(ratio, 1.0 / (parts - 1));
            double s = g * (r - 1) / (pow(r, parts) - 1);
            next = (int)floor(s * (pow(r, i) - 1) / (r - 1) + 0.45);
        }
        width[i - 1] = next - end;
        end = next;
    }
}

void plain_open(struct plain *p, enum npbmz_benchmark b, char class_) {
    memset(p, 0, sizeof *p);
    p->benchmark = b;
    double ratio = b == NPBMZ_BT ? 4.5 : 1;
    double bt = 0, sp = 0, lu = 0;
    int bt_steps = 200, sp_steps = 400, lu_steps = 250;
    int n = 4;
    switch (class_) {
    case 'S':
        p->gx = p->gy = 24, p->gz = 6, n = 2;
        bt = 1e-2, sp = 1.5e-2, lu = 0.5;
        bt_steps = 60, sp_steps = 100, lu_steps = 50;
        if (b == NPBMZ_BT) ratio = 3;
        break;
    case 'W':
        p->gx = p->gy = 64, p->gz = 8;
        bt = 8e-4, sp = 1.5e-3, lu = 1.5e-3;
        lu_steps = 300;
        break;
    case 'A':
        p->gx = p->gy = 128, p->gz = 16;
        bt = 8e-4, sp = 1.5e-3, lu = 2;
        break;
    case 'B':
        p->gx = 304, p->gy = 208, p->gz = 17, n = 8;
        bt = 3e-4, sp = 1e-3, lu = 2;
        break;
    case 'C':
        p->gx = 480, p->gy = 320, p->gz = 28, n = 16;
        bt = 1e-4, sp = 6.7e-4, lu = 2;
        break;
    default: fprintf(stderr, "plain: no class %c\n", class_); exit(1);
    }
    if (b == NPBMZ_LU) n = 4;
    p->xzones = p->yzones = n;
    p->zones = n * n;
    p->dt = b == NPBMZ_BT ? bt : b == NPBMZ_SP ? sp : lu;
    p->steps = b == NPBMZ_BT ? bt_steps : b == NPBMZ_SP ? sp_steps : lu_steps;
    if (b == NPBMZ_LU) {
        p->h[0] = 1 / ((double)p->gx / n - 1);
        p->h[1] = 1 / ((double)p->gy / n - 1);
    } else {
        p->h[0] = (double)n / (p->gx - 1);
        p->h[1] = (double)n / (p->gy - 1);
    }
    p->h[2] = 1.0 / (p->gz - 1);

    int wx[16], wy[16];
    cut(p->gx, n, ratio, wx);
    cut(p->gy, n, ratio, wy);
    p->zone = get_memory((size_t)p->zones * sizeof *p->zone);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            struct plain_zone *z = &p->zone[i + j * n];
            plain_zone_open(z, b, wx[i], wy[j], p->gz, p->h, p->dt);
            z->west = (i == 0 ? n - 1 : i - 1) + j * n;
            z->east = (i == n - 1 ? 0 : i + 1) + j * n;
            z->south = i + (j == 0 ? n - 1 : j - 1) * n;
            z->north = i + (j == n - 1 ? 0 : j + 1) * n;
            plain_initial(z, z->u);
            plain_forcing(z, z->f);
        }
    plain_prepare(p);
}

void plain_close(struct plain *p) {
    for (int n = 0; n < p->zones; n++) plain_zone_close(&p->zone[n]);
    free(p->zone);
    p->zone = NULL;
}

void plain_get(const struct zone *z, const double *field, plain_point *a) {
    size_t p = 0;
    ALL(z) {
        for (int m = 0; m < 5; m++) a[p][m] = field[m * z->sc + k * z->sk + j * z->sj + i];
        p++;
    }
}

void plain_put(const struct zone *z, double *field, const plain_point *a) {
    size_t p = 0;
    ALL(z) {
        for (int m = 0; m < 5; m++) field[m * z->sc + k * z->sk + j * z->sj + i] = a[p][m];
        p++;
    }
}

void plain_zone_of(struct plain_zone *q, const struct problem *p, const struct zone *z) {
    plain_zone_open(q, p->benchmark, z->nx, z->ny, z->nz, p->h, p->dt);
    q->west = z->west, q->east = z->east, q->south = z->south, q->north = z->north;
    plain_get(z, z->u, q->u);
    plain_get(z, z->f, q->f);
    if (z->r) plain_get(z, z->r, q->r);
}

double plain_difference(const struct plain_zone *z, const plain_point *a, const plain_point *b) {
    double worst = 0;
    for (int m = 0; m < 5; m++) {
        double difference = 0, largest = 0;
        for (size_t p = 0; p < plain_points(z); p++) {
            double e = fabs(a[p][m] - b[p][m]);
            if (isnan(e)) return e;
            difference = fmax(difference, e);
            largest = fmax(largest, fabs(b[p][m]));
        }
        if (difference > 0) worst = fmax(worst, largest > 0 ? difference / largest : INFINITY);
    }
    return worst;
}

/* a number from 0 to 1 */
static double random_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

void plain_gas(const struct plain_zone *z, plain_point *u, unsigned seed) {
    uint64_t state = seed * 7919u + 1;
    for (size_t p = 0; p < plain_points(z); p++) {
        double rho = 1 + random_number(&state), kinetic = 0;
        u[p][0] = rho;
        for (int n = 1; n <= 3; n++) {
            double v = random_number(&state) - 0.5;
            u[p][n] = rho * v;
            kinetic += 0.5 * rho * v * v;
        }
        u[p][4] = (0.5 + random_number(&state)) / gamma_2 + kinetic;
    }
}

void plain_noise(const struct plain_zone *z, plain_point *a, unsigned seed, int interior_only) {
    uint64_t state = seed * 104729u + 1;
    ALL(z)
    for (int m = 0; m < 5; m++) {
        double x = 2 * random_number(&state) - 1;
        a[plain_at(z, i, j, k)][m] = interior_only && !is_interior(z, i, j, k) ? 0 : x;
    }
}

/* ---- exact solution and initial state (RNR-94-007, section 3) ------------------------------- */

static void exact_solution(const double x[3], plain_point u) {
    /* constant; x, y, z; x^2, y^2, z^2; cubes; fourth powers */
    static const double K[5][13] = {
        {2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
        {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
        {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
        {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
        {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
    };
    for (int m = 0; m < 5; m++) {
        u[m] = K[m][0];
        for (int d = 0; d < 3; d++)
            u[m] += x[d] * (K[m][1 + d] +
                            x[d] * (K[m][4 + d] + x[d] * (K[m][7 + d] + x[d] * K[m][10 + d])));
    }
}

static void coordinates(const struct plain_zone *z, int i, int j, int k, double x[3]) {
    if (z->benchmark == NPBMZ_LU) {
        x[0] = (double)i / (z->nx - 1);
        x[1] = (double)j / (z->ny - 1);
        x[2] = (double)k / (z->nz - 1);
    } else {
        x[0] = i * z->h[0];
        x[1] = j * z->h[1];
        x[2] = k * z->h[2];
    }
}

/* Exact solution at x, but with coordinate d replaced by `value`. */
static void exact_at(const double x[3], int d, double value, plain_point u) {
    double y[3] = {x[0], x[1], x[2]};
    y[d] = value;
    exact_solution(y, u);
}

void plain_initial(const struct plain_zone *z, plain_point *u) {
    ALL(z) {
        double x[3];
        plain_point mix[3];
        coordinates(z, i, j, k, x);
        for (int d = 0; d < 3; d++) {
            plain_point low, high;
            exact_at(x, d, 0, low);
            exact_at(x, d, 1, high);
            for (int m = 0; m < 5; m++) mix[d][m] = (1 - x[d]) * low[m] + x[d] * high[m];
        }
        for (int m = 0; m < 5; m++) {
            double a = mix[0][m], b = mix[1][m], c = mix[2][m];
            u[plain_at(z, i, j, k)][m] = a + b + c - a * b - a * c - b * c + a * b * c;
        }
    }
    /* faces; where two meet, BT and SP keep the later one */
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) ALL(z) {
                int at[3] = {i, j, k}, last[3] = {z->nx - 1, z->ny - 1, z->nz - 1};
                if (at[d] != (side ? last[d] : 0)) continue;
                double x[3];
                coordinates(z, i, j, k, x);
                exact_at(x, d, side, u[plain_at(z, i, j, k)]);
            }
}

/* ---- the operator (RNR-94-007, section 3) --------------------------------------------------- */

/* flux F and diffusive potential W of direction d at a gas u */
static void flux(const plain_point u, int d, plain_point F, plain_point W) {
    double rho = u[0], E = u[4];
    double v[3] = {u[1] / rho, u[2] / rho, u[3] / rho};
    double kinetic = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), q = rho * kinetic;
    F[0] = u[1 + d];
    W[0] = second[d] * rho;
    for (int n = 0; n < 3; n++) {
        F[1 + n] = u[1 + n] * v[d] + (n == d ? gamma_2 * (E - q) : 0);
        W[1 + n] = visc * (n == d ? 4.0 / 3 : 1) * v[n] + second[d] * u[1 + n];
    }
    F[4] = (gamma_1 * E - gamma_2 * q) * v[d];
    W[4] = visc * ((1 - heat) * kinetic + v[d] * v[d] / 6 + heat * E / rho) + second[d] * E;
}

/* row s of the fourth difference on a line of n points: its five coefficients, from s-2 to s+2 */
static void fourth_row(int s, int n, double row[5]) {
    static const double middle[5] = {1, -4, 6, -4, 1};
    memcpy(row, middle, sizeof middle);
    if (s == 1) row[0] = row[1] = 0, row[2] = 5;
    if (s == 2) row[0] = 0;
    if (s == n - 3) row[4] = 0;
    if (s == n - 2) row[4] = row[3] = 0, row[2] = 5;
}

void plain_operator(const struct plain_zone *z, const plain_point *u, plain_point *out) {
    memset(out, 0, plain_points(z) * sizeof *out);
    ptrdiff_t stride[3] = {1, z->nx, (ptrdiff_t)z->nx * z->ny};
    int extent[3] = {z->nx, z->ny, z->nz};
    plain_point *F = plain_field(z), *W = plain_field(z);
    for (int d = 0; d < 3; d++) {
        for (size_t p = 0; p < plain_points(z); p++) flux(u[p], d, F[p], W[p]);
        double h = z->h[d];
        INTERIOR(z) {
            size_t p = plain_at(z, i, j, k);
            ptrdiff_t s = stride[d];
            double row[5];
            fourth_row(d == 0 ? i : d == 1 ? j : k, extent[d], row);
            for (int m = 0; m < 5; m++) {
                double dissipation = 0;
                for (int o = -2; o <= 2; o++)
                    if (row[o + 2] != 0) dissipation += row[o + 2] * u[p + o * s][m];
                out[p][m] += -(F[p + s][m] - F[p - s][m]) / (2 * h) +
                             (W[p + s][m] - 2 * W[p][m] + W[p - s][m]) / (h * h) -
                             fourth * dissipation;
            }
        }
    }
    free(F);
    free(W);
}

void plain_residual(const struct plain_zone *z, const plain_point *u, const plain_point *f,
                    plain_point *out) {
    plain_operator(z, u, out);
    if (f) INTERIOR(z)
    for (int m = 0; m < 5; m++) out[plain_at(z, i, j, k)][m] += f[plain_at(z, i, j, k)][m];
}

void plain_forcing(const struct plain_zone *z, plain_point *f) {
    plain_point *exact = plain_field(z);
    ALL(z) {
        double x[3];
        coordinates(z, i, j, k, x);
        exact_solution(x, exact[plain_at(z, i, j, k)]);
    }
    plain_operator(z, exact, f);
    for (size_t p = 0; p < plain_points(z); p++)
        for (int m = 0; m < 5; m++) f[p][m] = -f[p][m];
    free(exact);
}

/* ---- implicit operators ---------------------------------------------------------------------- */

static void jacobians(const plain_point u, int d, double A[5][5], double N[5][5]) {
    double rho = u[0], e = u[4] / rho;
    double v[3] = {u[1] / rho, u[2] / rho, u[3] / rho};
    double kinetic = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    memset(A, 0, sizeof(double[5][5]));
    memset(N, 0, sizeof(double[5][5]));
    A[0][1 + d] = 1;
    for (int n = 0; n < 3; n++) {
        A[1 + n][0] = -v[n] * v[d];
        A[1 + n][1 + n] += v[d];
        A[1 + n][1 + d] += v[n];
        A[4][1 + n] = -gamma_2 * v[n] * v[d];
    }
    A[1 + d][0] += gamma_2 * kinetic;
    for (int n = 0; n < 3; n++) A[1 + d][1 + n] -= gamma_2 * v[n];
    A[1 + d][4] = gamma_2;
    A[4][0] = (2 * gamma_2 * kinetic - gamma_1 * e) * v[d];
    A[4][1 + d] += gamma_1 * e - gamma_2 * kinetic;
    A[4][4] = gamma_1 * v[d];

    N[4][0] = -cond * e;
    for (int n = 0; n < 3; n++) {
        double mu = visc * (n == d ? 4.0 / 3 : 1);
        N[1 + n][0] = -mu * v[n] / rho;
        N[1 + n][1 + n] = mu / rho;
        N[4][0] -= (mu - cond) * v[n] * v[n];
        N[4][1 + n] = (mu - cond) * v[n] / rho;
    }
    N[4][0] /= rho;
    N[4][4] = cond / rho;
}

/* solves M x = b for the n columns of b, by elimination with row exchange */
static void solve(double M[5][5], int n, double b[5][6]) {
    for (int c = 0; c < 5; c++) {
        int pivot = c;
        for (int r = c + 1; r < 5; r++)
            if (fabs(M[r][c]) > fabs(M[pivot][c])) pivot = r;
        for (int m = 0; m < 5 && pivot != c; m++) {
            double t = M[c][m];
            M[c][m] = M[pivot][m], M[pivot][m] = t;
        }
        for (int m = 0; m < n && pivot != c; m++) {
            double t = b[c][m];
            b[c][m] = b[pivot][m], b[pivot][m] = t;
        }
        for (int r = c + 1; r < 5; r++) {
            double l = M[r][c] / M[c][c];
            for (int m = c; m < 5; m++) M[r][m] -= l * M[c][m];
            for (int m = 0; m < n; m++) b[r][m] -= l * b[c][m];
        }
    }
    for (int m = 0; m < n; m++)
        for (int r = 4; r >= 0; r--) {
            for (int c = r + 1; c < 5; c++) b[r][m] -= M[r][c] * b[c][m];
            b[r][m] /= M[r][r];
        }
}

/* For all lines of direction d through interior points: point number `first` of their point 0 and
 * `step` from one point of the line to the next. */
struct lines {
    int n;       /* points of a line */
    size_t step; /* along it */
    int na, nb;  /* lines: interior points of the other two directions */
    size_t sa, sb;
};
static struct lines lines_of(const struct plain_zone *z, int d) {
    size_t s[3] = {1, (size_t)z->nx, (size_t)z->nx * z->ny};
    int e[3] = {z->nx, z->ny, z->nz}, a = (d + 1) % 3, b = (d + 2) % 3;
    return (struct lines){e[d], s[d], e[a] - 2, e[b] - 2, s[a], s[b]};
}
#define LINES(l, first)                                                                            \
    for (int a = 1; a <= (l).na; a++)                                                              \
        for (size_t b = 1, first = a * (l).sa + (l).sb; b <= (size_t)(l).nb; b++, first += (l).sb)

/* ---- BT (RNR-94-007, section 4.3) ------------------------------------------------------------ */

static void bt_lines(const struct plain_zone *z, int d, plain_point *rhs) {
    struct lines line = lines_of(z, d);
    int n = line.n;
    double tau1 = z->dt / (z->h[d] * z->h[d]), tau2 = z->dt / (2 * z->h[d]);
    double(*A)[5][5] = get_memory((size_t)n * sizeof *A);
    double(*N)[5][5] = get_memory((size_t)n * sizeof *N);
    double(*C)[5][5] = get_memory((size_t)n * sizeof *C); /* C' of the elimination; C'_0 = 0 */
    LINES(line, first) {
        for (int s = 0; s < n; s++) jacobians(z->u[first + s * line.step], d, A[s], N[s]);
        for (int s = 1; s <= n - 2; s++) {
            double below[5][5], middle[5][5], right[5][6];
            const double *before = rhs[first + (s - 1) * line.step];
            double *here = rhs[first + s * line.step];
            for (int r = 0; r < 5; r++) {
                for (int c = 0; c < 5; c++) {
                    double D = r == c ? second[d] : 0;
                    below[r][c] = -tau2 * A[s - 1][r][c] - tau1 * (N[s - 1][r][c] + D);
                    middle[r][c] = (r == c) + 2 * tau1 * (N[s][r][c] + D);
                    right[r][c] = tau2 * A[s + 1][r][c] - tau1 * (N[s + 1][r][c] + D);
                }
                right[r][5] = here[r];
            }
            if (s > 1)
                for (int r = 0; r < 5; r++)
                    for (int q = 0; q < 5; q++) {
                        for (int c = 0; c < 5; c++) middle[r][c] -= below[r][q] * C[s - 1][q][c];
                        right[r][5] -= below[r][q] * before[q];
                    }
            solve(middle, 6, right);
            for (int r = 0; r < 5; r++) {
                for (int c = 0; c < 5; c++) C[s][r][c] = right[r][c];
                here[r] = right[r][5];
            }
        }
        for (int s = n - 3; s >= 1; s--)
            for (int r = 0; r < 5; r++)
                for (int c = 0; c < 5; c++)
                    rhs[first + s * line.step][r] -=
                        C[s][r][c] * rhs[first + (s + 1) * line.step][c];
    }
    free(A);
    free(N);
    free(C);
}

/* ---- SP (RNR-94-007, section 4.2) ------------------------------------------------------------ */

static double sound(const plain_point u) {
    double q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0];
    return sqrt(gamma_1 * gamma_2 * (u[4] - q) / u[0]);
}

/* SP: the pointwise transform before x (which = 0), between x and y (1), between y and z (2), after
 * z (3). */
static void sp_transform(const struct plain_zone *z, int which, plain_point *rhs) {
    const double b = sqrt(0.5);
    INTERIOR(z) {
        const double *u = z->u[plain_at(z, i, j, k)];
        double *s = rhs[plain_at(z, i, j, k)];
        double r1 = s[0], r2 = s[1], r3 = s[2], r4 = s[3], r5 = s[4];
        double rho = u[0], a = sound(u), v1 = u[1] / rho, v2 = u[2] / rho, v3 = u[3] / rho;
        double kinetic = 0.5 * (v1 * v1 + v2 * v2 + v3 * v3);
        double t1, t2, t3;
        switch (which) {
        case 0:
            t1 = gamma_2 / (a * a) * (kinetic * r1 - v1 * r2 - v2 * r3 - v3 * r4 + r5);
            t2 = b / rho * (v1 * r1 - r2);
            t3 = b * a / rho * t1;
            s[0] = r1 - t1;
            s[1] = -(v3 * r1 - r4) / rho;
            s[2] = (v2 * r1 - r3) / rho;
            s[3] = t3 - t2;
            s[4] = t3 + t2;
            break;
        case 1:
            s[0] = -r2;
            s[1] = r1;
            s[2] = b * (r4 - r5);
            s[3] = 0.5 * (r4 + r5) - b * r3;
            s[4] = 0.5 * (r4 + r5) + b * r3;
            break;
        case 2:
            s[0] = b * (r4 - r5);
            s[1] = -r3;
            s[2] = r2;
            s[3] = 0.5 * (r4 + r5) - b * r1;
            s[4] = 0.5 * (r4 + r5) + b * r1;
            break;
        default:
            t1 = b * rho / a * (r4 + r5);
            t2 = r3 + t1;
            t3 = b * rho * (r4 - r5);
            s[0] = t2;
            s[1] = -rho * r2 + v1 * t2;
            s[2] = rho * r1 + v2 * t2;
            s[3] = v3 * t2 + t3;
            s[4] = rho * (v2 * r1 - v1 * r2) + kinetic * t2 + a * a * t1 / gamma_2 + v3 * t3;
        }
    }
}

static void sp_lines(const struct plain_zone *z, int d, plain_point *rhs) {
    struct lines line = lines_of(z, d);
    int n = line.n;
    double tau1 = z->dt / (z->h[d] * z->h[d]), tau2 = z->dt / (2 * z->h[d]);
    double(*row)[5] = get_memory((size_t)n * sizeof *row); /* bands s-2 .. s+2 of row s */
    LINES(line, first) for (int m = 0; m < 5; m++) {
        for (int s = 1; s <= n - 2; s++) {
            fourth_row(s, n, row[s]);
            for (int o = -2; o <= 2; o++) row[s][o + 2] *= z->dt * fourth;
            for (int o = -1; o <= 1; o++) {
                const double *u = z->u[first + (s + o) * line.step];
                double lambda = u[1 + d] / u[0];
                if (m == 3) lambda += sound(u);
                if (m == 4) lambda -= sound(u);
                double sigma = second[d] + heat * visc / u[0];
                if (o == 0)
                    row[s][2] += 1 + 2 * tau1 * sigma;
                else
                    row[s][o + 2] += o * tau2 * lambda - tau1 * sigma;
            }
        }
        /* eliminate below the diagonal; unknowns 0 and n-1 are 0 */
        for (int s = 1; s <= n - 2; s++)
            for (int t = s + 1; t <= s + 2 && t <= n - 2; t++) {
                double l = row[t][s - t + 2] / row[s][2];
                for (int c = s; c <= s + 2; c++) row[t][c - t + 2] -= l * row[s][c - s + 2];
                rhs[first + t * line.step][m] -= l * rhs[first + s * line.step][m];
            }
        for (int s = n - 2; s >= 1; s--) {
            double *x = &rhs[first + s * line.step][m];
            for (int c = s + 1; c <= s + 2 && c <= n - 2; c++)
                *x -= row[s][c - s + 2] * rhs[first + c * line.step][m];
            *x /= row[s][2];
        }
    }
    free(row);
}

/* ---- LU (RNR-94-007, section 4.1) ------------------------------------------------------------ */

/* The common half of both sweeps at point p: `sum` = omega * (blocks at the neighbours on `side`,
 * -1 or +1, times v there); solved with D(p) if it is to be, by the caller. */
static void neighbours(const struct plain_zone *z, size_t p, int side, const plain_point *v,
                       plain_point sum) {
    size_t s[3] = {1, (size_t)z->nx, (size_t)z->nx * z->ny};
    memset(sum, 0, sizeof(plain_point));
    for (int d = 0; d < 3; d++) {
        size_t q = side < 0 ? p - s[d] : p + s[d];
        double A[5][5], N[5][5];
        double tau1 = z->dt / (z->h[d] * z->h[d]), tau2 = z->dt / (2 * z->h[d]);
        jacobians(z->u[q], d, A, N);
        for (int r = 0; r < 5; r++)
            for (int c = 0; c < 5; c++) {
                double D = r == c ? second[d] : 0;
                sum[r] += relax * (side * tau2 * A[r][c] - tau1 * (N[r][c] + D)) * v[q][c];
            }
    }
}

static void solve_diagonal(const struct plain_zone *z, size_t p, plain_point x) {
    double D[5][5] = {{0}}, b[5][6];
    for (int d = 0; d < 3; d++) {
        double A[5][5], N[5][5], tau1 = z->dt / (z->h[d] * z->h[d]);
        jacobians(z->u[p], d, A, N);
        for (int r = 0; r < 5; r++)
            for (int c = 0; c < 5; c++) D[r][c] += 2 * tau1 * (N[r][c] + (r == c ? second[d] : 0));
    }
    for (int r = 0; r < 5; r++) {
        D[r][r] += 1;
        b[r][0] = x[r];
    }
    solve(D, 1, b);
    for (int r = 0; r < 5; r++) x[r] = b[r][0];
}

/* LU: the sweeps on v, which is 0 at boundary points. */
static void lu_lower(const struct plain_zone *z, plain_point *v) {
    INTERIOR(z) {
        size_t p = plain_at(z, i, j, k);
        plain_point sum;
        neighbours(z, p, -1, v, sum);
        for (int m = 0; m < 5; m++) v[p][m] -= sum[m];
        solve_diagonal(z, p, v[p]);
    }
}

static void lu_upper(const struct plain_zone *z, plain_point *v) {
    for (int k = z->nz - 2; k >= 1; k--)
        for (int j = z->ny - 2; j >= 1; j--)
            for (int i = z->nx - 2; i >= 1; i--) {
                size_t p = plain_at(z, i, j, k);
                plain_point sum;
                neighbours(z, p, +1, v, sum);
                solve_diagonal(z, p, sum);
                for (int m = 0; m < 5; m++) v[p][m] -= sum[m];
            }
}

/* ---- steps and runs ---------------------------------------------------------------------------
 */

void plain_step(const struct plain_zone *z) {
    plain_point *v = plain_field(z);
    double factor = 1;
    if (z->benchmark == NPBMZ_LU)
        memcpy(v, z->r, plain_points(z) * sizeof *v);
    else
        plain_residual(z, z->u, z->f, v);
    for (size_t p = 0; p < plain_points(z); p++)
        for (int m = 0; m < 5; m++) v[p][m] *= z->dt;
    switch (z->benchmark) {
    case NPBMZ_BT:
        for (int d = 0; d < 3; d++) bt_lines(z, d, v);
        break;
    case NPBMZ_SP:
        for (int d = 0; d < 3; d++) {
            sp_transform(z, d, v);
            sp_lines(z, d, v);
        }
        sp_transform(z, 3, v);
        break;
    case NPBMZ_LU:
        lu_lower(z, v);
        lu_upper(z, v);
        factor = 1 / (relax * (2 - relax));
        break;
    }
    INTERIOR(z)
    for (int m = 0; m < 5; m++)
        z->u[plain_at(z, i, j, k)][m] += factor * v[plain_at(z, i, j, k)][m];
    if (z->benchmark == NPBMZ_LU) plain_residual(z, z->u, z->f, z->r);
    free(v);
}

void plain_exchange(struct plain *p) {
    for (int n = 0; n < p->zones; n++) {
        struct plain_zone *z = &p->zone[n];
        const struct plain_zone *w = &p->zone[z->west], *e = &p->zone[z->east];
        const struct plain_zone *s = &p->zone[z->south], *t = &p->zone[z->north];
        for (int k = 1; k <= z->nz - 2; k++) {
            for (int j = 1; j <= z->ny - 2; j++) {
                memcpy(z->u[plain_at(z, 0, j, k)], w->u[plain_at(w, w->nx - 2, j, k)],
                       sizeof(plain_point));
                memcpy(z->u[plain_at(z, z->nx - 1, j, k)], e->u[plain_at(e, 1, j, k)],
                       sizeof(plain_point));
            }
            for (int i = 1; i <= z->nx - 2; i++) {
                memcpy(z->u[plain_at(z, i, 0, k)], s->u[plain_at(s, i, s->ny - 2, k)],
                       sizeof(plain_point));
                memcpy(z->u[plain_at(z, i, z->ny - 1, k)], t->u[plain_at(t, i, 1, k)],
                       sizeof(plain_point));
            }
        }
    }
}

void plain_perturb(struct plain *p) {
    for (int n = 1; n <= p->zones; n++) {
        struct plain_zone *z = &p->zone[n - 1];
        volatile double more = 0.01 * ((5 * n * n + 3 * n) % 17); /* never fused with the sum */
        double factor = 1 + more;
        INTERIOR(z)
        for (int m = 0; m < 5; m++) z->u[plain_at(z, i, j, k)][m] *= factor;
    }
}

void plain_prepare(struct plain *p) {
    if (p->benchmark != NPBMZ_LU) return;
    for (int n = 0; n < p->zones; n++)
        plain_residual(&p->zone[n], p->zone[n].u, p->zone[n].f, p->zone[n].r);
}

void plain_run(struct plain *p, int steps) {
    for (int step = 0; step < steps; step++) {
        plain_exchange(p);
        for (int n = 0; n < p->zones; n++) plain_step(&p->zone[n]);
    }
}

/* ---- norms (NAS-03-010, section 4) ------------------------------------------------------------
 */

static double interior_points(const struct plain_zone *z) {
    return (z->nx - 2.0) * (z->ny - 2.0) * (z->nz - 2.0);
}

void plain_zone_residual_norm(const struct plain_zone *z, double norm[5]) {
    plain_point *r = plain_field(z);
    if (z->benchmark == NPBMZ_LU)
        memcpy(r, z->r, plain_points(z) * sizeof *r);
    else
        plain_residual(z, z->u, z->f, r);
    for (int m = 0; m < 5; m++) {
        norm[m] = 0;
        INTERIOR(z) norm[m] += r[plain_at(z, i, j, k)][m] * r[plain_at(z, i, j, k)][m];
        norm[m] = sqrt(norm[m] / interior_points(z));
    }
    free(r);
}

void plain_zone_error_norm(const struct plain_zone *z, double norm[5]) {
    for (int m = 0; m < 5; m++) norm[m] = 0;
    ALL(z) {
        if (z->benchmark == NPBMZ_LU && !is_interior(z, i, j, k)) continue;
        double x[3];
        plain_point exact;
        coordinates(z, i, j, k, x);
        exact_solution(x, exact);
        for (int m = 0; m < 5; m++) {
            double e = z->u[plain_at(z, i, j, k)][m] - exact[m];
            norm[m] += e * e;
        }
    }
    for (int m = 0; m < 5; m++) norm[m] = sqrt(norm[m] / interior_points(z));
}

static double pressure(const struct plain_zone *z, int i, int j, int k) {
    const double *u = z->u[plain_at(z, i, j, k)];
    return gamma_2 * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

double plain_zone_surface(const struct plain_zone *z) {
    int low[3] = {1, 1, 2}, high[3] = {z->nx - 2, z->ny - 3, z->nz - 2};
    double integral = 0;
    for (int d = 0; d < 3; d++) { /* the two faces across direction d */
        int a = (d + 1) % 3, b = (d + 2) % 3;
        for (int side = 0; side < 2; side++) {
            double sum = 0;
            int at[3];
            at[d] = side ? high[d] : low[d];
            for (at[a] = low[a]; at[a] < high[a]; at[a]++)
                for (at[b] = low[b]; at[b] < high[b]; at[b]++)
                    for (int corner = 0; corner < 4; corner++) {
                        int c[3] = {at[0], at[1], at[2]};
                        c[a] += corner & 1;
                        c[b] += corner >> 1;
                        sum += pressure(z, c[0], c[1], c[2]);
                    }
            integral += 0.25 * z->h[a] * z->h[b] * sum;
        }
    }
    return integral;
}

static void add_norms(const struct plain *p, void (*f)(const struct plain_zone *, double *),
                      double norm[5]) {
    for (int m = 0; m < 5; m++) norm[m] = 0;
    for (int n = 0; n < p->zones; n++) {
        double a[5];
        f(&p->zone[n], a);
        for (int m = 0; m < 5; m++) norm[m] += a[m];
    }
}

void plain_residual_norm(const struct plain *p, double norm[5]) {
    add_norms(p, plain_zone_residual_norm, norm);
}

void plain_error_norm(const struct plain *p, double norm[5]) {
    add_norms(p, plain_zone_error_norm, norm);
}

double plain_surface(const struct plain *p) {
    double sum = 0;
    for (int n = 0; n < p->zones; n++) sum += plain_zone_surface(&p->zone[n]);
    return sum;
}
