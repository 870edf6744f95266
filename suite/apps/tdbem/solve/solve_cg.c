/* Two sweeps an iteration; each core takes the same chunks in both, and has the scalars from the
 * chunks' sums by itself. */
#include "tdbem/solve/solve_ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512F__
#    include <immintrin.h>
#endif

enum {
    CHUNK = SOLVE_CHUNK,
    STRIP = SOLVE_STRIP,
    /* entries that a core should have, to be worth two meetings: some microseconds */
    LEAST = 8192
};

struct solve_cg {
    struct solve_matrix m;
    double tolerance;
    evn_crew_pace pace;
    double *a, *r, *w, *p, *s;      /* [chunks * CHUNK] */
    double *gamma, *delta, *target; /* [chunks]: of each */
};

const struct solve_matrix *solve_cg_matrix(const struct solve_cg *s) { return &s->m; }
double solve_cg_tolerance(const struct solve_cg *s) { return s->tolerance; }

/* ---- opening ---- */

static void *zeros(size_t count, size_t size) {
    const size_t bytes = (count * size + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

static int make_strips(struct solve_matrix *s, const struct slices_csr *m) {
    const int strips = s->chunks * (CHUNK / STRIP);
    s->begin = zeros((size_t)strips + 1, sizeof *s->begin);
    s->scale = zeros((size_t)s->chunks * CHUNK, sizeof *s->scale);
    s->root = zeros((size_t)s->chunks * CHUNK, sizeof *s->root);
    if (!s->begin || !s->scale || !s->root) return -1;
    for (int t = 0; t < strips; t++) {
        size_t max = 0;
        for (int i = t * STRIP; i < s->n && i < (t + 1) * STRIP; i++)
            if (m->start[i + 1] - m->start[i] > max) max = m->start[i + 1] - m->start[i];
        s->begin[t + 1] = s->begin[t] + max;
    }
    const size_t entries = s->begin[strips] * STRIP;
    s->column = zeros(entries, sizeof *s->column);
    s->value = zeros(entries, sizeof *s->value);
    if (!s->column || !s->value) return -1;
    for (int t = 0; t < strips; t++)
        for (size_t e = s->begin[t] * STRIP; e < s->begin[t + 1] * STRIP; e++)
            s->column[e] = t * STRIP + (int)(e % STRIP);
    for (int i = 0; i < s->n; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const size_t at = (s->begin[i / STRIP] + (e - m->start[i])) * STRIP + i % STRIP;
            s->column[at] = m->column[e];
            s->value[at] = m->value[e];
            if (m->column[e] == i) s->root[i] = m->value[e];
        }
    return 0;
}

static void scale(struct solve_matrix *m) {
    for (int i = 0; i < m->n; i++) {
        m->root[i] = sqrt(m->root[i]);
        m->scale[i] = 1 / m->root[i];
    }
    for (int t = 0; t < m->chunks * (CHUNK / STRIP); t++)
        for (size_t e = m->begin[t] * STRIP; e < m->begin[t + 1] * STRIP; e++)
            m->value[e] *= m->scale[t * STRIP + (int)(e % STRIP)] * m->scale[m->column[e]];
}

evn_status solve_check_diagonal(const struct slices_csr *m) {
    for (int i = 0; i < m->rows; i++) {
        double d = 0;
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++)
            if (m->column[e] == i) d = m->value[e];
        if (!(d > 0))
            return evn_fail(
                EVN_USAGE, "td-bem: M_0 is not positive definite: its diagonal has %g at vertex %d",
                d, i);
    }
    return EVN_OK;
}

evn_status solve_cg_open(struct solve_cg **out, const struct slices_csr *m, double tolerance) {
    *out = NULL;
    evn_status status = solve_check_diagonal(m);
    if (status) return status;
    struct solve_cg *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
    s->m.n = m->rows;
    s->m.chunks = (m->rows + CHUNK - 1) / CHUNK;
    s->tolerance = tolerance;
    int bad = make_strips(&s->m, m);
    double **vector[] = {&s->a, &s->r, &s->w, &s->p, &s->s, &s->gamma, &s->delta, &s->target};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        bad |= !(*vector[i] = zeros((size_t)s->m.chunks * CHUNK, sizeof **vector[i]));
    if (bad) {
        solve_cg_close(s);
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
    }
    scale(&s->m);
    *out = s;
    return EVN_OK;
}

void solve_cg_close(struct solve_cg *s) {
    if (!s) return;
    void *all[] = {s->m.begin, s->m.column, s->m.value, s->m.scale, s->m.root, s->a,     s->r,
                   s->w,       s->p,        s->s,       s->gamma,   s->delta,  s->target};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(s);
}

/* ---- sums ---- */

/* CHUNK numbers, which are overwritten. */
static inline double tree(double *restrict v) {
    for (int reach = CHUNK / 2; reach >= STRIP; reach /= 2)
#pragma omp simd
        for (int i = 0; i < reach; i++) v[i] += v[i + reach];
    for (int reach = STRIP / 2; reach > 0; reach /= 2)
        for (int i = 0; i < reach; i++) v[i] += v[i + reach];
    return v[0];
}

static double total(const double *of_chunk, int chunks) {
    _Alignas(64) double v[CHUNK] = {0};
    for (int c = 0; c < chunks; c += CHUNK) {
        const int n = chunks - c < CHUNK ? chunks - c : CHUNK;
        for (int i = 0; i < n; i++) v[i] += of_chunk[c + i];
    }
    return tree(v);
}

/* ---- chunks of rows: not inlined, so that a chunk's bits are those of this one loop ---- */

#define CHUNK_FUNCTION static __attribute__((noinline)) double

/* Eight rows of a strip of `columns`. Left to itself gcc keeps the sums in memory. With AVX-512,
 * where it finds the instruction that gathers, that takes longer than the products; with AVX a
 * fifth more than all else, since a product waits until the sum before it has been stored. */
static inline void strip_product(const double *restrict value, const int *restrict column,
                                 size_t columns, const double *restrict x, double *restrict row) {
#ifdef __AVX512F__
    __m512d sum = _mm512_setzero_pd();
    for (size_t e = 0; e < columns * STRIP; e += STRIP) {
        const __m256i at = _mm256_load_si256((const __m256i *)(column + e));
        sum += _mm512_load_pd(value + e) * _mm512_i32gather_pd(at, x, 8);
    }
    _mm512_store_pd(row, sum);
#elif defined(__AVX__)
    typedef double half __attribute__((vector_size(STRIP / 2 * sizeof(double))));
    half low = {0}, high = {0};
    for (size_t e = 0; e < columns * STRIP; e += STRIP) {
        const int *at = column + e;
        const half *of = (const half *)(value + e);
        low += of[0] * (half){x[at[0]], x[at[1]], x[at[2]], x[at[3]]};
        high += of[1] * (half){x[at[4]], x[at[5]], x[at[6]], x[at[7]]};
    }
    memcpy(row, &low, sizeof low);
    memcpy(row + STRIP / 2, &high, sizeof high);
#else
    double sum[STRIP] = {0};
    for (size_t e = 0; e < columns * STRIP; e += STRIP)
#    pragma omp simd
        for (int l = 0; l < STRIP; l++) sum[l] += value[e + l] * x[column[e + l]];
    memcpy(row, sum, sizeof sum);
#endif
}

/* row = M x, rows of the chunk */
static inline void product(const struct solve_matrix *m, int c, const double *restrict x,
                           double *restrict row) {
    for (int t = 0; t < CHUNK / STRIP; t++) {
        const size_t *begin = m->begin + (size_t)c * (CHUNK / STRIP) + (size_t)t;
        strip_product(m->value + *begin * STRIP, m->column + *begin * STRIP, begin[1] - *begin, x,
                      row + t * STRIP);
    }
}

/* a and b scaled, b for the moment as r, no direction yet; b.b */
CHUNK_FUNCTION scale_chunk(struct solve_cg *s, int c, const double *restrict b,
                           const double *restrict a) {
    _Alignas(64) double size[CHUNK] = {0};
    const int from = c * CHUNK, end = from + CHUNK < s->m.n ? from + CHUNK : s->m.n;
    for (int i = from; i < end; i++) {
        s->a[i] = s->m.root[i] * a[i];
        s->r[i] = s->m.scale[i] * b[i];
        size[i - from] = s->r[i] * s->r[i];
    }
    memset(s->p + from, 0, sizeof size);
    memset(s->s + from, 0, sizeof size);
    return tree(size);
}

/* r = b - M a; gamma */
CHUNK_FUNCTION begin_chunk(struct solve_cg *s, int c) {
    _Alignas(64) double row[CHUNK], dot[CHUNK];
    double *restrict r = s->r + c * CHUNK;
    product(&s->m, c, s->a, row);
#pragma omp simd
    for (int i = 0; i < CHUNK; i++) {
        r[i] -= row[i];
        dot[i] = r[i] * r[i];
    }
    return tree(dot);
}

/* w = M r; delta */
CHUNK_FUNCTION multiply_chunk(struct solve_cg *s, int c) {
    _Alignas(64) double dot[CHUNK];
    double *restrict w = s->w + c * CHUNK;
    const double *restrict r = s->r + c * CHUNK;
    product(&s->m, c, s->r, w);
#pragma omp simd
    for (int i = 0; i < CHUNK; i++) dot[i] = r[i] * w[i];
    return tree(dot);
}

/* All vectors; gamma */
CHUNK_FUNCTION advance_chunk(struct solve_cg *s, int c, double alpha, double beta) {
    _Alignas(64) double dot[CHUNK];
    const int from = c * CHUNK;
    double *restrict a = s->a + from, *restrict r = s->r + from;
    double *restrict p = s->p + from, *restrict q = s->s + from;
    const double *restrict w = s->w + from;
    /* others have read what is written in the next chunk, so they must give it back */
    for (int i = 0; i < CHUNK; i += 64 / (int)sizeof *r) __builtin_prefetch(r + CHUNK + i, 1);
#pragma omp simd
    for (int i = 0; i < CHUNK; i++) {
        p[i] = r[i] + beta * p[i];
        q[i] = w[i] + beta * q[i];
        a[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        dot[i] = r[i] * r[i];
    }
    return tree(dot);
}

void solve_product(const struct solve_matrix *m, int chunk, const double *x, double *row) {
    product(m, chunk, x, row);
}
double solve_tree(double *numbers) { return tree(numbers); }
double solve_total(const double *of_chunk, int chunks) { return total(of_chunk, chunks); }

/* ---- the iteration ---- */

struct work {
    struct solve_cg *s;
    struct solve_ranks *ranks;
    const double *b;
    double *a;
    struct solve_state state;
    evn_status status; /* of exchanges */
};

/* A core's chunks: `own` it multiplies, from the first on; behind them come those of the halo. */
struct part {
    int first, own, all;
    const int *halo;
};

static struct part part_of(const struct work *work, int me, int cores) {
    const struct solve_ranks *r = work->ranks;
    const int begin = r ? r->begin : 0, count = r ? r->end - begin : work->s->m.chunks;
    const int first = evn_crew_begin(count, me, cores);
    const int halo = r ? evn_crew_begin(r->halos, me, cores) : 0;
    struct part part = {.first = begin + first,
                        .own = evn_crew_begin(count, me + 1, cores) - first};
    part.all = part.own + (r ? evn_crew_begin(r->halos, me + 1, cores) - halo : 0);
    part.halo = r ? r->halo + halo : NULL;
    return part;
}

static int chunk_of(const struct part *part, int i) {
    return i < part->own ? part->first + i : part->halo[i - part->own];
}

/* A barrier, after which all have the sums, and x where they read it. */
static void meet(evn_crew *crew, int me, struct work *work, double *x, double *one, double *two) {
    evn_crew_barrier(crew);
    if (!work->ranks) return;
    if (!me) work->status = solve_ranks_meet(work->ranks, x, one, two);
    evn_crew_barrier(crew);
}

/* Whether gamma, of iteration k, is small enough. */
static int is_over(const struct solve_cg *s, int k, struct solve_state *state) {
    state->gamma = total(s->gamma, s->m.chunks);
    state->iterations = k;
    state->done = solve_done(state->gamma, state->target);
    return state->done || k == SOLVE_ITERATIONS_MAX;
}

/* Over ranks gamma is known behind the product only, of which the last one is made in vain. */
static void iterate(evn_crew *crew, int me, int cores, void *arg) {
    struct work *work = arg;
    struct solve_cg *s = work->s;
    const struct part part = part_of(work, me, cores);
    const int chunks = s->m.chunks, from = part.first, to = from + part.own;
    struct solve_state state = {0}; /* each core's own, all alike */
    for (int i = 0; i < part.all; i++) {
        const int c = chunk_of(&part, i);
        s->target[c] = scale_chunk(s, c, work->b, work->a);
    }
    evn_crew_barrier(crew);
    for (int c = from; c < to; c++) s->gamma[c] = begin_chunk(s, c);
    meet(crew, me, work, s->r, s->target, s->gamma);
    state.target = s->tolerance * s->tolerance * total(s->target, chunks);
    for (int k = 0; !work->status; k++) {
        const double last = state.gamma;
        if (!work->ranks && is_over(s, k, &state)) break;
        for (int c = from; c < to; c++) s->delta[c] = multiply_chunk(s, c);
        meet(crew, me, work, s->w, s->gamma, s->delta);
        if (work->status || (work->ranks && is_over(s, k, &state))) break;
        state.delta = total(s->delta, chunks);
        const double beta = solve_beta(k, state.gamma, last);
        if (!(state.delta > 0)) state.done = SOLVE_NOT_DEFINITE;
        if (state.done) break;
        state.alpha = solve_alpha(k, state.gamma, state.delta, beta, state.alpha);
        for (int i = 0; i < part.all; i++) {
            const int c = chunk_of(&part, i);
            s->gamma[c] = advance_chunk(s, c, state.alpha, beta);
        }
        evn_crew_barrier(crew);
    }
    const int end = to * CHUNK < s->m.n ? to * CHUNK : s->m.n;
    for (int i = from * CHUNK; i < end; i++)
        work->a[i] = state.done == SOLVE_ZERO ? 0 : s->m.scale[i] * s->a[i];
    if (!me) work->state = state;
}

evn_status solve_verdict(const struct solve_state *state, double tolerance) {
    if (state->done == SOLVE_CONVERGED || state->done == SOLVE_ZERO) return EVN_OK;
    if (state->done == SOLVE_NOT_DEFINITE)
        return evn_fail(EVN_BODY,
                        "td-bem: M_0 is not positive definite: conjugate gradients find x.M_0 x = "
                        "%.3g after %d iterations",
                        state->delta, state->iterations);
    return evn_fail(EVN_BODY,
                    "td-bem: conjugate gradients do not converge: residual %.3g of the right-hand "
                    "side's after %d iterations",
                    tolerance * sqrt(state->gamma / state->target), state->iterations);
}

evn_status solve_cg(struct solve_cg *s, struct solve_ranks *ranks, evn_crew *crew, const double *b,
                    double *a, int *iterations) {
    struct work work = {.s = s, .ranks = ranks, .b = b, .a = a};
    const double entries = (double)s->m.begin[s->m.chunks * (CHUNK / STRIP)] * STRIP;
    evn_crew_run(crew, ranks ? &ranks->pace : &s->pace,
                 evn_crew_cores(crew, ranks ? entries / ranks->count : entries, LEAST), iterate,
                 &work);
    *iterations = work.state.iterations;
    evn_status status = work.status ? work.status : solve_verdict(&work.state, s->tolerance);
    return status || !ranks ? status : solve_ranks_spread(ranks, a);
}
