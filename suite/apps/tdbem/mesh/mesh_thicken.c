/* Triangles are turned alike first, over the edges that two of them share. */
#include "tdbem/mesh/mesh_thicken.h"
#include "tdbem/mesh/geometry.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An edge of a triangle, from corner side to corner side + 1. */
struct edge {
    int low, high, triangle, side;
};

struct sheet {
    const struct mesh *mesh;
    const char *name;
    struct edge *edge;   /* [3 * triangles], sorted: those of one place side by side */
    int *across;         /* [3 * triangles]: 3 * triangle + side on the other side; -1: none */
    unsigned char *turn; /* [triangles]: 1 as it is, 2 turned */
    int *queue;          /* [triangles] */
    double (*normal)[3]; /* [vertices] */
    int *place;          /* [vertices]: number in the result, -1: not used */
    int vertices, open;
};

static int by_ends(const void *a, const void *b) {
    const struct edge *e = a, *f = b;
    if (e->low != f->low) return e->low < f->low ? -1 : 1;
    if (e->high != f->high) return e->high < f->high ? -1 : 1;
    return e->triangle - f->triangle;
}

static evn_status join(struct sheet *s) {
    const struct mesh *m = s->mesh;
    const size_t count = 3 * (size_t)m->triangles;
    for (size_t i = 0; i < count; i++) {
        const int t = (int)(i / 3), side = (int)(i % 3);
        const int a = m->corner[t][side], b = m->corner[t][(side + 1) % 3];
        s->edge[i] = (struct edge){a < b ? a : b, a < b ? b : a, t, side};
        s->across[i] = -1;
    }
    qsort(s->edge, count, sizeof *s->edge, by_ends);
    for (size_t i = 0, n; i < count; i += n) {
        const struct edge *e = &s->edge[i];
        for (n = 1; i + n < count && e[n].low == e->low && e[n].high == e->high;) n++;
        if (n > 2)
            return evn_fail(EVN_USAGE,
                            "%s: edge %d-%d belongs to %zu triangles; a screen's edges have one or "
                            "two, so give it as several",
                            s->name, e->low, e->high, n);
        s->open += n == 1;
        if (n == 1) continue;
        s->across[3 * e[0].triangle + e[0].side] = 3 * e[1].triangle + e[1].side;
        s->across[3 * e[1].triangle + e[1].side] = 3 * e[0].triangle + e[0].side;
    }
    if (s->open) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "%s: the surface has no open edge, so it is a body and no screen; "
                    "leave --thicken out",
                    s->name);
}

/* The corner of a triangle, as it is turned. */
static int corner(const struct sheet *s, int t, int i) {
    const int *c = s->mesh->corner[t];
    return s->turn[t] == 2 ? c[2 - i] : c[i];
}

/* Whether two triangles go along their edge in the same direction, as they are in the file. */
static int same_way(const struct mesh *m, int at, int other) {
    return m->corner[at / 3][at % 3] == m->corner[other / 3][other % 3];
}

static evn_status orient(struct sheet *s) {
    const struct mesh *m = s->mesh;
    for (int seed = 0; seed < m->triangles; seed++) {
        if (s->turn[seed]) continue;
        int head = 0, tail = 0;
        s->turn[seed] = 1;
        s->queue[tail++] = seed;
        while (head < tail) {
            const int t = s->queue[head++];
            for (int side = 0; side < 3; side++) {
                const int at = 3 * t + side, other = s->across[at];
                if (other < 0) continue;
                const int wanted = same_way(m, at, other) ? 3 - s->turn[t] : s->turn[t];
                if (!s->turn[other / 3]) {
                    s->turn[other / 3] = (unsigned char)wanted;
                    s->queue[tail++] = other / 3;
                } else if (s->turn[other / 3] != wanted) {
                    return evn_fail(EVN_USAGE,
                                    "%s: the surface has one side only, as a Moebius strip, seen "
                                    "at triangles %d and %d; expected one with two sides",
                                    s->name, t, other / 3);
                }
            }
        }
    }
    return EVN_OK;
}

/* Normals of triangles as they are turned, by the angle at the vertex; then as long as keeps the
 * nearest face at distance 1, but 2 at most. */
static void find_normals(struct sheet *s) {
    const struct mesh *m = s->mesh;
    double(*n)[3] = s->normal;
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < m->triangles; t++) {
            double face[3];
            mesh_normal(m, t, face);
            for (int c = 0; c < 3 && s->turn[t] == 2; c++) face[c] = -face[c];
            for (int i = 0; i < 3; i++) {
                const int v = m->corner[t][i];
                double p[3], q[3];
                for (int c = 0; c < 3; c++) {
                    p[c] = m->x[m->corner[t][(i + 1) % 3]][c] - m->x[v][c];
                    q[c] = m->x[m->corner[t][(i + 2) % 3]][c] - m->x[v][c];
                }
                const double cosine = dot(p, q) / sqrt(dot(p, p) * dot(q, q));
                for (int c = 0; c < 3 && !pass; c++)
                    n[v][c] += acos(fmax(-1, fmin(1, cosine))) * face[c];
                const double length = sqrt(dot(n[v], n[v])), rise = dot(n[v], face) / length;
                if (pass && length > 0 && 1 / length > rise)
                    for (int c = 0; c < 3; c++) n[v][c] *= (rise > 0.5 ? 1 / rise : 2) / length;
            }
        }
        for (int v = 0; v < m->vertices && !pass; v++) {
            const double length = sqrt(dot(n[v], n[v]));
            for (int c = 0; c < 3 && length > 0; c++) n[v][c] /= length;
        }
    }
}

