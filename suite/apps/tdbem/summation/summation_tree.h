/* The tree along which blocks' sums are added up: binary, fixed for all units, so that bits
 * do not depend on the unit that has summed a block.
 *
 * A node of 2^l blocks is the sum of blocks k 2^l .. (k+1) 2^l - 1, made of its two halves; where
 * there is no right half at the end, what is there is added from the right. A unit makes those
 * nodes that are wholly its own, and the rest of the tree is made of these.
 */
#pragma once

#include "tdbem/layout/layout.h"

/* A node, told by its first block. */
struct summation_node {
    const char *sums; /* [rows * wide] in the layout's precision, 64-byte aligned */
    int span;         /* number of its blocks; 0: the block is in the node of another one */
};

/* The largest nodes, of up to `max` blocks, that are wholly among `count` blocks, ascending:
 * node[b].span of these blocks is set. Returns how many nodes. */
int summation_nodes(int count, const int *block, int max, struct summation_node *node);

/* Elements from .. to-1 of the sum of all blocks, from nodes that are all of the layout's blocks.
 */
void summation_total(const struct layout *layout, const struct summation_node *node, size_t from,
                     size_t to, double *total);

/* Elements from .. to-1 of the node of `span` blocks from `first` on, which is made of whole ones
 * of node[], into out[0 .. to-from-1], in the layout's precision. */
void summation_join(const struct layout *layout, const struct summation_node *node, int first,
                    int span, size_t from, size_t to, void *out);

/* left += right, `count` elements in the layout's precision. */
void summation_add(const struct layout *layout, void *left, const void *right, size_t count);
