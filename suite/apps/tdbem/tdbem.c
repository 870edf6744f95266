/* Opening a problem: mesh, numbering, matrices, layouts, solver, incident wave, each checked before
 * the next is begun. */
#include "tdbem/tdbem.h"
#include "common/run/hash.h"
#include "common/run/thread_seconds.h"
#include "tdbem/fast/method.h"
#include "tdbem/matrices/matrices.h"
#include "tdbem/mesh/mesh_read.h"
#include "tdbem/mesh/mesh_thickness.h"
#include "tdbem/mesh/numbering.h"
#include "common/run/free_all.h"
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tdbem_options tdbem_defaults(void) {
    return (tdbem_options){
        .problem = TDBEM_RIGID,
        .eta = NAN,
        .speed = 1,
        .direction = {0, 0, 1},
        .layout = "rows",
        .order = "hilbert",
        .solver = "auto",
        .method = "auto",
        .accuracy = 1e-3,
        .group = 16,
        .null_field = 1,
    };
}

void tdbem_warn(tdbem *p, const char *format, ...) {
    if (p->warnings == WARNINGS) return;
    char *line = p->warning[p->warnings];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof *p->warning, format, arguments);
    va_end(arguments);
    for (int i = 0; i < p->warnings; i++)
        if (!strcmp(p->warning[i], line)) return;
    p->warnings++;
}

static void warn_about(tdbem *p) {
    const struct mesh *m = p->mesh;
    if (*m->note) tdbem_warn(p, "mesh: %s", m->note);
    if (m->components > 1) tdbem_warn(p, "mesh: it has %d components, not one", m->components);
    const double ratio = p->shape.delta / m->h_mean;
    if (ratio < 0.2 - 1e-9 || ratio > 1.2 + 1e-9)
        tdbem_warn(p, "delta: c dt = %.4g is %.3g of the mean edge %.4g; expected 0.2 to 1.2",
                   p->shape.delta, ratio, m->h_mean);
    tdbem_warn_of_waves(p);
    if (p->options.problem == TDBEM_RIGID && p->options.eta == 0 && p->options.single)
        tdbem_warn(p, "precision: eta = 0 in float drifts in long runs; use double or eta = 0.5");
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* Up to three points inside, two edges from the surface or more, the deepest first and then far
 * from those there are. Looked for on a grid that is no multiple of anything (at the centre of a
 * sphere all of the surface would be at one distance), and, since bodies can be slender, a little
 * more than two edges below some of the triangles. */
static int inner_points(const struct mesh *m, double out[3][3]) {
    enum { GRID = 7, CUBE = GRID * GRID * GRID, BELOW = 256, ALL = CUBE + BELOW };
    static const double offset[3] = {0.37, 0.43, 0.59};
    double low[3], high[3], depth[ALL], at[ALL][3];
    mesh_bounds(m, low, high);
#pragma omp parallel for schedule(dynamic, 8)
    for (int g = 0; g < ALL; g++) {
        const int place[3] = {g % GRID, g / GRID % GRID, g / GRID / GRID};
        const int t = (int)((long long)m->triangles * (g - CUBE) / BELOW);
        double normal[3] = {0};
        if (g >= CUBE) mesh_normal(m, t, normal);
        for (int i = 0; i < 3; i++) {
            at[g][i] = low[i] + (high[i] - low[i]) * (place[i] + offset[i]) / GRID;
            if (g < CUBE) continue;
            const int *c = m->corner[t];
            at[g][i] =
                (m->x[c[0]][i] + m->x[c[1]][i] + m->x[c[2]][i]) / 3 - 2.1 * m->h_mean * normal[i];
        }
        depth[g] = 0;
        if (!mesh_inside(m, at[g], &depth[g]) || depth[g] < 2 * m->h_mean) depth[g] = 0;
    }
    int count = 0;
    for (; count < 3; count++) {
        int best = -1;
        double worth = 0;
        for (int g = 0; g < ALL; g++) {
            double w = depth[g];
            for (int c = 0; w > 0 && c < count; c++) w = fmin(w, 0.5 * distance(at[g], out[c]));
            if (w > worth) best = g, worth = w;
        }
        if (best < 0) break;
        memcpy(out[count], at[best], sizeof *out);
        depth[best] = 0;
    }
    return count;
}

/* Which of the points are in the body (1), on its surface (2), or behind a plane (3). */
static void find_buried(const tdbem *p, int *where) {
    const struct mesh *m = p->mesh;
    double low[3], high[3];
    mesh_bounds(m, low, high);
    const double rounding = 1e-9 * m->longest;
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < p->asked; i++) {
        const double *x = p->asked_point[i];
        double away = 0;
        int out = 0;
        for (int c = 0; c < 3; c++) out |= x[c] < low[c] - rounding || x[c] > high[c] + rounding;
        where[i] = mirror_behind(&m->mirror, x, rounding) < 0 ? 0 : 3;
        if (out || where[i]) continue;
        if (mesh_inside(m, x, &away)) where[i] = 1;
        if (away < rounding) where[i] = 2;
    }
}

