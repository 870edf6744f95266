/* Control groups, versions 1 and 2: a group's limit holds for all groups in it, so limits are read
 * from the process's group and all enclosing ones, up to the mount point. */
#pragma once

#include <stdio.h>

/* Opens ROOT/folder/name, or ROOT/folder where `name` is empty; NULL: there is none. */
FILE *groups_open(const char *root, const char *folder, const char *name);

/* Calls look() for each of these groups in which `controller` ("memory", "cpu") may have limits,
 * from the innermost on, with its folder (below `root`) and its version; `root` is "" for the
 * system's files. */
void groups_each(const char *root, const char *controller,
                 void (*look)(const char *folder, int is_second, void *arg), void *arg);
