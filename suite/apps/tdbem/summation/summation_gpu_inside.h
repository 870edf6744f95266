/* One device's part of the summation, as its two files see it: summation_gpu.c opens it,
 * summation_batch.c works. */
#pragma once

#include "tdbem/summation/summation_gpu.h"
#include "tdbem/summation/summation.kernel.h"

/* Blocks that stream through the device together: a batch in flight. */
struct stream_batch {
    int count; /* number of blocks; 0: none */
    const int *block;
    evn_event *done;
};

struct summation_gpu {
    const struct layout *layout;
    evn_place *place;
    const int *region; /* region of each block */
    int space;
    evn_device *device;
    evn_queue *queue;
    evn_kernel *kernel, *merge;
    evn_buffer *past, *parts, *blocks, *pairs, *sums;
    struct sum_shape shape;
    int slots; /* blocks that there is room for sums of */

    /* blocks that stay on the device, of the batch that they were chosen for */
    int knows, *known; /* blocks of that batch */
    int holds, *held;  /* blocks that stay acquired while the list is the same */
    char *stays;       /* by block, 1: it stays */
    int streamed;      /* blocks of a batch in flight, where others stream */

    /* the current batch */
    int entries, paired; /* used of the two lists, which go to the device bit by bit */
    struct sum_block *block;
    struct sum_pair *pair;
    int *ordered;                     /* blocks: those that are there first */
    int *slot;                        /* slot of each block */
    int *piece;                       /* blocks that are summed and sent home together, ascending */
    int *part;                        /* some blocks of a piece */
    int *regions;                     /* scratch: regions */
    struct stream_batch in_flight[2]; /* batches that are used alternately */

    /* sums that have come home since summation_gpu_begin() */
    char *home;           /* page-locked where there is such a thing: */
    int home_nodes, used; /* for so many nodes, and how many it has */
    char *spill;          /* for all others, made when there are such; as many as blocks */
    int spilt;

    evn_event *fetched;
    int has_fetched; /* it was recorded */
};

/* Gives all blocks back. */
void batch_close(struct summation_gpu *g);
