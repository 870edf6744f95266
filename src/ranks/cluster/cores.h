/* Assignment of a host's cores to its ranks, without overlap.
 *
 * Every rank reports its facts, all ranks get those of their host, and each decides alike. Ranks
 * whose masks are the same share the mask's cores, contiguously in the host's order; masks without
 * common cores are kept; other overlaps are refused. Open MPI binds to one core or package by
 * default: if that leaves wanted cores idle, such ranks may use all cores that the kernel allows; a
 * binding chosen by the user is respected. Cores claimed by other programs are assigned last. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stdint.h>

enum { CORES_MAX = 1024 };

/* Cores of a host, by their position in its order (hwloc's: neighbours share caches). */
struct cores_set {
    uint64_t word[CORES_MAX / 64];
};

/* A rank's facts; no pointers, since they are sent. */
struct cores_facts {
    char host[64], boot[40]; /* host name and boot id: together they identify the host */
    int rank;
    int wanted;             /* cores of its list of units; 0: all (auto) */
    int bound;              /* 1: bound by the launcher, */
    int chosen;             /* 1: as the user has chosen */
    int oversubscribe;      /* 1: more cores than there are are allowed */
    struct cores_set mask;  /* cores that it may use */
    struct cores_set given; /* cores that the kernel would allow, where the binding may be lifted */
    struct cores_set taken; /* cores claimed by other processes */
    struct cores_set held;  /* cores claimed by this process */
};

/* A host's cores in its order, by the system's numbers. */
struct cores_host {
    int count;
    int number[CORES_MAX];
};

struct cores_share {
    int count;
    int core[CORES_MAX]; /* the system's numbers, for evn_machine_open_within() */
    int widened;         /* 1: beyond the launcher's binding, see cores_widen() */
    int crowded;         /* 1: cores are shared with other ranks */
    char how[128];       /* the decision in words, "3 of 8 cores, shared by ranks 0 to 2" */
};

/* Reads this process's facts except `rank`, `wanted` and `oversubscribe`: mask (or OpenMP's
 * places), host name, boot id, the launcher's environment. EVN_SYSTEM, EVN_MEMORY. */
evn_status cores_read(struct cores_facts *facts, struct cores_host *host);

/* 1 if the two are on one host. */
int cores_same_host(const struct cores_facts *a, const struct cores_facts *b);

/* The cores of all[me] on its host. `all`: facts of ranks in ascending order; ranks of other hosts
 * are skipped. EVN_USAGE: overlapping masks, or too many cores wanted; the same message in every
 * rank that it concerns. */
evn_status cores_share(struct cores_share *out, const struct cores_facts *all, int ranks, int me,
                       const struct cores_host *host);

/* Binds the calling thread, and threads that it creates later, to its share; EVENER_BIND=none: lets
 * it run on all cores of the host where a launcher's binding was lifted, else nothing. Where the
 * system refuses that, a warning. EVN_SYSTEM: EVENER_BIND demands it. EVN_USAGE. */
evn_status cores_keep_to(const struct cores_share *share);
