/* A march over ranks: each rank sums its blocks of the past to the tree's nodes that are wholly its
 * own and sends every other rank the rows that are that one's of all these nodes; the rank of the
 * rows adds them up along the tree, makes the right-hand side of them, and all get all of it. Every
 * rank solves, or each its share of the rows. So bits do not depend on the number of ranks.
 *
 * Between the loop's instance and the group's end nothing is agreed: a rank that fails goes on with
 * the exchanges, which tell that it has failed, and at the end all know. */
#pragma once

#include "tdbem/march/march.h"

evn_status ranks_open(struct march *m);
void ranks_close(struct march *m);

/* Blocks may go to other ranks from now on, when the loop says so. */
evn_status ranks_homes(struct march *m);

/* Before the loop's instance: the owner of each block in it. */
void ranks_note_owners(struct march *m);

/* After the loop's instance: the unit that had a block; of another rank's, one of its units. */
int ranks_owner(const struct march *m, int block);

/* After the loop's instance: adds the blocks' sums of this rank's rows, over all ranks, into
 * m->total. */
evn_status ranks_sum(struct march *m);

/* The right-hand side and what belongs to the points, of all rows, in m->b. `mine`: what this rank
 * has come to in this step. */
evn_status ranks_share_rows(struct march *m, evn_status mine);

/* Before the first step: whether rows are shared out. Collective. */
evn_status ranks_settle(struct march *m);

/* Solves for the q-th step of the group: on every rank, or all together, or, where processors
 * differ or a device solves, on rank 0, which tells the others. */
evn_status ranks_solve(struct march *m, int q, evn_status mine);

/* The group's end, `count` steps: all have the same solution, or what went wrong. */
evn_status ranks_end_group(struct march *m, int n, int count, evn_status mine);

/* Sums over ranks: units' times in groups, and bytes from disk. */
evn_status ranks_conclude(struct march *m);
