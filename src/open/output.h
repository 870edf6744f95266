/* A file to be: on disk whole or not at all. */
#ifndef OPEN_OUTPUT_H
#define OPEN_OUTPUT_H

#include <evener/status.h>
#include <stdio.h>
#include <sys/types.h>

/* Until it is committed a file has no name, so that a program which is killed leaves nothing
 * behind. Begins as zeros: nothing is wanted. */
struct output {
    const char *name; /* of the variable that asked for it, for messages; NULL: nobody did */
    char *path;       /* as asked for */
    char *place;      /* the same from the root on, behind links; NULL: written into directly */
    mode_t mode;      /* of the file, if there is one; 0 */
    FILE *stream;     /* what is written so far */
    int failed;       /* something that belongs into it is lost: it is not put in its place */
};

/* Opens the output at `path`; - is standard output. EVN_SYSTEM: it cannot be written there. */
evn_status output_open(struct output *o, const char *name, const char *path);

/* Whether both would replace the same file. */
int output_same(const struct output *a, const struct output *b);

/* Puts what the stream has in its place, unless `failed` is set. EVN_SYSTEM: not all of it could be
 * written; then an earlier file is as it was. */
evn_status output_commit(struct output *o);

/* Releases it; what has not been committed is gone. */
void output_close(struct output *o);

#endif
