/* What the two files of an MPI's plug-in have in common. */
#ifndef WIRE_MPI_H
#define WIRE_MPI_H

#include <evener/wire.h>
#include <mpi.h>

#define WIRE_MPI_PATIENCE 2.0 /* seconds, once somebody wants us to end */

struct evn_wire {
    const evn_wire_host *host;
    MPI_Comm comm;
    int rank, size;
    int initialised;   /* by us, so it is finalised by us */
    evn_mail *closing; /* mail that is closed, and MPI has a message of it */
};

/* The MPI and its version. */
const char *wire_mpi_library(void);
/* A failure of MPI's, in its words. */
evn_status wire_mpi_say(const evn_wire *wire, const char *what, int code);
double wire_mpi_now(void);

extern const evn_wire_shared wire_mpi_shared;
/* Before MPI begins: by what it is to put to other nodes. */
void wire_mpi_choose_engine(void);

#endif
