/* The third stage of the exact schedule: the integer program, in COIN-OR CBC.
 *
 * Its columns are T, then x (which unit has a task), then z (a link has one end on a unit and the
 * other elsewhere). Where units are near and far, what a link costs unit u has steps: nothing if
 * the other end is on u, more if it is near, more if it is farther. Then there is a z for each
 * step, which says that the other end is no nearer: the first of them in its place, the others
 * behind all that. Where no assignment fits into the units' memories there is a column for what
 * each is over.
 */
#ifdef EVENER_HAVE_CBC
#    include "schedule/optimal/program.h"
#    include "base/number.h"
#    include <evener/clock.h>
#    include <Cbc_C_Interface.h>
#    include <errno.h>
#    include <fcntl.h>
#    include <float.h>
#    include <math.h>
#    include <poll.h>
#    include <pthread.h>
#    include <signal.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/mman.h>
#    include <sys/prctl.h>
#    include <sys/wait.h>
#    include <time.h>
#    include <unistd.h>

#    define GRACE 0.05 /* part of the limit that the solver has to come to an end by itself */

/* Rows as they are written down, then columns as the solver wants them. */
/* A link's step for a unit. */
struct term {
    int l, at, task, other; /* the link: its number, its place, its ends */
    int unit;
    double cost; /* up to this step */
    double more; /* than up to the one before */
    int column;
};

struct program {
    const struct optimal_model *m;
    struct term *term; /* by link, unit and step */
    size_t terms, room_terms;
    int columns, rows;
    size_t entries, room_rows, room;
    int *row, *column;
    double *value, *lower, *upper;
    double *max, *start; /* bound of each column; its value in the initial assignment */
    double *step;        /* costs of a link to the units, ascending */
    int failed;
};

/* If time is over, or without memory, the program is incomplete. */
static void begin_row(struct program *p, double lower, double upper) {
    p->failed |= optimal_late(p->m);
    if (p->failed) return;
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

/* Coefficients far below the solver's tolerances are left out. */
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
        if ((p->failed |= !r || !c || !v)) return;
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
        if ((p->failed |= !t)) return;
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

/* Whether unit v is nearer to the term's than its step. */
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
                p->max[x_of(m, t, u)] = 0; /* nor so large a number */
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
    p->failed |= !work || !p->step;
    const int spare = p->failed ? 0 : find_terms(p);
    p->columns = spare + (m->memory && m->over > 0 ? m->units : 0);
    p->max = malloc(sizeof *p->max * ((size_t)p->columns + 1));
    p->start = calloc((size_t)p->columns + 1, sizeof *p->start);
    p->failed |= !p->max || !p->start;
    if (!p->failed) {
        for (int c = 0; c < p->columns; c++) p->max[c] = c < spare ? 1 : m->over;
        p->max[0] = longest;
        canonical(m, owner, work, work + units);
        begin_with(p, owner, longest, spare);
    }
    free(work);
    return spare;
}

/* Gives the program to the solver, column by column. 1: not enough memory. */
static int load(Cbc_Model *solver, const struct program *p, double bound) {
    const size_t columns = (size_t)p->columns;
    int *row = malloc(sizeof *row * p->entries);
    double *value = malloc(sizeof *value * p->entries);
    double *lower = calloc(columns, sizeof *lower), *aim = calloc(columns, sizeof *aim);
    CoinBigIndex *start = calloc(columns + 2, sizeof *start);
    const int failed = !row || !value || !lower || !aim || !start;
    if (!failed) {
        for (size_t e = 0; e < p->entries; e++) start[p->column[e] + 2]++;
        for (size_t c = 2; c <= columns + 1; c++) start[c] += start[c - 1];
        for (size_t e = 0; e < p->entries; e++) {
            CoinBigIndex at = start[p->column[e] + 1]++;
            row[at] = p->row[e];
            value[at] = p->value[e];
        }
        lower[0] = bound;
        aim[0] = 1;
        Cbc_loadProblem(solver, p->columns, p->rows, start, row, value, lower, p->max, aim,
                        p->lower, p->upper);
        for (int c = 1; c <= p->m->tasks * p->m->units; c++) Cbc_setInteger(solver, c);
    }
    free(row);
    free(value);
    free(lower);
    free(aim);
    free(start);
    return failed;
}

/* ---- the solver ---------------------------------------------------------------------------- */

/* CBC keeps its options and the model at hand in static memory: two threads in it at a time mix
 * theirs, and it asks its user on standard output what to do. So one is in it at a time. */
static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;
static int left_behind; /* this process was forked while another thread was in it */

static void forked(void) {
    if (pthread_mutex_trylock(&in_use))
        left_behind = 1;
    else
        pthread_mutex_unlock(&in_use);
}
static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }

/* Waits until no other thread is in the solver; seconds that are left of `limit` then, and this
 * thread is in it. 0: none, and it is not. */
static double enter(double limit) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (left_behind) return 0;
    if (isinf(limit)) {
        pthread_mutex_lock(&in_use);
        return limit;
    }
    struct timespec until;
    const double begin = evn_now(), whole = floor(limit);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((limit - whole) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (pthread_mutex_timedlock(&in_use, &until)) return 0;
    const double left = limit - (evn_now() - begin);
    if (left > 0) return left;
    pthread_mutex_unlock(&in_use);
    return 0;
}

