/* Learning: costs of tasks and speeds of units from measured times, by medians and by means over
 * what the medians say is all the same.
 *
 * Within one instance the speed of a unit is found in two steps: the median, by weight, of
 * cost / seconds over its tasks, with the costs known so far; then the sum of costs over the sum of
 * seconds of those tasks that are as near to it as they scatter. A task that was disturbed is not
 * among them. The cost of a task in an instance is its seconds times the speed that its unit had
 * then, so that what disturbed the whole unit is in no task's cost.
 *
 * Each number that is believed has a spread and a number of instances behind it. The spread is how
 * much the same work on the same unit differs from one instance to the next, so that moving tasks
 * and correcting costs are not taken for noise: medians over the short window, scaled to be a
 * standard deviation, and their mean. A short median that is further off than SIGNIFICANT standard
 * errors, and not by a few of its values only, is a change and replaces what is believed; else the
 * latest value goes into the mean, cut off at so many spreads. */
#include "policy/learn.h"
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT   3.0   /* standard errors that a difference must exceed */
#define OF_MEDIAN     1.25  /* standard error of a median, over that of a mean */
#define IN_ACCORD     0.1   /* assumed part of the tasks' variance that a unit's tasks share */
#define SCATTERED     2.0   /* mean deviation of moves, in spreads, that is no chance (1.1 is) */
#define OF_DIFFERENCE 1.05  /* standard deviation over the middle difference of two values */
#define ROUNDING      1e-11 /* relative differences up to which times are equal */
#define DISTURBED     3.0   /* ratio to the time before from which on a task was disturbed */
#define UNLIKELY      4.0   /* ratio of speeds that is more often a disturbance than a change */
#define WORSE         1.5   /* growth of the possible gain after which a vain search is repeated */
#define LEAST_GAIN    0.02  /* least gain of a move, as a part of an instance */
#define FIRST_GAIN    0.005 /* LEAST_GAIN during the first instances */
#define LIKELY        2.0   /* standard errors that a gain must exceed during these */
#define CLOSING       0.3   /* part of the units' largest error that a gain must exceed at last */
#define CAUTION       1.5   /* growth of the caution after each move but the first */
#define MAX           8.0   /* largest caution */
#define CALM          0.985 /* decay of caution an instance: half in 46 */

enum {
    PROOF = 3,      /* instances that must all show a change */
    FEW = 5,        /* instances up to which the short median is believed */
    FEW_UNITS = 8,  /* units up to which SIGNIFICANT does for each of them */
    FEW_TASKS = 10, /* weight of all units' scatter beside a unit's own, in tasks */
    SETTLING = 15,  /* first instances, in which estimates, and plans with them, still improve */
    SAMPLE = 64,    /* most tasks or units from which the common scatter is taken */
    SPREADS = 32,   /* most deviations that a spread is averaged over */
    PROVEN = 6,     /* instances after which a move's promise is checked */
    HOLD = 3,       /* instances after a move or a search in vain before the next */
    WAIT_MAX = 1024,
    ROUNDS_MAX = 200, /* rounds of a fit; at least a tenth of these with many moves */
    ROUND_MOVES = 100000,
    MANY = 1000, /* assumed remaining instances, where the problem gives none */
};

/* Estimate of a task's cost or a unit's speed, with its spread. Its numbers are small, and there is
 * one for each task. */
struct belief {
    float spread;         /* relative spread */
    unsigned char behind; /* instances that the estimate stands on, up to LEARN_MEMORY */
    unsigned char spreads;
    union {
        unsigned char rows; /* a task's latest rows of the window that were measured, up to all */
        unsigned char trusted; /* 1: nothing contradicts a unit's given speed */
    };
};
static_assert(LEARN_MEMORY <= UCHAR_MAX && LEARN_WINDOW_MAX <= UCHAR_MAX && SPREADS <= UCHAR_MAX,
              "numbers of a belief fit");

/* Sums over the tasks of a unit, while no task has moved: weights, their squares, seconds, squares
 * of what the seconds differ from weight times the unit's mean, in weights; number of tasks. */
struct sums {
    double weight, squares, seconds, rest;
    int tasks;
};

/* Ratio of a unit's measured seconds to those by its tasks' weights and its given speed, and the
 * ratio's relative variance by chance. */
struct off {
    double is, variance; /* < 0: not known */
};

struct learn {
    evn_problem problem;
    int window;
    int fed;              /* instances fed */
    int passed;           /* instances that those fed stand for */
    int kept, latest;     /* rows of the window that hold an instance; row of the latest one */
    int since;            /* instances under the present assignment */
    int stints;           /* assignments so far */
    double caution;       /* multiple of the uncertainty that a gain must exceed */
    int moves;            /* moves decided on so far */
    double before, after; /* imbalance before the last move, and the promised one; 0: none */
    double refused;       /* possible gain at the last search in vain */
    double reach;         /* time that this search reached, over learn_even() */
    int wait, ask;        /* instances between searches; instance of the next search */
    int hold;             /* instance before which no search begins */
    int changed;          /* `passed` when a unit's speed last changed; 0: none has */
    double price;         /* s of the last carrying that did not pay; 0: it paid */
    const double *carry;  /* s a byte */
    double shift;         /* sum of the logarithms of all scalings of the speeds */
    double significant;   /* standard errors that a difference must exceed */
    double task_spread, unit_spread; /* common spreads, from the last instances' differences */
    int repeats;                     /* number of differences in these spreads */
    double *cost, *speed;            /* estimated cost of each task, speed of each unit */
    double *seconds;                 /* window x tasks, one row an instance */
    double *unit_speed;              /* window x units: speeds in a row's instance; 0: unknown */
    double *then;                    /* window x units: speeds by which costs are told from times */
    double *repeated;     /* window x units: how much longer than the instance before; 0: unknown */
    double *ratio, *part; /* scratch of a lesson: ratios of tasks, unit by unit, in an instance */
    double *load;         /* scratch: load of each unit, while an assignment is looked at */
    double *track;        /* units x LEARN_MEMORY: log of speed - shift, under the present owners */
    struct sums *sums;    /* scratch of trust() */
    struct off *off;
    struct belief *of_task, *of_unit;
    int *owner;   /* window x tasks */
    int *end;     /* end of each unit's part of `ratio` */
    int *tracked; /* entries in `track` of each unit since the owners changed */
};

/* Limits estimates, so that products and quotients stay finite. */
static double bounded(double x) { return x < 1e-300 ? 1e-300 : x < 1e300 ? x : 1e300; }

/* Limits costs and times, which may be 0. */
static inline double held(double x) { return x < 1e300 ? x : 1e300; }

/* fmin() and fmax() of numbers, whose calls took a tenth of a lesson. */
static inline double least_of(double a, double b) { return a < b ? a : b; }
static inline double most_of(double a, double b) { return a > b ? a : b; }

enum { ARRAYS = 15 };

