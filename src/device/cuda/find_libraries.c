/* Folders in which NVIDIA's libraries may lie.
 *
 * A toolkit has them in lib64, which is a link to targets/x86_64-linux/lib, or, as packed by Conda
 * and by others, in lib. Python's packages have them in site-packages/nvidia/cuda_nvrtc/lib, and
 * since version 13 in nvidia/cu13/lib; Debian calls the folder of its own packages dist-packages.
 * Container runtimes put the driver into /usr/local/nvidia, Debian below nvidia/current.
 */
#include "device/cuda/find_libraries.h"
#include <stdio.h>
#include <stdlib.h>

struct folders *folders_of_compiler(void) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CONDA_PREFIX"};
    static const char *const roots[] = {"/usr/local/cuda{,-*}", "/opt/cuda", "/usr/lib/cuda"};
    static const char *const pythons[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    static const char toolkit[] = "/{lib64,lib,targets/*/lib}";
    static const char python[] =
        "/lib/python3*/{site,dist}-packages/nvidia/{cu[1-9]*,cuda_nvrtc}/lib";
    struct folders *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    folders_name(f, "{lib64,lib,targets/*/lib} of ");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        folders_add(f, secure_getenv(variables[i]), toolkit);
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) folders_add(f, roots[i], toolkit);
    folders_name(f, " or lib/python3*/{site,dist}-packages/nvidia/{cu[1-9]*,cuda_nvrtc}/lib of ");
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        folders_add(f, secure_getenv(pythons[i]), python);
    char own[PATH_MAX];
    const char *home = secure_getenv("HOME");
    snprintf(own, sizeof own, "%.3000s/.local", home ? home : "");
    if (home) folders_add(f, own, python);
    /* Debian's own interpreter has its packages in lib/python3 */
    folders_add(f, "/{usr,usr/local,opt/*}", python);
    return f;
}

struct folders *folders_of_driver(void) {
    static const char *const places[] = {"/usr/lib/wsl/lib",
                                         "/run/opengl-driver/lib",
                                         "/usr/local/nvidia/{lib64,lib}",
                                         "/usr/lib/*-linux-gnu/nvidia/current",
                                         "/usr/lib/*-linux-gnu",
                                         "/usr/lib64{/nvidia,}",
                                         "/usr/lib/nvidia{,-*}"};
    struct folders *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    folders_name(f, "");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) folders_add(f, places[i], "");
    return f;
}
