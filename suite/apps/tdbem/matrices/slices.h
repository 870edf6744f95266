/* The matrices M_k of the time-domain boundary element method, stored as slices: for each column j
 * a dense row-vector over k for every row i.
 *
 * Marching-on-in-time: sum over k of M_k a_(n-k) = l_n. P1 in space; sound-hard: hats in time,
 * tested with the steps' indicator functions (Bramas, Coulaud, Sylvand, Parallel Computing 49
 * (2015), section 3, for the slices; the combined field equation for the formulation); sound-soft:
 * constants in each step, and the same tests. M_k(i,j) is
 * not zero only while a sphere of radius about k*delta around a point of i's support meets j's, so
 * for each (i,j) the k's are one contiguous range, known from geometry before anything is
 * integrated.
 *
 * Bits do not depend on the number of cores. Everything is computed in double.
 */
#pragma once

#include "tdbem/mesh/mesh.h"
#include "tdbem/mesh/octree.h"
#include <evener/status.h>
#include <evener/tdbem.h>
#include <evener/program.h>
#include <stddef.h>
#include <stdint.h>

/* Column j's values are begin[j+1] - begin[j] from slices_column() on, row after row; the
 * row-vector of row i begins after those of rows 0 .. i-1 and has M_k for k = first ..
 * first+count-1. Ranges are there for all columns, values only for columns from .. to-1, which are
 * all of them except where slices come by intervals.
 *
 * Rows 0 .. columns-1 are the matrices' rows. M_0 is in there as k = 0, symmetric positive
 * definite: with eta > 0 its skew-symmetric part has been moved to M_1, or to M_1 and M_2 (the skew
 * lag), except where steps are so long for thin walls that these would not decay then. Rows columns
 * .. and on are the given points: the scattered pressure at point p and time t_n is PLUS the sum
 * over k and j of M_k(columns+p, j) a_(n-k)(j), for both problems. A point nearer than delta to the
 * surface has entries of k = 0, which need a_n itself.
 *
 * A filter of the boundary's admittance, see struct slices_options, has as many rows again, behind
 * those: what its triangles would give in the same places if dp/dn = (1/c) dp/dt there. Entries of
 * k = 0 are in these too, and no skew lag. */
struct slices_run {
    int from, to; /* rows from .. to-1 */
    size_t at;    /* ranges before theirs, of all columns */
};

struct slices {
    int columns, rows;
    /* Where not all rows have ranges: those of column j are in the runs from run_start[j] up to
     * run_start[j + 1], which ascend. NULL: all have. */
    size_t *run_start; /* [columns + 1] */
    struct slices_run *run;
    int kmax; /* largest k of the matrices: floor(longest/delta), and 2 more for rigid, 1 more
                 for soft with eta > 0 */
    int kmax_points; /* largest k of the points' rows, -1 without points */
    int longest;     /* largest count, d_max */
    enum tdbem_problem problem;
    double delta; /* c dt, a length */
    double eta;
    int quad, rule;
    int low, high;   /* columns whose ranges are there: all, except where there is no room */
    uint16_t *first; /* by columns, from `low` on, then by rows */
    uint8_t *count;
    size_t *begin; /* [columns + 1] */
    int from, to;  /* columns whose values are there */
    double *value; /* values of these columns */
    size_t nnz;    /* values of the matrices, without the points' */
};

struct slices_options {
    enum tdbem_problem problem;
    double eta; /* >= 0, weight of the second equation. 0: hypersingular or single layer alone, all
                   M_k symmetric to the bit */
    double delta; /* c dt as a length, > 0 */
    int thin; /* parts of the surface that face each other are nearer than delta: see skew_lag() */
    int quad; /* 0: production rule. L > 0: touching pairs with 16 points on each of the 4^L parts
                 of the outer triangle, others with 4^L parts of their own rule; up to 6 */
    int rule; /* 0: by nearness, 12, 7, 6 or 3 points; else that many points for all pairs: then
                 constants are null fields to round-off, also of the double layer */
    int points; /* observation points, one more row each */
    const double (*point)[3];
    /* rigid, eta > 0: instead of dp/dn = 0, dp/dn = (1/c) beta dp/dt on each triangle of the mesh,
     * n into the air; NULL: 0. Triangles may have a filter beside, from 0, or -1 */
    const double *beta;
    const int *filter; /* NULL: none has one */
    int filters;
    /* of pairs of vertices, or of one and an image of another, only those in near leaves have
     * values; the points have all. NULL: all */
    const struct octree *near;
    /* called now and then by one thread with the share done, 0..1; returning non-zero stops the
     * generation with EVN_STOPPED. NULL: not wanted */
    int (*progress)(double done, void *arg);
    void *arg;
};

/* Rows of the slices: the mesh's vertices and the points, and these again for each filter. */
static inline int slices_rows(const struct mesh *mesh, const struct slices_options *o) {
    return (mesh->vertices + o->points) * (1 + o->filters);
}

