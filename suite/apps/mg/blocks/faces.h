/* A cube in blocks, one a rank, and the exchange of their faces, as in the reference and the hybrid
 * PGAS paper: ranks in a grid of powers of two, one layer of ghost cells, and an exchange in three
 * successive phases, x, y, z, of two messages each. The faces of y include the ghost cells received
 * in x, and those of z all, so that edges and corners need no messages of their own. An axis with
 * one rank is a copy.
 *
 * Faces of x and y are packed, those of z are contiguous. A message is a put and a signal
 * (<evener/shared.h>). Two buffers for each face alternate; a sender may reuse a buffer since it
 * has received the next message from the same neighbour, which had read this buffer before sending.
 */
#pragma once

#include <evener/cluster.h>
#include <evener/shared.h>

struct faces {
    int ranks[3], at[3];     /* ranks of the grid in each direction; this rank's place in it */
    int neighbour[3][2];     /* ranks below and above */
    evn_shared *shared;      /* NULL: one rank */
    double *packed[2];       /* faces on their way, below and above */
    size_t part[3], bytes;   /* doubles of a face at most; bytes of all buffers of a rank */
    size_t all;              /* doubles of what all ranks gather at most */
    size_t out, aside;       /* where a rank's part has what another one has made for it, and its
                                doubles: faces that go out; 0: nothing */
    unsigned long long done; /* number of exchanges so far */
    unsigned long long gathered;
    double seconds; /* in them, without what was done meanwhile */
};

/* A field of a block: l points along each axis and a ghost cell on both sides. */
struct block_field {
    int l[3];
    double *at;
};

/* The grid of so many ranks, a power of two: L = log2, 2^(L/3) along x, of what is left half of the
 * powers along y, and the rest along z. */
void faces_grid(int ranks, int grid[3]);

/* Position of a rank in the grid, and its neighbours. */
void faces_place(const int grid[3], int rank, int at[3], int neighbour[3][2]);

/* For blocks of at most l points an axis, and gathers of at most `all` points in all; per_node as
 * evn_shared_shape has it. `led`: some blocks are computed by another rank of the node. Collective:
 * an agreement. EVN_MEMORY, EVN_MISSING, EVN_SYSTEM. cluster NULL: one rank. */
evn_status faces_open(struct faces *faces, evn_cluster *cluster, const int l[3], size_t all,
                      int per_node, int led);
void faces_close(struct faces *faces);

/* Fills the ghost cells. `meanwhile`, if not NULL, is called once in each phase while messages are
 * on their way, with its number from 0 to 2; what it does may change no point of a face. */
evn_status faces_exchange(struct faces *faces, const struct block_field *field,
                          void (*meanwhile)(void *arg, int phase), void *arg);

/* Wraps a field that each rank has completely. */
void faces_wrap(struct faces *faces, const struct block_field *field);

/* Doubles of a face across an axis: the axes before it have their ghost cells. */
size_t faces_points(const int l[3], int axis);

/* A step of exchange number `exchange`, from 0: puts a face to the neighbour on a side; and raises
 * its signal, which waits until the face is there where that is on another node. */
evn_status faces_put(struct faces *faces, unsigned long long exchange, const int l[3], int axis,
                     int side, const double *face);
evn_status faces_raise(struct faces *faces, int axis, int side);
int faces_far(const struct faces *faces, int axis, int side);

/* Returns when the face from a side is there; and where it is, in doubles from the beginning of a
 * rank's part. */
evn_status faces_wait(struct faces *faces, unsigned long long exchange, int axis, int side);
size_t faces_box(const struct faces *faces, unsigned long long exchange, int axis, int side);

/* Messages between a rank and the rank that computes its block: faces are ready to be sent, or have
 * arrived. */
enum faces_word { FACES_OUT, FACES_IN };
evn_status faces_tell(struct faces *faces, int rank, enum faces_word word);
evn_status faces_hear(struct faces *faces, int rank, enum faces_word word,
                      unsigned long long times);

/* Lets each rank have all of a level: `part` is this one's block, `whole` all of it, of which ghost
 * cells are left as they are. Each rank puts its points to each other one. */
evn_status faces_gather(struct faces *faces, const struct block_field *part,
                        const struct block_field *whole);
