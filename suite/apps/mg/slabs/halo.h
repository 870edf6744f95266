/* Copies of other ranks' planes, beside those of this rank's tasks.
 *
 * Every rank has addresses for the whole cube and memory for the planes that it touches: those of
 * its tasks, and next to them copies of others', at their own positions. So sweeps need not know
 * ranks. Copies arrive as one-sided puts into the target's part of an array, one for adjacent
 * planes, and a signal (<evener/shared.h>); from there each rank copies them, or reads those of the
 * finest level in place.
 *
 * Between two exchanges of a kind all ranks synchronise, in a visit or an instance of the loop: so
 * a buffer has been read before it is put again. */
#pragma once

#include "mg/grid.h"
#include <evener/loop.h>
#include <evener/shared.h>

/* An exchanged field of a level, and the numbers of planes below and above a range. */
enum halo_kind {
    HALO_R1, /* r of the second level: one plane below, one above */
    HALO_R2, /* r of the third level: one below, two above */
    HALO_R3, /* r of the fourth level: all planes, to all ranks */
    HALO_U2, /* u of the third level: two below, one above */
    HALO_U1, /* u of the second level: two below, one above */
    HALO_U0, /* u of the finest level: two below, two above */
    HALO_KINDS
};

/* Planes side by side that go to a rank or come from it; there they are in slots from `slot` on. */
struct strip {
    int rank, plane, planes, slot;
};

struct strips {
    struct strip *strip;
    int count, room;
};

struct halo {
    evn_cluster *cluster; /* NULL: alone, nothing is exchanged */
    struct grid *grid;
    int per_node;
    int tasks, *rank;      /* number of tasks; rank of each */
    unsigned char *wanted; /* by plane of a level, 1: the rank that is looked at needs it */
    struct strips out[HALO_KINDS], in[HALO_KINDS];
    int slots[HALO_KINDS]; /* number of slots on each rank */
    size_t at[HALO_KINDS]; /* begin of the slots in a rank's part */
    size_t bytes;          /* bytes of a part */
    evn_shared *shared;
    unsigned long long *seen;  /* signals of each rank, of each kind */
    evn_shared_counts counted; /* by arrays that are closed */
};

/* For a problem of so many tasks; per_node as evn_shared_shape has it. EVN_MEMORY. */
evn_status halo_open(struct halo *halo, evn_cluster *cluster, struct grid *grid, int tasks,
                     int per_node);
void halo_close(struct halo *halo);

/* Plans the exchange for the loop's present owners. Collective, and an agreement where tasks lie
 * otherwise than before. EVN_MEMORY, EVN_MISSING, EVN_SYSTEM. */
evn_status halo_plan(struct halo *halo, const evn_loop *loop);

/* One plane more, which joins those before it. EVN_MEMORY. */
evn_status strips_add(struct strips *strips, int rank, int plane, int slot);

/* Puts what others want, and takes what this rank wants once it has come. All ranks call it. */
evn_status halo_exchange(struct halo *halo, enum halo_kind kind);

/* Marks the planes of a level that owner `who` needs: those beside its ranges; owner[t] is the
 * owner of task t. Writes a byte for each plane. */
void halo_wanted(enum halo_kind kind, int tasks, const int *owner, int who, unsigned char *wanted);

/* The level that a kind is of, by how many it is below the finest. */
int halo_down(enum halo_kind kind);
int halo_of_u(enum halo_kind kind);

/* The task whose rank makes plane k of the level that is `down` below the finest, 0 to 3. */
int halo_task(int k, int down);

/* Puts of this rank so far. */
evn_shared_counts halo_counts(const struct halo *halo);