/* Points of a list must be in the air. */
static evn_status refuse_buried(const tdbem *p, const int *where) {
    for (int i = 0; i < p->asked && !p->options.grid.points[0]; i++) {
        const double *x = p->asked_point[i];
        if (where[i] == 1)
            return evn_fail(
                EVN_USAGE,
                "probe %d: (%g, %g, %g) is inside of the body; expected a point in the air", i + 1,
                x[0], x[1], x[2]);
        if (where[i] == 3)
            return evn_fail(
                EVN_USAGE,
                "probe %d: (%g, %g, %g) is behind a plane; expected a point on the body's side",
                i + 1, x[0], x[1], x[2]);
        if (where[i])
            return evn_fail(EVN_USAGE,
                            "probe %d: (%g, %g, %g) is on the surface; use --vertices there", i + 1,
                            x[0], x[1], x[2]);
        for (int c = 0; c < p->columns; c++)
            if (!isfinite(incident_value(p->column[c], x, 0)))
                return evn_fail(
                    EVN_USAGE,
                    "probe %d: (%g, %g, %g) is where a source is, whose wave has no value there",
                    i + 1, x[0], x[1], x[2]);
    }
    return EVN_OK;
}

static evn_status place_points(tdbem *p) {
    const tdbem_options *o = &p->options;
    double inside[3][3];
    p->asked = o->points;
    p->inside = o->null_field ? inner_points(p->mesh, inside) : 0;
    const size_t asked = (size_t)p->asked, all = asked + (size_t)p->inside;
    p->point = malloc((all + 1) * sizeof *p->point);
    p->asked_point = malloc((asked + 1) * sizeof *p->asked_point);
    p->row = malloc((asked + 1) * sizeof *p->row);
    if (!p->point || !p->asked_point || !p->row)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for %zu points", all);
    for (int i = 0; i < p->asked; i++)
        for (int c = 0; c < 3; c++) {
            if (!isfinite(o->point[i][c]))
                return evn_fail(EVN_USAGE, "probe %d: a coordinate is no number", i + 1);
            p->asked_point[i][c] = o->point[i][c];
        }
    find_buried(p, p->row);
    evn_status status = refuse_buried(p, p->row);
    if (status) return status;
    for (int i = 0; i < p->asked; i++) {
        p->row[i] = p->row[i] ? -1 : p->points++;
        if (p->row[i] >= 0) memcpy(p->point[p->row[i]], p->asked_point[i], sizeof *p->point);
    }
    if (p->asked && !p->points)
        return evn_fail(EVN_USAGE,
                        "probes: all %d of them are inside of the body; expected some in the air",
                        p->asked);
    memcpy(p->point[p->points], inside, sizeof *inside * (size_t)p->inside);
    return EVN_OK;
}

evn_status tdbem_as_input(evn_status status) {
    return status == EVN_SYSTEM ? evn_fail(EVN_USAGE, "%s", evn_message()) : status;
}

