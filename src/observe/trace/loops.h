/* A trace of several loops on one axis of time, of all ranks: bursts of each loop are kept as it is
 * closed, gathered at the end, and written as of one loop, by evn_trace_put() and
 * evn_trace_put_paraver(). */
#pragma once

#include <evener/trace.h>

/* Opens a trace of loops on `units`, whose time begins at `origin` (of evn_now()). Over ranks,
 * where `cluster` is not NULL, it is collective and keeps messages as evn_trace_open() does. Errors
 * as of evn_trace_open(). */
evn_status trace_open_loops(evn_trace **out, const evn_units *units, evn_cluster *cluster,
                            double origin, int messages);

/* Keeps the bursts of a loop named `name`, 40 bytes each. On all ranks in the same order.
 * EVN_MEMORY: the trace is as before. */
evn_status trace_add_loop(evn_trace *trace, const evn_loop *loop, const char *name);
