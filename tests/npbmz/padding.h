/* What may lie in a field beside its points: behind rows and planes, before and after the field. */
#pragma once

#include "npbmz/mesh/mesh.h"

/* Puts value(n) into the n-th double of the field, counted from its first point, where that is no
 * point. */
static inline void padding_fill(const struct zone *z, double *field, double (*value)(ptrdiff_t n)) {
    for (ptrdiff_t n = -ZONE_SLACK; n < NC * z->sc + ZONE_SLACK; n++) {
        const ptrdiff_t at = (n + z->sc) % z->sc;
        const int is_slack = n < 0 || n >= NC * z->sc;
        if (is_slack || at / z->sk >= z->nz || at % z->sk / z->sj >= z->ny ||
            at % z->sk % z->sj >= z->nx)
            field[n] = value(n);
    }
}
