/* Operators on blocks with ghost cells, and their order. */
#include "mg/blocks/blocks.h"
#include "common/run/hash.h"
#include "common/run/huge_alloc.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields --------------------------------------------------------------------------------- */

static size_t row_of(const struct block_field *f) { return (size_t)f->l[0] + 2; }
static size_t plane_of(const struct block_field *f) { return row_of(f) * ((size_t)f->l[1] + 2); }
static size_t points_of(const struct block_field *f) { return plane_of(f) * ((size_t)f->l[2] + 2); }

static double *at(const struct block_field *f, int j, int k) {
    return f->at + (size_t)k * plane_of(f) + (size_t)j * row_of(f);
}

static struct block_field shape(int n, const int grid[3]) {
    return (struct block_field){.l = {n / grid[0], n / grid[1], n / grid[2]}};
}

static const int one[3] = {1, 1, 1};

/* z has the most ranks. */
int blocks_whole(int n, int ranks) {
    int grid[3];
    faces_grid(ranks, grid);
    if (2 * grid[2] > n) return -1;
    return grid[2] > 2 ? __builtin_ctz((unsigned)grid[2]) : 0;
}

double blocks_doubles(int n, int ranks) {
    int grid[3];
    const int whole = blocks_whole(n, ranks);
    double sum = 0;
    faces_grid(ranks, grid);
    for (int m = 2, l = 1; m <= n; m *= 2, l++) {
        const struct block_field f = shape(m, l > whole ? grid : one), part = shape(m, grid);
        sum += (m == n ? 3.0 : 2.0) * (double)points_of(&f);
        if (l == whole) sum += 2.0 * (double)points_of(&part);
    }
    return sum;
}

/* Room for a field, which begins at *next. */
static struct block_field lay_field(struct block_field f, double **next) {
    f.at = *next;
    *next += points_of(&f);
    return f;
}

static void lay(struct blocks *b, int n) {
    const int *grid = b->faces.ranks;
    double *next = b->memory;
    b->v = lay_field(shape(n, grid), &next);
    for (int l = b->finest, m = n; l > 0; l--, m /= 2) {
        const struct block_field f = shape(m, l > b->whole ? grid : one);
        b->level[l].u = lay_field(f, &next);
        b->level[l].r = lay_field(f, &next);
        if (l != b->whole) continue;
        b->part_u = lay_field(shape(m, grid), &next);
        b->part_r = lay_field(shape(m, grid), &next);
    }
}

evn_status blocks_open(struct blocks *b, evn_cluster *cluster, int n, char smoother, int cores,
                       int per_node, int led) {
    memset(b, 0, sizeof *b);
    b->finest = __builtin_ctz((unsigned)n);
    b->cores = cores;
    memcpy(b->smoother, blocks_smoother(smoother), sizeof b->smoother);
    int grid[3];
    const int ranks = cluster ? evn_cluster_size(cluster) : 1;
    faces_grid(ranks, grid);
    b->longest = (size_t)n / (size_t)grid[0] + 16;
    if (cores) b->memory = room((size_t)blocks_doubles(n, ranks) * sizeof(double));
    b->rows = malloc(2 * (size_t)cores * b->longest * sizeof(double) + 1);
    evn_status status = (b->memory || !cores) && b->rows
                            ? EVN_OK
                            : evn_fail(EVN_MEMORY, "mg: no memory for blocks");
    if (cluster) status = evn_cluster_agree(cluster, status);
    b->whole = blocks_whole(n, ranks);
    const size_t all = b->whole ? (size_t)1 << 3 * b->whole : 0;
    if (!status) status = faces_open(&b->faces, cluster, shape(n, grid).l, all, per_node, led);
    if (!status && cores) lay(b, n);
    return status;
}

void blocks_close(struct blocks *b) {
    faces_close(&b->faces);
    free(b->memory);
    free(b->rows);
    b->memory = b->rows = NULL;
}

/* Work space of the calling thread: row 0 or 1. */
static double *work_row(const struct blocks *b, int which) {
    return b->rows + (2 * (size_t)omp_get_thread_num() + (size_t)which) * b->longest;
}

