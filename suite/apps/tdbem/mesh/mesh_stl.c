/* STL: triangles without common vertices, as text or as records of 50 bytes. A binary file may
 * begin with "solid" too, so its length decides. */
#include "tdbem/mesh/mesh_formats.h"
#include <stdint.h>
#include <string.h>
#include <strings.h>

static evn_status corner(struct source *s, const double x[3]) {
    evn_status status = source_point(s, x);
    return status ? status : source_corner(s, (long long)s->points - 1);
}

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
        source_skip(s, 0);
        const size_t at = s->at;
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
            if (!status) status = source_polygon(s, (long long)facet, at);
            for (int e = 0; e < 3 && !status; e++) {
                status = expect(s, "vertex", facet);
                for (int c = 0; c < 3 && !status; c++)
                    if (!source_number(s, &x[c]))
                        status = source_bad(s, "facet %zu: expected three coordinates", facet);
                if (!status) status = corner(s, x);
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
    s->noun = "facet";
    s->apart = 1;
    evn_status status = EVN_OK;
    if (s->size >= 84) memcpy(&count, s->data + 80, sizeof count);
    if (s->size >= 84 && s->size == 84 + 50 * (size_t)count) {
        s->at = 84;
        s->binary = 1;
        for (uint32_t t = 0; t < count && !status; t++) {
            float facet[12]; /* normal and corners; then two bytes of attributes */
            memcpy(facet, s->data + s->at, sizeof facet);
            status = source_polygon(s, t, s->at);
            s->at += 50;
            for (int e = 0; e < 3 && !status; e++) {
                double x[3];
                for (int c = 0; c < 3; c++) x[c] = (double)facet[3 + 3 * e + c];
                status = corner(s, x);
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
    return status;
}