/* The bytes of everything in front of each array, in the order of struct learn. */
static size_t layout(int tasks, int units, int window, size_t at[ARRAYS]) {
    size_t n = (size_t)tasks, u = (size_t)units, w = (size_t)window;
    const size_t bytes[ARRAYS] = {
        n * sizeof(double),        u * sizeof(double),
        w * n * sizeof(double),    w * u * sizeof(double),
        w * u * sizeof(double),    w * u * sizeof(double),
        u * sizeof(double),        u * LEARN_MEMORY * sizeof(double),
        u * sizeof(struct sums),   u * sizeof(struct off),
        n * sizeof(struct belief), u * sizeof(struct belief),
        w * n * sizeof(int),       (u + 1) * sizeof(int),
        u * sizeof(int),
    };
    size_t sum = (sizeof(struct learn) + 15) / 16 * 16;
    for (int i = 0; i < ARRAYS; i++) {
        at[i] = sum;
        sum += bytes[i];
    }
    return (sum + 15) / 16 * 16;
}

size_t learn_bytes(int tasks, int units, int window) {
    size_t at[ARRAYS];
    return layout(tasks, units, window, at);
}

/* A unit's speed by the problem. */
static double given_speed(const struct learn *l, int u) {
    return bounded(l->problem.speed ? l->problem.speed[u] : 1);
}

/* Starts with the problem's weights and speeds. */
static void begin(struct learn *l) {
    const evn_problem *p = &l->problem;
    l->shift = 0;
    for (int t = 0; t < p->tasks; t++) {
        l->cost[t] = p->weight ? p->weight[t] : 1;
        l->of_task[t] = (struct belief){0};
    }
    for (int u = 0; u < p->units; u++) {
        l->speed[u] = given_speed(l, u);
        l->of_unit[u] = (struct belief){0};
        l->tracked[u] = 0;
    }
}

/* Standard errors that a difference must exceed where each of all units may differ by chance. */
static double significant(double units) {
    return units > FEW_UNITS ? sqrt(SIGNIFICANT * SIGNIFICANT + 2 * log(units / FEW_UNITS))
                             : SIGNIFICANT;
}

struct learn *learn_init(void *block, const evn_problem *problem, int window) {
    size_t at[ARRAYS];
    layout(problem->tasks, problem->units, window, at);
    char *base = block;
    struct learn *l = block;
    *l = (struct learn){
        .problem = *problem,
        .window = window,
        .caution = 1,
        .significant = significant(problem->units),
        .carry = &problem->carry,
        .cost = (double *)(base + at[0]),
        .speed = (double *)(base + at[1]),
        .seconds = (double *)(base + at[2]),
        .unit_speed = (double *)(base + at[3]),
        .then = (double *)(base + at[4]),
        .repeated = (double *)(base + at[5]),
        .ratio = (double *)(base + at[6]),
        .part = (double *)(base + at[7]),
        .load = (double *)(base + at[6]),
        .track = (double *)(base + at[7]),
        .sums = (struct sums *)(base + at[8]),
        .off = (struct off *)(base + at[9]),
        .of_task = (struct belief *)(base + at[10]),
        .of_unit = (struct belief *)(base + at[11]),
        .owner = (int *)(base + at[12]),
        .end = (int *)(base + at[13]),
        .tracked = (int *)(base + at[14]),
    };
    begin(l);
    return l;
}

/* Copies the units' arrays; the tasks' arrays stay as learn_init() has made them. */
static void take_units(struct learn *l, const struct learn *from) {
    const size_t units = (size_t)l->problem.units, rows = (size_t)l->window * units;
    memcpy(l->speed, from->speed, units * sizeof *l->speed);
    memcpy(l->unit_speed, from->unit_speed, rows * sizeof *l->unit_speed);
    memcpy(l->repeated, from->repeated, rows * sizeof *l->repeated);
    memcpy(l->track, from->track, units * LEARN_MEMORY * sizeof *l->track);
    memcpy(l->of_unit, from->of_unit, units * sizeof *l->of_unit);
    memcpy(l->tracked, from->tracked, units * sizeof *l->tracked);
}

/* Takes over numbers, not arrays; promises and searches only if tasks were merely renumbered, since
 * else they concern other tasks. */
static void take_numbers(struct learn *l, const struct learn *from, int renumbers) {
    l->fed = from->fed;
    l->passed = from->passed;
    l->kept = from->kept;
    l->latest = from->latest;
    l->since = from->since;
    l->stints = from->stints;
    l->caution = from->caution;
    l->moves = from->moves;
    l->changed = from->changed;
    l->shift = from->shift;
    l->task_spread = from->task_spread;
    l->unit_spread = from->unit_spread;
    l->repeats = from->repeats;
    if (renumbers) {
        l->before = from->before;
        l->after = from->after;
        l->refused = from->refused;
        l->reach = from->reach;
        l->price = from->price;
        l->wait = from->wait;
        l->ask = from->ask;
        l->hold = from->hold;
    } else {
        l->hold = l->ask = l->fed + HOLD;
    }
    if (l->problem.instances &&
        __builtin_add_overflow(l->problem.instances, l->passed, &l->problem.instances))
        l->problem.instances = INT_MAX;
}

/* Fills a task's rows: seconds by its cost and the speed of its unit in that row. */
static void fill_rows(struct learn *l, size_t t, const struct learn *from, int origin, int owner) {
    const size_t n = (size_t)l->problem.tasks, m = (size_t)from->problem.tasks;
    const size_t units = (size_t)l->problem.units;
    for (size_t r = 0; r < (size_t)l->kept; r++) {
        const int u = origin < 0 ? owner : from->owner[r * m + (size_t)origin];
        const double found = l->unit_speed[r * units + (size_t)u];
        l->owner[r * n + t] = u;
        l->seconds[r * n + t] = held(l->cost[t] / (found > 0 ? found : l->speed[u]));
    }
}

/* Ratio of a kept task's weights, now and before; 0: its old cost tells nothing. */
static double weight_ratio(const struct learn *l, const struct origins *o, int t) {
    const double was = o->before->weight[o->heaviest[t]], is = l->problem.weight[t];
    return was == is ? 1 : was > 0 && is > 0 ? bounded(is / was) : 0;
}

/* Kept tasks' own rows, times the ratio of weights; row by row, as they lie in memory. */
static void keep_rows(struct learn *l, const struct learn *from, const struct origins *o) {
    const size_t n = (size_t)l->problem.tasks, m = (size_t)from->problem.tasks;
    for (size_t r = 0; r < (size_t)l->kept; r++)
        for (size_t t = 0; t < n; t++) {
            if (!origins_kept(o, (int)t)) continue;
            const double ratio = weight_ratio(l, o, (int)t);
            const size_t at = r * m + (size_t)o->heaviest[t];
            if (!(ratio > 0)) continue;
            l->owner[r * n + t] = from->owner[at];
            l->seconds[r * n + t] = held(from->seconds[at] * ratio);
        }
}

/* Cost of a task of before, which was learnt by the speed of its unit. */
static double cost_before(const struct learn *l, const struct learn *from, int t) {
    if (!from->kept) return from->cost[t];
    const size_t row = (size_t)from->latest * (size_t)from->problem.tasks;
    return from->cost[t] * l->load[from->owner[row + (size_t)t]];
}

