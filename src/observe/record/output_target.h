/* Target of an output: folder and name behind links, or a descriptor that is written into directly.
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

enum {
    OUTPUT_NAME = 32,     /* room for a name of output_fresh() */
    OUTPUT_REPLACED = -2, /* see output_direct() */
    OUTPUT_NO_READER = -3,
};

/* Target of a rename. `folder` is an open descriptor, so that renaming a parent folder does not
 * matter. */
struct output_place {
    int folder;
    char *base;  /* the file's name in the folder */
    int earlier; /* 1: there is a file, of this mode and these owners */
    mode_t mode;
    uid_t owner;
    gid_t group;
};

/* The descriptor that a path names, 1 for -; negative: it names none. */
int output_descriptor(const char *path);

/* Opens a target that is written into directly: standard output and error by any name, devices,
 * pipes. OUTPUT_REPLACED: an ordinary file; OUTPUT_NO_READER: a pipe without a reader; -1: errno.
 */
int output_direct(const char *path, struct stat *there);

/* Follows links to the target and checks that it can be replaced; -1 with errno. Close it in any
 * case. */
int output_place_find(struct output_place *place, const char *path);
void output_place_close(struct output_place *place);

/* Opens a nameless file in an open folder; *linked: it can be given a name. -1 with errno. */
int output_unnamed(int folder, mode_t mode, int *linked);

/* Creates a file with a fresh name; -1 with errno. */
int output_fresh(int folder, char name[OUTPUT_NAME], mode_t mode);

/* Gives a nameless file this name, or a fresh one; -1 with errno. */
int output_link(int fd, int folder, const char *name);
int output_link_fresh(int fd, int folder, char name[OUTPUT_NAME]);

/* 1 if both paths lead to the same file or pipe, or would. */
int output_same(const char *path, const char *other);
