/* Folders in which a vendor's libraries may lie, beyond those of the loader. */
#pragma once

#include <limits.h>

enum { FOLDERS = 96 };

struct folders {
    int count;
    char path[FOLDERS][PATH_MAX]; /* existing folders, each with a slash at its end */
    char named[800];              /* all candidates, for messages: "lib64 of /opt/cuda, .." */
    int is_first;                 /* 1: the next candidate is the first in `named` */
};

/* Common name of the next places, for messages. */
void folders_name(struct folders *f, const char *what);

/* Names a place in `named`, and appends the folders below it, of several that match the last first,
 * which is the latest version. Nothing where `root` is NULL or no absolute path. */
void folders_add(struct folders *f, const char *root, const char *below);