/* Gives a born task a cost by its weight. */
static void bear(struct learn *l, size_t t, const struct learn *from, const struct origins *o,
                 double each, int owner) {
    const evn_change *c = o->change;
    double cost = 0, weight = 0;
    for (int i = c->first ? c->first[t] : 0; c->first && i < c->first[t + 1]; i++) {
        cost += cost_before(l, from, c->from[i]);
        weight += o->before->weight[c->from[i]];
    }
    const int origin = o->heaviest[t];
    if (cost > 0 && weight > 0) each = bounded(cost / weight);
    l->cost[t] = held(l->problem.weight[t] * each);
    if (origin >= 0) l->of_task[t] = from->of_task[origin];
    if (l->of_task[t].behind > PROOF) l->of_task[t].behind = PROOF;
    l->of_task[t].rows = 0;
    fill_rows(l, t, from, origin, owner);
}

/* ---- speeds by tasks that have moved ---- */

static int row_before(const struct learn *l, int row);

/* A task's time on a unit it has moved to against that on the one before it is the ratio of these
 * units' speeds, whatever the task costs; while no task moves, all of a unit's costs may be wrong
 * by one factor, and its speed with them. The first instance after the move does not count; of
 * several, `proof` of them before it, the shorter times do. 1: *ratio is a logarithm, of the speed
 * of *to over that of *from. */
static int has_moved(const struct learn *l, size_t t, int proof, int *from, int *to,
                     double *ratio) {
    const size_t n = (size_t)l->problem.tasks;
    const int rows = l->of_task[t].rows < l->kept ? l->of_task[t].rows : l->kept;
    if (rows < 2 + proof) return 0;
    double last = l->seconds[(size_t)l->latest * n + t], then = 0;
    int row = l->latest, same = 0, before = 0;
    *to = l->owner[(size_t)l->latest * n + t];
    for (int i = 0; i < rows && row >= 0; i++, row = row_before(l, row)) {
        const int owner = l->owner[(size_t)row * n + t];
        const double seconds = l->seconds[(size_t)row * n + t];
        if (owner == *to && !before) {
            if (proof > 1) last = fmin(last, seconds);
            same++;
            continue;
        }
        if (same < 2 || (before && owner != *from)) return 0;
        *from = owner;
        then = before++ ? fmin(then, seconds) : seconds;
        if (before < proof) continue;
        *ratio = log(then / last);
        return then > 0 && last > 0;
    }
    return 0;
}

/* Moves of tasks, at most one for each task. */
struct moves {
    int count;
    double *off;            /* by move: log of the ratio of speeds over the believed ratio */
    double *units;          /* units of each move: from * units + to */
    double *asked, *weight; /* change of each unit's speed by its moves, and their weight */
};

static void find_moves(const struct learn *l, int proof, struct moves *m) {
    int from, to;
    double ratio;
    for (int t = 0; t < l->problem.tasks; t++) {
        if (!has_moved(l, (size_t)t, proof, &from, &to, &ratio)) continue;
        m->units[m->count] = (double)from * l->problem.units + to;
        m->off[m->count++] = ratio - log(l->speed[to] / l->speed[from]);
    }
}

/* Deviation that remains of a move once speeds have factors of these logarithms. */
static double left_off(const struct moves *m, int i, const double *factor, int units, int *from,
                       int *to) {
    *from = (int)(m->units[i] / units);
    *to = (int)(m->units[i] - (double)*from * units);
    return m->off[i] - (factor[*to] - factor[*from]);
}

/* Mean of the remaining deviations; each counts only up to a likely value. */
static double mean_off(const struct moves *m, const double *factor, int units) {
    double sum = 0;
    int from, to;
    for (int i = 0; i < m->count; i++)
        sum += fmin(fabs(left_off(m, i, factor, units, &from, &to)), log(UNLIKELY));
    return m->count ? sum / m->count : 0;
}

/* Factors by which moves are least off in sum: means whose weights fall with how far a move is off,
 * over and over, so that disturbed ones count little. */
static void fit(struct moves *m, double *factor, int units) {
    int rounds = m->count ? ROUND_MOVES / m->count : 0;
    if (rounds > ROUNDS_MAX) rounds = ROUNDS_MAX;
    for (int round = 0; round < rounds || round < ROUNDS_MAX / 10; round++) {
        for (int u = 0; u < units; u++) m->asked[u] = m->weight[u] = 0;
        for (int i = 0; i < m->count; i++) {
            int from, to;
            const double off = left_off(m, i, factor, units, &from, &to);
            const double weight = 1 / (fabs(off) + LEAST_GAIN);
            m->asked[to] += weight * off;
            m->asked[from] -= weight * off;
            m->weight[to] += weight;
            m->weight[from] += weight;
        }
        for (int u = 0; u < units; u++)
            if (m->weight[u] > 0) factor[u] += 0.5 * m->asked[u] / m->weight[u];
    }
}

/* Factors of the speeds, in l->load, by the moves that `from` has seen, of which `proof` instances
 * before count, 0: none do; they are 1, unless they explain most of how far moves are off, or
 * without memory. */
static void find_factors(struct learn *l, const struct learn *from, int proof) {
    const int units = l->problem.units;
    double *scratch = (double *)l->sums; /* more than two numbers a unit */
    double *move = malloc(2 * (size_t)from->problem.tasks * sizeof *move);
    struct moves m = {.off = move,
                      .units = move ? move + from->problem.tasks : NULL,
                      .asked = scratch,
                      .weight = scratch + units};
    double *factor = l->load, before = 0, after = 0;
    const double least = fmax(LEAST_GAIN, SCATTERED * from->task_spread);
    if (proof && move) find_moves(from, proof, &m);
    for (int u = 0; u < units; u++) factor[u] = 0;
    before = mean_off(&m, factor, units);
    if (before > least) {
        fit(&m, factor, units);
        after = mean_off(&m, factor, units);
    }
    free(move);
    const int known = m.count >= 2 * PROOF && before > least && after < before / 2;
    double sum = 0, scaled = 0;
    for (int u = 0; u < units; u++) {
        factor[u] = known ? exp(factor[u]) : 1;
        sum += from->speed[u];
        scaled += from->speed[u] * factor[u];
    }
    for (int u = 0; u < units; u++) factor[u] = bounded(factor[u] * (sum / scaled));
}

/* Multiplies the speeds, now and in each row, by the factors, and shifts `track`, their
 * logarithms. */
static void scale_units(struct learn *l) {
    const size_t units = (size_t)l->problem.units;
    for (size_t u = 0; u < units; u++) {
        const double f = l->load[u];
        l->speed[u] = bounded(l->speed[u] * f);
        for (size_t r = 0; r < (size_t)l->kept; r++) l->unit_speed[r * units + u] *= f;
        for (size_t i = 0; i < LEARN_MEMORY; i++) l->track[u * LEARN_MEMORY + i] += log(f);
    }
}

