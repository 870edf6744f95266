/* NPB-MZ's checkpoint: of each zone u with its ghosts, and LU's residual, in the order component,
 * k, j, i, without padding. The forcing is computed again. */
#include "npbmz/mesh/mesh.h"
#include "npbmz/run/run.h"
#include <string.h>

static const struct zone *zone_of(const void *run, int z) {
    return &((const struct run *)run)->p->zone[z];
}

static size_t doubles(const void *arg, int i, int step) {
    const struct run *run = arg;
    const struct zone *z = zone_of(run, i);
    const size_t fields =
        run->p->benchmark == NPBMZ_LU ? 2 : 1; /* LU's state is u and the residual */
    (void)step;
    return fields * NC * (size_t)z->nx * (size_t)z->ny * (size_t)z->nz;
}

/* Row number `row` of a zone: lines along i, as they lie in a file. */
static double *row_at(const struct zone *z, size_t row) {
    const size_t ny = (size_t)z->ny, nz = (size_t)z->nz, plane = row / ny, m = plane / nz;
    double *field = m < NC ? z->u : z->r;
    return field + (ptrdiff_t)(m % NC) * z->sc + zone_at(z, 0, (int)(row % ny), (int)(plane % nz));
}

static void pack(const void *run, int i, size_t from, size_t count, double *to) {
    const struct zone *z = zone_of(run, i);
    for (const size_t nx = (size_t)z->nx; count;) {
        const size_t x = from % nx, some = nx - x < count ? nx - x : count;
        memcpy(to, row_at(z, from / nx) + x, some * sizeof *to);
        to += some;
        from += some;
        count -= some;
    }
}

static void unpack(void *run, int i, size_t from, size_t count, const double *data) {
    const struct zone *z = zone_of(run, i);
    for (const size_t nx = (size_t)z->nx; count;) {
        const size_t x = from % nx, some = nx - x < count ? nx - x : count;
        memcpy(row_at(z, from / nx) + x, data, some * sizeof *data);
        data += some;
        from += some;
        count -= some;
    }
}

static evn_status hold(void *arg, int z, evn_access access) {
    struct run *run = arg;
    return run->place ? evn_place_acquire(run->place, 1, &run->region[z], EVN_HOST, access)
                      : EVN_OK;
}

static void release(void *arg, int z) {
    struct run *run = arg;
    if (run->place) evn_place_release(run->place, 1, &run->region[z], EVN_HOST);
}

const struct state_kind run_state = {.name = "NPB-MZ",
                                     .magic = "EVNMZ\0\0\1",
                                     .part = "zone",
                                     .doubles = doubles,
                                     .pack = pack,
                                     .unpack = unpack,
                                     .hold = hold,
                                     .release = release};
