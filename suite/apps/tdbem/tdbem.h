/* What the command has of TD-BEM beyond <evener/tdbem.h>: units, schedules, ranks.
 *
 *     tdbem_options o = tdbem_defaults();
 *     o.mesh = "sphere:3";
 *     tdbem_open(&problem, &o);                    before units are opened: it uses `cores` threads
 *     evn_units_open(&units, machine, "auto", NULL, 0);
 *     evn_problem tasks = tdbem_tasks(problem);
 *     tasks.units = evn_units_count(units);
 *     evn_schedule_open(&schedule, "interval", &tasks);
 *     tdbem_run(problem, units, schedule, NULL, NULL, &result);
 *
 * Tasks are blocks of consecutive slices, as many as the mesh has of them whatever the units are.
 * The bits of the solution depend on mesh, options and n_g, and not on CPU units or schedules; GPU
 * units change them by rounding at most.
 */
#pragma once

#include "common/run/run.h"
#include "tdbem/mesh/mesh.h"
#include <evener.h>
#include <evener/tdbem.h>

/* tdbem_open() for schedules and ranks. With `tasks` it finds the tasks and no more, of many
 * vertices from a sample; with a cluster, too, whose ranks march together, see tdbem_make(). NULL:
 * this process alone. */
evn_status tdbem_open_for(tdbem **out, const tdbem_options *options, evn_cluster *cluster,
                          int tasks);

/* Over ranks tdbem_open_for() finds the tasks and no more. Once rank[b] says which rank has each
 * block first, as the loop to come has it, this makes the matrices of those of this rank. Every
 * rank keeps the past, M_0 and the mesh; blocks, and of the radiation stage as many rows, are
 * shared out. Every rank calls it with the same, before it opens the units of the march. Errors as
 * tdbem_open(), of all ranks. */
evn_status tdbem_make(tdbem *problem, const int *rank);

/* Checks the options as far as possible without a mesh. */
evn_status tdbem_check(const tdbem_options *options);

/* Whether files of an incidence may be told apart by this name. */
int tdbem_is_name(const char *name);

/* Checks that units have the options' needs: a device, for the solver cg:device. EVN_USAGE. */
evn_status tdbem_check_units(const tdbem_options *options, const evn_units *units);

/* The mesh, in the numbering that is computed in; number[v] leads back to the file's. */
const struct mesh *tdbem_body(const tdbem *problem);

/* Blocks of slices as tasks: weights in values, no links. Units and speeds are left open (0, NULL).
 * The array belongs to `problem`. */
evn_problem tdbem_tasks(const tdbem *problem);

/* tdbem_expect(); mesh: receives the mesh, in the file's order, to be closed by the caller. */
evn_status tdbem_expect_of(tdbem_needs *out, struct mesh **mesh, const tdbem_options *options);

/* Messages and bytes between ranks, in all. */
struct tdbem_traffic {
    long long messages;
    double bytes;
};

typedef struct tdbem_result {
    /* seconds: of the march; steps: solved, counted from the very beginning; hash: of the only
     * incidence, or of all their hashes; communication_s: reduction, radiation and solving
     */
    struct run_result run;
    int first; /* the first step of this run: 1, or more after a restart */
    double summation_s, reduction_s, radiation_s, load_s, solve_s, output_s; /* stages */
    double idle_s;           /* mean over units, waiting for others in the summation */
    double gflops_nominal;   /* summation: operations on all stored values; a second */
    double gflops_effective; /* on stored values that are no padding; a second */
    double iterations;       /* iterations of the solver, mean of a step */
    char response[200];      /* what the impulse response's file holds; "": there is none */
    const char *solver;      /* name of the solver that auto has settled on, and why */
    char solver_reason[160];
    char far_reason[200];                      /* who computes the far field, and why; "": plain */
    double max, max_after, latest, null_field; /* as of a column, the largest of all */
    int columns;
    tdbem_column *column; /* free() it */
    double *solution;     /* of all columns, [columns * vertices]; free() it */
    int groups;      /* sums of groups of steps in this run, each incidence's one after another's */
    double *group_s; /* [groups * units]: of each unit in the summation of each, s; free() it */
    int *group_blocks;    /* likewise: blocks that it had; free() it */
    double stream_bytes;  /* read from disk during the march */
    double stream_wait_s; /* waits of all threads for blocks that were not there yet */
    double stream_max;    /* bytes of blocks that were in memory at a time; 0: nothing streams */
    struct tdbem_traffic sums_sent; /* over ranks: sums of the past, right-hand sides, solving */
    struct tdbem_traffic rows_sent, solve_sent;
} tdbem_result;

/* Checks that files can be written, and the checkpoint be read, as far as possible without a
 * problem. EVN_USAGE. */
evn_status tdbem_check_files(const tdbem_run_options *options);

/* Marches. `ran` NULL: the options' own steps and stop; else steps -1 are default_steps, its `stop`
 * is looked at after each group, and it does not go on without a device. The schedule must have
 * been made for these tasks and units; over ranks every rank calls it, with the same schedule for
 * the units of all, and has the same result. Rank 0 alone writes files. options NULL: all defaults.
 * Files that cannot be written are an error before the first step. EVN_STOPPED: `stop` was seen (a
 * checkpoint has been written if one was wanted); EVN_USAGE: the checkpoint is of another run, a
 * vertex is not there; EVN_SYSTEM: a file; EVN_BODY, also where the late field is larger than all
 * before: then no files are written. On failure *result holds nothing to be freed.
 */
evn_status tdbem_run(tdbem *problem, evn_units *units, evn_schedule *schedule,
                     const struct run_options *ran, const tdbem_run_options *options,
                     tdbem_result *result);
void tdbem_result_free(tdbem_result *result);
