/* Bodies that end on planes are checked with their images, which close them. */
#include "tdbem/mesh/mesh_mirror.h"
#include "tdbem/mesh/mesh.h"
#include <evener/number.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR_PLANE = 1e-6; /* of the body's size */

/* ---- planes ---- */

static evn_status read_plane(struct mirror *out, const char *text, const char *all) {
    const char *axis = strchr("xyz", *text);
    if (!*text || !axis || text[1] != '=')
        return evn_fail(EVN_USAGE, "planes: %s: expected planes as z=0 or x=0,y=0", all);
    const int a = (int)(axis - strchr("xyz", 'x'));
    if (out->axes >> a & 1)
        return evn_fail(EVN_USAGE, "planes: %s: two planes across %c, expected one", all, *text);
    if (evn_read_real(text + 2, (evn_bounds){-1e100, 1e100, 0}, &out->at[a]))
        return evn_fail(EVN_USAGE, "planes: %s: %s", all, evn_message());
    out->axes |= 1 << a;
    return EVN_OK;
}

evn_status mirror_read(struct mirror *out, const char *text) {
    *out = (struct mirror){0};
    if (!text) return EVN_OK;
    char *copy = strdup(text), *rest = copy;
    if (!copy) return evn_fail(EVN_MEMORY, "planes: no memory");
    evn_status status = EVN_OK;
    for (char *one; !status && (one = strsep(&rest, ","));) status = read_plane(out, one, text);
    free(copy);
    return status;
}

int mirror_images(const struct mirror *m) {
    return (1 << __builtin_popcount((unsigned)m->axes)) - 1;
}

int mirror_flips(const struct mirror *m, int image) {
    int flips = 0, bit = 0;
    for (int a = 0; a < 3; a++)
        if (m->axes >> a & 1) flips |= (image >> bit++ & 1) << a;
    return flips;
}

int mirror_turns(const struct mirror *m, int image) {
    return __builtin_popcount((unsigned)mirror_flips(m, image)) & 1;
}

void mirror_point(const struct mirror *m, int image, const double x[3], double y[3]) {
    const int flips = mirror_flips(m, image);
    for (int a = 0; a < 3; a++) y[a] = flips >> a & 1 ? 2 * m->at[a] - x[a] : x[a];
}

int mirror_behind(const struct mirror *m, const double x[3], double rounding) {
    for (int a = 0; a < 3; a++)
        if (m->axes >> a & 1 && m->side[a] * (x[a] - m->at[a]) < -rounding) return a;
    return -1;
}

/* ---- bodies ---- */

/* Which side of a plane the vertices are on; those near it are put on it. */
static evn_status find_side(struct mesh *m, int a, double rounding, const char *name) {
    struct mirror *is = &m->mirror;
    int one = -1;
    for (int v = 0; v < m->vertices; v++) {
        const double height = m->x[v][a] - is->at[a];
        if (fabs(height) <= rounding) {
            m->x[v][a] = is->at[a];
            continue;
        }
        const int side = height > 0 ? 1 : -1;
        if (one < 0) is->side[a] = side, one = v;
        if (side != is->side[a])
            return evn_fail(EVN_USAGE,
                            "%s: vertices %d and %d are on both sides of the plane %c=%g; expected "
                            "a body on one side, cut off there where it goes through",
                            name, m->number[one], m->number[v], "xyz"[a], is -> at[a]);
    }
    if (one >= 0) return EVN_OK;
    return evn_fail(EVN_USAGE, "%s: all of it lies in the plane %c=%g; expected a body", name,
                    "xyz"[a], is -> at[a]);
}

static evn_status find_sides(struct mesh *m, const char *name) {
    double size = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < m->vertices; v++) {
            low = fmin(low, m->x[v][a]);
            high = fmax(high, m->x[v][a]);
        }
        size = fmax(size, high - low);
    }
    evn_status status = EVN_OK;
    for (int a = 0; !status && a < 3; a++)
        if (m->mirror.axes >> a & 1) status = find_side(m, a, NEAR_PLANE * size, name);
    return status;
}

/* Leaves out the triangles that lie in a plane; returns their number. */
static int leave_out(struct mesh *m) {
    int kept = 0;
    for (int t = 0; t < m->triangles; t++) {
        int on = 7;
        for (int e = 0; e < 3; e++) on &= mirror_on(&m->mirror, m->x[m->corner[t][e]]);
        if (on) continue;
        memmove(m->corner[kept], m->corner[t], sizeof *m->corner);
        if (m->part) m->part[kept] = m->part[t];
        kept++;
    }
    const int left = m->triangles - kept;
    m->triangles = kept;
    return left;
}

static int touches(const struct mesh *m) {
    int on = 0;
    for (int v = 0; v < m->vertices; v++) on |= mirror_on(&m->mirror, m->x[v]);
    return on != 0;
}

/* place[g * vertices + v]: number in the whole of vertex v's image g, which is that of an image
 * with fewer reflections where v is on the others' planes. Returns how many there are. */
