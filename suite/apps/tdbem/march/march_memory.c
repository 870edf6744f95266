/* What filters of the boundary remember (boundary.h).
 *
 * A filter is the same in all places of its triangles, and so it can act behind the sums over the
 * surface instead of before them: a filter's rows of the matrices (slices.h) sum up y, what its
 * triangles give in each row where dp/dn = (1/c) dp/dt, and the filter of y is what they give. Of a
 * pole that takes one complex number a row. */
#include "tdbem/march/march.h"
#include "common/run/free_all.h"
#include <complex.h>
#include <stdlib.h>

struct memory {
    int rows, poles;        /* rows of vertices and points; poles of all filters */
    int *filter;            /* [poles]: whose each one is */
    struct pole_step *step; /* [poles] */
    double *weight;         /* [poles] */
    double complex *state;  /* [poles * rows] */
};

void memory_close(struct march *m) {
    struct memory *y = m->memory;
    if (!y) return;
    free_all(y->filter, y->step, y->weight, y->state, y);
    m->memory = NULL;
}

static int count_poles(const struct boundary *b) {
    int poles = 0;
    for (int f = 0; b && f < b->filters; f++) poles += b->of[f].poles;
    return poles;
}

evn_status memory_open(struct march *m) {
    const struct boundary *b = m->p->boundary;
    const int rows = m->p->layout->columns + m->p->points + m->p->inside, poles = count_poles(b);
    if (!poles) return EVN_OK;
    struct memory *y = m->memory = calloc(1, sizeof *y);
    if (y) {
        y->rows = rows;
        y->filter = malloc((size_t)poles * sizeof *y->filter);
        y->step = malloc((size_t)poles * sizeof *y->step);
        y->weight = malloc((size_t)poles * sizeof *y->weight);
        y->state = calloc((size_t)poles * (size_t)rows, sizeof *y->state);
    }
    if (!y || !y->filter || !y->step || !y->weight || !y->state)
        return evn_fail(EVN_MEMORY, "td-bem: no memory for %d poles", poles);
    for (int f = 0; f < b->filters; f++)
        for (int p = 0; p < b->of[f].poles; p++) {
            y->filter[y->poles] = f;
            y->step[y->poles] = pole_step(&b->of[f].pole[p], b->dt);
            y->weight[y->poles++] = pole_weight(&b->of[f].pole[p]);
        }
    return EVN_OK;
}

double *memory_state(const struct march *m, size_t *doubles) {
    const struct memory *y = m->memory;
    *doubles = y ? 2 * (size_t)y->poles * (size_t)y->rows : 0;
    return y ? (double *)y->state : NULL;
}

double memory_at(const struct march *m, int i) {
    const struct memory *y = m->memory;
    double sum = 0;
    for (int p = 0; p < y->poles; p++)
        sum += y->weight[p] * creal(y->state[(size_t)p * (size_t)y->rows + (size_t)i]);
    return sum;
}

/* The filter's row of place i at the q-th step: its sums, and what a_n itself gives. */
static double row_value(const struct march *m, int filter, int i, int q) {
    const tdbem *p = m->p;
    const size_t columns = (size_t)p->layout->columns;
    const size_t row = (size_t)(1 + filter) * (size_t)m->memory->rows + (size_t)i;
    const double *a = m->a + (size_t)q * columns;
    double sum = m->b[row];
    for (size_t e = p->now.start[row - columns]; e < p->now.start[row - columns + 1]; e++)
        sum += p->now.value[e] * a[p->now.column[e]];
    return sum;
}

struct advance {
    struct march *m;
    int q;
};

static void advance_rows(evn_crew *crew, int me, int cores, void *arg) {
    const struct advance *now = arg;
    struct memory *y = now->m->memory;
    (void)crew;
    for (int i = evn_crew_begin(y->rows, me, cores), end = evn_crew_begin(y->rows, me + 1, cores);
         i < end; i++) {
        double value = 0;
        for (int p = 0; p < y->poles; p++) {
            double complex *state = &y->state[(size_t)p * (size_t)y->rows + (size_t)i];
            if (!p || y->filter[p] != y->filter[p - 1])
                value = row_value(now->m, y->filter[p], i, now->q);
            *state = y->step[p].decay * *state + y->step[p].gain * value;
        }
    }
}

void memory_step(struct march *m, int q) {
    struct advance now = {m, q};
    const struct slices_csr *near = &m->p->now;
    const double work = (double)near->start[near->rows] + (double)m->memory->rows;
    evn_crew_run(m->crew, NULL, evn_crew_cores(m->crew, work, 8192), advance_rows, &now);
}
