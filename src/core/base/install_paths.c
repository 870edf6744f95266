/* Paths of Evener's own files: beside the executable, or where it was installed. */
#include "base/install_paths.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void places_add(struct places *all, const char *folder, const char *name) {
    if (all->count == PLACES_MAX) return;
    char *to = all->path[all->count];
    const int length = snprintf(to, PLACES_PATH, "%s/%s", folder, name);
    if (length <= 0 || length >= PLACES_PATH) return;
    for (int i = 0; i < all->count; i++)
        if (!strcmp(all->path[i], to)) return;
    all->count++;
}

void places_add_beside(struct places *all, const char *file, const char *name) {
    char folder[PLACES_PATH - 32], place[PLACES_PATH];
    snprintf(folder, sizeof folder, "%s", file);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash) return;
        *slash = '\0';
        snprintf(place, sizeof place, "%s/lib/evener", folder);
        places_add(all, place, name);
    }
}

void places_add_usual(struct places *all, const char *name) {
    char file[PLACES_PATH - 32];
    const ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    if (length > 0) {
        file[length] = '\0';
        places_add_beside(all, file, name);
    }
    places_add(all, EVENER_PLUGINS, name);
}

void places_text(const struct places *all, char *text, int size) {
    for (int i = 0, n = (int)strlen(text); i < all->count && n < size; i++)
        n += snprintf(text + n, (size_t)(size - n), "%s%s",
                      !i                    ? ""
                      : i + 1 == all->count ? " or "
                                            : ", ",
                      all->path[i]);
}
