/* TD-BEM: acoustic scattering of a pulse, of plane waves or of point sources, by a closed body, in
 * the time domain, by boundary elements.
 *
 * This header is what a program that runs it needs. The body's surface is a mesh of triangles; the
 * unknown lives at its vertices and marches on in time: sum over k of M_k a_(n-k) = l_n. The method
 * of computation - slices of the matrices, groups of n_g steps - follows Bramas, Coulaud, Sylvand,
 * "Time-domain BEM for the wave equation on distributed-heterogeneous architectures: A blocking
 * approach", Parallel Computing 49 (2015) 66-82; the formulation is the combined field equation.
 *
 *     tdbem_options o = tdbem_defaults();
 *     o.mesh = "sphere:3";
 *     tdbem_open(&problem, &o);                    before units are opened: it uses `cores` threads
 *     evn_units_open(&units, machine, "auto", 0);
 *     evn_problem tasks = tdbem_tasks(problem);
 *     tasks.units = evn_units_count(units);
 *     evn_schedule_open(&schedule, "interval", &tasks);
 *     tdbem_run(problem, units, schedule, NULL, &result);
 *
 * Tasks are blocks of consecutive slices, as many as the mesh has of them whatever the units are.
 * The bits of the solution depend on mesh, options and n_g, and not on CPU units or schedules; GPU
 * units change them by rounding at most.
 *
 * The unknown a_n is, rigid, the total pressure on the surface at t_n = n dt; soft,
 * the derivative of the total pressure along the normal into the air, the mean over the step from
 * t_(n-1) to t_n and so a value for the middle of it. Pressures at points are those of t_n.
 *
 * Lengths are in the mesh's unit; times in that over the wave speed's; an angular frequency w
 * belongs to exp(-i w t).
 */
#ifndef TDBEM_H
#define TDBEM_H

#include "common/run/run.h"
#include "tdbem/incident/wave.h"
#include "tdbem/mesh/mesh.h"
#include "tdbem/matrices/slices.h"
#include <evener.h>
#include <stdint.h>

typedef struct tdbem tdbem;

/* Points in rows; `closed`: the last of each row has the first one for a neighbour, too. */
typedef struct tdbem_grid {
    int points[2]; /* rows, and points of a row; 0: no grid */
    int closed;
} tdbem_grid;

typedef struct tdbem_options {
    const char *mesh; /* file or generated body, see mesh_open() */
    double scale;     /* of the mesh's coordinates; 0: 1 */
    enum tdbem_problem problem;
    const char *admittance; /* rigid: beta of the surface or of parts of it, boundary_open(); NULL:
                               0 */
    double eta;   /* weight of the second equation; 0: the first one alone; NAN: tdbem_eta() */
    double delta; /* c dt as a length; 0: delta_ratio times the mean edge */
    double delta_ratio;  /* c dt over the mean edge; 0: 0.5, or less where walls or gaps are thinner
                            than that, down to 0.2 */
    double speed;        /* speed of the wave, c; default 1 */
    double direction[3]; /* the wave travels so; any length; 0,0,1 */
    int incidences;      /* several columns, marched on one set of matrices; 0: that wave alone */
    const struct incidence *incidence;
    const char *pulse;  /* see pulse_read(); NULL: gaussian, sigma 4 mean edges over c */
    const char *layout; /* rows, contiguous, full:BRxBC */
    const char *order;  /* none, morton, hilbert */
    const char *solver; /* auto, cg, cg:device, mumps */
    int group;          /* n_g, 1 to 32 */
    int single;         /* values, past and sums in float; M_0 is solved with in double */
    int blocks; /* tasks; 0: about 100. More of them can be shared out more evenly, and cost more
                   sums */
    int quad;   /* quadrature, see slices.h */
    int points; /* exterior points where the scattered pressure is wanted */
    const double (*point)[3];
    tdbem_grid grid; /* the points are one, and may be in the body or on it, where files have NAN;
                        those of a list may not */
    int null_field;  /* also a few points inside, where the total pressure ought to be 0 */
    const char *matrices; /* file: reload the matrices from there, or keep them there; NULL */
    double memory;        /* host memory for matrices, bytes; 0: all available */
    const char *scratch;  /* folder for the rest of them; NULL: $TMPDIR, else /var/tmp */
    int tasks; /* 1: tdbem_open() finds the tasks and no more, of many vertices from a sample */
    evn_cluster
        *cluster; /* whose ranks march together, see tdbem_make(); NULL: this process alone */
    int cores;    /* threads for generation, cores of the march; 0: all */
    /* share of the generation done, 0..1; returning non-zero stops it. May be NULL */
    int (*progress)(double done, void *arg);
    /* a line about what happens on its own account, as blocks that go to disk. May be NULL */
    void (*notice)(const char *line, void *arg);
    void *arg;
} tdbem_options;

