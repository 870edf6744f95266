/* Learning: costs of tasks and speeds of units from measured times, by medians.
 *
 * Within one instance the speed of a unit is the median, by time, of cost / seconds over its tasks,
 * with the costs known so far: a task that was disturbed moves it little. The speed that is
 * believed is the median of these over the window. The cost of a task is the median over the window
 * of its seconds times the speed that its unit had in the same instance, so that what disturbed the
 * whole unit is in no task's cost. */
#include "schedule/learn.h"
#include <math.h>
#include <string.h>

struct learn {
    evn_problem problem;
    int window;
    int fed;              /* instances in all */
    int kept, latest;     /* rows that hold one; the row of the last one */
    double *cost, *speed; /* what is believed */
    double *seconds;      /* window x tasks, one row an instance */
    double *unit_speed;   /* window x units, of that instance; 0: it had nothing to tell */
    double *ratio, *time; /* of the tasks, unit by unit, while an instance is looked at */
    double *load;         /* of each unit, while an assignment is looked at */
    int *owner;           /* window x tasks */
    int *end;             /* of each unit's part of `ratio` */
};

/* Nothing that is learnt leaves these bounds, so that products and quotients stay finite. */
static double bounded(double x) { return x < 1e-300 ? 1e-300 : x < 1e300 ? x : 1e300; }

/* The bytes of everything in front of each array, in the order of struct learn. */
static size_t layout(int tasks, int units, int window, size_t at[9]) {
    size_t n = (size_t)tasks, u = (size_t)units, w = (size_t)window;
    const size_t bytes[9] = {
        n * sizeof(double),     u * sizeof(double),  w * n * sizeof(double),
        w * u * sizeof(double), n * sizeof(double),  n * sizeof(double),
        u * sizeof(double),     w * n * sizeof(int), (u + 1) * sizeof(int),
    };
    size_t sum = (sizeof(struct learn) + 15) / 16 * 16;
    for (int i = 0; i < 9; i++) {
        at[i] = sum;
        sum += bytes[i];
    }
    return (sum + 15) / 16 * 16;
}

size_t learn_bytes(int tasks, int units, int window) {
    size_t at[9];
    return layout(tasks, units, window, at);
}

struct learn *learn_init(void *block, const evn_problem *problem, int window) {
    size_t at[9];
    layout(problem->tasks, problem->units, window, at);
    char *base = block;
    struct learn *l = block;
    *l = (struct learn){
        .problem = *problem,
        .window = window,
        .cost = (double *)(base + at[0]),
        .speed = (double *)(base + at[1]),
        .seconds = (double *)(base + at[2]),
        .unit_speed = (double *)(base + at[3]),
        .ratio = (double *)(base + at[4]),
        .time = (double *)(base + at[5]),
        .load = (double *)(base + at[6]),
        .owner = (int *)(base + at[7]),
        .end = (int *)(base + at[8]),
    };
    for (int t = 0; t < problem->tasks; t++) l->cost[t] = problem->weight ? problem->weight[t] : 1;
    for (int u = 0; u < problem->units; u++)
        l->speed[u] = bounded(problem->speed ? problem->speed[u] : 1);
    return l;
}

static void swap(double *x, int i, int j) {
    double keep = x[i];
    x[i] = x[j];
    x[j] = keep;
}

/* The x up to which half of the weights lie: quickselect that descends into the half that holds the
 * middle. Reorders both. */
static double median_by_weight(double *x, double *weight, int n) {
    double below = 0, total = 0;
    for (int i = 0; i < n; i++) total += weight[i];
    int from = 0, to = n;
    while (to - from > 1) {
        const double pivot = x[from + (to - from) / 2];
        /* smaller ones, then equal ones, then larger ones */
        int less = from, i = from, more = to;
        double w_less = 0, w_equal = 0;
        while (i < more) {
            if (x[i] < pivot) {
                w_less += weight[i];
                swap(weight, i, less);
                swap(x, i++, less++);
            } else if (x[i] > pivot) {
                swap(weight, i, --more);
                swap(x, i, more);
            } else {
                w_equal += weight[i++];
            }
        }
        if (less > from && below + w_less >= total / 2) {
            to = less;
        } else if (more == to || below + w_less + w_equal >= total / 2) {
            return pivot;
        } else {
            below += w_less + w_equal;
            from = more;
        }
    }
    return x[from];
}

/* The lower middle of n > 0 numbers. Reorders them. */
static double lower_middle(double *x, int n) {
    for (int i = 1; i < n; i++) {
        double keep = x[i];
        int j = i;
        for (; j && x[j - 1] > keep; j--) x[j] = x[j - 1];
        x[j] = keep;
    }
    return x[(n - 1) / 2];
}

/* The speed of each unit in the instance of `row`. */
static void look(struct learn *l, int row) {
    const int n = l->problem.tasks, units = l->problem.units;
    const int *owner = l->owner + (size_t)row * (size_t)n;
    const double *seconds = l->seconds + (size_t)row * (size_t)n;
    double *found = l->unit_speed + (size_t)row * (size_t)units;
    int *end = l->end;
    memset(end, 0, sizeof *end * (size_t)(units + 1));
    for (int t = 0; t < n; t++)
        if (l->cost[t] > 0 && seconds[t] > 0) end[owner[t] + 1]++;
    for (int u = 0; u < units; u++) end[u + 1] += end[u];
    for (int t = 0; t < n; t++) {
        if (!(l->cost[t] > 0 && seconds[t] > 0)) continue;
        int i = end[owner[t]]++;
        l->ratio[i] = bounded(l->cost[t] / seconds[t]);
        l->time[i] = seconds[t];
    }
    for (int u = 0, from = 0; u < units; from = end[u++])
        found[u] =
            end[u] > from ? median_by_weight(l->ratio + from, l->time + from, end[u] - from) : 0;
}

