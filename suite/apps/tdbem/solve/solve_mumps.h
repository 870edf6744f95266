/* MUMPS's Cholesky factors of M_0, as a plug-in: its sequential library has functions of its own by
 * the names of MPI's, which an executable that is to open an MPI must not have.
 */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

#define SOLVE_MUMPS_VERSION 1
#define SOLVE_MUMPS_FILE    "evener-mumps.so"

struct solve_mumps;

struct solve_mumps_plugin {
    unsigned version;

    /* The factors of the symmetric matrix with these entries of its lower triangle, rows and
     * columns from 1; the arrays stay the caller's and are needed until close(). `fail` is
     * evn_fail(). EVN_USAGE: it is not positive definite; EVN_BODY, EVN_MEMORY. */
    evn_status (*open)(struct solve_mumps **out, int n, size_t count, int *row, int *column,
                       double *value, evn_status (*fail)(evn_status, const char *, ...));
    void (*close)(struct solve_mumps *s);
    /* `a` is the right-hand side and becomes the solution. EVN_BODY. */
    evn_status (*solve)(struct solve_mumps *s, double *a);
    /* Entries of the factor. */
    size_t (*entries)(const struct solve_mumps *s);
};
