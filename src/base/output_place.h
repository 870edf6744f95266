/* Where an output goes: the folder and name behind links, or a place that is written into. */
#ifndef BASE_OUTPUT_PLACE_H
#define BASE_OUTPUT_PLACE_H

#include <sys/stat.h>
#include <sys/types.h>

enum {
    OUTPUT_NAME = 32,     /* room for a name of output_fresh() */
    OUTPUT_REPLACED = -2, /* see output_direct() */
    OUTPUT_NO_READER = -3,
};

/* A place for a file to be renamed to. `folder` is open, so that nothing moves it. */
struct output_place {
    int folder;
    char *base;  /* its name there */
    int earlier; /* there is a file, of this mode and these owners */
    mode_t mode;
    uid_t owner;
    gid_t group;
};

/* The number that a path of a descriptor has, 1 for -; negative: it is another path. */
int output_descriptor(const char *path);

/* Opens what is written into where it is: standard output and error by whatever name, devices,
 * pipes. OUTPUT_REPLACED: it is none of these; OUTPUT_NO_READER: of a pipe; -1: errno. */
int output_direct(const char *path, struct stat *there);

/* Finds the place behind links and whether it can be replaced; -1 with errno. Closed in any case.
 */
int output_place_find(struct output_place *place, const char *path);
void output_place_close(struct output_place *place);

/* A file without a name in an open folder; *linked: it can be given one. -1 with errno. */
int output_unnamed(int folder, mode_t mode, int *linked);

/* A new file with a name that nothing has; -1 with errno. */
int output_fresh(int folder, char name[OUTPUT_NAME], mode_t mode);

/* Gives an unnamed file this name, or one that nothing has; -1 with errno. */
int output_link(int fd, int folder, const char *name);
int output_link_fresh(int fd, int folder, char name[OUTPUT_NAME]);

/* Whether both paths lead to the same file or pipe, or would. */
int output_same(const char *path, const char *other);

#endif
