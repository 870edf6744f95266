/* Common parts of the two files of an MPI's plug-in. */
#pragma once

#include <evener/wire.h>
#include <mpi.h>

struct evn_wire {
    const evn_wire_host *host;
    MPI_Comm comm;
    int rank, size;
    int initialised;      /* 1: initialised here, so finalised here */
    double patience;      /* s of waiting after a stop */
    int is_leaving;       /* 1: a wait has ended by a stop: later ones end at once */
    int requests;         /* number of requests that MPI has of this wire's messages */
    evn_channel *closing; /* closed channels of which MPI still has a message */
};

/* Name and version of the MPI. */
const char *wire_mpi_library(void);
/* Reports an MPI failure in MPI's words. */
evn_status wire_mpi_say(const evn_wire *wire, const char *what, int code);
/* wire_mpi_is_over(): 1 after MPI_Finalize(). wire_mpi_say_over(): the failure of later calls
 * (EVN_STOPPED). */
int wire_mpi_is_over(void);
evn_status wire_mpi_say_over(const evn_wire *wire);
double wire_mpi_now(void);

extern const evn_wire_shared wire_mpi_shared;
/* Chooses MPI's engine for puts to other nodes, before MPI_Init(). */
void wire_mpi_choose_engine(void);
