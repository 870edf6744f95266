/* NPB-MZ on a device: the zones of a batch, one launch a phase for all of them.
 *
 * Inside of the application. A solver gives its kernels, the work space a zone needs, into how many
 * pieces (groups of items) each phase cuts a zone, and which kernels make a time step; what is the
 * same for all three, the tables, the building of kernels and the launching, is here.
 */
#pragma once

#include "npbmz/device/gpu_zone.h"
#include "npbmz/host/norms.h"
#include "npbmz/problem.h"
#include <evener.h>
#include <evener/device.h>

enum { GPU_CUTS = 12 }; /* ways of cutting a zone, at most */

struct gpu;

struct gpu_solver {
    /* the kernel files that hold its kernels; ended by NULL */
    const evn_kernel_source *const *sources;
    /* doubles of work space that a zone needs */
    size_t (*work)(const struct problem *p, const struct zone *z);
    /* ways in which zones are cut for kernels, at most GPU_CUTS; pieces of a zone in way number
     * `cut` */
    int cuts;
    int (*pieces)(const struct problem *p, const struct zone *z, int cut);
    /* how long a group works on a piece of that cut, in any unit: those of zones where it is
     * longest go first, so that no long one is alone at the end of a launch; NULL: as they come */
    int (*length)(const struct zone *z, int cut);
    /* from 0 on, among zones of the same length: pieces of a lower turn go first; NULL: all the
     * same */
    int (*turn)(const struct zone *z, int cut, int piece);
    /* for gpu_launch_resident(): a flag for so many doubles of work space (0: it is not called),
     * and the solver to be used on devices that have no such launches */
    int doubles_of_flag;
    const struct gpu_solver *otherwise;
    /* puts one phase of a time step of the batch, from 0 on, into the queue, by gpu_launch(). The
     * last `late` of them are the first to read the ghosts, so that an exchange may go on before;
     * 0: ghosts are filled already. */
    int phases, late;
    evn_status (*phase)(struct gpu *g, const struct problem *p, int phase);
    /* as phase(), for what follows the initial state (LU's first residual); may be NULL */
    evn_status (*prepare)(struct gpu *g, const struct problem *p);
};

extern const struct gpu_solver gpu_bt, gpu_sp, gpu_lu, gpu_lu_resident;

/* For solvers: runs a kernel on all pieces of all zones of the batch, cut in way `cut`; `value` is
 * the kernel's last parameter. Puts it into the queue, in order. Where launches are timed it counts
 * as `phase`; NPBMZ_PHASES: as itself. */
evn_status gpu_launch(struct gpu *g, const char *kernel, enum npbmz_phase phase, int cut,
                      const void *value, size_t bytes);
/* One launch of groups that may wait for each other, as many as are resident or as there are
 * pieces: each processes the piece of its number, then others, as many further on as there are
 * groups. Between `work` and `zones` the kernel has a buffer of flags, evn_long, initially 0, of
 * its own. */
evn_status gpu_launch_resident(struct gpu *g, const char *kernel, enum npbmz_phase phase, int cut,
                               const void *value, size_t bytes);
/* For solvers: pieces of all zones; a number that is 1 and then one more each time. */
int gpu_pieces(const struct gpu *g, int cut);
evn_long gpu_number(struct gpu *g);
/* For solvers: the largest extents over the batch's zones. */
void gpu_extents(const struct gpu *g, int *nx, int *ny, int *nz);

/* One device's part of a benchmark: its kernels, built now, and its tables. Work goes into `queue`.
 * The device and the queue must outlive it. `max_work`: bytes of work space at most; batches that
 * need more are done in several parts, one after another. 0: no limit. */
evn_status gpu_open(struct gpu **out, const struct problem *p, const struct gpu_solver *solver,
                    evn_device *device, evn_queue *queue, size_t max_work);
void gpu_close(struct gpu *g);

/* The zones of the calls that follow: `count` zones with their numbers, and where the block of
 * each (zone_block()) begins in `field`, in bytes. Costs a comparison if nothing has changed since
 * the last call. EVN_MEMORY: one zone alone needs more work space than there may be. */
evn_status gpu_batch(struct gpu *g, evn_buffer *field, int count, const int *zone,
                     const size_t *at);

/* A time step up to the phases that read ghosts late, and these. */
evn_status gpu_step(struct gpu *g);
evn_status gpu_finish(struct gpu *g);

/* For steps of a loop for each phase: a zone's work space is where it is for any batch, from the
 * next one on. EVN_MEMORY: that of all zones is more than there may be. Then one phase of the
 * batch, from 0 on. */
evn_status gpu_keep(struct gpu *g);
evn_status gpu_phase(struct gpu *g, int phase);
evn_status gpu_prepare(struct gpu *g);

/* Enqueues the set-up of zones (start_gpu.h): their blocks, whatever they held, with the forcing;
 * then the initial state and the solver's derived data. */
evn_status gpu_force(struct gpu *g);
evn_status gpu_begin(struct gpu *g);

/* Norms and hashes of the batch's zones, computed on the device in an order of points that depends
 * on the zone's size alone; waits for them. Entry i is for the i-th zone of the batch. residual, if
 * asked for, is that of the state as it is (BT, SP) or z->r (LU). NULL: not wanted. */
evn_status gpu_norms(struct gpu *g, struct norms *norms, uint64_t *hash);
