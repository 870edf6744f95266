/* A binary tree of boxes; node n has nodes 2n and 2n + 1, leaves have a few triangles each. */
#include "tdbem/mesh/mesh_tree.h"
#include "tdbem/mesh/geometry.h"
#include "tdbem/mesh/numbering.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, DEPTH = 64 };

struct box {
    double low[3], high[3];
};

struct mesh_tree {
    const struct mesh *m;
    int leaves;      /* a power of two */
    int *triangle;   /* along the curve; leaf l has those from triangles * l / leaves on */
    struct box *box; /* [2 * leaves], from 1 */
};

struct placed {
    uint64_t key;
    int triangle;
};

static int by_key(const void *a, const void *b) {
    const struct placed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->triangle - q->triangle;
}

static const struct box nothing = {{INFINITY, INFINITY, INFINITY},
                                   {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(struct box *b, const double low[3], const double high[3]) {
    for (int c = 0; c < 3; c++) {
        b->low[c] = fmin(b->low[c], low[c]);
        b->high[c] = fmax(b->high[c], high[c]);
    }
}

static struct box box_of(const struct mesh *m, int t) {
    struct box b = nothing;
    for (int e = 0; e < 3; e++) box_add(&b, m->x[m->corner[t][e]], m->x[m->corner[t][e]]);
    return b;
}

static int begin(const struct mesh_tree *tree, int leaf) {
    return (int)((long long)tree->m->triangles * leaf / tree->leaves);
}

static void put_in_order(struct mesh_tree *tree, struct placed *placed) {
    const struct mesh *m = tree->m;
    struct box all = nothing;
    for (int v = 0; v < m->vertices; v++) box_add(&all, m->x[v], m->x[v]);
    double size = 0;
    for (int c = 0; c < 3; c++) size = fmax(size, all.high[c] - all.low[c]);
    for (int t = 0; t < m->triangles; t++) {
        uint32_t at[3];
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int e = 0; e < 3; e++) sum += m->x[m->corner[t][e]][c] - all.low[c];
            at[c] = size > 0 ? (uint32_t)fmin(sum / 3 / size * 1048576.0, 1048575.0) : 0;
        }
        placed[t] = (struct placed){numbering_hilbert(at), t};
    }
    qsort(placed, (size_t)m->triangles, sizeof *placed, by_key);
    for (int i = 0; i < m->triangles; i++) tree->triangle[i] = placed[i].triangle;
}

static void make_boxes(struct mesh_tree *tree) {
    for (int l = 0; l < tree->leaves; l++) {
        struct box *b = &tree->box[tree->leaves + l];
        *b = nothing;
        for (int i = begin(tree, l); i < begin(tree, l + 1); i++) {
            const struct box t = box_of(tree->m, tree->triangle[i]);
            box_add(b, t.low, t.high);
        }
    }
    for (int n = tree->leaves - 1; n > 0; n--) {
        tree->box[n] = tree->box[2 * n];
        box_add(&tree->box[n], tree->box[2 * n + 1].low, tree->box[2 * n + 1].high);
    }
}

evn_status mesh_tree_open(struct mesh_tree **out, const struct mesh *m) {
    struct mesh_tree *tree = *out = calloc(1, sizeof *tree);
    const size_t t = (size_t)m->triangles;
    struct placed *placed = malloc((t + 1) * sizeof *placed);
    if (tree) {
        tree->m = m;
        for (tree->leaves = 1; tree->leaves < m->triangles / LEAF;) tree->leaves *= 2;
        tree->triangle = malloc((t + 1) * sizeof *tree->triangle);
        tree->box = malloc(2 * (size_t)tree->leaves * sizeof *tree->box);
    }
    if (!placed || !tree || !tree->triangle || !tree->box) {
        free(placed);
        mesh_tree_close(tree);
        *out = NULL;
        return evn_fail(EVN_MEMORY, "mesh: no memory for %d triangles", m->triangles);
    }
    put_in_order(tree, placed);
    make_boxes(tree);
    free(placed);
    return EVN_OK;
}

void mesh_tree_close(struct mesh_tree *tree) {
    if (!tree) return;
    free_all(tree->triangle, tree->box, tree);
}

