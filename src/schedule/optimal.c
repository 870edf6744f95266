/* optimal: the assignment with the smallest largest load, from the 0-1 program of Gonzalez and
 * Morancho, "Multi-GPU Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021), section
 * 3.3.1, with a proof of how far from the optimum it can be at most.
 *
 * Three stages, each only if the one before has not come within the gap that was asked for:
 *
 * 1. Assignments by rule: the heaviest task first, and the best consecutive ones along the rows and
 *    along the columns of the tasks. Bounds by argument (optimal_bound.c).
 * 2. Local search under the same model: moves and swaps that lower the largest load, moves that
 *    lower the communication of others, then small random disturbances, a fixed number of steps.
 * 3. The program itself in COIN-OR CBC, started from the best assignment. x_tu says that unit u has
 *    task t, z_lu that link l has one end on u:
 *
 *        minimise T,  sum_u x_tu = 1,  sum_t w_t / s_u x_tu + sum_l c_l z_lu <= T,
 *        z_lu >= x_au - x_bu,  z_lu >= x_bu - x_au  for the ends a, b of l.
 *
 *    As it stands its relaxation knows nothing of communication (all x_tu = 1 / U cuts no link), so
 *    what isoperimetry says about a unit's links at its weight is added as one row per unit; and
 *    equal units are told apart by their heaviest task, so that none is tried in another's place.
 *
 * Without a time limit (`nodes` instead) the answer is the same each time; the clock of the solver
 * is the only one that is read. A unit stays empty only where every assignment that uses it is
 * worse. The plan is made once, from weights: it is not made again from measured times, which would
 * stop a run for as long as the solver takes. Give the times as weights instead.
 */
#include <evener/status.h>
#include "schedule/optimal_bound.h"
#include "schedule/policy.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef EVENER_HAVE_CBC
#    include <Cbc_C_Interface.h>
#endif

struct state {
    double limit, gap; /* seconds of the solver, 0: it is not started; fraction */
    long nodes;        /* of its tree; 0: as many as it likes */
    struct optimal_proof proof;
};

/* --- options ------------------------------------------------------------------------------- */

static evn_status read_fraction(const evn_option *o, double max, double *out) {
    char *end = NULL;
    double x = o->value && *o->value ? strtod(o->value, &end) : NAN;
    if (end && !*end && x >= 0 && x <= max) {
        *out = x;
        return EVN_OK;
    }
    return evn_fail(EVN_USAGE, "schedule: optimal: %s is \"%s\", expected a number from 0 to %g",
                    o->key, o->value ? o->value : "", max);
}

static evn_status read_options(evn_schedule *s, const evn_spec *spec, struct state *state) {
    int limited = 0;
    *state = (struct state){.limit = 60, .gap = 0.01};
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        evn_status status;
        if (!strcmp(o->key, "limit")) {
            status = read_fraction(o, 1e7, &state->limit);
            limited = 1;
        } else if (!strcmp(o->key, "gap")) {
            status = read_fraction(o, 1, &state->gap);
        } else if (!strcmp(o->key, "nodes")) {
            status = evn_spec_number(o, "schedule", spec->name, 1, 2000000000, &state->nodes);
        } else {
            status = evn_fail(EVN_USAGE,
                              "schedule: optimal has no option \"%s\", expected limit=SECONDS, "
                              "gap=FRACTION or nodes=N",
                              o->key);
        }
        if (status) return status;
    }
    /* a limit in nodes is there for the sake of answers that do not depend on the clock */
    if (state->nodes && !limited) state->limit = INFINITY;
    int at = snprintf(s->text, sizeof s->text, "optimal:");
    if (!isinf(state->limit))
        at += snprintf(s->text + at, sizeof s->text - (size_t)at, "limit=%g,", state->limit);
    at += snprintf(s->text + at, sizeof s->text - (size_t)at, "gap=%g", state->gap);
    if (state->nodes)
        snprintf(s->text + at, sizeof s->text - (size_t)at, ",nodes=%ld", state->nodes);
    return EVN_OK;
}

#ifdef EVENER_HAVE_CBC

/* --- stage 1: by rule ---------------------------------------------------------------------- */

