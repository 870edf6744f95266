/* Text files of users, line by line. A file may be anything (a folder, an endless device, binary
 * data), so lines and files have a largest size, and a line has no zero byte. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { LINE_BYTES = 1 << 16, LINES_BYTES = 1 << 26 }; /* most bytes of a line, and of a file */

struct lines {
    FILE *in;
    int number;   /* number of the current line, from 1 */
    size_t bytes; /* read so far */
    char text[LINE_BYTES + 1];
};

/* NULL after a message, which begins with `name` and a blank: "--units @nodes". */
struct lines *lines_open(const char *name, const char *path);
void lines_close(struct lines *lines);

/* The next line without its end; NULL at the file's end, or, with *code other than 0, after a
 * message that begins with `name`. */
char *lines_next(struct lines *lines, const char *name, int *code);
