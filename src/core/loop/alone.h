/* Decision whether the calling thread runs a loop faster alone.
 *
 * Where other programs have cores of this program's units, a unit is interrupted within a task and
 * the others wait a time slice for it; a step of microseconds then takes milliseconds. Other loops
 * have less work than it takes to share it out. So the lengths of instances are sampled, a few
 * milliseconds at a time: if they are no shorter than one core's work, the calling thread does all
 * tasks by itself for a while. Then the units are tried again, at growing intervals as long as they
 * do not help, and only if a core was idle meanwhile: threads that wake on cores that are all
 * wanted take the caller's own core from it for longer than they run. */
#pragma once

#include "base/idle.h"
#include <evener/unit.h>

struct alone {
    int now;       /* 1: the calling thread works alone */
    double work;   /* s of an instance on one core, the least of recent ones; 0: not known */
    double wall;   /* s of the sampled instances */
    double pause;  /* s until units are tried again; 0: they have not failed yet */
    int instances; /* number of sampled instances */
    int longer;    /* pauses without a trial, since no core was idle */
    int known;     /* 1: `idle` is of the pause's begin */
    struct idle *idle;
};

/* Feeds an instance of `wall` seconds, with `busy` seconds of work of all units together. `units`:
 * whose cores are looked at; NULL: it is not known whether they are idle. */
void alone_learn(struct alone *a, const evn_units *units, double wall, double busy);

void alone_close(struct alone *a);
