/* Folders of ROCm's libraries beyond those of the loader. */
#ifndef DEVICE_HIP_FIND_ROCM_H
#define DEVICE_HIP_FIND_ROCM_H

#include "device/gpu/folders.h"

/* The folders, to be freed; NULL: no memory. */
struct folders *folders_of_rocm(void);

#endif
