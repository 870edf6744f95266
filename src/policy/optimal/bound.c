/* Lower bounds of the largest load, from some arguments:
 *
 * - All the work takes at least its weight over the sum of all speeds; the k heaviest tasks take at
 *   least their weight over the k largest speeds (k < U); and of any k U + 1 tasks, k + 1 share one
 *   of U units, at best the fastest. Communication is left out of these.
 * - Isoperimetry. Let the tasks be a grid with links between neighbours of a row and of a column,
 *   closed to a ring or not. A set of tasks that holds part of a row but not all of it cuts two of
 *   the ring's links, so it pays at least the two cheapest, R_j for row j; likewise C_i for column
 *   i. If it fills no row and no column, its weight is at most the sum over the rows and columns it
 *   touches of d R_j C_i, d = max w_ij / (R_j C_i), so (sum R)(sum C) >= weight / d, and by the
 *   inequality of means it pays at least 2 sqrt(weight / d). If it fills a column and no row, it
 *   divides every row and pays sum R; if it fills a row and no column, sum C; and if it fills both,
 *   the rest of the tasks fills none and the same holds for that. The least of the four is concave
 *   in the weight. A load limit T then limits what a unit can hold, and T is too small as long as
 *   all units together cannot hold everything.
 * - Memory. What a unit holds is limited by its capacity, too: tasks with much weight for their
 *   bytes first, the last one in parts.
 */
#include "policy/optimal/bound.h"
#include "schedule/capacity.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNITS_A_LOOK = 256 }; /* units between two looks at the clock */

/* The process that the solver works in for this thread, and the seconds of those before it. */
static _Thread_local struct {
    int works;
    clockid_t clock;
    double now, before;
} solver;

static double seconds_of(clockid_t clock, double otherwise) {
    struct timespec t;
    return clock_gettime(clock, &t) ? otherwise : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double optimal_clock(void) {
    if (solver.works) solver.now = seconds_of(solver.clock, solver.now);
    return seconds_of(CLOCK_THREAD_CPUTIME_ID, 0) + solver.before + solver.now;
}

void optimal_watch(pid_t process) {
    optimal_clock();
    solver.before += solver.now;
    solver.now = 0;
    solver.works = process > 0 && !clock_getcpuclockid(process, &solver.clock);
}

static int heavier(const void *a, const void *b, void *weight) {
    int s = *(const int *)a, t = *(const int *)b;
    const double *w = weight;
    return w[s] > w[t] ? -1 : w[s] < w[t] ? 1 : s - t;
}

static int faster(const void *a, const void *b) {
    double s = *(const double *)a, t = *(const double *)b;
    return (s < t) - (s > t);
}

/* Links of the rings through task (i, j): to the right in its row (dir 0), upwards in its column
 * (dir 1). A missing one costs nothing. */
struct rings {
    double *link[2];
};

/* Sorts the links into the rings of a grid of `across` columns; 0 if one belongs to none. */
static int into_rings(const struct optimal_model *m, int across, struct rings *r) {
    const int up = m->tasks / across;
    for (int d = 0; d < 2; d++) memset(r->link[d], 0, sizeof(double) * (size_t)m->tasks);
    for (int t = 0; t < m->tasks; t++)
        for (int l = m->first[t]; l < m->first[t + 1]; l++) {
            int o = m->other[l];
            if (o < t) continue;
            int i = t % across, j = t / across, k = o % across, h = o / across;
            if (j == h && k == i + 1) {
                r->link[0][t] += m->cost[l];
            } else if (j == h && i == 0 && k == across - 1) {
                r->link[0][o] += m->cost[l];
            } else if (i == k && h == j + 1) {
                r->link[1][t] += m->cost[l];
            } else if (i == k && j == 0 && h == up - 1) {
                r->link[1][o] += m->cost[l];
            } else {
                return 0;
            }
        }
    return 1;
}

/* The sum of the two cheapest links of a ring: the least cost of dividing it. */
static double dividing(const double *link, int n, int stride) {
    if (n == 1) return 0;
    double a = INFINITY, b = INFINITY;
    for (int i = 0; i < n; i++) {
        double c = link[(size_t)i * (size_t)stride];
        if (c < a) {
            b = a;
            a = c;
        } else if (c < b) {
            b = c;
        }
    }
    return a + b;
}

/* Looks for a grid in the links. Of several (there may be some if few links are there) the one that
 * costs most to divide. */
static evn_status find_grid(struct optimal_model *m) {
    const int n = m->tasks;
    double *work = malloc(sizeof *work * 4 * (size_t)n);
    if (!work) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", n);
    struct rings r = {{work, work + n}};
    double *row = work + 2 * (size_t)n, *column = row + n;
    for (int across = 1; m->links && across <= n; across++) {
        if (n % across || !into_rings(m, across, &r)) continue;
        const int up = n / across;
        double rows = 0, columns = 0, density = 0;
        for (int j = 0; j < up; j++)
            rows += row[j] = dividing(r.link[0] + (size_t)j * (size_t)across, across, 1);
        for (int i = 0; i < across; i++) columns += column[i] = dividing(r.link[1] + i, up, across);
        for (int t = 0; t < n; t++)
            if (m->weight[t] > 0)
                density = fmax(density, m->weight[t] / (row[t / across] * column[t % across]));
        if (m->across && rows + columns <= m->rows + m->columns) continue;
        m->across = across;
        m->up = up;
        m->rows = rows;
        m->columns = columns;
        m->density = density;
    }
    free(work);
    return EVN_OK;
}

static double largest(const double *x, int n) {
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, x[i]);
    return max;
}

