/* MG's state on disk (common/state.h): u of the finest level, task after task, in the order plane,
 * row, x, without padding. All else that a step begins with follows from it, to the last bit: the
 * residual that it restricts is made of u by the same functions wherever that happens. */
#ifndef MG_STATE_H
#define MG_STATE_H

#include "common/state.h"
#include "mg/mg.h"

/* Looks at the files, states_open(): s has cluster, units, files and steps. The grid is looked at
 * when there is something to keep or to go on from; it may be opened later. */
struct mg_state {
    struct states states;
    const struct grid *grid;
    int n; /* points a side */
};
evn_status mg_state_open(struct mg_state *s, const mg *problem, const struct grid *grid);

#endif
