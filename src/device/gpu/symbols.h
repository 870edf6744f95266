/* Functions of a library that is opened at run time, from a table of api.h. */
#pragma once

#include "device/gpu/api.h"
#include <dlfcn.h>
#include <string.h>

struct symbol {
    size_t at; /* offset of the pointer in the struct that is filled */
    const char *name[GPU_SIDES];
    char need[GPU_SIDES][2]; /* R, O or N */
};

/* Fills the pointers of one side; the first required function that is absent, or NULL. */
static inline const char *symbols_fill(void *library, void *api, const struct symbol *symbol,
                                       int count, enum gpu_side side) {
    const char *absent = NULL;
    for (int i = 0; i < count; i++) {
        if (*symbol[i].need[side] == 'N') continue;
        void *found = dlsym(library, symbol[i].name[side]);
        memcpy((char *)api + symbol[i].at, &found, sizeof found);
        if (!found && !absent && *symbol[i].need[side] == 'R') absent = symbol[i].name[side];
    }
    return absent;
}
