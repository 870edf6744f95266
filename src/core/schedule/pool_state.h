/* State of a pool, and the steps of an instance: pool.c has the sums of tasks' times itself, and
 * for lessons.c the ranks have them. */
#ifndef SCHEDULE_POOL_STATE_H
#define SCHEDULE_POOL_STATE_H

#include "schedule/pool.h"

struct pool {
    int tasks, units, instances;
    int lessons;   /* number of first lessons so far */
    int grow;      /* instances that are enough for a look, while few have been learnt */
    double credit; /* s of learning that were earned and not spent */
    int passed;    /* instances since the last lesson */
    int known;     /* unit_was holds, under the present owners */
    int filter;    /* long instances are left out */
    int apart;     /* others have `sum` and `before` (pool_note()) */
    double usual;  /* s of all tasks together in the shortest instance before the last look */
    /* since the last look */
    int seen, summed, high, strange; /* instances; in `sum`; long; under other owners */
    double length;                   /* s of these instances */
    double least;                    /* least s of all tasks together */
    int agreed;                      /* instances in `before` */
    int *owner;
    double *sum;    /* s of each task, since the last look */
    double *before; /* s of each task, over looks that agreed since the last lesson */
    double *unit_now,
        *unit_was;    /* s of each unit in an instance, at this look and the last lesson */
    double *unit_sum; /* s of each unit in `sum`, where others have that */
    double *spread;   /* relative spread of each unit's time */
};

/* Sums that lie elsewhere now, or here again, are lost. */
void pool_set_apart(struct pool *p, int apart);

/* An instance of `total` seconds passes; 1: it is learnt from alone, which ends it. */
int pool_pass(struct pool *p, double total);
int pool_end_alone(struct pool *p);

/* An instance that pool_pass() does not end alone: pool_count() counts it, 1 if it is long; then
 * pool_end_instance() returns how many instances there is a lesson of, 0: it is not time for one.
 */
int pool_count(struct pool *p, double total);
int pool_end_instance(struct pool *p, struct pool_turn *turn);

#endif
