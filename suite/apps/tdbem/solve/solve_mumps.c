/* The plug-in with MUMPS. */
#include "tdbem/solve/solve_mumps.h"
#include <dmumps_c.h>
#include <stdlib.h>

struct solve_mumps {
    DMUMPS_STRUC_C mumps;
    evn_status (*fail)(evn_status, const char *, ...);
};

static evn_status do_job(struct solve_mumps *s, int job) {
    s->mumps.job = job;
    dmumps_c(&s->mumps);
    const int code = s->mumps.infog[0];
    if (code >= 0) return EVN_OK;
    if (code == -10 || code == -40)
        return s->fail(EVN_USAGE, "td-bem: M_0 is not positive definite (MUMPS: INFOG(1) = %d)",
                       code);
    return s->fail(EVN_BODY, "td-bem: MUMPS failed with INFOG(1) = %d, INFOG(2) = %d", code,
                   s->mumps.infog[1]);
}

static void close_it(struct solve_mumps *s) {
    if (!s) return;
    if (s->mumps.n) do_job(s, -2);
    free(s);
}

static evn_status open_it(struct solve_mumps **out, int n, size_t count, int *row, int *column,
                          double *value, evn_status (*fail)(evn_status, const char *, ...)) {
    *out = NULL;
    struct solve_mumps *s = calloc(1, sizeof *s);
    if (!s) return fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
    s->fail = fail;
    s->mumps.par = 1;
    s->mumps.sym = 1;
    s->mumps.comm_fortran = -987654; /* MUMPS's number for MPI_COMM_WORLD */
    evn_status status = do_job(s, -1);
    for (int i = 0; i < 4; i++) s->mumps.icntl[i] = i == 3 ? 0 : -1; /* MUMPS prints nothing */
    if (!status) {
        s->mumps.n = n;
        s->mumps.nnz = (MUMPS_INT8)count;
        s->mumps.irn = row;
        s->mumps.jcn = column;
        s->mumps.a = value;
        status = do_job(s, 4);
    }
    if (status) {
        close_it(s);
        return status;
    }
    s->mumps.nrhs = 1;
    s->mumps.lrhs = n;
    *out = s;
    return EVN_OK;
}

static evn_status solve_it(struct solve_mumps *s, double *a) {
    s->mumps.rhs = a;
    return do_job(s, 3);
}

static size_t entries_of(const struct solve_mumps *s) { return (size_t)s->mumps.infog[8]; }

extern const struct solve_mumps_plugin evener_mumps_v1;
__attribute__((visibility("default"))) const struct solve_mumps_plugin evener_mumps_v1 = {
    SOLVE_MUMPS_VERSION, open_it, close_it, solve_it, entries_of};
