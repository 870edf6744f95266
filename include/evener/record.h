/* For tools: the parts that all records share, those of sessions (<evener/open.h>) and of `evener
 * run`, each written as one JSON value with 17 digits a number (null where it is not finite).
 *
 * Arguments are not kept. Writing fails as `out` does: ask ferror(). */
#ifndef EVENER_RECORD_H
#define EVENER_RECORD_H

#include <evener/change.h>
#include <evener/device.h>
#include <evener/loop.h>
#include <evener/machine.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Links of tasks that a record has at most, 6 MB of text; of more, "links" is null. */
enum { EVN_RECORD_LINKS = 1 << 18 };

/* An entry of "units": a unit and what it did. */
typedef struct evn_recorded_unit {
    int id, rank;     /* rank -1: the program is alone, and neither rank nor host is written */
    const char *host; /* host of the unit's rank */
    int gpu;          /* 1: a GPU unit */
    int cores;
    const int *core;     /* numbers of the cores; those of -1, bound to none, are left out */
    const char *binding; /* binding of its threads (evn_unit_about()) */
    const char *device;  /* name of the first device; NULL: none */
    double taken;        /* share of time that other threads had its cores (evn_unit_taken()) */
    double speed;        /* speed that its schedule began with; 0: not known, left out */
    int tasks;           /* number of tasks owned at the end */
    double weight;       /* weight of these tasks */
    evn_unit_stats stats;
} evn_recorded_unit;
void evn_record_unit(FILE *out, const evn_recorded_unit *unit);

/* "transfers", with messages between `ranks` of them if there are several. */
void evn_record_transfers(FILE *out, const evn_loop_totals *totals, int ranks);

/* "changes": those of a loop's tasks (evn_loop_changed()), as a list; NULL if there are none. */
void evn_record_changes(FILE *out, const evn_changed *change, int changes);

/* "periods": seconds of instances and between them; and "median", with the other members of
 * evn_loop_median() in `median`. */
void evn_record_periods(FILE *out, double compute, double communication,
                        const evn_loop_medians *median);

/* An entry of "devices": its number, what it did, and times of its launches
 * (evn_device_phase_at()); phase NULL: these were not measured. */
void evn_record_device(FILE *out, int id, const evn_counts *counts, const evn_device_phase *phase,
                       int phases);

/* "machine". */
void evn_record_machine(FILE *out, const evn_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
