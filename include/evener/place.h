/* For tools: placement, regions of data that move to where they are used.
 *
 * A region is a block of memory that belongs to a task. It lives in spaces: the host's (number 0)
 * or a device's. There is one way to move data: acquire a region for a space with an access mode,
 * work on it, release it. From this follow the valid copies, the transfers, and the stale copies.
 * These are the register, migrate and get placement routines of González-Tallada and Morancho,
 * "Compute units in OpenMP: extensions for heterogeneous parallel programming" (2023), section 4.1.
 *
 *     evn_place_open(&place, units, 0.5);
 *     evn_place_add(place, block, bytes, &region);
 *     const int space = evn_place_space(place, unit, 0);
 *     evn_place_acquire(place, 1, &region, space, EVN_BOTH);
 *     .. kernels on evn_place_buffer(place, space), from byte evn_place_at(place, region, space) ..
 *     evn_place_release(place, 1, &region, space);
 *
 * A region's host memory is given by the program (evn_place_add()), made by the place on first use
 * (evn_place_make()), or absent: the task is in another process, and the memory arrives and leaves
 * with it (evn_place_arrive(), evn_place_leave()).
 *
 * All regions of a device lie in one buffer, its arena, since kernels find them by offsets. A full
 * device evicts regions that nobody has acquired, the least recently used first; data that were
 * valid only there are copied to the host.
 *
 * Every byte that moves is counted by pair of spaces.
 *
 * Any thread may call any of these functions at any time, except those that open and
 * close, during which no other thread may use the place. A query about a region that
 * another thread is acquiring returns the state before or after. A region or space that does not
 * exist is EVN_USAGE; functions without a status return -1, 0 or NULL, with evn_message(). */
#ifndef EVENER_PLACE_H
#define EVENER_PLACE_H

#include <evener/program.h>
#include <evener/device.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EVN_HOST = 0 }; /* the host's space */

/* ---- spaces ---- */

/* Number of spaces: 0, the host's, and one for each device. */
int evn_place_spaces(const evn_place *place);

/* The space of a unit's device `device`; the host's for a CPU unit, and for device -1
 * (evn_batch_device() on cores). -1: the unit has no such device, is only described, is not of the
 * place's units, or is lost. */
int evn_place_space(const evn_place *place, const evn_unit *unit, int device);

/* The device of a space; NULL for the host's and for one that was lost. */
evn_device *evn_place_device(const evn_place *place, int space);

/* Sets the share of one device, from its next allocation on; an invalid share changes nothing and
 * leaves a message. */
void evn_place_limit(evn_place *place, int space, double share);

/* ---- regions ---- */

/* Gives an absent region memory at `host`, with valid content from another process. EVN_USAGE: it
 * is not absent, or as of evn_place_add(). */
evn_status evn_place_arrive(evn_place *place, int region, void *host);

/* Copies a region back to the program's host memory, which belongs to the program again, frees its
 * device memory, and makes it absent. EVN_USAGE: it is held, absent already, or made by the place.
 * EVN_DEVICE: its only valid copy was on a lost device, and the region is absent all the same; or
 * the copy has failed, and nothing has changed. */
evn_status evn_place_leave(evn_place *place, int region);

/* Removes a region: the program's memory gets the valid content and is the program's again; memory
 * made by the place is freed. The number may be reused. EVN_USAGE: it is held; EVN_DEVICE: as of
 * evn_place_leave(). */
evn_status evn_place_remove(evn_place *place, int region);

/* The region whose host memory contains `address`, and the byte in it; in logarithmic time.
 * EVN_USAGE: there is none. */
evn_status evn_place_find(evn_place *place, const void *address, int *region, size_t *offset);

/* ---- acquiring ---- */

/* Acquires `count` regions for `space`: on return all are there and stay until they are released.
 * Regions acquired for reading may be read by others, in this and other spaces; a region acquired
 * for writing is exclusive. All or none are acquired:
 *
 * EVN_USAGE: a region is held by another thread in a conflicting mode, is absent, is in the list
 * twice and to be written, or is to be read but was made and never written; no such region, space
 * or access. EVN_MEMORY: they do not fit together beside the held regions: try fewer; for a single
 * region the message says how much is missing. EVN_DEVICE: a copy failed, or the only valid copy of
 * data to be read was on a lost device. */
evn_status evn_place_acquire(evn_place *place, int count, const int *region, int space,
                             evn_access access);

/* Acquires regions as evn_place_acquire() does, with an access mode for each. */
evn_status evn_place_acquire_each(evn_place *place, int count, const int *region, int space,
                                  const evn_access *access);

/* Releases regions, each as often as it is in the list; all work on them must have ended.
 * EVN_USAGE: a region is not held in that space (so often); nothing was released, and the message
 * says where it is held. */
evn_status evn_place_release(evn_place *place, int count, const int *region, int space);

/* The number of regions, from the first on, that could be acquired together for `space`, in *fit;
 * at least 1 unless count is 0. EVN_MEMORY, EVN_DEVICE: the device gives no memory at all. */
evn_status evn_place_fits(evn_place *place, int count, const int *region, int space, int *fit);

/* ---- queries ---- */

/* The space of the most recent valid copy: the one that wrote it, or of several valid ones the last
 * used. -1: none (absent, lost or never written). */
int evn_place_where(const evn_place *place, int region);

/* 1 if the copy in `space` is valid. */
int evn_place_valid(const evn_place *place, int region, int space);

/* A device's arena; NULL for the host and before its first region. It is sized for the registered
 * regions, within the share, and is replaced by a larger one when more are registered: query it
 * again after each acquire. It does not change while a region is acquired in its space. */
evn_buffer *evn_place_buffer(const evn_place *place, int space);

/* Offset in the arena of a region that is acquired there, bytes: a multiple of 256, constant until
 * it is released. 0 for the host. */
size_t evn_place_at(const evn_place *place, int region, int space);

/* A region's host memory; NULL: it is absent, or made by the place and never was on the host. */
void *evn_place_host(const evn_place *place, int region);

/* Size of a region, bytes. */
size_t evn_place_bytes(const evn_place *place, int region);

/* ---- counting ---- */

/* Regions moved from one space to another since the place was opened. */
typedef struct evn_moves {
    long long copies, bytes;
} evn_moves;
evn_moves evn_place_moves(const evn_place *place, int from, int to);

#ifdef __cplusplus
}
#endif
#endif
