/* Control groups, version 1 and 2: a group's limit holds for all groups in it, so that limits are
 * asked of the process's own group and of all around it, up to where their file system is mounted.
 */
#ifndef MACHINE_GROUPS_H
#define MACHINE_GROUPS_H

#include <stdio.h>

/* Opens ROOT/folder/name, or ROOT/folder where `name` is empty; NULL: there is none. */
FILE *groups_open(const char *root, const char *folder, const char *name);

/* Calls look() for each of these groups that `controller` ("memory", "cpu") may have limits in,
 * from the inside out, with its folder (below `root`) and its version; `root` is "" for the
 * system's own files. */
void groups_each(const char *root, const char *controller,
                 void (*look)(const char *folder, int is_second, void *arg), void *arg);

#endif
