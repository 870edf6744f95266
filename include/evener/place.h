/* Placement: regions of data that know where they are, and come when they are asked for.
 *
 * A region is a block of the program's memory that belongs to a task. It lives in spaces: the
 * host's (number 0) or a device's (1 and up). Data moves in one way: a region is acquired for a
 * space with an access mode, worked on, and released. All else follows: which copies are valid,
 * what has to move, what is stale. This is the register, migrate and get placement of González-
 * Tallada and Morancho, "Compute units in OpenMP: extensions for heterogeneous parallel
 * programming" (2023), section 3.
 *
 *     evn_place_open(&place, units, 0.5);
 *     evn_place_add(place, block, bytes, &region);
 *     evn_place_acquire(place, 1, &region, space, EVN_BOTH);
 *     .. kernels on evn_place_buffer(place, space), from byte evn_place_at(place, region, space) ..
 *     evn_place_release(place, 1, &region, space);
 *
 * All regions of a device lie in one buffer, its arena, since kernels find them by offsets. A
 * device that is full gives up regions that nobody has acquired, the longest unused first; what
 * was valid only there goes home to the host's memory.
 *
 * Every byte that moves is counted by pair of spaces.
 */
#ifndef EVENER_PLACE_H
#define EVENER_PLACE_H

#include <evener/device.h>
#include <evener/status.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_place evn_place;

enum { EVN_HOST = 0 }; /* the host's space */

typedef enum evn_access {
    EVN_READ = 1,  /* needs what is in it, and leaves it as it is */
    EVN_WRITE = 2, /* writes all of it: nothing has to come */
    EVN_BOTH = 3
} evn_access;

/* The place of a program's regions, for the host and all devices of `units`, which must outlive it.
 * `share`: the part of a device's memory that regions may take, 0 < share <= 1. EVN_USAGE. */
evn_status evn_place_open(evn_place **out, evn_units *units, double share);

/* Another share for one device, before the first region goes there; an impossible one is ignored.
 */
void evn_place_limit(evn_place *place, int space, double share);

/* The regions' host memory belongs to the program again, with whatever it holds. */
void evn_place_close(evn_place *place);

/* Registers `bytes` at `host` as a region, valid on the host; *region is its number, from 0 in
 * order. The memory belongs to the place while it is registered: touch it only when it was acquired
 * for the host. All regions must be registered before the first one goes to a device. */
evn_status evn_place_add(evn_place *place, void *host, size_t bytes, int *region);

/* Number of spaces; the space of a unit (of its first device; the host's for a CPU unit); the
 * space of its i-th device. */
int evn_place_spaces(const evn_place *place);
int evn_place_space(const evn_place *place, const evn_unit *unit, int device);

/* Acquires `count` regions for `space`, so that all are there when it returns; they stay there
 * until they are released. As many threads as like may do so at a time with different regions; a
 * region is acquired for writing by one at a time, and then by nobody else. EVN_MEMORY: they do not
 * fit together (none was acquired): try fewer; with one alone the message says what is missing.
 * EVN_DEVICE: a copy failed. EVN_USAGE: a region is in use. */
evn_status evn_place_acquire(evn_place *place, int count, const int *region, int space,
                             evn_access access);
void evn_place_release(evn_place *place, int count, const int *region, int space);

/* How many of the regions, from the first, could be acquired together for `space`, in *fit; at
 * least 1 unless count is 0. EVN_MEMORY, EVN_DEVICE: the device gives no memory at all. */
evn_status evn_place_fits(evn_place *place, int count, const int *region, int space, int *fit);

/* Where the last valid copy is: the space that wrote it, or one it was read by. If several are
 * valid, the one that was used last. */
int evn_place_where(const evn_place *place, int region);

/* Whether the copy in `space` is valid. */
int evn_place_valid(const evn_place *place, int region, int space);

/* A device's arena (NULL before the first region came, and for the host); where in it a region
 * begins, bytes; a region's memory on the host, and how many bytes it has. */
evn_buffer *evn_place_buffer(const evn_place *place, int space);
size_t evn_place_at(const evn_place *place, int region, int space);
void *evn_place_host(const evn_place *place, int region);
size_t evn_place_bytes(const evn_place *place, int region);
evn_device *evn_place_device(const evn_place *place, int space);

/* Keeps a copy of all regions on the host as they are now, and gives them all back that state,
 * valid on the host. Nobody may have acquired anything. EVN_MEMORY; EVN_USAGE: nothing is kept. */
evn_status evn_place_keep(evn_place *place);
evn_status evn_place_restore(evn_place *place);

/* The device of a space is lost, with all that was valid only there: closes what belongs to it.
 * Then evn_place_restore(). */
void evn_place_lose(evn_place *place, int space);

/* What was moved from one space to another, in regions, since it was opened or the counters were
 * set back. */
typedef struct evn_moves {
    long long copies, bytes;
} evn_moves;
evn_moves evn_place_moves(const evn_place *place, int from, int to);
void evn_place_reset_moves(evn_place *place);

#ifdef __cplusplus
}
#endif
#endif
