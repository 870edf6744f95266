/* Pooled instances: sums of short instances' times, and when a policy learns from them. */
#include "schedule/pool_state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEARN_S  1.2e-7 /* s of learning for each task: some 400 instructions */
#define SHARE    0.01   /* part of the loop's time that learning may take */
#define TAKE_S   3e-9   /* s of adding up a task's time, where one thread does so for all units */
#define TAKES    0.003  /* part of the loop's time for that; the rest of SHARE is for lessons */
#define LONGER   2.0    /* ratio to the shortest recent instance of a disturbed one */
#define DEPARTED 0.05   /* relative change of a unit's time that is a departure */
#define FREE_S   2e-3   /* s up to which a lesson is free at the beginning */
#define FREE     0.005  /* part of the loop's time for the other first lessons */
#define OWED_S   5e-3   /* most s of lessons on credit, and the initial credit */
#define SPREADS  4.0    /* multiple of a unit's usual difference from look to look */
#define FOLLOWS  0.2    /* weight of the last look in a unit's mean difference */

enum {
    FIRST = 5,         /* first instances, which are learnt one by one */
    SETTLING = 15,     /* FIRST, if the whole loop is much longer */
    MANY = 1000,       /* assumed remaining instances, where none are told */
    CREDIT = 5,        /* most lessons on credit */
    GROWN = 1 << 20,   /* instances from which on their seconds decide alone */
    PART_LEFT_OUT = 4, /* 1 / part of the instances that may be left out */
};

struct pool *pool_open(int tasks, int units, int instances) {
    const size_t n = (size_t)tasks, u = (size_t)units;
    const size_t head = (sizeof(struct pool) + 15) / 16 * 16;
    char *block = calloc(1, head + (2 * n + 4 * u) * sizeof(double) + n * sizeof(int));
    if (!block) return NULL;
    struct pool *p = (struct pool *)block;
    p->tasks = tasks;
    p->units = units;
    p->instances = instances && instances < MANY ? instances : MANY;
    p->sum = (double *)(block + head);
    p->before = p->sum + n;
    p->unit_now = p->before + n;
    p->unit_was = p->unit_now + u;
    p->spread = p->unit_was + u;
    p->unit_sum = p->spread + u;
    p->owner = (int *)(p->unit_sum + u);
    p->grow = 1;
    p->credit = fmin(CREDIT * LEARN_S * tasks, OWED_S);
    p->least = INFINITY;
    return p;
}

static void begin_look(struct pool *p) {
    p->seen = p->summed = p->taken = p->high = p->strange = 0;
    p->length = 0;
    p->least = INFINITY;
}

void pool_forget(struct pool *p) {
    begin_look(p);
    p->passed = p->agreed = p->known = p->held = 0;
}