static void put(int *to, int a, int b, int c) { memcpy(to, (int[3]){a, b, c}, 3 * sizeof *to); }

/* Parts of the triangles that each one has become. */
static evn_status take_parts(struct mesh *to, const struct mesh *from, const int *origin) {
    if (!from->parts) return EVN_OK;
    to->part_name = malloc((size_t)from->parts * sizeof *to->part_name);
    to->part = malloc((size_t)to->triangles * sizeof *to->part);
    if (!to->part_name || !to->part)
        return evn_fail(EVN_MEMORY, "mesh: no memory for %d parts", from->parts);
    to->parts = from->parts;
    memcpy(to->part_name, from->part_name, (size_t)from->parts * sizeof *to->part_name);
    for (int t = 0; t < to->triangles; t++) to->part[t] = from->part[origin[t]];
    return EVN_OK;
}

/* Two triangles for each, and two for each open edge. */
static evn_status make(struct mesh **out, const struct sheet *s, double thickness) {
    const struct mesh *m = s->mesh;
    const int n = s->vertices, triangles = 2 * m->triangles + 2 * s->open;
    double(*x)[3] = malloc(2 * (size_t)n * sizeof *x);
    int(*new)[3] = malloc((size_t)triangles * sizeof *new), count = 0;
    int *origin = malloc((size_t)triangles * sizeof *origin);
    evn_status status = x && new &&origin ? EVN_OK : evn_fail(EVN_MEMORY, "%s: no memory", s->name);
    for (int v = 0; v < m->vertices && !status; v++)
        for (int c = 0; c < 3 && s->place[v] >= 0; c++) {
            const double way = 0.5 * thickness * s->normal[v][c];
            x[s->place[v]][c] = m->x[v][c] + way;
            x[n + s->place[v]][c] = m->x[v][c] - way;
        }
    for (int t = 0; t < m->triangles && !status; t++) {
        int front[3], begin = count;
        for (int i = 0; i < 3; i++) front[i] = s->place[corner(s, t, i)];
        put(new[count++], front[0], front[1], front[2]);
        put(new[count++], n + front[2], n + front[1], n + front[0]);
        for (int i = 0; i < 3; i++) {
            /* turned, side i joins the corners that were 2 - i and 1 - i */
            const int side = s->turn[t] == 2 ? (4 - i) % 3 : i, a = front[i],
                      b = front[(i + 1) % 3];
            if (s->across[3 * t + side] >= 0) continue;
            put(new[count++], b, a, n + a);
            put(new[count++], b, n + a, n + b);
        }
        while (begin < count) origin[begin++] = t;
    }
    if (!status) status = mesh_new(out, 2 * n, (const double(*)[3])x, count, (const int(*)[3]) new);
    if (!status) status = take_parts(*out, m, origin);
    free_all(x, new, origin);
    return status;
}

evn_status mesh_thicken(struct mesh **out, const struct mesh *open, double thickness,
                        const char *name) {
    const size_t t = (size_t)open->triangles + 1, v = (size_t)open->vertices + 1;
    struct sheet s = {.mesh = open,
                      .name = name,
                      .edge = malloc(3 * t * sizeof *s.edge),
                      .across = malloc(3 * t * sizeof *s.across),
                      .turn = calloc(t, 1),
                      .queue = malloc(t * sizeof *s.queue),
                      .normal = calloc(v, sizeof *s.normal),
                      .place = malloc(v * sizeof *s.place)};
    *out = NULL;
    evn_status status = EVN_OK;
    if (!s.edge || !s.across || !s.turn || !s.queue || !s.normal || !s.place)
        status = evn_fail(EVN_MEMORY, "%s: no memory for %d triangles", name, open->triangles);
    if (!status) status = join(&s);
    if (!status) status = orient(&s);
    if (!status) {
        for (int i = 0; i < open->vertices; i++) s.place[i] = -1;
        for (int i = 0; i < 3 * open->triangles; i++) s.place[open->corner[i / 3][i % 3]] = 0;
        for (int i = 0; i < open->vertices; i++)
            if (!s.place[i]) s.place[i] = s.vertices++;
        find_normals(&s);
        status = make(out, &s, thickness);
    }
    free_all(s.edge, s.across, s.turn, s.queue, s.normal, s.place);
    return status;
}