struct learn *learn_change(void *block, const evn_problem *problem, const struct learn *from,
                           const struct origins *o, const int *owner) {
    struct learn *l = learn_init(block, problem, from->window);
    const double each = learn_time_unit(from);
    find_factors(l, from, !o->renumbers);
    take_units(l, from);
    take_numbers(l, from, o->renumbers);
    scale_units(l);
    for (int t = 0; t < problem->tasks; t++) {
        if (!origins_kept(o, t)) {
            bear(l, (size_t)t, from, o, from->fed ? each : 1, owner[t]);
            continue;
        }
        const int origin = o->heaviest[t];
        const double ratio = weight_ratio(l, o, t);
        l->of_task[t] = from->of_task[origin];
        l->cost[t] =
            held(ratio > 0 ? cost_before(l, from, origin) * ratio : problem->weight[t] * each);
        if (!(ratio > 0)) fill_rows(l, (size_t)t, from, origin, owner[t]);
    }
    keep_rows(l, from, o);
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

/* The lower middle of n > 0 numbers. Reorders them. Up to five it is found without branches, since
 * a lesson asks for it twice for each task. */
static double lower_middle(double *x, int n) {
    if (n <= 2) return n == 1 ? x[0] : least_of(x[0], x[1]);
    if (n <= 5) {
        const double low = least_of(x[0], x[1]), high = most_of(x[0], x[1]);
        if (n == 3) return most_of(low, least_of(high, x[2]));
        const double lower = least_of(x[2], x[3]), higher = most_of(x[2], x[3]);
        if (n == 4) return least_of(most_of(low, lower), least_of(high, higher));
        /* neither the least nor the most of four */
        const double a = most_of(low, lower), b = least_of(high, higher);
        return most_of(least_of(a, b), least_of(most_of(a, b), x[4]));
    }
    for (int i = 1; i < n; i++) {
        double keep = x[i];
        int j = i;
        for (; j && x[j - 1] > keep; j--) x[j] = x[j - 1];
        x[j] = keep;
    }
    return x[(n - 1) / 2];
}

/* 1 if the logarithm of a ratio is at most `most`; mostly decided without computing it. */
static inline int is_near(double ratio, double most) {
    const double off = fabs(ratio - 1);
    if (off <= most * (1 - off)) return 1;
    if (off > most * (1 + off)) return 0;
    return fabs(log(ratio)) <= most;
}

/* An estimate's spread, mixed with that of all estimates until it is known from many instances. */
static double spread_of(const struct belief *b, double of_all) {
    if (b->spreads >= 2 * FEW || !(of_all > ROUNDING)) return b->spread;
    return most_of(b->spread, (b->spreads * b->spread + FEW * of_all) / (b->spreads + FEW));
}

/* Finds the speed of each unit in the instance of `row`. */
static void look(struct learn *l, int row) {
    const int n = l->problem.tasks, units = l->problem.units;
    const int *owner = l->owner + (size_t)row * (size_t)n;
    const double *seconds = l->seconds + (size_t)row * (size_t)n;
    const double *weight = l->problem.weight, most = 1e300 / n;
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
        l->part[i] = weight ? least_of(weight[t], most) : 1;
    }
    for (int u = 0, from = 0; u < units; from = end[u++])
        found[u] =
            end[u] > from ? median_by_weight(l->ratio + from, l->part + from, end[u] - from) : 0;
    /* numerator and denominator of each speed */
    double *work = l->load, *time = l->part; /* n >= 1, and units that have tasks are no more */
    memset(work, 0, sizeof *work * (size_t)units);
    int *slot = end; /* slot of each unit that has tasks */
    for (int u = 0, used = 0; u < units; u++) {
        slot[u] = found[u] > 0 ? used++ : -1;
        if (slot[u] >= 0) time[slot[u]] = 0;
    }
    for (int t = 0; t < n; t++) {
        const int u = owner[t];
        if (!(l->cost[t] > 0 && seconds[t] > 0)) continue;
        const double spread = spread_of(&l->of_task[t], l->task_spread);
        if (!is_near(bounded(l->cost[t] / seconds[t]) / found[u], SIGNIFICANT * spread + ROUNDING))
            continue;
        work[u] += l->cost[t];
        time[slot[u]] += seconds[t];
    }
    for (int u = 0; u < units; u++) {
        const double mean = slot[u] >= 0 ? work[u] / time[slot[u]] : 0;
        if (mean > 1e-300 && mean < 1e300) found[u] = mean;
    }
}

/* A task's usual seconds: the lower middle of those in the window. */
static double usual_seconds(const struct learn *l, size_t t) {
    double x[LEARN_WINDOW_MAX];
    x[0] = x[1] = 0; /* lower_middle() reads two, also of fewer */
    for (int row = 0; row < l->kept; row++)
        x[row] = l->seconds[(size_t)row * (size_t)l->problem.tasks + t];
    return lower_middle(x, l->kept);
}

/* A sum over tasks without the last bits, in which their order shows: numbers of tasks change no
 * plan. */
static double rounded(double sum) {
    int exponent;
    const double part = frexp(sum, &exponent);
    return ldexp(nearbyint(ldexp(part, 40)), exponent - 40);
}

static void sum_units(struct learn *l) {
    struct sums *of = l->sums;
    const size_t n = (size_t)l->problem.tasks;
    const int *owner = l->owner + (size_t)l->latest * n;
    memset(of, 0, (size_t)l->problem.units * sizeof *of);
    for (size_t t = 0; t < n; t++) {
        struct sums *u = &of[owner[t]];
        l->ratio[t] = usual_seconds(l, t);
        u->weight += l->cost[t];
        u->squares += l->cost[t] * l->cost[t];
        u->seconds += l->ratio[t];
        u->tasks++;
    }
    for (int i = 0; i < l->problem.units; i++) {
        of[i].weight = rounded(of[i].weight);
        of[i].squares = rounded(of[i].squares);
        of[i].seconds = rounded(of[i].seconds);
    }
    for (size_t t = 0; t < n; t++) {
        struct sums *u = &of[owner[t]];
        const double rest = l->ratio[t] * (u->weight / u->seconds) - l->cost[t];
        if (u->weight > 0 && u->seconds > 0) u->rest += rest * rest;
    }
    for (int i = 0; i < l->problem.units; i++) of[i].rest = rounded(of[i].rest);
}

/* Finds how far each unit's mean may be off by chance, from the scatter of its tasks around it;
 * with few tasks the scatter of all units' tasks counts, too. */
