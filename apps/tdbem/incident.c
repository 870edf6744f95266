/* Pulses, and their integrals over the triangles. */
#include "incident.h"
#include <math.h>
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

double pulse_value(const struct pulse *p, double t) {
    const double u = (t - p->t0) / p->sigma;
    if (!(fabs(u) <= cut)) return 0;
    const double bell = exp(-0.5 * u * u);
    return p->kind == PULSE_RICKER ? (1 - u * u) * bell : bell;
}

/* Spectra: exp(-(w sigma)^2/2), and (w sigma)^2 times that, which is largest at w sigma = sqrt(2).
 */
double pulse_highest(const struct pulse *p) {
    return (p->kind == PULSE_RICKER ? 3.91 : 3.035) / p->sigma;
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
enum { POINTS = INCIDENT_POINTS };
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

static void measure(struct incident *in, const struct mesh *m, double eta, double delta) {
    in->first = INFINITY;
    in->last = -INFINITY;
    for (int v = 0; v < m->vertices; v++) {
        const double s = dot(in->direction, m->x[v]) / in->speed;
        in->first = fmin(in->first, s);
        in->last = fmax(in->last, s);
    }
    for (int t = 0; t < m->triangles; t++) {
        double normal[3];
        const double area = mesh_normal(m, t, normal);
        memcpy(in->corner[t], m->corner[t], sizeof *in->corner);
        /* -(n.d) + eta, over delta: sound-hard; 1: sound-soft */
        in->weight[t] =
            in->problem == TDBEM_SOFT ? area : area * (eta - dot(normal, in->direction)) / delta;
        for (int p = 0; p < POINTS; p++) {
            double x[3] = {0};
            for (int c = 0; c < 3; c++)
                for (int i = 0; i < 3; i++) x[i] += barycentric[p][c] * m->x[m->corner[t][c]][i];
            in->delay[t * POINTS + p] = dot(in->direction, x) / in->speed;
        }
    }
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
    const size_t t = (size_t)mesh->triangles;
    if (in) {
        in->corner = malloc(t * sizeof *in->corner);
        in->delay = malloc(t * POINTS * sizeof *in->delay);
        in->weight = malloc(t * sizeof *in->weight);
        in->before = malloc(t * POINTS * sizeof *in->before);
        in->now = malloc(t * POINTS * sizeof *in->now);
    }
    if (!in || !in->corner || !in->delay || !in->weight || !in->before || !in->now) {
        incident_close(in);
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the incident wave");
    }
    in->problem = problem;
    in->pulse = *pulse;
    in->speed = speed;
    in->dt = delta / speed;
    in->vertices = mesh->vertices;
    in->triangles = mesh->triangles;
    for (int i = 0; i < 3; i++) in->direction[i] = direction[i] / length;
    measure(in, mesh, eta, delta);
    if (isnan(in->pulse.t0)) in->pulse.t0 = 6.5 * in->pulse.sigma - in->first;
    in->step = -1;
    *out = in;
    return EVN_OK;
}

void incident_close(struct incident *in) {
    if (!in) return;
    free(in->corner);
    free(in->delay);
    free(in->weight);
    free(in->before);
    free(in->now);
    free(in);
}

/* Whether f is 0 on the whole body at t. */
static int quiet(const struct incident *in, double t) {
    const double reach = cut * in->pulse.sigma;
    return t - in->last - in->pulse.t0 > reach || t - in->first - in->pulse.t0 < -reach;
}

int incident_over(const struct incident *in) {
    const double t = in->pulse.t0 + in->last + cut * in->pulse.sigma;
    /* l_n also has F of the step before */
    const double n = floor(t / in->dt) + 3;
    return n < 1 ? 1 : n > 2e9 ? 2000000000 : (int)n;
}

/* F_n at all points; the wave is switched on after step 0. Not inlined: a compiler that fuses
 * multiplications and additions differently here and there would make F_n as it was computed in
 * step n another one than in step n + 1 after a restart. */
static __attribute__((noinline)) void sample(const struct incident *in, int n, double *f) {
    const double t = n * in->dt;
    const int soft = in->problem == TDBEM_SOFT;
    for (int i = 0; i < in->triangles * POINTS; i++)
        f[i] = n > 0 || soft ? pulse_value(&in->pulse, t - in->delay[i]) : 0;
}

void incident_load(struct incident *in, int n, double *l) {
    const double t = n * in->dt;
    const int soft = in->problem == TDBEM_SOFT;
    memset(l, 0, sizeof *l * (size_t)in->vertices);
    if (quiet(in, t) && (soft || quiet(in, t - in->dt))) return;
    if (!soft && in->step != n - 1) sample(in, n - 1, in->now);
    double *before = in->now;
    in->now = in->before;
    in->before = before;
    sample(in, n, in->now);
    for (int k = 0; k < in->triangles; k++) {
        double sum[3] = {0};
        for (int p = 0; p < POINTS; p++) {
            const int i = k * POINTS + p;
            const double f = share[p] * (soft ? in->now[i] : in->now[i] - before[i]);
            for (int c = 0; c < 3; c++) sum[c] += barycentric[p][c] * f;
        }
        for (int c = 0; c < 3; c++) l[in->corner[k][c]] += in->weight[k] * sum[c];
    }
    in->step = n;
}

double incident_value(const struct incident *in, const double x[3], double t) {
    return pulse_value(&in->pulse, t - dot(in->direction, x) / in->speed);
}

double incident_early(const struct incident *in) {
    double most = 0;
    for (int i = 0; i < in->triangles * POINTS; i++)
        most = fmax(most, fabs(pulse_value(&in->pulse, -in->delay[i])));
    return most;
}