/* Scales weights, speeds and times; ratios first, so that nothing overflows. `bytes`: of the
 * largest link, `talk`: its cost. */
static void scale(struct optimal_model *m, const evn_problem *p, double talk) {
    const double heaviest = largest(p->weight, p->tasks), fastest = largest(p->speed, p->units);
    const double work = fmin(heaviest / fastest, 1e300);
    m->unit = work > 0 || talk > 0 ? fmax(work, talk) : 1;
    for (int t = 0; t < p->tasks; t++) {
        m->weight[t] = heaviest > 0 ? p->weight[t] / heaviest * (work / m->unit) : 0;
        m->total += m->weight[t];
        m->heavy[t] = t;
    }
    for (int u = 0; u < p->units; u++) m->speed[u] = fmax(p->speed[u] / fastest, 1e-150);
    qsort_r(m->heavy, (size_t)p->tasks, sizeof *m->heavy, heavier, m->weight);
}

static int is_link(const evn_link *l) { return l->task[0] != l->task[1] && l->bytes > 0; }

/* Sorts the first `links` links by task: count, sum up, fill (first[t + 1] moves from the start of
 * t to its end). `bytes`: of the largest, `talk`: its cost. */
static void sort_links(struct optimal_model *m, const evn_problem *p, int links, double bytes,
                       double talk) {
    for (int l = 0; l < links; l++) {
        if (!is_link(&p->link[l])) continue;
        m->first[p->link[l].task[0] + 2]++;
        m->first[p->link[l].task[1] + 2]++;
        m->links++;
    }
    for (int t = 2; t <= m->tasks; t++) m->first[t + 1] += m->first[t];
    for (int l = 0; l < links; l++) {
        const int *end = p->link[l].task;
        if (!is_link(&p->link[l])) continue;
        for (int e = 0; e < 2; e++) {
            int at = m->first[end[e] + 1]++;
            m->other[at] = end[1 - e];
            m->bytes[at] = fmin(p->link[l].bytes, 1e100);
            m->cost[at] = p->link[l].bytes / bytes * (talk / m->unit);
            double least, max;
            if (m->routes.kinds) {
                routes_range(&m->routes, m->bytes[at], &least, &max);
                m->cost[at] = least / m->unit;
            }
            m->tied[end[e]] += m->cost[at];
        }
    }
}

/* Largest weight that unit u's memory can hold, with the last task in part, tasks with much weight
 * for their bytes first. */
static double weight_by_memory(const struct optimal_model *m, int u, const int *dense) {
    double room = m->capacity[u], weight = 0;
    if (isinf(room)) return INFINITY;
    for (int i = 0; i < m->tasks; i++) {
        const int t = dense[i];
        if (m->memory[t] > room) return weight + m->weight[t] * (room / m->memory[t]);
        weight += m->weight[t];
        room -= m->memory[t];
    }
    return weight;
}

