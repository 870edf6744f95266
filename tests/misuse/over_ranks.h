/* What wrong calls over ranks are made on, on each of three processes, and how a row is written
 * down. A row is a call that all ranks make, wrongly on one of them (each in turn) or on all. Right
 * is the same status on all ranks, a message that has certain words in it and names the rank, and
 * loops that then go on with the values of plain arrays. */
#pragma once

#include "wire/ranks.h"
#include <evener.h>
#include <evener/distributed.h>
#include <evener/schedule.h>

enum { RANKS = 3, OWN = 4, TASKS = RANKS * OWN, VALUES = 8, BYTES = VALUES * sizeof(double) };

/* Three loops over the same line of tasks, OWN of which each rank has. A task reads one value of
 * each of its neighbours. */
struct world {
    evn_cluster *cluster;
    int rank;
    int wrong; /* rank that makes the mistake */
    evn_session *session;
    evn_units *units;
    evn_place *place;
    evn_schedule *schedule;
    /* in memory of the program's (evn_loop_homes()) */
    evn_loop *own;
    evn_exchange *own_halo;
    double *block[TASKS]; /* NULL: another rank's */
    int open;             /* 1: the next body finishes the halo's second half */
    /* in regions of the session's (evn_session_place()) */
    evn_loop *placed;
    evn_exchange *placed_halo;
    int region[TASKS];
    /* of which each rank knows its own */
    evn_distributed *mesh;
    /* as all should be */
    double value[TASKS][VALUES];
    int step;
    int call; /* of the rows from within a body */
};

/* A change that keeps all tasks, and its arrays. */
extern const evn_change same_tasks;
extern const int each[TASKS + 1];
extern const char all_kept[TASKS];

/* Two faces between tasks t and t + 1. */
void face_pair(int t, evn_face *face);

evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg);

/* 1 on the rank that makes the mistake. */
#define ODD (w->wrong == w->rank)

/* Calls of `words` in the message: of one rank, each in turn; of all. */
#define ONE(words, ...)               ROWS(RANKS, EVN_USAGE, words, __VA_ARGS__)
#define ONE_FAILS(status, words, ...) ROWS(RANKS, status, words, __VA_ARGS__)
#define ALL(words, ...)               ROWS(1, EVN_USAGE, words, __VA_ARGS__)

#define ROWS(times, status, words, ...)                                                            \
    for (int turn_ = 0; turn_ < (times); turn_++) {                                                \
        begin_row(w, (times) == 1 ? RANKS : turn_, #__VA_ARGS__);                                  \
        const evn_status got_ = (__VA_ARGS__);                                                     \
        end_row(w, got_, status, words);                                                           \
    }
void begin_row(struct world *w, int wrong, const char *call);
void end_row(struct world *w, evn_status got, evn_status want, const char *words);

/* A step of all loops, whose values then are right. */
void goes_on(struct world *w);

/* Where each rank is, for the process that started them, and the number of calls. */
struct progress {
    char row[RANKS][160];
    int rows;
};
extern struct progress *progress;

void ranks_open(struct world *w, evn_cluster *cluster);
void ranks_close(struct world *w);

/* The lists. */
typedef void rows(struct world *w);
rows ranks_cluster, ranks_loop, ranks_within, ranks_exchange, ranks_halves, ranks_change;
rows ranks_session, ranks_regions, ranks_births, ranks_distribution, ranks_distributed;
