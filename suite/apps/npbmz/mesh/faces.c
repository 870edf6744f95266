/* The four faces of a zone as blocks of memory; the copying itself is the library's exchange. */
#include "npbmz/mesh/faces.h"

#include "npbmz/mesh/mesh.h"

/* x faces run along j, y faces along i: what is contiguous, or nearly, is last. */
void zone_faces(const struct problem *p, int n, evn_face face[4]) {
    const struct zone *z = &p->zone[n];
    const int from[4] = {z->west, z->east, z->south, z->north};
    for (int side = 0; side < 4; side++) {
        const struct zone *a = &p->zone[from[side]];
        const int along_y = side >= 2, high = side % 2;
        evn_face *f = &face[side];
        *f = (evn_face){.from = from[side],
                        .to = n,
                        .from_stride = {a->sc, a->sk, along_y ? 1 : a->sj},
                        .to_stride = {z->sc, z->sk, along_y ? 1 : z->sj},
                        .n = {NC, z->nz - 2, (along_y ? z->nx : z->ny) - 2}};
        /* the neighbour's interior plane next to the side, and this zone's ghost plane */
        int give = high ? 1 : (along_y ? a->ny : a->nx) - 2;
        int take = high ? (along_y ? z->ny : z->nx) - 1 : 0;
        f->from_at = ZONE_SLACK + (along_y ? zone_at(a, 1, give, 1) : zone_at(a, give, 1, 1));
        f->to_at = ZONE_SLACK + (along_y ? zone_at(z, 1, take, 1) : zone_at(z, take, 1, 1));
    }
}