static void leave(void) { pthread_mutex_unlock(&in_use); }

static void set_up(Cbc_Model *solver, const struct optimal_options *options, double limit) {
    char text[64];
    Cbc_setLogLevel(solver, 0);
    Cbc_setParameter(solver, "log", "0");
    Cbc_setParameter(solver, "slog", "0");
    Cbc_setParameter(solver, "threads", "0");
    /* with it, CBC 2.10 crashes in CglPreProcess::postProcess() when time is over early */
    Cbc_setParameter(solver, "preprocess", "off");
    snprintf(text, sizeof text, "%.17g", options->gap / (1 + options->gap));
    Cbc_setParameter(solver, "ratioGap", text);
    if (!isinf(limit)) {
        Cbc_setParameter(solver, "timeMode", "elapsed");
        snprintf(text, sizeof text, "%.17g", limit);
        Cbc_setParameter(solver, "seconds", text);
    }
    if (options->nodes) {
        snprintf(text, sizeof text, "%ld", options->nodes);
        Cbc_setParameter(solver, "maxNodes", text);
    }
}

/* This thread's run of the solver, `limit` seconds at most. Returns the proven bound. */
static double run(const struct program *p, const struct optimal_options *options, double limit,
                  double bound, int *index, int *owner, int *nodes) {
    const struct optimal_model *m = p->m;
    double proven = 0;
    Cbc_Model *solver = Cbc_newModel();
    if (solver && !load(solver, p, bound)) {
        for (int c = 0; c < p->columns; c++) index[c] = c;
        Cbc_setMIPStartI(solver, p->columns, index, p->start);
        set_up(solver, options, limit);
        Cbc_solve(solver);
        *nodes = Cbc_getNodeCount(solver);
        double best = Cbc_getBestPossibleObjValue(solver);
        /* the solver's own tolerances are taken off */
        if (isfinite(best) && !Cbc_isProvenInfeasible(solver)) proven = best * (1 - 1e-6);
        const double *x = Cbc_bestSolution(solver);
        for (int t = 0; x && t < m->tasks; t++)
            for (int u = 0; u < m->units; u++)
                if (x[x_of(m, t, u)] > 0.5) owner[t] = u;
    }
    if (solver) Cbc_deleteModel(solver);
    return proven;
}

/* ---- within the limit ----------------------------------------------------------------------- */

/* Report of the solver's process. */
struct answer {
    int done, nodes;
    double proven;
    int owner[];
};

/* The solver looks at the clock between its steps, of which one can take minutes: a relaxation of
 * many rows. So where time is limited it runs in a process of its own, which ends when time is
 * over. */
static void answer(struct answer *a, int tell, const struct program *p,
                   const struct optimal_options *options, double limit, double bound, int *index) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    a->proven = run(p, options, limit, bound, index, a->owner, &a->nodes);
    a->done = 1;
    while (write(tell, "", 1) < 0 && errno == EINTR) {
    }
    _exit(0);
}

/* Waits for the process until it has answered, or time and a little more is over. */
static void wait_for(pid_t process, int told, double limit, double until) {
    const double last = until + GRACE * limit;
    for (double left; (left = last - optimal_clock()) > 0;) {
        struct pollfd p = {.fd = told, .events = POLLIN};
        const int ready = poll(&p, 1, (int)fmin(ceil(left * 1e3), 1e6));
        if (ready > 0 || (ready < 0 && errno != EINTR)) break;
    }
    kill(process, SIGKILL);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {
    }
}

static double run_apart(const struct program *p, const struct optimal_options *options, double left,
                        double bound, int *index, int *owner, int *nodes) {
    const size_t tasks = sizeof *owner * (size_t)p->m->tasks, bytes = sizeof(struct answer) + tasks;
    int ends[2];
    double proven = 0;
    struct answer *a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED) return 0;
    memcpy(a->owner, owner, tasks);
    if (!pipe2(ends, O_CLOEXEC)) {
        const pid_t process = fork();
        if (!process) answer(a, ends[1], p, options, left * (1 - GRACE), bound, index);
        close(ends[1]);
        if (process > 0) wait_for(process, ends[0], options->limit, p->m->until);
        close(ends[0]);
    }
    if (a->done) {
        memcpy(owner, a->owner, tasks);
        *nodes = a->nodes;
        proven = a->proven;
    }
    munmap(a, bytes);
    return proven;
}

double optimal_solve(const struct optimal_model *m, const struct optimal_options *options,
                     double bound, double longest, int *owner, int *nodes) {
    struct program p = {.m = m};
    double proven = 0;
    const int spare = make_columns(&p, longest, owner);
    if (!p.failed) write_program(&p, longest, spare);
    int *index = malloc(sizeof *index * ((size_t)p.columns + 1));
    const double left = m->until < INFINITY ? m->until - optimal_clock() : options->limit;
    const double limit = p.failed || !index || !(left > 0) ? 0 : enter(left);
    if (limit > 0) {
        /* it reads its options with the C library */
        const locale_t before = number_locale_begin();
        if (isinf(limit))
            proven = run(&p, options, limit, bound, index, owner, nodes);
        else
            proven = run_apart(&p, options, limit, bound, index, owner, nodes);
        number_locale_end(before);
        leave();
    }
    free(index);
    forget(&p);
    return proven;
}

#endif
