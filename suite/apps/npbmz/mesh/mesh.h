/* The mesh of zones: classes, the division into zones, neighbours, and a zone's memory.
 *
 * Source: "NAS Parallel Benchmarks, Multi-Zone Versions" (NAS-03-010), section 3 (zones) and
 * section 4 with its table of classes.
 *
 * Order of calls: problem_class, then (problem_bytes, to see whether it fits) problem_zones, then
 * zone_alloc for each zone by its future owner. */
#pragma once

#include "npbmz/problem.h"
#include <evener/schedule.h>

/* doubles that may be read before and after each field of a zone */
enum { ZONE_SLACK = 64 };

/* Fills all of *p but its zones (p->zone is NULL) and the largest extents and strides; allocates
 * nothing. 0, or -1 if there is no such class (they are S W A B C D E F). */
int problem_class(struct problem *p, enum npbmz_benchmark b, char class_);

/* Allocates p->zone[], with shapes, strides and neighbours but no fields, and fills max_*. The
 * caller gives it back with problem_close. 0, or -1 if there is no memory. */
int problem_zones(struct problem *p);

/* Gives back all fields that zone_alloc made and p->zone[]. */
void problem_close(struct problem *p);

/* Bytes of all fields of all zones as zone_alloc makes them, for a problem straight from
 * problem_class. A double, and exact: class F of LU-MZ has 3.2e12 bytes. */
double problem_bytes(const struct problem *p);

/* Bytes of one zone's fields. */
double zone_bytes(const struct problem *p, const struct zone *z);

/* A zone's share of the work: its points. */
static inline double zone_weight(const struct zone *z) { return (double)z->nx * z->ny * z->nz; }

/* Points of the whole mesh. */
static inline double problem_points(const struct problem *p) {
    return (double)p->gx * p->gy * p->gz;
}

/* Fields of a zone: u, f and, for LU, r. */
int zone_fields(const struct problem *p);

/* Makes the zone's fields in one block of memory that starts on a 64-byte boundary, and writes none
 * of it. 0, or -1 if there is no memory (then the zone has no fields). */
int zone_reserve(const struct problem *p, struct zone *z);

/* Writes every byte of the block from the calling thread, so that pages that nobody has written
 * will lie near that thread: u's real points, f and r are 0; u's padding and slack are a gas at
 * rest (density 1, momenta 0, energy 1). */
void zone_clear(const struct problem *p, struct zone *z);

/* zone_reserve() and zone_clear(). */
int zone_alloc(const struct problem *p, struct zone *z);

/* Gives the block back; a zone without fields is left alone. */
void zone_free(struct zone *z);

/* The zone's block, which is all that has to move when the zone does: its start and, in *bytes, its
 * length. Fields keep their distances from the start wherever the block is. */
void *zone_block(const struct problem *p, const struct zone *z, size_t *bytes);

/* Cuts `points` points into `parts` consecutive parts, the last about `ratio` times as wide as the
 * first (section 3 of the report); ratio 1 gives equal parts. */
void mesh_cut(int points, int parts, double ratio, int width[]);

/* Strides of a zone of z->nx * z->ny * z->nz points. */
void zone_strides(struct zone *z);

/* Bytes from zone `from` to zone `to` in each step's exchange. */
struct zone_link {
    int from, to;
    double bytes;
};

/* Every ordered pair of different neighbouring zones, once, in order of `to`; where two zones meet
 * at two sides (two zones in a row, periodic) the bytes are added. As many cross one way as the
 * other. links has room for 4 p->zones; returns how many there are. Needs problem_zones. */
int problem_links(const struct problem *p, struct zone_link *links);
