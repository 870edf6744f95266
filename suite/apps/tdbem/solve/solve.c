/* The choice among solvers; MUMPS is a plug-in, opened when somebody asks for it. */
#include "tdbem/solve/solve.h"
#include "tdbem/solve/solve_cg.h"
#include "tdbem/solve/solve_gmres.h"
#include "tdbem/solve/solve_gpu.h"
#include "tdbem/solve/solve_mumps.h"
#include "tdbem/solve/solve_ranks.h"
#include "common/run/median.h"
#include "common/run/free_all.h"
#include <evener/plugin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct solver {
    enum solver_kind wanted, kind; /* kind: auto until it is settled, which is as cg */
    int n;
    struct solve_cg *cg;       /* NULL: another kind */
    struct solve_gmres *gmres; /* M_0 is not symmetric; cg has its matrix */
    struct solve_gpu *gpu;
    struct solve_ranks *ranks; /* NULL: this process has all rows */
    long long iterations;
    size_t entries;
    /* MUMPS's: entries of the lower triangle, from 1 */
    const struct solve_mumps_plugin *plugin;
    struct solve_mumps *mumps;
    int *row, *column;
    double *entry;
};

static const char *const names[] = {
    [SOLVER_CG] = "cg",       [SOLVER_CG_DEVICE] = "cg:device", [SOLVER_CG_RANKS] = "cg:ranks",
    [SOLVER_MUMPS] = "mumps", [SOLVER_AUTO] = "auto",           [SOLVER_GMRES] = "gmres"};

const char *solver_name(enum solver_kind kind) { return names[kind]; }

/* EVN_MISSING: it is not in this build, or its plug-in has gone. */
static evn_status find_mumps(const struct solve_mumps_plugin **out) {
#ifdef EVENER_MUMPS
    static const evn_plugin plugin = {"solver", "EVENER_MUMPS", SOLVE_MUMPS_FILE, "evener_mumps_v1",
                                      SOLVE_MUMPS_VERSION};
    const void *functions;
    evn_status status = evn_plugin_open(&functions, NULL, &plugin, NULL);
    *out = functions;
    return status;
#else
    *out = NULL;
    return evn_fail(EVN_MISSING, "solver: this build is without MUMPS (libmumps-seq-dev was not "
                                 "found when it was configured); use cg");
#endif
}

evn_status solver_named(enum solver_kind *out, const char *name) {
    int kind = SOLVER_CG;
    while (kind <= SOLVER_AUTO && strcmp(name, names[kind]) != 0) kind++;
    if (kind > SOLVER_AUTO)
        return evn_fail(EVN_USAGE,
                        "solver: \"%s\" is none, expected auto, cg, cg:device, cg:ranks or mumps",
                        name);
    *out = (enum solver_kind)kind;
    return EVN_OK;
}

evn_status solver_find(enum solver_kind *out, const char *name) {
    const struct solve_mumps_plugin *mumps;
    evn_status status = solver_named(out, name);
    return status || *out != SOLVER_MUMPS ? status : find_mumps(&mumps);
}

static evn_status no_memory(struct solver *s) {
    solver_close(s);
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
}

static evn_status make_factors(struct solver *s, const struct slices_csr *m) {
    evn_status status = find_mumps(&s->plugin);
    if (status) return status;
    const size_t max = m->start[s->n];
    s->row = malloc(max * sizeof *s->row);
    s->column = malloc(max * sizeof *s->column);
    s->entry = malloc(max * sizeof *s->entry);
    if (!s->row || !s->column || !s->entry) return no_memory(NULL);
    size_t count = 0;
    for (int i = 0; i < s->n; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++)
            if (m->column[e] <= i) {
                s->row[count] = i + 1;
                s->column[count] = m->column[e] + 1;
                s->entry[count++] = m->value[e];
            }
    status = s->plugin->open(&s->mumps, s->n, count, s->row, s->column, s->entry, evn_fail);
    if (!status) s->entries = s->plugin->entries(s->mumps);
    return status;
}

/* To the bit, as the generator makes it. */
static int is_symmetric(const struct slices_csr *m) {
    for (int i = 0; i < m->rows; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const int j = m->column[e];
            const size_t other = slices_csr_find(m, j, i);
            if (other == m->start[j + 1] || m->value[other] != m->value[e]) return 0;
        }
    return 1;
}

/* The matrix of solve_cg, solved by GMRES. */
static evn_status open_unsymmetric(struct solver *s, double tolerance) {
    if (s->wanted == SOLVER_MUMPS || s->wanted == SOLVER_CG_DEVICE)
        return evn_fail(EVN_USAGE,
                        "solver: %s is for a symmetric M_0, which steps so long have not on a body "
                        "so thin; expected auto, or a shorter step",
                        names[s->wanted]);
    s->kind = SOLVER_GMRES;
    return solve_gmres_open(&s->gmres, solve_cg_matrix(s->cg), tolerance);
}

