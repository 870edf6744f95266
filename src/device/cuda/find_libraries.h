/* Folders of NVIDIA's libraries beyond those of the loader. */
#ifndef DEVICE_CUDA_FIND_LIBRARIES_H
#define DEVICE_CUDA_FIND_LIBRARIES_H

#include "device/gpu/folders.h"

/* Folders of the run-time compiler: toolkits (those in the environment first), Python's packages.
 * To be freed; NULL: no memory. */
struct folders *folders_of_compiler(void);

/* Folders of the driver: WSL, NixOS, container runtimes, distributions. To be freed; NULL: no
 * memory. */
struct folders *folders_of_driver(void);

#endif
