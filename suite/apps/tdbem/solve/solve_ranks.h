/* Conjugate gradients over ranks. Chunks of rows are shared out, and a rank multiplies its own. It
 * advances the vectors of an iteration on these and on the halo, the chunks of others that these
 * meet in M_0; so the halo needs no message of its own. One exchange an iteration is left, behind
 * the product: every rank sends every other one the sums of its chunks, of both dot products, and
 * the rows of the product that are in that one's halo. Sums are those of one process, and so are
 * the bits.
 */
#pragma once

#include "tdbem/solve/solve_cg.h"
#include <evener/cluster.h>

struct solve_ranks {
    int begin, end;   /* this rank's chunks */
    int *halo, halos; /* ascending */
    evn_crew_pace pace;
    /* the exchange */
    evn_cluster *cluster;
    int me, count, n, chunks;
    int *goes;                /* this rank's chunks in others' halos, one rank's after another's */
    int *goes_of, *halo_of;   /* [count + 1]: where each rank's begin */
    double *sent, *come;      /* what goes to each, and comes from each, likewise */
    evn_parcel *out, *in;     /* of these */
    evn_parcel *whole, *part; /* of the solution */
};

/* M_0, symmetric to the bit, with a chunk or more for each rank. EVN_MEMORY, of this rank alone. */
evn_status solve_ranks_open(struct solve_ranks **out, const struct solve_matrix *m,
                            evn_cluster *cluster);
void solve_ranks_close(struct solve_ranks *r);

/* Collective: sums of all chunks in `one` and `two`, and the halo's rows of x, all of which have
 * the rank's own. And this rank's rows of `a` to all ranks. */
evn_status solve_ranks_meet(struct solve_ranks *r, double *x, double *one, double *two);
evn_status solve_ranks_spread(struct solve_ranks *r, double *a);
