/* The kinds of wires there are, and which one is meant. */
#ifndef WIRE_KINDS_H
#define WIRE_KINDS_H

#include <evener/wire.h>

/* What evn_cluster_open()'s text says. */
struct wire_choice {
    const evn_wire_kind *kind; /* NULL: alone */
    int processes;             /* for open() */
    char options[256];
    int is_plugin;
    void *library; /* that the kind comes from; NULL */
};

/* Reads "auto", "alone", "processes:N,latency=20us,bandwidth=1GB/s", "mpi", "mpi:FILE", and
 * "threads" in threads that are ranks; loads what is needed. EVN_USAGE, EVN_MISSING. */
evn_status wire_choose(struct wire_choice *out, const char *how);

#endif
