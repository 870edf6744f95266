/* bench mg: time of each pass over each level, beside the bytes that it must move at least and the
 * bandwidth of a triad over as many bytes. */
#include "mg/study.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/run/probe.h"
#include "common/run/huge_alloc.h"
#include "mg/mg.h"
#include "mg/slabs/sweep.h"
#include "common/run/free_all.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 7 };

struct bench {
    struct problem p;
    evn_units *units;
    int cores;
    struct work *work; /* work space of each core */
    double *aside;     /* planes beside each core's range */
};

/* A pass over a level, by all cores. */
enum pass { DOWN, UP, SQUARES, BELOW, PASSES };
struct order {
    struct bench *bench;
    enum pass pass;
    int level;
    double seconds; /* least seconds */
};

/* Bytes a point of the level: what is written is read first, as processors do. */
static double floor_of(const struct bench *b, enum pass pass, int level) {
    const int finest = level == b->p.grid.finest;
    if (pass == UP) return finest ? 16 + 1 + 1 : 16 + 8 + 1; /* u, z, P r; u, r, z */
    return pass == DOWN ? 8 + 2 : 8;                         /* r, P r; u */
}

/* Cores that have tasks of a level. */
static int cores_of(const struct order *o) {
    const int tasks = o->bench->p.grid.level[o->level].n / MG_PLANES;
    return o->bench->cores < tasks ? o->bench->cores : tasks;
}

/* The range of core `c`, in whole tasks. */
static void range_of(const struct order *o, int c, int *begin, int *end) {
    const int n = o->bench->p.grid.level[o->level].n, tasks = n / MG_PLANES;
    const int all = o->pass == DOWN ? n / 2 : n;
    const int cores = cores_of(o);
    *begin = all / tasks * (int)((long)tasks * c / cores);
    *end = all / tasks * (int)((long)tasks * (c + 1) / cores);
}

static void pass_range(const struct order *o, int c, int begin, int end) {
    struct bench *b = o->bench;
    struct problem *p = &b->p;
    const struct level *level = &p->grid.level[p->grid.finest];
    double *aside = b->aside + (ptrdiff_t)c * SWEEP_ASIDE * level->plane;
    const int finest = o->level == p->grid.finest;
    if (o->pass == DOWN) {
        sweep_down(p, o->level, begin, end);
    } else if (o->pass == SQUARES) {
        sweep_residual(p, &b->work[c], begin, end, SWEEP_SQUARES);
    } else {
        if (finest) sweep_aside(p, begin, end, aside);
#pragma omp barrier
        sweep_up(p, &b->work[c], o->level, begin, end, finest ? aside : NULL,
                 finest ? SWEEP_RESTRICT : 0);
#pragma omp barrier
        if (finest) sweep_edges(p, &b->work[c], begin, end, SWEEP_RESTRICT);
    }
}

static void pass_job(evn_unit *unit, void *arg) {
    struct order *o = arg;
    (void)unit;
    for (int i = 0; i < REPEATS; i++) {
        const double begin = evn_now();
        if (o->pass == BELOW) {
            sweep_below(&o->bench->p, &o->bench->work[0], o->level);
        } else {
#pragma omp parallel num_threads(cores_of(o))
            {
                int from, to;
                range_of(o, omp_get_thread_num(), &from, &to);
                pass_range(o, omp_get_thread_num(), from, to);
            }
        }
        const double took = evn_now() - begin;
        if (!i || took < o->seconds) o->seconds = took;
    }
}