evn_status solver_open(struct solver **out, const struct slices_csr *m, enum solver_kind kind,
                       double tolerance) {
    *out = NULL;
    evn_status status = solve_check_diagonal(m); /* MUMPS would not say so */
    if (status) return status;
    struct solver *s = calloc(1, sizeof *s);
    if (!s) return no_memory(NULL);
    s->wanted = s->kind = kind;
    s->n = m->rows;
    s->entries = m->start[s->n];
    const int symmetric = is_symmetric(m);
    status = kind == SOLVER_MUMPS && symmetric ? make_factors(s, m)
                                               : solve_cg_open(&s->cg, m, tolerance);
    if (!status && !symmetric) status = open_unsymmetric(s, tolerance);
    if (status) {
        solver_close(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

void solver_close(struct solver *s) {
    if (!s) return;
    if (s->mumps) s->plugin->close(s->mumps);
    free_all(s->row, s->column, s->entry);
    solver_detach(s);
    solve_ranks_close(s->ranks);
    solve_gmres_close(s->gmres);
    solve_cg_close(s->cg);
    free(s);
}

evn_device *solver_first_device(const evn_units *units) {
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        if (evn_unit_devices(unit)) return evn_unit_device(unit, 0);
    }
    return NULL;
}

evn_status solver_check_units(enum solver_kind kind, const evn_units *units) {
    if (kind != SOLVER_CG_DEVICE || solver_first_device(units)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "solver: cg:device needs a device, and the units %s have none; expected a GPU "
                    "unit among them, as 1:CPU:1,1:GPU:1, or the solver cg",
                    evn_units_text(units));
}

/* Estimates for a core of a server and for an H100 (docs/tdbem.md); no GPU has confirmed them. */
static const double core_rate = 10e9, host_rate = 50e9, barrier_s = 1e-6; /* bytes a second */
static const double device_rate = 1e12, launch_s = 3e-6, wait_s = 20e-6, link_rate = 12e9;
enum { ITERATIONS = 20, OTHER_LAUNCHES = 10 }; /* estimates for a step */

/* Bytes of an iteration: a value and a column of each entry, and vectors in two sweeps. */
static double iteration_bytes(int n, size_t entries) {
    return 12.0 * (double)entries + 8.0 * 8.0 * n;
}

double solver_cost_on_cores(int n, size_t entries, int cores) {
    const double rate = cores * core_rate < host_rate ? cores * core_rate : host_rate;
    return ITERATIONS * (iteration_bytes(n, entries) / rate + (cores > 1 ? 2 * barrier_s : 0));
}

double solver_cost_on_device(int n, size_t entries, int steps) {
    return ITERATIONS * (2 * launch_s + iteration_bytes(n, entries) / device_rate) +
           OTHER_LAUNCHES * launch_s + wait_s / steps + 2 * 8.0 * n / link_rate;
}

/* Cores of the units that do not manage devices alone: all of them solve together. */
static int cores_of(const evn_units *units) {
    int cores = 0;
    for (int u = 0; u < evn_units_count(units); u++)
        cores += evn_unit_cores(evn_units_get(units, u));
    return cores > 0 ? cores : 1;
}

void solver_settle(struct solver *s, const evn_units *units, int steps, int alone, char *reason,
                   size_t size) {
    evn_device *device = solver_first_device(units);
    solve_ranks_close(s->ranks);
    s->ranks = NULL;
    if (s->gmres) {
        snprintf(reason, size, "M_0 is not symmetric: steps are long for walls so thin");
        return;
    }
    if (s->wanted != SOLVER_AUTO && s->wanted != SOLVER_CG_RANKS) {
        snprintf(reason, size, "as asked for");
        return;
    }
    s->kind = SOLVER_CG;
    if (s->wanted == SOLVER_CG_RANKS) {
        snprintf(reason, size, "cg: one process has all rows");
        return;
    }
    if (!device || !alone) {
        snprintf(reason, size, "%s",
                 device ? "cg: over ranks the host has a part in each step"
                        : "cg: the units have no device");
        return;
    }
    /* emulated devices are the host's cores, and OpenCL's may be */
    const evn_traits *t = evn_device_traits(device);
    if (!t->resident || t->poisons) {
        snprintf(reason, size, "cg: %.60s is not known to be a GPU", t->name);
        return;
    }
    const int cores = cores_of(units);
    const double host = solver_cost_on_cores(s->n, s->entries, cores);
    const double there = solver_cost_on_device(s->n, s->entries, steps);
    if (there < host) s->kind = SOLVER_CG_DEVICE;
    snprintf(reason, size, "%s, %.0f us a step by the model, beside %.0f us %s", names[s->kind],
             1e6 * (there < host ? there : host), 1e6 * (there < host ? host : there),
             there < host ? "on the cores" : "on the device");
}

enum solver_kind solver_settled(const struct solver *s) {
    return s->kind == SOLVER_AUTO ? SOLVER_CG : s->kind;
}

/* Seconds of a solution by every rank, and of one over ranks: medians, which single delays by other
 * programs do not move. Any right-hand side will do. A failure is told when a step is solved. */
static evn_status try_both(struct solver *s, evn_crew *crew, double seconds[2]) {
    enum { TRIES = 9 };
    double took[2][TRIES];
    const double *b = solve_cg_matrix(s->cg)->root;
    double *a = malloc(sizeof *a * (size_t)s->n);
    evn_status status = evn_cluster_agree(
        s->ranks->cluster, a ? EVN_OK : evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0"));
    for (int t = 0; !status && t < 2 * TRIES; t++) {
        int iterations;
        memset(a, 0, sizeof *a * (size_t)s->n);
        const double begin = evn_now();
        status = solve_cg(s->cg, t % 2 ? s->ranks : NULL, crew, b, a, &iterations);
        took[t % 2][t / 2] = evn_now() - begin;
        if (status == EVN_BODY) status = EVN_OK;
    }
    free(a);
    for (int over = 0; !status && over < 2; over++) seconds[over] = median(took[over], TRIES);
    return status ? status : evn_cluster_tell(s->ranks->cluster, seconds, 2 * sizeof *seconds);
}

/* Rows are shared out where a solution then takes less than this part: who waits for others an
 * iteration is at the mercy of whatever delays one of them. */
#define ENOUGH 0.8

evn_status solver_share(struct solver *s, evn_cluster *cluster, evn_crew *crew, char *reason,
                        size_t size) {
    const int ranks = evn_cluster_size(cluster);
    double seconds[2];
    if (s->gmres || (s->wanted != SOLVER_CG_RANKS && s->wanted != SOLVER_AUTO)) return EVN_OK;
    if (solve_cg_matrix(s->cg)->chunks < ranks) {
        snprintf(reason, size, "cg: %d rows are few for %d ranks, %d each at least", s->n, ranks,
                 SOLVE_CHUNK);
        return EVN_OK;
    }
    evn_status status =
        evn_cluster_agree(cluster, solve_ranks_open(&s->ranks, solve_cg_matrix(s->cg), cluster));
    if (!status && s->wanted == SOLVER_AUTO) status = try_both(s, crew, seconds);
    if (status) return status;
    const int shared = s->wanted == SOLVER_CG_RANKS || seconds[1] < ENOUGH * seconds[0];
    if (s->wanted == SOLVER_CG_RANKS)
        snprintf(reason, size, "as asked for");
    else
        snprintf(reason, size, "%s, %.0f us as tried, beside %.0f us %s",
                 names[shared ? SOLVER_CG_RANKS : SOLVER_CG], 1e6 * seconds[shared],
                 1e6 * seconds[!shared], shared ? "where every rank solves" : "over ranks");
    s->kind = shared ? SOLVER_CG_RANKS : SOLVER_CG;
    if (!shared) solve_ranks_close(s->ranks);
    if (!shared) s->ranks = NULL;
    return EVN_OK;
}

evn_status solver_attach(struct solver *s, const evn_units *units, int steps, int single) {
    evn_status status = solver_check_units(s->kind, units);
    if (status || s->kind != SOLVER_CG_DEVICE) return status;
    solver_detach(s);
    return solve_gpu_open(&s->gpu, s->cg, solver_first_device(units), steps, single);
}

void solver_detach(struct solver *s) {
    solve_gpu_close(s->gpu);
    s->gpu = NULL;
}

evn_status solver_solve(struct solver *s, evn_crew *crew, const double *b, double *a) {
    if (s->kind == SOLVER_MUMPS) {
        memcpy(a, b, sizeof *a * (size_t)s->n);
        return s->plugin->solve(s->mumps, a);
    }
    int iterations;
    evn_status status = s->gmres ? solve_gmres(s->gmres, crew, b, a, &iterations)
                        : s->gpu ? solve_gpu(s->gpu, b, a, &iterations)
                                 : solve_cg(s->cg, s->ranks, crew, b, a, &iterations);
    s->iterations += iterations;
    return status;
}

struct solve_gpu *solver_gpu(const struct solver *s) {
    return s->gpu;
}
void solver_solved(struct solver *s, int iterations) { s->iterations += iterations; }

long long solver_iterations(const struct solver *s) { return s->iterations; }
size_t solver_entries(const struct solver *s) { return s->entries; }
