/* OBJ: lines of v and f, and parts: those of g lines, or of usemtl where there are none; anything
 * else is passed over. */
#include "tdbem/mesh/mesh_formats.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* One corner, `5`, `5/1`, `5//2`, `-1`; the vertex is what counts. */
static evn_status corner(struct source *s) {
    char word[64], *end;
    source_word(s, word, sizeof word);
    errno = 0;
    long number = strtol(word, &end, 10);
    if (errno || end == word || (*end && *end != '/') || number == 0)
        return source_bad(s, "face: \"%s\" is no corner, expected a vertex number, 1 or more",
                          word);
    if (number < 0) number += (long)s->points + 1;
    if (number < 1 || number > (long)INT_MAX / 4)
        return source_bad(s, "face: \"%s\" is no vertex; there are %zu so far", word, s->points);
    return source_corner(s, number);
}

static evn_status face(struct source *s, size_t at) {
    evn_status status = source_polygon(s, (long long)s->polygons, at);
    while (!status && !source_line_ends(s, '#')) status = corner(s);
    if (status) return status;
    const int corners = s->polygon[s->polygons - 1].corners;
    if (corners < 3) return source_bad(s, "face: %d corners, expected 3 or more", corners);
    return EVN_OK;
}

/* A backslash at the end of a line goes on with the next one. */
static void join_lines(struct source *s) {
    for (size_t i = 0; i + 1 < s->size; i++)
        if (s->data[i] == '\\' && (s->data[i + 1] == '\n' || s->data[i + 1] == '\r')) {
            s->data[i] = ' ';
            for (i++; i < s->size && s->data[i] == '\r'; i++) {
            }
            if (i < s->size && s->data[i] == '\n') s->data[i] = ' ';
        }
}

static int has_groups(const struct source *s) {
    for (const char *g = s->data; (g = strchr(g, 'g')); g++)
        if ((g == s->data || g[-1] == '\n' || g[-1] == '\r') && (g[1] == ' ' || g[1] == '\t'))
            return 1;
    return 0;
}

evn_status read_obj(struct source *s) {
    s->base = 1;
    join_lines(s);
    const char *of_part = has_groups(s) ? "g" : "usemtl";
    evn_status status = EVN_OK;
    while (!status) {
        char word[16];
        source_skip(s, '#');
        const size_t at = s->at;
        if (!source_word(s, word, sizeof word)) break;
        if (!strcmp(word, "v")) {
            double x[3];
            for (int c = 0; c < 3; c++)
                if (source_line_ends(s, '#') || !source_number(s, &x[c]))
                    return source_bad(s, "vertex %zu: expected three coordinates", s->points);
            status = source_point(s, x);
        } else if (!strcmp(word, "f")) {
            status = face(s, at);
        } else if (!strcmp(word, of_part)) {
            char name[MESH_PART_NAME] = "default";
            if (!source_line_ends(s, '#')) source_word(s, name, sizeof name);
            status = source_part(s, name);
        }
        if (!status) source_skip_line(s);
    }
    if (!status && !s->points)
        return evn_fail(EVN_USAGE, "%s: no vertices (lines that begin with v)", s->name);
    return status;
}
