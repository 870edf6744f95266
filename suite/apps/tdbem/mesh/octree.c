/* Cells from the root down: children are found by the cube of each vertex, near and far ones among
 * the children of the parent's near cells. */
#include "tdbem/mesh/octree.h"
#include "tdbem/mesh/numbering.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list {
    int *entry;
    size_t count, room;
};

static int list_add(struct list *l, int entry) {
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 64;
        int *more = realloc(l->entry, room * sizeof *more);
        if (!more) return 0;
        l->entry = more;
        l->room = room;
    }
    l->entry[l->count++] = entry;
    return 1;
}

/* The cube of a vertex's leaf, in cubes of `level`. */
static void cube_of(const struct octree *c, int vertex, int level, int16_t at[3]) {
    for (int i = 0; i < 3; i++) at[i] = (int16_t)(c->place[vertex][i] >> (c->level - level));
}

static int touch(const struct octree *c, int level, int a, int b, int image) {
    return octree_apart(c, level, &c->cell[a], &c->cell[b], image) < 2 << (c->level - level);
}

/* Cells of the next level: runs of vertices in the same cube. */
static int divide(struct octree *c, int level) {
    int count = c->first[level + 1];
    for (int p = c->first[level]; p < c->first[level + 1]; p++) {
        struct cell *parent = &c->cell[p];
        parent->child = count;
        for (int v = parent->begin; v < parent->end; v++) {
            int16_t at[3];
            struct cell *last = &c->cell[count - 1];
            cube_of(c, v, level + 1, at);
            if (v > parent->begin && !memcmp(last->at, at, sizeof at)) {
                last->end = v + 1;
                continue;
            }
            c->cell[count] = (struct cell){.begin = v, .end = v + 1, .parent = p};
            memcpy(c->cell[count++].at, at, sizeof at);
        }
        parent->children = count - parent->child;
    }
    c->first[level + 2] = count;
    return count;
}

/* Of the children of the parent's near cells, of the root of its images, those near and those far.
 */
static int find_lists(struct octree *c, struct list *l, int level, int a) {
    struct cell *cell = &c->cell[a];
    const struct cell *parent = cell->parent < 0 ? NULL : &c->cell[cell->parent];
    const int all = octree_cells(c), others = parent ? parent->nears : c->images + 1;
    for (int far = 0; far < 2; far++) {
        const size_t begin = l->count;
        for (int n = 0; n < others; n++) {
            const int entry = parent ? l->entry[parent->near + n] : n * all, image = entry / all;
            const struct cell *other = &c->cell[entry % all];
            const int from = parent ? other->child : 0, to = parent ? from + other->children : 1;
            for (int b = from; b < to; b++)
                if (touch(c, level, a, b, image) == !far && !list_add(l, b + image * all)) return 0;
        }
        *(far ? &cell->far : &cell->near) = (int)begin;
        *(far ? &cell->fars : &cell->nears) = (int)(l->count - begin);
    }
    return 1;
}

static evn_status no_memory(const struct mesh *m) {
    return evn_fail(EVN_MEMORY, "fast: no memory for the cells of %d vertices", m->vertices);
}

/* The leaf's cube of each vertex. */
static void find_places(struct octree *c, const struct mesh *m) {
    const int cubes = 1 << c->level;
    for (int v = 0; v < m->vertices; v++)
        for (int i = 0; i < 3; i++)
            c->place[v][i] = (int16_t)fmin((m->x[v][i] - c->low[i]) / c->size * cubes, cubes - 1);
}

/* The root's lowest corner: the body's, or as far below as planes are to go through the middle of
 * leaves. */
static void find_corner(struct octree *c, const struct mesh *m) {
    const struct mirror *mirror = &m->mirror;
    const double leaf = octree_width(c, c->level);
    double high[3];
    mesh_bounds(m, c->low, high);
    c->images = mirror_images(mirror);
    for (int g = 0; g <= c->images; g++) c->flips[g] = mirror_flips(mirror, g);
    for (int i = 0; i < 3; i++) {
        if (!(mirror->axes >> i & 1)) continue;
        const double leaves = floor((c->low[i] - mirror->at[i]) / leaf + 0.5);
        c->low[i] = mirror->at[i] + (leaves - 0.5) * leaf;
        c->turn[i] = (int)fmax(fmin(-2 * leaves, 1e9), -1e9);
    }
}

static evn_status fill(struct octree *c, const struct mesh *m) {
    struct list list = {0};
    int ok = 1;
    c->cell[0] = (struct cell){.end = m->vertices, .parent = -1};
    c->first[1] = 1;
    for (int level = 0; level < c->level; level++) divide(c, level);
    for (int level = 0; level <= c->level; level++)
        for (int a = c->first[level]; ok && a < c->first[level + 1]; a++)
            ok = find_lists(c, &list, level, a);
    c->list = list.entry;
    for (int a = c->first[c->level]; a < c->first[c->level + 1]; a++)
        for (int v = c->cell[a].begin; v < c->cell[a].end; v++) c->leaf[v] = a;
    return ok ? EVN_OK : no_memory(m);
}

evn_status octree_open(struct octree **out, struct mesh *m, double size, int level) {
    struct octree *c = *out = calloc(1, sizeof *c);
    if (!c) return no_memory(m);
    c->level = level;
    c->size = size;
    find_corner(c, m);
    evn_status status = mesh_renumber_in(m, NUMBERING_HILBERT, size, c->low);
    c->place = malloc((size_t)m->vertices * sizeof *c->place);
    c->cell = malloc(((size_t)m->vertices * (size_t)level + 1) * sizeof *c->cell);
    c->leaf = malloc((size_t)m->vertices * sizeof *c->leaf);
    if (!status && (!c->place || !c->cell || !c->leaf)) status = no_memory(m);
    if (!status) find_places(c, m);
    if (!status) status = fill(c, m);
    if (!status) return EVN_OK;
    octree_close(c);
    *out = NULL;
    return status;
}

void octree_close(struct octree *c) {
    if (!c) return;
    free_all(c->cell, c->list, c->place, c->leaf, c);
}