/* ---- walks: leaf after leaf whose box the question is about ---- */

struct walk {
    const struct mesh_tree *tree;
    int (*wanted)(const struct box *b, const void *arg);
    const void *arg;
    int stack[DEPTH], height;
};

/* The next leaf; -1: none. */
static int next_leaf(struct walk *w) {
    while (w->height) {
        const int n = w->stack[--w->height];
        if (!w->wanted(&w->tree->box[n], w->arg)) continue;
        if (n >= w->tree->leaves) return n - w->tree->leaves;
        w->stack[w->height++] = 2 * n + 1;
        w->stack[w->height++] = 2 * n;
    }
    return -1;
}

/* ---- rays ---- */

struct ray {
    double x[3], d[3];
};

static int ray_meets(const struct box *b, const void *arg) {
    const struct ray *r = arg;
    double from = 0, to = INFINITY;
    for (int c = 0; c < 3; c++) {
        const double one = (b->low[c] - r->x[c]) / r->d[c], two = (b->high[c] - r->x[c]) / r->d[c];
        const double slack = 1e-12 * (fabs(one) + fabs(two));
        from = fmax(from, fmin(one, two) - slack);
        to = fmin(to, fmax(one, two) + slack);
    }
    return from <= to;
}

enum hit { MISSED, HIT, ON_IT, UNCLEAR };

/* By the signs of the volumes that the ray spans with the sides. */
static enum hit ray_hits(const struct ray *ray, const struct mesh *m, int t) {
    double r[3][3], n[3], volume[3], size = 0, of_plane = 0;
    for (int e = 0; e < 3; e++)
        for (int c = 0; c < 3; c++) {
            r[e][c] = m->x[m->corner[t][e]][c] - ray->x[c];
            size = fmax(size, fabs(r[e][c]));
        }
    for (int e = 0; e < 3; e++) {
        cross(n, r[(e + 1) % 3], r[(e + 2) % 3]);
        volume[e] = dot(ray->d, n);
        if (!e) of_plane = dot(r[0], n);
    }
    const double none = 1e-12 * size * size, sum = volume[0] + volume[1] + volume[2];
    int above = 1, below = 1, clear = 1;
    for (int e = 0; e < 3; e++) {
        above &= volume[e] > -none;
        below &= volume[e] < none;
        clear &= fabs(volume[e]) > none;
    }
    if (!above && !below) return MISSED;
    if (fabs(of_plane) <= 1e-9 * size * fabs(sum)) return ON_IT;
    if (of_plane / sum < 0) return MISSED;
    return clear ? HIT : UNCLEAR;
}

int mesh_tree_odd(const struct mesh_tree *tree, const double x[3], const int *component, int but) {
    static const double d[3][3] = {
        {0.5377, 0.6231, 0.5680}, {-0.7071, 0.3090, 0.6360}, {0.2113, -0.8387, 0.5020}};
    for (int trial = 0; trial < 3; trial++) {
        struct ray ray;
        memcpy(ray.x, x, sizeof ray.x);
        memcpy(ray.d, d[trial], sizeof ray.d);
        struct walk w = {tree, ray_meets, &ray, {1}, 1};
        int odd = 0, unclear = 0;
        for (int leaf; !unclear && (leaf = next_leaf(&w)) >= 0;)
            for (int i = begin(tree, leaf); i < begin(tree, leaf + 1); i++) {
                const int t = tree->triangle[i];
                const enum hit hit = component[t] == but ? MISSED : ray_hits(&ray, tree->m, t);
                if (hit == ON_IT) return -1;
                odd ^= hit == HIT;
                unclear |= hit == UNCLEAR;
            }
        if (!unclear) return odd;
    }
    return -1;
}

/* ---- triangles through triangles ---- */

static int box_meets(const struct box *b, const void *arg) {
    const struct box *a = arg;
    for (int c = 0; c < 3; c++)
        if (a->low[c] > b->high[c] || b->low[c] > a->high[c]) return 0;
    return 1;
}

