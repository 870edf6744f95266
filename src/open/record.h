/* The record of a program's loops. */
#ifndef OPEN_RECORD_H
#define OPEN_RECORD_H

#include <evener/loop.h>
#include <stdio.h>

/* A burst and whose it is; times are s since the session was opened. */
struct recorded_burst {
    evn_burst burst;
    int unit;
};

/* What a unit had in a loop at the end, and did in it. */
struct recorded_unit {
    int tasks;
    double weight;
    evn_unit_stats stats;
};

/* What a record says of a loop, kept beyond its end. */
struct recorded_loop {
    char *schedule;
    int tasks, units, ranks; /* units of all ranks */
    int *owner;
    double *task_s;
    struct recorded_unit *unit;
    evn_loop_totals totals;
    int bursts; /* the latest ones, each unit's in order */
    struct recorded_burst *burst;
};

/* Bursts of each unit that a record needs: those of two instances, and of other loops in that
 * time. */
int record_bursts_max(int tasks);

/* Takes down what a loop has done on this process's units, which was opened `opened` seconds after
 * the session. Over ranks without bursts: those of one would be half of the picture. EVN_MEMORY. */
evn_status record_take(struct recorded_loop *out, const evn_loop *loop, double opened);
void record_release(struct recorded_loop *loop);

/* What a record says of units and ranks. */
struct record_parts {
    const evn_cluster *cluster; /* NULL: alone */
    const evn_units *units;     /* of this process */
    char *unit, *device;        /* a line for each, of all ranks: record_describe() */
};

/* A line for each unit of this process, as it begins in a record, and for each of its devices; both
 * are to be freed, also after a failure. EVN_MEMORY. */
evn_status record_describe(const struct record_parts *parts, char **unit, char **device);

/* Writes the record. EVN_MEMORY. */
evn_status record_write(FILE *out, const struct recorded_loop *loop, int loops,
                        const struct record_parts *parts);

#endif
