/* Blocks of elements that one end of an exchange copies at a time: its cores do, or its device in
 * one launch. */
#ifndef LOOP_EXCHANGE_COPIES_H
#define LOOP_EXCHANGE_COPIES_H

#include "loop/exchange_block.h"
#include <evener/device.h>
#include <stdatomic.h>

/* One side of a block: where its first element is, and strides, all in bytes. */
struct side {
    char *host;        /* `at` counts from here; NULL: from the beginning of a device's buffer */
    char *const *base; /* or from where this points at the time of copying; NULL */
    long long at;
    long long stride[3];
};

/* A block that cores copy: n[0] x n[1] x n[2] elements. */
struct copy {
    const char *from;
    char *to;
    char *const *from_base, *const *to_base; /* not NULL: `from`, `to` are bytes from there */
    long long from_stride[3], to_stride[3];  /* bytes */
    size_t element;
    int n[3];
    int number; /* the caller's */
    /* a block the other way beside it: element by element from to + back_from to from + back_to */
    int both;
    long long back_from, back_to; /* bytes */
    const atomic_uchar *met;      /* where this is BOTH_MET it is copied already; NULL */
};

/* Bits for the two tasks of a copy that have their new values. */
enum { FROM_MET = 1, TO_MET = 2, BOTH_MET = 3 };

struct copies {
    /* by cores */
    struct copy *copy;
    int count, room;
    /* by a device */
    struct exchange_block *block;
    struct exchange_piece *piece;
    int blocks, block_room, pieces, piece_room;
    evn_buffer *block_buffer, *piece_buffer;
};

/* Room for one more element of `size` bytes behind the `count` of an array that has *room; NULL: no
 * memory, and the array is as it was. */
void *array_grow(void *array, int count, int *room, size_t size);

void copies_clear(struct copies *c); /* empties it, and keeps its memory */
void copies_close(struct copies *c);

/* Adds a block of elements of `element` bytes; -1: no memory. */
int copies_add_to_cores(struct copies *c, const int n[3], size_t element, const struct side *from,
                        const struct side *to);
int copies_add_to_device(struct copies *c, const int n[3], size_t element, const struct side *from,
                         const struct side *to);

/* The block that was added last. */
struct copy *copies_last(struct copies *c);

/* Copies all of a block. */
void copy_block(const struct copy *copy);

/* Elements that are to be copied by cores and are not yet. */
long long copies_left(const struct copies *c);

/* Each core of the calling leader's team copies its part of every block that is not copied yet. */
void copies_by_cores(const struct copies *c, int cores);

/* The name of the kernel for elements of so many bytes. */
const char *copies_kernel(size_t element);
/* Sends the list itself to the device, by `queue`. */
evn_status copies_send(struct copies *c, evn_device *device, evn_queue *queue);
/* Launches the kernel on it; nothing where the list is empty. */
evn_status copies_launch(const struct copies *c, evn_queue *queue, evn_kernel *kernel,
                         evn_buffer *from, evn_buffer *to);

/* A buffer of at least `bytes`, whose contents need not be kept. */
evn_status buffer_of_at_least(evn_buffer **buffer, evn_device *device, size_t bytes);

#endif
