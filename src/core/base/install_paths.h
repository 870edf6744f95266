/* Folders of Evener's own files: plug-ins and compiled kernels. */
#pragma once

enum { PLACES_MAX = 5, PLACES_PATH = 1024 };

struct places {
    int count;
    char path[PLACES_MAX][PLACES_PATH];
};

/* Appends folder/name, unless it is too long or in the list already. */
void places_add(struct places *all, const char *folder, const char *name);

/* Appends lib/evener/name and ../lib/evener/name, relative to the folder of `file`. */
void places_add_beside(struct places *all, const char *file, const char *name);

/* Appends the folders beside the executable, and the configured folder. */
void places_add_usual(struct places *all, const char *name);

/* Appends the paths to a message, separated by commas and " or ", as many as fit. */
void places_text(const struct places *all, char *text, int size);