static void describe(tdbem *p) {
    const struct mesh *m = p->mesh;
    const struct incident *in = p->incident;
    tdbem_shape *s = &p->shape;
    s->vertices = m->vertices;
    s->triangles = m->triangles;
    s->components = m->components;
    s->points = p->points;
    s->buried = p->asked - p->points;
    s->inside = p->inside;
    s->filters = p->boundary ? p->boundary->filters : 0;
    s->volume = m->volume;
    s->h_mean = m->h_mean;
    s->dt = in->dt;
    s->sigma = in->pulse.sigma;
    s->t0 = in->pulse.t0;
    s->highest = fmin(pulse_highest(&in->pulse), 2 * M_PI * in->speed / (8 * m->h_mean));
    s->eta = p->options.eta;
    s->incidences = p->columns;
    for (int i = 0; i < p->columns; i++) {
        const struct incident *of = p->column[i];
        const double end =
            of->pulse.t0 + of->last + pulse_tail(&of->pulse) + 3 * m->longest / p->options.speed;
        const int steps = (int)fmin(fmax(ceil(end / of->dt), 1), 1e9);
        if (steps > s->default_steps) s->default_steps = steps;
    }
}

/* Steps that are not even of the order of the body are a slip of a unit, and make numbers overflow.
 */
static evn_status check_delta(const tdbem *p) {
    const double steps = p->mesh->longest / p->shape.delta;
    if (steps > 1e-3 && steps < 1e9) return EVN_OK;
    return evn_fail(
        EVN_USAGE,
        "delta: c dt = %.4g for a body %.4g long, expected about half of its mean edge of %.4g",
        p->shape.delta, p->mesh->longest, p->mesh->h_mean);
}

static uint64_t points_hash(const tdbem *p) {
    return hash_bytes(HASH_SEED, p->point, sizeof *p->point * (size_t)(p->points + p->inside));
}

static evn_status identify(tdbem *p) {
    const tdbem_options *o = &p->options;
    const struct incident *in = p->incident;
    char pulse[96], waves[96];
    pulse_words(&in->pulse, pulse, sizeof pulse);
    tdbem_name_waves(p, waves, sizeof waves);
    char admittance[48] = "", method[64] = "";
    if (p->boundary)
        snprintf(admittance, sizeof admittance, " admittance=%016llx",
                 (unsigned long long)p->boundary->hash);
    if (p->octree) snprintf(method, sizeof method, " method=fast accuracy=%.17g", o->accuracy);
    int n = asprintf(
        &p->identity,
        "mesh=%016llx order=%s problem=%s eta=%.17g delta=%.17g quad=%d speed=%.17g %s pulse=%s "
        "ng=%d precision=%s layout=%s solver=%s blocks=%d probes=%d:%016llx%s%s",
        mesh_hash(p->mesh), o->order, o->problem == TDBEM_SOFT ? "soft" : "rigid", p->shape.eta,
        p->shape.delta, o->quad, o->speed, waves, pulse, o->group, o->single ? "float" : "double",
        o->layout, p->solver_kind == SOLVER_MUMPS ? "mumps" : "cg", p->layout->blocks, p->points,
        (unsigned long long)points_hash(p), admittance, method);
    if (n < 0) p->identity = NULL;
    return n < 0 ? evn_fail(EVN_MEMORY, "td-bem: no memory") : EVN_OK;
}

/* Of two triangles, -1: none. */
static double longest_edge(const struct mesh *m, const int triangle[2]) {
    double longest = 0;
    for (int i = 0; i < 2; i++)
        for (int e = 0; triangle[i] >= 0 && e < 3; e++) {
            const int *c = m->corner[triangle[i]];
            longest = fmax(longest, distance(m->x[c[e]], m->x[c[(e + 1) % 3]]));
        }
    return longest;
}

/* Half a mean edge, unless another step is asked for; where a wall or a gap is thinner twice its
 * thickness, since its two sides meet in M_0, which is stable to some steps' thickness only (see
 * skew_lag()), but no less than a fifth of an edge. */
