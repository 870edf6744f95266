/* Waves' integrals over the triangles, step by step. */
#include "tdbem/incident/incident.h"
#include "tdbem/mesh/geometry.h"
#include <math.h>

enum { POINTS = INCIDENT_POINTS, LANES = INCIDENT_LANES };

/* Whether f is 0 at t wherever delays are from `first` to `last`. */
static int quiet(const struct incident *in, double t, double first, double last) {
    return t - last - in->pulse.t0 > in->end || t - first - in->pulse.t0 < in->start;
}

int incident_over(const struct incident *in) {
    const double t = in->pulse.t0 + in->last + in->end;
    /* l_n also has F of the step before */
    const double n = floor(t / in->dt) + 3;
    return n < 1 ? 1 : n > 2e9 ? 2000000000 : (int)n;
}

/* The wave that a block's triangles are of. */
static const tdbem_wave *wave_of(const struct incident *in, int b) {
    return &in->wave[b / (in->blocks / in->waves)];
}

/* The block's wave at the p-th point of its triangles: its part with f, and of a point source
 * `turn`'s. */
static void at_point(const struct incident *in, int b, int p, double from, double *f,
                     double *turned) {
    const struct incident_block *k = &in->block[b];
    const double *place = incident_place[p];
    double since[LANES], sum[LANES], r[LANES];
    const tdbem_wave *w = wave_of(in, b);
    if (!w->point) {
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const double delay =
                place[0] * k->delay[0][l] + place[1] * k->delay[1][l] + place[2] * k->delay[2][l];
            since[l] = from - delay;
        }
        pulse_sample(&in->pulse, LANES, since, f, NULL);
        return;
    }
    const struct incident_sphere *s = &in->sphere[b];
    const double rate = 1 / in->speed;
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        double square = 0;
        for (int i = 0; i < 3; i++) {
            const double x = place[0] * s->corner[0][i][l] + place[1] * s->corner[1][i][l] +
                             place[2] * s->corner[2][i][l];
            square += x * x;
        }
        r[l] = sqrt(square);
        since[l] = from - w->delay - r[l] * rate;
    }
    pulse_sample(&in->pulse, LANES, since, f, in->differs ? sum : NULL);
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        const double over = 1 / r[l];
        f[l] *= over;
        turned[l] = in->differs ? over * (f[l] + s->whole[l] * sum[l] * over * over) : 0;
    }
}

/* Integrals of f over a block's triangles for each corner: the triangle's weight times the integral
 * of f and the corner's hat over its area; and likewise with the extra weight. Not inlined:
 * different fusions of multiplications and additions in two places would change the bits of a step
 * after a restart. */
static __attribute__((noinline)) void integrate(const struct incident *in, int b, double t,
                                                double *restrict out, double *restrict extra) {
    const struct incident_block *k = &in->block[b];
    const int point = wave_of(in, b)->point;
    double sum[3][LANES] = {{0}}, turn[3][LANES] = {{0}};
    for (int p = 0; p < POINTS; p++) {
        const double *place = incident_place[p];
        double f[LANES], turned[LANES];
        at_point(in, b, p, t - in->pulse.t0, f, turned);
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const double part = incident_share[p] * f[l];
            sum[0][l] += place[0] * part;
            sum[1][l] += place[1] * part;
            sum[2][l] += place[2] * part;
        }
        for (int c = 0; point && c < 3; c++)
            for (int l = 0; l < LANES; l++) turn[c][l] += place[c] * incident_share[p] * turned[l];
    }
    for (int c = 0; c < 3; c++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) out[c * LANES + l] = k->weight[l] * sum[c][l];
    for (int c = 0; point && c < 3; c++)
        for (int l = 0; l < LANES; l++) out[c * LANES + l] += in->sphere[b].turn[l] * turn[c][l];
    for (int c = 0; in->damped && c < 3; c++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) extra[c * LANES + l] = k->extra[l] * sum[c][l];
}

static double at_vertex(const struct incident *in, const double *share, int v) {
    double sum = 0;
    for (int i = in->begin[v]; i < in->begin[v + 1]; i++) sum += share[in->where[i]];
    return sum;
}

/* Whether a block's part of L_n is zero; the integral of f stays behind a point source's pulse. */
static int is_zero(const struct incident *in, int b, double t) {
    const struct incident_block *k = &in->block[b];
    const int point = wave_of(in, b)->point;
    if (in->differs && point) return t - k->first - in->pulse.t0 < in->start;
    return quiet(in, t, k->first, k->last);
}

/* The share of core `me`: L_n at its vertices, to L, and with the extra weight added to E, if that
 * is not NULL. The wave is switched on after step 0. */