static void clear(const struct blocks *b, const struct block_field *f) {
#pragma omp parallel for num_threads(b->cores) schedule(static)
    for (int k = 0; k < f->l[2] + 2; k++) memset(at(f, 0, k), 0, plane_of(f) * sizeof(double));
}

void blocks_start(struct blocks *b, const struct charges *charges) {
    for (int l = b->finest; l > 0; l--) {
        clear(b, &b->level[l].u);
        clear(b, &b->level[l].r);
    }
    if (b->whole) clear(b, &b->part_r);
    clear(b, &b->v);
    for (int i = 0; i < CHARGES; i++) {
        const struct charge *c = &charges->at[i];
        const int x[3] = {c->x, c->y, c->z}, *l = b->v.l;
        int mine = 1;
        for (int axis = 0; axis < 3; axis++) mine &= x[axis] / l[axis] == b->faces.at[axis];
        if (mine) at(&b->v, x[1] % l[1] + 1, x[2] % l[2] + 1)[x[0] % l[0] + 1] = c->value;
    }
}

/* ---- y = b + W x ---------------------------------------------------------------------------- */

/* r = v + (-A) u */
const double blocks_minus_a[4] = {8.0 / 3, 0, -1.0 / 6, -1.0 / 12};

const double *blocks_smoother(char smoother) {
    static const double weights[2][4] = {{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0},
                                         {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0}};
    return weights[smoother == 'b'];
}

/* An operator of 27 points: weights of a point, and of its 6, 12 and 8 neighbours. `y`
 * and `b` may be the same field. */
struct stencil {
    const struct blocks *blocks;
    struct block_field y, b, x;
    const double *weight;
};

/* Points i of [from, to) of a row. What lies across the row is added up once for three points. */
static void stencil_row(const struct stencil *s, int from, int to, int j, int k) {
    double *restrict face = work_row(s->blocks, 0), *restrict edge = work_row(s->blocks, 1);
    const double *w = s->weight, *here = at(&s->x, j, k);
    const double *south = at(&s->x, j - 1, k), *north = at(&s->x, j + 1, k);
    const double *low = at(&s->x, j, k - 1), *high = at(&s->x, j, k + 1);
    const double *a = at(&s->x, j - 1, k - 1), *b = at(&s->x, j + 1, k - 1);
    const double *c = at(&s->x, j - 1, k + 1), *d = at(&s->x, j + 1, k + 1);
    const double *base = at(&s->b, j, k);
    double *y = at(&s->y, j, k);
    for (int i = from - 1; i <= to; i++) {
        face[i] = south[i] + north[i] + low[i] + high[i];
        edge[i] = a[i] + b[i] + c[i] + d[i];
    }
    for (int i = from; i < to; i++)
        y[i] = base[i] + w[0] * here[i] + w[1] * (here[i - 1] + here[i + 1] + face[i]) +
               w[2] * (edge[i] + face[i - 1] + face[i + 1]) + w[3] * (edge[i - 1] + edge[i + 1]);
}

/* All points of [from, to) along each axis. */
static void stencil_range(const struct stencil *s, const int from[3], const int to[3]) {
    if (from[0] >= to[0] || from[1] >= to[1]) return;
#pragma omp parallel for num_threads(s->blocks->cores) schedule(static) if (to[2] - from[2] > 3)
    for (int k = from[2]; k < to[2]; k++)
        for (int j = from[1]; j < to[1]; j++) stencil_row(s, from[0], to[0], j, k);
}

/* The points of faces, each once. */
static void stencil_faces(const struct stencil *s) {
    int from[3] = {1, 1, 1}, to[3];
    for (int axis = 0; axis < 3; axis++) to[axis] = s->y.l[axis] + 1;
    for (int axis = 0; axis < 3; axis++) {
        const int begin = from[axis], end = to[axis];
        to[axis] = begin + 1;
        stencil_range(s, from, to);
        from[axis] = end - 1;
        to[axis] = end;
        stencil_range(s, from, to);
        from[axis] = begin + 1;
        to[axis] = end - 1;
    }
}

