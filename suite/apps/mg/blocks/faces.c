/* Packing, putting and taking faces. */
#include "mg/blocks/faces.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <string.h>

/* Signals: of each face, of gathers, and two between a block's rank and its master. */
enum { SIDES = 2, TURNS = 2, GATHERED = 3 * SIDES, TOLD, SIGNALS = TOLD + 2 };

void faces_grid(int ranks, int grid[3]) {
    const int all = __builtin_ctz((unsigned)ranks), x = all / 3, y = (all - x) / 2;
    grid[0] = 1 << x;
    grid[1] = 1 << y;
    grid[2] = 1 << (all - x - y);
}

void faces_place(const int p[3], int rank, int at[3], int neighbour[3][2]) {
    at[0] = rank % p[0];
    at[1] = rank / p[0] % p[1];
    at[2] = rank / p[0] / p[1];
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < SIDES; side++) {
            int to[3] = {at[0], at[1], at[2]};
            to[axis] = (to[axis] + (side ? 1 : p[axis] - 1)) % p[axis];
            neighbour[axis][side] = to[0] + p[0] * (to[1] + p[1] * to[2]);
        }
}

size_t faces_points(const int l[3], int axis) {
    const size_t x = (size_t)l[0], y = (size_t)l[1], z = (size_t)l[2];
    return axis == 0 ? y * z : axis == 1 ? (x + 2) * z : (x + 2) * (y + 2);
}

/* Doubles that another rank has for one side's face, and of all of a level that was gathered, which
 * is a cube with ghost cells. */
static size_t aside_doubles(size_t most, size_t all) {
    size_t side = 1;
    while (side * side * side < all) side *= 2;
    const size_t cube = all ? (side + 2) * (side + 2) * (side + 2) : 0;
    return cube > most ? cube : most;
}

evn_status faces_open(struct faces *f, evn_cluster *cluster, const int l[3], size_t all,
                      int per_node, int led) {
    *f = (struct faces){0};
    faces_grid(cluster ? evn_cluster_size(cluster) : 1, f->ranks);
    faces_place(f->ranks, cluster ? evn_cluster_rank(cluster) : 0, f->at, f->neighbour);
    size_t doubles = TURNS * all, most = all;
    f->all = all;
    for (int axis = 0; axis < 3; axis++) {
        f->part[axis] = faces_points(l, axis);
        doubles += SIDES * TURNS * f->part[axis];
        if (f->part[axis] > most) most = f->part[axis];
    }
    for (int side = 0; side < SIDES; side++) f->packed[side] = malloc(most * sizeof(double));
    evn_status status = EVN_OK;
    if (!f->packed[0] || !f->packed[1]) status = evn_fail(EVN_MEMORY, "mg: no memory for faces");
    f->out = doubles;
    f->aside = led ? SIDES * aside_doubles(most, all) : 0;
    f->bytes = (doubles + f->aside) * sizeof(double);
    if (!cluster) return status;
    status = evn_cluster_agree(cluster, status);
    if (status) return status;
    return evn_shared_open(
        &f->shared, cluster,
        &(evn_shared_shape){.bytes = f->bytes, .signals = SIGNALS, .per_node = per_node});
}

void faces_close(struct faces *f) {
    evn_shared_close(f->shared);
    free(f->packed[0]);
    free(f->packed[1]);
    memset(f, 0, sizeof *f);
}

/* ---- a face and its field ------------------------------------------------------------------- */

/* Layer `at` (from 0, the ghost cells below) across an axis: its points in order, each run by
 * copy(). */
static void each_run(const struct block_field *field, int axis, int at, double *face,
                     void (*copy)(double *field, double *face, size_t count)) {
    const int *l = field->l;
    const size_t row = (size_t)l[0] + 2, plane = row * ((size_t)l[1] + 2);
    if (axis == 2) {
        copy(field->at + (size_t)at * plane, face, plane);
        return;
    }
    for (int k = 1; k <= l[2]; k++) {
        double *p = field->at + (size_t)k * plane;
        if (axis == 1) {
            copy(p + (size_t)at * row, face, row);
            face += row;
        } else {
            for (int j = 1; j <= l[1]; j++) copy(p + (size_t)j * row + at, face++, 1);
        }
    }
}

