/* The passes. */
#include "ft/host/passes.h"
#include "common/run/hash.h"
#include "ft/parts.h"
#include "ft/host/start.h"
#include <omp.h>
#include <string.h>

static int share(int count, int me, int cores) { return (int)((long long)count * me / cores); }

/* Part of core `me` of `count`. */
struct range {
    int begin, end;
};
static struct range mine(int count, int me, int cores) {
    return (struct range){share(count, me, cores), share(count, me + 1, cores)};
}

static struct range planes_of(const struct work *w, int task) {
    return (struct range){parts_begin(w->t.nz, w->tasks, task),
                          parts_begin(w->t.nz, w->tasks, task + 1)};
}
static struct range rows_of(const struct work *w, int task) {
    return (struct range){parts_begin(w->t.ny, w->tasks, task),
                          parts_begin(w->t.ny, w->tasks, task + 1)};
}

static void team_waits(int cores) {
    if (cores > 1) {
#pragma omp barrier
    }
}

static size_t packed(const struct transform *t) { return 2 * (size_t)t->nx * sizeof(double); }

/* A core's room: what a transform takes, and a pointer to each plane. */
size_t pass_room(const struct transform *t) {
    return transform_workspace(t) + ((size_t)t->nz + 7) / 8 * 8;
}
static double **targets(const struct transform *t, double *room) {
    return (double **)(void *)(room + transform_workspace(t));
}

/* A plane that is transformed along x: along y, and to where layout Y is. */
static void plane_to_slabs(struct work *w, int k, int me, int cores, double *room,
                           enum line_sign sign) {
    const struct transform *t = &w->t;
    const struct range p = mine(t->packs, me, cores), y = mine(t->ny, me, cores);
    double *plane = w->f.plane[k];
    if (!w->f.inbox) {
        transform_y_to_slabs(t, plane, k, w->f.slab, p.begin, p.end, sign, room);
        return;
    }
    transform_y(t, plane, p.begin, p.end, sign, room);
    team_waits(cores);
    for (int j = y.begin; j < y.end; j++)
        memcpy(fields_out(&w->f, TURN_Z_TO_Y, k, j), plane + j * t->row, packed(t));
}

void pass_start(struct work *w, int task, int me, int cores, double *room) {
    const struct range z = planes_of(w, task), y = mine(w->t.ny, me, cores);
    for (int k = z.begin; k < z.end; k++) {
        start_rows(&w->t, w->f.plane[k], k, y.begin, y.end);
        transform_x(&w->t, w->f.plane[k], y.begin, y.end, LINE_PLUS, room);
        team_waits(cores);
        plane_to_slabs(w, k, me, cores, room, LINE_PLUS);
    }
}

/* Values from other ranks for pack p of row j. */
static void unpack_line(struct work *w, int j, int p) {
    double *line = w->f.slab[j] + (ptrdiff_t)p * w->t.nz * PACK;
    for (int k = 0; k < w->t.nz; k++)
        memcpy(line + (ptrdiff_t)k * PACK, fields_in(&w->f, TURN_Z_TO_Y, k, j) + p * PACK,
               PACK * sizeof *line);
}

void pass_start_z(struct work *w, int task, int me, int cores, double *room) {
    const struct range y = rows_of(w, task), packs = mine(w->t.packs, me, cores);
    for (int j = y.begin; j < y.end; j++)
        for (int p = packs.begin; p < packs.end; p++) {
            if (w->f.inbox) unpack_line(w, j, p);
            transform_z(&w->t, w->f.slab[j], p, p + 1, LINE_PLUS, room);
        }
}

/* Row j along z, into `plane`, or the outbox where that is nowhere. */
static void row_to_planes(struct work *w, int j, double *const *plane, const struct decay *decay,
                          enum line_sign sign, struct range p, double *room) {
    const struct transform *t = &w->t;
    double **to = targets(t, room);
    const double *soon = j + 1 < t->ny ? w->f.slab[j + 1] : NULL;
    if (!w->f.inbox) {
        transform_z_to_planes(t, w->f.slab[j], j, decay, plane, j * t->row, p.begin, p.end, soon,
                              sign, room);
        return;
    }
    for (int k = 0; k < t->nz; k++)
        to[k] = plane[k] ? plane[k] + j * t->row : fields_out(&w->f, TURN_Y_TO_Z, k, j);
    transform_z_to_planes(t, w->f.slab[j], j, decay, to, 0, p.begin, p.end, soon, sign, room);
}

void pass_z(struct work *w, int task, int me, int cores, double *room) {
    const struct range y = rows_of(w, task), packs = mine(w->t.packs, me, cores);
    for (int j = y.begin; j < y.end; j++)
        row_to_planes(w, j, w->f.plane, &w->decay, LINE_MINUS, packs, room);
}