/* A third of the points within, plane after plane. */
static void stencil_within(void *arg, int phase) {
    const struct stencil *s = arg;
    const int *l = s->y.l, planes = l[2] - 2;
    stencil_range(s, (int[3]){2, 2, 2 + planes * phase / 3},
                  (int[3]){l[0], l[1], 2 + planes * (phase + 1) / 3});
}

/* The ghost cells of a field of a level. */
static evn_status around(struct blocks *b, int level, const struct block_field *field,
                         void (*meanwhile)(void *arg, int phase), void *arg) {
    if (level > b->whole) return faces_exchange(&b->faces, field, meanwhile, arg);
    faces_wrap(&b->faces, field);
    return EVN_OK;
}

/* The operator, and the exchange of what it has made. */
static evn_status stencil(struct blocks *b, int level, const struct block_field *y,
                          const struct block_field *base, const struct block_field *x,
                          const double weight[4]) {
    struct stencil s = {b, *y, *base, *x, weight};
    const int *l = y->l;
    const int apart = level > b->whole && b->overlap && l[0] > 2 && l[1] > 2 && l[2] > 4;
    if (apart)
        stencil_faces(&s);
    else
        stencil_range(&s, (int[3]){1, 1, 1}, (int[3]){l[0] + 1, l[1] + 1, l[2] + 1});
    return around(b, level, y, apart ? stencil_within : NULL, &s);
}

/* ---- between levels ------------------------------------------------------------------------- */

static void restrict_row(const struct block_field *from, const struct block_field *to, int j,
                         int k) {
    static const double weight[4] = {0.5, 0.25, 0.125, 0.0625};
    const int n = to->l[0];
    double *y = at(to, j, k);
    for (int i = 1; i <= n; i++) y[i] = 0;
    for (int dk = -1; dk <= 1; dk++)
        for (int dj = -1; dj <= 1; dj++) {
            const double *x = at(from, 2 * j + dj, 2 * k + dk);
            const double w = weight[abs(dj) + abs(dk)], side = weight[abs(dj) + abs(dk) + 1];
            for (int i = 1; i <= n; i++)
                y[i] += w * x[2 * i] + side * (x[2 * i - 1] + x[2 * i + 1]);
        }
}

/* r of level l to r of level l - 1: coarse point i, from 1, is fine point 2 i. */
static evn_status go_down(void *arg, int l) {
    struct blocks *b = arg;
    const int gather = b->whole && l - 1 == b->whole;
    const struct block_field *from = &b->level[l].r, *whole = &b->level[l - 1].r,
                             *to = gather ? &b->part_r : whole;
#pragma omp parallel for num_threads(b->cores) schedule(static) if (to->l[2] > 3)
    for (int k = 1; k <= to->l[2]; k++)
        for (int j = 1; j <= to->l[1]; j++) restrict_row(from, to, j, k);
    evn_status status = gather ? faces_gather(&b->faces, to, whole) : EVN_OK;
    return status ? status : around(b, l - 1, whole, NULL, NULL);
}

/* Fine points of a row lie on coarse ones or between two: the mean of up to eight. */
static void interpolate_row(double *restrict sum, const struct block_field *from,
                            const struct block_field *to, int j, int k, int add) {
    const double *z[4] = {at(from, j / 2, k / 2), at(from, (j + 1) / 2, k / 2),
                          at(from, j / 2, (k + 1) / 2), at(from, (j + 1) / 2, (k + 1) / 2)};
    double *u = at(to, j, k);
    const int n = from->l[0];
    for (int i = 0; i <= n + 1; i++) sum[i] = 0.25 * (z[0][i] + z[1][i] + z[2][i] + z[3][i]);
    if (!add) memset(u, 0, row_of(to) * sizeof *u);
    for (int i = 0; i <= n; i++) {
        u[2 * i] += sum[i];
        u[2 * i + 1] += 0.5 * (sum[i] + sum[i + 1]);
    }
}