static evn_status choose_delta(tdbem *p) {
    const tdbem_options *o = &p->options;
    const double h = p->mesh->h_mean;
    struct mesh_thickness found;
    tdbem_shape *s = &p->shape;
    evn_status status = mesh_thickness(&found, p->mesh, 2 * h);
    s->facing = fmin(found.wall, found.gap);
    p->beside = longest_edge(p->mesh, found.wall <= found.gap ? found.wall_at : found.gap_at);
    s->delta = o->delta > 0 ? o->delta : (o->delta_ratio > 0 ? o->delta_ratio : 0.5) * h;
    if (status || o->delta > 0 || o->delta_ratio > 0 || 2 * s->facing >= s->delta) return status;
    s->bounded = found.wall <= found.gap ? 1 : 2;
    s->delta = fmax(2 * s->facing, 0.2 * h);
    return EVN_OK;
}

/* A rigid hole's air keeps what rounding and quadrature let in for ever. */
static evn_status check_cavities(const tdbem *p) {
    int sources = 0;
    for (int i = 0; i < p->columns; i++) sources |= p->column[i]->sphere != NULL;
    if (!p->mesh->cavities || p->options.problem != TDBEM_RIGID || p->boundary || sources)
        return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "mesh: %d components are holes of a rigid body, sealed off: no wave comes in, "
                    "and what the quadrature lets in would stay for ever; leave them out, or put a "
                    "source or an admittance there",
                    p->mesh->cavities);
}

/* All that is known without the matrices. */
static evn_status open_body(tdbem *p) {
    tdbem_options *o = &p->options;
    enum numbering numbering = NUMBERING_NONE;
    struct mirror planes;
    p->pulse.t0 = NAN;
    evn_status status = layout_find(&p->layout_options, o->layout);
    if (!status) status = numbering_find(&numbering, o->order);
    if (!status) status = solver_find(&p->solver_kind, o->solver);
    if (!status && o->pulse) status = pulse_read(&p->pulse, o->pulse);
    if (!status) status = mirror_read(&planes, o->planes);
    if (!status)
        status =
            tdbem_as_input(mirror_open(&p->mesh, o->mesh, o->scale > 0 ? o->scale : 1, &planes));
    if (!status) status = mesh_renumber(p->mesh, numbering);
    if (status) return status;
    if (isnan(o->eta)) o->eta = tdbem_eta(o->problem);
    status = choose_delta(p);
    if (!status) status = check_delta(p);
    if (!status && o->admittance)
        status = boundary_open(&p->boundary, o->admittance, p->mesh, p->shape.delta / o->speed);
    if (!status) status = method_choose(p);
    if (status) return status;
    /* 8 edges a wavelength at the pulse's highest frequency */
    if (!o->pulse) p->pulse.sigma = 4 * p->mesh->h_mean / o->speed;
    status = tdbem_open_waves(p);
    if (!status) status = check_cavities(p);
    if (!status) status = place_points(p);
    if (status) return status;
    describe(p);
    warn_about(p);
    return EVN_OK;
}

/* Of a rigid body walls and gaps that are thinner leave a field for ever, or one that grows: the
 * two sides are beyond the quadrature. */
static evn_status check_walls(const tdbem *p) {
    enum { PART = 350 }; /* of the longest edge there */
    const double facing = p->shape.facing, edge = p->beside;
    if (p->options.problem != TDBEM_RIGID || facing >= edge / PART) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "mesh: a wall or gap of %.3g is too thin for rigid faces with edges of %.3g "
                    "there: expected %.3g or more (a %dth), or edges of %.3g or less",
                    facing, edge, edge / PART, PART, PART * facing);
}

static evn_status open_all(tdbem *p, int tasks) {
    evn_status status = open_body(p);
    if (!status) status = check_walls(p);
    if (!status && tasks) return matrices_tasks(p);
    if (!status) status = p->cluster ? matrices_plan(p) : matrices_open(p);
    if (!status) status = identify(p);
    return status;
}

/* Stack of each thread, of which sorting a slice's vectors takes a quarter. */
enum { STACK = 1 << 20 };

/* Limits OpenMP, over ranks, to this rank's share of the cores; returns its number of threads
 * before. */
static int limit_threads(const tdbem *p) {
    const int all = omp_get_max_threads();
    if (p->over && p->options.cores) omp_set_num_threads(p->options.cores);
    return all;
}

