/* FT of the NAS Parallel Benchmarks: the heat equation on a periodic box, solved with
 * three-dimensional Fourier transforms (Bailey et al., RNR-94-007, section 3.4; classes, figures
 * and protocol of NPB 3.4).
 *
 * The field V of frequencies is constant; iteration t multiplies it by E^t, transforms it back and
 * sums 1024 points. A task is a slab of planes of layout Z with as many of layout Y
 * (ft/host/transform.h): its owner has V's rows there, transforms them along z into all tasks'
 * planes, and then its own planes along x and y. docs/ft.md has reasons and costs. */
#pragma once

#include "common/run/run.h"
#include <evener/schedule.h>
#include <evener/shared.h>

enum { FT_LEAST_X = 8, FT_LEAST = 2, FT_MOST = 1 << 14 };

typedef struct ft ft;

/* A class, S W A B C D E or F; EVN_USAGE: no such class; EVN_MEMORY. Allocates no field yet. */
evn_status ft_open_class(ft **out, char class_);

/* nx x ny x nz points, powers of two to FT_MOST, nx from FT_LEAST_X, the others from FT_LEAST.
 * EVN_USAGE, EVN_MEMORY. */
evn_status ft_open_size(ft **out, const long size[3]);
void ft_close(ft *problem);

typedef struct ft_shape {
    char class_; /* 0: a size of its own, which has no official figures */
    int n[3];    /* points along x, y, z */
    int steps;
    double bytes; /* bytes of the two fields */
} ft_shape;
ft_shape ft_describe(const ft *problem);

/* Nominal operations of a run of so many steps, in millions. */
double ft_mop(const ft *problem, int steps);

/* Tasks and links: weights in points, and between each two tasks the points that a transpose takes
 * from one to the other, as far as there are not too many pairs. The arrays belong to `problem`. */
evn_problem ft_tasks(const ft *problem);

/* Phases of a run's time, on the calling thread: the field and its first transform; the passes
 * along z, along x and y, with what is copied and put meanwhile; after them, waits for copies
 * between spaces, and those copied only now; over ranks, puts of whole fields; barriers, at which
 * puts are waited for; rows put in their place, with two transposes; sums. */
enum ft_phase { FT_START, FT_Z, FT_XY, FT_COPY, FT_PUT, FT_BARRIER, FT_UNPACK, FT_SUM, FT_PHASES };
const char *ft_phase_name(int phase);

/* How ranks transpose.
 *
 * FT_BEST    the pass before writes to ranks of the same node; to others each task's rows are put
 *            as soon as they are there
 * FT_SLABS   rows are put to all other ranks, each task's as soon as they are there (R8)
 * FT_PACKED  first all tasks, then one put to each other rank (R6)
 * FT_FUNNELED  FT_SLABS where the ranks of a node share one device, of which the lowest of them,
 *              their master, does the passes of all (R13 to R18): that one has a unit of one
 *              device, the others one CPU unit each
 *
 * R6 and so on: Wang and others, "UPC + CUDA". */
enum ft_variant { FT_BEST, FT_SLABS, FT_PACKED, FT_FUNNELED };

struct ft_way {
    enum ft_variant variant;
    int transposes; /* transposes of each transform: 1, V stays in layout Y; 2, in layout Z, as in
                       the paper */
    int per_node;   /* evn_shared_shape.per_node */
};

/* Counters of all ranks together in the timed part (R19), beside puts: contexts of devices that are
 * open; what these did, as evn_device_counts() has it, and of that what were fields and not tables
 * where ranks share a device; and seconds, summed over units and ranks: in bodies without the
 * others, between members' memory and a shared device's pinned memory, putting, and in barriers and
 * reductions, at which what was put is waited for. */
enum ft_count {
    FT_CONTEXTS,
    FT_LAUNCHES,
    FT_COPIES_IN,
    FT_BYTES_IN,
    FT_COPIES_OUT,
    FT_BYTES_OUT,
    FT_FIELD_COPIES_IN,
    FT_FIELD_BYTES_IN,
    FT_FIELD_COPIES_OUT,
    FT_FIELD_BYTES_OUT,
    FT_COMPUTE_S,
    FT_COPY_S,
    FT_PUT_S,
    FT_BARRIER_S,
    FT_COUNTS
};
const char *ft_count_name(int count);

/* Where ranks share a device, its latest pass along z: when the device had a piece of a rank, and
 * when that put a task's rows. Times are s of its node's clock. */
typedef struct ft_span {
    int rank, is_put;
    double begin, end;
} ft_span;

typedef struct ft_result {
    struct run_result run; /* hash: of the last field, plane by plane in order */
    double (*checksum)[2]; /* checksum of each step */
    double error;          /* verified >= 0: the largest relative one */
    double phase_s[FT_PHASES];
    evn_shared_counts puts; /* puts of all ranks in the timed part */
    double count[FT_COUNTS];
    ft_span *span;
    int spans;
} ft_result;

/* Runs it: a transform to warm up, then timed: the field, its transform, the steps with their
 * checksums; verification. FT_FUNNELED has one transpose. The schedule must have been made for
 * these tasks and units. EVN_MEMORY: it does not fit (says how much is needed and how much there
 * is); EVN_USAGE: lines are too long for devices; EVN_BODY, EVN_DEVICE, EVN_STOPPED, EVN_SYSTEM. On
 * failure *result holds nothing to be freed. */
evn_status ft_run(ft *problem, const struct ft_way *way, evn_units *units, evn_schedule *schedule,
                  const struct run_options *options, ft_result *result);
void ft_result_free(ft_result *result);

/* The official checksum of step t, from 1, of a class; NULL: there is none. */
const double *ft_official(const ft *problem, int t);
