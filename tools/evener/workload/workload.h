/* The workload: what run and plan have in common. An application and its class, the units, the
 * schedule. */
#ifndef TOOL_WORKLOAD_H
#define TOOL_WORKLOAD_H

#include "npbmz/npbmz.h"
#include <evener.h>

/* As the user names it; options_read() fills it. */
struct workload_names {
    const char *app, *class_, *units, *devices, *schedule, *speeds;
    int oversubscribe;
    long steps;     /* of the loop to come; -1: the class's own */
    int calibrated; /* take speeds from evener calibrate where there are some */
};

struct workload {
    evn_machine *machine;
    npbmz *problem;
    npbmz_shape shape;
    evn_units *units;
    evn_problem tasks;
    double *speed;        /* of each unit */
    char units_text[512]; /* with cores reassigned */
    evn_schedule *schedule;
};

/* Opens all of it; `flags` are those of evn_units_open(). Returns 0, or an exit status after a
 * message. Close it in any case. */
int workload_open(struct workload *w, const struct workload_names *names, unsigned flags);
void workload_close(struct workload *w);

/* Cores of all units together. */
int workload_threads(const struct workload *w);

#endif
