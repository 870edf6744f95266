/* Search for a library among its names, and for its functions. */
#include "base/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens `file`, which must have all functions; else the reason. *is_there: the file is a library,
 * though not a usable one. */
static int try(const struct library *l, const char *file, void **call, char *why, size_t size,
               int *is_there) {
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *is_there = object != NULL;
    if (!object) {
        const char *error = dlerror();
        snprintf(why, size, "%.300s", error ? error : file);
        return 0;
    }
    for (int i = 0; l->calls[i]; i++)
        if (!(call[i] = dlsym(object, l->calls[i]))) {
            snprintf(why, size, "%.200s has no %s", file, l->calls[i]);
            return 0;
        }
    char text[128];
    const char *refused = l->refuse ? l->refuse(call, text, sizeof text) : NULL;
    if (refused) snprintf(why, size, "%.200s %s", file, refused);
    return !refused;
}

evn_status library_open(const struct library *l, void **call, char *file, size_t size) {
    const char *named = l->variable ? secure_getenv(l->variable) : NULL;
    char why[400] = "", reason[400] = "";
    int is_there, seen = 0;
    if (named && *named) {
        snprintf(file, size, "%s", named);
        if (try(l, named, call, why, sizeof why, &is_there)) return EVN_OK;
        return evn_fail(EVN_MISSING, "%s, and %s=\"%.200s\" cannot be used: %s", l->need,
                        l->variable, named, why);
    }
    for (int i = 0; l->names[i]; i++) {
        if (try(l, l->names[i], call, why, sizeof why, &is_there)) {
            snprintf(file, size, "%s", l->names[i]);
            return EVN_OK;
        }
        /* the reason of a library that exists is more helpful */
        if (!*reason || (is_there && !seen)) memcpy(reason, why, sizeof reason);
        seen |= is_there;
    }
    return evn_fail(EVN_MISSING, "%s: %s; %s", l->need, reason, l->install);
}
