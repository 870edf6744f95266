/* The mesh of zones: the table of classes, the cut, and where the points of a zone lie in memory.
 *
 * The cut and the table are the benchmark's; the strides are ours and are chosen for the
 * first-level cache, see zone_strides.
 */
#include "npbmz/mesh/mesh.h"
#include "common/run/huge_alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 128 }; /* zones along x or y in the largest class */

struct stepping {
    int steps;
    double dt;
};

/* NAS-03-010, section 4; gz is never cut. LU-MZ always has 4 x 4 zones. */
static const struct class_row {
    char class_;
    int gx, gy, gz;
    int xzones, yzones; /* zones of BT-MZ and SP-MZ */
    double ratio;       /* last width over first of BT-MZ, along x and along y */
    struct stepping bt, sp, lu;
} classes[] = {
    {'S', 24, 24, 6, 2, 2, 3.0, {60, 1.0e-2}, {100, 1.5e-2}, {50, 0.5}},
    {'W', 64, 64, 8, 4, 4, 4.5, {200, 8.0e-4}, {400, 1.5e-3}, {300, 1.5e-3}},
    {'A', 128, 128, 16, 4, 4, 4.5, {200, 8.0e-4}, {400, 1.5e-3}, {250, 2.0}},
    {'B', 304, 208, 17, 8, 8, 4.5, {200, 3.0e-4}, {400, 1.0e-3}, {250, 2.0}},
    {'C', 480, 320, 28, 16, 16, 4.5, {200, 1.0e-4}, {400, 6.7e-4}, {250, 2.0}},
    {'D', 1632, 1216, 34, 32, 32, 4.5, {250, 2.0e-5}, {500, 3.0e-4}, {300, 1.0}},
    {'E', 4224, 3456, 92, 64, 64, 4.5, {250, 4.0e-6}, {500, 2.0e-4}, {300, 0.5}},
    {'F', 12032, 8960, 250, 128, 128, 4.5, {250, 1.0e-6}, {500, 1.0e-4}, {300, 0.2}},
};

static const struct class_row *class_find(char class_) {
    for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++)
        if (classes[c].class_ == class_) return &classes[c];
    return NULL;
}

int problem_class(struct problem *p, enum npbmz_benchmark b, char class_) {
    const struct class_row *c = class_find(class_);
    if (!c) return -1;
    memset(p, 0, sizeof *p);
    p->benchmark = b;
    p->class_ = class_;
    p->gx = c->gx;
    p->gy = c->gy;
    p->gz = c->gz;
    struct stepping s;
    switch (b) {
    case NPBMZ_BT: p->solver = &solver_bt, s = c->bt; break;
    case NPBMZ_SP: p->solver = &solver_sp, s = c->sp; break;
    case NPBMZ_LU: p->solver = &solver_lu, s = c->lu; break;
    default: return -1;
    }
    p->steps = s.steps;
    p->dt = s.dt;
    /* Spacings are those of an average zone, for BT's unequal zones too. LU's zones are equal, and
     * there the last point of a zone is exactly 1. */
    if (b == NPBMZ_LU) {
        p->xzones = p->yzones = 4;
        p->h[0] = 1.0 / ((double)p->gx / p->xzones - 1.0);
        p->h[1] = 1.0 / ((double)p->gy / p->yzones - 1.0);
    } else {
        p->xzones = c->xzones;
        p->yzones = c->yzones;
        p->h[0] = 1.0 / ((double)(p->gx - 1) / p->xzones);
        p->h[1] = 1.0 / ((double)(p->gy - 1) / p->yzones);
    }
    p->h[2] = 1.0 / (p->gz - 1);
    p->zones = p->xzones * p->yzones;
    return 0;
}

void mesh_cut(int points, int parts, double ratio, int width[]) {
    int before = 0;
    if (parts == 1 || fabs(ratio - 1.0) <= 1e-10) {
        for (int i = 1; i <= parts; i++) {
            int last = (int)((int64_t)i * points / parts);
            width[i - 1] = last - before;
            before = last;
        }
        return;
    }
    /* widths s, s r, s r^2, ..; the sum of the first i, rounded at 0.55 */
    double r = exp(log(ratio) / (parts - 1));
    double s = points * (r - 1.0) / (pow(r, parts) - 1.0);
    for (int i = 1; i <= parts; i++) {
        int last = (int)(s * (pow(r, i) - 1.0) / (r - 1.0) + 0.45);
        width[i - 1] = last - before;
        before = last;
    }
}

