/* Opening incident waves: what is known of each triangle before the first step. */
#include "tdbem/incident/incident.h"
#include "tdbem/mesh/geometry.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = INCIDENT_POINTS, LANES = INCIDENT_LANES };

/* ---- the rule of quadrature ---- */

/* 12 points of degree 6 (Dunavant 1985) */
#define A 0.501426509658179
#define B 0.249286745170910
#define C 0.873821971016996
#define D 0.063089014491502
#define E 0.053145049844817
#define F 0.310352451033784
#define G 0.636502499121399

const double incident_place[POINTS][3] = {
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
const double incident_share[POINTS] = {
    0.116786275726379, 0.116786275726379, 0.116786275726379, 0.050844906370207,
    0.050844906370207, 0.050844906370207, 0.082851075618374, 0.082851075618374,
    0.082851075618374, 0.082851075618374, 0.082851075618374, 0.082851075618374,
};

struct place {
    double delay; /* least of its corners */
    int triangle;
};

static int by_delay(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->delay != y->delay ? (x->delay > y->delay) - (x->delay < y->delay)
                                : x->triangle - y->triangle;
}

/* ---- what is known of a triangle ---- */

double incident_delay(const struct incident *in, const tdbem_wave *w, const double x[3]) {
    return dot(w->at, x) / in->speed + w->delay;
}

/* A point of a triangle, by its barycentric coordinates; from a source. */
static void point_at(const struct mesh *m, int t, const double share[3], const double from[3],
                     double x[3]) {
    const int *c = m->corner[t];
    for (int i = 0; i < 3; i++)
        x[i] = share[0] * m->x[c[0]][i] + share[1] * m->x[c[1]][i] + share[2] * m->x[c[2]][i] -
               from[i];
}

/* Least and largest distance of a source from a triangle's corners and points. */
static void distances(const struct mesh *m, int t, const double from[3], double *least,
                      double *most) {
    static const double corner[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    *least = INFINITY;
    *most = 0;
    for (int p = 0; p < POINTS + 3; p++) {
        double x[3];
        point_at(m, t, p < POINTS ? incident_place[p] : corner[p - POINTS], from, x);
        const double r = sqrt(dot(x, x));
        *least = fmin(*least, r);
        *most = fmax(*most, r);
    }
}

static double longest_edge(const struct mesh *m, int t) {
    double longest = 0;
    for (int c = 0; c < 3; c++) {
        double edge[3];
        for (int i = 0; i < 3; i++)
            edge[i] = m->x[m->corner[t][(c + 1) % 3]][i] - m->x[m->corner[t][c]][i];
        longest = fmax(longest, dot(edge, edge));
    }
    return sqrt(longest);
}

/* The angle that a triangle is seen under from a source, over the height of the source above its
 * plane (Van Oosterom and Strackee 1983); x: its corners, from the source. */
static double angle_over_height(double x[3][3], double area, double height) {
    const double r[3] = {sqrt(dot(x[0], x[0])), sqrt(dot(x[1], x[1])), sqrt(dot(x[2], x[2]))};
    const double below = r[0] * r[1] * r[2] + dot(x[0], x[1]) * r[2] + dot(x[1], x[2]) * r[0] +
                         dot(x[2], x[0]) * r[1];
    return 2 * atan2(2 * area * fabs(height), below) / fabs(height);
}

/* Orders the triangles by a wave's delays, and finds the least and the largest ones. */
static void measure(struct incident *in, const struct mesh *m, const tdbem_wave *w,
                    struct place *place) {
    double nearest = INFINITY;
    for (int v = 0; !w->point && v < m->vertices; v++) {
        const double s = incident_delay(in, w, m->x[v]);
        in->first = fmin(in->first, s);
        in->last = fmax(in->last, s);
    }
    for (int t = 0; t < m->triangles; t++) {
        place[t] = (struct place){INFINITY, t};
        for (int c = 0; !w->point && c < 3; c++)
            place[t].delay = fmin(place[t].delay, incident_delay(in, w, m->x[m->corner[t][c]]));
        if (!w->point) continue;
        double least, most;
        distances(m, t, w->at, &least, &most);
        nearest = fmin(nearest, least);
        place[t].delay = least / in->speed + w->delay;
        in->first = fmin(in->first, place[t].delay);
        in->last = fmax(in->last, most / in->speed + w->delay);
        in->nearest = fmin(in->nearest, least / longest_edge(m, t));
    }
    in->height += fabs(w->amplitude) * pulse_most(&in->pulse) / (w->point ? nearest : 1);
    /* those that the pulse is at are neighbours, and the others are left out */
    qsort(place, (size_t)m->triangles, sizeof *place, by_delay);
}

/* What stands before c dp/dt and dp/dn in the equation. */
static void factors(const struct incident *in, double eta, double *rate, double *slope) {
    const int soft = in->problem == TDBEM_SOFT;
    *rate = soft ? 1 : eta;
    *slope = soft ? eta : 1;
}

/* The part of a point source, whose dp/dn is -(n.x/r) (f'/(c r) + f/r^2). */
static void put_sphere(struct incident *in, const struct mesh *m, const tdbem_wave *w,
                       struct incident_sphere *sphere, int lane, int t, double slope,
                       double delta) {
    double normal[3], x[3][3], sum = 0;
    const double area = mesh_normal(m, t, normal);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            sphere->corner[c][i][lane] = x[c][i] = m->x[m->corner[t][c]][i] - w->at[i];
    const double height = dot(normal, x[0]);
    for (int p = 0; p < POINTS; p++) {
        double at[3];
        point_at(m, t, incident_place[p], w->at, at);
        const double r = sqrt(dot(at, at));
        sum += incident_share[p] * area / (r * r * r);
    }
    sphere->turn[lane] = in->differs ? -w->amplitude * area * slope * height / delta : 0;
    sphere->whole[lane] =
        height != 0 ? in->speed * angle_over_height(x, area, height) / sum : in->speed;
}

/* Triangle t as one of a block's lanes. */
static void put(struct incident *in, const struct mesh *m, const tdbem_wave *w, int b, int lane,
                int t, double eta, double delta) {
    struct incident_block *block = &in->block[b];
    double normal[3], rate, slope;
    const double area = mesh_normal(m, t, normal) * w->amplitude;
    const double cosine = w->point ? 0 : dot(normal, w->at);
    factors(in, eta, &rate, &slope);
    block->weight[lane] = in->differs ? area * (rate - slope * cosine) / delta : area;
    block->extra[lane] = area * slices_damping(m, in->problem, eta, delta) / delta;
    if (w->point) {
        double least, most;
        distances(m, t, w->at, &least, &most);
        block->first = fmin(block->first, least / in->speed + w->delay);
        block->last = fmax(block->last, most / in->speed + w->delay);
        put_sphere(in, m, w, &in->sphere[b], lane, t, slope, delta);
        return;
    }
    for (int c = 0; c < 3; c++) {
        const double s = incident_delay(in, w, m->x[m->corner[t][c]]);
        block->delay[c][lane] = s;
        block->first = fmin(block->first, s);
        block->last = fmax(block->last, s);
    }
}

/* Blocks of a wave's triangles, from block `first` on. */
static void arrange(struct incident *in, const struct mesh *m, const tdbem_wave *w, int first,
                    const struct place *place, double eta, double delta) {
    for (int b = first; b < first + in->blocks / in->waves; b++)
        in->block[b] = (struct incident_block){.first = INFINITY, .last = -INFINITY};
    for (int i = 0; i < m->triangles; i++) {
        put(in, m, w, first + i / LANES, i % LANES, place[i].triangle, eta, delta);
        for (int c = 0; c < 3; c++) in->begin[m->corner[place[i].triangle][c] + 1]++;
    }
}

/* Where each vertex finds what it gets from the blocks, each wave's triangles in their order. */
static void connect(struct incident *in, const struct mesh *m, const struct place *place) {
    for (int v = 0; v < m->vertices; v++) in->begin[v + 1] += in->begin[v];
    for (int w = in->waves - 1; w >= 0; w--)
        for (int i = m->triangles - 1; i >= 0; i--)
            for (int c = 2; c >= 0; c--) { /* from the end: begin[v + 1] becomes begin[v] */
                const struct place *at = &place[(size_t)w * (size_t)m->triangles + (size_t)i];
                const int b = in->blocks / in->waves * w + i / LANES;
                in->where[--in->begin[m->corner[at->triangle][c] + 1]] =
                    (b * 3 + c) * LANES + i % LANES;
            }
    memmove(in->begin, in->begin + 1, sizeof *in->begin * (size_t)m->vertices);
    in->begin[m->vertices] = 3 * m->triangles * in->waves;
}

/* ---- opening ---- */

static evn_status check(const struct mesh *m, double speed, const tdbem_incidence *of) {
    if (!(speed > 0) || !isfinite(speed))
        return evn_fail(EVN_USAGE, "speed: %g is none, expected a number above 0", speed);
    for (int w = 0; w < of->waves; w++) {
        const tdbem_wave *wave = &of->wave[w];
        const double length = sqrt(dot(wave->at, wave->at));
        double away = 0;
        if (!isfinite(length) || (!wave->point && !(length > 0)))
            return evn_fail(EVN_USAGE,
                            "%s: %g,%g,%g is none, expected three numbers%s that can be squared",
                            wave->point ? "source" : "direction", wave->at[0], wave->at[1],
                            wave->at[2], wave->point ? "" : ", not all 0,");
        if (!isfinite(wave->amplitude) || !isfinite(wave->delay))
            return evn_fail(EVN_USAGE,
                            "wave %d: amplitude %g and delay %g, expected numbers that are finite",
                            w + 1, wave->amplitude, wave->delay);
        if (!wave->point) continue;
        const int inside = mesh_inside(m, wave->at, &away);
        if (inside || away < 1e-9 * m->longest)
            return evn_fail(EVN_USAGE,
                            "source %d: (%g, %g, %g) is %s, %.3g away from it; expected a point in "
                            "the air",
                            w + 1, wave->at[0], wave->at[1], wave->at[2],
                            inside ? "inside of the surface" : "on the surface", away);
    }
    const double places = 3.0 * LANES * ((double)m->triangles / LANES + 1) * of->waves;
    return of->waves < 1 || places > 2e9
               ? evn_fail(EVN_USAGE, "td-bem: %d waves on %d triangles, expected 1 to %.0f",
                          of->waves, m->triangles, 2e9 * of->waves / places)
               : EVN_OK;
}

static evn_status make_room(struct incident *in, const struct mesh *mesh,
                            const tdbem_incidence *of) {
    const size_t v = (size_t)mesh->vertices, w = (size_t)of->waves;
    int points = 0;
    for (int i = 0; i < of->waves; i++) points += of->wave[i].point;
    in->blocks = (mesh->triangles + LANES - 1) / LANES * of->waves;
    const size_t blocks = (size_t)in->blocks;
    in->wave = malloc(w * sizeof *in->wave);
    in->block = aligned_alloc(64, (blocks * sizeof *in->block + 63) / 64 * 64);
    if (points) in->sphere = aligned_alloc(64, (blocks * sizeof *in->sphere + 63) / 64 * 64);
    in->share = aligned_alloc(64, 2 * blocks * 3 * LANES * sizeof *in->share);
    in->begin = calloc(v + 1, sizeof *in->begin);
    in->where = malloc(3 * (size_t)mesh->triangles * w * sizeof *in->where);
    in->now = malloc(v * sizeof *in->now);
    in->next = malloc(v * sizeof *in->next);
    if (!in->wave || !in->block || (points && !in->sphere) || !in->share || !in->begin ||
        !in->where || !in->now || !in->next)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the incident wave");
    for (size_t b = 0; points && b < blocks; b++) { /* lanes that are none are 1 away */
        memset(&in->sphere[b], 0, sizeof *in->sphere);
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < LANES; l++) in->sphere[b].corner[c][0][l] = 1;
    }
    return EVN_OK;
}

/* Copies the waves, directions of plane ones with length 1. in->direction is that of the first
 * wave; of a point source, from it to the middle of the mesh. */
static void direct(struct incident *in, const struct mesh *m, const tdbem_incidence *of) {
    double way[3], low[3] = {INFINITY, INFINITY, INFINITY},
                   high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int w = 0; w < of->waves; w++) {
        in->wave[w] = of->wave[w];
        const double length = sqrt(dot(of->wave[w].at, of->wave[w].at));
        for (int i = 0; !of->wave[w].point && i < 3; i++) in->wave[w].at[i] /= length;
    }
    memcpy(in->direction, in->wave->at, sizeof in->direction);
    if (!in->wave->point) return;
    for (int v = 0; v < m->vertices; v++)
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], m->x[v][i]);
            high[i] = fmax(high[i], m->x[v][i]);
        }
    for (int i = 0; i < 3; i++) way[i] = 0.5 * (low[i] + high[i]) - in->wave->at[i];
    const double length = sqrt(dot(way, way));
    for (int i = 0; i < 3; i++) in->direction[i] = length > 0 ? way[i] / length : i == 2;
}