static int denser(const void *a, const void *b, void *model) {
    const struct optimal_model *m = model;
    const int s = *(const int *)a, t = *(const int *)b;
    const double x = m->weight[s] * m->memory[t], y = m->weight[t] * m->memory[s];
    return x != y ? (x > y ? -1 : 1) : s - t;
}

/* Capacities, in parts of the largest task's memory. `over`: bytes that may be over them. */
static evn_status add_memory(struct optimal_model *m, const evn_problem *p, double over) {
    const size_t n = (size_t)p->tasks, units = (size_t)p->units;
    const double unit = fmax(largest(p->bytes, p->tasks), 1e-300);
    int *dense = malloc(n * sizeof *dense);
    m->memory = malloc(n * sizeof *m->memory);
    m->capacity = malloc(units * sizeof *m->capacity);
    m->holds = malloc(units * sizeof *m->holds);
    if (dense && m->memory && m->capacity && m->holds) {
        m->over = over / unit;
        for (int t = 0; t < p->tasks; t++) {
            m->memory[t] = p->bytes[t] / unit;
            dense[t] = t;
        }
        qsort_r(dense, n, sizeof *dense, denser, m);
        for (int u = 0; u < p->units; u++) {
            m->capacity[u] = capacity_of(p, u) / unit;
            m->holds[u] = over > 0 ? INFINITY : weight_by_memory(m, u, dense) * (1 + 1e-9);
        }
    }
    const int failed = !dense || !m->memory || !m->capacity || !m->holds;
    free(dense);
    return failed ? evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu tasks", n) : EVN_OK;
}

evn_status optimal_model_make(struct optimal_model *m, const evn_problem *p, int memory,
                              double over) {
    *m = (struct optimal_model){.tasks = p->tasks, .units = p->units, .until = INFINITY};
    const size_t n = (size_t)p->tasks, units = (size_t)p->units;
    double bytes = 0;
    for (int l = 0; l < p->links; l++)
        if (is_link(&p->link[l])) bytes = fmax(bytes, p->link[l].bytes);
    int failed = routes_open(&m->routes, p, 1);
    const int talks = m->routes.kinds || m->routes.bandwidth > 0;
    const int links = talks && bytes > 0 && units > 1 ? p->links : 0;
    m->weight = malloc(sizeof(double) * n);
    m->speed = malloc(sizeof(double) * units);
    m->heavy = malloc(sizeof(int) * n);
    m->first = calloc(n + 2, sizeof(int));
    m->other = malloc(sizeof(int) * (2 * (size_t)links + 1));
    m->cost = malloc(sizeof(double) * (2 * (size_t)links + 1));
    m->bytes = malloc(sizeof(double) * (2 * (size_t)links + 1));
    m->tied = calloc(n, sizeof(double));
    if (failed || !m->weight || !m->speed || !m->heavy || !m->first || !m->other || !m->cost ||
        !m->bytes || !m->tied)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu tasks", n);
    double least, talk = 0;
    if (links && m->routes.kinds)
        routes_range(&m->routes, fmin(bytes, 1e100), &least, &talk);
    else if (links)
        talk = bytes / m->routes.bandwidth;
    talk = fmin(talk, 1e300);
    scale(m, p, talk);
    sort_links(m, p, links, bytes, talk);
    evn_status status = memory ? add_memory(m, p, over) : EVN_OK;
    return status ? status : find_grid(m);
}

void optimal_model_free(struct optimal_model *m) {
    free(m->weight);
    free(m->speed);
    free(m->heavy);
    free(m->first);
    free(m->other);
    free(m->cost);
    free(m->tied);
    free(m->bytes);
    free(m->memory);
    free(m->capacity);
    free(m->holds);
    routes_close(&m->routes);
}

double optimal_cost(const struct optimal_model *m, int at, int u, int v) {
    if (u == v) return 0;
    return m->routes.kinds ? routes_cost(&m->routes, u, v, m->bytes[at]) / m->unit : m->cost[at];
}

int optimal_alike(const struct optimal_model *m, int u, int v) {
    const struct routes *r = &m->routes;
    if (m->speed[u] != m->speed[v] || (m->capacity && m->capacity[u] != m->capacity[v])) return 0;
    return !r->kinds ||
           ((!r->kind || r->kind[u] == r->kind[v]) && (!r->node || r->node[u] == r->node[v]));
}

