/* Questions about a machine's cores that units and ranks ask. */
#pragma once

#include <evener/machine.h>

/* The core with the operating system's hardware thread `number`; -1: no core of this process. */
int machine_core_of(const evn_machine *machine, int number);

/* In words, for messages: why this process may use fewer cores than the node has, as "its affinity
 * mask leaves it 1 of 2 cores, and mpirun binds its ranks unless it is told ..", or why nothing can
 * run on the machine, as "HWLOC_XMLFILE names another machine than this one, ..". "": it has all
 * cores of its node, or of those that evn_machine_open_within() was given. Owned by the machine. */
const char *machine_reason(const evn_machine *machine);
