/* The record of a program's loops. */
#pragma once

#include <evener/change.h>
#include <evener/loop.h>
#include <stdio.h>

/* A burst and its unit; times are s since the session was opened. */
struct recorded_burst {
    evn_burst burst;
    int unit;
};

/* A unit's tasks at the end of a loop, and its statistics. */
struct recorded_unit {
    int tasks;
    double weight;
    evn_unit_stats stats;
};

/* A loop's part of the record, kept after the loop is closed. */
struct recorded_loop {
    char *name; /* NULL: none was given */
    char *schedule;
    int tasks, units, ranks; /* units of all ranks */
    int *owner;
    double *task_s, *weight;
    double *bytes; /* of each task's regions; NULL: not known */
    evn_link *link;
    int links;
    struct recorded_unit *unit;
    evn_loop_totals totals;
    evn_loop_medians median;
    int changes; /* number of changes of tasks */
    evn_changed *change;
    int bursts; /* the latest bursts, each unit's in order */
    struct recorded_burst *burst;
};

/* Number of bursts of each unit that a record needs: those of two instances, and of other loops in
 * that time. */
int record_bursts_max(int tasks);

/* Copies a loop's results on this process's units; the loop was opened `opened` seconds after the
 * session. Over ranks without bursts, since those of one rank would be incomplete. EVN_MEMORY. */
evn_status record_take(struct recorded_loop *out, const evn_loop *loop, double opened);
void record_release(struct recorded_loop *loop);

/* Units and ranks of a record. */
struct record_parts {
    const evn_cluster *cluster; /* NULL: one process */
    const evn_units *units;     /* units of this process */
    char *unit, *device;        /* a line for each, on all ranks: record_describe() */
};

/* Makes the lines of this process's units and devices, as they begin in a record; both to be freed,
 * also after a failure. EVN_MEMORY. */
evn_status record_describe(const struct record_parts *parts, char **unit, char **device);

/* Writes the record. EVN_MEMORY. */
evn_status record_write(FILE *out, const struct recorded_loop *loop, int loops,
                        const struct record_parts *parts);
