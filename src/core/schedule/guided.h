/* guided, and what it does by time alone, which programs that never name guided:time do without. */
#pragma once

#include "schedule/policy.h"

struct learn;

struct guided {
    int by_time;
    int keeping;         /* by time: 1 once the first moves are over */
    int *first, *last;   /* first and last task of each unit; first > last: it has none */
    double *done;        /* work of each unit in the last instance */
    double *work;        /* by time: work of each task */
    int *present;        /* scratch: owners while other boundaries are tried */
    struct learn *learn; /* by time: its learner */
};

/* Finds each unit's first and last task from the owners; 0 if a unit's tasks are not consecutive in
 * unit order. */
int guided_bounds(const evn_schedule *s);

/* One step of the published algorithm, from the work w of the tasks and their units `owner`, to
 * s->owner. Returns whether a boundary moved. */
int guided_move(evn_schedule *s, const int *owner, const double *w);

/* By time (policy/guided_time.c). Referred to weakly: absent where nothing links it. */
struct guided_time {
    size_t (*bytes)(const evn_problem *p); /* of a learner */
    struct learn *(*begin)(void *block, const evn_problem *p);
    void (*learn)(evn_schedule *s, const int *owner, const double *seconds);
    void (*weights)(evn_schedule *s, const double *before);
    /* Other tasks: makes a learner in `block` of the one before; then, with owners as inherited,
     * looks at other boundaries. */
    struct learn *(*go_on)(evn_schedule *s, struct learn *block, struct learn *was,
                           const struct origins *o);
    void (*changed)(evn_schedule *s, const struct origins *o);
};
extern const struct guided_time guided_time __attribute__((weak));
