/* MPI's plug-ins: whether a launcher has started this process, which plug-in fits it, and whether
 * the one that was opened is of the same MPI as the launcher.
 */
#ifndef WIRE_PLUGIN_H
#define WIRE_PLUGIN_H

#include <evener/wire.h>

/* 1: a launcher has started this process (the environment has OMPI_COMM_WORLD_RANK, PMIX_RANK, or
 * PMI_RANK with PMI_FD); 0: none. SLURM_* alone is no sign, since a batch script's shell has it. */
int wire_plugin_detected(void);

/* What the launcher's variables say before a wire is open, as for a message that one rank prints;
 * -1: nothing. */
int wire_plugin_rank(void);
int wire_plugin_size(void);

/* Whether this process is the first of its host that the launcher has started, or nothing is known
 * of others. */
int wire_plugin_first(void);

/* Opens `file`, or (NULL) the plug-in that fits the launcher, as <evener/plugin.h> looks for it:
 * $EVENER_WIRE, beside the executable, the configured folder. *library is what dlopen() gave; it is
 * never closed. EVN_USAGE: no file is said and there is no launcher; EVN_MISSING: no plug-in, or
 * none that is one. */
evn_status wire_plugin_load(const char *file, const evn_wire_kind **kind, void **library);

/* Whether the open wire has the rank and size that the launcher's variables had when the plug-in
 * was loaded. Another MPI's plug-in makes of every process a group of its own, and says nothing; so
 * does a stray MPI_Comm_rank() in the program. EVN_MISSING. */
evn_status wire_plugin_check(const evn_wire_kind *kind, const evn_wire *wire);

#endif
