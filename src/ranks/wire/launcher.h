/* MPI's plug-ins: detection of a launcher, the choice of a plug-in, and the check that it belongs
 * to the launcher's MPI. */
#pragma once

#include <evener/wire.h>

/* 1: a launcher has started this process, the innermost of several (OMPI_COMM_WORLD_RANK,
 * PMIX_RANK, or PMI_RANK with a PMI_FD that is an open socket); 0: none. SLURM_* alone does not
 * count, since a batch script's shell has it. */
int wire_plugin_detected(void);

/* Rank and size by the launcher's variables, before a wire is open; -1: not known. */
int wire_plugin_rank(void);
int wire_plugin_size(void);

/* Number of processes of this host by the launcher's variables; -1: not known. */
int wire_plugin_near(void);

/* 1 if this process is the first of its host by the launcher's variables, or nothing is known. */
int wire_plugin_first(void);

/* Opens `file`, or (NULL) the plug-in for the launcher, in the places of <evener/plugin.h>:
 * $EVENER_WIRE, beside the executable, the configured folder. *library: dlopen()'s handle, never
 * closed. EVN_USAGE: no file and no launcher; EVN_MISSING: no plug-in, or not one. */
evn_status wire_plugin_load(const char *file, const evn_wire_kind **kind, void **library);

/* Finds the plug-in for a program with an MPI of its own, of which it gives a communicator.
 * EVN_MISSING: no shared library of an MPI is in the process, it is another one, or there is no
 * plug-in for it. */
evn_status wire_plugin_load_own(const evn_wire_kind **kind, void **library);

/* Checks that the open wire has the launcher's rank and size. The plug-in of another MPI makes each
 * process a group of its own, silently; so does a stray MPI_Comm_rank() in the program.
 * EVN_MISSING. */
evn_status wire_plugin_check(const evn_wire_kind *kind, const evn_wire *wire);