/* Rows of a plane that have come from ranks which cannot write to it. */
static void unpack_row(struct work *w, double *plane, int k, int j) {
    const struct owners *o = &w->f.owners;
    if (!w->f.inbox || (w->f.direct[o->y.rank[j]] && !o->y.space[j])) return;
    memcpy(plane + j * w->t.row, fields_in(&w->f, TURN_Y_TO_Z, k, j), packed(&w->t));
}

void pass_xy(struct work *w, int task, int me, int cores, double *room) {
    const struct transform *t = &w->t;
    const struct range z = planes_of(w, task), y = mine(t->ny, me, cores);
    const struct range p = mine(t->packs, me, cores);
    for (int k = z.begin; k < z.end; k++) {
        double *plane = w->f.plane[k];
        for (int j = y.begin; j < y.end; j++) {
            unpack_row(w, plane, k, j);
            transform_x(t, plane, j, j + 1, LINE_MINUS, room);
        }
        team_waits(cores);
        transform_y(t, plane, p.begin, p.end, LINE_MINUS, room);
    }
}

static void decay_row(const struct work *w, const double *from, double *to, double factor) {
    for (int p = 0; p < w->t.packs; p++)
        for (int i = 0; i < PACK_PART; i++) {
            const double f = w->decay.x[p * PACK_PART + i] * factor;
            to[p * PACK + i] = from[p * PACK + i] * f;
            to[p * PACK + PACK_PART + i] = from[p * PACK + PACK_PART + i] * f;
        }
}

static void decayed_plane(struct work *w, int k, int me, int cores, double *room) {
    const struct transform *t = &w->t;
    const struct range y = mine(t->ny, me, cores);
    double *plane = w->f.plane[k];
    for (int j = y.begin; j < y.end; j++)
        decay_row(w, w->f.kept[k] + j * t->row, plane + j * t->row, w->decay.y[j] * w->decay.z[k]);
    transform_x(t, plane, y.begin, y.end, LINE_MINUS, room);
    team_waits(cores);
}

void pass_decay_xy(struct work *w, int task, int me, int cores, double *room) {
    const struct range z = planes_of(w, task);
    for (int k = z.begin; k < z.end; k++) {
        decayed_plane(w, k, me, cores, room);
        plane_to_slabs(w, k, me, cores, room, LINE_MINUS);
    }
}

static void back(struct work *w, int task, int me, int cores, double *room, double *const *plane,
                 enum line_sign sign) {
    const struct range y = rows_of(w, task), packs = mine(w->t.packs, me, cores);
    for (int j = y.begin; j < y.end; j++) {
        for (int p = packs.begin; w->f.inbox && p < packs.end; p++) unpack_line(w, j, p);
        row_to_planes(w, j, plane, NULL, sign, packs, room);
    }
}

void pass_start_z_back(struct work *w, int task, int me, int cores, double *room) {
    back(w, task, me, cores, room, w->f.kept, LINE_PLUS);
}
void pass_z_back(struct work *w, int task, int me, int cores, double *room) {
    back(w, task, me, cores, room, w->f.plane, LINE_MINUS);
}

static void unpack(struct work *w, int task, int me, int cores, double *const *plane) {
    const struct range z = planes_of(w, task), y = mine(w->t.ny, me, cores);
    for (int k = z.begin; k < z.end; k++)
        for (int j = y.begin; j < y.end; j++) unpack_row(w, plane[k], k, j);
}

void pass_start_unpack(struct work *w, int task, int me, int cores, double *room) {
    (void)room;
    unpack(w, task, me, cores, w->f.kept);
}
void pass_unpack(struct work *w, int task, int me, int cores, double *room) {
    (void)room;
    unpack(w, task, me, cores, w->f.plane);
}

uint64_t hash_plane(const struct transform *t, const double *plane, ptrdiff_t row, uint64_t hash) {
    uint64_t word;
    for (int j = 0; j < t->ny; j++)
        for (int i = 0; i < 2 * t->nx; i++) {
            const double *pack = plane + j * row + i / PACK * PACK;
            memcpy(&word, pack + (i % 2 * PACK_PART + i % PACK / 2), sizeof word);
            hash = hash_word(hash, word);
        }
    return hash;
}

void pass_hash(struct work *w, int task, int me, int cores, double *room) {
    const struct range z = planes_of(w, task);
    uint64_t hash = HASH_SEED;
    (void)cores;
    (void)room;
    if (me) return;
    for (int k = z.begin; k < z.end; k++) hash = hash_plane(&w->t, w->f.plane[k], w->t.row, hash);
    w->hash[task] = hash;
}