static int number_images(const struct mesh *m, int *place) {
    const struct mirror *is = &m->mirror;
    int count = 0;
    for (int g = 0; g <= mirror_images(is); g++)
        for (int v = 0; v < m->vertices; v++) {
            const int flips = mirror_flips(is, g) & ~mirror_on(is, m->x[v]);
            int same = 0;
            while (mirror_flips(is, same) != flips) same++;
            place[g * m->vertices + v] = same == g ? count++ : place[same * m->vertices + v];
        }
    return count;
}

static void fill_whole(struct mesh *w, const struct mesh *m, const int *place) {
    const struct mirror *is = &m->mirror;
    const int v = m->vertices, t = m->triangles;
    for (int g = 0; g <= mirror_images(is); g++) {
        for (int i = 0; i < v; i++) {
            mirror_point(is, g, m->x[i], w->x[place[g * v + i]]);
            w->number[place[g * v + i]] = m->number[i];
        }
        for (int i = 0; i < t; i++)
            for (int e = 0; e < 3; e++)
                w->corner[g * t + i][mirror_turns(is, g) ? 2 - e : e] =
                    place[g * v + m->corner[i][e]];
    }
}

evn_status mirror_whole(struct mesh **out, const struct mesh *m) {
    const int all = mirror_images(&m->mirror) + 1;
    *out = NULL;
    if (m->triangles > INT_MAX / 3 / all || m->vertices > INT_MAX / all)
        return evn_fail(EVN_USAGE,
                        "mesh: %d triangles and their images are more than can be handled",
                        m->triangles);
    int *place = malloc((size_t)m->vertices * (size_t)all * sizeof *place);
    if (!place) return evn_fail(EVN_MEMORY, "mesh: no memory for images");
    evn_status status = mesh_new(out, number_images(m, place), NULL, m->triangles * all, NULL);
    if (!status) fill_whole(*out, m, place);
    free(place);
    return status;
}

static int root_of(int *parent, int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

static evn_status count_components(struct mesh *m) {
    int *parent = malloc((size_t)m->vertices * sizeof *parent);
    if (!parent) return evn_fail(EVN_MEMORY, "mesh: no memory for %d vertices", m->vertices);
    for (int v = 0; v < m->vertices; v++) parent[v] = v;
    m->components = m->vertices;
    for (int t = 0; t < m->triangles; t++)
        for (int e = 1; e < 3; e++) {
            const int a = root_of(parent, m->corner[t][0]), b = root_of(parent, m->corner[t][e]);
            m->components -= a != b;
            parent[a] = b;
        }
    free(parent);
    return EVN_OK;
}

/* What the check has found of body and images together goes to the body. */
static evn_status take_checked(struct mesh *m, const struct mesh *w) {
    const int whole = mirror_images(&m->mirror) + 1;
    memcpy(m->corner, w->corner, (size_t)m->triangles * sizeof *m->corner);
    m->flipped = w->flipped / whole;
    m->volume = w->volume / whole;
    m->area = w->area / whole;
    m->h_min = w->h_min;
    m->h_mean = w->h_mean;
    m->h_max = w->h_max;
    memcpy(m->note, w->note, sizeof m->note);
    return count_components(m);
}

static evn_status check_with_images(struct mesh *m, const char *name) {
    struct mesh *whole;
    char with[512];
    snprintf(with, sizeof with, "%s with its images", name);
    evn_status status = mesh_drop_unused(m, name);
    if (!status) status = mirror_whole(&whole, m);
    if (status) return status;
    char *note = strdup(m->note);
    status = note ? mesh_check(whole, with) : evn_fail(EVN_MEMORY, "mesh: no memory");
    if (!status) status = take_checked(m, whole);
    if (!status && *note) mesh_note(m, "%s", note);
    free(note);
    mesh_close(whole);
    return status;
}

/* The largest distance of a vertex of the body to one of all images. */
static evn_status measure_whole(struct mesh *m) {
    struct mesh *whole;
    evn_status status = mirror_whole(&whole, m);
    if (status) return status;
    status = mesh_measure_longest(whole);
    m->longest = whole->longest;
    mesh_close(whole);
    return status;
}

evn_status mirror_open(struct mesh **out, const char *what, double scale,
                       const struct mirror *mirror) {
    struct mesh *m;
    int left = 0;
    if (!mirror->axes) return mesh_open_scaled(out, what, scale);
    *out = NULL;
    evn_status status = mesh_load(&m, what, scale);
    if (status) return status;
    m->mirror = *mirror;
    status = mesh_drop_unused(m, what);
    if (!status) status = find_sides(m, what);
    if (!status) left = leave_out(m);
    if (!status) status = touches(m) ? check_with_images(m, what) : mesh_check_read(m, what);
    if (!status) status = measure_whole(m);
    if (!status && left) mesh_note(m, "%d triangles that lie in a plane were left out", left);
    if (status) {
        mesh_close(m);
        return status;
    }
    *out = m;
    return EVN_OK;
}
