/* The host's side of norms.kernel.c: launches, and the meaning of results. */
#include "npbmz/device/norms_gpu.h"

#include "npbmz/host/exact.h"
#include "common/simd/lanes.h"
#include "npbmz/host/residual.h"
#include <string.h>

size_t norms_work(const struct problem *p, const struct zone *z) {
    (void)p;
    return (size_t)norms_at_line(z->nx, z->nz, EXACT_COLUMNS, norms_lines(z->ny, z->nz));
}

/* planes */
int norms_pieces(const struct problem *p, const struct zone *z) {
    (void)p;
    return z->nz;
}

evn_status norms_launch(struct gpu *g, const struct problem *p, int zones, int cut, int norms,
                        int hashes) {
    struct norms_value c;
    memset(&c, 0, sizeof c);
    residual_constants(&c.residual, p);
    memcpy(c.h, p->h, sizeof c.h);
    c.lu = p->benchmark == NPBMZ_LU;
    c.lanes = LANES;
    c.columns = EXACT_COLUMNS;
    c.zones = zones;
    c.norms = norms;
    c.hashes = hashes;

    const char *kernel[6];
    int kernels = 0;
    if (norms) {
        kernel[kernels++] = c.lu ? "norms_carried" : "norms_residual";
        kernel[kernels++] = "norms_error";
        if (c.lu) kernel[kernels++] = "norms_surface";
    }
    if (hashes) kernel[kernels++] = "norms_hash";
    if (!kernels) return EVN_OK;
    kernel[kernels++] = "norms_zone";
    kernel[kernels++] = "norms_collect";
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < kernels; i++)
        status = gpu_launch(g, kernel[i], NPBMZ_PHASES, cut, &c, sizeof c);
    return status;
}

void norms_of_result(const double result[NORMS_RESULT], struct norms *norms, uint64_t *hash) {
    if (norms) {
        memcpy(norms->residual, result + NORMS_RESIDUAL, sizeof norms->residual);
        memcpy(norms->error, result + NORMS_ERROR, sizeof norms->error);
        norms->surface = result[NORMS_SURFACE];
    }
    if (hash) *hash = ((uint64_t)result[NORMS_HASH] << 32) + (uint64_t)result[NORMS_HASH + 1];
}
