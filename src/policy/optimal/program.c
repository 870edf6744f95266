/* The third stage of the exact schedule: the integer program, in COIN-OR CBC.
 *
 * Its columns are T, then x (which unit has a task), then z (a link has one end on a unit and the
 * other elsewhere). Where units are near and far, what a link costs unit u has steps: nothing if
 * the other end is on u, more if it is near, more if it is farther. Then there is a z for each
 * step, which says that the other end is no nearer: the first of them in its place, the others
 * behind all that. Where no assignment fits into the units' memories there is a column for what
 * each is over.
 */
#include "policy/optimal/program.h"
#include "policy/optimal/cbc.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A step of a link's cost for a unit. */
struct term {
    int l, at, task, other; /* number of the link, its index, its ends */
    int unit;
    double cost; /* cost up to this step */
    double more; /* cost beyond that of the step before */
    int column;
};

/* Rows of coefficients; the solver wants columns. */
struct program {
    const struct optimal_model *m;
    struct term *term; /* terms by link, unit and step */
    size_t terms, room_terms;
    int columns, rows;
    size_t entries, room_rows, room;
    int *row, *column;
    double *value, *lower, *upper;
    double *max, *start; /* upper bound and initial value of each column */
    double *step;        /* costs of a link to the units, ascending */
    int failed;          /* 1: the program is incomplete */
    int out;             /* 1: incomplete for want of memory; 0: time was over */
};

static void lack_memory(struct program *p) { p->failed = p->out = 1; }

/* Begins a row. If time is over, or without memory, the program stays incomplete. */
static void begin_row(struct program *p, double lower, double upper) {
    p->failed |= optimal_late(p->m);
    if (p->failed) return;
    if ((size_t)p->rows == p->room_rows) {
        p->room_rows = 2 * p->room_rows + 1024;
        double *l = realloc(p->lower, sizeof *l * p->room_rows);
        if (l) p->lower = l;
        double *u = realloc(p->upper, sizeof *u * p->room_rows);
        if (u) p->upper = u;
        if (!l || !u) return lack_memory(p);
    }
    p->lower[p->rows] = lower;
    p->upper[p->rows++] = upper;
}

/* Adds a coefficient, unless it is far below the solver's tolerances. */
static void entry(struct program *p, int column, double value) {
    if (p->failed || fabs(value) < 1e-30) return;
    if (p->entries == p->room) {
        p->room = 2 * p->room + 4096;
        int *r = realloc(p->row, sizeof *r * p->room);
        if (r) p->row = r;
        int *c = realloc(p->column, sizeof *c * p->room);
        if (c) p->column = c;
        double *v = realloc(p->value, sizeof *v * p->room);
        if (v) p->value = v;
        if (!r || !c || !v) return lack_memory(p);
    }
    p->row[p->entries] = p->rows - 1;
    p->column[p->entries] = column;
    p->value[p->entries++] = value;
}

static void forget(struct program *p) {
    free(p->max);
    free(p->start);
    free(p->step);
    free(p->term);
    free(p->row);
    free(p->column);
    free(p->value);
    free(p->lower);
    free(p->upper);
}

/* Names the units anew so that of equal units the first has the heaviest task, the next the
 * heaviest that the first has not, and so on. */
static void canonical(const struct optimal_model *m, int *owner, int *name, int *done) {
    for (int u = 0; u < m->units; u++) {
        name[u] = -1;
        done[u] = 0;
    }
    for (int i = 0; i < m->tasks + m->units; i++) {
        int u = i < m->tasks ? owner[m->heavy[i]] : i - m->tasks;
        if (name[u] >= 0) continue;
        int v = 0;
        while (done[v] || !optimal_alike(m, u, v)) v++;
        name[u] = v;
        done[v] = 1;
    }
    for (int t = 0; t < m->tasks; t++) owner[t] = name[owner[t]];
}

static int x_of(const struct optimal_model *m, int t, int u) { return 1 + t * m->units + u; }
static int z_of(const struct optimal_model *m, int l, int u) {
    return 1 + (m->tasks + l) * m->units + u;
}

static int ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The different costs above 0 that link `at` can have for unit u, ascending, into p->step. Returns
 * their number. */
static int find_steps(struct program *p, int at, int u) {
    const struct optimal_model *m = p->m;
    int n = 0, kept = 0;
    if (!m->routes.kinds) {
        p->step[0] = m->cost[at];
        return m->cost[at] > 0;
    }
    for (int v = 0; v < m->units; v++) p->step[n++] = optimal_cost(m, at, u, v);
    qsort(p->step, (size_t)n, sizeof *p->step, ascending);
    for (int i = 0; i < n; i++)
        if (p->step[i] > (kept ? p->step[kept - 1] : 0)) p->step[kept++] = p->step[i];
    return kept;
}

static void add_term(struct program *p, struct term term) {
    if (p->terms == p->room_terms) {
        p->room_terms = 2 * p->room_terms + 1024;
        struct term *t = realloc(p->term, sizeof *t * p->room_terms);
        if (!t) return lack_memory(p);
        p->term = t;
    }
    p->term[p->terms++] = term;
}

