/* The topology: of this node, or of a machine that is described. */
#pragma once

#include "machine/inside.h"

/* Reads this node's topology, that which a variable of hwloc's describes, or `synthetic` (NULL:
 * none), to m->topology, m->here and, where it is another machine's, m->reason. `whole`: with cores
 * that a cpuset keeps from this process, so that the order of cores is the same in all processes of
 * the node. EVN_USAGE: the description cannot be read, with its variable; EVN_SYSTEM. */
evn_status topology_read(evn_machine *m, const char *synthetic, int whole);

/* 1: no variable of hwloc's is set. */
int topology_is_usual(void);
