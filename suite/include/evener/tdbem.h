/* TD-BEM: acoustic scattering of a pulse, of plane waves or of point sources, by a closed body, in
 * the time domain, by boundary elements.
 *
 *     tdbem_options o = tdbem_defaults();
 *     o.mesh = "body.obj";
 *     o.points = 2;
 *     o.point = places;                               const double places[2][3]
 *     if (tdbem_open(&problem, &o)) return complain(evn_message());
 *     tdbem_run_options march = {.impulse_response = "places.wav"};
 *     if (tdbem_march(problem, &march, &outcome)) return complain(evn_message());
 *     tdbem_outcome_free(&outcome);
 *     tdbem_close(problem);
 *
 *     cc program.c $(pkg-config --cflags --libs evener-tdbem)
 *
 * docs/tdbem.md has the formats of meshes and of outputs, the equations, and examples/sound.c a
 * program. The evener command is made of the same: an option --delta-ratio there is delta_ratio
 * here.
 *
 * The body's surface is a mesh of triangles; the unknown lives at its vertices and marches on in
 * time: sum over k of M_k a_(n-k) = l_n. The method of computation - slices of the matrices, groups
 * of n_g steps - follows Bramas, Coulaud, Sylvand, "Time-domain BEM for the wave equation on
 * distributed-heterogeneous architectures: A blocking approach", Parallel Computing 49 (2015)
 * 66-82; the formulation is the combined field equation.
 *
 * The unknown a_n is, rigid, the total pressure on the surface at t_n = n dt; soft, the derivative
 * of the total pressure along the normal into the air, the mean over the step from t_(n-1) to t_n
 * and so a value for the middle of it. Pressures at points are those of t_n. The bits of the
 * solution depend on mesh, options and n_g, not on cores.
 *
 * Lengths are in the mesh's unit; times in that over the wave speed's; an angular frequency w
 * belongs to exp(-i w t).
 *
 * A problem belongs to one thread at a time; its functions use `cores` threads of their own.
 * Several problems may be open, and march one after another. Options are read during the call;
 * but that the array of incidences and their names are there until tdbem_close().
 * Every evn_status is EVN_OK, or evn_message() says what was wrong, where, and what would be right.
 */
#ifndef EVENER_TDBEM_H
#define EVENER_TDBEM_H

#include <evener/status.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdbem tdbem;

enum tdbem_problem {
    TDBEM_RIGID, /* du/dn = 0; the unknown is the total pressure at the vertices */
    TDBEM_SOFT   /* u = 0; the unknown is du/dn */
};

/* With f the pulse, a plane wave along `at`, of any length above 0, is u = amplitude f(t - delay -
 * d.x/c), d the direction of length 1; that of a point source (a monopole) at the place `at`, r
 * away, u = amplitude f(t - delay - r/c)/r. */
typedef struct tdbem_wave {
    int point; /* 1: a source; 0: a plane wave */
    double at[3];
    double amplitude, delay;
} tdbem_wave;

/* Waves that are there at once, one column of right-hand sides. */
enum { TDBEM_INCIDENCES = 10000 }; /* most of them in a run */
typedef struct tdbem_incidence {
    const char *name; /* of letters, digits and _ . -, each another: what is added to the names of
                         its files; NULL: nothing, of the only one */
    int waves;
    const tdbem_wave *wave;
} tdbem_incidence;

/* Points in rows; `closed`: the last of each row has the first one for a neighbour, too. */
typedef struct tdbem_grid {
    int points[2]; /* rows, and points of a row; 0: no grid */
    int closed;
} tdbem_grid;

