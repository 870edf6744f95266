/* Binding of threads to cores as the user wishes it, and where the system refuses it.
 *
 * Binding is advice: with `auto` everything runs without it, and one line says so. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>

/* End of messages about too few cores. */
#define BIND_SHARE                                                                                 \
    "share them: EVENER_OVERSUBSCRIBE=1 (--oversubscribe of the command, EVN_OVERSUBSCRIBE of a "  \
    "call)"

enum bind_wish {
    BIND_AUTO,  /* to cores that nobody else has claimed, where the system allows it */
    BIND_CORES, /* to a core each */
    BIND_UNIT,  /* to the cores of the unit */
    BIND_NONE   /* never */
};

/* Reads EVENER_BIND. EVN_USAGE. */
evn_status bind_read(enum bind_wish *out);

/* 1 if EVENER_BIND says none. */
int bind_never(void);

/* The system's reason not to let the calling thread be bound, as an errno; 0: it may be bound. The
 * thread's affinity stays as it is. */
int bind_refused(void);

/* Says once a process, on standard error, that threads run unbound and why. */
void bind_warn(int error);

/* Suppresses bind_warn()'s line: another process of this host prints it. */
void bind_be_silent(void);
