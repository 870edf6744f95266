/* Bodies of cubes of a lattice: a box, whose coplanar and right-angled triangles are the degenerate
 * case of every formula, and an aircraft, the shape of the published case of TD-BEM. */
#include "tdbem/mesh/mesh_make.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The squares of a surface in a lattice of n[0] x n[1] x n[2] cubes, as they are added; its corners
 * get numbers as they are met. */
struct surface {
    int n[3], *number;
    double (*x)[3];
    int (*corner)[3];
    int vertices, triangles;
    double origin[3], size[3]; /* of the lattice */
};

static int surface_open(struct surface *s, size_t squares) {
    const size_t points = (size_t)(s->n[0] + 1) * (size_t)(s->n[1] + 1) * (size_t)(s->n[2] + 1);
    s->number = malloc(points * sizeof *s->number);
    s->x = malloc((2 * squares + 2) * sizeof *s->x);
    s->corner = malloc((2 * squares + 1) * sizeof *s->corner);
    if (!s->number || !s->x || !s->corner) return 0;
    for (size_t i = 0; i < points; i++) s->number[i] = -1;
    return 1;
}

static evn_status surface_end(struct surface *s, struct mesh **out, evn_status status) {
    if (!status)
        status = mesh_new(out, s->vertices, (const double(*)[3])s->x, s->triangles,
                          (const int(*)[3])s->corner);
    free_all(s->number, s->x, s->corner);
    return status;
}

/* The side of a cube that faces along axis c, or against it: two triangles. Their diagonals
 * alternate. */
static void surface_add(struct surface *s, const int cube[3], int c, int upper) {
    const int u = (c + 1) % 3, w = (c + 2) % 3, turn = (cube[u] + cube[w]) & 1;
    int square[4];
    for (int p = 0; p < 4; p++) { /* counter-clockwise seen along -c */
        int at[3];
        at[c] = cube[c] + upper;
        at[u] = cube[u] + (p == 1 || p == 2);
        at[w] = cube[w] + (p >= 2);
        int *v = &s->number[at[0] + (s->n[0] + 1) * (at[1] + (s->n[1] + 1) * at[2])];
        if (*v < 0) {
            for (int d = 0; d < 3; d++)
                s->x[s->vertices][d] = s->origin[d] + s->size[d] * at[d] / s->n[d];
            *v = s->vertices++;
        }
        square[upper ? p : 3 - p] = *v;
    }
    memcpy(s->corner[s->triangles++], (int[3]){square[turn], square[1 + turn], square[2 + turn]},
           sizeof *s->corner);
    memcpy(s->corner[s->triangles++],
           (int[3]){square[2 + turn], square[(3 + turn) % 4], square[turn]}, sizeof *s->corner);
}

evn_status mesh_box(struct mesh **out, const double size[3], double h) {
    *out = NULL;
    if (!(h > 0) || !(size[0] > 0) || !(size[1] > 0) || !(size[2] > 0) ||
        !(size[0] + size[1] + size[2] < 1e100))
        return evn_fail(EVN_USAGE,
                        "mesh: box:%g,%g,%g,%g: sides and h must be positive, finite numbers",
                        size[0], size[1], size[2], h);
    struct surface s = {.size = {size[0], size[1], size[2]}};
    for (int c = 0; c < 3; c++) {
        double cuts = fmax(1, rint(size[c] / h));
        if (cuts > 400)
            return evn_fail(EVN_USAGE,
                            "mesh: box:%g,%g,%g,%g: %.0f edges along a side, at most 400", size[0],
                            size[1], size[2], h, cuts);
        s.n[c] = (int)cuts;
    }
    size_t squares = 0;
    for (int c = 0; c < 3; c++) squares += 2 * (size_t)s.n[c] * (size_t)s.n[(c + 1) % 3];
    evn_status status = EVN_OK;
    if (!surface_open(&s, squares))
        status = evn_fail(EVN_MEMORY, "mesh: no memory for a box of %zu triangles", 2 * squares);
    for (int side = 0; !status && side < 6; side++) {
        const int c = side / 2, upper = side % 2, u = (c + 1) % 3, w = (c + 2) % 3;
        int cube[3];
        cube[c] = upper ? s.n[c] - 1 : 0;
        for (cube[w] = 0; cube[w] < s.n[w]; cube[w]++)
            for (cube[u] = 0; cube[u] < s.n[u]; cube[u]++) surface_add(&s, cube, c, upper);
    }
    return surface_end(&s, out, status);
}

/* A plate: from its middle to `tip` away in span, `front` to `front + chord` along x, half as thick
 * as `half`; front, chord and half change by their slopes with the distance in span. */
struct plate {
    double tip, front, front_slope, chord, chord_slope, half, half_slope;
};

static int in_plate(const struct plate *p, double x, double span, double off) {
    const double from = p->front + p->front_slope * span;
    return span <= p->tip && x >= from && x <= from + p->chord + p->chord_slope * span &&
           fabs(off) <= p->half + p->half_slope * span;
}

