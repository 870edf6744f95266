/* A rank whose block is computed by its node's master (mg/blocks/block_team.h): it puts the faces
 * that the master leaves in its memory to ranks of other nodes, waits for theirs, and signals the
 * master. */
#pragma once

#include "mg/blocks/faces.h"

struct block_member {
    struct faces *faces;
    int master, finest, whole;
    int far[3][2]; /* whether the neighbour's block is computed elsewhere */
    int l[3], n;   /* points of a block and of a cube, finest level */
    int ranks;
    unsigned long long exchanges, heard;
};

/* `master`: of each rank. */
void block_member_open(struct block_member *member, struct faces *faces, const int *master,
                       int rank, int n, int ranks);

/* The member's part of a cycle, beside the master's. */
evn_status block_member_residual(struct block_member *member);
evn_status block_member_cycle(struct block_member *member);
/* The sum of squares or the hash of its block: eight bytes. */
evn_status block_member_word(struct block_member *member, void *word);