static void sample(struct incident *in, evn_crew *crew, int me, int cores, int n, double *L,
                   double *E) {
    const double t = n * in->dt;
    const int off = n <= 0 && in->differs;
    for (int b = evn_crew_begin(in->blocks, me, cores);
         b < evn_crew_begin(in->blocks, me + 1, cores); b++) {
        double *out = in->share + (size_t)b * 3 * LANES;
        double *extra = out + (size_t)in->blocks * 3 * LANES;
        if (off || is_zero(in, b, t))
            for (int i = 0; i < 3 * LANES; i++) out[i] = extra[i] = 0;
        else
            integrate(in, b, t, out, extra);
    }
    evn_crew_barrier(crew);
    const int end = evn_crew_begin(in->vertices, me + 1, cores);
    for (int v = evn_crew_begin(in->vertices, me, cores); v < end; v++) {
        L[v] = at_vertex(in, in->share, v);
        if (E) E[v] = L[v] + at_vertex(in, in->share + (size_t)in->blocks * 3 * LANES, v);
    }
}

int incident_cores(const struct incident *in, const evn_crew *crew, int n) {
    const double t = n * in->dt;
    if (quiet(in, t, in->first, in->last)) return 1;
    return evn_crew_cores(crew, (double)in->blocks * LANES * POINTS, 8192);
}

int incident_single(const struct incident *in) {
    const tdbem_wave *w = in->wave;
    return in->waves == 1 && !w->point && w->amplitude == 1 && w->delay == 0;
}

const char *incident_reference(int single) {
    return single ? "the incident wave at the origin" : "the pulse f, of a source f(t - r/c)/r";
}

int incident_plain(const struct incident *in) { return !in->sphere && !in->pulse.signal; }

struct incident_time incident_at(const struct incident *in, int n) {
    return (struct incident_time){.t = n * in->dt,
                                  .t0 = in->pulse.t0,
                                  .scale = 1 / in->pulse.sigma,
                                  .cut = PULSE_CUT,
                                  .reach = in->end,
                                  .ricker = in->pulse.kind == PULSE_RICKER,
                                  .off = n <= 0 && in->differs};
}

int incident_quiet(const struct incident *in, int n) {
    const double t = n * in->dt;
    return quiet(in, t, in->first, in->last) &&
           (!in->differs || quiet(in, t - in->dt, in->first, in->last));
}

void incident_part(struct incident *in, evn_crew *crew, int me, int cores, int n, double *l) {
    const int last = in->step;
    const int from = evn_crew_begin(in->vertices, me, cores);
    const int to = evn_crew_begin(in->vertices, me + 1, cores);
    if (incident_quiet(in, n)) {
        for (int v = from; v < to; v++) l[v] = 0;
        return;
    }
    if (in->differs && last != n - 1) {
        sample(in, crew, me, cores, n - 1, in->now, NULL);
        evn_crew_barrier(crew);
    }
    sample(in, crew, me, cores, n, in->next, in->damped ? l : NULL);
    for (int v = from; v < to; v++) {
        if (!in->damped) l[v] = in->next[v];
        if (in->differs) l[v] -= in->now[v];
        in->now[v] = in->next[v];
    }
    if (!me) in->step = n; /* everybody has looked at it before they met */
}

void incident_load(struct incident *in, int n, double *l) { incident_part(in, NULL, 0, 1, n, l); }

double incident_stands(const struct incident *in, int n) {
    return (in->problem == TDBEM_SOFT ? n - 0.5 : n) * in->dt;
}

double incident_value(const struct incident *in, const double x[3], double t) {
    double sum = 0;
    for (int i = 0; i < in->waves; i++) {
        const tdbem_wave *w = &in->wave[i];
        const double way[3] = {x[0] - w->at[0], x[1] - w->at[1], x[2] - w->at[2]};
        const double r = w->point ? sqrt(dot(way, way)) : 1;
        const double delay = w->point ? r / in->speed + w->delay : incident_delay(in, w, x);
        sum += w->amplitude * pulse_value(&in->pulse, t - delay) / r;
    }
    return sum;
}

double incident_early(const struct incident *in) {
    double max = 0;
    for (int b = 0; b < in->blocks; b++) {
        const tdbem_wave *w = wave_of(in, b);
        for (int p = 0; p < POINTS; p++) {
            double f[LANES], turned[LANES];
            at_point(in, b, p, -in->pulse.t0, f, turned);
            for (int l = 0; l < LANES; l++)
                if (in->block[b].weight[l] != 0) max = fmax(max, fabs(w->amplitude * f[l]));
        }
    }
    return max / in->height;
}
