/* Norms, surface integral and hash of a batch's zones on a device: the kernels of gpu_norms().
 *
 * They are launched as a solver's kernels are, by gpu_launch(), so they must be among the kernels
 * of the struct gpu (norms_kernels), the zones be cut once more (norms_pieces), and each zone's
 * work space hold norms_work() doubles; it is the solver's own, of which nothing survives from one
 * step to the next.
 *
 * Where nothing is fused (EVENER_CONTRACT off) the results have the bits of those of norms.h on
 * this host; else they agree to 1e-13. They depend on the zone alone, not on the batch. Hashes are
 * those of zone_hash(), always.
 */
#pragma once

#include "npbmz/device/gpu.h"
#include "npbmz/host/norms.h"
#include "npbmz/device/norms.kernel.h"

extern const evn_kernel_source norms_kernels;

/* doubles of work space that a zone needs, and into how many pieces it is cut */
size_t norms_work(const struct problem *p, const struct zone *z);
int norms_pieces(const struct problem *p, const struct zone *z);

/* Puts what makes the norms, the hashes or both into the queue, for the `zones` zones that launches
 * are for now, cut in way `cut` of norms_pieces(). Afterwards the first zones * NORMS_RESULT
 * doubles of the work space hold the results, in order of zones; all else of it is undefined. Six
 * launches at most, whatever the number of zones. */
evn_status norms_launch(struct gpu *g, const struct problem *p, int zones, int cut, int norms,
                        int hashes);

/* Takes one zone's results apart. NULL: not wanted. */
void norms_of_result(const double result[NORMS_RESULT], struct norms *norms, uint64_t *hash);
