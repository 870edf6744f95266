/* Folders of ROCm's libraries beyond those of the loader. */
#pragma once

#include "device/gpu/folders.h"

/* The folders, to be freed; NULL: no memory. */
struct folders *folders_of_rocm(void);