static void to_face(double *field, double *face, size_t count) {
    memcpy(face, field, count * sizeof *face);
}

static void to_field(double *field, double *face, size_t count) {
    memcpy(field, face, count * sizeof *field);
}

/* The layer next to the ghost cells of a side, and these. */
static int inner(const struct block_field *f, int axis, int side) { return side ? f->l[axis] : 1; }
static int ghost(const struct block_field *f, int axis, int side) {
    return side ? f->l[axis] + 1 : 0;
}

/* ---- messages ------------------------------------------------------------------------------- */

size_t faces_box(const struct faces *f, unsigned long long exchange, int axis, int side) {
    size_t before = TURNS * f->all;
    for (int a = 0; a < axis; a++) before += SIDES * TURNS * f->part[a];
    const size_t turn = exchange % TURNS;
    return before + (TURNS * (size_t)side + turn) * f->part[axis];
}

/* A face sent to a side arrives from the opposite one. */
evn_status faces_put(struct faces *f, unsigned long long exchange, const int l[3], int axis,
                     int side, const double *face) {
    return evn_shared_put(f->shared, f->neighbour[axis][side],
                          faces_box(f, exchange, axis, !side) * sizeof(double), face,
                          faces_points(l, axis) * sizeof(double));
}

evn_status faces_raise(struct faces *f, int axis, int side) {
    return evn_shared_raise(f->shared, f->neighbour[axis][side], SIDES * axis + !side);
}

evn_status faces_wait(struct faces *f, unsigned long long exchange, int axis, int side) {
    return evn_shared_wait(f->shared, f->neighbour[axis][side], SIDES * axis + side, exchange + 1);
}

evn_status faces_tell(struct faces *f, int rank, enum faces_word word) {
    return evn_shared_raise(f->shared, rank, TOLD + (int)word);
}

evn_status faces_hear(struct faces *f, int rank, enum faces_word word, unsigned long long times) {
    return evn_shared_wait(f->shared, rank, TOLD + (int)word, times);
}

static evn_status put(struct faces *f, const struct block_field *field, int axis, int side) {
    const size_t plane = ((size_t)field->l[0] + 2) * ((size_t)field->l[1] + 2);
    const int at = inner(field, axis, side);
    const double *face = axis == 2 ? field->at + (size_t)at * plane : f->packed[side];
    if (axis < 2) each_run(field, axis, at, f->packed[side], to_face);
    return faces_put(f, f->done, field->l, axis, side, face);
}

static evn_status take(struct faces *f, const struct block_field *field, int axis, int side) {
    evn_status status = faces_wait(f, f->done, axis, side);
    double *buffer = (double *)evn_shared_memory(f->shared) + faces_box(f, f->done, axis, side);
    if (!status) each_run(field, axis, ghost(field, axis, side), buffer, to_field);
    return status;
}

/* 1 if a neighbour is on another node: raising its signal waits for the face, so it is done when
 * there is nothing else to do. */
int faces_far(const struct faces *f, int axis, int side) {
    return !evn_shared_pointer(f->shared, f->neighbour[axis][side]);
}

static evn_status send(struct faces *f, const struct block_field *field, int axis) {
    evn_status status = EVN_OK;
    for (int side = 0; !status && side < SIDES; side++) {
        status = put(f, field, axis, side);
        if (!status && !faces_far(f, axis, side)) status = faces_raise(f, axis, side);
    }
    return status;
}

