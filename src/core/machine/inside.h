/* Internals of a machine. */
#pragma once

#include <evener/machine.h>
#include <hwloc.h>
#include <stdatomic.h>

enum { CACHE_LEVELS = 3 };

struct evn_machine {
    atomic_int holders;        /* those who have opened it, and not closed it */
    hwloc_topology_t topology; /* while the machine is being opened; then NULL */
    hwloc_bitmap_t allowed;    /* hardware threads that its cores were chosen from */
    const char *described;     /* variable with the machine's description; NULL: this node */
    int siblings;              /* EVENER_SMT: each hardware thread is a core */
    int cores;                 /* this process's cores, in our order */
    hwloc_bitmap_t *threads;   /* hardware threads of each core */
    int *number;               /* the system's number of one hardware thread of each core */
    int *part_of;              /* part of each core */
    struct {
        uint64_t size; /* above the first core of the whole node in our order */
        int sharing;   /* this process's cores that share core 0's */
    } cache[CACHE_LEVELS];
    evn_machine_info about;
    evn_core_kind *kind;
    hwloc_bitmap_t *kind_set; /* hardware threads of each kind */
    evn_part *part;
    char processor[128];
    char reason[320]; /* machine_reason() */
};

/* Fills in the kinds of cores of the whole topology. EVN_MEMORY. */
evn_status machine_find_kinds(evn_machine *m);

/* Reads EVENER_SMT: whether each hardware thread counts as a core. EVN_USAGE. */
evn_status machine_read_siblings(int *all);

/* Fills in the cores of m->allowed, in our order, at most as many as the quota allows, their caches
 * and the parts. EVN_USAGE: EVENER_SMT is not understood; EVN_MEMORY. */
evn_status machine_find_cores(evn_machine *m);

/* Finds the reason if the process may use fewer cores than the node has. */
void machine_find_reason(evn_machine *m);

/* Frees kinds, cores and parts. */
void machine_free_parts(evn_machine *m);