/* widths along x and along y, MAX_PARTS at most */
static void problem_widths(const struct problem *p, int *x, int *y) {
    double ratio = p->benchmark == NPBMZ_BT ? class_find(p->class_)->ratio : 1.0;
    mesh_cut(p->gx, p->xzones, ratio, x);
    mesh_cut(p->gy, p->yzones, ratio, y);
}

static uint64_t rotate(uint64_t a, unsigned n) { return a << (n & 63) | a >> (-n & 63); }

/* Where in the first-level cache a point lies: caches of 32 and of 48 KB have 64 sets of 64-byte
 * lines (8 and 12 ways), so the set is the line's number modulo 64. A kernel that works on a row
 * reads, of each component, that row, the rows j-2 .. j+2 beside it and the planes k-2 .. k+2: 45
 * lines at once. Without padding many zones have strides that are multiples of 64 lines (32 x 32
 * points: a plane is 128 lines) and most of the 45 fall into one set, more than it has ways: a
 * value is fetched again for each of its uses, and a store aliases with loads 4096 bytes apart.
 * Measured: the residual of 32 x 32 x 32 points takes 1.18 times as long. So
 *
 * sk is an odd number of lines. Any 64 successive planes then lie in 64 different sets, which also
 * serves lines that are solved along z.
 *
 * sc gets the smallest padding for which the 45 lines lie in the most different sets; in all
 * official zones no set then has more than two of them. Padding between components is never
 * touched, so it costs no bandwidth. One line of it is always there, so that lanes sticking out of
 * the last row of the density do not read a momentum.
 *
 * sj is nx rounded up to whole lines, and one line more if that is a multiple of 16 lines: lines
 * solved along y would share 4 sets or fewer.
 */
void zone_strides(struct zone *z) {
    ptrdiff_t j = (z->nx + 7) / 8, k, c;
    if (j % 16 == 0) j++;
    k = (j * z->ny) | 1;

    uint64_t star = 0, max = 0;
    for (int s = -2; s <= 2; s++)
        star |= rotate(1, (unsigned)(s * j)) | rotate(1, (unsigned)(s * k));
    ptrdiff_t least = k * z->nz + 1;
    c = least;
    for (ptrdiff_t pad = 0; pad < 64; pad++) {
        uint64_t sets = 0;
        for (int m = 0; m < NC; m++) sets |= rotate(star, (unsigned)(m * (least + pad)));
        uint64_t n = (uint64_t)__builtin_popcountll(sets);
        if (n > max) max = n, c = least + pad;
    }
    z->sj = 8 * j;
    z->sk = 8 * k;
    z->sc = 8 * c;
}

int zone_fields(const struct problem *p) { return p->benchmark == NPBMZ_LU ? 3 : 2; }

/* Doubles from one field to the next: a third of the cache's sets further than a multiple of them,
 * so that the same point of the three fields lies in three sets. */
static size_t field_doubles(const struct zone *z) {
    size_t lines = (size_t)(NC * z->sc + 2 * ZONE_SLACK) / 8;
    return 8 * (lines + (21 - lines) % 64);
}

double zone_bytes(const struct problem *p, const struct zone *z) {
    return 8.0 * zone_fields(p) * (double)field_doubles(z);
}

double problem_bytes(const struct problem *p) {
    int x[MAX_PARTS], y[MAX_PARTS];
    problem_widths(p, x, y);
    double bytes = 0;
    for (int j = 0; j < p->yzones; j++)
        for (int i = 0; i < p->xzones; i++) {
            struct zone z = {.nx = x[i], .ny = y[j], .nz = p->gz};
            zone_strides(&z);
            bytes += zone_bytes(p, &z);
        }
    return bytes;
}

