/* OFF: counts, vertices, faces; numbers are separated by blanks and line ends alike. Where each
 * face has a line, colours may follow its corners. */
#include "tdbem/mesh/mesh_formats.h"
#include <ctype.h>
#include <limits.h>
#include <string.h>

static evn_status count(struct source *s, const char *of, long long *count) {
    source_skip(s, '#');
    if (!source_integer(s, count) || *count < 0 || *count > INT_MAX / 4)
        return source_bad(s, "expected the number of %s", of);
    return EVN_OK;
}

static evn_status face(struct source *s, long long f, long long faces) {
    long long corners, v;
    source_skip(s, '#');
    const size_t at = s->at;
    if (at >= s->size) return source_bad(s, "the file ends after %lld of %lld faces", f, faces);
    if (!source_integer(s, &corners) || corners < 3)
        return source_bad(s, "face %lld: expected a number of corners, 3 or more", f);
    evn_status status = source_polygon(s, f, at);
    for (long long c = 0; c < corners && !status; c++) {
        const size_t before = s->at;
        source_skip(s, '#');
        if (!source_integer(s, &v)) {
            s->at = before;
            return source_bad(s, "face %lld: expected %lld vertices, found %lld", f, corners, c);
        }
        status = source_corner(s, v);
    }
    source_skip_line(s); /* colours may follow */
    return status;
}

static evn_status vertex(struct source *s, long long v, long long vertices) {
    double x[3];
    for (int c = 0; c < 3; c++) {
        source_skip(s, '#');
        if (s->at >= s->size)
            return source_bad(s, "the file ends after %lld of %lld vertices", v, vertices);
        if (!source_number(s, &x[c]))
            return source_bad(s, "vertex %lld: expected three coordinates", v);
    }
    source_skip_line(s); /* colours and normals may follow */
    return source_point(s, x);
}

evn_status read_off(struct source *s) {
    char word[16];
    const size_t begin = s->at;
    source_skip(s, '#');
    size_t at = s->at;
    if (!source_word(s, word, sizeof word))
        return evn_fail(EVN_USAGE, "%s: the file is empty, expected OFF", s->name);
    const int extra = !strcmp(word, "COFF") || !strcmp(word, "NOFF") || !strcmp(word, "CNOFF");
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
    evn_status status = count(s, "vertices", &vertices);
    if (!status) status = count(s, "faces", &faces);
    if (!status && !source_line_ends(s, '#') && !source_integer(s, &edges))
        status = source_bad(s, "expected the number of edges");
    for (long long v = 0; v < vertices && !status; v++) status = vertex(s, v, vertices);
    for (long long f = 0; f < faces && !status; f++) status = face(s, f, faces);
    source_skip(s, '#');
    if (!status && s->at < s->size)
        status = source_bad(s, "more text after the last of %lld faces", faces);
    return status;
}
