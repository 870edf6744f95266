/* A block of mg/blocks/blocks.h in device memory, and its operators there, each a launch in the
 * block's own queue. Several blocks may share a buffer.
 *
 * Device errors are recorded; the block keeps exchanging undefined data so that no neighbour hangs;
 * they are reported at the end of the cycle. */
#pragma once

#include "mg/blocks/blocks.kernel.h"
#include "mg/charges.h"
#include "mg/grid.h"
#include <evener/device.h>
#include <stdint.h>

struct device_field {
    int l[3]; /* points along each axis, without the ghost cells on both sides */
    struct block_place place;
};

/* Layout of a block in the buffer. */
struct block_layout {
    int finest, whole; /* finest level, and the level that is whole, as in struct blocks */
    struct {
        struct device_field u, r;
    } level[GRID_LEVELS + 1];
    struct device_field v, part;    /* part: this block's r of the level that is gathered */
    evn_long box, box_side, square; /* faces that leave and come, two sides each; sums of rows */
    evn_long end;                   /* behind all of it */
};

struct device_block {
    evn_device *device;
    evn_buffer *all;
    evn_queue *queue;
    struct block_layout at;
    double smoother[4];
    int part[3]; /* where it is among the blocks */
    evn_status late;
    char late_text[400];
    long long launches;
};

/* Layout of a block of n points a side among `ranks` ranks, from double `at` of the buffer on. */
void block_lay(struct block_layout *layout, int n, int ranks, evn_long at);

static inline evn_long field_doubles(const struct device_field *f) {
    return f->place.plane * (f->l[2] + 2);
}

/* Notes a status; not 0 if it, or an earlier one, is a failure. */
int block_note(struct device_block *b, evn_status status);

/* u = r = 0 on all levels, v the charges. */
void block_start(struct device_block *b, const struct charges *charges);

/* y = base + W x at `count` points from `from` along each axis, from 1. */
void block_stencil(struct device_block *b, const struct device_field *y,
                   const struct device_field *base, const struct device_field *x,
                   const double weight[4], const int from[3], const int count[3]);
/* r of level l + 1 to the block's part of level l; u of level l from that below; 0. */
void block_down(struct device_block *b, const struct device_field *from,
                const struct device_field *to);
void block_up(struct device_block *b, int l);
void block_clear(struct device_block *b, const struct device_field *f);
void block_copy_faces(struct device_block *b, const struct block_faces *faces);

/* The sum of the squares of the finest level's r; of the bits of its u: as blocks_squares() and
 * blocks_hash(). Both wait. */
double block_squares(struct device_block *b);
uint64_t block_hash(struct device_block *b);
