/* Verification: the official values of NPB-MZ, the comparison with them, the nominal count of
 * operations, and both printed with NPB's labels, so that scripts made for NPB's output can read
 * ours. */
#pragma once

#include "npbmz/host/norms.h"
#include "npbmz/problem.h"

#include <stdio.h>

enum { FIGURES = 2 * NC + 1 }; /* five residual norms, five error norms, LU's surface integral */

struct verification {
    int verdict;         /* 1 verified, 0 not, -1: there are no official values for this run */
    int figures;         /* 11 for LU, else 10 */
    int compared;        /* whether reference and difference hold something */
    int steps_match;     /* the run has an official number of steps */
    int dt_matches;      /* 1: the run has the official time step */
    int steps_reference; /* official number of steps */
    double dt_reference;
    double value[FIGURES];     /* XCR, XCE, XCI */
    double reference[FIGURES]; /* official figures; those of the full run if the number of steps has
                                  none */
    double difference[FIGURES]; /* |value - reference| / |reference| */
    int within[FIGURES];        /* difference <= 1e-8 */
};

/* Compares the norms of a run of `steps` steps, sums over all zones, with the official values. A
 * run that is no official one (perturbed, or of other steps or time step) has verdict -1; a number
 * that is not finite is never within. Returns the verdict. */
int verify(const struct problem *p, int steps, int perturbed, const struct norms *n,
           struct verification *v);

/* The verdict alone, of a run that was not perturbed. */
int verify_run(const struct problem *p, int steps, const struct norms *n);

/* Nominal million operations of one step of all zones, as NPB defines them, whatever the code
 * really executes. Needs problem_zones. */
double problem_mop(const struct problem *p);

/* The lines of the verification, as NPB prints them. */
void verification_print(const struct problem *p, const struct verification *v, FILE *out);

/* Fields of the result block beside the problem itself. NULL texts are printed as "(none)". */
struct report {
    int steps, threads, verdict;
    int before; /* steps that an earlier run has done */
    double seconds;
    const char *version, *date;                           /* version of the program, and its date */
    const char *compiler, *linker, *libraries, *includes; /* how it was built */
    const char *compile_flags, *link_flags;
};

/* The title and the lines before the first step, and the result block after the verification. */
void heading_print(const struct problem *p, const char *version, int steps, FILE *out);
void report_print(const struct problem *p, const struct report *r, FILE *out);
