/* An MPI by itself, for studies that have it beside the wires: a plug-in that is made of
 * suite/bench/raw_mpi.c where an MPI is found, and opened where that MPI has started the ranks.
 * Ranks 0 and 1 do something to each other as a program of plain MPI would; functions return 0, or
 * what MPI says. */
#pragma once

#include <stddef.h>

enum { RAW_VERSION = 1 };

enum raw_way {
    RAW_ALLOCATED, /* MPI_Put() into a window of MPI_Win_allocate(): what neighbours best have */
    RAW_CREATED,   /* into one of MPI_Win_create(), as memory has that is there already */
    RAW_MESSAGE,   /* MPI_Isend() and MPI_Irecv() */
    RAW_WAYS
};

typedef struct raw_mpi {
    unsigned version; /* RAW_VERSION */
    /* Opens it on all ranks, with room for `max` bytes; close it even after a failure. */
    int (*open)(size_t max);
    /* `times` from rank 0 to rank 1 and back. A put is flushed, and behind it goes a number that is
     * flushed, too; waiting for that lets MPI make progress. */
    int (*ping_pong)(int way, size_t bytes, int times);
    /* `times` from rank 0 to rank 1, which waits in MPI until all are there. */
    int (*flood)(int way, size_t bytes, int times);
    void (*close)(void);
    /* Text of an error code. */
    void (*say)(int code, char *text, size_t room);
} raw_mpi;
