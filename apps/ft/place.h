/* A device of places.h, for the files that make it up: places.c; place_tables.c, where its fields
 * and boxes lie; place_cross.c, what crosses. */
#ifndef FT_PLACE_H
#define FT_PLACE_H

#include "ft/parts.h"
#include "ft/places.h"
#include <pthread.h>

enum { PIECES = 8 };

/* The tables of ways, one behind the other: by z or by y, from or to.
 *
 * WAY_SLAB   points of V's lines along z, by z
 * WAY_PLANE  rows of W's planes, by y
 * WAY_OUT_Z  where planes get what is transformed along z, by z; WAY_IN_Y where a plane's rows are
 *            then, by y
 * WAY_OUT_Y  where slabs get what is transformed along y, by y; WAY_IN_Z where a line's points are
 *            then, by z */
enum way { WAY_SLAB, WAY_PLANE, WAY_OUT_Z, WAY_IN_Y, WAY_OUT_Y, WAY_IN_Z, WAYS };

struct place {
    struct places *of;
    int space;
    evn_unit *unit;
    evn_device *device;
    evn_queue *queue;    /* the unit's */
    evn_queue *copies;   /* copies out, and what other units do here */
    evn_queue *arrivals; /* copies in while units are at work */
    evn_event *ready;    /* what came to the queue before a pass is there, for other units */
    evn_event *begin, *end, *made[PIECES], *gone[PIECES];
    struct engine *engine;
    pthread_mutex_t lock; /* held by who works here */
    pthread_mutex_t door; /* by who gives something to `arrivals` */
    int planes, rows;     /* of its tasks */
    size_t w, v, out, in, result, doubles;
    int way[WAYS];
    evn_buffer *memory, *ways, *plane_number, *row_number, *point_at;
    int points, point[POINTS]; /* which ones are here */
    double value[2 * POINTS];
    double *stage; /* what comes from one rank for one of several spaces */
    size_t staged; /* doubles */
    int timed;     /* begin and end are of a visit that nobody has asked for */
};

static inline const struct owners *owners(const struct place *d) { return &d->of->f->owners; }
static inline size_t row_doubles(const struct place *d) { return 2 * (size_t)d->of->f->t->nx; }
static inline size_t plane_doubles(const struct place *d) {
    return row_doubles(d) * (size_t)d->of->f->t->ny;
}
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

/* How many lines of another rank, or of another of my spaces; and how many are before them, but
 * mine. */
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

/* What a task has of an axis, in the numbers of its device. */
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

/* In its memory: what is for another rank, or another space of mine, from my line `from` on; what
 * comes from line `at` of a rank, by its number there. */
size_t place_out(const struct place *d, enum turn turn, int rank, int space, int from);
size_t place_in(const struct place *d, enum turn turn, int rank, int at);

/* Lets what lines have made for my host and for other ranks leave, behind what is in its queue of
 * copies. */
evn_status place_copy_out(struct place *d, enum turn turn, struct range r);

/* And what they have made for other devices that can be reached, once `made` has happened. */
evn_status place_copy_peers(struct place *d, enum turn turn, struct range r, evn_event *made);

#endif