/* The heaviest task that is left to the unit that ends first with it. */
static void heaviest_first(const struct optimal_model *m, int *owner, double *load, int *count) {
    for (int u = 0; u < m->units; u++) load[u] = count[u] = 0;
    for (int i = 0; i < m->tasks; i++) {
        int t = m->heavy[i], to = 0;
        double ends = INFINITY;
        for (int u = 0; u < m->units; u++) {
            double e = load[u] + m->weight[t] / m->speed[u];
            if (e > ends || (e == ends && count[u] >= count[to])) continue;
            ends = e;
            to = u;
        }
        owner[t] = to;
        load[to] = ends;
        count[to]++;
    }
}

/* Fills the units one after another with tasks in the order of `place` (NULL: by number) as long as
 * none gets above `longest`; 0 if something is left over. Keeps a task for each unit behind. */
static int fill(const struct optimal_model *m, const int *place, double longest, int *owner) {
    const int n = m->tasks, units = m->units;
    int i = 0;
    for (int u = 0; u < units; u++) {
        double sum = 0;
        const int keep = n >= units ? units - 1 - u : 0;
        for (; i < n - keep; i++) {
            int t = place ? place[i] : i;
            sum += m->weight[t];
            if (sum > longest * m->speed[u]) break;
            owner[t] = u;
        }
    }
    return i == n;
}

/* The consecutive tasks with the smallest largest load without communication, by bisection of that
 * load: what the papers' guided schedule heads for. */