struct pool *pool_change(const struct pool *p, int tasks) {
    struct pool *fresh = pool_open(tasks, p->units, p->instances);
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

/* 1 if the owners are those of the sums. The first ones are, unless `same` says that they are still
 * what they were. */
static int are_known(struct pool *p, const int *owner, int same) {
    const size_t bytes = (size_t)p->tasks * sizeof *owner;
    const int are = (same && p->held) || memcmp(p->owner, owner, bytes) == 0;
    p->held = are || !(p->summed || p->agreed);
    if (are || !p->held) return are;
    memcpy(p->owner, owner, bytes);
    p->known = 0;
    return 1;
}

/* Adds the units' times of an instance to the sums, or leaves it out. 1: its tasks' times are
 * added, too; not in all, where there are so many tasks that this would take too long. */
static int takes(struct pool *p, const int *owner, int same, double total) {
    const double price = p->apart ? 0 : TAKE_S * p->tasks;
    const int high = p->usual > 0 && total > LONGER * p->usual;
    p->seen++;
    p->high += high;
    p->least = fmin(p->least, total);
    p->due = fmin(p->due + TAKES * total / p->units, price);
    if (!are_known(p, owner, same)) {
        p->strange++;
        return 0;
    }
    if (high && p->filter) return 0;
    if (!p->summed++) memset(p->unit_sum, 0, (size_t)p->units * sizeof *p->unit_sum);
    for (int u = 0; u < p->units; u++) p->unit_sum[u] += p->unit_now[u];
    if (p->due < price && !p->wanted) return 0;
    p->due -= price;
    p->wanted = 0;
    return 1;
}

/* Time of each unit; 1 if one differs from the last lesson. */
static int departs(struct pool *p) {
    int departed = !p->known;
    for (int u = 0; u < p->units; u++) {
        p->unit_now[u] = p->unit_sum[u] / p->summed;
        if (!p->known) continue;
        const double off = p->unit_was[u] > 0 ? fabs(p->unit_now[u] / p->unit_was[u] - 1) : 0;
        departed |= off > fmax(DEPARTED, SPREADS * p->spread[u]);
        p->spread[u] += FOLLOWS * (fmin(off, 1) - p->spread[u]);
    }
    return departed;
}

void pool_turn(const struct pool_turn *turn, int n, const double *seconds, double *sum,
               double *before) {
    const size_t bytes = (size_t)n * sizeof *sum;
    if (turn->taken == POOL_BEGINS) memcpy(sum, seconds, bytes);
    for (int t = 0; turn->taken == POOL_ADDED && t < n; t++) sum[t] += seconds[t];
    if (turn->lesson == POOL_MEAN) {
        const double each = 1.0 / turn->instances;
        for (int t = 0; t < n; t++) sum[t] = (turn->agreed ? sum[t] + before[t] : sum[t]) * each;
    } else if (turn->lesson == POOL_KEPT && turn->agreed) {
        for (int t = 0; t < n; t++) before[t] += sum[t];
    } else if (turn->lesson == POOL_KEPT) {
        memcpy(before, sum, bytes);
    }
}

/* Pays for a lesson if the credit suffices; an `urgent` one may be owed. Returns 1 if it is
 * paid. */
static int pays(struct pool *p, int urgent) {
    const double cost = LEARN_S * p->tasks, owed = fmin((CREDIT + 1) * cost, OWED_S);
    if (p->credit - cost < (urgent ? -owed : 0)) return 0;
    p->credit -= cost;
    return 1;
}

/* Ends a lesson. Returns the number of instances that it was made of. */
static int end_lesson(struct pool *p, int of_mean) {
    const int passed = p->passed;
    memcpy(p->unit_was, p->unit_now, (size_t)p->units * sizeof *p->unit_now);
    p->known = of_mean;
    p->passed = p->agreed = 0;
    p->grow = p->length < POOL_SHORT && p->grow < GROWN ? 2 * p->grow : GROWN;
    return passed;
}

/* Decides, once enough instances have passed, which kind of lesson the policy gets. Those that
 * agreed before are no news beside a departure; sums that are not learnt from are kept for a later
 * lesson. */
static void look(struct pool *p, struct pool_turn *turn) {
    const int was_filtered = p->filter, seen = p->seen;
    p->filter = p->high * PART_LEFT_OUT <= seen;
    p->usual = p->least;
    if (2 * p->strange > seen) {
        if (pays(p, p->grow < GROWN)) turn->lesson = POOL_LAST;
        return;
    }
    if (!p->summed || (was_filtered && !p->filter)) return;
    const int departed = departs(p), urgent = departed || p->grow < GROWN;
    if (departed) p->agreed = 0;
    const int paid = pays(p, urgent);
    if (!p->taken) { /* there is nothing to learn from yet */
        p->wanted = paid;
        p->credit += paid ? LEARN_S * p->tasks : 0;
        return;
    }
    turn->agreed = p->agreed;
    turn->instances = p->taken + p->agreed;
    turn->lesson = paid ? POOL_MEAN : POOL_KEPT;
    if (turn->lesson == POOL_KEPT) p->agreed = turn->instances;
}

/* 1 if instances are long enough to learn from each: this one, and not only by a disturbance. */
static int is_long(const struct pool *p, double total) {
    const double length = (p->usual > 0 ? fmin(total, p->usual) : total) / p->units;
    return !(length > 0) || (length >= POOL_LONG && LEARN_S * p->tasks <= SHARE * length);
}

/* 1 for the first lessons, which are free unless even these would take too long. */
static int is_free(const struct pool *p, double length) {
    const double cost = LEARN_S * p->tasks;
    return (p->lessons < FIRST && cost <= FREE_S) ||
           (p->lessons < SETTLING && (p->lessons + 1) * cost <= FREE * length * p->instances);
}

static int pass(struct pool *p, double total) {
    const double length = total / p->units, cost = LEARN_S * p->tasks;
    p->credit = fmin(p->credit + (SHARE - TAKES) * length, CREDIT * cost);
    p->passed++;
    if (is_free(p, length) || is_long(p, total)) {
        p->usual = total;
        p->credit = fmax(p->credit - cost, 0);
        if (p->lessons < SETTLING) p->lessons++;
        return 1;
    }
    p->length += length;
    return 0;
}

static int end_instance(struct pool *p, struct pool_turn *turn) {
    if (p->seen < p->grow && p->length < POOL_SHORT) return 0;
    look(p, turn);
    const int learns = turn->lesson == POOL_MEAN || turn->lesson == POOL_LAST;
    const int passed = learns ? end_lesson(p, turn->lesson == POOL_MEAN) : 0;
    begin_look(p);
    return passed;
}

static int end_alone(struct pool *p) {
    const int passed = p->passed;
    pool_forget(p);
    return passed;
}

void pool_set_apart(struct pool *p, int apart) {
    if (p->apart != apart) pool_forget(p);
    p->apart = apart;
}

struct pool_turn pool_note(struct pool *p, const int *owner, int same, int *passed) {
    struct pool_turn turn = {0};
    double total = 0;
    for (int u = 0; u < p->units; u++) total += p->unit_now[u];
    if (!(total < INFINITY)) total = 0; /* the lesson finds out */
    if (pass(p, total)) {
        turn.lesson = POOL_LAST;
        *passed = end_alone(p);
        return turn;
    }
    if (takes(p, owner, same, total)) turn.taken = p->taken++ ? POOL_ADDED : POOL_BEGINS;
    *passed = end_instance(p, &turn);
    return turn;
}

/* Computes the sum of weights; each unit's, under the owners of `sum`, goes to unit_now. */
static double weigh_units(struct pool *p, const double *weight) {
    double all = 0;
    memset(p->unit_now, 0, (size_t)p->units * sizeof *p->unit_now);
    for (int t = 0; t < p->tasks; t++) {
        p->unit_now[p->owner[t]] += weight[t];
        all += weight[t];
    }
    return all;
}

void pool_scale(double *sum, const double *before, const double *now, int n) {
    for (int t = 0; t < n; t++) {
        const double ratio = before[t] > 0 ? now[t] / before[t] : 1;
        sum[t] *= ratio < 1e300 ? ratio : 1e300;
    }
}

void pool_weights(struct pool *p, const double *before, const double *now) {
    if (p->taken && !p->apart) pool_scale(p->sum, before, now, p->tasks);
    if (p->agreed && !p->apart) pool_scale(p->before, before, now, p->tasks);
    const double were = weigh_units(p, before);
    for (int u = 0; u < p->units; u++)
        if (p->unit_now[u] > 0) {
            p->unit_was[u] /= p->unit_now[u];
            p->unit_sum[u] /= p->unit_now[u];
        }
    const double are = weigh_units(p, now);
    for (int u = 0; u < p->units; u++)
        if (p->unit_now[u] > 0) {
            p->unit_was[u] *= p->unit_now[u];
            p->unit_sum[u] *= p->unit_now[u];
        }
    if (!(were > 0 && are > 0)) return;
    p->usual *= are / were;
    p->least *= are / were;
}
