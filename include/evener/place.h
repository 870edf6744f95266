/* Placement: regions of data that know where they are, and come when they are asked for.
 *
 * A region is a block of memory that belongs to a task. It lives in spaces: the host's (number 0)
 * or a device's. Data moves in one way: a region is acquired for a space with an access mode,
 * worked on, and released. All else follows: which copies are valid, what has to move, what is
 * stale. This is the register, migrate and get placement of González-Tallada and Morancho, "Compute
 * units in OpenMP: extensions for heterogeneous parallel programming" (2023), section 3.
 *
 *     evn_place_open(&place, units, 0.5);
 *     evn_place_add(place, block, bytes, &region);
 *     const int space = evn_place_space(place, unit, 0);
 *     evn_place_acquire(place, 1, &region, space, EVN_BOTH);
 *     .. kernels on evn_place_buffer(place, space), from byte evn_place_at(place, region, space) ..
 *     evn_place_release(place, 1, &region, space);
 *
 * A region's memory on the host is given by the program (evn_place_add), or made by the place
 * where it is needed (evn_place_make), or with another process, and comes and goes
 * (evn_place_arrive, evn_place_leave): then it is absent.
 *
 * All regions of a device lie in one buffer, its arena, since kernels find them by offsets. A
 * device that is full gives up regions that nobody has acquired, the longest unused first; what
 * was valid only there goes home to the host's memory.
 *
 * Every byte that moves is counted by pair of spaces.
 *
 * Any thread may call any of these functions at any time, but for those that open, close, keep,
 * restore and lose: nobody else may use the place meanwhile. What is said of a region that another
 * thread acquires at the time is how it was before or is after. A number of a region or a space
 * that there is not is EVN_USAGE; where no status is returned, evn_message() says so and the answer
 * is -1, 0 or NULL.
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
 * `share`: the part of a device's memory that regions may take, 0 < share <= 1. EVN_USAGE: another
 * share, or units that are only described; EVN_MEMORY; EVN_DEVICE. */
evn_status evn_place_open(evn_place **out, evn_units *units, double share);

/* The regions' host memory belongs to the program again, with whatever it holds; what the place has
 * made is freed. NULL is fine. */
void evn_place_close(evn_place *place);

/* ---- spaces ---- */

/* Number of spaces: 0, the host's, and one for each device. */
int evn_place_spaces(const evn_place *place);

/* The space of a unit's i-th device; the host's for a CPU unit, and for device -1, which is where a
 * batch is for the cores (evn_batch_device()). -1: the unit has no such device, or it is only
 * described, not of the place's units, or lost. */
int evn_place_space(const evn_place *place, const evn_unit *unit, int device);

/* The device of a space; NULL for the host's and for one that was lost. */
evn_device *evn_place_device(const evn_place *place, int space);

/* Another share for one device, from its next allocation on; an impossible one changes nothing and
 * leaves a message. */
void evn_place_limit(evn_place *place, int space, double share);

/* ---- regions ---- */

/* Registers `bytes` at `host` as a region, valid on the host; *region is its number, the least that
 * was never used or one that was removed. The memory belongs to the place while it is registered:
 * touch it only when it was acquired for the host. `host` NULL: the region is absent. At any time.
 * EVN_USAGE: no bytes, or memory that is (partly) another region's; EVN_MEMORY. */
evn_status evn_place_add(evn_place *place, void *host, size_t bytes, int *region);

/* A region whose memory the place makes where it is first acquired, which must be for EVN_WRITE. On
 * the host it is 64-byte aligned; while the region lives on devices only there is none on the host,
 * until it has to come home. EVN_USAGE: no bytes; EVN_MEMORY. */
evn_status evn_place_make(evn_place *place, size_t bytes, int *region);

/* An absent region has come from another process: it is at `host`, and valid there. EVN_USAGE: it
 * is not absent, or as for evn_place_add(). */
evn_status evn_place_arrive(evn_place *place, int region, void *host);

/* Brings a region home to the program's memory, which belongs to the program again, and gives back
 * its memory on devices: it is absent from then on. EVN_USAGE: it is held by somebody, absent
 * already, or made by the place. EVN_DEVICE: what was valid only on a lost device cannot be
 * brought, and the region is absent all the same; or the copy has failed, and nothing has changed.
 */
