/* The summation on a device: one device's part of it.
 *
 * Blocks are regions, which come to the device when they are needed and stay there: read-only, so
 * one that leaves is simply forgotten. Of more than there is room for, some stay and the others
 * stream: they come in while those before are summed. The past goes to the device with each batch,
 * since it is small.
 *
 * Blocks' sums are added up along the tree of summation_tree.h: a device makes those nodes that are
 * wholly its own, and sends the largest ones home in one message. So bits do
 * not depend on the unit that has summed a block, where host and device round alike.
 *
 *     evn_place_open(&place, units, 1);
 *     summation_gpu_share(&share, layout, past, device); evn_place_limit(place, space, share);
 *     summation_gpu_regions(layout, place, region);
 *     summation_gpu_open(&g, layout, past, place, region, space, queue);
 *     ...
 *     summation_gpu_begin(g);                              before each group of steps
 *     summation_gpu_batch(g, count, block, past, node);    in a body of a loop
 *     ...
 *     summation_gpu_close(g);
 */
#pragma once

#include "tdbem/summation/history.h"
#include "tdbem/layout/layout.h"
#include "tdbem/summation/summation_tree.h"
#include <evener.h>
#include <evener/device.h>
#include <evener/place.h>

struct summation_gpu;

/* The share of the device's memory that is left for blocks of slices. EVN_MEMORY: not even one
 * block would fit, with the bytes that are missing. */
evn_status summation_gpu_share(double *share, const struct layout *layout,
                               const struct history *past, evn_device *device);

/* Registers all blocks, those of other ranks as absent; region[block]. They are the place's until
 * it is closed, but since they are only read, the host may read them at any time. */
evn_status summation_gpu_regions(const struct layout *layout, evn_place *place, int *region);

/* Builds the kernels for this layout and gives the device its tables. Everything must outlive it.
 * Work goes into `queue`. */
evn_status summation_gpu_open(struct summation_gpu **out, const struct layout *layout,
                              const struct history *past, evn_place *place, const int *region,
                              int space, evn_queue *queue);
/* Closes it; nothing may be in the queue any more. */
void summation_gpu_close(struct summation_gpu *g);

/* Fetches those of the blocks that are not there yet, as far as there is room beside those that
 * are, so that the batch of the same blocks that follows brings what it always will, and nothing of
 * what comes once. Nothing is said of failures: that batch has them too. Like a batch otherwise.
 */
void summation_gpu_fetch(struct summation_gpu *g, int count, const int *block);
/* Waits, by any thread, until what was fetched last is there: units that begin together do not take
 * the others' links for theirs. */
void summation_gpu_fetched(struct summation_gpu *g);

/* Gives back what stays on the device from group to group, so that a block can leave. */
void summation_gpu_forget(struct summation_gpu *g);

/* Releases data received so far. */
void summation_gpu_begin(struct summation_gpu *g);

/* Puts the sums of `count` blocks, ascending, into the queue. node[b] of these blocks is set; their
 * sums are there when the queue has been finished, and stay until summation_gpu_begin(). Until then
 * `past` must stay as it is. Waits only where not all blocks fit the device together. The queue
 * must have been finished since the call before. EVN_MEMORY: a block does not fit; EVN_DEVICE. */
evn_status summation_gpu_batch(struct summation_gpu *g, int count, const int *block,
                               const struct history *past, struct summation_node *node);

/* Bytes of a block's sums on the host and on devices. */
size_t summation_sums_bytes(const struct layout *layout);
