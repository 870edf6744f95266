/* A trace of several loops: each is a process of the viewer, all on one time axis. */
#pragma once

#include <evener/loop.h>
#include <evener/status.h>
#include <stdio.h>

struct trace_file {
    FILE *out;
    int loops, flows; /* written so far */
};

/* Begins the trace; `about` is a text for its readers. Write errors are checked on the stream at
 * the end. */
void trace_begin(struct trace_file *file, FILE *out, const char *about);

/* Adds the bursts of a loop named `name`, opened `shift` seconds after the trace's time began.
 * EVN_MEMORY: the trace stays valid, without this loop or part of it. */
evn_status trace_add(struct trace_file *file, const evn_loop *loop, const char *noun,
                     const char *name, double shift);

void trace_end(struct trace_file *file);
