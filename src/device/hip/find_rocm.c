/* Folders in which ROCm's libraries may lie: those that the environment names, AMD's own packages
 * in /opt/rocm, of several versions side by side in /opt/rocm-N, and Python's packages. */
#include "device/hip/find_rocm.h"
#include <stdio.h>
#include <stdlib.h>

struct folders *folders_of_rocm(void) {
    static const char *const variables[] = {"ROCM_PATH", "ROCM_HOME", "HIP_PATH", "CONDA_PREFIX"};
    static const char *const pythons[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    static const char libraries[] = "/{lib,lib64}";
    static const char python[] =
        "/lib/python3*/{site,dist}-packages/{_rocm_sdk_core/lib,torch/lib}";
    struct folders *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    folders_name(f, "{lib,lib64} of ");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        folders_add(f, secure_getenv(variables[i]), libraries);
    folders_add(f, "/opt/rocm{,-*}", libraries);
    folders_add(f, "/usr/lib/*-linux-gnu", "");
    folders_name(f, " or lib/python3*/{site,dist}-packages/_rocm_sdk_core/lib of ");
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        folders_add(f, secure_getenv(pythons[i]), python);
    char own[PATH_MAX];
    const char *home = secure_getenv("HOME");
    snprintf(own, sizeof own, "%.3000s/.local", home ? home : "");
    if (home) folders_add(f, own, python);
    return f;
}