typedef struct tdbem_options {
    const char *mesh;   /* file, or sphere:L, box:a,b,c,h, aircraft:N */
    double scale;       /* of the mesh's coordinates; 0: 1 */
    const char *planes; /* rigid planes, a ground or those of symmetry: z=0 or x=0,y=0,..; the body
                           is on one side and may end on them; NULL: none */
    enum tdbem_problem problem;
    const char *admittance; /* rigid: BETA, PART=BETA or PART=FILE, with commas; NULL: 0 */
    double eta;   /* weight of the second equation; 0: the first one alone; NAN: tdbem_eta() */
    double delta; /* c dt as a length; 0: delta_ratio times the mean edge */
    double delta_ratio;  /* c dt over the mean edge; 0: 0.5, or less where walls or gaps are thinner
                            than that, down to 0.2 */
    double speed;        /* speed of the wave, c; default 1 */
    double direction[3]; /* the wave travels so; any length; 0,0,1 */
    int incidences;      /* several columns, marched on one set of matrices; 0: that wave alone */
    const tdbem_incidence *incidence;
    const char *pulse;  /* gaussian:sigma=S,t0=T, ricker:.., FILE.csv or FILE.wav; NULL: gaussian,
                           sigma 4 mean edges over c */
    const char *layout; /* rows, contiguous, full:BRxBC */
    const char *order;  /* none, morton, hilbert, tsp */
    const char *solver; /* auto, cg, cg:device, cg:ranks, mumps */
    const char *method; /* plain: all pairs of vertices; fast: far ones by skeletons of cells, see
                           `accuracy`; auto: fast where it pays */
    double accuracy;    /* of the skeletons, relative, 1e-7 to less than 1 */
    int group;          /* n_g, 1 to 32 */
    int single;         /* values, past and sums in float; M_0 is solved with in double */
    int blocks; /* tasks; 0: about 100. More of them can be shared out more evenly, and cost more
                   sums */
    int quad;   /* 0: by what is needed; L up to 6: 4^L parts of each outer triangle */
    int points; /* exterior points where the scattered pressure is wanted */
    const double (*point)[3];
    tdbem_grid grid; /* the points are one, and may be in the body or on it, where files have NAN;
                        those of a list may not */
    int null_field;  /* also a few points inside, where the total pressure ought to be 0 */
    const char *matrices; /* file: reload the matrices from there, or keep them there; NULL */
    double memory;        /* host memory for matrices, bytes; 0: all available */
    const char *scratch;  /* folder for the rest of them; NULL: $TMPDIR, else /var/tmp */
    int cores;            /* threads for generation, cores of the march; 0: all */
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

/* The surface that is computed on; it belongs to the problem. */
typedef struct tdbem_mesh {
    int vertices, triangles;
    const double (*x)[3];   /* [vertices] */
    const int (*corner)[3]; /* [triangles]: vertices, counter-clockwise seen from the air */
    const int *number;      /* [vertices]: number of each in the mesh's file, from 0 */
} tdbem_mesh;
tdbem_mesh tdbem_surface(const tdbem *problem);

/* The pressure of incidence `column`, from 0, at a point and a time, without the body; no number at
 * a source. Total pressure at a point of the run is this and the scattered one. */
double tdbem_incident(const tdbem *problem, int column, const double x[3], double t);

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
    int fast;           /* 1: by the fast method; these are of near vertices then */
    double far_values, far_bytes; /* values and memory of what is between far cells' skeletons */
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
evn_status tdbem_expect(tdbem_needs *out, const tdbem_options *options);

typedef struct tdbem_run_options {
    int steps;                /* 0: default_steps */
    const volatile int *stop; /* looked at after each group: not 0 ends the run. NULL */
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
    /* of each point: pressures over the incident wave's, at `frequency` or,
     * without, at all that the run shows; and that in time, as a filter, also .wav */
    const char *transfer_function, *impulse_response;
    double sample_rate;    /* of the filter, a unit of time; 0: 48000 for .wav, else the steps' */
    const char *far_field; /* directivity in two planes through `direction` */
    /* called by the calling thread when a step is solved: n from 1, a[vertices] as tdbem_surface()
     * numbers them, scattered[points] the pressures at the points in the air; may be NULL. Of
     * several incidences a group's steps of one after those of the one before */
    void (*step)(int n, double t, const double *a, const double *scattered, void *arg);
    void *arg;
} tdbem_run_options;

/* What a run has of each incidence. */
typedef struct tdbem_column {
    const char *name; /* the incidence's; NULL of the wave along `direction` */
    uint64_t hash;    /* of the last step's bits, vertices in the file's order */
    double t0;
    double max, max_after; /* max |a| while the pulse was on the body, and after that */
    double latest;     /* max |a| in the last transit of the body; NAN: not long after the pulse */
    double null_field; /* max over steps and inner points |u_inc + D phi| over the largest wave on
                          the body; NAN: no inner points */
    const double *solution; /* the last step, [vertices], as tdbem_surface() numbers them */
} tdbem_column;

typedef struct tdbem_outcome {
    int steps;
    double seconds;                            /* of the march */
    double max, max_after, latest, null_field; /* as of a column, the largest of all */
    int columns;
    const tdbem_column *column;
    void *kept; /* private */
} tdbem_outcome;

/* Marches on the problem's cores from step 1 on, or from a checkpoint; may be called again. NULL:
 * all defaults. Files that cannot be written are an error before the first step. EVN_USAGE: the
 * checkpoint is of another run, a vertex is not there; EVN_STOPPED: `stop` was seen (a checkpoint
 * has been written if one was wanted); EVN_SYSTEM: a file; EVN_MEMORY; EVN_BODY, also where the
 * late field is larger than all before: then no files are written. On failure there is nothing to
 * be freed. */
evn_status tdbem_march(tdbem *problem, const tdbem_run_options *options, tdbem_outcome *outcome);
void tdbem_outcome_free(tdbem_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif
