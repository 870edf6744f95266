/* NPB-MZ: the multi-zone NAS Parallel Benchmarks BT-MZ, SP-MZ and LU-MZ on compute units.
 *
 * This header is what a program that runs them needs. Each benchmark solves a discretised
 * Navier-Stokes problem on a mesh of zones that exchange their boundary faces after each time step;
 * the zones are the tasks. The mathematics follows "NAS Parallel Benchmarks, Multi-Zone Versions"
 * (van der Wijngaart and Jin, NAS-03-010) and "The NAS Parallel Benchmarks" (RNR-94-007),
 * section 3.
 *
 *     npbmz *problem;
 *     npbmz_open(&problem, NPBMZ_BT, 'A');
 *     evn_problem tasks = npbmz_tasks(problem);
 *     tasks.units = evn_units_count(units);
 *     evn_schedule_open(&schedule, "guided:time", &tasks);
 *     npbmz_run(problem, units, schedule, NULL, &result);
 */
#pragma once

#include "common/run/run.h"
#include "npbmz/benchmark.h"
#include "npbmz/lu/sweeps.h"
#include <evener.h>
#include <evener/predict.h>
#include <stdint.h>

typedef struct npbmz npbmz;

/* The benchmark of that name ("bt-mz", "sp-mz", "lu-mz"); -1 if there is none. */
int npbmz_find(const char *name);

/* One benchmark of one class, S W A B C D E or F. Allocates no fields yet: class F would need 3 TB.
 * EVN_USAGE: no such class; EVN_MEMORY. */
evn_status npbmz_open(npbmz **out, enum npbmz_benchmark benchmark, char class_);
void npbmz_close(npbmz *problem);

typedef struct npbmz_shape {
    const char *name; /* name of the benchmark, "bt-mz" */
    char class_;
    int points[3]; /* points of the whole mesh, in x, y, z */
    int zones[2];  /* in x, y; numbered x fastest */
    int steps;     /* steps of an official run */
    double dt;
    double bytes;        /* bytes of all fields */
    double device_bytes; /* bytes on a device that has all zones: fields and work space */
    double mop_per_step; /* nominal operations, in millions */
} npbmz_shape;
npbmz_shape npbmz_describe(const npbmz *problem);

/* Points of zone z in x, y, z. */
void npbmz_zone(const npbmz *problem, int z, int points[3]);

/* Zones as tasks: weights in points, links in bytes a step. Units and speeds are left open (0,
 * NULL). The arrays belong to `problem`. */
evn_problem npbmz_tasks(const npbmz *problem);

/* Faces exchanged in a step: four faces a zone, `face` has room for 4 per zone, as blocks of the
 * zones' memory, npbmz_zone_bytes() each. For studies of the exchange alone. */
void npbmz_faces(const npbmz *problem, evn_face *face);
size_t npbmz_zone_bytes(const npbmz *problem, int z);

/* The phase's name in NPB's profile: rhs, xsolve, .. */
const char *npbmz_phase_name(int phase);

/* Cost of a phase at a grid point, counted in the source: operations, each of which takes a place
 * in a port of fused multiply-adds, and bytes of the zone's fields and work arrays read and
 * written. */
typedef struct npbmz_cost {
    double operations, bytes;
} npbmz_cost;
npbmz_cost npbmz_phase_cost(enum npbmz_benchmark benchmark, enum npbmz_phase phase);
/* Cost of the phase's kernel on a device, at an interior point; zeros: there is no such phase. */
npbmz_cost npbmz_kernel_cost(enum npbmz_benchmark benchmark, enum npbmz_phase phase);

/* How a unit's team shares zone z, for <evener/predict.h>: its phases, each a loop of so many
 * pieces with its share of the operations. Returns how many, at most `room`. */
int npbmz_phases(const npbmz *problem, int z, evn_phase *phase, int room);

/* Length of the loop that the benchmarks' authors share, for their equation: planes in z for BT and
 * SP, a zone's rows in y for LU. */
int npbmz_loop(const npbmz *problem);

struct gpu_solver;

/* Loops over the zones in a step. PHASE is how González and Morancho's algorithm 1-a has it, for
 * comparison: the same bits, and all units meet after each phase. Cores learn from all phases;
 * where there are devices, the schedule learns from the first alone. */
enum npbmz_loops { NPBMZ_LOOPS_STEP, NPBMZ_LOOPS_PHASE };

/* The exchange: of faces, all at once; or one zone after another, neighbours in another memory
 * copied whole, there and back, as their algorithm 2 has it, for comparison: the same bits. */
enum npbmz_exchange { NPBMZ_EXCHANGE_PARALLEL, NPBMZ_EXCHANGE_ZONES };

typedef struct npbmz_options {
    struct run_options run;
    enum npbmz_loops loops;
    enum npbmz_exchange exchange;
    int perturb; /* every zone starts from another state, to test the topology; then verified is -1
                  */
    enum lu_sweeps sweeps;           /* LU's on devices */
    const struct gpu_solver *solver; /* solver of devices, a variant of the benchmark's kernels
                                        (variants.h); NULL: its own */
} npbmz_options;

typedef struct npbmz_result {
    struct run_result run;        /* hash: of the solution's bits, zones in order */
    double residual[5];           /* XCR: sums over zones of the RMS residual of each component */
    double error[5];              /* XCE: of the solution error */
    double surface;               /* XCI: LU's surface integral; 0 otherwise */
    double phase_s[NPBMZ_PHASES]; /* time of the leaders in each phase, summed over units */
    double *rank_phase_s;         /* by rank, NPBMZ_PHASES times behind one another */
    double *zone_sums;            /* perturbed runs: 5 sums a zone; else NULL */
    char sweeps[200];             /* LU's on the last device, and why so; "": no device */
    long long zone_copies;        /* NPBMZ_EXCHANGE_ZONES: copies of whole zones in exchanges of */
    double zone_copied_bytes;     /* the timed part, there and back each one, and their bytes */
} npbmz_result;

/* Runs it: fields are made where their owners are, warm-up step, fresh start, timed steps, norms,
 * verification. The schedule must have been made for these tasks and units. options NULL: all
 * defaults. EVN_MEMORY: it does not fit (says how much is needed and how much there is, before
 * anything is allocated); EVN_USAGE: `checkpoint` cannot be written, or `restart` is damaged or of
 * another run; EVN_STOPPED: `stop` was seen, and the message says which state there is; EVN_SYSTEM:
 * a state could not be kept, and the earlier one is still there; EVN_BODY; EVN_DEVICE. On failure
 * *result holds nothing to be freed. */
evn_status npbmz_run(npbmz *problem, evn_units *units, evn_schedule *schedule,
                     const npbmz_options *options, npbmz_result *result);

/* Times of a rank in the timed part, s, in the mean of its units; `total` has all of it, and what
 * is left of it is waiting (NPB-MZ's table of total, right-hand side, solver and exchange: van der
 * Wijngaart and Jin, IPDPS 2004, table 3). rhs and solver are 0 where devices compute alone. */
typedef struct npbmz_times {
    double total, rhs, solver, exchange, wait;
} npbmz_times;
npbmz_times npbmz_rank_times(const npbmz_result *result, int rank);

/* Gives back what a result holds. */
void npbmz_result_free(npbmz_result *result);

/* Prints the result with NPB's own labels, so that scripts that read NPB's output can read it;
 * `threads` is the number of cores used. */
void npbmz_print_header(const npbmz *problem, int steps, FILE *out);
void npbmz_print_result(const npbmz *problem, const npbmz_result *result, int threads, FILE *out);