/* Threads of the largest region on the way. */
static int most_threads(const tdbem_options *o) {
    const int all = o->cores ? o->cores : omp_get_num_procs(), others = omp_get_max_threads();
    return all > others ? all : others;
}

evn_status tdbem_open_for(tdbem **out, const tdbem_options *options, evn_cluster *cluster,
                          int tasks) {
    *out = NULL;
    evn_status status = tdbem_check(options);
    tdbem *p = status ? NULL : calloc(1, sizeof *p);
    if (!p) return status ? status : evn_fail(EVN_MEMORY, "td-bem: not enough memory");
    p->options = *options;
    p->ranks = 1;
    p->over = cluster != NULL;
    if (cluster && evn_cluster_size(cluster) > 1) {
        p->cluster = cluster;
        p->me = evn_cluster_rank(p->cluster);
        p->ranks = evn_cluster_size(p->cluster);
    }
    const int threads = limit_threads(p);
    status = evn_threads_try(most_threads(options) - 1, STACK);
    if (!status) status = open_all(p, tasks);
    omp_set_num_threads(threads);
    if (status) {
        tdbem_close(p);
        return status;
    }
    *out = p;
    return EVN_OK;
}

evn_status tdbem_open(tdbem **out, const tdbem_options *options) {
    if (!out) return evn_fail(EVN_USAGE, "tdbem_open(): no place for the problem, it is NULL");
    return tdbem_open_for(out, options, NULL, 0);
}

/* Seconds on one core to integrate: work is counted in values and, for what is near and costs more,
 * in triangles; what a unit of it takes here is found with a small sphere. */
static double work(double values, double triangles) { return values + 300 * triangles; }

static evn_status generation_rate(const tdbem *p, double *seconds) {
    struct mesh *mesh = NULL;
    struct slices *s = NULL;
    double *beta = NULL;
    evn_status status = mesh_open(&mesh, "sphere:2");
    if (!status && p->boundary) {
        beta = malloc((size_t)mesh->triangles * sizeof *beta);
        if (!beta) status = evn_fail(EVN_MEMORY, "td-bem: no memory");
        for (int t = 0; beta && t < mesh->triangles; t++) beta[t] = 1;
    }
    if (!status) {
        const struct slices_options so = {.problem = p->options.problem,
                                          .eta = p->shape.eta,
                                          .delta = p->shape.delta / p->mesh->h_mean * mesh->h_mean,
                                          .beta = beta,
                                          .quad = p->options.quad};
        *seconds = INFINITY; /* the least: other threads of a core take time, too */
        for (int i = 0; !status && i < 3; i++) {
            const double begin = thread_seconds();
            slices_close(s);
            status = slices_generate(&s, mesh, &so, 1);
            *seconds = fmin(*seconds, thread_seconds() - begin);
        }
    }
    if (!status) *seconds /= work((double)s->nnz, mesh->triangles);
    slices_close(s);
    mesh_close(mesh);
    free(beta);
    return status;
}

static evn_status expect(tdbem *p, tdbem_needs *out) {
    enum { DISK = 1000000000 };                /* bytes a second */
    static const double value_seconds = 6e-11; /* of a step, on one core */
    struct matrices_needs needs;
    double rate = 0;
    evn_status status = open_body(p);
    if (!status) status = matrices_expect(p, &needs);
    if (!status) status = generation_rate(p, &rate);
    if (status) return status;
    const tdbem_options *o = &p->options;
    const double there = (double)evn_machine_memory_available(NULL);
    const double room = o->memory > 0 ? o->memory : there > 0 ? 0.9 * there : INFINITY;
    const double cores = o->cores ? o->cores : omp_get_num_procs();
    const double near = p->octree ? METHOD_NEAR : 1, step = p->octree ? METHOD_STEP : 1;
    *out = (tdbem_needs){.shape = p->shape,
                         .memory = needs.memory,
                         .least = needs.least,
                         .room = room,
                         .disk = needs.memory > room ? needs.bytes : 0,
                         .generate_s = rate *
                                       (near * work(needs.values, p->mesh->triangles) +
                                        METHOD_APART * needs.far_values) /
                                       cores};
    out->shape.far_values = needs.far_values;
    out->shape.far_bytes = needs.far_bytes;
    out->shape.kmax = needs.kmax;
    out->shape.nnz = (size_t)needs.values;
    out->shape.bytes = needs.bytes;
    const double steps = p->shape.default_steps;
    out->march_s =
        steps * p->columns *
        ((step * needs.values + METHOD_APART_STEP * needs.far_values) * value_seconds / cores +
         out->disk / o->group / DISK);
    return EVN_OK;
}

