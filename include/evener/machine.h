/* The machine: what this node has for a program to run on.
 *
 * Cores are physical cores, numbered from 0 in hwloc's logical order, so that neighbours in number
 * share caches. Only those that this process may use count: a batch system's cpuset, `taskset` and
 * OMP_PLACES are respected. Where the system shows several hardware threads a core, a unit's core
 * means one of them.
 */
#ifndef EVENER_MACHINE_H
#define EVENER_MACHINE_H

#include <evener/status.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_machine evn_machine;

/* Looks at this node. EVN_SYSTEM if the topology cannot be read. */
evn_status evn_machine_open(evn_machine **out);

/* This node cut down to `count` cores of it, each given by a number that the operating system has
 * for one of its hardware threads (two threads of one core are one core, bound to the first in
 * number): a process's share where several run on a node. Nothing else decides, neither the mask of
 * the calling thread nor OMP_PLACES; binding fails later where the kernel does not let us. Core
 * numbers, caches and memory are the node's. `cores` NULL: all cores of the node, ours or not.
 * EVN_USAGE: a number that is not on this node, or none; EVN_SYSTEM, EVN_MEMORY. */
evn_status evn_machine_open_within(evn_machine **out, const int *cores, int count);

/* A machine that is not there, from hwloc's synthetic description, as "package:2 l3:1 core:16 pu:1"
 * (see hwloc's manual, "Synthetic topologies"). Units on it are described but never bound. For
 * plans and tests. EVN_USAGE if hwloc does not understand the text. */
evn_status evn_machine_open_synthetic(evn_machine **out, const char *description);

void evn_machine_close(evn_machine *machine);

/* Cores this process may use; at least 1. */
int evn_machine_cores(const evn_machine *machine);

/* The number the operating system gives to core `core`, 0 <= core < evn_machine_cores(); -1 beyond.
 */
int evn_machine_core_number(const evn_machine *machine, int core);

/* The core that has the hardware thread `number` of the operating system; -1: none of ours. */
int evn_machine_core_of(const evn_machine *machine, int number);

/* Whether this is the node we run on (1) or a synthetic one (0). */
int evn_machine_is_here(const evn_machine *machine);

/* The processor's name as its maker writes it; "unknown processor" if not known. */
const char *evn_machine_processor(const evn_machine *machine);

/* Bytes of memory the machine has; 0: unknown. */
uint64_t evn_machine_memory(const evn_machine *machine);

/* How many of them this process could still get without swapping: what the kernel counts as
 * available, and no more than its control groups (version 1 or 2, its own and all around it) and
 * its own limits (ulimit -v, -d) still allow. Pages of files that a group holds count as available,
 * since the kernel takes them back. 0: unknown; 1: a limit is reached. Reads files below /proc and
 * /sys each time. `machine` may be NULL: this node. */
uint64_t evn_machine_memory_available(const evn_machine *machine);

/* Size in bytes of the data cache of level 1, 2 or 3 above core 0, and in *sharing (may be NULL)
 * how many of our cores share it. 0: there is none or it is not known. */
uint64_t evn_machine_cache(const evn_machine *machine, int level, int *sharing);

/* How many processor packages, and how many NUMA nodes. */
int evn_machine_packages(const evn_machine *machine);
int evn_machine_numa_nodes(const evn_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
