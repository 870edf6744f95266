/* Wires from shared objects, where this build has none: what kinds.c asks. */
#ifndef WIRE_PLUGIN_NONE_H
#define WIRE_PLUGIN_NONE_H

#include <evener/wire.h>

/* Whether a launcher (mpirun, srun) has started this process. */
int wire_plugin_detected(void);
/* The rank that the launcher says; -1: none. */
int wire_plugin_rank(void);
/* The kind in `file`, NULL: in that which fits the launcher, and the opened library. EVN_MISSING.
 */
evn_status wire_plugin_load(const char *file, const evn_wire_kind **kind, void **library);
/* Whether rank and size are those that the launcher says. EVN_SYSTEM. */
evn_status wire_plugin_check(const evn_wire_kind *kind, const evn_wire *wire);

#endif
