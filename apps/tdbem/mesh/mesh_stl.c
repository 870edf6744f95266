/* STL: triangles without common vertices, as text or as records of 50 bytes. Corners within 1e-6 of
 * the body's size are one vertex. A binary file may begin with "solid" too, so its length decides.
 */
#include "tdbem/mesh/mesh_source.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- merging: a table of cells, so that only corners nearby are compared ---- */

struct cells {
    double low[3], size, reach;
    int *head, *next; /* lists of vertices */
    size_t mask;
};

static size_t cell_slot(const struct cells *c, const int64_t at[3]) {
    uint64_t h = (uint64_t)at[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)at[1] * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)at[2] * 0x165667b19e3779f9u;
    return (size_t)(h ^ h >> 31) & c->mask;
}

/* the vertex within reach of x, or -1 */
static int cell_find(const struct cells *c, const double (*known)[3], const double x[3]) {
    int64_t from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = (int64_t)floor((x[k] - c->low[k] - c->reach) / c->size);
        to[k] = (int64_t)floor((x[k] - c->low[k] + c->reach) / c->size);
    }
    for (int64_t i = from[0]; i <= to[0]; i++)
        for (int64_t j = from[1]; j <= to[1]; j++)
            for (int64_t k = from[2]; k <= to[2]; k++)
                for (int v = c->head[cell_slot(c, (int64_t[3]){i, j, k})]; v >= 0; v = c->next[v]) {
                    double d2 = 0;
                    for (int a = 0; a < 3; a++) d2 += (known[v][a] - x[a]) * (known[v][a] - x[a]);
                    if (d2 <= c->reach * c->reach) return v;
                }
    return -1;
}

/* The source's vertices are three a triangle in order; replaces them by merged ones. */
static evn_status merge(struct source *s) {
    struct cells c = {.mask = 1};
    double high[3];
    for (size_t v = 0; v < s->vertices; v++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(s->x[v][k]) <= 1e100))
                return evn_fail(EVN_USAGE,
                                "%s: triangle %zu: coordinate %c of a corner is %g, expected a "
                                "number",
                                s->name, v / 3, "xyz"[k], s -> x[v][k]);
    if (!s->vertices) return evn_fail(EVN_USAGE, "%s: no triangles", s->name);
    for (int k = 0; k < 3; k++) {
        c.low[k] = high[k] = s->x[0][k];
        for (size_t v = 1; v < s->vertices; v++) {
            c.low[k] = fmin(c.low[k], s->x[v][k]);
            high[k] = fmax(high[k], s->x[v][k]);
        }
        c.size = fmax(c.size, high[k] - c.low[k]);
    }
    if (!(c.size > 0)) return evn_fail(EVN_USAGE, "%s: all corners are one point", s->name);
    c.reach = 1e-6 * c.size;
    c.size = 16 * c.reach;
    while (c.mask < 2 * s->vertices) c.mask *= 2;
    c.head = malloc(c.mask * sizeof *c.head);
    c.next = malloc(s->vertices * sizeof *c.next);
    if (!c.head || !c.next) {
        free(c.head);
        free(c.next);
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu corners", s->name, s->vertices);
    }
    for (size_t i = 0; i < c.mask; i++) c.head[i] = -1;
    c.mask--;
    int count = 0;
    evn_status status = EVN_OK;
    for (size_t t = 0; t < s->vertices / 3 && !status; t++) {
        int corner[3];
        for (int e = 0; e < 3; e++) {
            const double *x = s->x[3 * t + (size_t)e];
            int v = cell_find(&c, (const double(*)[3])s->x, x);
            if (v < 0) {
                int64_t at[3];
                for (int k = 0; k < 3; k++) at[k] = (int64_t)floor((x[k] - c.low[k]) / c.size);
                size_t slot = cell_slot(&c, at);
                v = count++;
                memmove(s->x[v], x, sizeof *s->x);
                c.next[v] = c.head[slot];
                c.head[slot] = v;
            }
            corner[e] = v;
        }
        status = source_triangle(s, corner[0], corner[1], corner[2]);
    }
    s->vertices = (size_t)count;
    free(c.head);
    free(c.next);
    return status;
}

/* ---- the two forms ---- */

static evn_status expect(struct source *s, const char *words, size_t facet) {
    while (*words) {
        char word[32];
        size_t n = strcspn(words, " ");
        size_t at = s->at;
        if (!source_word(s, word, sizeof word))
            return source_bad(s, "the file ends in facet %zu, expected \"%.*s\"", facet, (int)n,
                              words);
        if (strlen(word) != n || strncasecmp(word, words, n)) {
            s->at = at;
            source_skip(s, 0);
            return source_bad(s, "facet %zu: \"%s\", expected \"%.*s\"", facet, word, (int)n,
                              words);
        }
        words += n + (words[n] == ' ');
    }
    return EVN_OK;
}

static evn_status read_text(struct source *s) {
    evn_status status = EVN_OK;
    size_t facet = 0;
    int open = 0;
    while (!status) {
        char word[32];
        size_t at = s->at;
        if (!source_word(s, word, sizeof word)) {
            if (open)
                status = source_bad(s, "the file ends after facet %zu, expected endsolid", facet);
            break;
        }
        if (!strcasecmp(word, "solid") || !strcasecmp(word, "endsolid")) {
            open = !strcasecmp(word, "solid");
            source_skip_line(s); /* a name may follow */
        } else if (!strcasecmp(word, "facet")) {
            double ignored, x[3];
            status = expect(s, "normal", facet);
            for (int c = 0; c < 3 && !status; c++)
                if (!source_number(s, &ignored))
                    status = source_bad(s, "facet %zu: expected a normal, three numbers", facet);
            if (!status) status = expect(s, "outer loop", facet);
            for (int e = 0; e < 3 && !status; e++) {
                status = expect(s, "vertex", facet);
                for (int c = 0; c < 3 && !status; c++)
                    if (!source_number(s, &x[c]))
                        status = source_bad(s, "facet %zu: expected three coordinates", facet);
                if (!status) status = source_vertex(s, x);
            }
            if (!status) status = expect(s, "endloop endfacet", facet);
            facet++;
        } else {
            s->at = at;
            source_skip(s, 0);
            status = source_bad(s, "\"%s\": expected facet or endsolid", word);
        }
    }
    return status;
}

evn_status read_stl(struct source *s) {
    uint32_t count = 0;
    evn_status status = EVN_OK;
    if (s->size >= 84) memcpy(&count, s->data + 80, sizeof count);
    if (s->size >= 84 && s->size == 84 + 50 * (size_t)count) {
        s->at = 84;
        for (uint32_t t = 0; t < count && !status; t++) {
            float facet[12]; /* normal and corners; then two bytes of attributes */
            memcpy(facet, s->data + s->at, sizeof facet);
            s->at += 50;
            for (int e = 0; e < 3 && !status; e++) {
                double x[3];
                for (int c = 0; c < 3; c++) x[c] = (double)facet[3 + 3 * e + c];
                status = source_vertex(s, x);
            }
        }
    } else if (s->size >= 5 && !strncasecmp(s->data, "solid", 5)) {
        status = read_text(s);
    } else if (s->size >= 84) {
        return evn_fail(EVN_USAGE,
                        "%s: a binary STL of %u triangles has %zu bytes, and this one has %zu",
                        s->name, count, 84 + 50 * (size_t)count, s->size);
    } else {
        return evn_fail(EVN_USAGE, "%s: %zu bytes that do not begin with \"solid\" are no STL",
                        s->name, s->size);
    }
    return status ? status : merge(s);
}
