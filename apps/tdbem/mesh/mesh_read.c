/* Mesh files: which format a name means, reading text, and the two formats that are lists of
 * corners and polygons, OFF and OBJ. */
#include "tdbem/mesh/mesh_read.h"
#include "tdbem/mesh/mesh_source.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- text ---- */

evn_status source_bad(const struct source *s, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    size_t line = 1;
    for (size_t i = 0; i < s->at && i < s->size; i++) line += s->data[i] == '\n';
    return evn_fail(EVN_USAGE, "%s: line %zu: %s", s->name, line, text);
}

static int blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void source_skip(struct source *s, char comment) {
    for (;;) {
        while (s->at < s->size && (blank(s->data[s->at]) || s->data[s->at] == '\n')) s->at++;
        if (!comment || s->at >= s->size || s->data[s->at] != comment) return;
        source_skip_line(s);
    }
}

void source_skip_line(struct source *s) {
    const char *end = memchr(s->data + s->at, '\n', s->size - s->at);
    s->at = end ? (size_t)(end - s->data) + 1 : s->size;
}

int source_line_ends(struct source *s, char comment) {
    while (s->at < s->size && blank(s->data[s->at])) s->at++;
    return s->at >= s->size || s->data[s->at] == '\n' || (comment && s->data[s->at] == comment);
}

/* what strtod and strtoll took ends where a word does */
static int take(struct source *s, const char *end) {
    const size_t at = (size_t)(end - s->data);
    if (at == s->at || at > s->size) return 0;
    if (at < s->size && !blank(s->data[at]) && s->data[at] != '\n') return 0;
    s->at = at;
    return 1;
}

int source_number(struct source *s, double *value) {
    char *end;
    source_skip(s, 0);
    *value = strtod(s->data + s->at, &end);
    return take(s, end);
}

int source_integer(struct source *s, long long *value) {
    char *end;
    source_skip(s, 0);
    errno = 0;
    *value = strtoll(s->data + s->at, &end, 10);
    return !errno && take(s, end);
}

int source_word(struct source *s, char *word, size_t size) {
    size_t n = 0;
    source_skip(s, 0);
    while (s->at < s->size && !blank(s->data[s->at]) && s->data[s->at] != '\n') {
        if (n + 1 < size) word[n++] = s->data[s->at];
        s->at++;
    }
    word[n] = 0;
    return n > 0;
}

int source_bytes(struct source *s, void *to, size_t bytes) {
    if (source_left(s) < bytes) return 0;
    memcpy(to, s->data + s->at, bytes);
    s->at += bytes;
    return 1;
}

/* ---- the mesh that grows ---- */

static int grow(void *array, size_t size, size_t count, size_t *room) {
    if (count < *room) return 1;
    size_t more = *room ? 2 * *room : 1024;
    void *moved = realloc(*(void **)array, more * size);
    if (!moved) return 0;
    *(void **)array = moved;
    *room = more;
    return 1;
}

evn_status source_vertex(struct source *s, const double x[3]) {
    if (s->vertices >= INT_MAX / 4) return source_bad(s, "more vertices than can be handled");
    if (!grow(&s->x, sizeof *s->x, s->vertices, &s->vertex_room))
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu vertices", s->name, s->vertices);
    memcpy(s->x[s->vertices++], x, sizeof *s->x);
    return EVN_OK;
}

evn_status source_triangle(struct source *s, int a, int b, int c) {
    if (s->triangles >= INT_MAX / 4) return source_bad(s, "more triangles than can be handled");
    if (!grow(&s->corner, sizeof *s->corner, s->triangles, &s->triangle_room))
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu triangles", s->name, s->triangles);
    memcpy(s->corner[s->triangles++], (int[3]){a, b, c}, sizeof *s->corner);
    return EVN_OK;
}

/* ---- OFF: counts, vertices, polygons ---- */

static evn_status off_count(struct source *s, const char *of, long long *count) {
    source_skip(s, '#');
    if (!source_integer(s, count) || *count < 0 || *count > INT_MAX / 4)
        return source_bad(s, "expected the number of %s", of);
    return EVN_OK;
}

