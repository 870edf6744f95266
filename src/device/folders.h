/* Folders in which NVIDIA's libraries may lie where the loader does not look. */
#ifndef DEVICE_FOLDERS_H
#define DEVICE_FOLDERS_H

#include <limits.h>

enum { FOLDERS = 96 };

struct folders {
    int count;
    char path[FOLDERS][PATH_MAX]; /* each with a slash at its end; those that are there */
    char named[800];              /* all that were tried, for messages: "lib64 of /opt/cuda, .." */
    int is_first;                 /* the next that is named */
};

/* Of the run-time compiler: toolkits, those that the environment names first, and Python's
 * packages. To be freed; NULL: no memory. */
struct folders *folders_of_compiler(void);

/* Of the driver: WSL, NixOS, container runtimes, distributions. The same. */
struct folders *folders_of_driver(void);

#endif