/* Lists the steps of all links. Returns the number of columns so far. */
static int find_terms(struct program *p) {
    const struct optimal_model *m = p->m;
    int columns = 1 + (m->tasks + m->links) * m->units;
    for (int t = 0, l = 0; t < m->tasks && !p->failed; t++)
        for (int at = m->first[t]; at < m->first[t + 1]; at++) {
            if (m->other[at] < t) continue;
            p->failed |= optimal_late(m);
            for (int u = 0; u < m->units && !p->failed; u++) {
                const int steps = find_steps(p, at, u);
                for (int i = 0; i < steps && !p->failed; i++)
                    add_term(p, (struct term){
                                    .l = l,
                                    .at = at,
                                    .task = t,
                                    .other = m->other[at],
                                    .unit = u,
                                    .cost = p->step[i],
                                    .more = i ? p->step[i] - p->step[i - 1] : p->step[i],
                                    .column = i ? columns++ : z_of(m, l, u),
                                });
            }
            l++;
        }
    return columns;
}

/* 1 if unit v is nearer to the term's unit than its step. */
static int is_nearer(const struct optimal_model *m, const struct term *x, int v) {
    return v == x->unit || optimal_cost(m, x->at, x->unit, v) < x->cost;
}

/* z >= x of one end on the unit less all x of the other end that are nearer, both ways. */
static void add_link(struct program *p, const struct term *x) {
    const struct optimal_model *m = p->m;
    for (int way = -1; way <= 1; way += 2) {
        begin_row(p, 0, DBL_MAX);
        entry(p, x->column, 1);
        for (int end = 0; end < 2; end++) {
            const int t = end ? x->other : x->task, sign = end ? -way : way;
            for (int v = 0; v < m->units; v++)
                if (sign < 0 ? v == x->unit : is_nearer(m, x, v)) entry(p, x_of(m, t, v), sign);
        }
    }
}

/* Adds the boundary of unit `u` in a grid of tasks: no better assignment gives u more than `high`,
 * nor, the others being full, less than `low`: in between the concave boundary is above its chord.
 * `all`: the weight that all units can hold together. */
static void add_boundary(struct program *p, int u, double longest, double all) {
    const struct optimal_model *m = p->m;
    double high = fmin(m->total, optimal_capacity(m, u, longest));
    double low = fmax(0, m->total - (all - high));
    double at_low = optimal_boundary(m, low), at_high = optimal_boundary(m, high);
    if (!m->links || !(high > low) || !(at_low + at_high > 0)) return;
    double slope = (at_high - at_low) / (high - low);
    begin_row(p, (at_low - slope * low) * (1 - 1e-9) - 1e-9, DBL_MAX);
    for (int t = 0; t < m->tasks; t++) entry(p, x_of(m, t, u), -slope * m->weight[t]);
    for (int t = 0, l = 0; t < m->tasks; t++)
        for (int k = m->first[t]; k < m->first[t + 1]; k++)
            if (m->other[k] > t) entry(p, z_of(m, l++, u), m->cost[k]);
}

/* Rows of the units' memories; `spare`: first column of the excesses, if allowed. */
static void add_memory(struct program *p, int spare) {
    const struct optimal_model *m = p->m;
    double all = 0;
    for (int t = 0; t < m->tasks; t++) all += m->memory[t];
    for (int u = 0; u < m->units; u++) {
        if (m->capacity[u] >= all) continue;
        begin_row(p, -DBL_MAX, m->capacity[u]);
        for (int t = 0; t < m->tasks; t++)
            if (m->memory[t] > 0) entry(p, x_of(m, t, u), m->memory[t]);
        if (m->over > 0) entry(p, spare + u, -1);
    }
    if (!(m->over > 0)) return;
    begin_row(p, -DBL_MAX, m->over * (1 + 1e-9));
    for (int u = 0; u < m->units; u++) entry(p, spare + u, 1);
}

/* Equal units in the order of their heaviest tasks. */
static void add_order(struct program *p) {
    const struct optimal_model *m = p->m;
    for (int u = 0; u < m->units && !p->failed; u++) {
        int rank = 0, before = -1;
        for (int v = 0; v < u; v++)
            if (optimal_alike(m, u, v)) {
                rank++;
                before = v;
            }
        for (int i = 0; i < rank && i < m->tasks; i++) p->max[x_of(m, m->heavy[i], u)] = 0;
        for (int i = rank; before >= 0 && i < m->tasks && i < 4 * m->units && !p->failed; i++) {
            begin_row(p, 0, DBL_MAX);
            entry(p, x_of(m, m->heavy[i], u), -1);
            for (int h = 0; h < i; h++) entry(p, x_of(m, m->heavy[h], before), 1);
        }
    }
}

