/* Cores of a rank: several ranks on one host must not lead their units on the same cores.
 *
 * Every rank tells the facts, all ranks hear those of their host, and each decides alike:
 *     masks that are the same or have nothing in common    each set is dealt out among its ranks,
 * in the host's order, contiguous masks that overlap otherwise                         refused Open
 * MPI binds to one core or one package unless it is told otherwise. Where that leaves cores idle
 * that are asked for, ranks so bound may use what the kernel gives; what a user has chosen is
 * respected.
 */
#ifndef WIRE_CORES_H
#define WIRE_CORES_H

#include <evener/status.h>
#include <stdint.h>

enum { CORES_MAX = 1024 };

/* Cores of a host, by their place in its order (hwloc's: neighbours share caches). */
struct cores_set {
    uint64_t word[CORES_MAX / 64];
};

/* What a rank tells; no pointers, so that it can travel. */
struct cores_facts {
    char host[64], boot[40]; /* together: which host */
    int rank;
    int wanted;             /* cores its list of units asks for; 0: as many as there are (auto) */
    int bound;              /* the launcher bound it, */
    int chosen;             /* as its user has said */
    int oversubscribe;      /* more may be asked for than there are */
    struct cores_set mask;  /* it may run on these */
    struct cores_set given; /* the kernel would let it run on these */
};

/* A host's cores in its order: the system's numbers. */
struct cores_host {
    int count;
    int number[CORES_MAX];
};

struct cores_share {
    int count;
    int core[CORES_MAX]; /* the system's numbers, for evn_machine_open_within() */
    int widened;         /* beyond what the launcher had bound it to: see cores_widen() */
    int crowded;         /* cores are shared with other ranks */
    char how[128];       /* for people: "3 of 8 cores, shared by ranks 0 to 2" */
};

/* Reads this process's facts but `rank`, `wanted` and `oversubscribe`, which are the caller's: mask
 * (or, where OpenMP has places, these), host name, boot id, what the launcher has left in the
 * environment. EVN_SYSTEM, EVN_MEMORY. */
evn_status cores_read(struct cores_facts *facts, struct cores_host *host);

/* Whether the two are on one host. */
int cores_same_host(const struct cores_facts *a, const struct cores_facts *b);

/* What all[me] takes of its host. `all`: facts of ranks in ascending order; those of other hosts
 * are passed over. EVN_USAGE: overlapping masks, or more is asked for than there is; the same
 * message in every rank that it concerns. */
evn_status cores_share(struct cores_share *out, const struct cores_facts *all, int ranks, int me,
                       const struct cores_host *host);

/* Lets the calling thread run on all cores of its share and no others, threads that it makes later
 * too. EVN_SYSTEM. */
evn_status cores_keep_to(const struct cores_share *share);

#endif
