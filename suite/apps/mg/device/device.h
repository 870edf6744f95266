/* MG on one device: its memory, and a launch for each operation.
 *
 * A device has two copies of u of the finest level (a sweep does not write in place), and u and r
 * of the levels below: planes of its tasks and the two beside each range of them, in slots; all
 * planes of levels that belong to no task. A device with all tasks computes those levels, too. */
#pragma once

#include "mg/device/device.kernel.h"
#include "mg/slabs/sweep.h"
#include <evener/device.h>

struct field {
    evn_buffer *u, *old, *r; /* old: the finest level's other u; r: not on the finest */
    int room;                /* planes that there is memory for */
    int *slot;               /* slot of each plane; -1: it is not here */
};

/* A list of ranges on the device. */
struct ranges {
    int count, *range;
    evn_buffer *buffer;
};
enum { RANGES = 48 };

struct part {
    int unit, number; /* the unit on this rank, and which of its devices; the caller's */
    evn_device *device;
    evn_queue *queue;
    int finest, n;
    struct level shape[GRID_LEVELS + 1];
    struct field field[GRID_LEVELS + 1];
    evn_buffer *slot, *charge, *square;
    int *table; /* all slots, as they were sent */
    struct device_charge charges[DEVICE_CHARGES];
    struct smoother smoother;
    struct ranges ranges[RANGES];
    int lists;
    int swept; /* u is in `old` until part_swap() */
};

/* Shapes and no memory yet. EVN_MEMORY. */
evn_status part_open(struct part *part, evn_device *device, evn_queue *queue,
                     const struct problem *p);
void part_close(struct part *part);

/* Slots for the planes of a level that are wanted; those that were wanted before keep theirs. */
void part_want(struct part *part, int level, const unsigned char *wanted);

/* Bytes of its memory as needed, and of the largest buffer of it. */
double part_needs(const struct part *part, double *largest);

/* Memory for all slots, and the table of them on the device; planes that were there stay. Waits for
 * the queue. EVN_MEMORY, EVN_DEVICE. */
evn_status part_fit(struct part *part);

evn_status part_charges(struct part *part, const struct charges *charges);
evn_status part_clear(struct part *part);

/* The finest level's u as the latest sweep left it; and where plane k of a level's u or r is, in
 * bytes. */
evn_buffer *part_u(const struct part *part, int level);
size_t part_at(const struct part *part, int level, int k);

/* All of what follows is put into the queue; `begin` and `end` are `count` ranges of planes, of the
 * level that is made. */

/* One pass over level l: u of the finest goes where the old one is, until part_swap(). */
evn_status part_up(struct part *part, int l, const int *begin, const int *end, int count);
void part_swap(struct part *part);
/* r of level l from r of level l + 1, of the second finest from u. */
evn_status part_down(struct part *part, int l, const int *begin, const int *end, int count);
/* The sums of squares of planes of the finest level, kept on the device; overwrites the other u.
 * And those of planes [begin, end) to square[8 k + ..]; waits. */
evn_status part_squares(struct part *part, const int *begin, const int *end, int count);
evn_status part_fetch_squares(struct part *part, double *square, int begin, int end);
/* All of levels 1 to `top` from r of level `top`. */
evn_status part_below(struct part *part, int top);
