/* Shipped kernels: their folder, and their file names. */
#include "device/gpu/shipped.h"
#include "base/install_paths.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const shipped_targets[] = {"sm_80",       "sm_86",      "sm_89",  "sm_90",  "sm_100",
                                       "sm_120",      "gfx906",     "gfx90a", "gfx942", "gfx1100",
                                       "compute_120", "compute_80", NULL};

const char *shipped_portable(int architecture, int n) {
    for (int i = 0; shipped_targets[i]; i++) {
        int made_for = 0;
        if (sscanf(shipped_targets[i], "compute_%d", &made_for) == 1 && made_for <= architecture &&
            !n--)
            return shipped_targets[i];
    }
    return NULL;
}

struct cache_key shipped_key(const char *name, const char *text, const char *defines, int contract,
                             const char *target) {
    const char *part[] = {"shipped", target, contract ? "on" : "off", defines ? defines : "",
                          name,      text};
    return cache_key(part, sizeof part / sizeof *part);
}

int shipped_file(char *out, int size, const char *folder, struct cache_key key,
                 const char *target) {
    char hash[33];
    for (int i = 0; i < 16; i++) snprintf(hash + 2 * i, 3, "%02x", key.byte[i]);
    const int length = snprintf(out, (size_t)size, "%s/%s.%s", folder, hash, target);
    return length > 0 && length < size;
}

int shipped_folder(char *out, int size) {
    const char *own = secure_getenv("EVENER_KERNELS");
    struct places all = {0};
    struct stat about;
    Dl_info info;
    if (own && !*own) {
        snprintf(out, (size_t)size, "EVENER_KERNELS is empty");
        return 0;
    }
    if (own) {
        const int length = snprintf(all.path[0], PLACES_PATH, "%s", own);
        all.count = length < PLACES_PATH;
    } else {
        places_add_usual(&all, "kernels");
        if (dladdr(shipped_targets, &info) && info.dli_fname && info.dli_fname[0] == '/')
            places_add_beside(&all, info.dli_fname, "kernels");
    }
    for (int i = 0; i < all.count; i++)
        if (!stat(all.path[i], &about) && S_ISDIR(about.st_mode))
            return snprintf(out, (size_t)size, "%s", all.path[i]) < size;
    snprintf(out, (size_t)size, "there is no folder ");
    places_text(&all, out, size);
    return 0;
}

static void say_once(const char *file, const char *what) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said)) return;
    fprintf(stderr, "evener: device: the compiled kernels %s are %s and not used; copy them anew\n",
            file, what);
}

int shipped_read(struct cache_key key, const char *target, void **data, size_t *size) {
    char folder[PLACES_PATH], file[PLACES_PATH + 64];
    if (!shipped_folder(folder, sizeof folder) ||
        !shipped_file(file, sizeof file, folder, key, target))
        return 0;
    const int found = cache_read_file(file, key, data, size);
    if (found < 0) say_once(file, "damaged");
    return found > 0;
}

void shipped_refused(struct cache_key key, const char *target) {
    char folder[PLACES_PATH], file[PLACES_PATH + 64];
    if (shipped_folder(folder, sizeof folder) &&
        shipped_file(file, sizeof file, folder, key, target))
        say_once(file, "no program of a compiler");
}

int shipped_has(const char *target) {
    char folder[PLACES_PATH];
    DIR *list = shipped_folder(folder, sizeof folder) ? opendir(folder) : NULL;
    int found = 0;
    for (struct dirent *e; list && !found && (e = readdir(list));) {
        const char *dot = strchr(e->d_name, '.');
        for (int i = 0; dot == e->d_name + 32 && shipped_targets[i]; i++)
            found |= !strcmp(dot + 1, shipped_targets[i]) &&
                     (!target || !strcmp(target, shipped_targets[i]));
    }
    if (list) closedir(list);
    return found;
}
