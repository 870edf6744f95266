/* The summation on a device: one device's part of it.
 *
 * Blocks are regions, which come to the device when they are needed and stay there while there is
 * room: read-only, so one that leaves is simply forgotten. What does not fit streams: some blocks
 * come in while those before are summed, and what is still there from the time before is used
 * first. The past goes to the device with each batch, since it is small.
 *
 * Blocks' sums are added up along a binary tree over the blocks, fixed for all units: a node of
 * 2^l blocks is the sum of blocks k 2^l .. (k+1) 2^l - 1, made of its two halves. A device makes
 * those nodes that are wholly its own, and sends the largest ones home, a few messages of one
 * block's size; there the rest of the tree is made. So who has summed which block is not seen in
 * the bits, where host and device round alike.
 *
 *     summation_gpu_share(&share, layout, past, devices..);
 *     evn_place_open(&place, units, share);
 *     summation_gpu_regions(layout, place, region);
 *     summation_gpu_open(&g, layout, past, place, region, space, queue);
 *     ...
 *     summation_gpu_batch(g, count, block, past, sums, sums_bytes, span);    in a body of a loop
 *     ...
 *     summation_gpu_close(g);
 */
#ifndef TDBEM_SUMMATION_GPU_H
#define TDBEM_SUMMATION_GPU_H

#include "history.h"
#include "layout.h"
#include <evener.h>
#include <evener/device.h>
#include <evener/place.h>

struct summation_gpu;

/* The share of devices' memory that is left for blocks of slices on a device of so many bytes;
 * least over all devices is what evn_place_open() wants. EVN_MEMORY: not even one block would fit,
 * with the bytes that are missing. */
evn_status summation_gpu_share(double *share, const struct layout *layout,
                               const struct history *past, evn_device *device);

/* Registers all blocks; region[block]. They are the place's until it is closed, but since nobody
 * writes them the host may read them at any time. */
evn_status summation_gpu_regions(const struct layout *layout, evn_place *place, int *region);

/* Builds the kernels for this layout and gives the device its tables. Everything must outlive it.
 * Work goes into `queue`. */
evn_status summation_gpu_open(struct summation_gpu **out, const struct layout *layout,
                              const struct history *past, evn_place *place, const int *region,
                              int space, evn_queue *queue);
/* Nothing may be in the queue any more. */
void summation_gpu_close(struct summation_gpu *g);

/* Fetches those of the blocks that are not there yet, as far as there is room beside those that
 * are, so that the batch of the same blocks that follows brings what it always will, and nothing of
 * what comes once. Nothing is said of failures: that batch meets them too. Like a batch otherwise.
 */
void summation_gpu_fetch(struct summation_gpu *g, int count, const int *block);
/* Waits, by any thread, until what was fetched last is there: units that begin together do not take
 * the others' links for theirs. */
void summation_gpu_fetched(struct summation_gpu *g);

/* Puts the sums of `count` blocks, ascending, into the queue: those of the node of span[b] blocks
 * that begins with block b, [rows * wide] in the layout's precision, are at sums + b * sums_bytes
 * when the queue has been finished; span[b] is 0 where the block is in another one's node. Until
 * then `past` must stay as it is. Waits only where not all blocks fit the device together. The
 * queue must have been finished since the call before. EVN_MEMORY: a block does not fit;
 * EVN_DEVICE. */
evn_status summation_gpu_batch(struct summation_gpu *g, int count, const int *block,
                               const struct history *past, char *sums, size_t sums_bytes,
                               int *span);

/* Bytes of a block's sums on the host and on devices. */
size_t summation_sums_bytes(const struct layout *layout);

#endif
