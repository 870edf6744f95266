/* Traces: what each unit did when, as a file that Perfetto and chrome://tracing open.
 *
 * - One track a unit, and one below it for its copy queue, if that has bursts.
 * - A slice a task (or a batch that a body took as a whole), named after the task, of the burst's
 *   category (compute, exchange, ..); its argument is the instance of the loop.
 * - A flow from the unit that had a task to the one that has it now, wherever it migrated.
 * - Counters: units at work, and the bytes that cross between units while an exchange lasts, by the
 *   schedule's links and the owners that the bursts tell. Where they do not tell, as for batches of
 *   scattered tasks, there is no number.
 *
 * The format is Chrome's Trace Event Format, as a JSON object.
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