/* The weight of the second equation where none is given: 1/2 rigid, 2 soft, with which the inside
 * absorbs alike: dp/dn + dp/dt/(2 c) = 0. */
static inline double tdbem_eta(enum tdbem_problem problem) {
    return problem == TDBEM_RIGID ? 0.5 : 2;
}

/* Rigid, delta by itself, c = 1, along z, groups of 16 steps, double, rows in Hilbert's
 * order, conjugate gradients, null field on; no mesh. */
tdbem_options tdbem_defaults(void);

/* Reads the mesh, generates or reloads the matrices, lays them out, in memory or on disk.
 * EVN_USAGE: any option or the mesh, less memory than is needed; EVN_MISSING: the solver;
 * EVN_MEMORY; EVN_SYSTEM: files; EVN_STOPPED. */
evn_status tdbem_open(tdbem **out, const tdbem_options *options);
void tdbem_close(tdbem *problem);

/* Over ranks (options.cluster) tdbem_open() finds the tasks and no more. Once rank[b] says which
 * rank has each block first, as the loop to come has it, this makes the matrices of those of this
 * rank. Every rank keeps the past, M_0 and the mesh; blocks, and of the radiation stage as many
 * rows, are shared out. Every rank calls it with the same, before it opens the units of the march.
 * Errors as tdbem_open(), of all ranks. */
evn_status tdbem_make(tdbem *problem, const int *rank);

/* Checks the options as far as possible without a mesh. */
evn_status tdbem_check(const tdbem_options *options);

/* Checks that units have the options' needs: a device, for the solver cg:device. EVN_USAGE. */
evn_status tdbem_check_units(const tdbem_options *options, const evn_units *units);

/* The mesh, in the numbering that is computed in; number[v] leads back to the file's. */
const struct mesh *tdbem_mesh(const tdbem *problem);

/* Blocks of slices as tasks: weights in values, no links. Units and speeds are left open (0, NULL).
 * The array belongs to `problem`. */
evn_problem tdbem_tasks(const tdbem *problem);

/* Warnings about the problem, one line each (a pulse too short for the mesh, ..), and behind them
 * those of runs (frequencies that the pulse does not have, ..); NULL beyond the last. */
const char *tdbem_warning(const tdbem *problem, int i);

typedef struct tdbem_shape {
    int vertices, triangles, components;
    int points, buried, inside; /* points in the air; those of a grid that are not; points for the
                                   null field */
    int incidences;             /* columns */
    int filters; /* of the admittance; each has the rows of vertices and points again */
    double volume, h_mean, delta, dt, sigma, t0, eta;
    int kmax, longest;  /* steps that a matrix reaches back; longest row-vector */
    size_t nnz, stored; /* values of the matrices; values in the layout, with padding */
    size_t held;        /* values in the layout without padding: those of k >= 1, and the points' */
    double bytes;       /* bytes of the layout */
    int blocks, resident; /* blocks of slices, and how many of them are in memory for good */
    int intervals;        /* intervals of columns that the matrices were made by */
    double generate_s;    /* time it took to generate, or to reload, the matrices */
    int reloaded;         /* whether they came from a file */
    double facing;     /* the smallest wall or gap, INFINITY where none is below two mean edges */
    int bounded;       /* it bounds delta: 1 a wall, 2 a gap; 0: it does not */
    double highest;    /* the highest angular frequency that is carried: 40 dB below the most of
                          the pulse's spectrum, or 8 mean edges a wavelength */
    int default_steps; /* until the waves have passed and three body lengths more */
    double flop_per_step; /* useful operations: summation and radiation */
} tdbem_shape;
tdbem_shape tdbem_describe(const tdbem *problem);

/* What a run will need, from the mesh and a sample of the matrices' columns: in a second, where the
 * mesh is read so soon. Memory is within some per cent; times are those of a core that is free. */
