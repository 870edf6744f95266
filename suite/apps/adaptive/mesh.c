/* Blocks of a tree, and the faces between them. */
#include "adaptive/mesh.h"
#include "common/run/free_all.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int make_blocks(struct mesh *m) {
    const size_t n = (size_t)m->tree.leaves;
    m->block = calloc(n, sizeof *m->block);
    m->beyond = calloc(n, sizeof *m->beyond);
    return m->block && m->beyond ? 0 : -1;
}

struct block *mesh_new_block(void) {
    struct block *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    if (b) memset(b, 0, sizeof *b);
    return b;
}

static void look_beyond(struct mesh *m) {
    const struct leaf *leaf = m->tree.leaf;
    for (int t = 0; t < m->tree.leaves; t++)
        for (int side = 0; side < SIDES; side++) {
            int beyond[2];
            quadtree_beyond(&m->tree, t, side, beyond);
            m->beyond[t].coarser[side] = leaf[beyond[0]].level < leaf[t].level;
            m->beyond[t].finer[side] = leaf[beyond[0]].level > leaf[t].level;
        }
}

int adaptive_mesh_open(struct mesh *m, int roots, int levels, double square) {
    *m = (struct mesh){.square = square};
    int failed = quadtree_open(&m->tree, roots, levels) || make_blocks(m);
    for (int t = 0; !failed && t < m->tree.leaves; t++) failed = !(m->block[t] = mesh_new_block());
    if (failed)
        adaptive_mesh_close(m);
    else
        look_beyond(m);
    return failed ? -1 : 0;
}

void adaptive_mesh_close(struct mesh *m) {
    for (int t = 0; m->block && t < m->tree.leaves; t++) free(m->block[t]);
    free_all(m->block, m->beyond);
    quadtree_close(&m->tree);
    *m = (struct mesh){0};
}

struct frame mesh_frame(const struct mesh *m, int leaf) {
    const struct leaf *l = &m->tree.leaf[leaf];
    const double side = m->square / (m->tree.roots << l->level);
    return (struct frame){m->square, l->x * side, l->y * side, side / CELLS};
}

double mesh_finest(const struct mesh *m) {
    return m->square / (m->tree.roots << m->tree.levels) / CELLS;
}

int mesh_change(struct mesh *m, struct change *c, int makes, struct mesh *before) {
    struct mesh next = {.tree = c->next, .square = m->square};
    int failed = make_blocks(&next);
    for (int t = 0; !failed && t < next.tree.leaves; t++) {
        if (c->kept[t])
            next.block[t] = m->block[c->from[c->first[t]]];
        else if (makes)
            failed = !(next.block[t] = mesh_new_block());
    }
    if (failed) {
        for (int t = 0; next.block && t < next.tree.leaves; t++)
            if (!c->kept[t]) free(next.block[t]);
        free_all(next.block, next.beyond);
        return -1;
    }
    *before = *m;
    *m = next;
    c->next = (struct quadtree){0};
    look_beyond(m);
    return 0;
}

void mesh_forget(struct mesh *before, const struct change *c) {
    for (int t = 0; c->first && t < c->leaves; t++)
        if (c->kept[t]) before->block[c->from[c->first[t]]] = NULL;
    adaptive_mesh_close(before);
}

void mesh_bear(struct mesh *m, int leaf, const struct change *c, const struct mesh *before) {
    const int first = c->first[leaf], origins = c->first[leaf + 1] - first;
    const struct leaf *l = &m->tree.leaf[leaf];
    if (origins == 1)
        block_refine(m->block[leaf], before->block[c->from[first]], l->x % 2 + 2 * (l->y % 2));
    else
        for (int i = 0; i < origins; i++)
            block_merge(m->block[leaf], before->block[c->from[first + i]], i);
}

enum { FLUX = (int)(offsetof(struct block, flux) / sizeof(double)) };
enum { FINER = (int)(offsetof(struct block, finer) / sizeof(double)) };

/* Where cell (along, out) of a side is in a field, as in block.c. */
static long long cell_at(int side, int along, int out) {
    const int across = GHOSTS + (side % 2 ? CELLS - 1 - out : out);
    return side < 2 ? (along + GHOSTS) * PITCH + across : across * PITCH + along + GHOSTS;
}

/* Ghosts of block t from `from`, where values begin at `there` along the side and end up `here`. */
static evn_face ghosts(int t, int side, int from, int here, int there, int width,
                       evn_resolution way) {
    const int other = side ^ 1;
    return (evn_face){
        .from = from,
        .to = t,
        .from_at = cell_at(other, there, 0),
        .from_stride = {AREA, cell_at(other, 0, 1) - cell_at(other, 0, 0),
                        cell_at(other, 1, 0) - cell_at(other, 0, 0)},
        .to_at = cell_at(side, here, -1),
        .to_stride = {AREA, cell_at(side, 0, 0) - cell_at(side, 0, 1),
                      cell_at(side, 1, 0) - cell_at(side, 0, 0)},
        .n = {FIELDS, GHOSTS, width},
        .resolution = {EVN_SAME, way, way},
        .numbers = EVN_DOUBLES,
    };
}

static evn_face finer_fluxes(int t, int side, int from, int here) {
    return (evn_face){
        .from = from,
        .to = t,
        .from_at = FLUX + (side ^ 1) * FIELDS * CELLS,
        .from_stride = {0, CELLS, 1},
        .to_at = FINER + side * FIELDS * CELLS + here,
        .to_stride = {0, CELLS, 1},
        .n = {1, FIELDS, CELLS / 2},
        .resolution = {EVN_SAME, EVN_SAME, EVN_MEAN},
        .numbers = EVN_DOUBLES,
    };
}

static void add_side(const struct mesh *m, const char *born, int t, int side, struct faces *f) {
    const struct leaf *l = &m->tree.leaf[t];
    int beyond[2];
    const int n = quadtree_beyond(&m->tree, t, side, beyond), half = CELLS / 2;
    for (int i = 0; i < n; i++) {
        const int from = beyond[i], there = (side < 2 ? l->y : l->x) % 2 * half;
        if (born && !born[t] && !born[from]) continue;
        if (m->beyond[t].finer[side]) {
            f->ghost[f->ghosts++] = ghosts(t, side, from, i * half, 0, half, EVN_MEAN);
            f->flux[f->fluxes++] = finer_fluxes(t, side, from, i * half);
        } else if (m->beyond[t].coarser[side]) {
            f->ghost[f->ghosts++] = ghosts(t, side, from, 0, there, CELLS, EVN_REPEAT);
        } else {
            f->ghost[f->ghosts++] = ghosts(t, side, from, 0, 0, CELLS, EVN_SAME);
        }
    }
}

int mesh_faces(const struct mesh *m, const char *born, struct faces *f) {
    const size_t most = 2 * SIDES * (size_t)m->tree.leaves;
    *f = (struct faces){.ghost = malloc(most * sizeof *f->ghost),
                        .flux = malloc(most * sizeof *f->flux)};
    if (!f->ghost || !f->flux) {
        adaptive_faces_close(f);
        return -1;
    }
    for (int t = 0; t < m->tree.leaves; t++)
        for (int side = 0; side < SIDES; side++) add_side(m, born, t, side, f);
    return 0;
}

void adaptive_faces_close(struct faces *f) {
    free_all(f->ghost, f->flux);
    *f = (struct faces){0};
}
