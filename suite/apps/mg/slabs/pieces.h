/* Pieces: ranges of neighbouring tasks that one thread sweeps at a time. What lies between two
 * pieces is computed twice, so there are as few as a unit has cores, where its tasks lie together;
 * where units draw their tasks, each is a piece.
 *
 * The planes that a piece of the finest level has aside are ghost planes: they are filled from its
 * neighbours' before any piece is swept. */
#pragma once

#include <evener/loop.h>

struct pieces {
    int tasks;
    unsigned char *first; /* by task, 1: a piece begins with it */
    int *aside;           /* by task, the piece whose planes aside it uses */
    int count;
    double *planes; /* SWEEP_ASIDE planes a piece */
    int room;       /* number of pieces that there is memory for */
};

/* EVN_MEMORY */
evn_status pieces_open(struct pieces *pieces, int tasks);
void pieces_close(struct pieces *pieces);

/* Plans the pieces of the loop's next instance; `plane`: doubles of a plane. EVN_MEMORY. */
evn_status pieces_plan(struct pieces *pieces, const evn_loop *loop, size_t plane);

/* The pieces within a batch: [begin[i], end[i]) in tasks; returns how many. `begin` and `end` have
 * room for all tasks. */
int pieces_of(const struct pieces *pieces, const int *task, int count, int *begin, int *end);
