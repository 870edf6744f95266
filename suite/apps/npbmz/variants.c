/* The list of variants; CMakeLists.txt makes those that it names. */
#include "npbmz/variants.h"
#include "npbmz/device/gpu.h"
#include <stddef.h>

extern const struct gpu_solver gpu_bt_rows2, gpu_bt_rows4, gpu_lu_chunk2, gpu_lu_once4,
    gpu_lu_groups3;

const struct npbmz_variant npbmz_variants[] = {
    {NPBMZ_BT, "3 rows a piece, as it is", NULL},
    {NPBMZ_BT, "2 rows a piece", &gpu_bt_rows2},
    {NPBMZ_BT, "4 rows a piece", &gpu_bt_rows4},
    {NPBMZ_LU, "4 steps a chunk, 2 at once, 4 groups, as it is", NULL},
    {NPBMZ_LU, "2 steps a chunk", &gpu_lu_chunk2},
    {NPBMZ_LU, "4 steps at once", &gpu_lu_once4},
    {NPBMZ_LU, "3 groups a multiprocessor", &gpu_lu_groups3},
    {NPBMZ_LU, "one launch a sweep, where the device can", &gpu_lu_resident},
    {NPBMZ_BT, NULL, NULL},
};
