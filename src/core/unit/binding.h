/* Binding: the cores of units beside other programs, and their release. */
#pragma once

#include "unit/internal.h"

/* Meaning of EVENER_BIND for units on this machine. EVN_USAGE. */
struct binding_wish {
    int binds; /* 0: nothing is bound */
    enum unit_binding binding;
    int claims; /* 1: cores are claimed, and let go */
};
evn_status binding_read(struct binding_wish *out, const evn_machine *machine);

/* Tries whether units that are to be bound can be. Where the system refuses it, they run unbound,
 * with a warning; EVN_SYSTEM: EVENER_BIND or the list (`named`) demands it. */
evn_status binding_try(evn_units *all, int named);

/* Assigns cores to units: those that the list names, to the others the rest in the machine's order.
 * EVN_USAGE: a named core is not of this process. If other programs have claimed one of these
 * cores, each unit gets the first unclaimed cores of one part, else of several; a unit with too few
 * gets none, and its threads run on any core of the process; named cores stay. EVN_MEMORY. */
evn_status binding_deal(evn_units *all);

/* Releases the unit's cores and claims. */
void binding_close(evn_unit *u);

/* The core for the unit's thread number `thread`; BINDING_NONE: unchanged, BINDING_ANY: any core of
 * the process. */
enum { BINDING_NONE = -1, BINDING_ANY = -2 };
int binding_core(const evn_unit *u, int thread);

/* Checks, by the unit's leader outside of its team's regions, whether its core is contended while
 * another is idle; the unit's threads may then run on any core of the process. `now`: evn_now().
 * Mostly a comparison of two numbers; one call in 20 ms asks the kernel. */
void binding_look(evn_unit *u, double now);
static inline void unit_look(evn_unit *u, double now) {
    if (now >= u->look) binding_look(u, now);
}

/* How the unit's threads are bound, in a word (evn_unit_about()). */
const char *unit_binding(const evn_unit *u);
