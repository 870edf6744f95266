/* The choice among solvers, and MUMPS. */
#include "tdbem/solve/solve.h"
#include "tdbem/solve/solve_cg.h"
#include "tdbem/solve/solve_gpu.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef EVENER_MUMPS
#    include <dmumps_c.h>
#endif

struct solver {
    enum solver_kind kind;
    int n;
    struct solve_cg *cg; /* NULL: another kind */
    struct solve_gpu *gpu;
    long long iterations;
    size_t entries;
#ifdef EVENER_MUMPS
    DMUMPS_STRUC_C mumps;
    int *irn, *jcn;
    double *entry;
#endif
};

static const char *const names[] = {
    [SOLVER_CG] = "cg", [SOLVER_CG_DEVICE] = "cg:device", [SOLVER_MUMPS] = "mumps"};

const char *solver_name(enum solver_kind kind) { return names[kind]; }

evn_status solver_find(enum solver_kind *out, const char *name) {
    int kind = SOLVER_CG;
    while (kind <= SOLVER_MUMPS && strcmp(name, names[kind]) != 0) kind++;
    if (kind > SOLVER_MUMPS)
        return evn_fail(EVN_USAGE, "solver: \"%s\" is none, expected cg, cg:device or mumps", name);
    *out = (enum solver_kind)kind;
    if (kind != SOLVER_MUMPS) return EVN_OK;
#ifdef EVENER_MUMPS
    return EVN_OK;
#else
    return evn_fail(EVN_MISSING, "solver: this build is without MUMPS (libmumps-seq-dev was not "
                                 "found when it was configured); use cg");
#endif
}

static evn_status no_memory(struct solver *s) {
    solver_close(s);
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
}

#ifdef EVENER_MUMPS
static evn_status mumps_job(struct solver *s, int job) {
    s->mumps.job = job;
    dmumps_c(&s->mumps);
    if (s->mumps.infog[0] >= 0) return EVN_OK;
    if (s->mumps.infog[0] == -10 || s->mumps.infog[0] == -40)
        return evn_fail(EVN_USAGE, "td-bem: M_0 is not positive definite (MUMPS: INFOG(1) = %d)",
                        s->mumps.infog[0]);
    return evn_fail(EVN_BODY, "td-bem: MUMPS failed with INFOG(1) = %d, INFOG(2) = %d",
                    s->mumps.infog[0], s->mumps.infog[1]);
}

static evn_status make_factors(struct solver *s, const struct slices_csr *m) {
    const size_t max = m->start[s->n];
    s->irn = malloc(max * sizeof *s->irn);
    s->jcn = malloc(max * sizeof *s->jcn);
    s->entry = malloc(max * sizeof *s->entry);
    if (!s->irn || !s->jcn || !s->entry) return no_memory(NULL);
    size_t count = 0;
    for (int i = 0; i < s->n; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++)
            if (m->column[e] <= i) {
                s->irn[count] = i + 1;
                s->jcn[count] = m->column[e] + 1;
                s->entry[count++] = m->value[e];
            }
    s->mumps.par = 1;
    s->mumps.sym = 1;
    s->mumps.comm_fortran = -987654; /* MUMPS's number for MPI_COMM_WORLD */
    evn_status status = mumps_job(s, -1);
    if (status) return status;
    for (int i = 0; i < 4; i++) s->mumps.icntl[i] = i == 3 ? 0 : -1; /* silent */
    s->mumps.n = s->n;
    s->mumps.nnz = (MUMPS_INT8)count;
    s->mumps.irn = s->irn;
    s->mumps.jcn = s->jcn;
    s->mumps.a = s->entry;
    status = mumps_job(s, 4);
    if (!status) s->entries = (size_t)s->mumps.infog[8];
    s->mumps.nrhs = 1;
    s->mumps.lrhs = s->n;
    return status;
}
#endif

evn_status solver_open(struct solver **out, const struct slices_csr *m, enum solver_kind kind,
                       double tolerance) {
    *out = NULL;
    evn_status status = solve_check_diagonal(m); /* MUMPS would not say so */
    if (status) return status;
    struct solver *s = calloc(1, sizeof *s);
    if (!s) return no_memory(NULL);
    s->kind = kind;
    s->n = m->rows;
    s->entries = m->start[s->n];
    if (kind != SOLVER_MUMPS) status = solve_cg_open(&s->cg, m, tolerance);
#ifdef EVENER_MUMPS
    if (kind == SOLVER_MUMPS) status = make_factors(s, m);
#endif
    if (status) {
        solver_close(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

void solver_close(struct solver *s) {
    if (!s) return;
#ifdef EVENER_MUMPS
    if (s->mumps.n) mumps_job(s, -2);
    free(s->irn);
    free(s->jcn);
    free(s->entry);
#endif
    solver_detach(s);
    solve_cg_close(s->cg);
    free(s);
}

static evn_device *first_device(const evn_units *units) {
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        if (evn_unit_devices(unit)) return evn_unit_device(unit, 0);
    }
    return NULL;
}

evn_status solver_check_units(enum solver_kind kind, const evn_units *units) {
    if (kind != SOLVER_CG_DEVICE || first_device(units)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "solver: cg:device needs a device, and the units %s have none; expected a GPU "
                    "unit among them, as 1:CPU:1,1:GPU:1, or the solver cg",
                    evn_units_text(units));
}

evn_status solver_attach(struct solver *s, const evn_units *units) {
    evn_status status = solver_check_units(s->kind, units);
    if (status || s->kind != SOLVER_CG_DEVICE) return status;
    solver_detach(s);
    return solve_gpu_open(&s->gpu, s->cg, first_device(units));
}

void solver_detach(struct solver *s) {
    solve_gpu_close(s->gpu);
    s->gpu = NULL;
}

evn_status solver_solve(struct solver *s, evn_crew *crew, const double *b, double *a) {
#ifdef EVENER_MUMPS
    if (s->kind == SOLVER_MUMPS) {
        memcpy(a, b, sizeof *a * (size_t)s->n);
        s->mumps.rhs = a;
        return mumps_job(s, 3);
    }
#endif
    int iterations;
    evn_status status =
        s->gpu ? solve_gpu(s->gpu, b, a, &iterations) : solve_cg(s->cg, crew, b, a, &iterations);
    s->iterations += iterations;
    return status;
}

long long solver_iterations(const struct solver *s) { return s->iterations; }
size_t solver_entries(const struct solver *s) { return s->entries; }
