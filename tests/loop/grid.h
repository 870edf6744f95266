/* A toy over ranks, for tests: a grid of tasks whose blocks have a rim that comes from their
 * neighbours, and the same by plain copies in one array. A value is `element` bytes; a step is an
 * exchange of rims, then each task makes its inner values from those around them. One task more,
 * the bare one, has no rim and, in the last block, nothing at all.
 *
 * A trial says what is run. Each rank (a thread) has a world of its own; what they must find
 * together is in global counters. */
#pragma once

#include "wire/ranks.h"
#include <evener.h>
#include <evener/loop.h>
#include <evener/schedule.h>
#include <stdatomic.h>
#include <stddef.h>

enum { CELLS = 12, TASKS = CELLS + 1, BARE = CELLS, SIDE = 7, BLOCKS = 2, RANKS_MAX = 8 };

/* How owners come about: as the schedule says, or anew at random after each step, on any unit of
 * any rank. */
enum owners { BY_SCHEDULE, AT_RANDOM };

struct trial {
    unsigned flags;     /* of units, beside EVN_OVERSUBSCRIBE */
    int pause;          /* us a task: so that other units draw some, too */
    double share;       /* of a device's memory that regions have; 0: half */
    int ranks, columns; /* CELLS / columns rows */
    const char *schedule;
    const char *const *list, *const *devices; /* of each rank; devices NULL: none */
    enum owners owners;
    int place; /* blocks are regions, two a task; else one block on the host */
    int split; /* exchanges in halves */
    int steps;
    int slow; /* tells times that are not true, others in each step */
};

/* What ranks find together. `ran` of each task; `who` and `of` in a step and in the one before. */
extern const struct trial *grid_trial;
extern atomic_int grid_ran[TASKS], grid_who[2][TASKS], grid_wrong;

struct grid {
    const struct trial *trial;
    evn_cluster *cluster;
    int rank, first; /* of its units */
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    int blocks; /* of each task */
    char *block[TASKS][BLOCKS];
    int region[TASKS * BLOCKS];
    evn_home home;
    evn_exchange *exchange[BLOCKS];
    int exchanges, open[BLOCKS];
    int step;
    /* makes the step, or the coming of a task, fail on this rank */
    evn_status fail_body;
    int fail_make, keep; /* keep: the body does not change values */
};

size_t grid_bytes(int block);
size_t grid_element(int block);

/* The faces of a block of all tasks; with `directions` 1: along rows, 2: along columns, 3: both.
 * How many. */
int grid_faces(const struct trial *trial, int block, int directions, evn_face *face);
/* The face that each exchange has. */
int grid_faces_of(const struct grid *g, int exchange, evn_face *face);

/* Of a rank: opens all of a trial; begins or runs its exchanges; runs the loop; closes. */
void grid_open(struct grid *g, evn_cluster *cluster);
evn_status grid_exchange(struct grid *g);
evn_status grid_run(struct grid *g);
evn_status grid_step(struct grid *g); /* both */
void grid_close(struct grid *g);

/* How many of this rank's blocks are not what plain copies give after `steps` steps. */
int grid_wrong_blocks(struct grid *g, int steps);

/* Whether the task has that block at all. */
int grid_has_block(const struct trial *trial, int task, int block);

/* Nothing was said of how tasks travel. */
void grid_forget_homes(struct grid *g);

void grid_at_random(evn_schedule *schedule);
