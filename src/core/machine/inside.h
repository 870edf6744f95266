/* Internals of a machine. */
#ifndef MACHINE_INSIDE_H
#define MACHINE_INSIDE_H

#include <evener/machine.h>
#include <hwloc.h>

struct evn_machine {
    hwloc_topology_t topology;
    const char *described; /* variable with the machine's description; NULL: this node */
    int cores;
    hwloc_obj_t *core; /* this process's cores, in our order */
    hwloc_obj_t first; /* first core of the whole node in this order */
    int *number;       /* the system's number of one hardware thread of each core */
    int *part_of;      /* part of each core */
    evn_machine_info about;
    evn_core_kind *kind;
    hwloc_bitmap_t *kind_set; /* hardware threads of each kind */
    evn_part *part;
    char processor[128];
    char reason[320]; /* machine_reason() */
};

/* Fills in the kinds of cores of the whole topology. EVN_MEMORY. */
evn_status machine_find_kinds(evn_machine *m);

/* Kind of a core; 0 for a core without one. */
int machine_kind_of(const evn_machine *m, hwloc_obj_t core);

/* Fills in the cores of `allowed`, in our order, at most as many as the quota allows, and the
 * parts. EVN_USAGE: EVENER_SMT is not understood; EVN_MEMORY. */
evn_status machine_find_cores(evn_machine *m, hwloc_const_cpuset_t allowed);

/* Finds the reason if the process may use fewer cores than the node has. */
void machine_find_reason(evn_machine *m);

/* Frees kinds, cores and parts. */
void machine_free_parts(evn_machine *m);

#endif
