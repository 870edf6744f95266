/* The summation stage: s_(n+g)(i) = sum over j and k of M_k(i,j) a_(n+g-k)(j) of the known past,
 * for all steps n .. n+n_g-1 of a group at once (multi-vectors/vector product; Bramas, Coulaud,
 * Sylvand 2015, section 4).
 *
 * One value meets n_g elements of the past: 2 n_g operations for each value read once. A vector
 * holds steps of a group for one row, or for a few rows where n_g is less than a vector is wide, or
 * one step of a strip of rows; it never runs along the row-vector, so nothing is summed across
 * lanes, and the order of operations for each (row, step) is j, then l. In strips the slices of a
 * block come in the order of the strip's bundles, for each row alike.
 */
#pragma once

#include "tdbem/summation/history.h"
#include "tdbem/layout/layout.h"

/* 1: products are added to their sum one by one; 0: first among themselves (for each slice), then
 * to the sum. Devices need 1 for the host's bits. */
int summation_carries(const struct layout *layout);

/* Bytes of scratch that a core needs for nodes of up to `span` blocks. */
size_t summation_scratch(const struct layout *layout, int span);

/* Sums of a node (summation_tree.h), the `span` blocks from `block` on, for the rows of tile
 * `tile`: overwrites rows tile_row[tile] .. tile_row[tile+1]-1 of `sums`, which is [rows * wide] in
 * the layout's precision, steps fastest. Blocks' own sums never leave the core's caches. `scratch`
 * is aligned to 64 bytes. */
void summation_part(const struct layout *layout, int block, int span, int tile,
                    const struct history *past, void *sums, void *scratch);
