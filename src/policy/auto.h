/* State of the schedule `auto`, for its files. */
#pragma once

#include "policy/learn.h"

enum way { ASSIGNED, WARY, DRAWN, WAYS };

struct state {
    evn_schedule *map;
    const struct learn *learn; /* learner of `map` */
    int may_draw;
    enum way way;
    double lost[WAYS]; /* loss of the present mode against each other, in instances */
    double enough;     /* loss at which the mode is changed */
    double noise;      /* relative difference of speeds from their estimates */
    double mean[WAYS]; /* s of an instance, mean of recent ones */
    int weights;       /* number of weight changes while units draw */
    int sorted;        /* instance of the order; 0: none */
    int made;          /* 1: a conservative assignment exists */
    int *order, *heap;
    int *wary;                   /* conservative owners */
    double *busy, *bytes, *used; /* scratch, one number a unit */
    double *low; /* slowest recent speed of each unit, without learn_scale(); 0: not known */
    /* the last instance */
    const int *owner, *assigned; /* who ran the tasks; whom map had given them to */
    const double *seconds;
};

/* Updates the slowest recent speeds after an instance. */
void auto_lows(struct state *state, const evn_problem *p);

/* Makes the conservative assignment from the owners `from`. */
void auto_wary(struct state *state, const evn_problem *p, const int *from);
