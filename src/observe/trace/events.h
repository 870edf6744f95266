/* Events of Chrome's Trace Event Format, for the files of a trace: ranks (processes there) and
 * tracks. */
#pragma once

#include "trace/chrome.h"
#include <evener/trace.h>

/* Destination of a loop's events. */
struct events {
    struct trace_file *file;
    int pid;      /* process id of rank 0; other ranks' follow */
    double shift; /* offset of the loop's times in the trace, s */
};

/* Writes a key and a duration, in microseconds. */
void events_us(const struct events *e, const char *key, double seconds);

/* Begins an event on a rank's track at this time of the loop. */
void events_begin(const struct events *e, const char *phase, int rank, int track, double when);

/* Name a rank, and one of its tracks, which is at position `place`. */
void events_process(const struct events *e, int rank, const char *name);
void events_track(const struct events *e, int rank, int track, int place, const char *name);

/* Messages between ranks, on tracks from `track` on; EVN_MEMORY. */
evn_status messages_write(const struct events *e, const evn_trace *of, int track);
