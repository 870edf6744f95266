/* Launches of a block's operators. */
#include "mg/blocks/block_device.h"
#include "common/run/hash.h"
#include "mg/blocks/blocks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source mg_blocks_kernels;

static struct device_field lay(int n, const int grid[3], evn_long *next) {
    struct device_field f = {.l = {n / grid[0], n / grid[1], n / grid[2]}};
    f.place.at = *next;
    f.place.row = f.l[0] + 2;
    f.place.plane = f.place.row * (f.l[1] + 2);
    *next += field_doubles(&f);
    return f;
}

void block_lay(struct block_layout *b, int n, int ranks, evn_long at) {
    static const int one[3] = {1, 1, 1};
    int grid[3];
    faces_grid(ranks, grid);
    *b = (struct block_layout){.finest = __builtin_ctz((unsigned)n),
                               .whole = blocks_whole(n, ranks)};
    b->v = lay(n, grid, &at);
    for (int l = b->finest, m = n; l > 0; l--, m /= 2) {
        const int *of = l > b->whole ? grid : one;
        b->level[l].u = lay(m, of, &at);
        b->level[l].r = lay(m, of, &at);
        if (l == b->whole) b->part = lay(m, grid, &at);
    }
    const size_t x = faces_points(b->v.l, 0), y = faces_points(b->v.l, 1);
    b->box_side = (evn_long)(x > y ? x : y);
    b->box = at;
    b->square = at + 4 * b->box_side;
    b->end = b->square + (evn_long)b->v.l[1] * b->v.l[2];
}

int block_note(struct device_block *b, evn_status status) {
    if (status && !b->late) {
        b->late = status;
        snprintf(b->late_text, sizeof b->late_text, "%s", evn_message());
    }
    return b->late != EVN_OK;
}

static int tiles(int points) { return (points + BLOCK_ITEMS - 1) / BLOCK_ITEMS; }

static void launch(struct device_block *b, const char *name, int groups, const void *value,
                   size_t bytes) {
    evn_kernel *kernel;
    if (b->late || block_note(b, evn_kernel_get(b->device, &mg_blocks_kernels, name, &kernel)))
        return;
    const evn_argument argument[] = {{.buffer = b->all}, {.value = value, .bytes = bytes}};
    block_note(b, evn_launch(b->queue, kernel, groups, 0, argument, 2));
    b->launches++;
}

/* Groups along x, of items of which the outer two make no point. */
static int wide(int count, int shift) {
    const int inner = (1 << shift) - 2;
    return (count + inner - 1) / inner;
}

/* Items along x, as a power of two: those of which the most make points, the longest rows of
 * these. */
static int best_shift(int count) {
    int best = 2;
    for (int shift = 3; 1 << shift <= BLOCK_ITEMS; shift++)
        if (wide(count, shift) << shift <= wide(count, best) << best) best = shift;
    return best;
}

/* A launch that is timed as an operator's. */
static void launch_of(struct device_block *b, enum mg_operator which, const char *name, int groups,
                      const void *value, size_t bytes) {
    evn_queue_phase(b->queue, mg_operator_name(which));
    launch(b, name, groups, value, bytes);
    evn_queue_phase(b->queue, NULL);
}

void block_stencil(struct device_block *b, const struct device_field *y,
                   const struct device_field *base, const struct device_field *x,
                   const double weight[4], const int from[3], const int count[3]) {
    struct block_stencil value = {.y = y->place.at,
                                  .b = base->place.at,
                                  .x = x->place.at,
                                  .row = x->place.row,
                                  .plane = x->place.plane};
    if (count[0] < 1 || count[1] < 1 || count[2] < 1) return;
    memcpy(value.weight, weight, sizeof value.weight);
    memcpy(value.from, from, sizeof value.from);
    memcpy(value.count, count, sizeof value.count);
    value.shift = best_shift(count[0]);
    const int down = BLOCK_ITEMS >> value.shift;
    const int groups = wide(count[0], value.shift) * ((count[1] + down - 1) / down) *
                       ((count[2] + BLOCK_PLANES - 1) / BLOCK_PLANES);
    launch_of(b, weight == blocks_minus_a ? MG_RESID : MG_PSINV, "mb_stencil", groups, &value,
              sizeof value);
}