static void consecutive(const struct optimal_model *m, const int *place, int *owner, double *load) {
    policy_static(m->tasks, m->units, owner);
    double low = 0, high = 0;
    for (int u = 0; u < m->units; u++) load[u] = 0;
    for (int i = 0; i < m->tasks; i++) {
        load[owner[i]] += m->weight[place ? place[i] : i] / m->speed[owner[i]];
        high = fmax(high, load[owner[i]]);
    }
    high *= 1 + 1e-9;
    for (int i = 0; i < 60 && low < high; i++) {
        double middle = (low + high) / 2;
        if (fill(m, place, middle, owner)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    fill(m, place, high, owner);
}

/* --- stage 2: local search ----------------------------------------------------------------- */

enum {
    STEPS = 200000000,       /* exchanges of tasks that the local search looks at, about a second */
    ROUNDS = 20,             /* disturbances for each task */
    LARGEST_TABLE = 1 << 24, /* tasks times units for which it is done */
    LARGEST_PROGRAM = 1 << 18, /* columns for which the solver is started */
};

struct search {
    const struct optimal_model *m;
    int *owner, *count;
    double *load;
    double *in;     /* n x U: cost of the links of task t to tasks of unit u */
    long steps;     /* exchanges that may still be looked at */
    double longest; /* of the best assignment so far */
    int *best;
    unsigned long long seed;
};

static double *in(const struct search *s, int t) { return s->in + (size_t)t * (size_t)s->m->units; }

/* What the load of a unit changes by when task t leaves it, when t comes. Other units' loads do not
 * change: a link that they cut stays cut. */
static double leaves(const struct search *s, int t, int unit) {
    return 2 * in(s, t)[unit] - s->m->tied[t] - s->m->weight[t] / s->m->speed[unit];
}
static double comes(const struct search *s, int t, int unit) {
    return s->m->weight[t] / s->m->speed[unit] + s->m->tied[t] - 2 * in(s, t)[unit];
}

static int max_loaded(const struct search *s) {
    int max = 0;
    for (int u = 1; u < s->m->units; u++)
        if (s->load[u] > s->load[max]) max = u;
    return max;
}

/* Counts and loads afresh, so that rounding does not add up. */
static void set(struct search *s, const int *owner) {
    const struct optimal_model *m = s->m;
    if (owner != s->owner) memcpy(s->owner, owner, sizeof *owner * (size_t)m->tasks);
    memset(s->in, 0, sizeof *s->in * (size_t)m->tasks * (size_t)m->units);
    memset(s->count, 0, sizeof *s->count * (size_t)m->units);
    for (int t = 0; t < m->tasks; t++) {
        s->count[s->owner[t]]++;
        for (int l = m->first[t]; l < m->first[t + 1]; l++)
            in(s, t)[s->owner[m->other[l]]] += m->cost[l];
    }
    optimal_load(m, s->owner, s->load);
}

static void move(struct search *s, int t, int to) {
    const struct optimal_model *m = s->m;
    int from = s->owner[t];
    s->load[from] += leaves(s, t, from);
    s->load[to] += comes(s, t, to);
    s->count[from]--;
    s->count[to]++;
    s->owner[t] = to;
    for (int l = m->first[t]; l < m->first[t + 1]; l++) {
        in(s, m->other[l])[from] -= m->cost[l];
        in(s, m->other[l])[to] += m->cost[l];
    }
}

/* The move of a task away from unit `a` that makes the larger of the two loads smallest, if that is
 * below a's. */
static int best_move(struct search *s, int a) {
    double best = s->load[a] * (1 - 1e-13);
    int task = -1, to = -1;
    for (int t = 0; t < s->m->tasks; t++) {
        if (s->owner[t] != a) continue;
        s->steps -= s->m->units;
        double left = s->load[a] + leaves(s, t, a);
        if (!(left < best)) continue;
        for (int b = 0; b < s->m->units; b++) {
            if (b == a) continue;
            double both = fmax(left, s->load[b] + comes(s, t, b));
            if (!(both < best)) continue;
            best = both;
            task = t;
            to = b;
        }
    }
    if (task >= 0) move(s, task, to);
    return task >= 0;
}

static double between(const struct optimal_model *m, int t, int q) {
    for (int l = m->first[t]; l < m->first[t + 1]; l++)
        if (m->other[l] == q) return m->cost[l];
    return 0;
}

/* The same for two tasks that change places. */
static int best_swap(struct search *s, int a) {
    const struct optimal_model *m = s->m;
    double best = s->load[a] * (1 - 1e-13);
    int task = -1, with = -1;
    for (int t = 0; t < m->tasks && s->steps > 0; t++) {
        if (s->owner[t] != a) continue;
        s->steps -= m->tasks;
        double left = s->load[a] + leaves(s, t, a);
        for (int q = 0; q < m->tasks; q++) {
            int b = s->owner[q];
            if (b == a) continue;
            double both =
                fmax(left + comes(s, q, a), s->load[b] + leaves(s, q, b) + comes(s, t, b));
            if (!(both < best)) continue;
            /* the link between the two is cut before and after; the sums above have it uncut */
            both += 2 * between(m, t, q);
            if (!(both < best)) continue;
            best = both;
            task = t;
            with = q;
        }
    }
    if (task < 0) return 0;
    int b = s->owner[with];
    move(s, task, b);
    move(s, with, a);
    return 1;
}

/* Moves that lower the communication and leave both loads below the largest. */
static void tidy(struct search *s) {
    const struct optimal_model *m = s->m;
    if (!m->links) return;
    for (int again = 1; again && s->steps > 0;) {
        double max = s->load[max_loaded(s)] * (1 - 1e-13);
        again = 0;
        for (int t = 0; t < m->tasks; t++) {
            int a = s->owner[t], to = -1;
            double gain = -1e-12 * max, left = leaves(s, t, a);
            s->steps -= m->units;
            /* what is saved in communication alone: weight moved to a slower unit is no loss */
            double talk = left + m->weight[t] / m->speed[a];
            for (int b = 0; b < m->units; b++) {
                if (b == a || s->count[a] == 1) continue;
                double come = comes(s, t, b);
                double saved = talk + come - m->weight[t] / m->speed[b];
                if (!(saved < gain) || s->load[b] + come >= max || s->load[a] + left >= max)
                    continue;
                gain = saved;
                to = b;
            }
            if (to < 0) continue;
            move(s, t, to);
            again = 1;
        }
    }
}

static void descend(struct search *s) {
    tidy(s);
    for (int a = max_loaded(s); s->steps > 0; a = max_loaded(s))
        if (!best_move(s, a) && !best_swap(s, a)) break;
    set(s, s->owner);
}

static int draw(struct search *s, int below) {
    s->seed = s->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((s->seed >> 33) % (unsigned long long)below);
}

static int keep_if_better(struct search *s) {
    double now = s->load[max_loaded(s)];
    if (!(now < s->longest)) return 0;
    s->longest = now;
    memcpy(s->best, s->owner, sizeof *s->best * (size_t)s->m->tasks);
    return 1;
}

/* Disturbs the best assignment a little and descends, again and again, until it is below `enough`
 * or the steps are used up. */
static int disturb(struct search *s, double enough) {
    const struct optimal_model *m = s->m;
    int better = 0;
    for (int k = ROUNDS * m->tasks; k > 0 && s->longest > enough && s->steps > 0; k--) {
        s->steps -= m->links + m->tasks * (long)m->units;
        set(s, s->best);
        for (int moves = 2 + draw(s, 5); moves > 0; moves--) {
            int t = draw(s, m->tasks), links = m->first[t + 1] - m->first[t];
            int to = links ? s->owner[m->other[m->first[t] + draw(s, links)]] : draw(s, m->units);
            if (to != s->owner[t]) move(s, t, to);
        }
        descend(s);
        better |= keep_if_better(s);
    }
    return better;
}

/* Gives empty units a task where that makes nothing worse. */
static void feed_empty(struct search *s) {
    const struct optimal_model *m = s->m;
    set(s, s->best);
    for (int u = 0; u < m->units && m->tasks >= m->units; u++) {
        if (s->count[u]) continue;
        int task = -1;
        double least = s->longest;
        for (int t = 0; t < m->tasks; t++) {
            int a = s->owner[t];
            if (s->count[a] < 2 || s->load[a] + leaves(s, t, a) > s->longest) continue;
            double load = s->load[u] + comes(s, t, u);
            if (load > least || (load == least && task >= 0)) continue;
            least = load;
            task = t;
        }
        if (task >= 0) move(s, task, u);
    }
    memcpy(s->best, s->owner, sizeof *s->best * (size_t)m->tasks);
}

/* --- stage 3: the integer program ---------------------------------------------------------- */

/* Rows as they are written down, then columns as the solver wants them. */
struct program {
    int columns, rows;
    size_t entries, room_rows, room;
    int *row, *column;
    double *value, *lower, *upper;
    int failed;
};

static void begin_row(struct program *p, double lower, double upper) {
    if ((size_t)p->rows == p->room_rows) {
        p->room_rows = 2 * p->room_rows + 1024;
        double *l = realloc(p->lower, sizeof *l * p->room_rows);
        if (l) p->lower = l;
        double *u = realloc(p->upper, sizeof *u * p->room_rows);
        if (u) p->upper = u;
        if ((p->failed |= !l || !u)) return;
    }
    p->lower[p->rows] = lower;
    p->upper[p->rows++] = upper;
}

static void entry(struct program *p, int column, double value) {
    if (p->failed) return;
    if (p->entries == p->room) {
        p->room = 2 * p->room + 4096;
        int *r = realloc(p->row, sizeof *r * p->room);
        if (r) p->row = r;
        int *c = realloc(p->column, sizeof *c * p->room);
        if (c) p->column = c;
        double *v = realloc(p->value, sizeof *v * p->room);
        if (v) p->value = v;
        if ((p->failed |= !r || !c || !v)) return;
    }
    p->row[p->entries] = p->rows - 1;
    p->column[p->entries] = column;
    p->value[p->entries++] = value;
}

static void forget(struct program *p) {
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
        while (done[v] || m->speed[v] != m->speed[u]) v++;
        name[u] = v;
        done[v] = 1;
    }
    for (int t = 0; t < m->tasks; t++) owner[t] = name[owner[t]];
}

/* The columns: T, then x, then z. */
static int x_of(const struct optimal_model *m, int t, int u) { return 1 + t * m->units + u; }
static int z_of(const struct optimal_model *m, int l, int u) {
    return 1 + (m->tasks + l) * m->units + u;
}

static void write_program(const struct optimal_model *m, double longest, struct program *p,
                          double *upper) {
    const int n = m->tasks, units = m->units;
    p->columns = 1 + (n + m->links) * units;
    for (int t = 0; t < n; t++) {
        begin_row(p, 1, 1);
        for (int u = 0; u < units; u++) entry(p, x_of(m, t, u), 1);
    }
    double all = 0;
    for (int u = 0; u < units; u++) all += optimal_capacity(m, u, longest);
    for (int u = 0; u < units; u++) {
        begin_row(p, -DBL_MAX, 0);
        entry(p, 0, -1);
        for (int t = 0; t < n; t++) entry(p, x_of(m, t, u), m->weight[t] / m->speed[u]);
        for (int t = 0, l = 0; t < n; t++)
            for (int k = m->first[t]; k < m->first[t + 1]; k++)
                if (m->other[k] > t) entry(p, z_of(m, l++, u), m->cost[k]);

        /* no better assignment gives u more than `high`, nor, the others being full, less than
         * `low`: in between the concave boundary is above its chord */
        double high = fmin(m->total, optimal_capacity(m, u, longest));
        double low = fmax(0, m->total - (all - high));
        double at_low = optimal_boundary(m, low), at_high = optimal_boundary(m, high);
        if (!m->links || !(high > low) || !(at_low + at_high > 0)) continue;
        double slope = (at_high - at_low) / (high - low);
        begin_row(p, (at_low - slope * low) * (1 - 1e-9) - 1e-9, DBL_MAX);
        for (int t = 0; t < n; t++) entry(p, x_of(m, t, u), -slope * m->weight[t]);
        for (int t = 0, l = 0; t < n; t++)
            for (int k = m->first[t]; k < m->first[t + 1]; k++)
                if (m->other[k] > t) entry(p, z_of(m, l++, u), m->cost[k]);
    }
    for (int t = 0, l = 0; t < n; t++)
        for (int k = m->first[t]; k < m->first[t + 1]; k++) {
            if (m->other[k] < t) continue;
            for (int u = 0; u < units; u++)
                for (int way = -1; way <= 1; way += 2) {
                    begin_row(p, 0, DBL_MAX);
                    entry(p, z_of(m, l, u), 1);
                    entry(p, x_of(m, t, u), way);
                    entry(p, x_of(m, m->other[k], u), -way);
                }
            l++;
        }
    /* equal units in the order of their heaviest tasks */
    for (int u = 0; u < units; u++) {
        int rank = 0, before = -1;
        for (int v = 0; v < u; v++)
            if (m->speed[v] == m->speed[u]) {
                rank++;
                before = v;
            }
        for (int i = 0; i < rank && i < n; i++) upper[x_of(m, m->heavy[i], u)] = 0;
        for (int i = rank; before >= 0 && i < n && i < 4 * units; i++) {
            begin_row(p, 0, DBL_MAX);
            entry(p, x_of(m, m->heavy[i], u), -1);
            for (int h = 0; h < i; h++) entry(p, x_of(m, m->heavy[h], before), 1);
        }
    }
}

/* Solves it; `owner` is the best assignment so far and becomes the solver's. Returns the bound that
 * the solver has proven, 0 if none. */
static double solve(const struct optimal_model *m, const struct state *state, double bound,
                    double longest, int *owner, int *nodes) {
    const int n = m->tasks, units = m->units;
    struct program p = {0};
    const size_t columns = 1 + ((size_t)n + (size_t)m->links) * (size_t)units;
    double *lower = calloc(columns, sizeof *lower), *upper = malloc(columns * sizeof *upper);
    double *aim = calloc(columns, sizeof *aim), *begin = calloc(columns, sizeof *begin);
    int *index = malloc(columns * sizeof *index), *work = malloc(2 * sizeof *work * (size_t)units);
    CoinBigIndex *start = calloc(columns + 2, sizeof *start);
    double proven = 0;
    if (!lower || !upper || !aim || !begin || !index || !work || !start) goto out;
    for (size_t c = 0; c < columns; c++) {
        upper[c] = 1;
        index[c] = (int)c;
    }
    write_program(m, longest, &p, upper);
    if (p.failed) goto out;
    lower[0] = bound;
    upper[0] = longest;
    aim[0] = 1;

    int *row = malloc(sizeof *row * p.entries);
    double *value = malloc(sizeof *value * p.entries);
    Cbc_Model *solver = row && value ? Cbc_newModel() : NULL;
    if (solver) {
        for (size_t e = 0; e < p.entries; e++) start[p.column[e] + 2]++;
        for (size_t c = 2; c <= columns + 1; c++) start[c] += start[c - 1];
        for (size_t e = 0; e < p.entries; e++) {
            CoinBigIndex at = start[p.column[e] + 1]++;
            row[at] = p.row[e];
            value[at] = p.value[e];
        }
        Cbc_loadProblem(solver, p.columns, p.rows, start, row, value, lower, upper, aim, p.lower,
                        p.upper);
        for (int c = 1; c <= n * units; c++) Cbc_setInteger(solver, c);
        canonical(m, owner, work, work + units);
        begin[0] = longest;
        for (int t = 0; t < n; t++) begin[x_of(m, t, owner[t])] = 1;
        for (int t = 0, l = 0; t < n; t++)
            for (int k = m->first[t]; k < m->first[t + 1]; k++) {
                if (m->other[k] < t) continue;
                if (owner[t] != owner[m->other[k]])
                    begin[z_of(m, l, owner[t])] = begin[z_of(m, l, owner[m->other[k]])] = 1;
                l++;
            }
        Cbc_setMIPStartI(solver, p.columns, index, begin);
        char text[64];
        Cbc_setLogLevel(solver, 0);
        Cbc_setParameter(solver, "log", "0");
        Cbc_setParameter(solver, "slog", "0");
        Cbc_setParameter(solver, "threads", "0");
        snprintf(text, sizeof text, "%.17g", state->gap / (1 + state->gap));
        Cbc_setParameter(solver, "ratioGap", text);
        if (!isinf(state->limit)) {
            Cbc_setParameter(solver, "timeMode", "elapsed");
            snprintf(text, sizeof text, "%.17g", state->limit);
            Cbc_setParameter(solver, "seconds", text);
        }
        if (state->nodes) {
            snprintf(text, sizeof text, "%ld", state->nodes);
            Cbc_setParameter(solver, "maxNodes", text);
        }
        Cbc_solve(solver);
        *nodes = Cbc_getNodeCount(solver);
        double best = Cbc_getBestPossibleObjValue(solver);
        /* the solver's own tolerances are taken off */
        if (isfinite(best) && !Cbc_isProvenInfeasible(solver)) proven = best * (1 - 1e-6);
        const double *x = Cbc_bestSolution(solver);
        if (x)
            for (int t = 0; t < n; t++)
                for (int u = 0; u < units; u++)
                    if (x[x_of(m, t, u)] > 0.5) owner[t] = u;
        Cbc_deleteModel(solver);
    }
    free(row);
    free(value);
out:
    forget(&p);
    free(lower);
    free(upper);
    free(aim);
    free(begin);
    free(index);
    free(work);
    free(start);
    return proven;
}

/* --- all three ----------------------------------------------------------------------------- */

static void consider(struct search *s, int *owner, const char *by, const char **found) {
    set(s, owner);
    if (keep_if_better(s)) *found = by;
    descend(s);
    if (keep_if_better(s)) *found = "local search";
}

static double below(double bound, double gap) { return bound * (1 + gap); }

static evn_status make_plan(evn_schedule *schedule, struct state *state) {
    struct optimal_model m;
    struct search s = {.m = &m, .longest = INFINITY, .seed = 1};
    int *owner = NULL, *place = NULL;
    evn_status status = optimal_model_make(&m, &schedule->problem);
    if (status) goto out;
    const size_t n = (size_t)m.tasks, units = (size_t)m.units;
    const int searched = n * units <= LARGEST_TABLE;
    owner = malloc(sizeof *owner * n);
    place = malloc(sizeof *place * n);
    s.owner = malloc(sizeof *s.owner * n);
    s.count = malloc(sizeof *s.count * units);
    s.load = malloc(sizeof *s.load * units);
    s.in = malloc(sizeof *s.in * (searched ? n * units : 1));
    s.best = schedule->owner;
    if (!owner || !place || !s.owner || !s.count || !s.load || !s.in) {
        status = evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu tasks", n);
        goto out;
    }
    struct optimal_proof *proof = &state->proof;
    *proof = (struct optimal_proof){.found = "static", .proved = ""};
    double bound = 0;
    if (searched) {
        s.steps = STEPS;
        heaviest_first(&m, owner, s.load, s.count);
        consider(&s, owner, "heaviest task first", &proof->found);
        consecutive(&m, NULL, owner, s.load);
        consider(&s, owner, "consecutive tasks", &proof->found);
        if (m.across > 1 && m.up > 1) {
            for (int i = 0; i < m.tasks; i++) place[i] = i / m.up + i % m.up * m.across;
            consecutive(&m, place, owner, s.load);
            consider(&s, owner, "consecutive tasks along columns", &proof->found);
        }
        bound = optimal_bound(&m, s.longest, &proof->proved);
        if (s.longest > below(bound, state->gap) && disturb(&s, below(bound, state->gap)))
            proof->found = "local search";
        feed_empty(&s);
    } else {
        consecutive(&m, NULL, s.best, s.load);
        s.longest = optimal_load(&m, s.best, s.load);
        proof->found = "consecutive tasks";
    }
    bound = optimal_bound(&m, s.longest, &proof->proved);

    const size_t columns = (n + (size_t)m.links) * units;
    if (s.longest > below(bound, state->gap) && state->limit > 0 && searched &&
        columns < LARGEST_PROGRAM) {
        memcpy(owner, s.best, sizeof *owner * n);
        double proven = solve(&m, state, bound, s.longest, owner, &proof->nodes);
        proof->solved = 1;
        proof->solver = proven * m.unit;
        s.steps = STEPS;
        consider(&s, owner, "CBC", &proof->found);
        feed_empty(&s);
        if (proven > bound) {
            bound = fmin(proven, s.longest);
            proof->proved = "CBC";
        }
    }
    proof->longest = s.longest * m.unit;
    proof->bound = bound * m.unit;
    proof->gap = s.longest > bound ? s.longest / bound - 1 : 0;
out:
    optimal_model_free(&m);
    free(owner);
    free(place);
    free(s.owner);
    free(s.count);
    free(s.load);
    free(s.in);
    return status;
}

#else

static evn_status make_plan(evn_schedule *schedule, struct state *state) {
    (void)state;
    (void)schedule;
    return evn_fail(EVN_MISSING, "schedule: optimal needs COIN-OR CBC, which this Evener was built "
                                 "without; install coinor-libcbc-dev (libcbc) and configure again");
}

#endif

static evn_status open_optimal(evn_schedule *s, const evn_spec *spec) {
    struct state *state = malloc(sizeof *state);
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory");
    s->state = state;
    evn_status status = read_options(s, spec, state);
    if (!status) status = make_plan(s, state);
    s->settled = 1;
    return status;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    (void)s;
    (void)owner;
    (void)seconds;
}

static evn_status import(evn_schedule *s) {
#ifdef EVENER_HAVE_CBC
    /* the bound holds for any assignment; the rest is that of the one that came */
    struct state *state = s->state;
    struct optimal_model m;
    evn_status status = optimal_model_make(&m, &s->problem);
    double *load = status ? NULL : malloc(sizeof *load * (size_t)m.units);
    if (load) {
        state->proof.longest = optimal_load(&m, s->owner, load) * m.unit;
        state->proof.gap = fmax(0, state->proof.longest / state->proof.bound - 1);
        if (!(state->proof.longest > state->proof.bound)) state->proof.gap = 0;
        state->proof.found = "import";
    } else if (!status) {
        status = evn_fail(EVN_MEMORY, "schedule: not enough memory");
    }
    free(load);
    optimal_model_free(&m);
    return status;
#else
    (void)s;
    return EVN_OK;
#endif
}

const struct optimal_proof *optimal_proof(const evn_schedule *s) {
    const struct state *state = s->state;
    return &state->proof;
}

void optimal_explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    const struct optimal_proof *p = &state->proof;
    fprintf(out,
            "largest load %.6g (found by: %s), at least %.6g (proven by: %s), so at most %.3g %% "
            "above the optimum; ",
            p->longest, p->found, p->bound, p->proved, 100 * p->gap);
    if (p->solved) {
        fprintf(out, "CBC searched %d nodes and proved %.6g\n", p->nodes, p->solver);
    } else {
        fputs(p->gap > state->gap ? "CBC was not started: no time for it, or too large\n"
                                  : "CBC was not needed\n",
              out);
    }
}

const struct policy policy_optimal = {
    .name = "optimal",
    .explanation = "the smallest largest load, proven to a gap (limit=SECONDS,gap=F,nodes=N)",
    .open = open_optimal,
    .learn = learn,
    .import = import,
    .explain = optimal_explain,
};
