/* MG's checkpoint (common/checkpoint/state.h): u of the finest level, task after task, in the order
 * plane, row, x, without padding. All other values at the beginning of a step follow from it to the
 * last bit: the same functions compute the restricted residual from u everywhere. */
#pragma once

#include "common/checkpoint/state.h"
#include "mg/mg.h"
#include "mg/device/split.h"
#include <pthread.h>

struct mg_state {
    struct states states;
    const struct grid *grid;
    struct split *split;
    pthread_mutex_t lock; /* protects a device's staging memory, which is one task's at a time */
    int n;                /* points a side */
};

/* Looks at the files, states_open(): s has cluster, units, files and steps. Grid and split are
 * looked at when there is something to keep or to go on from; they may be opened later. */
evn_status mg_state_open(struct mg_state *s, const mg *problem, const struct grid *grid,
                         struct split *split);
void mg_state_close(struct mg_state *s);

/* Copies the restored values from the host to the devices that have the tasks. */
evn_status mg_state_bring(struct mg_state *s);