/* Soft, eta > 0: the equations are those of (1/c) d/dt + 1/longest of the single layer, and eta
 * times its normal derivative. The latter and d/dt alone would let a charge stay that makes a
 * constant pressure inside; this lets it go within some transits. 1/longest times delta, else 0. */
static inline double slices_damping(const struct mesh *m, enum tdbem_problem problem, double eta,
                                    double delta) {
    return problem == TDBEM_SOFT && eta > 0 ? delta / m->longest : 0;
}

/* Generates on `cores` threads. EVN_USAGE: options out of range, or a mesh so fine in units of
 * delta that ranges do not fit (the message says which delta would). EVN_MEMORY. EVN_STOPPED. */
evn_status slices_generate(struct slices **out, const struct mesh *mesh,
                           const struct slices_options *options, int cores);
void slices_close(struct slices *slices);

/* slices_generate() by intervals of columns, where there is no room for all values at once: the
 * same bits, whatever the intervals. Ranges are found by opening; then each call makes the columns
 * from where the one before ended (0 at first) up to `to`-1, instead of those that there were. In
 * memory there is an interval at a time: 8 bytes for each value and each row-vector of it, beside 3
 * bytes for each of all row-vectors. Few intervals are best, of columns that are neighbours in
 * space: slices.c says what is computed twice. `mesh` and the options' points must outlive the
 * maker. After a failure it can only be closed. */
struct slices_maker;
evn_status slices_maker_open(struct slices_maker **out, const struct mesh *mesh,
                             const struct slices_options *options, int cores);
evn_status slices_maker_next(struct slices_maker *maker, int to);

/* Leaves columns out: the next ones that are made begin with `to`. */
void slices_maker_skip(struct slices_maker *maker, int to);

/* Where there is no room for all ranges either. Without any of them: columns, rows and kmax are
 * known. slices_maker_ranges() makes those of columns from .. to-1 be there, instead of others if
 * some of these are not (none at all: from = to); the first time columns ascend, and sizes (begin,
 * nnz, longest, kmax_points) are known as far as it has come. Once it has come to the end
 * slices_maker_next() finds by itself those it needs. The same ranges to the bit; a pair of columns
 * is measured once for all ranges at once, and twice for each time that all of them are found by
 * parts. */
evn_status slices_maker_prepare(struct slices_maker **out, const struct mesh *mesh,
                                const struct slices_options *options, int cores);
evn_status slices_maker_ranges(struct slices_maker *maker, int from, int to);
/* All ranges with rows of near leaves (options' `near`), of which this process finds those of
 * columns from .. to-1; complete() puts those of others beside them, to their places in `first` and
 * `count`. `mine`: whether this process has its own; returns whether all are there. */
evn_status slices_maker_share(struct slices_maker *maker, int from, int to,
                              evn_status (*complete)(struct slices *s, evn_status mine, void *arg),
                              void *arg);
/* Bytes of its plan of the work, which it has beside ranges, M_0, values and their places. */
double slices_maker_plan_bytes(const struct slices_maker *maker);
/* Ranges of `count` columns alone, all rows, as slices of so many columns, for estimates. */
evn_status slices_maker_sample(struct slices **out, const struct slices_maker *maker,
                               const int *column, int count);
/* Belongs to the maker. */
const struct slices *slices_maker_slices(const struct slices_maker *maker);
void slices_maker_close(struct slices_maker *maker);

/* Needs of slices_generate(), without integrating: values of the matrices and of all rows, and
 * bytes of memory. */
struct slices_size {
    int kmax, longest;
    size_t nnz, values;
    double bytes;
};
evn_status slices_size(struct slices_size *out, const struct mesh *mesh,
                       const struct slices_options *options, int cores);

/* The values of single entries M_k(i,j), vertices in the present numbering, BEFORE the skew lag;
 * only the triangle pairs these need are integrated. Entries outside of the range are 0. i may be
 * mesh->vertices + p for point p. EVN_USAGE: an index out of range. */
struct slices_entry {
    int k, i, j;
    double value;
};
evn_status slices_entries(struct slices_entry *entry, int count, const struct mesh *mesh,
                          const struct slices_options *options);

/* Row-vectors of any rows in any columns, as slices_generate() makes them, up to round-off and
 * before the skew lag. */
struct slices_block {
    int rows, columns;
    uint16_t *first; /* [i * columns + j] of the i-th row and the j-th column asked for */
    uint8_t *count;
    size_t *begin; /* [rows * columns + 1]: where the values of each begin */
    double *value;
    struct slices_desk *desk; /* room that is used again */
};

/* A mesh and options in order for blocks, for any number of threads at once. `mesh` and the
 * options' points must outlive it; there is no admittance. EVN_USAGE, as slices_generate();
 * EVN_MEMORY. */
