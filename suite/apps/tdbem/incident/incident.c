/* Pulses, and their integrals over the triangles. */
#include "tdbem/incident/incident.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- pulses ---- */

static const double cut = 9; /* sigmas from the middle where f is zero for good */

static evn_status bad_pulse(const char *text, const char *why) {
    return evn_fail(EVN_USAGE,
                    "pulse: \"%s\": %s, expected gaussian:sigma=S or ricker:sigma=S,t0=T", text,
                    why);
}

evn_status pulse_read(struct pulse *out, const char *text) {
    *out = (struct pulse){.t0 = NAN};
    const size_t length = strcspn(text, ":");
    if (length == 8 && !strncmp(text, "gaussian", 8))
        out->kind = PULSE_GAUSSIAN;
    else if (length == 6 && !strncmp(text, "ricker", 6))
        out->kind = PULSE_RICKER;
    else
        return bad_pulse(text, "there is no such pulse");
    for (const char *p = text + length; *p;) {
        p++;
        double *to;
        if (!strncmp(p, "sigma=", 6)) {
            to = &out->sigma;
            p += 6;
        } else if (!strncmp(p, "t0=", 3)) {
            to = &out->t0;
            p += 3;
        } else {
            return bad_pulse(text, "what it takes is sigma and t0");
        }
        char *end;
        *to = strtod(p, &end);
        if (end == p || !isfinite(*to) || (*end && *end != ','))
            return bad_pulse(text, "there is no number");
        p = end;
    }
    if (!(out->sigma > 0)) return bad_pulse(text, "sigma is not above 0");
    return EVN_OK;
}

/* exp(-u^2/2) for |u| <= cut. A function of the C library could not be computed for several u at
 * once. */
static inline double bell(double u) {
    double t, scale;
    const double e = incident_bell(u, &t);
    uint64_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    memcpy(&scale, &bits, sizeof scale);
    return e * scale;
}

/* `ricker`: 1 or 0. Without branches, for several u at once. */
static inline double pulse_at(double ricker, double u) {
    const double size = fabs(u), near = size < cut ? size : cut;
    const double f = (1 - ricker * near * near) * bell(near);
    return size <= cut ? f : 0; /* not for NaN */
}

double pulse_value(const struct pulse *p, double t) {
    return pulse_at(p->kind == PULSE_RICKER, (t - p->t0) / p->sigma);
}

/* Spectra: exp(-(w sigma)^2/2), and (w sigma)^2 times that, which is largest at w sigma = sqrt(2).
 */
double pulse_highest(const struct pulse *p) {
    return (p->kind == PULSE_RICKER ? 3.91 : 3.035) / p->sigma;
}

int pulse_carries(const struct pulse *p, double w) {
    const double x = w * p->sigma, bell = exp(-0.5 * x * x);
    return (p->kind == PULSE_RICKER ? 0.5 * M_E * x * x * bell : bell) >= 1e-4;
}

/* ---- right-hand sides ---- */

/* 12 points of degree 6 (Dunavant 1985) */
#define A 0.501426509658179
#define B 0.249286745170910
#define C 0.873821971016996
#define D 0.063089014491502
#define E 0.053145049844817
#define F 0.310352451033784
#define G 0.636502499121399
enum { POINTS = INCIDENT_POINTS, LANES = INCIDENT_LANES };

static const double barycentric[POINTS][3] = {
    {A, B, B}, {B, A, B}, {B, B, A}, {C, D, D}, {D, C, D}, {D, D, C},
    {E, F, G}, {F, G, E}, {G, E, F}, {E, G, F}, {G, F, E}, {F, E, G},
};
#undef A
#undef B
#undef C
#undef D
#undef E
#undef F
#undef G
static const double share[POINTS] = {
    0.116786275726379, 0.116786275726379, 0.116786275726379, 0.050844906370207,
    0.050844906370207, 0.050844906370207, 0.082851075618374, 0.082851075618374,
    0.082851075618374, 0.082851075618374, 0.082851075618374, 0.082851075618374,
};