static void find_off(struct learn *l) {
    const struct sums *of = l->sums;
    struct off *off = l->off;
    const int units = l->problem.units;
    double rest = 0, squares = 0, tasks = 0, free = 0;
    for (int u = 0; u < units; u++) {
        rest += of[u].rest;
        squares += of[u].squares;
        tasks += of[u].tasks;
        free += of[u].tasks > 1 ? of[u].tasks - 1 : 0;
    }
    const double pooled = free > 0 && squares > 0 ? rest / squares * (tasks / free) : -1;
    for (int u = 0; u < units; u++) {
        const struct sums *x = &of[u];
        off[u] = (struct off){0, -1};
        if (!(x->weight > 0 && x->seconds > 0) || pooled < 0) continue;
        const double all = x->weight * x->weight, n = x->tasks;
        const double own = n > 1 ? x->rest / all * n / (n - 1) : 0, seen = n > 1 ? n : 0;
        off[u].variance =
            (seen * own + FEW_TASKS * pooled * x->squares / all) / (seen + FEW_TASKS) +
            IN_ACCORD * pooled;
        off[u].is = bounded(x->seconds / x->weight * given_speed(l, u));
        if (!isfinite(off[u].variance)) off[u].variance = -1;
    }
}

/* Mean of the units' deviations, weighted by their certainty. */
static double mean_of_off(const struct off *off, int units) {
    double sum = 0, weight = 0;
    for (int u = 0; u < units; u++) {
        if (off[u].variance < 0) continue;
        sum += off[u].is / (off[u].variance + 1e-9);
        weight += 1 / (off[u].variance + 1e-9);
    }
    return sum > 0 ? bounded(sum / weight) : 1;
}

/* The variance of the units' true differences from their given speeds: the part beyond chance. */
static double true_variance(const struct off *off, int units, double mean) {
    double differ = 0, chance = 0, known = 0;
    for (int u = 0; u < units; u++) {
        if (off[u].variance < 0) continue;
        known++;
        differ += (off[u].is / mean - 1) * (off[u].is / mean - 1);
        chance += off[u].variance;
    }
    return known > 0 ? fmax(differ - chance * (1 + 3 * sqrt(2 / known)), 0) / known : 0;
}

/* Moves a unit's speeds in all rows towards `speed`, by this part of the logarithm. */
static void draw_towards(struct learn *l, size_t u, double speed, double part) {
    const size_t units = (size_t)l->problem.units;
    double sum = 0;
    int rows = 0;
    for (size_t r = 0; r < (size_t)l->kept; r++) {
        if (!(l->unit_speed[r * units + u] > 0)) continue;
        sum += log(l->unit_speed[r * units + u]);
        rows++;
    }
    if (!rows) return;
    const double factor = exp(part * (speed - sum / rows));
    for (size_t r = 0; r < (size_t)l->kept; r++)
        if (l->unit_speed[r * units + u] > 0)
            l->unit_speed[r * units + u] = bounded(l->unit_speed[r * units + u] * factor);
}

/* While no task has moved, a unit whose tasks take long may be slow, or its tasks may cost more
 * than they weigh. As far as units differ from the speeds of the problem by no more than chance,
 * these are believed, and the tasks' costs take up the difference. */
static void trust(struct learn *l) {
    const int units = l->problem.units;
    if (units < 2 || units > l->problem.tasks) return;
    struct off *off = l->off;
    sum_units(l);
    find_off(l);
    const double mean = mean_of_off(off, units), beyond = true_variance(off, units, mean);
    const double unlikely = 2 + 3 * log(units);
    for (int u = 0; u < units; u++) {
        const double v = off[u].variance, d = off[u].is / mean - 1;
        if (!(v > ROUNDING * ROUNDING)) continue;
        const double by_chance = fmin(unlikely * v / (d * d), 1);
        const double true_part = fmax(beyond / (beyond + v), 1 - by_chance * by_chance);
        draw_towards(l, (size_t)u, log(given_speed(l, u) / mean), 1 - true_part);
        l->of_unit[u].trusted = true_part < 0.5;
    }
}

/* Turns speeds into seconds after the first instance (row 0); a unit without tasks is converted
 * like the others. */
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

/* The row of the instance before; -1: it is not in the window. */
static int row_before(const struct learn *l, int row) {
    const int before = row ? row - 1 : l->window - 1;
    return before < l->kept && row != (l->kept < l->window ? 0 : (l->latest + 1) % l->window)
               ? before
               : -1;
}

/* Difference of a and b, relative to their mean. */
static double difference(double a, double b) { return fabs(a - b) / (0.5 * a + 0.5 * b); }

/* The lower middle of up to SAMPLE differences of values with those one instance before, as a
 * spread: what has changed or was disturbed is not in it while it is the minority. */
static double usual(double *off, int n) {
    const double middle = n ? OF_DIFFERENCE * lower_middle(off, n) : 0;
    return middle > ROUNDING ? middle : 0;
}

/* Learns how the latest instance differs from the one before: of tasks, beside what all tasks of a
 * unit have in common. Tasks and units seen only a few times do not tell their own spread yet. */
static void spread_of_all(struct learn *l, const int *owner, const int *had, size_t row,
                          size_t before) {
    const size_t n = (size_t)l->problem.tasks, units = (size_t)l->problem.units;
    const double *again = l->repeated + row * units;
    double task[SAMPLE], unit[SAMPLE];
    int tasks = 0, of_units = 0;
    for (size_t t = 0; t < n; t += (n + SAMPLE - 1) / SAMPLE) {
        const double s = l->seconds[row * n + t], was = l->seconds[before * n + t];
        if (owner[t] == had[t] && again[owner[t]] > 0 && s > 0 && was > 0)
            task[tasks++] = difference(s, was * again[owner[t]]);
    }
    for (size_t u = 0; u < units; u += (units + SAMPLE - 1) / SAMPLE)
        if (again[u] > 0) unit[of_units++] = difference(again[u], 1);
    if (!tasks || !of_units) return;
    if (l->repeats < SPREADS) l->repeats++;
    l->task_spread += (usual(task, tasks) - l->task_spread) / l->repeats;
    l->unit_spread += (usual(unit, of_units) - l->unit_spread) / l->repeats;
}

/* Ratio of each unit's latest time to the one before, for tasks that it had in both; 0: none. */
static void repeat(struct learn *l) {
    const int n = l->problem.tasks, units = l->problem.units;
    const int row = l->latest, before = row_before(l, row);
    const int *owner = l->owner + (size_t)row * (size_t)n;
    double *now = l->repeated + (size_t)row * (size_t)units, *then = l->load;
    memset(now, 0, sizeof *now * (size_t)units);
    memset(then, 0, sizeof *then * (size_t)units);
    if (before < 0) return;
    const int *had = l->owner + (size_t)before * (size_t)n;
    int *known = l->end;
    memset(known, 0, sizeof *known * (size_t)units);
    /* tasks that were disturbed in neither of the two instances; if there are none, all */
    for (int all = 0, left = 1; left && all < 2; all++) {
        left = 0;
        for (int t = 0; t < n; t++) {
            const double s = l->seconds[(size_t)row * (size_t)n + (size_t)t],
                         was = l->seconds[(size_t)before * (size_t)n + (size_t)t];
            if (owner[t] != had[t] || known[owner[t]]) continue;
            if (!all && (s > DISTURBED * was || was > DISTURBED * s)) {
                left = 1;
                continue;
            }
            now[owner[t]] += s;
            then[owner[t]] += was;
        }
        for (int u = 0; u < units; u++) known[u] = now[u] > 0 && then[u] > 0;
    }
    for (int u = 0; u < units; u++) now[u] = known[u] ? bounded(now[u] / then[u]) : 0;
    spread_of_all(l, owner, had, (size_t)row, (size_t)before);
}

