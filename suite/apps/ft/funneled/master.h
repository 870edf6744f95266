/* The master of funnel.h: funnel.c orders the members, master.c has the device, master_pieces.c
 * processes one piece. */
#pragma once

#include "ft/device/engine.h"
#include "ft/funneled/funnel.h"
#include "ft/parts.h"

/* Pieces of a member that are in flight at most, and slots of pinned memory a member. */
enum { IN_FLIGHT = 2 };

/* Ways: rows of a plane, by y; points of a slab's lines, by z; and of rows [x] one behind the
 * other, by z: what is sent and what has come. */
enum master_way { MASTER_PLANE, MASTER_SLAB, MASTER_ROWS, MASTER_WAYS };

/* A piece: lines `first` to `end` - 1 of a member, by their numbers there. */
struct piece {
    int first, end;
};

struct served {
    struct member is;
    int planes, rows; /* before its own, of the members before it */
    evn_queue *queue;
    double *slot[IN_FLIGHT]; /* slots in pinned memory */
    evn_event *down[IN_FLIGHT];
    double since[IN_FLIGHT];
    int ready, begun, done, pieces; /* counters of the current pass */
    unsigned long long asks;        /* passes with pieces until now */
};

struct master {
    struct funnel *of;
    evn_device *device;
    struct engine *engine;
    struct served *member;
    int members;
    int planes, rows; /* planes and rows of all members */
    size_t slot_doubles;
    size_t side; /* doubles of either half of the device's memory */
    evn_buffer *memory, *ways, *plane_number, *row_number;
    int way[MASTER_WAYS];
    evn_event *decayed;
    evn_shared_signal *signal; /* scratch for signals */
    int *order, waiting;       /* members that were ready, in order, with pieces to begin */
    struct funnel_counts counts;
};

static inline int on_planes(enum place_pass pass) {
    return pass == PLACE_START || pass == PLACE_XY;
}

/* Number of pieces of `lines` lines in a pass, and one of them. */
static inline int piece_count(enum place_pass pass, int lines) {
    return on_planes(pass) || lines < FUNNEL_PIECES ? lines : FUNNEL_PIECES;
}
static inline struct piece piece_of(enum place_pass pass, int lines, int i) {
    const int pieces = piece_count(pass, lines);
    return (struct piece){places_cut(lines, pieces, i), places_cut(lines, pieces, i + 1)};
}

evn_status master_open(struct master **out, struct funnel *funnel, evn_device *device);
void master_close(struct master *master);
evn_status master_check(struct master *master);
evn_status master_deal(struct master *master);

/* Enqueues a piece in its member's queue, through a slot whose last piece is done; and when it is
 * done, copies the results into the member's fields. */
evn_status master_begin(struct master *master, struct served *member, int piece);
void master_end(struct master *master, struct served *member, int piece);
