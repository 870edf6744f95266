/* Folders of NVIDIA's libraries beyond those of the loader. */
#ifndef DEVICE_CUDA_FIND_LIBRARIES_H
#define DEVICE_CUDA_FIND_LIBRARIES_H

#include <limits.h>

enum { FOLDERS = 96 };

struct folders {
    int count;
    char path[FOLDERS][PATH_MAX]; /* existing folders, each with a slash at its end */
    char named[800];              /* all candidates, for messages: "lib64 of /opt/cuda, .." */
    int is_first;                 /* 1: the next candidate is the first in `named` */
};

/* Folders of the run-time compiler: toolkits (those in the environment first), Python's packages.
 * To be freed; NULL: no memory. */
struct folders *folders_of_compiler(void);

/* Folders of the driver: WSL, NixOS, container runtimes, distributions. To be freed; NULL: no
 * memory. */
struct folders *folders_of_driver(void);

#endif
