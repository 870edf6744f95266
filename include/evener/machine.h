/* For tools: the machine, the cores, caches and memory that a program may use on this node.
 *
 * Cores are physical cores, numbered so that neighbours share caches: by kind (the fastest first),
 * package and L3 cache, then in hwloc's logical order. Only cores that this process may use count:
 * a batch system's cpuset, `taskset`, OMP_PLACES and CPU quotas of control groups are respected.
 * Where a core has several hardware threads, units use one of them; EVENER_SMT=1 in the environment
 * makes each hardware thread a core.
 *
 * hwloc's variables hold: HWLOC_FSROOT, HWLOC_CPUID_PATH, HWLOC_SYNTHETIC and HWLOC_XMLFILE (a file
 * written by lstopo), of which the first in this order that is set counts, replace this node by a
 * described machine with all its cores, unless HWLOC_THISSYSTEM=1 declares that it is this node, or
 * the file is this node's own, as launchers (Flux) give to jobs: of this host name, system, kernel
 * and cores. A description that cannot be read is an error. */
#ifndef EVENER_MACHINE_H
#define EVENER_MACHINE_H

#include <evener/program.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads this node's topology. EVN_SYSTEM: it cannot be read; EVN_USAGE: EVENER_SMT is neither 0 nor
 * 1, or a description of hwloc's variables cannot be read. */
evn_status evn_machine_open(evn_machine **out);

/* Opens `count` cores of this node, each given by the operating system's number of one of its
 * hardware threads (two threads of one core give one core, bound to the lower number): a process's
 * share of a node. The calling thread's mask, OMP_PLACES and quotas are ignored; binding fails
 * later if the kernel refuses a core. Core numbers, caches and memory are the node's. `cores` NULL:
 * all cores of the node. EVN_USAGE: a number that is not on this node, no number, or EVENER_SMT is
 * neither 0 nor 1; EVN_SYSTEM, EVN_MEMORY. */
evn_status evn_machine_open_within(evn_machine **out, const int *cores, int count);

/* Opens a machine that does not exist, from hwloc's synthetic description, as "package:2 l3:1
 * core:16 pu:1" (hwloc's manual, "Synthetic topologies"). Units on it are described, never bound.
 * For plans and tests. EVN_USAGE: hwloc does not understand the text. */
evn_status evn_machine_open_synthetic(evn_machine **out, const char *description);

void evn_machine_close(evn_machine *machine);

/* Number of cores that this process may use; at least 1. */
int evn_machine_cores(const evn_machine *machine);

/* The operating system's number of core `core`, 0 <= core < evn_machine_cores(); -1 beyond. */
int evn_machine_core_number(const evn_machine *machine, int core);

/* 1 if another program of this host has claimed core `core`: its units' threads are bound there
 * (EVENER_BIND=auto, <evener/unit.h>). 0 beyond, and where claims cannot be read. */
int evn_machine_core_claimed(const evn_machine *machine, int core);

/* Numbers of a machine. */
typedef struct evn_machine_info {
    int here;         /* 1: the node that the process runs on; 0: a machine that does not exist */
    int node;         /* cores that the system shows */
    int allowed;      /* cores that masks, cpusets and places allow */
    double quota;     /* processors that control groups let the process keep busy; 0: no limit.
                         evn_machine_cores() is at most this number, rounded down, and at least 1 */
    int kinds, parts; /* of cores, 1 or more: evn_machine_kind(), evn_machine_part() */
    int packages, numa_nodes; /* 1 or more */
    uint64_t memory;          /* bytes; 0: not known */
    const char *processor;    /* name as its maker writes it, or "unknown processor" */
} evn_machine_info;
evn_machine_info evn_machine_about(const evn_machine *machine);

/* A kind of cores, such as performance and efficiency cores, or big and LITTLE ones. */
typedef struct evn_core_kind {
    const char *name; /* the system's name, as "IntelAtom"; "": none. Owned by the machine */
    int cores;        /* cores of this process of this kind; may be 0 */
    double frequency; /* highest clock, Hz; 0: not known */
    double speed;     /* speed of one core; the fastest kind has 1. By the kernel's capacity of the
                         cores if all have one, else by their highest clocks, else their base clocks; 1
                         if nothing is known. An estimate: tasks' real times are measured */
} evn_core_kind;

/* A kind, the fastest first; NULL beyond. Kinds of one name whose speeds differ by less than 10 %
 * are one. */
const evn_core_kind *evn_machine_kind(const evn_machine *machine, int kind);

/* A part of the machine: this process's cores of one kind, of one NUMA node, and under one L3 cache
 * or in one package where there is none. */
typedef struct evn_part {
    int first, cores; /* cores first to first + cores - 1 */
    int kind;         /* kind of its cores, for evn_machine_kind() */
    int package;      /* hwloc's logical number of its package */
    int threads;      /* hardware threads of each core that this process may use */
    uint64_t cache;   /* L3 cache, bytes; 0: none or not known */
} evn_part;

/* A part, in the order of cores; NULL beyond. */
const evn_part *evn_machine_part(const evn_machine *machine, int part);

/* The part of core `core`, 0 <= core < evn_machine_cores(); -1 beyond. */
int evn_machine_part_of(const evn_machine *machine, int core);

/* Lets the calling thread, and threads that it creates later, run on the machine's cores and
 * nowhere else. With EVENER_BIND=none it does nothing. EVN_USAGE: the machine is not this node;
 * EVN_SYSTEM: the system refuses. */
evn_status evn_machine_keep_to(const evn_machine *machine);

/* Memory that this process could still get without swapping, bytes: the kernel's available memory,
 * and at most what its control groups (version 1 or 2, and those around them) and its own limits
 * (ulimit -v, -d) still allow. A group's pages of files count as available, since the kernel
 * reclaims them. 0: not known; 1: a limit is reached. Reads files below /proc and /sys each time.
 * `machine` NULL: this node. */
uint64_t evn_machine_memory_available(const evn_machine *machine);

/* Data cache of level 1, 2 or 3 above the first core of the node's fastest kind (whether this
 * process may use it or not, so that all processes of a node agree), bytes; *sharing (may be NULL):
 * the number of this process's cores that share core 0's. 0: none or not known. */
uint64_t evn_machine_cache(const evn_machine *machine, int level, int *sharing);

#ifdef __cplusplus
}
#endif
#endif