int problem_zones(struct problem *p) {
    int x[MAX_PARTS], y[MAX_PARTS];
    problem_widths(p, x, y);
    p->zone = calloc((size_t)p->zones, sizeof *p->zone);
    if (!p->zone) return -1;
    p->max_nx = p->max_ny = p->max_nz = 0;
    p->max_sj = p->max_sk = p->max_sc = 0;
    int xz = p->xzones, yz = p->yzones;
    for (int j = 0; j < yz; j++)
        for (int i = 0; i < xz; i++) {
            struct zone *z = &p->zone[j * xz + i];
            z->nx = x[i];
            z->ny = y[j];
            z->nz = p->gz;
            zone_strides(z);
            z->west = j * xz + (i + xz - 1) % xz;
            z->east = j * xz + (i + 1) % xz;
            z->south = (j + yz - 1) % yz * xz + i;
            z->north = (j + 1) % yz * xz + i;
#define GROW(max, a)                                                                               \
    if ((max) < (a)) (max) = (a)
            GROW(p->max_nx, z->nx);
            GROW(p->max_ny, z->ny);
            GROW(p->max_nz, z->nz);
            GROW(p->max_sj, z->sj);
            GROW(p->max_sk, z->sk);
            GROW(p->max_sc, z->sc);
#undef GROW
        }
    return 0;
}

void problem_close(struct problem *p) {
    if (p->zone)
        for (int n = 0; n < p->zones; n++) zone_free(&p->zone[n]);
    free(p->zone);
    p->zone = NULL;
}

void *zone_block(const struct problem *p, const struct zone *z, size_t *bytes) {
    *bytes = (size_t)zone_bytes(p, z);
    return z->u ? z->u - ZONE_SLACK : NULL;
}

static void fill(double *p, ptrdiff_t n, double a) {
    for (ptrdiff_t l = 0; l < n; l++) p[l] = a;
}

int zone_reserve(const struct problem *p, struct zone *z) {
    double *block = room((size_t)zone_bytes(p, z));
    if (!block) return -1;
    const size_t field = field_doubles(z);
    z->u = block + ZONE_SLACK;
    z->f = z->u + field;
    z->r = zone_fields(p) == 3 ? z->f + field : NULL;
    return 0;
}

int zone_alloc(const struct problem *p, struct zone *z) {
    if (zone_reserve(p, z)) return -1;
    zone_clear(p, z);
    return 0;
}

void zone_clear(const struct problem *p, struct zone *z) {
    static const double rest[NC] = {1, 0, 0, 0, 1};
    double *block = z->u - ZONE_SLACK;
    memset(block, 0, (size_t)zone_bytes(p, z));
    fill(block, ZONE_SLACK, rest[0]);
    fill(z->u + NC * z->sc, ZONE_SLACK, rest[NC - 1]);
    for (int m = 0; m < NC; m += NC - 1) { /* the momenta rest already */
        double *u = z->u + m * z->sc;
        for (int k = 0; k < z->nz; k++) {
            for (int j = 0; j < z->ny; j++)
                fill(u + zone_at(z, z->nx, j, k), z->sj - z->nx, rest[m]);
            fill(u + zone_at(z, 0, z->ny, k), z->sk - z->ny * z->sj, rest[m]);
        }
        fill(u + z->nz * z->sk, z->sc - z->nz * z->sk, rest[m]);
    }
}

void zone_free(struct zone *z) {
    if (z->u) free(z->u - ZONE_SLACK);
    free(z->kept);
    z->u = z->f = z->r = z->kept = NULL;
}

int problem_links(const struct problem *p, struct zone_link *links) {
    int n = 0;
    for (int to = 0; to < p->zones; to++) {
        const struct zone *z = &p->zone[to];
        double x = (z->ny - 2.0) * (z->nz - 2.0) * NC * sizeof(double);
        double y = (z->nx - 2.0) * (z->nz - 2.0) * NC * sizeof(double);
        const struct zone_link side[4] = {
            {z->west, to, x}, {z->east, to, x}, {z->south, to, y}, {z->north, to, y}};
        int first = n; /* first link to this zone */
        for (int s = 0; s < 4; s++) {
            if (side[s].from == to) continue;
            int l = first;
            while (l < n && links[l].from != side[s].from) l++;
            if (l < n)
                links[l].bytes += side[s].bytes;
            else
                links[n++] = side[s];
        }
    }
    return n;
}
