/* A file that is on disk whole or not at all. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <stdio.h>

/* A file to be: written beside its place and renamed at the end, so that a failed run leaves an
 * earlier file whole. */
struct output {
    const char *path; /* "-": standard output */
    char *beside;
    int fd;
    FILE *stream;
};

/* Opens the file beside `path`; 0, or -1 after a message if it cannot be written there. path NULL
 * or "-": nothing to open. */
int output_open(struct output *o, const char *path);
/* A stream into it, for what is too long for one text; closed by commit or discard. NULL after a
 * message. */
FILE *output_stream(struct output *o);
/* Writes the text (NULL: no more than the stream has) and puts it in place; 0, or -1 after a
 * message. */
int output_commit(struct output *o, const char *text);
/* Leaves things as they were. */
void output_discard(struct output *o);

#endif
