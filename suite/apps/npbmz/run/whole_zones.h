/* The exchange of González and Morancho's multi-GPU version (their algorithm 2), for comparison:
 * one zone after another. Where a zone and its neighbour are in different memories, the neighbour
 * is copied whole to the zone's, both faces between them are copied there, a kernel each on a
 * device, and it is copied back. Of two neighbours the one of the lower number stays. */
#pragma once

#include "npbmz/run/run.h"

/* Copies that it has made, there and back each one, and their bytes; of none (NULL) 0. */
struct whole_zones_counts {
    long long copies;
    double bytes;
};

/* Opens it for the run's zones, of one process, where they are now and later. EVN_MEMORY: *out may
 * be closed. */
evn_status whole_zones_open(struct whole_zones **out, struct run *run);
void whole_zones_close(struct whole_zones *whole);

/* The device of that space is lost. */
void whole_zones_lose(struct whole_zones *whole, int space);

/* One exchange, a visit of the loop. Any status of devices and of evn_loop_visit(). */
evn_status whole_zones_run(struct whole_zones *whole);

struct whole_zones_counts whole_zones_counts(const struct whole_zones *whole);
/* From now on they are counted from 0. */
void whole_zones_reset(struct whole_zones *whole);
