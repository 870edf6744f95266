/* Paraver's files of several loops on one time axis: each loop's bursts are kept as it is closed,
 * and written at the end, since a .prv is in the order of time and begins with its length. */
#ifndef TRACE_PARAVER_H
#define TRACE_PARAVER_H

#include "trace/gathered.h"

/* A burst and the number of its loop. */
struct loop_burst {
    evn_burst is;
    int loop;
};

struct paraver_loops {
    int units, loops;
    struct kept_unit {
        int gpu, cores, bursts, room;
        struct loop_burst *burst;
    } * unit;
    char **name; /* of each loop */
};

/* Begins with the units that all loops have. EVN_MEMORY. */
evn_status paraver_begin(struct paraver_loops *all, const evn_units *units);

/* Keeps the bursts of a loop named `name`, opened `shift` seconds after the trace's time began. 48
 * bytes a burst. EVN_MEMORY: the trace is as before. */
evn_status paraver_add(struct paraver_loops *all, const evn_loop *loop, const char *name,
                       double shift);

/* Writes the files as evn_trace_put_paraver() does, with an event 90000004 beside the others: the
 * loop, counted from 1, which the .pcf names. */
evn_status paraver_put(struct paraver_loops *all, const char *noun, FILE *prv, FILE *pcf,
                       FILE *row);

void paraver_release(struct paraver_loops *all);

#endif