typedef struct tdbem_needs {
    tdbem_shape shape; /* as far as it is known: what comes of the mesh, kmax, nnz, bytes */
    double memory;     /* bytes of the process at most, where all is in memory */
    double least;      /* likewise, where as much as possible is on disk */
    double room;       /* bytes that it may take here */
    double disk;       /* bytes on disk; 0: nothing has to go there */
    double generate_s, march_s;
} tdbem_needs;
/* mesh: receives the mesh, in the file's order, to be closed by the caller; or NULL. */
evn_status tdbem_expect(tdbem_needs *out, struct mesh **mesh, const tdbem_options *options);

typedef struct tdbem_run_options {
    struct run_options run; /* steps -1: default_steps; `stop` is looked at after each group. It
                               does not go on without a device */
    /* files, all of them optional; tables, .csv or .npz by the name's end, are written at the end,
     * whole or not at all. Of several incidences each has its own: name-INCIDENCE.csv, and
     * folder/INCIDENCE */
    const char *probe_output;  /* t, then scattered and total pressure of each point */
    const char *vertex_output; /* n from 0, the time that a_n stands for, a_n at each `vertex` */
    int vertices;
    const int *vertex;  /* numbers in the mesh's file */
    const char *output; /* folder: the surface, and probes, as VTU every `every` steps, and .pvd */
    const char *checkpoint; /* the state every `every` steps, in whole groups */
    int every;              /* steps between two files; 0: 100 */
    const char *restart;    /* a checkpoint to go on from; steps counts from the very beginning */
    int frequencies;
    const double *frequency; /* angular frequencies; EVN_USAGE where a step is more than half a
                                period, or an edge half a wave; NAN comes out where the pulse has
                                next to nothing, with a warning */
    const char *spectrum;    /* spectra of the unknown at all vertices, over the incident
                                wave's */
    /* of each point, see files/response.h: pressures over the incident wave's, at `frequency` or,
     * without, at all that the run shows; and that in time, as a filter, also .wav */
    const char *transfer_function, *impulse_response;
    double sample_rate;    /* of the filter, a unit of time; 0: 48000 for .wav, else the steps' */
    const char *far_field; /* directivity in two planes through `direction` */
    /* called by the calling thread when a step is solved: n from 1, the solution in the mesh's
     * present numbering, and scattered pressures at the points in the air; may be NULL. Of several
     * incidences a group's steps of one after those of the one before */
    void (*step)(int n, double t, const double *a, const double *scattered, void *arg);
    void *arg;
} tdbem_run_options;

/* Messages and bytes between ranks, in all. */
struct tdbem_traffic {
    long long messages;
    double bytes;
};

/* What a run has of each incidence. */
typedef struct tdbem_column {
    const char *name; /* the incidence's; NULL of the wave along `direction` */
    uint64_t hash;    /* of the last step's bits, vertices in the file's order */
    double t0;
    double max, max_after; /* max |a| while the pulse was on the body, and after that */
    double latest;     /* max |a| in the last transit of the body; NAN: not long after the pulse */
    double null_field; /* max over steps and inner points |u_inc + D phi| over the largest wave on
                          the body; NAN: no inner points */
    const double *solution; /* the last step, in the mesh's present numbering */
} tdbem_column;

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
    struct tdbem_traffic sums_sent; /* over ranks: sums of the past, and right-hand sides */
    struct tdbem_traffic rows_sent;
} tdbem_result;

/* Checks that files can be written, and the checkpoint be read, as far as possible without a
 * problem. EVN_USAGE. */
evn_status tdbem_check_files(const tdbem_run_options *options);

/* Marches. The schedule must have been made for these tasks and units; over ranks every rank calls
 * it, with the same schedule for the units of all, and has the same result. Rank 0 alone writes
 * files. options NULL: all defaults.
 * Files that cannot be written are an error before the first step. EVN_STOPPED: `stop` was seen (a
 * checkpoint has been written if one was wanted); EVN_USAGE: the checkpoint is of another run, a
 * vertex is not there; EVN_SYSTEM: a file; EVN_BODY, also where the late field is larger than all
 * before: then no files are written. On failure *result holds nothing to be freed.
 */
evn_status tdbem_run(tdbem *problem, evn_units *units, evn_schedule *schedule,
                     const tdbem_run_options *options, tdbem_result *result);
void tdbem_result_free(tdbem_result *result);

#endif
