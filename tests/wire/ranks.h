/* Running something in every rank of a group, and saying in a rank that something is wrong: a rank
 * is not the process that cmocka's summary comes from, so it ends the group, and that is seen. */
#pragma once

#include <evener/cluster.h>
#include <evener/wire.h>
#include <signal.h>
#include <stdio.h>

/* A rank of a test. */
struct member {
    const evn_wire_kind *kind;
    evn_wire *wire;
    evn_wire_host host;
    volatile int stop; /* what host.stop points to */
    int me, size;
};

/* In a rank: ends the whole group with a line that says where, unless it is so. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) ranks_fail(__FILE__, __LINE__, #condition);                              \
    } while (0)
/* The call returns this status. */
#define must_give(call, status)                                                                    \
    do {                                                                                           \
        evn_status status_ = (call);                                                               \
        if (status_ != (status)) ranks_fail(__FILE__, __LINE__, #call " is not " #status);         \
    } while (0)
#define must_ok(call) must_give(call, EVN_OK)

void ranks_fail(const char *file, int line, const char *what);

/* Opens a wire, or a cluster, calls `rank_main` in every rank, and closes it: as forked processes,
 * or, with `as_threads`, as threads of this one. `options`: of an emulated wire, or NULL. Returns
 * the exit status of the run, 0: all were content. */
int ranks_of_wire(int as_threads, int ranks, const char *options, int crowded,
                  void (*rank_main)(struct member *m));
int ranks_of_cluster(int as_threads, int ranks, void (*rank_main)(evn_cluster *cluster));
