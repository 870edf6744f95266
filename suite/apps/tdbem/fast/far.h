/* The far field: what vertices do to others in cells that are not near, by skeletons.
 *
 * Between two far cells A and B of one level, rows r of A's skeleton of targets and columns s of
 * B's of sources have row-vectors M_k(r,s) that act as the matrices' own do up to the highest
 * frequency (vectors.h):
 *
 *     M_k(i,j) = sum over r and s of weight_A[r][i] M_k(r,s) weight_B[s][j].
 *
 * An image of B behind planes is a pair of its own, with the same past; so is what B gives to the
 * rows of a filter (slices.h).
 *
 * Nothing comes from a far cell in less than `due` steps of its level, so a level is summed that
 * many steps at a time, and no step of a group needs another one of it.
 */
#pragma once

#include "tdbem/fast/skeleton.h"
#include "tdbem/fast/vectors.h"
#include <evener/cluster.h>
#include <evener/crew.h>

/* Row-vectors of a target's rows with a source's columns, by columns. */
struct far_pair {
    int source; /* cell */
    struct spots_source is;
    float scale;  /* of the values */
    size_t entry; /* the first among the target's */
};

struct far_target {
    struct far_pair *pair;
    int pairs;
    size_t entries;
    uint16_t *first; /* [entries]: k of its first tap */
    /* [entries * taps]: with wide values these, scale 1 */
    int16_t *value;
    float *wide;
};

/* Value n of a target, in a pair. */
static inline double far_value(const struct far_target *t, const struct far_pair *pair, size_t n) {
    return t->wide ? (double)t->wide[n] : (double)pair->scale * t->value[n];
}

struct far_level {
    int due;      /* steps at a time */
    int reach;    /* largest k of its row-vectors, at least a period */
    int soonest;  /* smallest k */
    int length;   /* of its rings, in steps */
    double *work; /* [cells + 1]: values before each of its cells */
};

/* A sum whose bits hardly depend on the order of what was added. */
struct exact {
    double high, low;
};

struct far {
    const struct octree *cells;
    struct skeletons *skeletons;
    int vertices, period;  /* period: steps at a time of the leaves */
    int fields;            /* the matrices, and filters' rows */
    int rows;              /* of the slices from one field to the next */
    int low, high;         /* rows of the slices low .. high-1 are summed */
    int taps, apart, mean; /* of row-vectors: taps.h */
    int is_wide;           /* values are kept as float */
    struct far_level level[OCTREE_LEVELS + 1];
    struct far_target *target; /* [cell] */
    double *rest; /* [fields * vertices]: what is to be taken off a row's sum over all columns and
                     k, so that a constant makes nothing; 0 where it need not */
    double bytes, values;
    struct exact
        *near; /* [fields * vertices]: sums of the near values of each row, until `rest` is known */
    size_t doubles;       /* of a state */
    size_t *ring, *local; /* [cell]: in a state, of its sources' steps, of its targets' sums */
    size_t sums, recent;  /* in a state: [fields * vertices * period], [period * vertices], means */
    size_t past;          /* likewise: [kept * vertices], step n at n % kept */
    int kept;             /* so many that a group can be done again, and then a period's means */
};

/* Rings slide on by so much. Step n, from 1 on, of one that has done so `frame` times, and the
 * solution of a step, one of the last `kept`, in a state. */
static inline int far_slide(const struct far_level *l) { return l->length - l->reach; }
static inline int far_place(const struct far_level *l, double frame, int n) {
    return l->reach + n - 1 - (int)frame * far_slide(l);
}
static inline size_t far_past(const struct far *f, int n) {
    return f->past + (size_t)((n + f->kept) % f->kept) * (size_t)f->vertices;
}

/* Whether a cell has rows that are summed, of a field and of any. */
static inline int far_wants_field(const struct far *f, int cell, int field) {
    const int from = field * f->rows;
    return f->cells->cell[cell].begin < f->high - from && f->cells->cell[cell].end > f->low - from;
}

static inline int far_wants(const struct far *f, int cell) {
    int wants = 0;
    for (int field = 0; field < f->fields; field++) wants |= far_wants_field(f, cell, field);
    return wants;
}

struct far_options {
    const struct slices_options *slices; /* of the matrices */
    int low, high;                       /* rows of the slices wanted: low .. high-1 */
    int group;       /* steps of a group: `period` divides it, or it divides that */
    double accuracy; /* see skeleton_options */
    double highest;
    int cores;
    evn_cluster *cluster; /* whose ranks have rows each; NULL: this process alone */
};

/* Whether sixteen bits a value are not enough, and the bytes of a row-vector. */
static inline int far_is_wide(double accuracy) { return accuracy < 3e-5; }
static inline double far_bytes(int is_wide, double taps) { return (is_wide ? 4 : 2) * taps + 2; }

/* Makes skeletons and row-vectors; the cells must outlive it. Every rank calls it. EVN_USAGE:
 * slices' options; EVN_MEMORY; EVN_STOPPED. */
evn_status far_open(struct far **out, const struct octree *cells, const struct mesh *mesh,
                    const struct far_options *options);
void far_close(struct far *far);

/* For the rigid problem, in which a constant makes nothing: near columns as they are made, after
 * the skew lag; and when all are, on all ranks, `rest` from them. EVN_MEMORY, and what ranks have
 * failed with. */
void far_add_near(struct far *far, const struct slices *near);
evn_status far_hold_constants(struct far *far, evn_cluster *cluster);

/* What has been, as far as far cells need it: `doubles` of them, all zero before step 1. */
typedef double far_state;

/* To be called before each step n, from 1 on, and after it, with its solution. */
void far_begin(const struct far *far, far_state *state, int n, evn_crew *crew);
void far_note(const struct far *far, far_state *state, int n, const double *a, evn_crew *crew);

/* Over ranks a state has the sums of its own rows alone: makes it that of all of them, with which
 * any number goes on. Collective. EVN_MEMORY. */
evn_status far_gather(const struct far *far, far_state *state, evn_cluster *cluster);

/* A row of the slices among those of vertices, field by field; -1: a point's. */
static inline int far_row(const struct far *f, int row) {
    const int v = row % f->rows;
    return v < f->vertices ? row / f->rows * f->vertices + v : -1;
}

/* The sum of step n in a row of the slices. */
static inline double far_sum(const struct far *f, const far_state *state, int n, int row) {
    const int at = far_row(f, row);
    const size_t period = (size_t)f->period;
    return at < 0 ? 0 : state[f->sums + (size_t)at * period + (size_t)(n - 1) % period];
}
