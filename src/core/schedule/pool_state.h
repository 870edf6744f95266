/* State of a pool, and the steps of an instance: pool.c has the sums of tasks' times itself, and
 * for lessons.c the ranks have them. */
#pragma once

#include "schedule/pool.h"

struct pool {
    int tasks, units, instances;
    int lessons;   /* number of first lessons so far */
    int grow;      /* instances that are enough for a look, while few have been learnt */
    double credit; /* s of learning that were earned and not spent */
    int passed;    /* instances since the last lesson */
    int known;     /* unit_was has times, which are of the present owners */
    int held;      /* `owner` is what it was in the last instance */
    int wanted;    /* the next instance's tasks' times are added in any case */
    double due;    /* s of adding up tasks' times that were earned and not spent */
    int filter;    /* long instances are left out */
    int apart;     /* others have `sum` and `before` (lessons.h) */
    double usual;  /* s of all tasks together in the shortest instance before the last look */
    /* since the last look */
    int seen, summed, taken; /* instances; in `unit_sum`; in `sum` */
    int high, strange;       /* long instances; under other owners */
    double length;           /* s of these instances */
    double least;            /* least s of all tasks together */
    int agreed;              /* instances in `before` */
    int *owner;
    double *sum;                 /* s of each task, since the last look */
    double *before;              /* s of each task, over looks that agreed since the last lesson */
    double *unit_now, *unit_was; /* s of each unit: in the instance that pool_note() is told of, and
                                    in the mean of this look; in that of the last lesson */
    double *unit_sum;            /* s of each unit since the last look */
    double *spread;              /* relative spread of each unit's time */
};

/* Sums that lie elsewhere now, or here again, are lost. */
void pool_set_apart(struct pool *p, int apart);

/* An instance has passed in which the units took p->unit_now under `owner`; `same`: as the one
 * before. What is done with its tasks' times, and in *passed how many instances the policy learns
 * from now. */
struct pool_turn pool_note(struct pool *p, const int *owner, int same, int *passed);
