/* The machine: what this node has for a program to run on.
 *
 * Cores are physical cores, numbered from 0 so that neighbours in number share caches: by kind, the
 * fastest first, by package, by L3 cache, and then in hwloc's logical order. Only those that this
 * process may use count: a batch system's cpuset, `taskset`, OMP_PLACES and CPU quotas of control
 * groups are respected. Where the system shows several hardware threads a core, a unit's core means
 * one of them; with EVENER_SMT=1 in the environment each hardware thread is a core.
 *
 * hwloc's own variables hold: where HWLOC_XMLFILE (a file that lstopo has written) or
 * HWLOC_SYNTHETIC name another machine than this one, and HWLOC_THISSYSTEM=1 does not say that it
 * is this one, what is opened is a machine that is not there, with all its cores.
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

/* Looks at this node. EVN_SYSTEM if the topology cannot be read; EVN_USAGE: EVENER_SMT is neither 0
 * nor 1. */
evn_status evn_machine_open(evn_machine **out);

/* This node cut down to `count` cores of it, each given by a number that the operating system has
 * for one of its hardware threads (two threads of one core are one core, bound to the first in
 * number): a process's share where several run on a node. Nothing else decides, neither the mask of
 * the calling thread nor OMP_PLACES nor a quota; binding fails later where the kernel does not let
 * us. Core numbers, caches and memory are the node's. `cores` NULL: all cores of the node, ours or
 * not. EVN_USAGE: a number that is not on this node, or none, or EVENER_SMT is neither 0 nor 1;
 * EVN_SYSTEM, EVN_MEMORY. */
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

/* What limits the cores of this process. */
typedef struct evn_core_limits {
    int node;     /* cores that the system shows us */
    int allowed;  /* of these, ours by masks, cpusets and places */
    double quota; /* processors that control groups let us keep busy; 0: no limit. Of the cores that
                     are allowed no more count than fit, rounded down, but one */
} evn_core_limits;
evn_core_limits evn_machine_limits(const evn_machine *machine);

/* A kind of cores of the node, as performance and efficiency cores, or big and LITTLE ones. */
typedef struct evn_core_kind {
    const char *name; /* the system's, as "IntelAtom"; "": it has none. The machine owns it */
    int cores;        /* ours of this kind; may be 0 */
    double frequency; /* the highest clock in Hz; 0: not known */
    double speed; /* of one of its cores; the fastest kind has 1. By the capacity that the kernel
                     gives cores, where all have one, else by their highest clocks, else their
                     base clocks; 1 where nothing is known. What a task really takes is to be
                     measured */
} evn_core_kind;

/* How many kinds, 1 or more, and one of them, the fastest first; NULL beyond. Kinds of one name
 * whose speeds are within 10 % are one. */
int evn_machine_kinds(const evn_machine *machine);
const evn_core_kind *evn_machine_kind(const evn_machine *machine, int kind);

/* A part of the machine: cores of ours that are of one kind and below one L3 cache, in one package
 * where there is none. */
typedef struct evn_part {
    int first, cores; /* cores first to first + cores - 1 */
    int kind;         /* evn_machine_kind() */
    int package;      /* hwloc's logical number */
    int threads;      /* hardware threads of each core that we may use */
    uint64_t cache;   /* bytes of the L3 cache; 0: there is none or it is not known */
} evn_part;

/* How many parts, 1 or more, and one of them, in the order of cores; NULL beyond. */
int evn_machine_parts(const evn_machine *machine);
const evn_part *evn_machine_part(const evn_machine *machine, int part);

/* The part of core `core`, 0 <= core < evn_machine_cores(); -1 beyond. */
int evn_machine_part_of(const evn_machine *machine, int core);

/* Whether this is the node we run on (1) or a machine that is not there (0). */
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

/* Size in bytes of the data cache of level 1, 2 or 3 above the first core of the node's fastest
 * kind, be it ours or not, so that all processes of a node say the same; and in *sharing (may be
 * NULL) how many of our cores share core 0's. 0: there is none or it is not known. */
uint64_t evn_machine_cache(const evn_machine *machine, int level, int *sharing);

/* How many processor packages, and how many NUMA nodes. */
int evn_machine_packages(const evn_machine *machine);
int evn_machine_numa_nodes(const evn_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
