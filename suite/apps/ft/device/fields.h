/* Tasks on devices: their fields in device memory, the passes on them, and transfers between a
 * rank's spaces.
 *
 * A device has its tasks' planes of W and slabs of V, and two boxes. Results for another space are
 * in the device's outbox, [to space] [line here] [line there] [x]; data from other spaces in its
 * inbox, [line, rank after rank and space after space, without its own] [line here] [x]. So data
 * from one space to another are one block at both ends, and one copy; from a device to the host,
 * and by the host's boxes (fields.h) to other ranks, they are sent in pieces while the pass works
 * on the next ones.
 *
 * Without ranks all data are this process's. Functions are called by the loop's thread unless they
 * say otherwise; over ranks none is collective. */
#pragma once

#include "ft/device/engine.h"
#include "ft/host/fields.h"
#include <evener/place.h>

struct place;

struct places {
    struct fields *f;
    evn_units *units;
    int count; /* number of devices */
    struct place *place;
};

/* Devices of all GPU units, or none where tasks are `elsewhere`; owners have so many spaces from
 * then on. EVN_USAGE: lines are too long for devices; EVN_MEMORY, EVN_SYSTEM, EVN_DEVICE. */
evn_status places_open(struct places *places, struct fields *fields, evn_units *units,
                       int elsewhere);
void places_close(struct places *places);

/* The space of a unit's device; of -1 the host's. */
int places_space(const struct places *places, const evn_unit *unit, int device);

/* Checks that tasks in these places fit into the devices. EVN_MEMORY: the missing bytes. */
evn_status places_check(const struct places *places);

/* Brings V of all tasks on devices to the host, into fields.come; of one. */
evn_status places_home(struct places *places);
evn_status places_fetch(struct places *places, int task);

/* Memory and tables for tasks as they lie, with what of V is in fields.come. */
evn_status places_deal(struct places *places);

/* The factors of the next step. */
evn_status places_decay(struct places *places, const struct decay *decay);

/* The passes, as those of passes.h. */
enum place_pass {
    PLACE_START,
    PLACE_START_Z,
    PLACE_START_Z_BACK,
    PLACE_DECAY_XY,
    PLACE_Z,
    PLACE_Z_BACK,
    PLACE_XY
};

/* Progress of a space's tasks. */
struct place_order {
    enum place_pass pass;
    int turn;       /* the transpose that follows; -1: none */
    int pieces;     /* in so many at most, each of which leaves when it is there */
    int is_foreign; /* by the leader of another unit than the device's */
    /* task whose rows for other ranks are in the outbox; NULL: not needed */
    evn_status (*left)(void *arg, int task);
    void *arg;
};

/* Puts it into the device's queue, for tasks in ascending order; waits where `left` is called, or
 * for all of it where it is foreign. By leaders, several at a time. */
evn_status places_pass(struct places *places, int space, const struct place_order *order,
                       const int *task, int count);

/* Seconds that the device's latest pass of a visit took; 0: none. The queue has finished. */
double places_seconds(struct places *places, int space);

/* First of `count` items in piece `piece`. */
static inline int places_cut(int count, int pieces, int piece) {
    return (int)((long long)count * piece / pieces);
}

/* Copies results of tasks in host memory to this rank's devices, while others compute. By leaders,
 * several at a time. */
evn_status places_send(struct places *places, enum turn turn, const int *task, int count);

/* After a visit: starts the remaining transfers between this rank's devices; all transfers are
 * complete on return. `whole`: none was started before. */
evn_status places_leave(struct places *places, enum turn turn, int whole);

/* With two transposes, when all has come back: into V's planes (`start`), or the field's. */
evn_status places_unpack(struct places *places, int start);

/* Brings to devices what goes to them, when all of it is in the host's boxes. `whole`: results of
 * this rank's host, too, for which places_send() was not called. */
evn_status places_arrive(struct places *places, enum turn turn, int whole);

enum { POINTS = 1024 };

/* The values of those of a checksum's points that are on devices, real and imaginary parts. */
evn_status places_points(struct places *places, double value[2 * POINTS]);

/* Point j, 1 .. POINTS, of a checksum. */
struct point {
    int x, y, z;
};
static inline struct point checksum_point(const struct transform *t, int j) {
    return (struct point){j % t->nx, 3 * j % t->ny, 5 * j % t->nz};
}

/* Hashes of the planes of tasks on devices, as pass_hash() has them. */
evn_status places_hash(struct places *places, uint64_t *hash);
