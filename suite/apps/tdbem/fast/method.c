/* The choice of the method, and what the fast one will need. */
#include "tdbem/fast/method.h"
#include "tdbem/fast/skeleton.h"
#include <math.h>
#include <string.h>

evn_status method_find(enum method *out, const char *name) {
    static const char *const names[] = {"auto", "plain", "fast"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum method)i;
            return EVN_OK;
        }
    return evn_fail(EVN_USAGE, "method: \"%s\", expected auto, plain or fast", name);
}

/* What the fast method does not do; NULL: nothing. */
static const char *obstacle(const tdbem *p) {
    const tdbem_options *o = &p->options;
    if (o->eta == 0) return "without the combined equation (eta 0) nothing damps its errors";
    return NULL;
}

static double highest(const struct mesh *m) { return 2 * M_PI / (8 * m->h_mean); }

/* Making near pairs takes longest, so leaves are as small as 8 steps at a time allow, within these
 * numbers of edges. The leaves of large triangles are three of these wide, so that far ones do not
 * touch. */
static const double LEAF_LEAST = 5, LEAF_MOST = 6.7, LEAF_LARGEST = 3;
enum { LEAF_STEPS = 8 };

static struct taps taps_of(const tdbem *p) {
    struct taps taps;
    taps_make(&taps, p->options.problem, highest(p->mesh) * p->shape.delta, p->options.accuracy);
    return taps;
}

static double leaf_width(const tdbem *p) {
    const struct mesh *m = p->mesh;
    const struct taps taps = taps_of(p);
    const double wanted = (LEAF_STEPS - 0.5 - taps_begin(&taps)) * p->shape.delta / m->h_mean;
    return fmax(fmin(fmax(wanted, LEAF_LEAST), LEAF_MOST) * m->h_mean, LEAF_LARGEST * m->h_max);
}

static evn_status open_cells(tdbem *p) {
    const double leaf = leaf_width(p);
    const int spare = p->mesh->mirror.axes != 0; /* leaves, see octree_open() */
    double low[3], high[3], size = 0;
    int level = 0;
    mesh_bounds(p->mesh, low, high);
    for (int i = 0; i < 3; i++) size = fmax(size, high[i] - low[i]);
    while ((ldexp(1, level) - spare) * leaf < size && level < OCTREE_LEVELS) level++;
    const double width = fmax(leaf, size / (ldexp(1, level) - spare));
    return octree_open(&p->octree, p->mesh, ldexp(width, level), level);
}

evn_status method_choose(tdbem *p) {
    enum method method;
    const char *why = obstacle(p);
    evn_status status = method_find(&method, p->options.method);
    if (status) return status;
    if (method == METHOD_FAST && why)
        return evn_fail(EVN_USAGE, "method fast: %s; expected plain, or auto", why);
    if (method == METHOD_AUTO)
        method = !why && p->mesh->vertices >= METHOD_LEAST ? METHOD_FAST : METHOD_PLAIN;
    p->shape.fast = method == METHOD_FAST;
    return p->shape.fast ? open_cells(p) : EVN_OK;
}

/* Vertices of a cell's skeleton, as they were seen on spheres: by the width of the cell in edges,
 * for an accuracy of 1e-3, and some more for each digit. */
static double skeleton_size(const struct cell *cell, double edges, double accuracy) {
    static const double seen[][2] = {{2.5, 11}, {5, 16.5}, {10, 31}, {20, 58}, {40, 115}};
    int i = 1;
    while (i < 4 && edges > seen[i][0]) i++;
    const double along = log(edges / seen[i - 1][0]) / log(seen[i][0] / seen[i - 1][0]);
    const double size = seen[i - 1][1] * pow(seen[i][1] / seen[i - 1][1], along);
    return fmin(size * fmax(0.3, 1 - 0.43 * log10(accuracy * 1e3)), cell->end - cell->begin);
}

/* How many times as large as on a sphere a body's skeletons are: of its leaves. Walls near to each
 * other and edges have more to say than a smooth surface. */
static evn_status measure_size(const tdbem *p, const struct slices_options *slices, double *ratio) {
    enum { MOST = 32 };
    const struct octree *o = p->octree;
    const struct skeleton_options so = {
        .slices = slices, .highest = highest(p->mesh), .accuracy = p->options.accuracy};
    const double edges = octree_width(o, o->level) / p->mesh->h_mean;
    int leaf[MOST], count;
    double size[MOST], seen = 0, sphere = 0;
    evn_status status = skeletons_sample(o, p->mesh, &so, MOST, leaf, size, &count);
    for (int i = 0; i < count; i++) {
        seen += size[i];
        sphere += skeleton_size(&o->cell[leaf[i]], edges, p->options.accuracy);
    }
    *ratio = sphere > 0 ? seen / sphere : 1;
    return status;
}

/* Needs where skeletons are `ratio` times as large as on a sphere. */
static struct method_needs reckon(const tdbem *p, double ratio) {
    struct method_needs needs = {0};
    const struct octree *o = p->octree;
    const double step = p->shape.delta / p->mesh->h_mean, each = taps_of(p).count;
    const int fields = 1 + (p->boundary ? p->boundary->filters : 0);
    for (int level = 0; o && level <= o->level; level++) {
        const double edges = octree_width(o, level) / p->mesh->h_mean;
        for (int a = o->first[level]; a < o->first[level + 1]; a++) {
            const struct cell *cell = &o->cell[a];
            const double size = ratio * skeleton_size(cell, edges, p->options.accuracy);
            double others = 0;
            for (int b = 0; b < cell->fars; b++)
                others += fields * ratio *
                          skeleton_size(&o->cell[o->list[cell->far + b] % octree_cells(o)], edges,
                                        p->options.accuracy);
            needs.values += each * size * others;
            needs.bytes += far_bytes(far_is_wide(p->options.accuracy), each) * size * others;
            needs.state += 8 * size * (16 + 10 * edges / step);
        }
    }
    return needs;
}

evn_status method_expect(const tdbem *p, const struct slices_options *slices,
                         struct method_needs *out) {
    double ratio = 1;
    evn_status status = p->octree ? measure_size(p, slices, &ratio) : EVN_OK;
    *out = reckon(p, ratio);
    return status;
}

evn_status method_make(tdbem *p, const struct slices_options *slices, int cores) {
    const struct far_options fo = {.slices = slices,
                                   .low = tdbem_row(p, p->me),
                                   .high = tdbem_row(p, p->me + 1),
                                   .group = p->options.group,
                                   .accuracy = p->options.accuracy,
                                   .highest = highest(p->mesh),
                                   .cores = cores,
                                   .cluster = p->cluster};
    const double far = METHOD_APART * reckon(p, 1).values,
                 near = METHOD_NEAR * (double)p->layout->nnz;
    p->told[1] = far / (far + near);
    evn_status status = far_open(&p->far, p->octree, p->mesh, &fo);
    p->told[0] = p->told[1];
    p->told[1] = 1 - p->told[0];
    if (status) return status;
    p->shape.far_values = p->far->values;
    p->shape.far_bytes = p->far->bytes;
    p->shape.flop_per_step += 2 * p->far->values;
    return EVN_OK;
}