evn_status tdbem_expect_of(tdbem_needs *out, struct mesh **mesh, const tdbem_options *options) {
    evn_status status = tdbem_check(options);
    tdbem *p = status ? NULL : calloc(1, sizeof *p);
    if (!p) return status ? status : evn_fail(EVN_MEMORY, "td-bem: not enough memory");
    p->options = *options;
    p->options.null_field = 0;
    p->ranks = 1;
    status = expect(p, out);
    if (!status && !mesh) status = check_walls(p);
    if (!status && mesh) status = mesh_renumber(p->mesh, NUMBERING_NONE);
    if (!status && mesh) {
        *mesh = p->mesh;
        p->mesh = NULL;
    }
    tdbem_close(p);
    return status;
}

evn_status tdbem_expect(tdbem_needs *out, const tdbem_options *options) {
    if (!out) return evn_fail(EVN_USAGE, "tdbem_expect(): no place for the needs, it is NULL");
    return tdbem_expect_of(out, NULL, options);
}

evn_status tdbem_make(tdbem *p, const int *rank) {
    const size_t blocks = (size_t)p->layout->blocks;
    if (!p->cluster || p->rank)
        return evn_fail(EVN_USAGE, "td-bem: tdbem_make() is for several ranks, and once");
    p->rank = malloc(blocks * sizeof *p->rank);
    p->layout->away = malloc(blocks);
    evn_status status = p->rank && p->layout->away
                            ? EVN_OK
                            : evn_fail(EVN_MEMORY, "td-bem: no memory for %zu blocks", blocks);
    status = evn_cluster_agree(p->cluster, status);
    if (status) return status;
    for (size_t b = 0; b < blocks; b++) {
        p->rank[b] = rank[b];
        p->layout->away[b] = rank[b] != p->me;
    }
    const int threads = limit_threads(p);
    status = matrices_make(p);
    omp_set_num_threads(threads);
    return evn_cluster_agree(p->cluster, status);
}

void tdbem_close(tdbem *p) {
    if (!p) return;
    matrices_close(p);
    near_close(p->near);
    free(p->rank);
    solver_close(p->solver);
    radiation_close(p->radiation);
    if (p->layout) stream_close(p->layout->stream);
    far_close(p->far);
    octree_close(p->octree);
    layout_close(p->layout);
    for (int i = 0; p->column && i < p->columns; i++) incident_close(p->column[i]);
    free(p->column);
    pulse_close(&p->pulse);
    boundary_close(p->boundary);
    if (p->now.start) slices_csr_free(&p->now);
    mesh_close(p->mesh);
    free_all(p->point, p->asked_point, p->row, p->weight, p->identity, p);
}

const struct mesh *tdbem_body(const tdbem *p) { return p->mesh; }

tdbem_mesh tdbem_surface(const tdbem *p) {
    const struct mesh *m = p->mesh;
    return (tdbem_mesh){m->vertices, m->triangles, (const double(*)[3])m->x,
                        (const int(*)[3])m->corner, m->number};
}

double tdbem_incident(const tdbem *p, int column, const double x[3], double t) {
    return column >= 0 && column < p->columns ? incident_value(p->column[column], x, t) : NAN;
}

evn_problem tdbem_tasks(const tdbem *p) {
    return (evn_problem){.tasks = p->shape.blocks, .weight = p->weight};
}

const char *tdbem_warning(const tdbem *p, int i) {
    return i >= 0 && i < p->warnings ? p->warning[i] : NULL;
}

tdbem_shape tdbem_describe(const tdbem *p) { return p->shape; }
