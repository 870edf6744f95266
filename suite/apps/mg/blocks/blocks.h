/* MG in blocks, one a rank: the V-cycle operator after operator, each with its fields from memory
 * and an exchange of faces after it (mg/blocks/faces.h), as in the reference; 3 L - 1 exchanges a
 * cycle of L levels and one before the first. Where a level has fewer points than the ranks' grid,
 * the level above is gathered, and it and those below are done on every rank, without exchanges.
 * What the pass of mg/slabs/sweep.h is compared with. */
#pragma once

#include "mg/charges.h"
#include "mg/blocks/faces.h"
#include "mg/grid.h"
#include "mg/mg.h"
#include <stdint.h>

struct blocks {
    int finest, cores, overlap; /* overlap: inner points are done while faces are on their way */
    double smoother[4];
    struct faces faces;
    struct {
        struct block_field u, r;
    } level[GRID_LEVELS + 1]; /* levels from 1 on */
    struct block_field v;
    int whole;                         /* the finest level that is all on every rank; 0: none */
    struct block_field part_u, part_r; /* this rank's block of it */
    size_t longest;                    /* doubles of a row of work space */
    double *rows;                      /* two rows of work space for each core */
    double *memory;                    /* memory of all fields */
    double seconds[MG_OPERATORS];      /* in each operator, without exchanges */
};

/* The finest level that is all on every rank, where n points a side are so many ranks'; 0: none;
 * -1: the blocks of the finest level have not two points along each axis. */
int blocks_whole(int n, int ranks);

/* Doubles of a rank's blocks, of n points a side and so many ranks. */
double blocks_doubles(int n, int ranks);

/* The operators of a cycle, each with the exchange of what it has made: r of level l to the level
 * below; u of level l from it, 0 on the coarsest; r = v - A u; u + S r. */
struct blocks_steps {
    evn_status (*down)(void *arg, int l);
    evn_status (*up)(void *arg, int l);
    evn_status (*residual)(void *arg, int l);
    evn_status (*smooth)(void *arg, int l);
};
evn_status blocks_cycle_of(const struct blocks_steps *steps, void *arg, int finest);

/* Weights of 27 points: of A, with its sign turned, and of a smoother. */
extern const double blocks_minus_a[4];
const double *blocks_smoother(char smoother);

/* Fields for this rank, not yet touched; cores 0: faces alone, its block is on a device. `led` as
 * faces_open() has it. Collective: an agreement. EVN_MEMORY, EVN_MISSING, EVN_SYSTEM. cluster NULL:
 * one rank. */
evn_status blocks_open(struct blocks *blocks, evn_cluster *cluster, int n, char smoother, int cores,
                       int per_node, int led);
void blocks_close(struct blocks *blocks);

/* u = 0, and the charges. */
void blocks_start(struct blocks *blocks, const struct charges *charges);

/* r = v - A u of the finest level, and the cycle that ends with it. All ranks call it, each from
 * its unit's leader. */
evn_status blocks_residual(struct blocks *blocks);
evn_status blocks_cycle(struct blocks *blocks);

/* The sum of the squares of this rank's r. */
double blocks_squares(const struct blocks *blocks);

/* Hash of the bits of this rank's u. */
uint64_t blocks_hash(const struct blocks *blocks);
