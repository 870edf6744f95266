/* Traces: what each unit did when, as a file that Perfetto and chrome://tracing open.
 *
 * One track a unit; a slice a task (or a batch that a body took as a whole), named after the task,
 * of category compute or exchange; a flow from the unit that had a task to the one that has it now,
 * wherever it migrated; and a counter of the units at work. The format is the JSON array of
 * Chrome's Trace Event Format.
 */
#ifndef EVENER_TRACE_H
#define EVENER_TRACE_H

#include <evener/loop.h>
#include <evener/status.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the bursts that the loop has kept (evn_loop_keep_bursts() says how many) to `out`; tasks
 * are called `noun`, as "zone". EVN_SYSTEM: it could not be written; EVN_MEMORY. */
evn_status evn_trace_write(const evn_loop *loop, const char *noun, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
