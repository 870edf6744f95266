/* The scatterer's surface: closed, oriented, made of flat triangles.
 *
 *     struct mesh *mesh;
 *     if (mesh_open(&mesh, "body.msh")) return complain(evn_message());
 *     mesh_renumber(mesh, NUMBERING_HILBERT);
 *     ...
 *     mesh_close(mesh);
 *
 * A mesh that mesh_open() or mesh_check() accepted is closed, manifold, without degenerate or
 * double triangles, each component oriented with its normals into the air. Lengths are in the
 * file's unit.
 */
#pragma once

#include "tdbem/mesh/mesh_mirror.h"
#include <evener/status.h>
#include <evener/program.h>

enum { MESH_PART_NAME = 64 }; /* bytes of a part's name, which is cut to them */

struct mesh {
    int vertices, triangles;
    double (*x)[3];
    int (*corner)[3];   /* vertices of each triangle, counter-clockwise seen from the air; triangles
                           stay in the file's order, whatever the numbering of the vertices */
    int *number;        /* number[v]: the vertex's number in the file, from 0 (a tag-numbered format
                           counts in the order of its list of vertices; STL as they first appear) */
    int numbers, *same; /* of each of the file's vertices: the number of the one it was merged with,
                           its own if with none; NULL: none was */
    int parts;          /* parts of the surface that the file has names for */
    char (*part_name)[MESH_PART_NAME];
    int *part; /* of each triangle: its part, -1: none; NULL without parts */
    int components;
    int cavities; /* of these: holes in another one, sealed off */
    double volume, area;
    double h_min, h_mean, h_max; /* lengths of edges */
    double longest;              /* largest distance of two vertices, of images too */
    struct mirror mirror;        /* planes that the body has images behind */
    int dropped;                 /* vertices of the file that no triangle uses */
    int flipped;                 /* triangles whose orientation was turned */
    char note[1024];             /* repairs and warnings, one line; "" for none */
};

/* Reads, mends and checks. `what` is a file (.msh Gmsh 2 and 4.x, .off, .stl, .obj, .ply, .vtk,
 * .vtu, .vtp, .unv I-DEAS, .bdf .nas Nastran, .inp Abaqus; text or bytes where the format has
 * both), NumCalc's folder of an object, or a generated body: `sphere:L` (icosphere, L times
 * refined, vertices on the unit sphere, 10*4^L+2 of them), `box:a,b,c,h` (0..a x 0..b x 0..c, edges
 * about h), `aircraft:N` (of cubes, N edges from nose to tail, which are 1 apart). EVN_USAGE: bad
 * file or mesh; the message names the first offending element. EVN_SYSTEM: the file cannot be read.
 * EVN_MEMORY. */
evn_status mesh_open(struct mesh **out, const char *what);
/* mesh_open() with coordinates times `scale`. */
evn_status mesh_open_scaled(struct mesh **out, const char *what, double scale);
void mesh_close(struct mesh *mesh);

/* A copy of the given vertices and triangles, unchecked; number[v] = v. NULL: to be filled in. */
evn_status mesh_new(struct mesh **out, int vertices, const double (*x)[3], int triangles,
                    const int (*corner)[3]);

/* The parts of mesh_open_scaled(): reading; vertices and triangles one by one, dropping vertices
 * that no triangle uses; mesh_check() that keeps the note of these; `longest` alone. */
evn_status mesh_load(struct mesh **out, const char *what, double scale);
evn_status mesh_drop_unused(struct mesh *mesh, const char *name);
evn_status mesh_check_read(struct mesh *mesh, const char *name);
evn_status mesh_measure_longest(struct mesh *mesh);

/* Drops vertices that no triangle uses, orients, checks and measures, as mesh_open() does; `name`
 * begins the messages. Triangles are numbered from 0 in messages, vertices as in `number`. */
evn_status mesh_check(struct mesh *mesh, const char *name);

/* One more repair or warning for the note. */
void mesh_note(struct mesh *mesh, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 64-bit hash of vertices' coordinates and triangles (in the present numbering). */
unsigned long long mesh_hash(const struct mesh *mesh);

/* The corners of the smallest box around the vertices. */
void mesh_bounds(const struct mesh *mesh, double low[3], double high[3]);

/* Unit normal of a triangle into the air, and its area. */
double mesh_normal(const struct mesh *mesh, int triangle, double normal[3]);

/* 1 if a point is inside of the solid or of an image (by solid angle), else 0; and its distance to
 * these surfaces if `distance` is not NULL. */
int mesh_inside(const struct mesh *mesh, const double x[3], double *distance);

/* present[f]: the present number of the file's vertex f or of the one it was merged with, -1 where
 * no triangle uses it; `count` long, to be freed by the caller. */
evn_status mesh_present(const struct mesh *mesh, int **present, int *count);
