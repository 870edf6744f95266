/* MG of the NAS Parallel Benchmarks: V-cycles of multigrid for a Poisson equation on a periodic
 * cube (Bailey et al., RNR-94-007, section 3.3; classes, figures and protocol of NPB 3.4).
 *
 * A task is MG_PLANES planes of the finest level, and what lies under them on the two levels below;
 * the levels from there on are one thread's. docs/mg.md says why. */
#pragma once

#include "common/run/run.h"
#include "mg/grid.h"
#include "mg/slabs/rows.h"
#include <evener/schedule.h>
#include <evener/shared.h>

enum { MG_PLANES = 4, MG_SHARED = 3 }; /* planes a task; levels that are the tasks' */
enum { MG_LEAST = 16, MG_MOST = 1 << GRID_LEVELS };

typedef struct mg mg;

/* A class, S W A B C D E or F; EVN_USAGE: no such class; EVN_MEMORY. Allocates no grid yet. */
evn_status mg_open_class(mg **out, char class_);

/* n points a side, a power of two from MG_LEAST to MG_MOST, and smoother 'a' or 'b'. EVN_USAGE,
 * EVN_MEMORY. */
evn_status mg_open_size(mg **out, long n, char smoother);
void mg_close(mg *problem);

/* Method over ranks. */
typedef enum mg_variant {
    MG_BEST,     /* in one pass over the finest level; tasks are slabs of planes */
    MG_BULK,     /* operator after operator, each followed by an exchange of all faces: a task is a
                    rank's block of the cube */
    MG_OVERLAP,  /* as MG_BULK, but points within a block are done while its faces are on their way
                  */
    MG_FUNNELED, /* as MG_BULK on devices; the ranks of a node share one, which the lowest of them,
                    their master, drives for all: the others have CPU units of one core */
} mg_variant;

typedef struct mg_way {
    mg_variant variant;
    int per_node; /* for studies, as evn_shared_shape has it; 0: as it is */
} mg_way;

/* For so many ranks. EVN_USAGE: blocks are for powers of two, and not more than there are points
 * for; EVN_MEMORY. */
evn_status mg_choose(mg *problem, mg_way way, int ranks);
mg_way mg_chosen(const mg *problem);

typedef struct mg_shape {
    char class_; /* 0: a size of its own, which has no official figures */
    int n, steps;
    char smoother;
    double bytes; /* bytes of all levels */
    double mop;   /* nominal operations of a step, in millions: 58 a point */
} mg_shape;
mg_shape mg_describe(const mg *problem);

/* Tasks and links: of slabs, weights in points of the finest level, and between neighbours,
 * periodic, the four planes that a sweep reads beyond its own; of blocks no links. The arrays
 * belong to `problem`.
 */
evn_problem mg_tasks(const mg *problem);

/* Phases of a run's time, on the calling thread. */
enum mg_phase { MG_FIRST, MG_FINEST, MG_EDGES, MG_MIDDLE, MG_COARSE, MG_EXCHANGE, MG_PHASES };
const char *mg_phase_name(int phase);

/* Operators of blocks, as the reference names them: residual, smoother, restriction,
 * interpolation. */
enum mg_operator { MG_RESID, MG_PSINV, MG_RPRJ3, MG_INTERP, MG_OPERATORS };
const char *mg_operator_name(int operator_);

/* Counts of devices with blocks, of all ranks except seconds, which are the first rank's own
 * block's. */
typedef struct mg_block_counts {
    long long contexts, blocks; /* devices that ranks have opened; blocks that are on them */
    long long launches;
    long long within, copies; /* faces from block to block of a device; copies on the host to and
                                 from what ranks share */
    double within_bytes, copied_bytes;
    evn_counts device;               /* copies between devices and the host */
    double device_s, local_s, put_s; /* waiting for the device; in these copies; putting, and
                                        waiting for others' puts */
} mg_block_counts;

typedef struct mg_result {
    struct run_result run; /* hash: of the finest level's u, point by point in order */
    double norm;           /* norm of the last residual, sqrt(sum r^2 / n^3) */
    double first_norm;     /* norm of the first residual */
    double phase_s[MG_PHASES];
    double operator_s[MG_OPERATORS]; /* of blocks on cores, on the first rank, without exchanges */
    evn_shared_counts puts;          /* puts of all ranks in the timed part */
    mg_block_counts blocks;          /* counts of all ranks in the timed part */
} mg_result;

/* Runs it: charges, a warm-up step, a fresh start, the timed steps with the residual's norm before
 * and after them, verification. The schedule must have been made for these tasks and units; over
 * ranks (run_options.cluster) for all of theirs, and all of them call it. Where some units are
 * devices it may not let units draw. EVN_MEMORY: it does not fit (says
 * how much is needed and how much there is); EVN_BODY, EVN_DEVICE, EVN_STOPPED, EVN_SYSTEM,
 * EVN_USAGE. On failure *result holds nothing to be freed. */
evn_status mg_run(mg *problem, evn_units *units, evn_schedule *schedule,
                  const struct run_options *options, mg_result *result);
void mg_result_free(mg_result *result);

/* The part of it that runs in blocks; mg_run() calls it. `finest`, `coarse`, `first` and `exchange`
 * are their phases. A unit that is a device has its rank's block in the device's memory. EVN_USAGE:
 * a rank has not one unit, of one device if any, or not the block that is its own. */
evn_status mg_run_blocks(mg *problem, evn_units *units, evn_schedule *schedule,
                         const struct run_options *options, mg_result *result);

/* Fills in what follows from the norm and the seconds of so many steps: speed and verification. */
void mg_judge(const mg *problem, int steps, mg_result *result);

/* The official norm of a class; 0: there is none. */
double mg_official(const mg *problem);