/* Learns the spread from h differences of the short window. Reorders them. */
static void learn_spread(struct belief *b, double *x, int h) {
    if (h < 2) return;
    /* the middle difference of two values is 0.95 standard deviations; the lower middle of an even
     * number of them is less */
    double off = lower_middle(x, h) * (h % 2 ? 1.05 : 1.5);
    if (!(off >= ROUNDING)) off = 0;
    /* cuts off bursts of disturbances; noise that has grown is adopted gradually */
    if (b->spreads >= FEW) off = least_of(off, most_of(3 * b->spread, 0.01));
    if (b->spreads < SPREADS) b->spreads++;
    b->spread += (off - b->spread) / b->spreads;
}

/* 1 if the median of h values, the newest first, contradicts the estimate. `proof`: number of
 * newest values that must all agree; for a change so large that it is unlikely, the whole window.
 */
static int has_changed(const struct learn *l, double spread, double believed, const double *value,
                       int h, double middle, int proof) {
    if (!(believed > 0 && middle > 0)) return believed != middle;
    if (is_near(middle / believed, l->significant * OF_MEDIAN * spread / sqrt(h) + ROUNDING))
        return 0;
    const double off = log(middle / believed);
    if (fabs(off) > log(UNLIKELY)) proof = proof < 3 ? 3 : l->window;
    if (h < proof) return 0;
    for (int i = 0; i < proof; i++)
        if (!(value[i] > 0) || !(log(value[i] / believed) / off > 0.5)) return 0;
    return 1;
}

/* Adds a value to the estimate's mean. */
static double refined(struct belief *b, double spread, double believed, double value) {
    if (b->behind < LEARN_MEMORY) b->behind++;
    if (!(believed > 0 && value > 0)) return believed;
    const double max = SIGNIFICANT * spread, off = value / believed - 1;
    if (!(max > 0)) return believed;
    return believed * (1 + (off > max ? max : off < -max ? -max : off) / b->behind);
}

/* Geometric mean. */
static double mean_of_logs(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log(x[i]);
    return exp(sum / n);
}

static void learn_unit(struct learn *l, size_t u) {
    const size_t units = (size_t)l->problem.units;
    double value[LEARN_WINDOW_MAX], x[LEARN_WINDOW_MAX], off[LEARN_WINDOW_MAX];
    int known = 0, repeats = 0;
    for (int row = l->latest; row >= 0; row = row_before(l, row)) {
        const double found = l->unit_speed[(size_t)row * units + u],
                     again = l->repeated[(size_t)row * units + u];
        if (found > 0) value[known++] = found;
        if (again > 0) off[repeats++] = difference(again, 1);
    }
    struct belief *b = &l->of_unit[u];
    if (!known) return;
    for (int i = 0; i < known; i++) x[i] = -value[i];
    const double middle = -lower_middle(x, known); /* the higher one, of negated values */
    const int now = l->unit_speed[(size_t)l->latest * units + u] > 0;
    if (now) {
        l->track[u * LEARN_MEMORY + (size_t)(l->tracked[u]++ % LEARN_MEMORY)] =
            log(value[0]) - l->shift;
        learn_spread(b, off, repeats);
    }
    const double spread = spread_of(b, l->unit_spread);
    const int first = l->stints == 1 && l->fed <= l->window;
    /* the costs by which the values are told are off by chance, too, and for all of them alike */
    const double doubt = sqrt(1 + known / (OF_MEDIAN * OF_MEDIAN * fmin(l->fed, LEARN_MEMORY)));
    if (first || (b->behind < FEW && !b->trusted)) {
        l->speed[u] = bounded(b->trusted ? mean_of_logs(value, known) : middle);
        b->behind = b->behind ? b->behind + now : known;
    } else if (has_changed(l, spread * doubt, l->speed[u], value, known, middle, PROOF)) {
        if (fabs(log(bounded(middle) / l->speed[u])) > log(1.1)) l->changed = l->passed;
        l->speed[u] = bounded(middle);
        b->behind = PROOF;
        b->trusted = 0;
        l->tracked[u] = 0;
    } else if (now && !b->trusted) {
        l->speed[u] = bounded(refined(b, spread, l->speed[u], value[0]));
    } else if (now && b->behind < LEARN_MEMORY) {
        b->behind++;
    }
}

/* Chooses for each row the speeds that turn times into costs: those found; for a unit whose given
 * speed is trusted, the found one only where it was disturbed, since else it shows no more than its
 * tasks' scatter. */
static void find_then(struct learn *l, size_t u) {
    const size_t units = (size_t)l->problem.units;
    const struct belief *b = &l->of_unit[u];
    const double speed = l->speed[u],
                 most = l->significant * OF_MEDIAN * spread_of(b, l->unit_spread) + ROUNDING;
    for (size_t at = u; at < (size_t)l->kept * units; at += units) {
        const double found = l->unit_speed[at];
        const int usual = !(found > 0) || (b->trusted && fabs(log(found / speed)) <= most);
        l->then[at] = usual ? speed : found;
    }
}

/* Cost of a task by its time on its present unit; earlier estimates hold unless contradicted.
 * `row`: all rows that hold an instance, the newest first. */
static void learn_task(struct learn *l, const int *row, int rows, size_t t) {
    const size_t n = (size_t)l->problem.tasks, units = (size_t)l->problem.units;
    const int now = l->owner[(size_t)*row * n + t];
    double value[LEARN_WINDOW_MAX], x[LEARN_WINDOW_MAX], off[LEARN_WINDOW_MAX];
    value[0] = x[0] = x[1] = 0;
    int h = 0, repeats = 0, moved = 0;
    for (int i = 0; i < rows; i++) {
        const size_t at = (size_t)row[i] * n + t, of = (size_t)row[i] * units + (size_t)now;
        if (l->owner[at] != now) {
            moved = 1;
            continue;
        }
        value[h] = x[h] = held(l->seconds[at] * l->then[of]), h++;
        const size_t had = i + 1 < rows ? (size_t)row[i + 1] * n + t : at;
        if (had != at && l->owner[had] == now && l->repeated[of] > 0 && l->seconds[had] > 0)
            off[repeats++] = difference(l->seconds[at], l->seconds[had] * l->repeated[of]);
    }
    struct belief *b = &l->of_task[t];
    const double middle = lower_middle(x, h), cost = l->cost[t];
    learn_spread(b, off, repeats);
    const double spread = spread_of(b, l->task_spread);
    b->rows = !b->behind ? h : b->rows < l->window ? b->rows + 1 : b->rows;
    if (b->behind < FEW && (!moved || !b->behind)) {
        l->cost[t] = middle;
        b->behind = b->behind ? b->behind + 1 : h;
    } else if (has_changed(l, spread, cost, value, h, middle, moved ? 1 : PROOF)) {
        l->cost[t] = middle;
        b->behind = h < PROOF ? h : PROOF;
    } else {
        l->cost[t] = held(refined(b, spread, cost, value[0]));
    }
}