/* Fuselage from 0 to 1 along x, swept wings, tailplane, fin and two engines. */
static int in_aircraft(const double at[3]) {
    static const struct plate wing = {0.359, 0.26, 0.42, 0.167, -0.25, 0.013, -0.012},
                              tailplane = {0.148, 0.84, 0.5, 0.102, -0.25, 0.009, 0},
                              fin = {0.155, 0.8, 0.45, 0.13, -0.35, 0.009, 0};
    const double x = at[0], y = fabs(at[1]), z = at[2];
    double radius = 0.048;
    if (x < 0.12) radius *= sqrt(fmax(0, 1 - (1 - x / 0.12) * (1 - x / 0.12)));
    if (x > 0.65) radius *= 1 - 0.75 * (x - 0.65) / 0.35;
    return (x <= 1 && y * y + z * z <= radius * radius) || in_plate(&wing, x, y, z + 0.02) ||
           in_plate(&tailplane, x, y, z - 0.02) || (z >= 0 && in_plate(&fin, x, z, y)) ||
           (x >= 0.25 && x <= 0.39 && hypot(y - 0.17, z + 0.04) <= 0.025);
}

struct cubes {
    int n[3];
    char *in;
};

static size_t cube_at(const struct cubes *c, const int at[3]) {
    return (size_t)at[0] + (size_t)c->n[0] * ((size_t)at[1] + (size_t)c->n[1] * (size_t)at[2]);
}

/* Whether those of eight cubes about a corner whose bits are set touch there, or at an edge, alone:
 * no way over their sides leads from one to all. */
static int apart(int set) {
    int reached = set & -set;
    for (int before = 0; before != reached;) {
        before = reached;
        for (int i = 0; i < 8; i++)
            if (reached >> i & 1) reached |= set & (1 << (i ^ 1) | 1 << (i ^ 2) | 1 << (i ^ 4));
    }
    return reached != set;
}

/* Fills cubes about corners at which the body, or the air, would touch itself. */
static void cubes_join(struct cubes *c) {
    for (int changed = 1; changed;) {
        changed = 0;
        int at[3];
        for (at[2] = 0; at[2] + 1 < c->n[2]; at[2]++)
            for (at[1] = 0; at[1] + 1 < c->n[1]; at[1]++)
                for (at[0] = 0; at[0] + 1 < c->n[0]; at[0]++) {
                    size_t cube[8];
                    int set = 0;
                    for (int i = 0; i < 8; i++) {
                        const int one[3] = {at[0] + (i & 1), at[1] + (i >> 1 & 1),
                                            at[2] + (i >> 2)};
                        cube[i] = cube_at(c, one);
                        set |= c->in[cube[i]] << i;
                    }
                    if (!apart(set) && !apart(~set & 255)) continue;
                    for (int i = 0; i < 8; i++) c->in[cube[i]] = 1;
                    changed = 1;
                }
    }
}

/* Squares between a cube and air; adds them where there is a surface. */
static size_t cubes_skin(const struct cubes *c, struct surface *s) {
    size_t squares = 0;
    int at[3];
    for (at[2] = 1; at[2] + 1 < c->n[2]; at[2]++)
        for (at[1] = 1; at[1] + 1 < c->n[1]; at[1]++)
            for (at[0] = 1; at[0] + 1 < c->n[0]; at[0]++)
                for (int side = 0; side < 6 && c->in[cube_at(c, at)]; side++) {
                    int next[3] = {at[0], at[1], at[2]};
                    next[side / 2] += side % 2 ? 1 : -1;
                    if (c->in[cube_at(c, next)]) continue;
                    squares++;
                    if (s) surface_add(s, at, side / 2, side % 2);
                }
    return squares;
}

evn_status mesh_aircraft(struct mesh **out, int edges) {
    enum { LEAST = 60, MOST = 400, ROOM = 4 };
    *out = NULL;
    if (edges < LEAST || edges > MOST)
        return evn_fail(EVN_USAGE, "mesh: aircraft:%d: expected from %d to %d edges", edges, LEAST,
                        MOST);
    /* from nose to tail, from wing to wing, from below the engines to the fin, and empty cubes */
    const int wide = (int)(0.45 * edges) + ROOM, below = (int)(0.08 * edges) + ROOM,
              above = (int)(0.2 * edges) + ROOM;
    struct cubes c = {.n = {(int)(1.1 * edges) + 2 * ROOM, 2 * wide, below + above}};
    struct surface s = {.n = {c.n[0], c.n[1], c.n[2]}};
    const double h = 1.0 / edges, zero[3] = {ROOM, wide, below};
    for (int d = 0; d < 3; d++) {
        s.origin[d] = -h * zero[d];
        s.size[d] = h * c.n[d];
    }
    evn_status status = EVN_OK;
    c.in = calloc((size_t)c.n[0] * (size_t)c.n[1], (size_t)c.n[2]);
    if (!c.in) status = evn_fail(EVN_MEMORY, "mesh: no memory for an aircraft of %d edges", edges);
    int at[3];
    for (at[2] = 0; !status && at[2] < c.n[2]; at[2]++)
        for (at[1] = 0; at[1] < c.n[1]; at[1]++)
            for (at[0] = 0; at[0] < c.n[0]; at[0]++) {
                double middle[3];
                for (int d = 0; d < 3; d++) middle[d] = h * (at[d] + 0.5 - zero[d]);
                c.in[cube_at(&c, at)] = (char)in_aircraft(middle);
            }
    if (!status) {
        cubes_join(&c);
        if (surface_open(&s, cubes_skin(&c, NULL)))
            cubes_skin(&c, &s);
        else
            status = evn_fail(EVN_MEMORY, "mesh: no memory for an aircraft of %d edges", edges);
    }
    free(c.in);
    return surface_end(&s, out, status);
}