void block_down(struct device_block *b, const struct device_field *from,
                const struct device_field *to) {
    struct block_between value = {.from = from->place, .to = to->place};
    memcpy(value.count, to->l, sizeof value.count);
    launch_of(b, MG_RPRJ3, "mb_down", tiles(to->l[0] * to->l[1]) * to->l[2], &value, sizeof value);
}

/* Prolongates level l - 1. Of a level that is all here, the block's own points and those around
 * them are read. */
void block_up(struct device_block *b, int l) {
    const struct device_field *to = &b->at.level[l].u, *z = &b->at.level[l - 1].u;
    struct block_between value = {.from = z->place, .to = to->place, .add = l == b->at.finest};
    if (b->at.whole && l - 1 == b->at.whole)
        value.from.at += to->l[2] / 2 * b->part[2] * z->place.plane +
                         to->l[1] / 2 * b->part[1] * z->place.row + to->l[0] / 2 * b->part[0];
    for (int axis = 0; axis < 3; axis++) value.count[axis] = to->l[axis] + 2;
    launch_of(b, MG_INTERP, "mb_up", tiles(value.count[0] * value.count[1]) * value.count[2],
              &value, sizeof value);
}

static void clear(struct device_block *b, evn_long at, evn_long count) {
    struct block_zeros value = {at, count};
    launch(b, "mb_clear", count < 1 << 17 ? tiles((int)count) : 1024, &value, sizeof value);
}

void block_clear(struct device_block *b, const struct device_field *f) {
    clear(b, f->place.at, field_doubles(f));
}

void block_copy_faces(struct device_block *b, const struct block_faces *faces) {
    launch(b, "mb_faces", tiles(faces->a * faces->b) * faces->faces, faces, sizeof *faces);
}

void block_start(struct device_block *b, const struct charges *charges) {
    const struct device_field *v = &b->at.v;
    struct block_charges value = {.count = 0};
    for (int i = 0; i < CHARGES; i++) {
        const struct charge *c = &charges->at[i];
        const int x[3] = {c->x, c->y, c->z};
        int mine = 1;
        for (int axis = 0; axis < 3; axis++) mine &= x[axis] / v->l[axis] == b->part[axis];
        if (!mine) continue;
        value.at[value.count] = v->place.at + (x[2] % v->l[2] + 1) * v->place.plane +
                                (x[1] % v->l[1] + 1) * v->place.row + x[0] % v->l[0] + 1;
        value.value[value.count++] = c->value;
    }
    clear(b, v->place.at, b->at.end - v->place.at);
    launch(b, "mb_charges", 1, &value, sizeof value);
    block_note(b, evn_queue_finish(b->queue));
}

/* `count` doubles from `at` on, to be freed; NULL: it has failed. */
static double *fetch(struct device_block *b, evn_long at, evn_long count) {
    double *here = malloc((size_t)count * sizeof *here);
    if (!here) block_note(b, evn_fail(EVN_MEMORY, "mg: not enough memory"));
    if (!b->late)
        block_note(b, evn_copy_to_host(b->queue, here, b->all, (size_t)at * sizeof *here,
                                       (size_t)count * sizeof *here));
    block_note(b, evn_queue_finish(b->queue));
    if (!b->late) return here;
    free(here);
    return NULL;
}

double block_squares(struct device_block *b) {
    const struct device_field *r = &b->at.level[b->at.finest].r;
    const int rows = r->l[1] * r->l[2];
    struct block_rows value = {.x = r->place, .to = b->at.square};
    memcpy(value.count, r->l, sizeof value.count);
    launch(b, "mb_rows", tiles(rows), &value, sizeof value);
    double sum = 0, *row = fetch(b, b->at.square, rows);
    for (int i = 0; row && i < rows; i++) sum += row[i];
    free(row);
    return sum;
}

uint64_t block_hash(struct device_block *b) {
    const struct device_field *f = &b->at.level[b->at.finest].u;
    double *u = fetch(b, f->place.at, field_doubles(f));
    uint64_t hash = HASH_SEED, word;
    for (int k = 1; u && k <= f->l[2]; k++)
        for (int j = 1; j <= f->l[1]; j++)
            for (int i = 1; i <= f->l[0]; i++) {
                memcpy(&word, u + k * f->place.plane + j * f->place.row + i, sizeof word);
                hash = hash_word(hash, word);
            }
    free(u);
    return hash;
}
