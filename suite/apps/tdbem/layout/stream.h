/* Blocks of a layout on disk, for a host whose memory is too small for them: some are in memory for
 * good, the others are read ahead of their use, and their memory goes back once they were used.
 *
 * All blocks are used equally often, in order, so that no choice of what to keep is better than any
 * other (Bramas, Coulaud, Sylvand, Parallel Computing 49 (2015), section 3.4, keeps intervals on
 * devices likewise): as many as there is room for stay, spread evenly over the slices, so that
 * every unit has the same mix. A block has one address whether it is there or not. Reading is by
 * read(), past the system's cache where the file system lets it, so that what is read takes no
 * memory but the block's own, and a disk that fails is an error and no signal.
 *
 *     layout_plan(&layout, ..);
 *     stream_align(layout);
 *     stream_open(&stream, layout, folder);           reserves addresses, and room on disk
 *     layout_fill(layout, slices, from, to);          block by block
 *     stream_put(stream, block);
 *     ..
 *     stream_begin(stream, memory, ahead);            from now on blocks are there to be used
 *     stream_order(stream, owner);                    before each pass over the blocks
 *     stream_hold(stream, block);                     by any thread
 *     summation_part(layout, block, tile, ..);
 *     stream_drop(stream, block, 1);
 *
 * A thread that has a block must not wait for another one. Without a stream (NULL) all blocks are
 * there, and these calls do nothing.
 */
#pragma once

#include "tdbem/layout/layout.h"
#include <evener/status.h>

struct stream;

/* EVN_OK if a file can be made in `folder`; EVN_USAGE: no. */
evn_status stream_folder(const char *folder);

/* Blocks begin with pages: large ones if blocks are so large that padding is little. Do it before
 * anything is measured. */
void stream_align(struct layout *layout);

/* A file in `folder` with room for the layout's blocks that are here, which has no name any more,
 * so that nothing is left behind; and addresses for the layout, which must outlive it. Whole: they
 * will stay in memory, and have no room in the file before one has to go there. EVN_USAGE: not such
 * a folder, not writable, no room; EVN_MEMORY. */
evn_status stream_open(struct stream **out, struct layout *layout, const char *folder);
evn_status stream_open_whole(struct stream **out, struct layout *layout, const char *folder);
void stream_close(struct stream *s);

/* Block `block` goes to disk, and its memory back. EVN_SYSTEM. */
evn_status stream_put(struct stream *s, int block);

/* When all are on disk: keeps `resident` blocks in memory for good and `ahead` bytes for the
 * others; the largest one has room at any rate. EVN_SYSTEM: a block cannot be read back.
 * EVN_MEMORY. */
evn_status stream_begin(struct stream *s, int resident, size_t ahead);
/* stream_begin() where all blocks are in memory, of which others may stay up to `stay` bytes in
 * all. */
evn_status stream_begin_whole(struct stream *s, size_t stay, size_t ahead);

/* Whether block b of n is one of the `resident` ones: spread evenly. */
int stream_resident(int b, int n, int resident);

/* Begins another pass: blocks used first are read first. owner[b]: the unit that processes its
 * blocks in order, beside other units; -1: not read ahead; NULL: any free thread takes blocks in
 * order. No block may be held. */
void stream_order(struct stream *s, const int *owner);

/* Waits until the block is there. EVN_SYSTEM: it cannot be read. */
evn_status stream_hold(struct stream *s, int block);
/* Ends a hold; `parts` of the block's parts are done with. When they all are (as many as the layout
 * has tiles) it is not needed before the next pass. */
void stream_drop(struct stream *s, int block, int parts);

struct stream_stats {
    int blocks, resident; /* blocks of the layout; 0 and 0 without a stream */
    double bytes;         /* read since stream_begin() */
    double waited_s;      /* by all threads together for blocks that were not there yet */
    double max;           /* bytes of blocks that were in memory at a time */
};
struct stream_stats stream_stats(struct stream *s);

/* Whether a block could not be read: then nothing is read any more. */
int stream_failed(struct stream *s);

/* Whether some blocks are read each time. */
int stream_reads(const struct stream *s);

/* Moves blocks between ranks, between passes, by one thread. A departing block is held (as by
 * stream_hold()) and then leaves; an arriving one gets memory to be written, and is then kept in
 * memory or on disk. layout.away is the caller's. EVN_SYSTEM, EVN_USAGE: no room on disk. */
evn_status stream_lend(struct stream *s, int block);
void stream_leave(struct stream *s, int block);
evn_status stream_arrive(struct stream *s, int block);
evn_status stream_keep(struct stream *s, int block);

/* Whether the folder keeps its files in memory: then nothing is gained. */
int stream_in_memory(const struct stream *s);
