/* Reading text and bytes of a mesh file, and what has been read. */
#include "tdbem/mesh/mesh_source.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *source_place(const struct source *s, size_t at, char place[32]) {
    size_t line = 1;
    for (size_t i = 0; !s->binary && i < at && i < s->size; i++) line += s->data[i] == '\n';
    snprintf(place, 32, s->binary ? "byte %zu: " : "line %zu: ", s->binary ? at : line);
    return place;
}

evn_status source_bad(const struct source *s, const char *format, ...) {
    char text[512], place[32];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    return evn_fail(EVN_USAGE, "%s: %s%s", s->name, source_place(s, s->at, place), text);
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

double scalar_value(const struct source *s, struct scalar type, const char *data) {
    unsigned char byte[8] = {0};
    for (int i = 0; i < type.bytes; i++)
        byte[i] = (unsigned char)data[s->swap ? type.bytes - 1 - i : i];
    uint64_t bits;
    memcpy(&bits, byte, sizeof bits);
    if (type.kind == 'f') {
        float single;
        double value;
        memcpy(&single, byte, sizeof single);
        memcpy(&value, byte, sizeof value);
        return type.bytes == 4 ? (double)single : value;
    }
    if (type.kind == 'u') return (double)bits;
    const uint64_t sign = (uint64_t)1 << (8 * type.bytes - 1);
    return bits & sign ? -(double)((sign << 1) - bits) : (double)bits;
}

int source_scalar(struct source *s, struct scalar type, double *value) {
    if (!s->binary) return source_number(s, value);
    if (source_left(s) < (size_t)type.bytes) return 0;
    *value = scalar_value(s, type, s->data + s->at);
    s->at += (size_t)type.bytes;
    return 1;
}

int source_holds(const struct source *s, long long count, size_t bytes) {
    return count >= 0 && (unsigned long long)count <= source_left(s) / bytes;
}

static evn_status grow(const struct source *s, void *array, size_t size, size_t count,
                       size_t *room) {
    if (count >= INT_MAX / 4) return source_bad(s, "more points or corners than can be handled");
    if (count < *room) return EVN_OK;
    const size_t more = *room ? 2 * *room : 1024;
    void *moved = realloc(*(void **)array, more * size);
    if (!moved) return evn_fail(EVN_MEMORY, "%s: no memory for a mesh so large", s->name);
    *(void **)array = moved;
    *room = more;
    return EVN_OK;
}

evn_status source_point(struct source *s, const double x[3]) {
    evn_status status = grow(s, &s->x, sizeof *s->x, s->points, &s->point_room);
    if (!status) memcpy(s->x[s->points++], x, sizeof *s->x);
    return status;
}

evn_status source_node(struct source *s, long long tag, const double x[3]) {
    evn_status status = grow(s, &s->tag, sizeof *s->tag, s->points, &s->tag_room);
    if (!status) s->tag[s->points] = tag;
    return status ? status : source_point(s, x);
}

evn_status source_polygon(struct source *s, long long label, size_t at) {
    evn_status status = grow(s, &s->polygon, sizeof *s->polygon, s->polygons, &s->polygon_room);
    if (!status)
        s->polygon[s->polygons++] = (struct polygon){s->corners, 0, label, at, s->part - 1};
    return status;
}

evn_status source_corner(struct source *s, long long point) {
    evn_status status = grow(s, &s->corner, sizeof *s->corner, s->corners, &s->corner_room);
    if (status) return status;
    s->corner[s->corners++] = point;
    s->polygon[s->polygons - 1].corners++;
    return EVN_OK;
}

evn_status source_part(struct source *s, const char *name) {
    char cut[MESH_PART_NAME];
    snprintf(cut, sizeof cut, "%s", name);
    for (s->part = 1; s->part <= s->parts; s->part++)
        if (!strcmp(s->part_name[s->part - 1], cut)) return EVN_OK;
    enum { PARTS = 4096 }; /* nobody names so many; what follows has no part */
    if (s->parts == PARTS) s->part = 0;
    if (s->parts == PARTS) return EVN_OK;
    if (!(s->parts & (s->parts - 1))) {
        void *more = realloc(s->part_name, sizeof *s->part_name * (size_t)(2 * s->parts + 1));
        if (!more) return evn_fail(EVN_MEMORY, "%s: no memory for parts", s->name);
        s->part_name = more;
    }
    memcpy(s->part_name[s->parts++], cut, sizeof cut);
    return EVN_OK;
}

/* Parts between the nodes of an element, -1 ends a part that is a triangle. */
static const signed char parts3[][4] = {{0, 1, 2, -1}}, parts4[][4] = {{0, 1, 2, 3}},
                         parts6[][4] = {{0, 3, 5, -1}, {3, 1, 4, -1}, {5, 4, 2, -1}, {3, 4, 5, -1}},
                         parts7[][4] = {{0, 3, 6, 5}, {3, 1, 4, 6}, {6, 4, 2, 5}},
                         parts8[][4] = {{0, 4, 7, -1},
                                        {4, 1, 5, -1},
                                        {5, 2, 6, -1},
                                        {6, 3, 7, -1},
                                        {4, 5, 6, 7}},
                         parts9[][4] = {{0, 4, 8, 7}, {4, 1, 5, 8}, {8, 5, 2, 6}, {7, 8, 6, 3}};

evn_status source_element(struct source *s, long long label, int nodes, const long long *node) {
#define PARTS(of)                                                                                  \
    { of, sizeof of / sizeof *of }
    static const struct {
        const signed char (*part)[4];
        size_t count;
    } parts[] = {[3] = PARTS(parts3), [4] = PARTS(parts4), [6] = PARTS(parts6),
                 [7] = PARTS(parts7), [8] = PARTS(parts8), [9] = PARTS(parts9)};
#undef PARTS
    const size_t at = s->at;
    s->curved += nodes > 4;
    evn_status status = EVN_OK;
    for (size_t p = 0; p < parts[nodes].count && !status; p++) {
        status = source_polygon(s, label, at);
        for (int e = 0; e < 4 && !status; e++)
            if (parts[nodes].part[p][e] >= 0)
                status = source_corner(s, node[(int)parts[nodes].part[p][e]]);
    }
    return status;
}
