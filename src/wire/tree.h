/* The control tree: one record of any size up to rank 0, one down to all, along a binomial tree
 * over mail; once for all kinds of wires.
 *
 * Rank r's children are r + 1, r + 2, r + 4, .. as far as r is a multiple of twice that step: each
 * child stands for a run of ranks that follow each other, so records that are put behind each other
 * as they come are in the order of ranks. */
#ifndef WIRE_TREE_H
#define WIRE_TREE_H

#include <evener/wire.h>

struct tree;

/* Bytes that grow. Begins as {0}; whoever made it frees it. */
struct record {
    unsigned char *data;
    size_t bytes, room;
};

/* EVN_MEMORY, and the record is as it was. */
evn_status record_add(struct record *record, const void *data, size_t bytes);
void record_free(struct record *record);

/* Every rank of the wire calls it. One tag, both ways. */
evn_status tree_open(struct tree **out, const evn_wire_kind *kind, evn_wire *wire, int tag);
void tree_close(struct tree *tree);

/* Makes one record of mine and a child's, of ranks behind mine. */
typedef evn_status (*tree_join)(struct record *mine, const void *theirs, size_t bytes, void *arg);

/* Everybody's record to rank 0: a child's is joined to mine as it comes, and the result goes on to
 * my parent. `join` NULL: theirs is put behind mine. Every rank calls it. On failure ranks do not
 * agree any more, and the run cannot go on. */
evn_status tree_up(struct tree *tree, struct record *mine, tree_join join, void *arg);

/* Rank 0's record to everybody; others' are overwritten. Every rank calls it. */
evn_status tree_down(struct tree *tree, struct record *record);

/* Messages that this rank has sent through it. */
long tree_messages(const struct tree *tree);

#endif