struct slices_body;
evn_status slices_body_open(struct slices_body **out, const struct mesh *mesh,
                            const struct slices_options *options);
void slices_body_close(struct slices_body *body);

/* Makes a block in the room of the one before, {0} at first; on one thread. row[rows]: vertices, or
 * vertices + p for point p; column[columns]: vertices; each of them once, in any order. Triangles
 * are integrated once a block, so vertices that are neighbours are cheapest. EVN_USAGE: no such
 * rows or columns. EVN_MEMORY. After a failure there is no block, and the room can be used on. */
evn_status slices_block(struct slices_block *block, const struct slices_body *body, const int *row,
                        int rows, const int *column, int columns);
void slices_block_close(struct slices_block *block);

/* Mass matrix (int N_i N_j) times a vector: y = G x; for mass-weighted norms. */
void slices_mass(const struct mesh *mesh, const double *x, double *y);

/* Ranges of columns 0 .. j-1. */
static inline size_t slices_before(const struct slices *s, int j) {
    return s->run ? s->run[s->run_start[j]].at : (size_t)j * (size_t)s->rows;
}

/* First range of column j, low <= j < high. */
static inline size_t slices_at(const struct slices *s, int j) {
    return slices_before(s, j) - slices_before(s, s->low);
}

/* Where row i of column j is among all ranges; SIZE_MAX: it has none. */
static inline size_t slices_find(const struct slices *s, int i, int j) {
    if (!s->run) return (size_t)j * (size_t)s->rows + (size_t)i;
    const struct slices_run *run = s->run + s->run_start[j], *end = s->run + s->run_start[j + 1];
    while (run < end && run->to <= i) run++;
    return run < end && run->from <= i ? run->at + (size_t)(i - run->from) : SIZE_MAX;
}

/* Down the rows of a column that have ranges:
 *
 *     for (struct slices_walk w = slices_walk(s, j); w.row < s->rows; slices_step(&w))
 *         .. s->first[w.at] ..
 */
struct slices_walk {
    const struct slices *s;
    size_t at, run; /* run: the next one */
    int column, row, end;
};

static inline void slices_walk_on(struct slices_walk *w) {
    const struct slices *s = w->s;
    w->row = w->end = s->rows;
    if (!s->run || w->run == s->run_start[w->column + 1]) return;
    w->row = s->run[w->run].from;
    w->end = s->run[w->run++].to;
}

static inline struct slices_walk slices_walk(const struct slices *s, int j) {
    struct slices_walk w = {.s = s, .at = slices_at(s, j), .column = j, .end = s->rows};
    if (!s->run) return w;
    w.run = s->run_start[j];
    slices_walk_on(&w);
    return w;
}

static inline void slices_step(struct slices_walk *w) {
    w->at++;
    if (++w->row >= w->end) slices_walk_on(w);
}

/* The values of column j, from <= j < to. */
const double *slices_column(const struct slices *s, int j);

/* Row-vector of row i in column j: its values, first k and length. Walks the rows before i: for
 * tests and look-ups, not for loops. */
const double *slices_row(const struct slices *s, int i, int j, int *first, int *count);

/* M_k as compressed rows (CSR): of rows 0 .. columns-1, or of all rows. start[rows+1]; column
 * ascending in a row. Freed by the caller (free() of the three arrays). */
struct slices_csr {
    int k, first; /* row 0 is row `first` of the slices */
    int rows;
    size_t *start;
    int *column;
    double *value;
};
evn_status slices_matrix(struct slices_csr *out, const struct slices *s, int k, int with_points);
/* slices_matrix() by intervals: opened for rows from .. to-1 when ranges are known, then given the
 * values of all columns in ascending order; complete after the last. Where ranges come by parts,
 * too, it is opened in three: begun, told of each part's columns, and made ready. */
evn_status slices_matrix_open(struct slices_csr *out, const struct slices *s, int k, int from,
                              int to);
evn_status slices_matrix_begin(struct slices_csr *out, int k, int from, int to);
void slices_matrix_count(struct slices_csr *m, const struct slices *s, int from, int to);
evn_status slices_matrix_ready(struct slices_csr *m);
size_t slices_matrix_entries(const struct slices_csr *m);
void slices_matrix_add(struct slices_csr *m, const struct slices *s);
/* One entry; those of a row come by ascending columns. */
void slices_matrix_put(struct slices_csr *m, int row, int column, double value);
void slices_csr_free(struct slices_csr *m);
/* The place of the entry of a list (a row, or of a matrix by columns a column) that has this number
 * in `column`; none: the list's end, start[list + 1]. */
size_t slices_csr_find(const struct slices_csr *m, int list, int number);

/* The paper's score of an ordering (section 7.4.1): the mean over columns and consecutive rows of
 * the square of how many k both row-vectors cover. Over `vertices` rows; no values are needed. */
double slices_score(const struct slices *s, int vertices);
