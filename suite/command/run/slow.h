/* --slow U:F@N: a unit that takes F times as long from step N on, for studies. Steps count from 0.
 */
#pragma once

#include <evener.h>

struct slow {
    int unit; /* -1: none */
    double factor;
    long step; /* the first that is slower */
};

/* Parses `text`, NULL: none. `real`: for units that compute: a CPU unit, and a factor from 1 to
 * 1000; else for those of a plan: any unit, and a factor above 0. units NULL: not known yet.
 * Returns 0, or an exit status after a message. */
int slow_read(struct slow *slow, const char *text, const evn_units *units, int real);

/* Whether it begins within so many steps. As above. */
int slow_begins(const struct slow *slow, const char *text, long steps);

/* The same over ranks, with `units` of all of them. */
int slow_among(struct slow *slow, const char *text, int units);