/* Cost of a task by its times on all its units in the window. */
static double cost_everywhere(const struct learn *l, size_t t) {
    const size_t n = (size_t)l->problem.tasks;
    double x[LEARN_WINDOW_MAX] = {0};
    for (size_t r = 0; r < (size_t)l->kept; r++)
        x[r] = l->seconds[r * n + t] * l->speed[l->owner[r * n + t]];
    return lower_middle(x, l->kept);
}

/* Learns speeds from the first moves of tasks, and then the costs of tasks on these units. */
static void learn_from_moves(struct learn *l) {
    const size_t n = (size_t)l->problem.tasks;
    const int *owner = l->owner + (size_t)l->latest * n;
    int differ = 0;
    find_factors(l, l, 2);
    for (int u = 0; u < l->problem.units; u++) {
        const int other = fabs(l->load[u] - 1) > LEAST_GAIN;
        if (other) l->of_unit[u].trusted = 0;
        differ |= other;
    }
    if (!differ) return;
    scale_units(l);
    for (size_t t = 0; t < n; t++) {
        int moved = 0;
        for (size_t r = 0; r < (size_t)l->kept; r++) moved |= l->owner[r * n + t] != owner[t];
        l->cost[t] = held(moved ? cost_everywhere(l, t) : l->cost[t] * l->load[owner[t]]);
    }
}

/* Checks whether the last migration has kept its promise, once there are times. */
static void look_at_promise(struct learn *l) {
    l->caution = 1 + (l->caution - 1) * CALM;
    if (!l->before || l->since < PROVEN) return;
    const int *owner = l->owner + (size_t)l->latest * (size_t)l->problem.tasks;
    const double is = learn_makespan(l, owner) / learn_even(l);
    if (is - l->after > 0.5 * (l->before - l->after) + learn_uncertainty(l))
        l->caution = fmin(2 * l->caution, MAX);
    l->before = 0;
}

int learn_feed(struct learn *l, const int *owner, const double *seconds) {
    const size_t n = (size_t)l->problem.tasks, units = (size_t)l->problem.units;
    l->ratio = malloc(2 * n * sizeof *l->ratio);
    if (!l->ratio) return 1;
    l->part = l->ratio + n;
    if (!l->fed || memcmp(l->owner + (size_t)l->latest * n, owner, n * sizeof *owner) != 0) {
        l->since = 0;
        l->stints++;
        memset(l->tracked, 0, units * sizeof *l->tracked);
    }
    l->since++;
    l->passed++;
    l->latest = l->kept ? (l->latest + 1) % l->window : 0;
    if (l->kept < l->window) l->kept++;
    memcpy(l->owner + (size_t)l->latest * n, owner, n * sizeof *owner);
    memcpy(l->seconds + (size_t)l->latest * n, seconds, n * sizeof *seconds);
    repeat(l);
    if (l->fed++ < l->window && l->stints == 1 && l->kept == l->fed) {
        /* until a task has moved only weights separate costs from speeds, using all instances, so
         * that a bad measurement in the first one does not decide */
        begin(l);
        for (int row = 0; row < l->kept; row++) look(l, row);
        trust(l);
        adopt_seconds(l);
    } else {
        look(l, l->latest);
    }
    for (size_t u = 0; u < units; u++) {
        learn_unit(l, u);
        find_then(l, u);
    }
    free(l->ratio);
    int row[LEARN_WINDOW_MAX], rows = 0;
    for (int at = l->latest; at >= 0; at = row_before(l, at)) row[rows++] = at;
    for (size_t t = 0; t < n; t++) learn_task(l, row, rows, t);
    if (learn_settles(l) && l->since == 2 && l->stints > 1) learn_from_moves(l);

    double sum = 0, nominal = 0;
    for (size_t u = 0; u < units; u++) {
        sum += l->speed[u];
        nominal += given_speed(l, (int)u);
    }
    const double scale = nominal / sum;
    if (scale > 0 && !isinf(scale)) {
        l->shift += log(scale);
        for (size_t u = 0; u < units; u++) l->speed[u] = bounded(l->speed[u] * scale);
        for (size_t i = 0; i < (size_t)l->kept * units; i++) l->unit_speed[i] *= scale;
        for (size_t t = 0; t < n; t++) l->cost[t] = held(l->cost[t] * scale);
    }
    look_at_promise(l);
    return 0;
}

void learn_passed(struct learn *l, int instances) { l->passed += instances - 1; }

/* Mean cost of a unit of weight. */
static double cost_of_weight(const struct learn *l, const double *weight) {
    double cost = 0, sum = 0;
    for (int t = 0; t < l->problem.tasks; t++) {
        cost += l->cost[t];
        sum += weight[t];
    }
    return cost > 0 && sum > 0 ? bounded(cost / sum) : 1;
}

/* Costs of tasks that weighed nothing before, so that their times tell nothing. */
static void begin_weightless(struct learn *l, const double *before, double each) {
    const size_t n = (size_t)l->problem.tasks;
    const double *now = l->problem.weight;
    for (size_t t = 0; t < n; t++) {
        if ((before[t] > 0 && now[t] > 0) || before[t] == now[t]) continue;
        l->cost[t] = held(now[t] * each);
        for (size_t row = 0; row < (size_t)l->kept; row++)
            l->seconds[row * n + t] = held(l->cost[t] / l->speed[l->owner[row * n + t]]);
    }
}

void learn_weights(struct learn *l, const double *before) {
    const size_t n = (size_t)l->problem.tasks;
    const double *now = l->problem.weight, each = cost_of_weight(l, before);
    int weightless = 0;
    for (size_t t = 0; t < n; t++) {
        const int scales = before[t] > 0 && now[t] > 0;
        const double ratio = scales ? bounded(now[t] / before[t]) : 1;
        weightless |= !scales;
        l->cost[t] = held(l->cost[t] * ratio);
        for (size_t at = t; at < (size_t)l->kept * n; at += n)
            l->seconds[at] = held(l->seconds[at] * ratio);
    }
    if (weightless) begin_weightless(l, before, each);
}

void learn_forget(struct learn *l) { l->kept = 0; }

int learn_instances(const struct learn *l) { return l->fed; }
int learn_ready(const struct learn *l) { return l->kept >= (l->window + 1) / 2; }
const double *learn_cost(const struct learn *l) { return l->cost; }
const double *learn_speed(const struct learn *l) { return l->speed; }

const double *learn_seen(const struct learn *l) {
    return l->unit_speed + (size_t)l->latest * (size_t)l->problem.units;
}

double learn_scale(const struct learn *l) { return bounded(exp(l->shift)); }

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
    return !n ? INFINITY : n > l->passed ? n - l->passed : 0;
}

double learn_horizon(const struct learn *l) { return fmin(learn_left(l), MANY); }

double learn_even(const struct learn *l) {
    double cost = 0, speed = 0;
    for (int t = 0; t < l->problem.tasks; t++) cost += l->cost[t];
    for (int u = 0; u < l->problem.units; u++) speed += l->speed[u];
    return bounded(cost / speed);
}

