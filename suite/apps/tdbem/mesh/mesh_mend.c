/* Corners become points, points at open edges are joined, polygons become triangles. */
#include "tdbem/mesh/mesh_mend.h"
#include "tdbem/mesh/mesh_cells.h"
#include "tdbem/mesh/mesh_polygon.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mending {
    struct source *s;
    int *corner; /* points of all polygons, as the source's corners */
    int *same;   /* of each point: the one that stands for it */
    int (*triangle)[3];
    int *part; /* of each triangle */
    int triangles;
    size_t joined, lost, cut; /* points; polygons that shrank to nothing; polygons with more than
                                 three corners that were cut by ears */
};

static const char *noun(const struct source *s) { return s->noun ? s->noun : "face"; }

static evn_status no_memory(const struct source *s) {
    return evn_fail(EVN_MEMORY, "%s: no memory for %zu points and %zu corners", s->name, s->points,
                    s->corners);
}

/* ---- corners ---- */

struct tagged {
    long long tag;
    int point;
};

static int by_tag(const void *a, const void *b) {
    const struct tagged *s = a, *t = b;
    if (s->tag != t->tag) return s->tag < t->tag ? -1 : 1;
    return s->point - t->point;
}

/* -1: there is none */
static int find_tag(const struct tagged *tagged, size_t count, long long tag) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (tagged[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && tagged[low].tag == tag ? tagged[low].point : -1;
}

static evn_status sort_tags(const struct source *s, struct tagged *tagged) {
    for (size_t i = 0; i < s->points; i++) tagged[i] = (struct tagged){s->tag[i], (int)i};
    qsort(tagged, s->points, sizeof *tagged, by_tag);
    for (size_t i = 1; i < s->points; i++)
        if (tagged[i].tag == tagged[i - 1].tag)
            return evn_fail(EVN_USAGE, "%s: node %lld is there twice", s->name, tagged[i].tag);
    return EVN_OK;
}

static evn_status resolve(struct mending *m) {
    const struct source *s = m->s;
    struct tagged *tagged = NULL;
    evn_status status = EVN_OK;
    if (s->tag) {
        tagged = malloc((s->points + 1) * sizeof *tagged);
        status = tagged ? sort_tags(s, tagged) : no_memory(s);
    }
    for (size_t p = 0; p < s->polygons && !status; p++) {
        const struct polygon *polygon = &s->polygon[p];
        for (int e = 0; e < polygon->corners && !status; e++) {
            const size_t at = polygon->first + (size_t)e;
            const long long name = s->corner[at], first = s->base;
            const long long last = first + (long long)s->points - 1;
            char place[32];
            m->corner[at] = s->tag                          ? find_tag(tagged, s->points, name)
                            : name >= first && name <= last ? (int)(name - first)
                                                            : -1;
            if (m->corner[at] >= 0) continue;
            source_place(s, polygon->at, place);
            status = s->tag ? evn_fail(EVN_USAGE, "%s: %s%s %lld: there is no node %lld", s->name,
                                       place, noun(s), polygon->label, name)
                            : evn_fail(EVN_USAGE,
                                       "%s: %s%s %lld: vertex %lld, but vertices are %lld to %lld",
                                       s->name, place, noun(s), polygon->label, name, first, last);
        }
    }
    free(tagged);
    return status;
}

/* ---- points at open edges ---- */

static int by_ends(const void *a, const void *b) {
    const int *s = a, *t = b;
    if (s[0] != t[0]) return s[0] < t[0] ? -1 : 1;
    return s[1] < t[1] ? -1 : s[1] > t[1];
}

/* open[p]: whether a point is on an edge of one polygon alone */
static evn_status find_open(const struct mending *m, unsigned char *open) {
    const struct source *s = m->s;
    int(*edge)[2] = malloc((s->corners + 1) * sizeof *edge);
    if (!edge) return no_memory(s);
    size_t count = 0;
    for (size_t p = 0; p < s->polygons; p++)
        for (int e = 0, n = s->polygon[p].corners; e < n; e++) {
            const int *corner = m->corner + s->polygon[p].first;
            const int a = corner[e], b = corner[(e + 1) % n];
            memcpy(edge[count++], (int[2]){a < b ? a : b, a < b ? b : a}, sizeof *edge);
        }
    qsort(edge, count, sizeof *edge, by_ends);
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && !by_ends(edge[i], edge[i + n]);) n++;
        if (n == 1) open[edge[i][0]] = open[edge[i][1]] = 1;
    }
    free(edge);
    return EVN_OK;
}

/* The lowest coordinates of the open points and how far they reach; 0 where there is nothing to be
 * joined: no size, or coordinates that are no numbers and are refused later. */
static double size_of_open(const struct source *s, const unsigned char *open, double low[3]) {
    double high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    for (int k = 0; k < 3; k++) low[k] = INFINITY;
    for (size_t v = 0; v < s->points; v++)
        for (int k = 0; k < 3 && open[v]; k++) {
            if (!(fabs(s->x[v][k]) <= 1e100)) return 0;
            low[k] = fmin(low[k], s->x[v][k]);
            high[k] = fmax(high[k], s->x[v][k]);
        }
    for (int k = 0; k < 3; k++) size = fmax(size, high[k] - low[k]);
    return size;
}