/* This rank's block of u of a level that each rank has completely, with ghost cells. */
static const struct block_field *cut_out(struct blocks *b) {
    const struct block_field *whole = &b->level[b->whole].u, *part = &b->part_u;
    const int *l = part->l, *here = b->faces.at;
    for (int k = 0; k < l[2] + 2; k++)
        for (int j = 0; j < l[1] + 2; j++)
            memcpy(at(part, j, k),
                   at(whole, here[1] * l[1] + j, here[2] * l[2] + k) + here[0] * l[0],
                   row_of(part) * sizeof(double));
    return part;
}

/* u of level l from that of l - 1, ghost cells too. */
static evn_status go_up(void *arg, int l) {
    struct blocks *b = arg;
    if (l == 1) {
        clear(b, &b->level[1].u);
        return EVN_OK;
    }
    const struct block_field *from =
                                 l - 1 == b->whole && b->whole ? cut_out(b) : &b->level[l - 1].u,
                             *to = &b->level[l].u;
#pragma omp parallel for num_threads(b->cores) schedule(static) if (to->l[2] > 3)
    for (int k = 0; k < to->l[2] + 2; k++)
        for (int j = 0; j < to->l[1] + 2; j++)
            interpolate_row(work_row(b, 0), from, to, j, k, l == b->finest);
    return EVN_OK;
}

/* ---- the cycle ------------------------------------------------------------------------------ */

static evn_status stencil_residual(void *arg, int l) {
    struct blocks *b = arg;
    const struct block_field *r = &b->level[l].r;
    return stencil(b, l, r, l == b->finest ? &b->v : r, &b->level[l].u, blocks_minus_a);
}

static evn_status stencil_smooth(void *arg, int l) {
    struct blocks *b = arg;
    const struct block_field *u = &b->level[l].u;
    return stencil(b, l, u, u, &b->level[l].r, b->smoother);
}

/* An operator, whose time without exchanges is noted. */
static evn_status timed(struct blocks *b, enum mg_operator which,
                        evn_status (*operate)(void *arg, int l), int l) {
    const double since = evn_now() - b->faces.seconds;
    const evn_status status = operate(b, l);
    b->seconds[which] += evn_now() - b->faces.seconds - since;
    return status;
}

static evn_status down(void *arg, int l) { return timed(arg, MG_RPRJ3, go_down, l); }
static evn_status up(void *arg, int l) { return timed(arg, MG_INTERP, go_up, l); }
static evn_status residual(void *arg, int l) { return timed(arg, MG_RESID, stencil_residual, l); }
static evn_status smooth(void *arg, int l) { return timed(arg, MG_PSINV, stencil_smooth, l); }

evn_status blocks_residual(struct blocks *b) { return residual(b, b->finest); }

evn_status blocks_cycle_of(const struct blocks_steps *steps, void *arg, int finest) {
    evn_status status = EVN_OK;
    for (int l = finest; !status && l > 1; l--) status = steps->down(arg, l);
    for (int l = 1; !status && l <= finest; l++) {
        status = steps->up(arg, l);
        if (!status && l > 1) status = steps->residual(arg, l);
        if (!status) status = steps->smooth(arg, l);
    }
    return status ? status : steps->residual(arg, finest);
}

evn_status blocks_cycle(struct blocks *b) {
    static const struct blocks_steps steps = {down, up, residual, smooth};
    return blocks_cycle_of(&steps, b, b->finest);
}

/* ---- norm and hash ---- */

double blocks_squares(const struct blocks *b) {
    const struct block_field *r = &b->level[b->finest].r;
    double sum = 0;
    for (int k = 1; k <= r->l[2]; k++)
        for (int j = 1; j <= r->l[1]; j++) {
            const double *row = at(r, j, k);
            double part = 0;
            for (int i = 1; i <= r->l[0]; i++) part += row[i] * row[i];
            sum += part;
        }
    return sum;
}

uint64_t blocks_hash(const struct blocks *b) {
    const struct block_field *u = &b->level[b->finest].u;
    uint64_t hash = HASH_SEED, word;
    for (int k = 1; k <= u->l[2]; k++)
        for (int j = 1; j <= u->l[1]; j++)
            for (int i = 1; i <= u->l[0]; i++) {
                memcpy(&word, at(u, j, k) + i, sizeof word);
                hash = hash_word(hash, word);
            }
    return hash;
}