static void open_job(evn_unit *unit, void *arg) {
    struct bench *b = arg;
    const struct grid *grid = &b->p.grid;
    (void)unit;
#pragma omp parallel num_threads(b->cores)
    {
        const int c = omp_get_thread_num();
        work_open(&b->work[c], grid->level[grid->finest].n);
        for (int l = grid->finest; l > 0; l--) {
            const struct level *level = &grid->level[l];
            const int begin = level->n * c / b->cores, end = level->n * (c + 1) / b->cores;
            const size_t bytes = (size_t)((end - begin) * level->plane) * sizeof(double);
            memset(level->u + begin * level->plane, 0, bytes);
            if (level->r) memset(level->r + begin * level->plane, 0, bytes);
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static double fields_bytes(const struct level *level) {
    return (double)level->plane * level->n * 8 * (level->r ? 2 : 1);
}

static evn_status print_pass(struct bench *b, enum pass pass, int level, double triad) {
    static const char *const name[PASSES] = {"down", "up", "norm", "below"};
    struct order o = {b, pass, level, 0};
    evn_status status = evn_units_run(b->units, pass_job, &o);
    if (status) return status;
    const int n = b->p.grid.level[level].n;
    printf("  %5d  %-5s  %10.4f", n, name[pass], 1e3 * o.seconds);
    if (pass != BELOW && o.seconds > 0) {
        const double points = (double)n * n * n, bytes = floor_of(b, pass, level);
        printf("  %8.1f  %5.0f  %8.2f  %8.2f  %5.1f %%", 1e-6 * points / o.seconds, bytes,
               1e-9 * bytes * points / o.seconds, 1e-9 * triad,
               100 * bytes * points / o.seconds / triad);
    }
    printf("\n");
    fflush(stdout);
    return EVN_OK;
}

static evn_status print_table(struct bench *b) {
    const struct grid *grid = &b->p.grid;
    evn_status status = EVN_OK;
    printf("MG pass by pass, %d points a side, %d core%s\n\n", grid->level[grid->finest].n,
           b->cores, b->cores > 1 ? "s" : "");
    printf("  %5s  %-5s  %10s  %8s  %5s  %8s  %8s  %7s\n", "side", "pass", "ms", "Mpoint/s",
           "bytes", "GB/s", "triad", "of it");
    for (int l = grid->finest; !status && l > grid->finest - MG_SHARED; l--) {
        /* a triad's writes are read first, too */
        const double triad =
            4.0 / 3 * probe_bandwidth(b->units, (size_t)fields_bytes(&grid->level[l]));
        if (!(triad > 0)) return evn_fail(EVN_MEMORY, "bench mg: no memory for a triad");
        status = print_pass(b, UP, l, triad);
        if (!status) status = print_pass(b, l < grid->finest ? DOWN : SQUARES, l, triad);
    }
    if (!status) status = print_pass(b, BELOW, grid->finest - MG_SHARED, 0);
    printf("\nbytes: a point, that must be moved, with what is read because it is written; triad: "
           "GB/s of\none over as many bytes, counted so too. below: all levels from there on, by "
           "one core.\n");
    return status;
}

/* ---- the study ------------------------------------------------------------------------------ */

static evn_status measure(struct bench *b, int n) {
    const struct level shape = level_shape(n);
    b->work = calloc((size_t)b->cores, sizeof *b->work);
    b->p.square = calloc(8 * (size_t)n, sizeof *b->p.square);
    b->aside = room((size_t)b->cores * SWEEP_ASIDE * (size_t)shape.plane * sizeof *b->aside);
    b->p.smoother = (struct smoother){-3.0 / 8, 1.0 / 32, -1.0 / 64};
    evn_status status = b->work && b->p.square && b->aside
                            ? grid_open(&b->p.grid, n)
                            : evn_fail(EVN_MEMORY, "bench mg: not enough memory");
    if (!status) status = evn_units_run(b->units, open_job, b);
    for (int c = 0; !status && c < b->cores; c++)
        if (!b->work[c].memory) status = evn_fail(EVN_MEMORY, "bench mg: not enough memory");
    if (!status) status = print_table(b);
    for (int c = 0; b->work && c < b->cores; c++) work_close(&b->work[c]);
    grid_close(&b->p.grid);
    free_all(b->work, b->aside, b->p.square);
    return status;
}

struct request {
    const char *class_;
    long cores;
};

#define OPTIONS_OF struct request
static const struct option options[] = {
    {"class", "S", "problem class (default W)", OPTION_TEXT(class_)},
    {"cores", "N", "of one unit (default 1)", OPTION_NUMBER(cores, 1, 4096)},
    {0},
};

static evn_status open_shape(const char *class_, mg_shape *shape) {
    mg *problem;
    if (strlen(class_) != 1)
        return evn_fail(EVN_USAGE, "mg: there is no class \"%s\", expected one of S W A B C D E F",
                        class_);
    evn_status status = mg_open_class(&problem, class_[0]);
    if (!status) *shape = mg_describe(problem);
    if (!status) mg_close(problem);
    return status;
}

int mg_study(int argc, char **argv) {
    struct request request = {.class_ = "W", .cores = 1};
    int code = options_read_plain("bench mg",
                                  "usage: evener bench mg [options]\n\n"
                                  "Passes over MG's levels on one unit, beside the bytes that they "
                                  "must move and memory's\nbandwidth.",
                                  (struct option_set){options, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    mg_shape shape;
    evn_status status = open_shape(request.class_, &shape);
    evn_machine *machine = NULL;
    char list[32];
    struct bench bench = {.cores = (int)request.cores};
    snprintf(list, sizeof list, "1:CPU:%ld", request.cores);
    if (!status) status = evn_machine_open(&machine);
    if (!status && shape.bytes > (double)evn_machine_memory_available(machine))
        status =
            evn_fail(EVN_MEMORY, "bench mg: class %c needs %.1f GB of memory; choose a smaller one",
                     shape.class_, 1e-9 * shape.bytes);
    if (!status) status = evn_units_open(&bench.units, machine, list, NULL, 0);
    if (!status) status = measure(&bench, shape.n);
    evn_units_close(bench.units);
    evn_machine_close(machine);
    return status ? give_up(status) : EXIT_DONE;
}
