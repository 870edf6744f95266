/* The events of Chrome's Trace Event Format, as the files of a trace write them: of ranks, which
 * are processes there, and of tracks. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include "trace/chrome.h"
#include <evener/trace.h>

/* Where a loop's events go. */
struct events {
    struct trace_file *file;
    int pid;      /* of rank 0; the others' follow */
    double shift; /* what the loop's times lie behind the trace's, s */
};

/* A key and a length of time as the format has it, in microseconds. */
void events_us(const struct events *e, const char *key, double seconds);

/* The beginning of an event of a rank's track at this moment of the loop's. */
void events_begin(const struct events *e, const char *phase, int rank, int track, double when);

/* The names of a rank, and of one of its tracks, which stands at `place`. */
void events_process(const struct events *e, int rank, const char *name);
void events_track(const struct events *e, int rank, int track, int place, const char *name);

/* Messages between ranks, on tracks from `track` on; EVN_MEMORY. */
evn_status messages_write(const struct events *e, const evn_trace *of, int track);

#endif
