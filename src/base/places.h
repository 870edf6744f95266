/* Where files lie that belong to Evener: its plug-ins, its compiled kernels. */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

enum { PLACES_MAX = 5, PLACES_PATH = 1024 };

struct places {
    int count;
    char path[PLACES_MAX][PLACES_PATH];
};

/* Appends folder/name; nothing where that is too long for a path, or there already. */
void places_add(struct places *all, const char *folder, const char *name);

/* Appends lib/evener/name and ../lib/evener/name of the folder that `file` is in. */
void places_add_beside(struct places *all, const char *file, const char *name);

/* The same of the executable, and the folder that was configured. */
void places_add_usual(struct places *all, const char *name);

/* Appends " or " and commas between them to a message: the paths, as many as there is room for. */
void places_text(const struct places *all, char *text, int size);

#endif