static evn_status off_polygon(struct source *s, long long f, long long faces) {
    long long corners, v[3];
    source_skip(s, '#');
    if (s->at >= s->size) return source_bad(s, "the file ends after %lld of %lld faces", f, faces);
    if (!source_integer(s, &corners) || corners < 3)
        return source_bad(s, "face %lld: expected a number of corners, 3 or more", f);
    evn_status status = EVN_OK;
    for (long long c = 0; c < corners && !status; c++) {
        if (source_line_ends(s, '#') || !source_integer(s, &v[c < 2 ? c : 2]))
            return source_bad(s, "face %lld: expected %lld vertices, found %lld", f, corners, c);
        long long last = v[c < 2 ? c : 2];
        if (last < 0 || last >= (long long)s->vertices)
            return source_bad(s, "face %lld: vertex %lld, but vertices are 0 to %zu", f, last,
                              s->vertices - 1);
        if (c < 2) continue;
        status = source_triangle(s, (int)v[0], (int)v[1], (int)v[2]);
        v[1] = v[2];
    }
    source_skip_line(s); /* colours may follow */
    return status;
}

evn_status read_off(struct source *s) {
    char word[16];
    size_t begin = s->at;
    source_skip(s, '#');
    size_t at = s->at;
    if (!source_word(s, word, sizeof word))
        return evn_fail(EVN_USAGE, "%s: the file is empty, expected OFF", s->name);
    int extra = !strcmp(word, "COFF") || !strcmp(word, "NOFF") || !strcmp(word, "CNOFF");
    if (strcmp(word, "OFF") && !extra) {
        if (!isdigit((unsigned char)word[0])) {
            s->at = begin;
            return source_bad(s, "\"%s\": expected OFF", word);
        }
        s->at = at; /* the word OFF may be left out */
    }
    at = s->at;
    if (source_word(s, word, sizeof word) && !strcmp(word, "BINARY"))
        return source_bad(s, "binary OFF is not read; expected text");
    s->at = at;
    long long vertices, faces, edges;
    evn_status status = off_count(s, "vertices", &vertices);
    if (!status) status = off_count(s, "faces", &faces);
    if (!status && !source_line_ends(s, '#') && !source_integer(s, &edges))
        status = source_bad(s, "expected the number of edges");
    for (long long v = 0; v < vertices && !status; v++) {
        double x[3];
        source_skip(s, '#');
        if (s->at >= s->size)
            return source_bad(s, "the file ends after %lld of %lld vertices", v, vertices);
        for (int c = 0; c < 3; c++)
            if (source_line_ends(s, '#') || !source_number(s, &x[c]))
                return source_bad(s, "vertex %lld: expected three coordinates", v);
        source_skip_line(s); /* colours and normals may follow */
        status = source_vertex(s, x);
    }
    for (long long f = 0; f < faces && !status; f++) status = off_polygon(s, f, faces);
    source_skip(s, '#');
    if (!status && s->at < s->size)
        status = source_bad(s, "more text after the last of %lld faces", faces);
    return status;
}

/* ---- OBJ: v and f lines ---- */

/* One corner, `5`, `5/1`, `5//2`, `-1`; the vertex is what counts. */
static evn_status obj_corner(struct source *s, int *vertex) {
    char word[64], *end;
    source_word(s, word, sizeof word);
    errno = 0;
    long number = strtol(word, &end, 10);
    if (errno || end == word || (*end && *end != '/') || number == 0)
        return source_bad(s, "face: \"%s\" is no corner, expected a vertex number, 1 or more",
                          word);
    if (number < 0) number += (long)s->vertices + 1;
    if (number < 1 || number > (long)INT_MAX / 4)
        return source_bad(s, "face: \"%s\" is no vertex; there are %zu so far", word, s->vertices);
    *vertex = (int)number - 1;
    return EVN_OK;
}

static evn_status obj_face(struct source *s) {
    int v[3], corners = 0;
    while (!source_line_ends(s, '#')) {
        evn_status status = obj_corner(s, &v[corners < 2 ? corners : 2]);
        if (status) return status;
        if (++corners < 3) continue;
        status = source_triangle(s, v[0], v[1], v[2]);
        if (status) return status;
        v[1] = v[2];
    }
    if (corners < 3) return source_bad(s, "face: %d corners, expected 3 or more", corners);
    return EVN_OK;
}