double optimal_load(const struct optimal_model *m, const int *owner, double *load) {
    for (int u = 0; u < m->units; u++) load[u] = 0;
    for (int t = 0; t < m->tasks; t++) {
        load[owner[t]] += m->weight[t] / m->speed[owner[t]];
        for (int l = m->first[t]; l < m->first[t + 1]; l++)
            load[owner[t]] += optimal_cost(m, l, owner[t], owner[m->other[l]]);
    }
    return largest(load, m->units);
}

double optimal_boundary(const struct optimal_model *m, double weight) {
    if (!m->across || !(weight > 0) || !(weight < m->total)) return 0;
    /* a chain or ring has one row, which any part of it divides */
    if (m->up == 1) return m->rows;
    if (m->across == 1) return m->columns;
    double least = fmin(m->rows, m->columns);
    least = fmin(least, 2 * sqrt(weight / m->density));
    return fmin(least, 2 * sqrt((m->total - weight) / m->density));
}

double optimal_capacity(const struct optimal_model *m, int u, double longest) {
    const double max =
        fmin(fmin(m->total, m->holds ? m->holds[u] : INFINITY), longest * m->speed[u]);
    /* the boundary is concave: over [w, most] it is least at one of the ends */
    const double least = optimal_boundary(m, max);
    double fits = 0, above = max;
    if (!(least > 0)) return max;
    for (int i = 0; i < 60; i++) {
        double w = (fits + above) / 2;
        if (w / m->speed[u] + fmin(optimal_boundary(m, w), least) <= longest) {
            fits = w;
        } else {
            above = w;
        }
    }
    return above;
}

/* 1 if all units together can hold everything; also if time is over. */
static int everything_fits(const struct optimal_model *m, double longest) {
    double sum = 0, capacity = 0;
    for (int u = 0; u < m->units; u++) {
        if (u % UNITS_A_LOOK == 0 && optimal_late(m)) return 1;
        if (!u || !optimal_alike(m, u, u - 1)) capacity = optimal_capacity(m, u, longest);
        sum += capacity;
        if (sum >= m->total * (1 - 1e-12)) return 1;
    }
    return 0;
}

static void improve(double *bound, const char **why, double by, const char *reason) {
    if (!(by > *bound)) return;
    *bound = by;
    *why = reason;
}

double optimal_bound(const struct optimal_model *m, double longest, const char **why) {
    const int n = m->tasks, units = m->units;
    double bound = 0, speeds = 0, sum = 0;
    *why = "no load is negative";
    double *speed = malloc(sizeof *speed * (size_t)units);
    if (!speed) return 0; /* 0 is a valid bound, if weak */
    memcpy(speed, m->speed, sizeof *speed * (size_t)units);
    qsort(speed, (size_t)units, sizeof *speed, faster);
    for (int k = 0; k < units; k++) speeds += speed[k];
    improve(&bound, why, m->total / speeds, "all weight over all speeds");
    speeds = 0;
    for (int k = 0; k < units - 1 && k < n; k++) {
        sum += m->weight[m->heavy[k]];
        speeds += speed[k];
        improve(&bound, why, sum / speeds,
                k ? "the heaviest tasks over the fastest units"
                  : "the heaviest task on the fastest unit");
    }
    /* the k + 1 lightest of the k U + 1 heaviest: U come and U - 1 go from one k to the next */
    long double few = m->weight[m->heavy[0]];
    for (long k = 1; k * units < n; k++) {
        for (long t = (k - 1) * units + 1; t <= k * units; t++) few += m->weight[m->heavy[t]];
        for (long t = (k - 1) * (units - 1); t < k * (units - 1); t++)
            few -= m->weight[m->heavy[t]];
        improve(&bound, why, (double)few / speed[0], "more heavy tasks than units");
    }
    free(speed);
    if ((m->across || m->holds) && bound < longest && !everything_fits(m, bound)) {
        double low = bound, high = longest;
        for (int i = 0; i < 60 && !optimal_late(m); i++) {
            double middle = (low + high) / 2;
            if (everything_fits(m, middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        improve(&bound, why, low,
                !m->holds    ? "isoperimetry of the grid of tasks"
                : !m->across ? "what the units' memories hold"
                             : "what the units' memories hold, and isoperimetry");
    }
    return fmin(bound * (1 - 1e-12), longest); /* reduced by rounding errors */
}
