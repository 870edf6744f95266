/* Pooled instances: sums of short instances' times, and when a policy learns from them. */
#include "schedule/pool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEARN_S  3e-7 /* s that learning takes, a task: some 1000 instructions */
#define SHARE    0.01 /* part of the loop's time that learning may take */
#define MOST     0.02 /* part of an instance up to which its learning is not pooled */
#define LONGER   2.0  /* times the shortest instance of late: a disturbed instance */
#define DEPARTED 0.05 /* change of a unit's time that is a departure, relative */
#define FREE_S   2e-3 /* s up to which a lesson is free at the beginning, or FREE of an instance */
#define FREE     0.1
#define OWED_S   1e-2 /* s that all lessons on credit may take */
#define SPREADS  4.0  /* times what a unit's time differs by from look to look */
#define FOLLOWS  0.2  /* weight of the last look in the mean difference of looks */

enum {
    FIRST = 5,         /* instances that are learnt from one by one */
    CREDIT = 5,        /* lessons that may be on credit */
    GROWN = 1 << 20,   /* instances: from then on their seconds count alone */
    PART_LEFT_OUT = 4, /* a quarter of the instances */
};

struct pool {
    int tasks, units;
    int lessons;   /* number of first lessons so far */
    int grow;      /* instances that are enough for a look, while few have been learnt */
    double credit; /* s of learning that were earned and not spent */
    int passed;    /* instances since the last lesson */
    int known;     /* unit_was holds, under the present owners */
    int filter;    /* long instances are left out */
    double usual;  /* s of all tasks together in the shortest instance before the last look */
    /* since the last look */
    int seen, summed, high, strange; /* instances; in `sum`; long; under other owners */
    double length;                   /* s of these instances */
    double least;                    /* least s of all tasks together */
    int agreed;                      /* instances in `before` */
    int *owner;
    double *sum;    /* s of each task, since the last look */
    double *before; /* s of each task, over looks that agreed since the last lesson */
    double *unit_now,
        *unit_was;  /* s of each unit in an instance, at this look and the last lesson */
    double *spread; /* relative spread of each unit's time */
};

struct pool *pool_open(int tasks, int units) {
    const size_t n = (size_t)tasks, u = (size_t)units;
    const size_t head = (sizeof(struct pool) + 15) / 16 * 16;
    char *block = calloc(1, head + (2 * n + 3 * u) * sizeof(double) + n * sizeof(int));
    if (!block) return NULL;
    struct pool *p = (struct pool *)block;
    p->tasks = tasks;
    p->units = units;
    p->sum = (double *)(block + head);
    p->before = p->sum + n;
    p->unit_now = p->before + n;
    p->unit_was = p->unit_now + u;
    p->spread = p->unit_was + u;
    p->owner = (int *)(p->spread + u);
    p->grow = 1;
    p->credit = fmin(CREDIT * LEARN_S * tasks, OWED_S);
    p->least = INFINITY;
    return p;
}

static void begin_look(struct pool *p) {
    p->seen = p->summed = p->high = p->strange = 0;
    p->length = 0;
    p->least = INFINITY;
}

void pool_forget(struct pool *p) {
    begin_look(p);
    p->passed = p->agreed = p->known = 0;
}

struct pool *pool_change(const struct pool *p, int tasks) {
    struct pool *fresh = pool_open(tasks, p->units);
    if (!fresh) return NULL;
    const double credit = fmin(p->credit, CREDIT * LEARN_S * tasks);
    fresh->lessons = p->lessons;
    fresh->grow = p->grow;
    fresh->credit = fmax(credit, LEARN_S * tasks);
    fresh->passed = p->passed;
    fresh->length = p->length;
    memcpy(fresh->spread, p->spread, (size_t)p->units * sizeof *p->spread);
    return fresh;
}

/* Adds an instance to the sums, or leaves it out. */
static void take(struct pool *p, const int *owner, const double *seconds, double total) {
    const size_t n = (size_t)p->tasks;
    p->seen++;
    p->least = fmin(p->least, total);
    const int high = p->usual > 0 && total > LONGER * p->usual;
    p->high += high;
    if (memcmp(p->owner, owner, n * sizeof *owner) != 0) {
        if (p->summed || p->agreed) {
            p->strange++;
            return;
        }
        memcpy(p->owner, owner, n * sizeof *owner);
        p->known = 0;
    }
    if (high && p->filter) return;
    if (p->summed++)
        for (size_t t = 0; t < n; t++) p->sum[t] += seconds[t];
    else
        memcpy(p->sum, seconds, n * sizeof *seconds);
}

/* Time of each unit; 1 if one differs from the last lesson. */
static int departs(struct pool *p) {
    int departed = !p->known;
    memset(p->unit_now, 0, (size_t)p->units * sizeof *p->unit_now);
    for (int t = 0; t < p->tasks; t++) p->unit_now[p->owner[t]] += p->sum[t];
    for (int u = 0; u < p->units; u++) {
        p->unit_now[u] /= p->summed;
        if (!p->known) continue;
        const double off = p->unit_was[u] > 0 ? fabs(p->unit_now[u] / p->unit_was[u] - 1) : 0;
        departed |= off > fmax(DEPARTED, SPREADS * p->spread[u]);
        p->spread[u] += FOLLOWS * (fmin(off, 1) - p->spread[u]);
    }
    return departed;
}