void incident_rule(const double (**b)[3], const double **weight) {
    *b = barycentric;
    *weight = share;
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

struct place {
    double delay; /* least of its corners */
    int triangle;
};

static int by_delay(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->delay != y->delay ? (x->delay > y->delay) - (x->delay < y->delay)
                                : x->triangle - y->triangle;
}

static void measure(struct incident *in, const struct mesh *m, struct place *place) {
    in->first = INFINITY;
    in->last = -INFINITY;
    for (int v = 0; v < m->vertices; v++) {
        const double s = dot(in->direction, m->x[v]) / in->speed;
        in->first = fmin(in->first, s);
        in->last = fmax(in->last, s);
    }
    for (int t = 0; t < m->triangles; t++) {
        place[t] = (struct place){INFINITY, t};
        for (int c = 0; c < 3; c++)
            place[t].delay =
                fmin(place[t].delay, dot(in->direction, m->x[m->corner[t][c]]) / in->speed);
    }
    /* those that the pulse is at are neighbours, and the others are left out */
    qsort(place, (size_t)m->triangles, sizeof *place, by_delay);
}

/* Triangle t as one of block's lanes. */
static void put(struct incident *in, const struct mesh *m, struct incident_block *block, int lane,
                int t, double eta, double delta) {
    double normal[3];
    const double area = mesh_normal(m, t, normal);
    /* over delta: eta - n.d, sound-hard; 1 - eta n.d, sound-soft; 1 for f itself */
    const double cosine = dot(normal, in->direction);
    block->weight[lane] = !in->differs                ? area
                          : in->problem == TDBEM_SOFT ? area * (1 - eta * cosine) / delta
                                                      : area * (eta - cosine) / delta;
    block->extra[lane] = area * slices_damping(m, in->problem, eta, delta) / delta;
    for (int c = 0; c < 3; c++) {
        const double s = dot(in->direction, m->x[m->corner[t][c]]) / in->speed;
        block->delay[c][lane] = s;
        block->first = fmin(block->first, s);
        block->last = fmax(block->last, s);
    }
}

/* Blocks of triangles, and where each vertex finds what it gets from them. */
static void arrange(struct incident *in, const struct mesh *m, const struct place *place,
                    double eta, double delta) {
    for (int b = 0; b < in->blocks; b++)
        in->block[b] = (struct incident_block){.first = INFINITY, .last = -INFINITY};
    for (int i = 0; i < m->triangles; i++) {
        put(in, m, &in->block[i / LANES], i % LANES, place[i].triangle, eta, delta);
        for (int c = 0; c < 3; c++) in->begin[m->corner[place[i].triangle][c] + 1]++;
    }
    for (int v = 0; v < m->vertices; v++) in->begin[v + 1] += in->begin[v];
    for (int i = m->triangles - 1; i >= 0; i--)
        for (int c = 2; c >= 0; c--) { /* from the end: begin[v + 1] becomes begin[v] */
            const int v = m->corner[place[i].triangle][c];
            in->where[--in->begin[v + 1]] = (i / LANES * 3 + c) * LANES + i % LANES;
        }
    memmove(in->begin, in->begin + 1, sizeof *in->begin * (size_t)m->vertices);
    in->begin[m->vertices] = 3 * m->triangles;
}

evn_status incident_open(struct incident **out, const struct mesh *mesh, enum tdbem_problem problem,
                         double eta, double delta, double speed, const double direction[3],
                         const struct pulse *pulse) {
    *out = NULL;
    const double length = sqrt(dot(direction, direction));
    if (!(length > 0) || !isfinite(length))
        return evn_fail(EVN_USAGE, "direction: %g,%g,%g is none, expected three numbers, not all 0",
                        direction[0], direction[1], direction[2]);
    if (!(speed > 0) || !isfinite(speed))
        return evn_fail(EVN_USAGE, "speed: %g is none, expected a number above 0", speed);
    struct incident *in = calloc(1, sizeof *in);
    const size_t t = (size_t)mesh->triangles, v = (size_t)mesh->vertices;
    struct place *place = malloc(t * sizeof *place);
    if (in) {
        in->blocks = (mesh->triangles + LANES - 1) / LANES;
        in->block = aligned_alloc(64, ((size_t)in->blocks * sizeof *in->block + 63) / 64 * 64);
        in->share = aligned_alloc(64, 2 * (size_t)in->blocks * 3 * LANES * sizeof *in->share);
        in->begin = calloc(v + 1, sizeof *in->begin);
        in->where = malloc(3 * t * sizeof *in->where);
        in->now = malloc(v * sizeof *in->now);
        in->next = malloc(v * sizeof *in->next);
    }
    if (!place || !in || !in->block || !in->share || !in->begin || !in->where || !in->now ||
        !in->next) {
        free(place);
        incident_close(in);
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the incident wave");
    }
    in->problem = problem;
    in->differs = problem == TDBEM_RIGID || eta > 0;
    in->damped = slices_damping(mesh, problem, eta, delta) > 0;
    in->pulse = *pulse;
    in->speed = speed;
    in->dt = delta / speed;
    in->vertices = mesh->vertices;
    for (int i = 0; i < 3; i++) in->direction[i] = direction[i] / length;
    measure(in, mesh, place);
    arrange(in, mesh, place, eta, delta);
    free(place);
    if (isnan(in->pulse.t0)) in->pulse.t0 = 6.5 * in->pulse.sigma - in->first;
    in->step = -1;
    *out = in;
    return EVN_OK;
}

void incident_close(struct incident *in) {
    if (!in) return;
    free(in->block);
    free(in->share);
    free(in->begin);
    free(in->where);
    free(in->now);
    free(in->next);
    free(in);
}

/* Whether f is 0 at t wherever delays are from `first` to `last`. */
static int quiet(const struct incident *in, double t, double first, double last) {
    const double reach = cut * in->pulse.sigma;
    return t - last - in->pulse.t0 > reach || t - first - in->pulse.t0 < -reach;
}

int incident_over(const struct incident *in) {
    const double t = in->pulse.t0 + in->last + cut * in->pulse.sigma;
    /* l_n also has F of the step before */
    const double n = floor(t / in->dt) + 3;
    return n < 1 ? 1 : n > 2e9 ? 2000000000 : (int)n;
}

/* Integrals of f over a block's triangles for each corner: the triangle's weight times the integral
 * of f and the corner's hat over its area; and likewise with the extra weight. Not inlined:
 * different fusions of multiplications and additions in two places would change the bits of a step
 * after a restart. */
static __attribute__((noinline)) void integrate(const struct incident *in, int b, double t,
                                                double *restrict out, double *restrict extra) {
    const struct incident_block *k = &in->block[b];
    const double ricker = in->pulse.kind == PULSE_RICKER;
    const double from = t - in->pulse.t0, scale = 1 / in->pulse.sigma;
    double sum[3][LANES] = {{0}};
    for (int p = 0; p < POINTS; p++) {
        const double *place = barycentric[p];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const double delay =
                place[0] * k->delay[0][l] + place[1] * k->delay[1][l] + place[2] * k->delay[2][l];
            const double f = share[p] * pulse_at(ricker, (from - delay) * scale);
            sum[0][l] += place[0] * f;
            sum[1][l] += place[1] * f;
            sum[2][l] += place[2] * f;
        }
    }
    for (int c = 0; c < 3; c++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) out[c * LANES + l] = k->weight[l] * sum[c][l];
    for (int c = 0; in->damped && c < 3; c++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) extra[c * LANES + l] = k->extra[l] * sum[c][l];
}

static double at_vertex(const struct incident *in, const double *share, int v) {
    double sum = 0;
    for (int i = in->begin[v]; i < in->begin[v + 1]; i++) sum += share[in->where[i]];
    return sum;
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
        if (off || quiet(in, t, in->block[b].first, in->block[b].last))
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

struct incident_time incident_at(const struct incident *in, int n) {
    return (struct incident_time){.t = n * in->dt,
                                  .t0 = in->pulse.t0,
                                  .scale = 1 / in->pulse.sigma,
                                  .cut = cut,
                                  .reach = cut * in->pulse.sigma,
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
    return pulse_value(&in->pulse, t - dot(in->direction, x) / in->speed);
}

double incident_early(const struct incident *in) {
    double max = 0;
    for (int b = 0; b < in->blocks; b++)
        for (int l = 0; l < LANES; l++)
            for (int p = 0; p < POINTS && in->block[b].weight[l] != 0; p++) {
                double delay = 0;
                for (int c = 0; c < 3; c++) delay += barycentric[p][c] * in->block[b].delay[c][l];
                max = fmax(max, fabs(pulse_value(&in->pulse, -delay)));
            }
    return max;
}