evn_status read_obj(struct source *s) {
    /* a backslash at the end of a line goes on with the next one */
    for (size_t i = 0; i + 1 < s->size; i++)
        if (s->data[i] == '\\' && (s->data[i + 1] == '\n' || s->data[i + 1] == '\r')) {
            s->data[i] = ' ';
            for (i++; i < s->size && s->data[i] == '\r'; i++) {
            }
            if (i < s->size && s->data[i] == '\n') s->data[i] = ' ';
        }
    evn_status status = EVN_OK;
    while (!status) {
        char word[16];
        source_skip(s, '#');
        if (!source_word(s, word, sizeof word)) break;
        if (!strcmp(word, "v")) {
            double x[3];
            for (int c = 0; c < 3; c++)
                if (source_line_ends(s, '#') || !source_number(s, &x[c]))
                    return source_bad(s, "vertex %zu: expected three coordinates", s->vertices);
            status = source_vertex(s, x);
        } else if (!strcmp(word, "f")) {
            status = obj_face(s);
        }
        if (!status) source_skip_line(s);
    }
    if (!status && !s->vertices)
        return evn_fail(EVN_USAGE, "%s: no vertices (lines that begin with v)", s->name);
    for (size_t t = 0; t < s->triangles && !status; t++)
        for (int e = 0; e < 3; e++)
            if ((size_t)s->corner[t][e] >= s->vertices)
                return evn_fail(EVN_USAGE, "%s: triangle %zu has vertex %d, but there are only %zu",
                                s->name, t, s->corner[t][e] + 1, s->vertices);
    return status;
}

/* ---- files ---- */

enum { FILE_BYTES = 1 << 30 };

static evn_status load(struct source *s) {
    FILE *file = fopen(s->name, "rb");
    if (!file) return evn_fail(EVN_SYSTEM, "%s: %s", s->name, strerror(errno));
    size_t room = 0;
    for (;;) {
        if (s->size > FILE_BYTES) {
            fclose(file);
            return evn_fail(EVN_USAGE, "%s: the file is larger than %d MiB; no mesh is", s->name,
                            FILE_BYTES >> 20);
        }
        if (s->size + 1 >= room) {
            room = room ? 2 * room : 65536;
            char *more = realloc(s->data, room);
            if (!more) {
                fclose(file);
                return evn_fail(EVN_MEMORY, "%s: no memory for the file", s->name);
            }
            s->data = more;
        }
        size_t n = fread(s->data + s->size, 1, room - 1 - s->size, file);
        if (!n) break;
        s->size += n;
    }
    int bad = ferror(file), reason = errno;
    fclose(file);
    if (bad) return evn_fail(EVN_SYSTEM, "%s: %s", s->name, strerror(reason));
    s->data[s->size] = 0;
    if (!s->size) return evn_fail(EVN_USAGE, "%s: the file is empty", s->name);
    return EVN_OK;
}

static const struct {
    const char *end;
    evn_status (*read)(struct source *s);
} formats[] = {{".msh", read_msh}, {".off", read_off}, {".stl", read_stl}, {".obj", read_obj}};

evn_status mesh_read(struct mesh **out, const char *file) {
    *out = NULL;
    evn_status (*reader)(struct source *) = NULL;
    const char *end = strrchr(file, '.');
    for (size_t f = 0; end && f < sizeof formats / sizeof *formats; f++)
        if (!strcasecmp(end, formats[f].end)) reader = formats[f].read;
    if (!reader)
        return evn_fail(EVN_USAGE,
                        "mesh: \"%s\": expected a file .msh, .off, .stl or .obj, or sphere:L, or "
                        "box:a,b,c,h",
                        file);
    struct source s = {.name = file};
    evn_status status = load(&s);
    if (!status) status = reader(&s);
    if (!status)
        status = mesh_new(out, (int)s.vertices, (const double(*)[3])s.x, (int)s.triangles,
                          (const int(*)[3])s.corner);
    free(s.data);
    free(s.x);
    free(s.corner);
    return status;
}