/* The mean of the instances, in `sum`; those that agreed before are no news beside a departure. */
static void average(struct pool *p, int departed) {
    const int agreed = departed ? 0 : p->agreed;
    const double each = 1.0 / (p->summed + agreed);
    for (int t = 0; t < p->tasks; t++)
        p->sum[t] = (agreed ? p->sum[t] + p->before[t] : p->sum[t]) * each;
}

/* Sums are kept for a later lesson. */
static void postpone(struct pool *p, int departed) {
    const size_t n = (size_t)p->tasks;
    if (p->agreed && !departed)
        for (size_t t = 0; t < n; t++) p->before[t] += p->sum[t];
    else
        memcpy(p->before, p->sum, n * sizeof *p->sum);
    p->agreed = p->summed + (departed ? 0 : p->agreed);
}

/* A lesson is paid for, if it can be; `urgent`: on credit. */
static int pays(struct pool *p, int urgent) {
    const double cost = LEARN_S * p->tasks, owed = fmin((CREDIT + 1) * cost, OWED_S);
    if (p->credit - cost < (urgent ? -owed : 0)) return 0;
    p->credit -= cost;
    return 1;
}

enum lesson { NONE, MEAN, LAST };

/* A lesson is over; returns of how many instances. */
static int end_lesson(struct pool *p, enum lesson of) {
    const int passed = p->passed;
    memcpy(p->unit_was, p->unit_now, (size_t)p->units * sizeof *p->unit_now);
    p->known = of == MEAN;
    p->passed = p->agreed = 0;
    p->grow = p->length < POOL_SHORT && p->grow < GROWN ? 2 * p->grow : GROWN;
    return passed;
}

/* Enough instances have passed: what the policy learns from. */
static enum lesson look(struct pool *p) {
    const int was_filtered = p->filter, seen = p->seen;
    p->filter = p->high * PART_LEFT_OUT <= seen;
    p->usual = p->least;
    const int strange = 2 * p->strange > seen;
    if (strange) return pays(p, p->grow < GROWN) ? LAST : NONE;
    if (!p->summed || (was_filtered && !p->filter)) return NONE;
    const int departed = departs(p);
    if (pays(p, departed || p->grow < GROWN)) {
        average(p, departed);
        return MEAN;
    }
    postpone(p, departed);
    return NONE;
}

/* 1 if instances are so long that learning from each is free: this one, and not by a disturbance.
 */
static int is_long(const struct pool *p, double total) {
    const double length = (p->usual > 0 ? fmin(total, p->usual) : total) / p->units;
    return !(length > 0) || (length >= POOL_LONG && LEARN_S * p->tasks <= MOST * length);
}

/* 1 for the first lessons, unless tasks are so many and so short that even these would be felt. */
static int is_free(const struct pool *p, double length) {
    const double cost = LEARN_S * p->tasks;
    return p->lessons < FIRST && (cost <= FREE_S || cost <= FREE * length);
}

int pool_add(struct pool *p, const int **owner, const double **seconds, double total) {
    const double length = total / p->units, cost = LEARN_S * p->tasks;
    p->credit = fmin(p->credit + SHARE * length, CREDIT * cost);
    p->passed++;
    if (is_free(p, length) || is_long(p, total)) {
        const int passed = p->passed;
        pool_forget(p);
        p->usual = total;
        p->credit = fmax(p->credit - cost, 0);
        if (p->lessons < FIRST) p->lessons++;
        return passed;
    }
    p->length += length;
    take(p, *owner, *seconds, total);
    if (p->seen < p->grow && p->length < POOL_SHORT) return 0;
    const enum lesson of = look(p);
    const int passed = of ? end_lesson(p, of) : 0;
    begin_look(p);
    if (of == MEAN) {
        *owner = p->owner;
        *seconds = p->sum;
    }
    return passed;
}

/* The sum of weights, and of each unit's under the owners of the sums, in unit_now. */
static double weigh_units(struct pool *p, const double *weight) {
    double all = 0;
    memset(p->unit_now, 0, (size_t)p->units * sizeof *p->unit_now);
    for (int t = 0; t < p->tasks; t++) {
        p->unit_now[p->owner[t]] += weight[t];
        all += weight[t];
    }
    return all;
}

static void scale(double *sum, const double *before, const double *now, int n) {
    for (int t = 0; t < n; t++) {
        const double ratio = before[t] > 0 ? now[t] / before[t] : 1;
        sum[t] *= ratio < 1e300 ? ratio : 1e300;
    }
}

void pool_weights(struct pool *p, const double *before, const double *now) {
    if (p->summed) scale(p->sum, before, now, p->tasks);
    if (p->agreed) scale(p->before, before, now, p->tasks);
    const double were = weigh_units(p, before);
    for (int u = 0; u < p->units; u++)
        if (p->unit_now[u] > 0) p->unit_was[u] /= p->unit_now[u];
    const double are = weigh_units(p, now);
    for (int u = 0; u < p->units; u++)
        if (p->unit_now[u] > 0) p->unit_was[u] *= p->unit_now[u];
    if (!(were > 0 && are > 0)) return;
    p->usual *= are / were;
    p->least *= are / were;
}
