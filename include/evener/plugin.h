/* For tools: plug-ins, shared objects that are opened when they are first needed, so that the
 * executable need not be linked with a library such as an MPI. Each exports one struct of functions
 * that begins with its version.
 *
 * A plug-in is searched in this order; the first that is given ends the search:
 *
 *     1. the file that the caller names;
 *     2. the file that the environment variable names, or that folder;
 *     3. lib/evener and ../lib/evener beside the executable, and the configured folder.
 */
#ifndef EVENER_PLUGIN_H
#define EVENER_PLUGIN_H

#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_plugin {
    const char *what;     /* begins messages: "wire" */
    const char *variable; /* environment variable: "EVENER_WIRE" */
    const char *name;     /* file name: "evener-wire-mpich.so" */
    const char *symbol;   /* the struct's symbol, "evener_wire_v1" */
    unsigned version;     /* first member of the struct */
} evn_plugin;

/* Opens the plug-in, once, for the rest of the process: an initialised library cannot be unloaded.
 * *out: the struct; *library (may be NULL): dlopen()'s handle. `file`: the file to open, or NULL.
 * The symbols of the plug-in and its libraries are local. EVN_MISSING: no file, it cannot be
 * opened, or it has another version; evn_message() names the file or the places. */
evn_status evn_plugin_open(const void **out, void **library, const evn_plugin *plugin,
                           const char *file);

/* The library that the schedule `name` opens when it needs it (map: Scotch; optimal: COIN-OR CBC,
 * in a forked process): *library is its name, NULL: none; `text` (`size` bytes) receives its
 * version and file. EVN_MISSING: it cannot be used, and the message says why; EVN_USAGE,
 * EVN_MEMORY, EVN_SYSTEM. Any thread. */
evn_status evn_schedule_library(const char *name, const char **library, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
