/* Rigid planes, as a ground or planes of symmetry: a body's images behind them. Sound is even
 * across such a plane, so the unknowns are those of the body itself, which hears its images. */
#pragma once

#include <evener/status.h>

struct mesh;

/* Planes across some of the axes. Images are numbered from 1; 0 is what is itself. */
struct mirror {
    int axes; /* bit a: there is a plane across axis a; 0: no planes */
    double at[3];
    int side[3]; /* where the body is: 1 above it, -1 below */
};

/* `z=0` or `x=0,z=-1.5`; NULL: no planes. Sides are still open. EVN_USAGE. */
evn_status mirror_read(struct mirror *out, const char *text);

int mirror_images(const struct mirror *mirror);

/* The axes that an image is reflected along, as bits; and whether these are odd in number, so that
 * it turns round the other way. */
int mirror_flips(const struct mirror *mirror, int image);
int mirror_turns(const struct mirror *mirror, int image);

void mirror_point(const struct mirror *mirror, int image, const double x[3], double y[3]);

/* The axes whose planes a vertex of the mesh is on, as bits. */
static inline int mirror_on(const struct mirror *m, const double x[3]) {
    int on = 0;
    for (int a = 0; a < 3; a++) on |= (m->axes >> a & 1 && x[a] == m->at[a]) << a;
    return on;
}

/* The first axis behind whose plane a point is, by more than `rounding`; -1: none. */
int mirror_behind(const struct mirror *mirror, const double x[3], double rounding);

/* mesh_open_scaled() of a body on one side of planes. It may touch them: where it is open it must
 * end on a plane, within 1e-6 of its size, and what lies in one is left out. The mesh has the body
 * alone; it is checked with its images, and `longest` is the largest distance among all of them.
 * EVN_USAGE also: a body on both sides. */
evn_status mirror_open(struct mesh **out, const char *what, double scale,
                       const struct mirror *mirror);

/* The body and its images as one mesh, unchecked; vertices and triangles of the body come first,
 * and then those of each image in the same order, without the vertices on its planes. EVN_MEMORY.
 */
evn_status mirror_whole(struct mesh **out, const struct mesh *mesh);
