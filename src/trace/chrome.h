/* A trace of several loops: each is a process of the viewer, all on one axis of time. */
#ifndef TRACE_CHROME_H
#define TRACE_CHROME_H

#include <evener/loop.h>
#include <evener/status.h>
#include <stdio.h>

struct trace_file {
    FILE *out;
    int loops, flows; /* written so far */
};

/* Begins the trace; `about` stands in it for whoever looks. Whether all could be written is asked
 * of the stream at the end. */
void trace_begin(struct trace_file *file, FILE *out, const char *about);

/* Adds the bursts that a loop has kept. It is called `name`, and was opened `shift` seconds after
 * the trace's time began. EVN_MEMORY: then what was written is still a trace, without this loop or
 * part of it. */
evn_status trace_add(struct trace_file *file, const evn_loop *loop, const char *noun,
                     const char *name, double shift);

void trace_end(struct trace_file *file);

#endif
