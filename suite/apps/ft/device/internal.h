/* A device of fields.h, for the files that make it up: fields.c; tables.c, where its fields
 * and boxes lie; transfers.c, what crosses. */
#pragma once

#include "ft/parts.h"
#include "ft/device/fields.h"
#include <pthread.h>

/* The tables of ways, one behind the other: by z or by y, from or to.
 *
 * WAY_SLAB   points of V's lines along z, by z
 * WAY_PLANE  rows of W's planes, by y
 * WAY_OUT_Z  where planes get what is transformed along z, by z; WAY_IN_Y where a plane's rows are
 *            then, by y
 * WAY_OUT_Y  where slabs get what is transformed along y, by y; WAY_IN_Z where a line's points are
 *            then, by z
 * WAY_KEPT   with two transposes, rows of V's planes, by y */
enum way { WAY_SLAB, WAY_PLANE, WAY_OUT_Z, WAY_IN_Y, WAY_OUT_Y, WAY_IN_Z, WAY_KEPT, WAYS };

struct place {
    struct places *of;
    int space;
    evn_unit *unit;
    evn_device *device;
    evn_queue *queue;    /* the unit's queue */
    evn_queue *copies;   /* copies out, and what other units do here */
    evn_queue *arrivals; /* copies in while units are at work */
    evn_event *ready;    /* what came to the queue before a pass is there, for other units */
    evn_event *begin, *end;
    struct piece_events {
        evn_event *made, *gone;
    } * piece;
    int pieces; /* number of pieces that have events */
    struct engine *engine;
    pthread_mutex_t lock; /* held by the thread that works here */
    pthread_mutex_t door; /* held by threads that add to `arrivals` */
    int planes, rows;     /* planes and rows of its tasks */
    size_t w, kept, v, out, in, result, doubles;
    int way[WAYS];
    evn_buffer *memory, *ways, *plane_number, *row_number, *point_at;
    int points, point[POINTS]; /* which ones are here */
    double value[2 * POINTS];
    double *stage; /* what comes from one rank for one of several spaces */
    size_t staged; /* size of `stage`, in doubles */
    int timed;     /* the begin and end are of an unrequested visit */
};

static inline const struct owners *owners(const struct place *d) { return &d->of->f->owners; }
static inline size_t row_doubles(const struct place *d) { return 2 * (size_t)d->of->f->t->nx; }
static inline size_t plane_doubles(const struct place *d) {
    return row_doubles(d) * (size_t)d->of->f->t->ny;
}
/* A plane of V as the host has it, so that it goes there in one piece. */
static inline size_t kept_doubles(const struct place *d) { return transform_plane(d->of->f->t); }
static inline size_t slab_doubles(const struct place *d) { return transform_slab(d->of->f->t); }

static inline const struct axis *axis_from(const struct place *d, enum turn turn) {
    return turn == TURN_Z_TO_Y ? &owners(d)->z : &owners(d)->y;
}
static inline const struct axis *axis_to(const struct place *d, enum turn turn) {
    return turn == TURN_Z_TO_Y ? &owners(d)->y : &owners(d)->z;
}

static inline int lines_in(const struct axis *a, int space) {
    return a->begin[space + 1] - a->begin[space];
}

/* Number of lines of another rank, or of another local space; and of lines before them, without
 * this space's. */
static inline int there(const struct place *d, const struct axis *b, int rank, int space) {
    return rank == owners(d)->me ? lines_in(b, space) : b->count[rank];
}
static inline int before(const struct place *d, const struct axis *b, int rank, int space) {
    const int me = owners(d)->me, own = lines_in(b, d->space);
    if (rank == me) return b->begin[space] - (space > d->space ? own : 0);
    return b->count[me] - own + b->base[rank] - (rank > me ? b->count[me] : 0);
}

static inline int is_mine(const struct place *d, const struct axis *a, int line) {
    return a->rank[line] == owners(d)->me && a->space[line] == d->space;
}

/* A task's part of an axis, in the device's numbers. */
struct range {
    int first, count;
};
static inline struct range task_lines(const struct place *d, const struct axis *a, int task) {
    const int begin = parts_begin(a->n, owners(d)->tasks, task);
    return (struct range){a->at[begin] - a->begin[d->space],
                          parts_begin(a->n, owners(d)->tasks, task + 1) - begin};
}

static inline int has_task(const struct place *d, int task) {
    return owners(d)->rank[task] == owners(d)->me && owners(d)->space[task] == d->space;
}

/* Lays its fields and boxes out for tasks as they lie. */
void place_lay_out(struct place *d);

/* Ways in its tables. */
size_t place_ways(const struct place *d);

/* Makes its tables. EVN_MEMORY, EVN_DEVICE. */
evn_status place_tables(struct place *d);

/* Addresses on the device: rows for another rank or local space, from local line `from` on; rows
 * from line `at` of a rank, by its local number. */
size_t place_out(const struct place *d, enum turn turn, int rank, int space, int from);
size_t place_in(const struct place *d, enum turn turn, int rank, int at);

/* Starts the transfer of results for this host and other ranks, behind earlier copies. */
evn_status place_copy_out(struct place *d, enum turn turn, struct range r);

/* Waits for all devices' queues. */
evn_status places_finish(struct places *places);

/* Starts the transfer of results for reachable devices, once `made` has happened. */
evn_status place_copy_peers(struct place *d, enum turn turn, struct range r, evn_event *made);
