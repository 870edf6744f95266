/* Plug-ins: shared objects that hold what an executable should not be linked with, as an MPI, and
 * that are opened when they are first needed. Each holds one struct of functions that begins with
 * its version.
 *
 * A plug-in is looked for in these places, and in the first that is given no further one is:
 *     the file that the caller names;
 *     the file that the environment names, or that folder;
 *     lib/evener and ../lib/evener beside the executable, and the folder that was configured.
 */
#ifndef EVENER_PLUGIN_H
#define EVENER_PLUGIN_H

#include <evener/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_plugin {
    const char *what;     /* begins messages: "wire" */
    const char *variable; /* of the environment: "EVENER_WIRE" */
    const char *name;     /* of the file: "evener-wire-mpich.so" */
    const char *symbol;   /* of the struct: "evener_wire_v1"; its first member is an unsigned, */
    unsigned version;     /* and this */
} evn_plugin;

/* Opens it, once for good: a library that has been initialised is not taken away again. *out is the
 * struct, *library (may be NULL) what dlopen() gave. `file`: this one, or NULL. Names of the
 * plug-in and of what it is linked with are seen by nobody else. EVN_MISSING: there is none, it
 * cannot be opened, or it is not of this version; evn_message() names file or places. */
evn_status evn_plugin_open(const void **out, void **library, const evn_plugin *plugin,
                           const char *file);

#ifdef __cplusplus
}
#endif
#endif