/* Whether one of t's edges goes through the inside of s, from one side of it to the other. */
static int goes_through(const struct mesh *m, int t, int s, double where[3]) {
    double n[3], height[3], r[3][3], size = 0;
    mesh_normal(m, s, n);
    for (int e = 0; e < 3; e++) {
        for (int c = 0; c < 3; c++) {
            r[e][c] = m->x[m->corner[t][e]][c] - m->x[m->corner[s][0]][c];
            size = fmax(size, fabs(r[e][c]));
        }
        height[e] = dot(r[e], n);
    }
    for (int e = 0; e < 3; e++) {
        const double h0 = height[e], h1 = height[(e + 1) % 3], none = 1e-9 * size;
        if (!((h0 > none && h1 < -none) || (h0 < -none && h1 > none))) continue;
        int inside = 1;
        for (int c = 0; c < 3; c++)
            where[c] =
                (h0 * r[(e + 1) % 3][c] - h1 * r[e][c]) / (h0 - h1) + m->x[m->corner[s][0]][c];
        for (int k = 0; k < 3; k++) {
            const double *p = m->x[m->corner[s][k]], *q = m->x[m->corner[s][(k + 1) % 3]];
            double side[3], to[3], up[3];
            for (int c = 0; c < 3; c++) side[c] = q[c] - p[c], to[c] = where[c] - p[c];
            cross(up, side, to);
            inside &= dot(up, n) > 1e-9 * dot(side, side);
        }
        if (inside) return 1;
    }
    return 0;
}

int mesh_tree_cut(const struct mesh_tree *tree, int *triangle, int *other, double where[3]) {
    for (int t = 0; t < tree->m->triangles; t++) {
        const struct box box = box_of(tree->m, t);
        struct walk w = {tree, box_meets, &box, {1}, 1};
        for (int leaf; (leaf = next_leaf(&w)) >= 0;)
            for (int i = begin(tree, leaf); i < begin(tree, leaf + 1); i++) {
                const int s = tree->triangle[i];
                if (s == t || !goes_through(tree->m, t, s, where)) continue;
                *triangle = s;
                *other = t;
                return 1;
            }
    }
    return 0;
}

/* ---- neighbours ---- */

struct around {
    struct box box;
    double reach;
};

static int box_near(const struct box *b, const void *arg) {
    const struct around *a = arg;
    double d2 = 0;
    for (int c = 0; c < 3; c++) {
        const double d = fmax(fmax(a->box.low[c] - b->high[c], b->low[c] - a->box.high[c]), 0);
        d2 += d * d;
    }
    return d2 < a->reach * a->reach;
}

void mesh_tree_near(const struct mesh_tree *tree, int triangle, double reach,
                    double (*look)(int triangle, void *arg), void *arg) {
    struct around around = {box_of(tree->m, triangle), reach};
    struct walk w = {tree, box_near, &around, {1}, 1};
    for (int leaf; (leaf = next_leaf(&w)) >= 0;)
        for (int i = begin(tree, leaf); i < begin(tree, leaf + 1); i++)
            around.reach = look(tree->triangle[i], arg);
}

/* ---- the farthest corner ---- */

struct beyond {
    const double *x;
    double best;
};

/* Whether a corner of the box is so far away, but for rounding. */
static int box_far(const struct box *b, const void *arg) {
    const struct beyond *f = arg;
    double d2 = 0;
    for (int c = 0; c < 3; c++) {
        const double low = fabs(b->low[c] - f->x[c]), high = fabs(b->high[c] - f->x[c]);
        const double d = low > high ? low : high;
        d2 += d * d;
    }
    return d2 >= f->best * f->best * (1 - 1e-12);
}

double mesh_tree_farthest(const struct mesh_tree *tree, const double x[3], double best) {
    const struct mesh *m = tree->m;
    struct beyond beyond = {x, best};
    struct walk w = {tree, box_far, &beyond, {1}, 1};
    for (int leaf; (leaf = next_leaf(&w)) >= 0;)
        for (int i = begin(tree, leaf); i < begin(tree, leaf + 1); i++)
            for (int e = 0; e < 3; e++) {
                const double *p = m->x[m->corner[tree->triangle[i]][e]];
                double d2 = 0;
                for (int c = 0; c < 3; c++) d2 += (p[c] - x[c]) * (p[c] - x[c]);
                if (d2 > beyond.best * beyond.best) beyond.best = fmax(beyond.best, sqrt(d2));
            }
    return beyond.best;
}