/* When the pulse begins, where that is left open: incident.h. */
static void choose_time(struct incident *in) {
    double first = in->first;
    for (int w = 0; !in->pulse.signal && w < in->waves; w++)
        if (in->wave[w].point) first = fmin(first, in->wave[w].delay);
    if (!isnan(in->pulse.t0)) return;
    in->pulse.t0 = in->pulse.signal ? fmax(-in->start - first, 0) : 6.5 * in->pulse.sigma - first;
}

static evn_status open_waves(struct incident *in, const struct mesh *mesh, double eta, double delta,
                             const tdbem_incidence *of) {
    const size_t t = (size_t)mesh->triangles;
    struct place *place = malloc(t * (size_t)of->waves * sizeof *place);
    evn_status status = place ? make_room(in, mesh, of)
                              : evn_fail(EVN_MEMORY, "td-bem: not enough memory for waves");
    if (!status) direct(in, mesh, of);
    for (int w = 0; !status && w < in->waves; w++) {
        measure(in, mesh, &in->wave[w], place + (size_t)w * t);
        arrange(in, mesh, &in->wave[w], in->blocks / in->waves * w, place + (size_t)w * t, eta,
                delta);
    }
    if (!status) connect(in, mesh, place);
    free(place);
    return status;
}

evn_status incident_open(struct incident **out, const struct mesh *mesh, enum tdbem_problem problem,
                         double eta, double delta, double speed, const tdbem_incidence *of,
                         const struct pulse *pulse) {
    *out = NULL;
    evn_status status = check(mesh, speed, of);
    if (status) return status;
    struct incident *in = calloc(1, sizeof *in);
    if (!in) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the incident wave");
    in->problem = problem;
    in->differs = problem == TDBEM_RIGID || eta > 0;
    in->damped = slices_damping(mesh, problem, eta, delta) > 0;
    in->pulse = *pulse;
    in->waves = of->waves;
    in->speed = speed;
    in->dt = delta / speed;
    in->vertices = mesh->vertices;
    in->first = in->nearest = INFINITY;
    in->last = -INFINITY;
    in->step = -1;
    pulse_extent(pulse, &in->start, &in->end);
    status = open_waves(in, mesh, eta, delta, of);
    if (status) {
        incident_close(in);
        return status;
    }
    choose_time(in);
    *out = in;
    return EVN_OK;
}

void incident_close(struct incident *in) {
    if (!in) return;
    free_all(in->wave, in->block, in->sphere, in->share, in->begin, in->where, in->now, in->next,
             in);
}
