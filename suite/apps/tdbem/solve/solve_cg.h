/* Conjugate gradients on the host, on one core or many: solve.kernel.h says what is computed.
 *
 * M_0 lies in strips of eight rows, so that eight rows are summed at once. Cores share chunks of
 * rows; bits do not depend on how many they are, since sums are made chunk by chunk, and chunks'
 * sums added in one order.
 */
#pragma once

#include <evener/crew.h>
#include "tdbem/matrices/slices.h"
#include "tdbem/solve/solve.kernel.h"
#include <evener/status.h>

/* The scaled matrix: also what goes to a device once. */
struct solve_matrix {
    int n, chunks; /* rows; chunks of SOLVE_CHUNK, the last one filled up with empty rows */
    size_t *begin; /* [strips + 1] entries before a strip, in SOLVE_STRIPs */
    int *column;   /* [begin[strips] * SOLVE_STRIP] */
    double *value; /* likewise; short rows are filled up with zeros of their own column */
    double *scale; /* [chunks * SOLVE_CHUNK] D^(-1/2); 0 in empty rows */
    double *root;  /* likewise: 1 / scale */
};

struct solve_cg;
struct solve_ranks;

/* EVN_USAGE: M_0 cannot be positive definite, with its diagonal. */
evn_status solve_check_diagonal(const struct slices_csr *m);

/* EVN_USAGE as above; EVN_MEMORY. */
evn_status solve_cg_open(struct solve_cg **out, const struct slices_csr *m, double tolerance);
void solve_cg_close(struct solve_cg *s);
const struct solve_matrix *solve_cg_matrix(const struct solve_cg *s);
double solve_cg_tolerance(const struct solve_cg *s);

/* `a`: first guess, then the solution; *iterations: their number. EVN_BODY. `ranks`: solve_ranks.h,
 * collective, with all of b and a on each of them, and the same status unless the exchange fails;
 * NULL: this process alone. */
evn_status solve_cg(struct solve_cg *s, struct solve_ranks *ranks, evn_crew *crew, const double *b,
                    double *a, int *iterations);

/* For others on the same matrix: a chunk of rows of M x; CHUNK numbers added up, which are
 * overwritten; and chunks' sums added up. Arrays are at multiples of 64 bytes. */
void solve_product(const struct solve_matrix *m, int chunk, const double *x, double *row);
double solve_tree(double *numbers);
double solve_total(const double *of_chunk, int chunks);

/* Iterations at most; and what a state says that is no solution: EVN_BODY with a line, else
 * EVN_OK. */
enum { SOLVE_ITERATIONS_MAX = 1000 };
evn_status solve_verdict(const struct solve_state *state, double tolerance);
