/* MG of the NAS Parallel Benchmarks: V-cycles of multigrid for a Poisson equation on a periodic
 * cube (Bailey et al., RNR-94-007, section 3.3; classes, figures and protocol of NPB 3.4).
 *
 * A task is MG_PLANES planes of the finest level, and what lies under them on the two levels below;
 * the levels from there on are one thread's. docs/mg.md says why. */
#ifndef MG_MG_H
#define MG_MG_H

#include "common/run.h"
#include "mg/grid.h"
#include "mg/rows.h"
#include <evener/schedule.h>

enum { MG_PLANES = 4, MG_SHARED = 3 }; /* planes a task; levels that are the tasks' */
enum { MG_LEAST = 16, MG_MOST = 1 << GRID_LEVELS };

typedef struct mg mg;

/* A class, S W A B C D E or F; EVN_USAGE: no such class; EVN_MEMORY. Allocates no grid yet. */
evn_status mg_open_class(mg **out, char class_);

/* n points a side, a power of two from MG_LEAST to MG_MOST, and smoother 'a' or 'b'. EVN_USAGE,
 * EVN_MEMORY. */
evn_status mg_open_size(mg **out, long n, char smoother);
void mg_close(mg *problem);

typedef struct mg_shape {
    char class_; /* 0: a size of its own, which has no official figures */
    int n, steps;
    char smoother;
    double bytes; /* of all levels */
    double mop;   /* nominal operations of a step, in millions: 58 a point */
} mg_shape;
mg_shape mg_describe(const mg *problem);

/* Tasks and links: weights in points of the finest level, and between neighbours, periodic, the
 * four planes that a sweep reads beyond its own. The arrays belong to `problem`. */
evn_problem mg_tasks(const mg *problem);

/* Where the time of a run goes, as the calling thread sees it. */
enum mg_phase { MG_FIRST, MG_FINEST, MG_EDGES, MG_MIDDLE, MG_COARSE, MG_PHASES };
const char *mg_phase_name(enum mg_phase phase);

typedef struct mg_result {
    struct run_result run; /* hash: of the finest level's u, point by point in order */
    double norm;           /* of the last residual, sqrt(sum r^2 / n^3) */
    double first_norm;     /* of the first */
    double phase_s[MG_PHASES];
} mg_result;

/* Runs it: charges, a warm-up step, a fresh start, the timed steps with the residual's norm before
 * and after them, verification. CPU units only. The schedule must have been made for these tasks
 * and units. EVN_MEMORY: it does not fit (says how much is needed and how much there is); EVN_BODY,
 * EVN_STOPPED, EVN_SYSTEM. On failure *result holds nothing to be freed. */
evn_status mg_run(mg *problem, evn_units *units, evn_schedule *schedule,
                  const struct run_options *options, mg_result *result);
void mg_result_free(mg_result *result);

/* The official norm of a class; 0: there is none. */
double mg_official(const mg *problem);

#endif