double learn_least(const struct learn *l) {
    double heaviest = 0, fastest = 0;
    for (int t = 0; t < l->problem.tasks; t++) heaviest = fmax(heaviest, l->cost[t]);
    for (int u = 0; u < l->problem.units; u++) fastest = fmax(fastest, l->speed[u]);
    return fmax(learn_even(l), heaviest / fastest);
}

/* The relative standard deviation of a unit's times: the larger of how they scatter from one
 * instance to the next few and of how they scatter under the present owners, slow waves included.
 */
static double scatter(const struct learn *l, int u) {
    double x[LEARN_MEMORY];
    const int known = l->tracked[u] < LEARN_MEMORY ? l->tracked[u] : LEARN_MEMORY;
    const double spread = spread_of(&l->of_unit[u], l->unit_spread);
    if (known < 2 * FEW) return spread;
    memcpy(x, l->track + (size_t)u * LEARN_MEMORY, (size_t)known * sizeof *x);
    const double middle = lower_middle(x, known);
    for (int i = 0; i < known; i++) x[i] = fabs(x[i] - middle);
    const double off = 1.48 * lower_middle(x, known);
    return off > spread && off > ROUNDING ? off : spread;
}

/* The relative standard error of a unit's time. */
static double error_of(const struct learn *l, int u) {
    const double few = 1 + 3.0 / (l->fed < LEARN_MEMORY ? l->fed : LEARN_MEMORY);
    return few * OF_MEDIAN * scatter(l, u) / sqrt(l->of_unit[u].behind);
}

/* Errors of the units' times under the latest owners: the mean square of all, and the longest
 * unit's, whose own spread is mixed with that of all until it has been seen often. */
static double squared_errors(struct learn *l, double *of_longest) {
    learn_makespan(l, l->owner + (size_t)l->latest * (size_t)l->problem.tasks);
    double longest = 0, squares = 0, weights = 0, own = 0;
    *of_longest = 0;
    for (int u = 0; u < l->problem.units; u++) {
        const double time = fmin(l->load[u] / l->speed[u], 1e100);
        if (!(time > 0) || !l->of_unit[u].behind) continue;
        const double error = error_of(l, u);
        squares += fmin(time * error, 1e100) * fmin(time * error, 1e100);
        weights += time * time;
        if (time <= longest) continue;
        longest = time;
        *of_longest = error;
        own = l->of_unit[u].spreads;
    }
    if (!(weights > 0)) return 0;
    const double all = squares / weights;
    *of_longest = (own * *of_longest * *of_longest + FEW * all) / (own + FEW);
    return all;
}

double learn_uncertainty(struct learn *l) {
    double of_longest;
    if (!l->kept) return 0;
    const double of_all = squared_errors(l, &of_longest);
    return sqrt(of_longest + of_all);
}

int learn_settles(const struct learn *l) { return l->fed <= SETTLING; }

int learn_closes(const struct learn *l) {
    return l->fed == SETTLING && l->problem.tasks >= FEW_TASKS * l->problem.units;
}

int learn_trusts(const struct learn *l) {
    for (int u = 0; l->stints == 1 && u < l->problem.units; u++)
        if (!l->of_unit[u].trusted) return 0;
    return 1;
}

double learn_noise(struct learn *l) {
    double of_longest;
    if (!l->kept) return 0;
    if (learn_settles(l))
        return (learn_closes(l) ? CLOSING * sqrt(2 * log(l->problem.units)) : LIKELY) *
               sqrt(squared_errors(l, &of_longest));
    return SIGNIFICANT * l->caution * learn_uncertainty(l);
}

double learn_seconds_to_move(const struct learn *l, const int *from, const int *to) {
    double longest = 0;
    for (int u = 0; u < l->problem.units; u++) l->load[u] = 0;
    for (int t = 0; t < l->problem.tasks; t++)
        if (from[t] != to[t]) l->load[to[t]] += l->cost[t];
    for (int u = 0; u < l->problem.units; u++) longest = fmax(longest, l->load[u] / l->speed[u]);
    return longest + learn_seconds_to_carry(l, from, to);
}

double learn_seconds_to_carry(const struct learn *l, const int *from, const int *to) {
    const evn_problem *p = &l->problem;
    double bytes = 0;
    if (!p->space || !p->state) return 0;
    for (int t = 0; t < p->tasks; t++)
        if (p->space[from[t]] != p->space[to[t]]) bytes += p->state[t];
    return bytes > 0 ? bytes * *l->carry : 0;
}

/* Number of instances for which speeds are expected to last: as long as they have lasted, beyond
 * what it took to see their change. */
static double lasting(const struct learn *l) {
    return l->changed ? fmin(learn_left(l), l->passed - l->changed + PROOF) : learn_left(l);
}

int learn_carries(struct learn *l, double now, double then, const int *from, const int *to) {
    const double price = learn_seconds_to_carry(l, from, to);
    if (!(price > 0)) return 1;
    l->price = (now - then) * lasting(l) > price ? 0 : price;
    return !l->price;
}

int learn_pays_certainly(const struct learn *l, double now, double then, double cost) {
    return then <= (1 - LEAST_GAIN) * now && (now - then) * learn_left(l) > cost;
}

int learn_pays(struct learn *l, double now, double then, double cost) {
    const double least = learn_settles(l) ? FIRST_GAIN : LEAST_GAIN;
    return then <= (1 - least) * now && (now - then) * learn_left(l) > cost &&
           then <= (1 - least - learn_noise(l)) * now;
}

int learn_asks(struct learn *l, double now, double could) {
    if (!(could < now) || (l->fed < l->hold && !learn_closes(l)) || !learn_pays(l, now, could, 0))
        return 0;
    if (learn_closes(l)) return 1;
    const double reach = fmax(could, l->reach * learn_even(l));
    if (l->fed >= l->ask ||
        (learn_pays(l, now, reach, 0) && (!l->price || (now - reach) * lasting(l) > l->price)))
        return 1;
    if (now - could <= WORSE * l->refused * now) return 0;
    l->wait = 0;
    return 1;
}

void learn_stays(struct learn *l, double now, double could, double then) {
    l->refused = now > 0 ? fmax(1 - could / now, 0) : 0;
    l->reach = fmin(then, now) / learn_even(l);
    l->wait = l->wait ? (l->wait < WAIT_MAX ? 2 * l->wait : WAIT_MAX) : HOLD;
    l->ask = l->fed + l->wait;
    l->hold = l->fed + HOLD;
}

void learn_moves(struct learn *l, double now, double then) {
    const double even = learn_even(l);
    /* the promise of a unit's new speed is reliable only after some instances */
    const int young = l->changed && l->passed - l->changed < FEW;
    l->before = young ? 0 : now / even;
    l->after = then / even;
    if (l->moves++) l->caution = fmin(CAUTION * l->caution, MAX);
    l->refused = l->reach = l->price = 0;
    l->wait = 0;
    l->ask = l->hold = l->fed + HOLD;
}
