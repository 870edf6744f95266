/* A file's lines one by one, for formats in which a line means something. */
#pragma once

#include "tdbem/mesh/mesh_source.h"
#include <ctype.h>
#include <strings.h>
#include <string.h>

/* The next line without its end, cut to size - 1; 0 at the end of the file. */
static inline int line_next(struct source *s, char *line, size_t size) {
    if (!source_left(s)) return 0;
    const char *from = s->data + s->at;
    source_skip_line(s);
    size_t n = (size_t)(s->data + s->at - from);
    while (n && (from[n - 1] == '\n' || from[n - 1] == '\r')) n--;
    if (n >= size) n = size - 1;
    memcpy(line, from, n);
    line[n] = 0;
    return 1;
}

/* Blanks at both ends go. */
static inline char *trim(char *word) {
    while (isspace((unsigned char)*word)) word++;
    for (size_t n = strlen(word); n && isspace((unsigned char)word[n - 1]);) word[--n] = 0;
    return word;
}
