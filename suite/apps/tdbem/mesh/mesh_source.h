/* A mesh file in memory while it is read, and what has been read of it: points, and polygons as
 * lists of their corners. Readers check the file's form; whether corners exist, what lies at one
 * place and how polygons become triangles is mended behind all of them (mesh_mend.h). */
#pragma once

#include "tdbem/mesh/mesh.h"
#include <stddef.h>

struct polygon {
    size_t first; /* its first one of the corners */
    int corners;
    long long label; /* its number in the file */
    size_t at;       /* where it is in the file */
    int part;        /* the part that it belongs to, -1: none */
};

struct source {
    const char *name;
    char *data; /* followed by a 0 */
    size_t size, at;
    int binary;       /* places are told in bytes, not in lines */
    int swap;         /* numbers in bytes are of the other byte order */
    const char *noun; /* of a polygon in messages; NULL: face */
    /* content read so far */
    double (*x)[3];
    struct polygon *polygon;
    int base;          /* the number of the first point, where points have no tags */
    long long *corner; /* points from `base` on, or their tags */
    long long *tag;    /* of each point; NULL: they have none */
    size_t points, polygons, corners, point_room, polygon_room, corner_room, tag_room;
    int apart;       /* no polygon has a point in common with another one, as in STL */
    size_t curved;   /* elements of second order */
    size_t solids;   /* elements with a volume, which are passed over */
    int parts, part; /* named parts, and the one that polygons come to now, from 1; 0: none */
    char (*part_name)[MESH_PART_NAME];
};

/* A file's content for `data`. EVN_SYSTEM, EVN_USAGE, EVN_MEMORY. */
evn_status source_load(struct source *s, const char *path);

/* EVN_USAGE with the name and where the source is now before the text */
evn_status source_bad(const struct source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Room for "line 12: " or "byte 99: ", where `at` is in the source. */
const char *source_place(const struct source *s, size_t at, char place[32]);

/* Reading text; 1 if there was one. Blanks and line ends before it are skipped. */
int source_number(struct source *s, double *value);
int source_integer(struct source *s, long long *value);
int source_word(struct source *s, char *word, size_t size); /* cut to size-1 */
/* 1 if nothing but blanks, and a comment after `comment`, is left on this line */
int source_line_ends(struct source *s, char comment);
void source_skip_line(struct source *s);
/* blanks, line ends and, if `comment` is not 0, comments */
void source_skip(struct source *s, char comment);

/* Reading bytes; 1 if there were as many. */
int source_bytes(struct source *s, void *to, size_t bytes);
static inline size_t source_left(const struct source *s) { return s->size - s->at; }

/* A type of numbers in bytes: 'i', 'u' or 'f', and how many bytes. */
struct scalar {
    char kind;
    int bytes;
};
/* One such number, at `data`. */
double scalar_value(const struct source *s, struct scalar type, const char *data);
/* The next one, from text or bytes; 1 if there was one. */
int source_scalar(struct source *s, struct scalar type, double *value);

/* A count that the rest of the file cannot hold is wrong: `bytes` is the least that one takes. */
int source_holds(const struct source *s, long long count, size_t bytes);

evn_status source_point(struct source *s, const double x[3]);
evn_status source_node(struct source *s, long long tag, const double x[3]);
/* Begins a polygon at `at`; and one more corner of the last one. */
evn_status source_polygon(struct source *s, long long label, size_t at);
evn_status source_corner(struct source *s, long long point);

/* Polygons that follow are of this part, which is new or has come before. */
evn_status source_part(struct source *s, const char *name);

/* A triangle or quadrangle of finite elements, first order or second: `nodes` is 3, 4, 6, 7, 8 or
 * 9, corners first and then nodes in the middle of edges in the same order, the middle last. One of
 * second order becomes flat parts between all of its nodes. */
evn_status source_element(struct source *s, long long label, int nodes, const long long *node);