/* Before the first instance, speeds are in the problem's unit of time; a unit that had nothing to
 * tell goes over to seconds as the others do. */
static void adopt_seconds(struct learn *l) {
    double before = 0, now = 0;
    for (int u = 0; u < l->problem.units; u++) {
        if (!l->unit_speed[u]) continue;
        before += l->speed[u];
        now += l->unit_speed[u];
    }
    for (int u = 0; before > 0 && u < l->problem.units; u++)
        l->speed[u] = bounded(l->speed[u] * (now / before));
}

/* The cost of task t: by what it took where it is now. What it took elsewhere is asked only when
 * there is a single time from here and it is far from all that was expected. */
static double cost_of(const struct learn *l, int t, double *here, double *anywhere) {
    const size_t n = (size_t)l->problem.tasks, units = (size_t)l->problem.units;
    const int now = l->owner[(size_t)l->latest * n + (size_t)t];
    int h = 0, a = 0;
    for (size_t row = 0; row < (size_t)l->kept; row++) {
        const int u = l->owner[row * n + (size_t)t];
        const double found = l->unit_speed[row * units + (size_t)u];
        const double cost = l->seconds[row * n + (size_t)t] * (found > 0 ? found : l->speed[u]);
        anywhere[a++] = cost;
        if (u == now) here[h++] = cost;
    }
    const double cost = lower_middle(here, h);
    const double expected = h == 1 && a > 1 ? lower_middle(anywhere, a) : cost;
    return fmin(cost > 4 * expected || cost < expected / 4 ? expected : cost, 1e300);
}

void learn_feed(struct learn *l, const int *owner, const double *seconds) {
    const size_t n = (size_t)l->problem.tasks, units = (size_t)l->problem.units;
    l->latest = l->kept ? (l->latest + 1) % l->window : 0;
    if (l->kept < l->window) l->kept++;
    memcpy(l->owner + (size_t)l->latest * n, owner, n * sizeof *owner);
    memcpy(l->seconds + (size_t)l->latest * n, seconds, n * sizeof *seconds);
    look(l, l->latest);
    if (!l->fed++) adopt_seconds(l); /* that is row 0 */

    double x[2 * LEARN_WINDOW_MAX];
    for (size_t u = 0; u < units; u++) {
        int known = 0;
        for (size_t r = 0; r < (size_t)l->kept; r++)
            if (l->unit_speed[r * units + u] > 0) x[known++] = -l->unit_speed[r * units + u];
        if (known) l->speed[u] = bounded(-lower_middle(x, known)); /* the higher middle */
    }
    for (int t = 0; t < l->problem.tasks; t++) l->cost[t] = cost_of(l, t, x, x + LEARN_WINDOW_MAX);

    double sum = 0, nominal = 0;
    for (size_t u = 0; u < units; u++) {
        sum += l->speed[u];
        nominal += l->problem.speed ? l->problem.speed[u] : 1;
    }
    const double scale = nominal / sum;
    if (!(scale > 0) || isinf(scale)) return;
    for (size_t u = 0; u < units; u++) l->speed[u] = bounded(l->speed[u] * scale);
    for (size_t i = 0; i < (size_t)l->kept * units; i++) l->unit_speed[i] *= scale;
    for (size_t t = 0; t < n; t++) l->cost[t] = fmin(l->cost[t] * scale, 1e300);
}

void learn_forget(struct learn *l) { l->kept = 0; }

int learn_instances(const struct learn *l) { return l->fed; }
int learn_ready(const struct learn *l) { return l->kept >= (l->window + 1) / 2; }
const double *learn_cost(const struct learn *l) { return l->cost; }
const double *learn_speed(const struct learn *l) { return l->speed; }

double learn_time_unit(const struct learn *l) {
    double cost = 0, weight = 0;
    for (int t = 0; t < l->problem.tasks; t++) {
        cost += l->cost[t];
        weight += l->problem.weight ? l->problem.weight[t] : 1;
    }
    return cost > 0 && weight > 0 ? bounded(cost / weight) : 1;
}

double learn_makespan(struct learn *l, const int *owner) {
    double *load = l->load, longest = 0;
    for (int u = 0; u < l->problem.units; u++) load[u] = 0;
    for (int t = 0; t < l->problem.tasks; t++) load[owner[t]] += l->cost[t];
    for (int u = 0; u < l->problem.units; u++) longest = fmax(longest, load[u] / l->speed[u]);
    return longest;
}

double learn_left(const struct learn *l) {
    const int n = l->problem.instances;
    return !n ? INFINITY : n > l->fed ? n - l->fed : 0;
}

int learn_pays(const struct learn *l, double now, double then, double cost) {
    return then <= 0.98 * now && (now - then) * learn_left(l) > cost;
}
