/* Conjugate gradients on rows in strips of eight: a strip's entries lie one from each row after the
 * other, so that eight rows are summed at once. */
#include "solve.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef EVENER_MUMPS
#    include <dmumps_c.h>
#endif

enum { STRIP = 8, ITERATIONS_MOST = 1000 };

struct solver {
    enum solver_kind kind;
    int n, strips;
    double tolerance;
    size_t *begin; /* [strips + 1] entries before a strip, in STRIPs */
    int *column;
    double *value;
    double *inverse;           /* of the diagonal */
    double *r, *z, *p, *q, *a; /* STRIP * strips each */
    long long iterations;
    size_t entries;
#ifdef EVENER_MUMPS
    DMUMPS_STRUC_C mumps;
    int *irn, *jcn;
    double *entry;
#endif
};

evn_status solver_find(enum solver_kind *out, const char *name) {
    if (!strcmp(name, "cg")) {
        *out = SOLVER_CG;
        return EVN_OK;
    }
    if (strcmp(name, "mumps") != 0)
        return evn_fail(EVN_USAGE, "solver: \"%s\" is none, expected cg or mumps", name);
#ifdef EVENER_MUMPS
    *out = SOLVER_MUMPS;
    return EVN_OK;
#else
    return evn_fail(EVN_MISSING, "solver: this build is without MUMPS (libmumps-seq-dev was not "
                                 "found when it was configured); use cg");
#endif
}

static evn_status no_memory(struct solver *s) {
    solver_close(s);
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
}

