/* Folders of NVIDIA's libraries beyond those of the loader. */
#pragma once

#include "device/gpu/folders.h"

/* Folders of the run-time compiler: toolkits (those in the environment first), Python's packages.
 * To be freed; NULL: no memory. */
struct folders *folders_of_compiler(void);

/* Folders of the driver: WSL, NixOS, container runtimes, distributions. To be freed; NULL: no
 * memory. */
struct folders *folders_of_driver(void);
