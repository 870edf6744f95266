/* What a machine is made of. */
#ifndef MACHINE_INSIDE_H
#define MACHINE_INSIDE_H

#include <evener/machine.h>
#include <hwloc.h>

struct evn_machine {
    hwloc_topology_t topology;
    int here;
    int cores;
    hwloc_obj_t *core; /* the cores we may use, in our order */
    hwloc_obj_t first; /* of all the node's cores in this order, ours or not */
    int *number;       /* the system's number of one hardware thread of each */
    int *part_of;      /* the part of each */
    evn_core_limits limits;
    int kinds, parts;
    evn_core_kind *kind;
    hwloc_bitmap_t *kind_set; /* hardware threads of each kind */
    evn_part *part;
    uint64_t memory;
    char processor[128];
};

/* Fills in kinds, of the whole topology. EVN_MEMORY. */
evn_status machine_find_kinds(evn_machine *m);

/* The kind of a core; that of a core of no kind is 0. */
int machine_kind_of(const evn_machine *m, hwloc_obj_t core);

/* Fills in cores, of `allowed`, in our order, no more than the quota allows; and parts. EVN_USAGE:
 * what EVENER_SMT says is not understood; EVN_MEMORY. */
evn_status machine_find_cores(evn_machine *m, hwloc_const_cpuset_t allowed);

/* Releases what these made. */
void machine_free_parts(evn_machine *m);

#endif