static evn_status join(struct mending *m) {
    struct source *s = m->s;
    struct cells cells = {0};
    unsigned char *open = calloc(s->points + 1, 1);
    double low[3], size = 0;
    evn_status status = open ? find_open(m, open) : no_memory(s);
    if (!status) size = size_of_open(s, open, low);
    if (size > 0)
        status = cells_open(&cells, (const double(*)[3])s->x, s->points, low, 1e-6 * size);
    for (size_t v = 0; size > 0 && !status && v < s->points; v++) {
        if (!open[v]) continue;
        const int known = cells_find(&cells, s->x[v]);
        if (known < 0)
            cells_add(&cells, (int)v);
        else
            m->same[v] = known;
        m->joined += known >= 0;
    }
    cells_close(&cells);
    free(open);
    return status;
}

/* ---- triangles ---- */

/* A polygon's corners without those that were joined to the one before, and in one of more than
 * three without those that are the one before; how many. */
static int shrink(const struct mending *m, const struct polygon *polygon) {
    int *corner = m->corner + polygon->first, n = 0, first = -1, before = -1;
    for (int e = 0; e < polygon->corners; e++) {
        const int own = corner[e], v = m->same[own];
        if (n && v == corner[n - 1] && (own != before || polygon->corners > 3)) continue;
        if (!n) first = own;
        before = own;
        corner[n++] = v;
    }
    const int again = n > 1 && corner[n - 1] == corner[0];
    return n - (again && (before != first || polygon->corners > 3));
}

static evn_status cut_all(struct mending *m) {
    struct source *s = m->s;
    struct polygon bad = {0};
    const char *why = NULL;
    double where[3], first[3] = {0};
    size_t refused = 0;
    for (size_t p = 0; p < s->polygons; p++) {
        const struct polygon *polygon = &s->polygon[p];
        const int *corner = m->corner + polygon->first, n = shrink(m, polygon);
        if (n < 3) {
            m->lost++;
            continue;
        }
        for (int t = 0; t < n - 2; t++) m->part[m->triangles + t] = polygon->part;
        if (n == 3) {
            memcpy(m->triangle[m->triangles++], corner, sizeof *m->triangle);
            continue;
        }
        const char *not =
            polygon_cut((const double(*)[3])s->x, corner, n, m->triangle + m->triangles, where);
        if (!not ) m->triangles += n - 2;
        if (not &&!refused++) {
            why = not ;
            bad = *polygon;
            memcpy(first, where, sizeof first);
        }
    }
    char place[32];
    if (!refused) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "%s: %s%s %lld of %d corners cannot be cut into triangles, near %.4g, %.4g, "
                    "%.4g: %s (%zu such); cut them in the modeller, which has a command to "
                    "triangulate faces",
                    s->name, source_place(s, bad.at, place), noun(s), bad.label, bad.corners,
                    first[0], first[1], first[2], why, refused);
}

/* Numbers of points that were not joined in the order of the triangles, as if the others had never
 * been there. */
static void renumber(struct mending *m) {
    struct source *s = m->s;
    int count = 0;
    for (size_t v = 0; v < s->points; v++)
        if (m->same[v] == (int)v) {
            memmove(s->x[count], s->x[v], sizeof *s->x);
            m->corner[v] = count++; /* the corners are not needed any more */
        }
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) m->triangle[t][e] = m->corner[m->triangle[t][e]];
    s->points = (size_t)count;
}

static void tell(struct mesh *mesh, const struct mending *m) {
    const struct source *s = m->s;
    if (m->joined && !s->apart)
        mesh_note(mesh, "%zu vertices at open edges were merged with others at the same place",
                  m->joined);
    if (m->lost)
        mesh_note(mesh, "%zu %ss whose corners fall together were dropped", m->lost, noun(s));
    if (s->curved)
        mesh_note(mesh,
                  "%zu elements of second order were cut at their middle nodes: edges are half as "
                  "long, parts are flat",
                  s->curved);
}

/* The mesh takes over the parts, where there are any. */
static void take_parts(struct mesh *mesh, struct mending *m) {
    struct source *s = m->s;
    if (!s->parts) return;
    mesh->parts = s->parts;
    mesh->part_name = s->part_name;
    mesh->part = m->part;
    s->part_name = NULL;
    m->part = NULL;
}

static evn_status make(struct mesh **out, struct mending *m) {
    struct source *s = m->s;
    if (!s->polygons && s->solids)
        return evn_fail(EVN_USAGE,
                        "%s: %zu elements with a volume and no surface; expected triangles: export "
                        "the surface, as by gmsh -2",
                        s->name, s->solids);
    evn_status status = resolve(m);
    for (size_t v = 0; v < s->points; v++) m->same[v] = (int)v;
    if (!status) status = join(m);
    if (!status) status = cut_all(m);
    if (!status && s->apart) renumber(m);
    if (!status)
        status = mesh_new(out, (int)s->points, (const double(*)[3])s->x, m->triangles,
                          (const int(*)[3])m->triangle);
    if (!status) take_parts(*out, m);
    if (status || s->apart) return status;
    (*out)->same = m->same;
    (*out)->numbers = (int)s->points;
    m->same = NULL;
    return EVN_OK;
}

evn_status mesh_mend(struct mesh **out, struct source *s) {
    *out = NULL;
    struct mending m = {.s = s,
                        .corner = malloc((s->corners + 1) * sizeof *m.corner),
                        .same = malloc((s->points + 1) * sizeof *m.same),
                        .triangle = malloc((s->corners + 1) * sizeof *m.triangle),
                        .part = malloc((s->corners + 1) * sizeof *m.part)};
    evn_status status = m.corner && m.same && m.triangle && m.part ? make(out, &m) : no_memory(s);
    if (!status) tell(*out, &m);
    free_all(m.corner, m.same, m.triangle, m.part);
    return status;
}
