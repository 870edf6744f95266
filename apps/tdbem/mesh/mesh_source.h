/* A mesh file in memory while it is read, and the mesh that grows from it. */
#ifndef TDBEM_MESH_SOURCE_H
#define TDBEM_MESH_SOURCE_H

#include "tdbem/mesh/mesh.h"
#include <stddef.h>

struct source {
    const char *name;
    char *data; /* followed by a 0 */
    size_t size, at;
    /* content read so far */
    double (*x)[3];
    int (*corner)[3];
    size_t vertices, triangles, vertex_room, triangle_room;
};

/* EVN_USAGE with `name: line N: ` before the text, N where the source is now; for files of text */
evn_status source_bad(const struct source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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

evn_status source_vertex(struct source *s, const double x[3]);
evn_status source_triangle(struct source *s, int a, int b, int c);

/* the formats */
evn_status read_off(struct source *s);
evn_status read_obj(struct source *s);
evn_status read_stl(struct source *s);
evn_status read_msh(struct source *s);

#endif