evn_status evn_place_leave(evn_place *place, int region);

/* Takes a region out: memory of the program is brought home first, and is the program's again;
 * memory of the place is freed. The number may be given to another region. EVN_USAGE: it is held
 * by somebody; EVN_DEVICE: as above. */
evn_status evn_place_remove(evn_place *place, int region);

/* The region whose memory on the host has the byte at `address`, and which of its bytes that is.
 * Takes as long as the logarithm of their number. EVN_USAGE: there is none. */
evn_status evn_place_find(evn_place *place, const void *address, int *region, size_t *offset);

/* ---- acquiring ---- */

/* Acquires `count` regions for `space`, so that all are there when it returns; they stay there
 * until they are released. Others may read meanwhile what is acquired for reading, here and
 * elsewhere; what is acquired for writing is held by nobody else. All or none are acquired:
 *
 * EVN_USAGE: a region is held by another, or is absent, or is in the list twice and to be written,
 * or is to be read and was made and never written; no such region, space or access.
 * EVN_MEMORY: they do not fit together beside what is held: try fewer; with one alone the message
 * says what is missing.
 * EVN_DEVICE: a copy failed, or what is to be read was valid only on a lost device. */
evn_status evn_place_acquire(evn_place *place, int count, const int *region, int space,
                             evn_access access);

/* The same with an access mode for each region. */
evn_status evn_place_acquire_each(evn_place *place, int count, const int *region, int space,
                                  const evn_access *access);

/* Lets regions go, each as often as it is in the list; all work on them must have ended. EVN_USAGE:
 * a region is not held in that space (so often), and nothing was released; the message says where
 * it is held. */
evn_status evn_place_release(evn_place *place, int count, const int *region, int space);

/* How many of the regions, from the first, could be acquired together for `space`, in *fit; at
 * least 1 unless count is 0. EVN_MEMORY, EVN_DEVICE: the device gives no memory at all. */
evn_status evn_place_fits(evn_place *place, int count, const int *region, int space, int *fit);

/* ---- asking ---- */

/* Where the last valid copy is: the space that wrote it, or one it was read by. If several are
 * valid, the one that was used last. -1: nowhere (absent, lost or never written). */
int evn_place_where(const evn_place *place, int region);

/* Whether the copy in `space` is valid. */
int evn_place_valid(const evn_place *place, int region, int space);

/* A device's arena; NULL before the first region came, and for the host. It is made for what is
 * registered, as far as the share goes, and is another, larger one after more was registered: ask
 * again after each acquire. It does not change while anything is acquired in its space. */
evn_buffer *evn_place_buffer(const evn_place *place, int space);

/* Where in the arena a region begins that is acquired there, bytes: a multiple of 256, and the same
 * until it is released. 0 for the host. */
size_t evn_place_at(const evn_place *place, int region, int space);

/* A region's memory on the host; NULL: it is absent, or made and never was on the host. */
void *evn_place_host(const evn_place *place, int region);

/* Its size. */
size_t evn_place_bytes(const evn_place *place, int region);

/* ---- keeping and losing ---- */

/* Keeps a copy of all regions as they are now; absent ones have none. All or nothing: after a
 * failure the copies of before are still there. EVN_USAGE: a region is held; EVN_MEMORY;
 * EVN_DEVICE.
 */
evn_status evn_place_keep(evn_place *place);

/* Gives all regions that state back, valid on the host, and lets go what is still held. A region
 * that came (or arrived) after it was kept stays as it is. EVN_USAGE: nothing is kept; or such a
 * region is not valid on the host: the message names it, and nothing has changed. EVN_MEMORY. */
evn_status evn_place_restore(evn_place *place);

/* The device of a space is lost, with all that was valid only there: closes what belongs to it, and
 * nobody holds anything there. Then evn_place_restore(). The numbers of other spaces stay. The
 * host's cannot be lost: a message, and nothing is. */
void evn_place_lose(evn_place *place, int space);

/* ---- counting ---- */

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
