/* The state of `auto`, for its parts. */
#ifndef SCHEDULE_AUTO_H
#define SCHEDULE_AUTO_H

#include "schedule/learn.h"

struct ranked;

enum way { ASSIGNED, WARY, DRAWN, WAYS };

struct state {
    evn_schedule *map;
    const struct learn *learn; /* its */
    int may_draw;
    enum way way;
    double lost[WAYS]; /* by the present way against each other, in instances */
    double enough;     /* of that until the way is changed */
    double noise;      /* by how much speeds differ from what is believed of them, relative */
    double mean[WAYS]; /* s of an instance, over the last ones */
    int sorted;        /* instance of the order; 0: there is none */
    int made;          /* there is a wary assignment */
    int *order, *heap;
    int *assigned, *wary; /* owners: those that map had for the last instance */
    struct ranked *ranked;
    double *busy, *bytes;
    double *low; /* speed of each unit at its slowest of late, without learn_scale(); 0: unknown */
    /* of the last instance */
    const int *owner;
    const double *seconds;
};

/* An instance was learnt: how slow units are at their slowest. */
void auto_lows(struct state *state, const evn_problem *p);

/* Makes a wary assignment from the owners `from`. */
void auto_wary(struct state *state, const evn_problem *p, const int *from);

#endif
