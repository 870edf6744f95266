/* Folders in which NVIDIA's libraries may lie.
 *
 * A toolkit has them in lib64, which is a link to targets/x86_64-linux/lib, or, as packed by Conda
 * and by others, in lib. Python's packages have them in site-packages/nvidia/cuda_nvrtc/lib, and
 * since version 13 in nvidia/cu13/lib; Debian calls the folder of its own packages dist-packages.
 * Container runtimes put the driver into /usr/local/nvidia, Debian below nvidia/current.
 */
#include "device/cuda/find_libraries.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends what the pattern matches, of several the last first, which is the latest version. */
static void add(struct folders *f, const char *pattern) {
    glob_t found = {0};
    if (!glob(pattern, GLOB_ONLYDIR | GLOB_BRACE, NULL, &found))
        for (size_t i = found.gl_pathc; i-- > 0 && f->count < FOLDERS;) {
            char *to = f->path[f->count];
            const int length = snprintf(to, PATH_MAX, "%s/", found.gl_pathv[i]);
            f->count += length > 0 && length < PATH_MAX;
        }
    globfree(&found);
}

/* Common name of the next places, for messages. */
static void name(struct folders *f, const char *what) {
    const size_t end = strlen(f->named);
    snprintf(f->named + end, sizeof f->named - end, "%s", what);
    f->is_first = 1;
}

/* Names a place in `named`, and appends the folders below it. */
static void add_named(struct folders *f, const char *root, const char *below) {
    char pattern[PATH_MAX];
    if (!root || *root != '/') return;
    const size_t end = strlen(f->named);
    snprintf(f->named + end, sizeof f->named - end, "%s%.200s", f->is_first ? "" : ", ", root);
    f->is_first = 0;
    const int length = snprintf(pattern, sizeof pattern, "%s%s", root, below);
    if (length > 0 && (size_t)length < sizeof pattern) add(f, pattern);
}

struct folders *folders_of_compiler(void) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CONDA_PREFIX"};
    static const char *const roots[] = {"/usr/local/cuda{,-*}", "/opt/cuda", "/usr/lib/cuda"};
    static const char *const pythons[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    static const char toolkit[] = "/{lib64,lib,targets/*/lib}";
    static const char python[] =
        "/lib/python3*/{site,dist}-packages/nvidia/{cu[1-9]*,cuda_nvrtc}/lib";
    struct folders *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    name(f, "{lib64,lib,targets/*/lib} of ");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        add_named(f, getenv(variables[i]), toolkit);
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) add_named(f, roots[i], toolkit);
    name(f, " or lib/python3*/{site,dist}-packages/nvidia/{cu[1-9]*,cuda_nvrtc}/lib of ");
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        add_named(f, getenv(pythons[i]), python);
    char own[PATH_MAX];
    const char *home = getenv("HOME");
    snprintf(own, sizeof own, "%.3000s/.local", home ? home : "");
    if (home) add_named(f, own, python);
    /* Debian's own interpreter has its packages in lib/python3 */
    add_named(f, "/{usr,usr/local,opt/*}", python);
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
    name(f, "");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) add_named(f, places[i], "");
    return f;
}