static void write_program(struct program *p, double longest, int spare) {
    const struct optimal_model *m = p->m;
    for (int t = 0; t < m->tasks; t++) {
        begin_row(p, 1, 1);
        for (int u = 0; u < m->units; u++) entry(p, x_of(m, t, u), 1);
    }
    double all = 0;
    for (int u = 0; u < m->units; u++) all += optimal_capacity(m, u, longest);
    for (int u = 0; u < m->units && !p->failed; u++) {
        begin_row(p, -DBL_MAX, 0);
        entry(p, 0, -1);
        for (int t = 0; t < m->tasks; t++) {
            const double time = m->weight[t] / m->speed[u];
            if (time > 1e30 * longest)
                p->max[x_of(m, t, u)] = 0; /* excluded: its time would be too large a number */
            else
                entry(p, x_of(m, t, u), time);
        }
        for (size_t i = 0; i < p->terms; i++)
            if (p->term[i].unit == u) entry(p, p->term[i].column, p->term[i].more);
        add_boundary(p, u, longest, all);
    }
    for (size_t i = 0; i < p->terms && !p->failed; i++) add_link(p, &p->term[i]);
    if (m->memory) add_memory(p, spare);
    add_order(p);
}

/* The assignment `owner` in terms of the columns. */
static void begin_with(struct program *p, const int *owner, double longest, int spare) {
    const struct optimal_model *m = p->m;
    p->start[0] = longest;
    for (int t = 0; t < m->tasks; t++) p->start[x_of(m, t, owner[t])] = 1;
    for (size_t i = 0; i < p->terms; i++) {
        const struct term *x = &p->term[i];
        const int a = owner[x->task], b = owner[x->other];
        p->start[x->column] =
            (a == x->unit && !is_nearer(m, x, b)) || (b == x->unit && !is_nearer(m, x, a));
    }
    if (spare == p->columns) return;
    for (int t = 0; t < m->tasks; t++) p->start[spare + owner[t]] += m->memory[t];
    for (int u = 0; u < m->units; u++)
        p->start[spare + u] = fmax(p->start[spare + u] - m->capacity[u], 0);
}

/* Makes the columns, starting with the assignment `owner`. Returns the first column of the
 * excesses. */
static int make_columns(struct program *p, double longest, int *owner) {
    const struct optimal_model *m = p->m;
    const size_t units = (size_t)m->units;
    int *work = malloc(2 * sizeof *work * units);
    p->step = malloc(sizeof *p->step * (units + 1));
    if (!work || !p->step) lack_memory(p);
    const int spare = p->failed ? 0 : find_terms(p);
    p->columns = spare + (m->memory && m->over > 0 ? m->units : 0);
    p->max = malloc(sizeof *p->max * ((size_t)p->columns + 1));
    p->start = calloc((size_t)p->columns + 1, sizeof *p->start);
    if (!p->max || !p->start) lack_memory(p);
    if (!p->failed) {
        for (int c = 0; c < p->columns; c++) p->max[c] = c < spare ? 1 : m->over;
        p->max[0] = longest;
        canonical(m, owner, work, work + units);
        begin_with(p, owner, longest, spare);
    }
    free(work);
    return spare;
}

/* ---- the solver ---------------------------------------------------------------------------- */

static evn_status no_memory(const struct optimal_model *m) {
    return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", m->tasks);
}

static evn_status solve(const struct program *p, const struct optimal_options *options,
                        double bound, double left, int *owner, struct optimal_solution *solution) {
    const struct optimal_model *m = p->m;
    const struct cbc_program program = {
        .columns = p->columns,
        .rows = p->rows,
        .whole = m->tasks * m->units,
        .entries = p->entries,
        .row = p->row,
        .column = p->column,
        .value = p->value,
        .lower = p->lower,
        .upper = p->upper,
        .max = p->max,
        .start = p->start,
        .bound = bound,
        .gap = options->gap,
        .nodes = options->nodes,
    };
    struct cbc_answer answer = {.chosen = malloc((size_t)program.whole)};
    evn_status status = answer.chosen ? cbc_solve(&program, left, m->until, &answer) : no_memory(m);
    if (!status && answer.done)
        *solution = (struct optimal_solution){1, answer.nodes, answer.proven};
    for (int c = 0; !status && answer.done && answer.found && c < program.whole; c++)
        if (answer.chosen[c]) owner[c / m->units] = c % m->units;
    free(answer.chosen);
    return status;
}

evn_status optimal_solve(const struct optimal_model *m, const struct optimal_options *options,
                         double bound, double longest, int *owner,
                         struct optimal_solution *solution) {
    struct program p = {.m = m};
    *solution = (struct optimal_solution){0};
    const int spare = make_columns(&p, longest, owner);
    if (!p.failed) write_program(&p, longest, spare);
    const double left = m->until < INFINITY ? m->until - optimal_clock() : options->limit;
    evn_status status = p.out ? no_memory(m) : EVN_OK;
    if (!p.failed && left > 0) status = solve(&p, options, bound, left, owner, solution);
    forget(&p);
    return status;
}