static void *zeros(size_t count, size_t size) {
    const size_t bytes = (count * size + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

static int make_strips(struct solver *s, const struct slices_csr *m) {
    const size_t padded = (size_t)s->strips * STRIP;
    s->begin = malloc(sizeof *s->begin * (size_t)(s->strips + 1));
    s->inverse = zeros(padded, sizeof *s->inverse);
    double **work[] = {&s->r, &s->z, &s->p, &s->q, &s->a};
    for (int i = 0; i < 5; i++)
        if (!(*work[i] = zeros(padded, sizeof **work[i]))) return -1;
    if (!s->begin || !s->inverse) return -1;
    s->begin[0] = 0;
    for (int t = 0; t < s->strips; t++) {
        size_t most = 0;
        for (int i = t * STRIP; i < s->n && i < (t + 1) * STRIP; i++)
            if (m->start[i + 1] - m->start[i] > most) most = m->start[i + 1] - m->start[i];
        s->begin[t + 1] = s->begin[t] + most;
    }
    const size_t entries = s->begin[s->strips] * STRIP;
    s->column = zeros(entries, sizeof *s->column);
    s->value = zeros(entries, sizeof *s->value);
    if (!s->column || !s->value) return -1;
    for (int i = 0; i < s->n; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const size_t at = (s->begin[i / STRIP] + (e - m->start[i])) * STRIP + i % STRIP;
            s->column[at] = m->column[e];
            s->value[at] = m->value[e];
            if (m->column[e] == i) s->inverse[i] = m->value[e];
        }
    return 0;
}

#ifdef EVENER_MUMPS
static evn_status mumps_job(struct solver *s, int job) {
    s->mumps.job = job;
    dmumps_c(&s->mumps);
    if (s->mumps.infog[0] >= 0) return EVN_OK;
    if (s->mumps.infog[0] == -10 || s->mumps.infog[0] == -40)
        return evn_fail(EVN_USAGE, "td-bem: M_0 is not positive definite (MUMPS: INFOG(1) = %d)",
                        s->mumps.infog[0]);
    return evn_fail(EVN_BODY, "td-bem: MUMPS failed with INFOG(1) = %d, INFOG(2) = %d",
                    s->mumps.infog[0], s->mumps.infog[1]);
}

static evn_status make_factors(struct solver *s, const struct slices_csr *m) {
    const size_t most = m->start[s->n];
    s->irn = malloc(most * sizeof *s->irn);
    s->jcn = malloc(most * sizeof *s->jcn);
    s->entry = malloc(most * sizeof *s->entry);
    if (!s->irn || !s->jcn || !s->entry) return no_memory(NULL);
    size_t count = 0;
    for (int i = 0; i < s->n; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++)
            if (m->column[e] <= i) {
                s->irn[count] = i + 1;
                s->jcn[count] = m->column[e] + 1;
                s->entry[count++] = m->value[e];
            }
    s->mumps.par = 1;
    s->mumps.sym = 1;
    s->mumps.comm_fortran = -987654; /* MUMPS's number for MPI_COMM_WORLD */
    evn_status status = mumps_job(s, -1);
    if (status) return status;
    for (int i = 0; i < 4; i++) s->mumps.icntl[i] = i == 3 ? 0 : -1; /* silent */
    s->mumps.n = s->n;
    s->mumps.nnz = (MUMPS_INT8)count;
    s->mumps.irn = s->irn;
    s->mumps.jcn = s->jcn;
    s->mumps.a = s->entry;
    status = mumps_job(s, 4);
    if (!status) s->entries = (size_t)s->mumps.infog[8];
    s->mumps.nrhs = 1;
    s->mumps.lrhs = s->n;
    return status;
}
#endif

evn_status solver_open(struct solver **out, const struct slices_csr *m, enum solver_kind kind,
                       double tolerance) {
    *out = NULL;
    evn_status status = EVN_OK;
    struct solver *s = calloc(1, sizeof *s);
    if (!s) return no_memory(NULL);
    s->kind = kind;
    s->n = m->rows;
    s->strips = (s->n + STRIP - 1) / STRIP;
    s->tolerance = tolerance;
    s->entries = m->start[s->n];
    if (make_strips(s, m)) return no_memory(s);
    for (int i = 0; !status && i < s->n; i++) {
        if (!(s->inverse[i] > 0))
            status = evn_fail(
                EVN_USAGE, "td-bem: M_0 is not positive definite: its diagonal has %g at vertex %d",
                s->inverse[i], i);
        s->inverse[i] = 1 / s->inverse[i];
    }
#ifdef EVENER_MUMPS
    if (!status && kind == SOLVER_MUMPS) status = make_factors(s, m);
#endif
    if (status) {
        solver_close(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

void solver_close(struct solver *s) {
    if (!s) return;
#ifdef EVENER_MUMPS
    if (s->mumps.n) mumps_job(s, -2);
    free(s->irn);
    free(s->jcn);
    free(s->entry);
#endif
    free(s->begin);
    free(s->column);
    free(s->value);
    free(s->inverse);
    free(s->r);
    free(s->z);
    free(s->p);
    free(s->q);
    free(s->a);
    free(s);
}

/* q = M_0 p; p.q */
static double multiply(const struct solver *s, const double *restrict p, double *restrict q) {
    double dot[STRIP] = {0};
    for (int t = 0; t < s->strips; t++) {
        double sum[STRIP] = {0};
        for (size_t e = s->begin[t]; e < s->begin[t + 1]; e++) {
            const double *v = s->value + e * STRIP;
            const int *c = s->column + e * STRIP;
#pragma omp simd
            for (int l = 0; l < STRIP; l++) sum[l] += v[l] * p[c[l]];
        }
#pragma omp simd
        for (int l = 0; l < STRIP; l++) {
            q[t * STRIP + l] = sum[l];
            dot[l] += sum[l] * p[t * STRIP + l];
        }
    }
    double d = 0;
    for (int l = 0; l < STRIP; l++) d += dot[l];
    return d;
}

/* a += alpha p, r -= alpha q, z = r scaled; r.z */
static double advance(struct solver *s, double alpha, double *restrict a) {
    double dot[STRIP] = {0};
    const double *restrict p = s->p, *restrict q = s->q, *restrict w = s->inverse;
    double *restrict r = s->r, *restrict z = s->z;
    for (int t = 0; t < s->strips; t++)
#pragma omp simd
        for (int l = 0; l < STRIP; l++) {
            const int i = t * STRIP + l;
            a[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            z[i] = w[i] * r[i];
            dot[l] += r[i] * z[i];
        }
    double d = 0;
    for (int l = 0; l < STRIP; l++) d += dot[l];
    return d;
}

static evn_status conjugate_gradients(struct solver *s, const double *b) {
    const int n = s->strips * STRIP;
    double target = 0;
    for (int i = 0; i < s->n; i++) target += b[i] * s->inverse[i] * b[i];
    target *= s->tolerance * s->tolerance;
    if (target <= 1e-280) { /* b is zero, or so small that its square is lost */
        memset(s->a, 0, sizeof *s->a * (size_t)n);
        return EVN_OK;
    }
    multiply(s, s->a, s->q);
    memset(s->p, 0, sizeof *s->p * (size_t)n);
    for (int i = 0; i < s->n; i++) s->r[i] = b[i] - s->q[i];
    double rz = advance(s, 0, s->a);
    memcpy(s->p, s->z, sizeof *s->p * (size_t)n);
    for (int k = 0; !(rz <= target); k++) {
        if (k == ITERATIONS_MOST || !isfinite(rz))
            return evn_fail(EVN_BODY,
                            "td-bem: conjugate gradients do not converge: residual %.3g of the "
                            "right-hand side's after %d iterations",
                            s->tolerance * sqrt(rz / target), k);
        const double alpha = rz / multiply(s, s->p, s->q);
        const double next = advance(s, alpha, s->a);
        const double beta = next / rz;
        rz = next;
#pragma omp simd
        for (int i = 0; i < n; i++) s->p[i] = s->z[i] + beta * s->p[i];
        s->iterations++;
    }
    return EVN_OK;
}

evn_status solver_solve(struct solver *s, const double *b, double *a) {
#ifdef EVENER_MUMPS
    if (s->kind == SOLVER_MUMPS) {
        memcpy(a, b, sizeof *a * (size_t)s->n);
        s->mumps.rhs = a;
        return mumps_job(s, 3);
    }
#endif
    memcpy(s->a, a, sizeof *a * (size_t)s->n);
    evn_status status = conjugate_gradients(s, b);
    memcpy(a, s->a, sizeof *a * (size_t)s->n);
    return status;
}

long long solver_iterations(const struct solver *s) { return s->iterations; }
size_t solver_entries(const struct solver *s) { return s->entries; }
