/* The exchange as plainly as can be: each face copied value by value, from the description that the
 * library's exchange gets too. */
#pragma once

#include "npbmz/mesh/faces.h"
#include "npbmz/mesh/mesh.h"

/* Fills the ghosts of zone number `n`. */
static inline void copy_faces(const struct problem *p, int n) {
    evn_face face[4];
    zone_faces(p, n, face);
    for (int s = 0; s < 4; s++) {
        const evn_face *f = &face[s];
        const double *from = p->zone[f->from].u - ZONE_SLACK + f->from_at;
        double *to = p->zone[f->to].u - ZONE_SLACK + f->to_at;
        for (int a = 0; a < f->n[0]; a++)
            for (int b = 0; b < f->n[1]; b++)
                for (int c = 0; c < f->n[2]; c++)
                    to[a * f->to_stride[0] + b * f->to_stride[1] + c * f->to_stride[2]] =
                        from[a * f->from_stride[0] + b * f->from_stride[1] + c * f->from_stride[2]];
    }
}

/* Bytes that come to zone number `n`. */
static inline double faces_bytes(const struct problem *p, int n) {
    evn_face face[4];
    zone_faces(p, n, face);
    double bytes = 0;
    for (int s = 0; s < 4; s++)
        bytes += (double)sizeof(double) * face[s].n[0] * face[s].n[1] * face[s].n[2];
    return bytes;
}
