/* The control tree: records of any size up to rank 0 and down to all ranks, along a binomial tree
 * over channels, for all kinds of wires.
 *
 * Rank r's children are r + 1, r + 2, r + 4, .. as far as r is a multiple of twice that step: each
 * child stands for consecutive ranks, so records concatenated in the order of arrival are in the
 * order of ranks. */
#pragma once

#include <evener/wire.h>

struct tree;

/* A growing byte array. Starts as {0}; its maker frees it. */
struct record {
    unsigned char *data;
    size_t bytes, room;
};

/* EVN_MEMORY: the record is unchanged. record_reserve(): memory for `bytes` in all. */
evn_status record_reserve(struct record *record, size_t bytes);
evn_status record_add(struct record *record, const void *data, size_t bytes);
void record_free(struct record *record);

/* Opens the tree; every rank of the wire calls it. One tag, both directions. */
evn_status tree_open(struct tree **out, const evn_wire_kind *kind, evn_wire *wire, int tag);
void tree_close(struct tree *tree);

/* Gathers all records at rank 0: children's are appended to mine, which goes to the parent. Every
 * rank calls it. After a failure ranks are out of step, and the run cannot continue. */
evn_status tree_up(struct tree *tree, struct record *mine);

/* Broadcasts rank 0's record; others' are overwritten. Every rank calls it. */
evn_status tree_down(struct tree *tree, struct record *record);

/* Memory for children's records of up to `bytes` each. EVN_MEMORY. */
evn_status tree_reserve(struct tree *tree, size_t bytes);

/* What this rank has sent through the tree. */
struct tree_sums {
    long messages;
    size_t bytes;
};
struct tree_sums tree_sent(const struct tree *tree);