static evn_status receive(struct faces *f, const struct block_field *field, int axis) {
    evn_status status = EVN_OK;
    for (int side = 0; !status && side < SIDES; side++)
        if (faces_far(f, axis, side)) status = faces_raise(f, axis, side);
    for (int side = 0; !status && side < SIDES; side++) status = take(f, field, axis, side);
    return status;
}

static void copy_around(struct faces *f, const struct block_field *field, int axis) {
    for (int side = 0; side < SIDES; side++) {
        each_run(field, axis, inner(field, axis, side), f->packed[side], to_face);
        each_run(field, axis, ghost(field, axis, !side), f->packed[side], to_field);
    }
}

evn_status faces_exchange(struct faces *f, const struct block_field *field,
                          void (*meanwhile)(void *arg, int phase), void *arg) {
    evn_status status = EVN_OK;
    double since = evn_now();
    for (int axis = 0; !status && axis < 3; axis++) {
        const int alone = f->ranks[axis] == 1;
        if (alone)
            copy_around(f, field, axis);
        else
            status = send(f, field, axis);
        f->seconds += evn_now() - since;
        if (meanwhile) meanwhile(arg, axis);
        since = evn_now();
        if (!status && !alone) status = receive(f, field, axis);
    }
    f->done++;
    f->seconds += evn_now() - since;
    return status;
}

void faces_wrap(struct faces *f, const struct block_field *field) {
    for (int axis = 0; axis < 3; axis++) copy_around(f, field, axis);
}

/* ---- gathers -------------------------------------------------------------------------------- */

/* The rows of a rank's block in all of a level, packed in `points`. */
static void unpack(const struct faces *f, const struct block_field *part,
                   const struct block_field *whole, int rank, const double *points) {
    const int *p = f->ranks, *l = part->l;
    const int x = rank % p[0] * l[0], y = rank / p[0] % p[1] * l[1], z = rank / p[0] / p[1] * l[2];
    const size_t row = (size_t)whole->l[0] + 2, plane = row * ((size_t)whole->l[1] + 2);
    for (int k = 1; k <= l[2]; k++)
        for (int j = 1; j <= l[1]; j++, points += l[0])
            memcpy(whole->at + (size_t)(z + k) * plane + (size_t)(y + j) * row + x + 1, points,
                   (size_t)l[0] * sizeof *points);
}

static void pack(const struct block_field *part, double *points) {
    const size_t row = (size_t)part->l[0] + 2, plane = row * ((size_t)part->l[1] + 2);
    for (int k = 1; k <= part->l[2]; k++)
        for (int j = 1; j <= part->l[1]; j++, points += part->l[0])
            memcpy(points, part->at + (size_t)k * plane + (size_t)j * row + 1,
                   (size_t)part->l[0] * sizeof *points);
}

evn_status faces_gather(struct faces *f, const struct block_field *part,
                        const struct block_field *whole) {
    const double since = evn_now();
    const int ranks = f->ranks[0] * f->ranks[1] * f->ranks[2];
    const int me = f->at[0] + f->ranks[0] * (f->at[1] + f->ranks[1] * f->at[2]);
    const size_t points = (size_t)part->l[0] * (size_t)part->l[1] * (size_t)part->l[2];
    const size_t begin = f->gathered++ % TURNS * f->all;
    evn_status status = EVN_OK;
    pack(part, f->packed[0]);
    unpack(f, part, whole, me, f->packed[0]);
    for (int i = 1; !status && i < ranks; i++)
        status = evn_shared_put_signal(f->shared, (me + i) % ranks,
                                       (begin + (size_t)me * points) * sizeof(double), f->packed[0],
                                       points * sizeof(double), GATHERED);
    const double *all = (const double *)evn_shared_memory(f->shared) + begin;
    for (int i = 1; !status && i < ranks; i++) {
        const int from = (me + i) % ranks;
        status = evn_shared_wait(f->shared, from, GATHERED, f->gathered);
        if (!status) unpack(f, part, whole, from, all + (size_t)from * points);
    }
    f->seconds += evn_now() - since;
    return status;
}
