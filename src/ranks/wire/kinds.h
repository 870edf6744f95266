/* The kinds of wires, and the choice among them. */
#pragma once

#include <evener/wire.h>

/* Meaning of evn_cluster_open()'s text. */
struct wire_choice {
    const evn_wire_kind *kind; /* NULL: one rank alone */
    int processes;             /* number of processes, for the kind's open() */
    char options[256];
    int is_plugin;
    void *library; /* library of the kind; NULL */
};

/* Parses "auto", "alone", "processes:N,latency=20us,bandwidth=1GB/s", "mpi", "mpi:FILE",
 * "mpi:comm=HANDLE", and in threads that are ranks "threads"; loads the kind's library. EVN_USAGE,
 * EVN_MISSING. */
evn_status wire_choose(struct wire_choice *out, const char *how);
