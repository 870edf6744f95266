/* Search for plug-ins; checks that a shared object is one. */
#include "base/argument.h"
#include "base/install_paths.h"
#include <evener/plugin.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int is_there(const char *path) {
    struct stat s;
    return stat(path, &s) == 0;
}

/* Opens a file as a plug-in. */
static evn_status open_file(const void **out, void **library, const evn_plugin *p,
                            const char *file) {
    struct stat s;
    if (stat(file, &s) || !S_ISREG(s.st_mode)) /* dlopen() would wait for a pipe's writer */
        return evn_fail(EVN_MISSING, "%s: there is no plug-in %s", p->what, file);
    char real[PATH_MAX]; /* a name without a slash would be searched for in the loader's folders */
    const char *path = realpath(file, real) ? real : file;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!object) {
        const char *error = dlerror();
        return evn_fail(EVN_MISSING, "%s: the plug-in %s cannot be opened: %.400s", p->what, file,
                        error ? error : "no reason is known");
    }
    const unsigned *version = dlsym(object, p->symbol);
    if (!version)
        return evn_fail(EVN_MISSING,
                        "%s: %s has no %s: it is another plug-in than %s, or one of another "
                        "version of Evener",
                        p->what, file, p->symbol, p->name);
    if (*version != p->version)
        return evn_fail(EVN_MISSING,
                        "%s: the plug-in %s is of version %u and version %u is needed; build it "
                        "from this Evener's source",
                        p->what, file, *version, p->version);
    *out = version;
    if (library) *library = object;
    return EVN_OK;
}

evn_status evn_plugin_open(const void **out, void **library, const evn_plugin *p,
                           const char *file) {
    NEED_OUT(out);
    NEED(p, "a plug-in");
    NEED(p->name, "the plug-in's file name");
    NEED(p->symbol, "the plug-in's symbol");
    if (library) *library = NULL;
    if (file) return open_file(out, library, p, file);
    struct places all = {0};
    const char *said = p->variable ? secure_getenv(p->variable) : NULL;
    if (said && !*said) said = NULL;
    if (said && !is_folder(said)) {
        evn_status status = open_file(out, library, p, said);
        return status ? evn_fail(status, "%s (which %s says)", evn_message(), p->variable) : EVN_OK;
    }
    if (said)
        places_add(&all, said, p->name);
    else
        places_add_usual(&all, p->name);
    for (int i = 0; i < all.count; i++)
        if (is_there(all.path[i])) return open_file(out, library, p, all.path[i]);
    char list[900] = "";
    places_text(&all, list, sizeof list);
    return evn_fail(EVN_MISSING, "%s: there is no plug-in %s", p->what, *list ? list : p->name);
}
