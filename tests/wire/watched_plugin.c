/* The watched wire as a plug-in for a launcher's ranks: EVENER_WIRE is this, WATCHED the plug-in
 * that is watched. WATCHED_CHANGE=NAME,RUN,BYTES alters a message of rank 0 (watched.h says how;
 * BYTES is a face's). At the end each rank adds a line to the file WATCHED_SAYS. */
#include "wire/watched.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) evn_wire_kind evener_wire_v1;
static evn_status (*inner_open)(evn_wire **, int, const char *, const evn_wire_host *);
static void (*inner_close)(evn_wire *);

static struct watched_order order(void) {
    struct watched_order o = {0};
    char name[16] = "";
    const char *text = getenv("WATCHED_CHANGE");
    if (!text) return o;
    if (sscanf(text, "%15[a-z],%lld,%zu", name, &o.run, &o.face) != 3) abort();
    for (int i = 0; i < WATCHED_CHANGES; i++)
        if (!strcmp(name, watched_change_name[i])) o.change = (enum watched_change)i;
    if (!o.change) abort();
    return o;
}

static evn_status open_watched(evn_wire **out, int processes, const char *options,
                               const evn_wire_host *host) {
    const evn_status status = inner_open(out, processes, options, host);
    const struct watched_order o = order();
    if (!status) watched_begin(evener_wire_v1.rank(*out) ? NULL : &o);
    return status;
}

static void close_watched(evn_wire *wire) {
    int altered;
    const struct watched_counts c = watched_end(&altered);
    const char *name = getenv("WATCHED_SAYS");
    FILE *out = name ? fopen(name, "a") : NULL;
    if (out) {
        char line[200];
        const int length = snprintf(
            line, sizeof line, "%d %ld %ld %ld %.0f %ld %ld %ld %d\n", evener_wire_v1.rank(wire),
            c.messages[WATCHED_CONTROL], c.messages[WATCHED_MOVES], c.messages[WATCHED_FACES],
            c.bytes[WATCHED_FACES], c.late, c.excess, c.requests_max, altered);
        fwrite(line, 1, (size_t)length, out); /* one write: lines of ranks do not mix */
        fclose(out);
    }
    inner_close(wire);
}

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("WATCHED");
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    const evn_wire_kind *inner = library ? dlsym(library, "evener_wire_v1") : NULL;
    int (*requests)(void) = NULL;
    if (!inner) return; /* and the version is 0, which is refused */
    *(void **)&requests = dlsym(library, "evener_wire_requests");
    inner_open = inner->open;
    inner_close = inner->close;
    evener_wire_v1 = watched_kind(inner, requests);
    evener_wire_v1.open = open_watched;
    evener_wire_v1.close = close_watched;
}
