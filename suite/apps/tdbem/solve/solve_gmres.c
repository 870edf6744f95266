/* Each core has the same chunks of all vectors, and the small triangular system by itself. A vector
 * is made orthogonal twice, as a whole each time. */
#include "tdbem/solve/solve_gmres.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = SOLVE_CHUNK,
    BASIS = 40,  /* iterations between restarts */
    LEAST = 8192 /* entries that a core should have */
};

struct solve_gmres {
    const struct solve_matrix *m;
    double tolerance;
    evn_crew_pace pace;
    double *a, *b, *v; /* [chunks * CHUNK], b scaled; v: BASIS + 1 of them */
    double *dot;       /* [(BASIS + 1) * chunks]: sums of chunks */
};

void solve_gmres_close(struct solve_gmres *s) {
    if (!s) return;
    free_all(s->a, s->b, s->v, s->dot, s);
}

static double *zeros(size_t count) {
    const size_t bytes = (count * sizeof(double) + 127) / 64 * 64;
    double *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

evn_status solve_gmres_open(struct solve_gmres **out, const struct solve_matrix *matrix,
                            double tolerance) {
    struct solve_gmres *s = *out = calloc(1, sizeof *s);
    const size_t n = (size_t)matrix->chunks * CHUNK;
    if (s) {
        s->m = matrix;
        s->tolerance = tolerance;
        s->a = zeros(n);
        s->b = zeros(n);
        s->v = zeros(n * (BASIS + 1));
        s->dot = zeros((size_t)matrix->chunks * (BASIS + 1));
    }
    if (s && s->a && s->b && s->v && s->dot) return EVN_OK;
    solve_gmres_close(s);
    *out = NULL;
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
}

struct work {
    struct solve_gmres *s;
    evn_crew *crew;
    const double *b;
    double *a;
    int iterations, converged;
    double residual; /* over the right-hand side's */
};

/* A core's chunks, and its copy of what is small. */
struct core {
    const struct work *work;
    int from, to; /* chunks */
    double h[BASIS][BASIS + 1], cosine[BASIS], sine[BASIS], g[BASIS + 1];
};

static double *vector(const struct solve_gmres *s, int k) {
    return s->v + (size_t)k * (size_t)s->m->chunks * CHUNK;
}

/* Sums over all chunks of the products of x with vectors 0 .. count-1, `first` the first of them.
 */
static void products(const struct core *c, const double *x, const double *first, int count,
                     double *sums) {
    const struct solve_gmres *s = c->work->s;
    const int chunks = s->m->chunks;
    _Alignas(64) double part[CHUNK];
    for (int j = 0; j < count; j++)
        for (int at = c->from; at < c->to; at++) {
            const double *y = first + ((size_t)j * (size_t)chunks + (size_t)at) * CHUNK;
            for (int i = 0; i < CHUNK; i++) part[i] = x[at * CHUNK + i] * y[i];
            s->dot[j * chunks + at] = solve_tree(part);
        }
    evn_crew_barrier(c->work->crew);
    for (int j = 0; j < count; j++) sums[j] = solve_total(s->dot + j * chunks, chunks);
    evn_crew_barrier(c->work->crew);
}

/* v_0 = b - M a over its length, which is returned; nothing of it where that is 0. */
static double residual(const struct core *c) {
    const struct solve_gmres *s = c->work->s;
    double *v = vector(s, 0), length;
    _Alignas(64) double row[CHUNK];
    for (int at = c->from; at < c->to; at++) {
        solve_product(s->m, at, s->a, row);
        for (int i = 0; i < CHUNK; i++) v[at * CHUNK + i] = s->b[at * CHUNK + i] - row[i];
    }
    products(c, v, v, 1, &length);
    length = sqrt(length);
    for (int i = c->from * CHUNK; length > 0 && i < c->to * CHUNK; i++) v[i] /= length;
    evn_crew_barrier(c->work->crew);
    return length;
}

/* v_(k+1) from M v_k, and column k of h. */
static void extend(struct core *c, int k) {
    const struct solve_gmres *s = c->work->s;
    double *v = vector(s, k + 1), sums[BASIS + 1], length;
    for (int at = c->from; at < c->to; at++) solve_product(s->m, at, vector(s, k), v + at * CHUNK);
    memset(c->h[k], 0, sizeof c->h[k]);
    for (int pass = 0; pass < 2; pass++) {
        products(c, v, s->v, k + 1, sums);
        for (int j = 0; j <= k; j++) {
            const double *other = vector(s, j);
            c->h[k][j] += sums[j];
            for (int i = c->from * CHUNK; i < c->to * CHUNK; i++) v[i] -= sums[j] * other[i];
        }
    }
    products(c, v, v, 1, &length);
    c->h[k][k + 1] = length = sqrt(length);
    for (int i = c->from * CHUNK; length > 0 && i < c->to * CHUNK; i++) v[i] /= length;
    evn_crew_barrier(c->work->crew);
}

/* Turns column k so that h is triangular; what is left of the residual. */
static double turn(struct core *c, int k) {
    double *h = c->h[k];
    for (int j = 0; j < k; j++) {
        const double x = h[j], y = h[j + 1];
        h[j] = c->cosine[j] * x + c->sine[j] * y;
        h[j + 1] = c->cosine[j] * y - c->sine[j] * x;
    }
    const double r = hypot(h[k], h[k + 1]);
    c->cosine[k] = r > 0 ? h[k] / r : 1;
    c->sine[k] = r > 0 ? h[k + 1] / r : 0;
    h[k] = r;
    c->g[k + 1] = -c->sine[k] * c->g[k];
    c->g[k] *= c->cosine[k];
    return fabs(c->g[k + 1]);
}

/* a from the first `count` vectors. */
static void take(struct core *c, int count) {
    const struct solve_gmres *s = c->work->s;
    double y[BASIS];
    for (int k = count - 1; k >= 0; k--) {
        y[k] = c->g[k];
        for (int j = k + 1; j < count; j++) y[k] -= c->h[j][k] * y[j];
        y[k] = c->h[k][k] > 0 ? y[k] / c->h[k][k] : 0;
    }
    for (int k = 0; k < count; k++) {
        const double *v = vector(s, k);
        for (int i = c->from * CHUNK; i < c->to * CHUNK; i++) s->a[i] += y[k] * v[i];
    }
    evn_crew_barrier(c->work->crew);
}

static void iterate(evn_crew *crew, int me, int cores, void *arg) {
    struct work *work = arg;
    const struct solve_gmres *s = work->s;
    const struct solve_matrix *m = s->m;
    struct core c = {.work = work,
                     .from = evn_crew_begin(m->chunks, me, cores),
                     .to = evn_crew_begin(m->chunks, me + 1, cores)};
    const int end = c.to * CHUNK < m->n ? c.to * CHUNK : m->n;
    double target, left = INFINITY;
    int iterations = 0, converged = 0;
    for (int i = c.from * CHUNK; i < end; i++) {
        s->a[i] = m->root[i] * work->a[i];
        s->b[i] = m->scale[i] * work->b[i];
    }
    evn_crew_barrier(crew);
    products(&c, s->b, s->b, 1, &target);
    target = s->tolerance * sqrt(target);
    while (!converged && iterations < SOLVE_ITERATIONS_MAX && target > 0) {
        left = c.g[0] = residual(&c);
        converged = left <= target;
        int k = 0;
        for (; k < BASIS && !converged; k++) {
            extend(&c, k);
            left = turn(&c, k);
            converged = left <= target;
            iterations++;
        }
        take(&c, k);
    }
    for (int i = c.from * CHUNK; i < end; i++) work->a[i] = target > 0 ? m->scale[i] * s->a[i] : 0;
    evn_crew_barrier(crew);
    if (me) return;
    work->iterations = iterations;
    work->converged = converged || !(target > 0);
    work->residual = left / target * s->tolerance;
}

evn_status solve_gmres(struct solve_gmres *s, evn_crew *crew, const double *b, double *a,
                       int *iterations) {
    struct work work = {.s = s, .crew = crew, .b = b, .a = a};
    const struct solve_matrix *m = s->m;
    const double entries = (double)m->begin[m->chunks * (CHUNK / SOLVE_STRIP)] * SOLVE_STRIP;
    evn_crew_run(crew, &s->pace, evn_crew_cores(crew, entries, LEAST), iterate, &work);
    *iterations = work.iterations;
    if (work.converged) return EVN_OK;
    return evn_fail(EVN_BODY,
                    "td-bem: GMRES does not converge: residual %.3g of the right-hand side's after "
                    "%d iterations",
                    work.residual, work.iterations);
}
