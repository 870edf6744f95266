/* How many equal pieces a team has to share in each phase of a zone. */
#include "common/simd/lanes.h"
#include "npbmz/npbmz.h"
#include "npbmz/problem.h"
#include "npbmz/run/run.h"

/* Lines along an axis go LANES at once: along x any, along y and z those through neighbours in i,
 * of which a row has (nx - 2) / LANES + 1 blocks. LU's sweeps share blocks of LANES rows. */
static int pieces(const struct zone *z, enum npbmz_phase phase) {
    const int blocks = (z->nx - 2) / LANES + 1;
    switch (phase) {
    case NPBMZ_X: return ((z->ny - 2) * (z->nz - 2) + LANES - 1) / LANES;
    case NPBMZ_Y: return blocks * (z->nz - 2);
    case NPBMZ_Z: return blocks * (z->ny - 2);
    case NPBMZ_LOWER:
    case NPBMZ_UPPER: return (z->ny - 2 + LANES - 1) / LANES;
    default: return z->nz - 2;
    }
}

int npbmz_phases(const npbmz *problem, int z, evn_phase *phase, int room) {
    const struct problem *p = npbmz_problem((npbmz *)problem);
    double total = 0;
    int n = 0;
    for (int i = 0; i < NPBMZ_PHASES && n < room; i++) {
        const double operations = npbmz_phase_cost(p->benchmark, i).operations;
        if (!(operations > 0)) continue;
        phase[n++] = (evn_phase){operations, pieces(&p->zone[z], i)};
        total += operations;
    }
    for (int i = 0; i < n; i++) phase[i].share /= total;
    return n;
}

int npbmz_loop(const npbmz *problem) {
    const struct problem *p = npbmz_problem((npbmz *)problem);
    return p->benchmark == NPBMZ_LU ? p->gy / p->yzones : p->gz;
}
