/* The choice among the candidates of `map` and their repairs.
 *
 * Makespans up to SLACK above the shortest count as equal, and among them the fewest bytes win; but
 * one longer than the best simple candidate by more than MAP_NEAR must be worth it, at a PRICE in
 * bytes. No assignment wins by less than MUCH of the makespan over one that cuts a MULTIPLE less,
 * nor over consecutive tasks if no links are given. All simple candidates take part unchanged, so
 * the result is never worse than the best of them in this order. If tasks suffice every unit gets
 * one, even a unit so slow that the others would finish sooner without it. */
#include "policy/map/choice.h"
#include "schedule/capacity.h"
#include "policy/map/state.h"
#include "schedule/policy.h"
#include "schedule/version.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 0.004 /* excess of the makespan allowed for fewer bytes */
#define PRICE 1.1   /* ratio of bytes above which fewer bytes win */

#define HOPELESS 1.25 /* ratio of bytes, above the best, of a candidate that is not repaired */

#define MUCH     0.01 /* excess of the makespan allowed for far fewer bytes */
#define MULTIPLE 2    /* factor by which the bytes must be fewer then */
#define OF_MANY  1.5  /* the same where tasks are many */

enum {
    BUDGET_OF_TASK = 60,       /* visits of links for each task, beside MAP_BUDGET or, .. */
    REPAIR_OF_MANY = 32000000, /* .. in decide_many(), this */
    FEW = 300,                 /* tasks up to which Scotch makes more candidates */
    PROMPT = 64,               /* tasks up to which all repairs are done, in a millisecond or two */
    TRIES = 3,                 /* of the multilevel scheme for up to FEW_UNITS units */
    FEW_UNITS = 32,
    GUIDED_ROUNDS = 24, /* most instances until guided:size settles */
};

/* Runs guided:size on the model's weights and speeds until it settles. */
static int guided_candidate(const evn_problem *p, const struct map_model *m, int *owner) {
    evn_schedule *s;
    evn_problem problem = *p;
    problem.weight = m->weight;
    double *speed = malloc((size_t)m->units * sizeof *speed);
    double *seconds = malloc((size_t)m->tasks * sizeof *seconds);
    int failed = !speed || !seconds;
    for (int u = 0; !failed && u < m->units; u++) speed[u] = 1 / m->pace[u];
    problem.speed = speed;
    failed = failed || evn_schedule_open(&s, "guided:size", &problem);
    if (!failed) {
        for (int i = 0; !failed && i < GUIDED_ROUNDS && !schedule_settled(s); i++)
            failed =
                evn_schedule_simulate(s, owner, seconds) || evn_schedule_learn(s, owner, seconds);
        memcpy(owner, evn_schedule_owner(s), (size_t)m->tasks * sizeof *owner);
        evn_schedule_close(s);
    }
    free(seconds);
    free(speed);
    return failed || map_feed(m, owner);
}

enum {
    LONGEST_FIRST = 2,
    GUIDED,
    SIMPLE,
    SCOTCH = 4,
    NODES = SIMPLE + SCOTCH,
    MULTILEVEL,
    CANDIDATES = MULTILEVEL + TRIES
};

/* 1 if tasks are so many that the multilevel scheme alone is taken and repaired. */
static int are_many(const struct map_model *m) {
    return m->tasks > MAP_MANY && !m->memory && !m->routes.kinds;
}

/* 1 if the multilevel scheme makes plans of this model. */
static int has_levels(const struct map_model *m) {
    return m->start[m->tasks] > 0 && m->units > 1 && m->tasks >= m->units;
}

/* 1 if Scotch is asked; it is opened only then. Without links there is nothing to keep together. */
static int with_scotch(const struct map_model *m) {
    return has_levels(m) && !are_many(m) && m->tasks <= MAP_SCOTCH_TASKS &&
           m->units <= MAP_SCOTCH_UNITS && !map_scotch_open();
}

/* The multilevel scheme's i-th assignment; there are several where few units exchange much, since
 * chance decides then how long the longest border is. 1: there is none. */
static int levels_candidate(const struct map_model *m, int i, int *owner) {
    const int several = m->units <= FEW_UNITS && m->per_byte > 0 && !m->routes.kinds;
    return (m->tasks <= MAP_MANY && with_scotch(m)) || (i && !several) ||
           map_multilevel(m, (unsigned)i + 1, owner);
}

/* Candidate i, the simple ones first; 1: there is none. */
static int candidate(const evn_problem *p, const struct map_model *m, int i, int *owner) {
    switch (i) {
    case 0: policy_static(m->tasks, m->units, owner); return 0;
    case 1: return map_consecutive(m, owner);
    case LONGEST_FIRST: return map_longest_first(m, owner);
    case GUIDED: return guided_candidate(p, m, owner);
    case NODES: return map_by_nodes(p, m, owner);
    default:
        if (i >= MULTILEVEL) return levels_candidate(m, i - MULTILEVEL, owner);
        if (!with_scotch(m) || i - SIMPLE >= (m->tasks <= FEW ? SCOTCH : 2)) return 1;
        return map_scotch(m, i - SIMPLE, owner);
    }
}

/* Memory of the search. */
struct choice {
    const struct map_model *m;
    struct map_repair *repair;
    double limit;
    long budget;
    int *start[CANDIDATES], starts;
    struct map_score rated[CANDIDATES]; /* the score of each */
    int simple_ones;                    /* number of simple candidates, which are the first */
    int levels;                         /* number of the multilevel scheme's, which are the last */
    double simple;                      /* shortest makespan of the simple candidates */
    int *best;                          /* the best assignment so far */
    struct map_score score;
    double shortest; /* shortest makespan so far */
    int *few;        /* assignment of the fewest bytes so far, with a makespan up to MUCH above the
                        shortest */
    struct map_score few_score;
    double *scratch;
};

/* 1 if the assignment is at most by MUCH longer than `makespan`. */
static int is_near(struct map_score a, double makespan) {
    return a.makespan <= makespan * (1 + MUCH);
}

static void offer_few(struct choice *c, const int *owner, struct map_score score) {
    const struct map_score few = c->few_score;
    c->shortest = fmin(c->shortest, score.makespan);
    if (!is_near(score, c->shortest)) return;
    const int none = few.makespan < 0 || !is_near(few, c->shortest);
    if (!none && (score.over > few.over || (score.over == few.over && score.cut >= few.cut)))
        return;
    c->few_score = score;
    memcpy(c->few, owner, (size_t)c->m->tasks * sizeof *c->few);
}

/* Prefers an assignment with a fraction of the bytes for little of the makespan. */
static void prefer_few(struct choice *c) {
    const struct map_score few = c->few_score;
    const double multiple = c->m->tasks > MAP_MANY ? OF_MANY : MULTIPLE;
    if (few.makespan < 0 || few.over > c->score.over || !is_near(few, c->score.makespan) ||
        few.cut * multiple > c->score.cut || !(c->score.cut > 0))
        return;
    c->score = few;
    memcpy(c->best, c->few, (size_t)c->m->tasks * sizeof *c->best);
}

/* Without links, tasks of neighbouring numbers are probably neighbours: consecutive assignments are
 * taken if they cost little of the makespan. */
static void prefer_consecutive(struct choice *c, int *other) {
    if (map_consecutive(c->m, other)) return;
    const struct map_score score = map_score(c->m, other, c->scratch);
    if (score.over > c->score.over || !is_near(score, c->score.makespan)) return;
    memcpy(c->best, other, (size_t)c->m->tasks * sizeof *other);
}

static void offer(struct choice *c, const int *owner, struct map_score score) {
    offer_few(c, owner, score);
    if (c->score.makespan >= 0 && !map_better(score, c->score, c->limit)) return;
    c->score = score;
    memcpy(c->best, owner, (size_t)c->m->tasks * sizeof *owner);
}

static void offer_repaired(struct choice *c) {
    offer(c, map_repair_owner(c->repair), map_score(c->m, map_repair_owner(c->repair), c->scratch));
}

/* Repairs one candidate for the fewest bytes within the limit: from borders
 * that were straightened under a looser one, and all the way under it. It may
 * use up a part of the budget. */
static void repair(struct choice *c, const int *owner, int parts) {
    static const double looser[] = {0.01, 0, 0.04};
    for (int i = 0; i < 3; i++) {
        long share = c->budget / (parts * 3 - i);
        map_repair_start(c->repair, owner, share);
        map_straighten(c->repair, c->limit, looser[i]);
        c->budget -= share - map_repair_left(c->repair);
        offer_repaired(c);
    }
}

/* 1 if a repair of a candidate would be in vain: a later one, which was repaired already, is the
 * same; or it cuts far more than the best so far, which no repair makes up for. */
static int is_vain(const struct choice *c, int candidate) {
    const int *owner = c->start[candidate];
    for (int i = candidate + 1; i < c->starts; i++)
        if (!memcmp(owner, c->start[i], (size_t)c->m->tasks * sizeof *owner)) return 1;
    return c->m->tasks > PROMPT && c->score.makespan <= c->limit && !(c->score.over > 0) &&
           c->rated[candidate].cut > c->score.cut * HOPELESS;
}

/* The best that the candidates can be repaired to under a limit. */
static void search(struct choice *c, double limit, long budget) {
    c->limit = limit;
    c->budget = budget;
    for (int i = 0; i < c->starts; i++) offer(c, c->start[i], c->rated[i]);
    /* the most promising first, each with half of the remaining budget */
    for (int i = c->starts - 1; i >= 0; i--)
        if (!is_vain(c, i)) repair(c, c->start[i], i < 2 ? i + 1 : 2);
}

/* The shortest makespan of the first n candidates. */
static double shortest_of(const struct choice *c, int n) {
    double shortest = INFINITY;
    for (int i = 0; i < n; i++) shortest = fmin(shortest, c->rated[i].makespan);
    return shortest;
}

/* Shortest makespan: the candidates' best, and if that is not near the bound, the result of
 * balancing each. */
static double shorten(struct choice *c) {
    double shortest = shortest_of(c, c->starts);
    for (int i = 0; i < c->starts && shortest > c->m->bound * (1 + MAP_NEAR); i++) {
        long share = c->budget / (4 * (c->starts - i));
        map_repair_start(c->repair, c->start[i], share);
        map_balance(c->repair, c->m->bound);
        c->budget -= share - map_repair_left(c->repair);
        c->limit = shortest;
        offer_repaired(c);
        shortest = fmin(shortest, map_repair_score(c->repair).makespan);
    }
    return shortest;
}

/* Shortens an assignment that is longer than the best simple one by less than MAP_NEAR, if that can
 * be had for few bytes. */
static void tighten(struct choice *c, double simple) {
    if (c->score.makespan <= simple) return;
    map_repair_start(c->repair, c->best, MAP_BUDGET / 4);
    map_balance(c->repair, simple);
    struct map_score score = map_repair_score(c->repair);
    if (score.makespan > simple || score.cut > c->score.cut * PRICE) return;
    c->score = score;
    memcpy(c->best, map_repair_owner(c->repair), (size_t)c->m->tasks * sizeof *c->best);
}

/* Makes the candidates, and allocates memory for each as far as there is some; drops those that
 * exceed capacities more than another. 1: not enough memory. */
static int gather(struct choice *c, const evn_problem *p) {
    const struct map_model *m = c->m;
    double least = INFINITY, over[CANDIDATES];
    c->simple = INFINITY;
    for (int i = 0; i < CANDIDATES; i++) {
        /* of many tasks the shortest consecutive ones suffice, and see decide_many() */
        if (are_many(m) && (i == GUIDED || (i == LONGEST_FIRST && has_levels(m)))) continue;
        int *o = malloc((size_t)m->tasks * sizeof *o), proven;
        if (c->starts < CANDIDATES) over[c->starts] = 0;
        if (o && !candidate(p, m, i, o)) {
            c->start[c->starts++] = o;
            if (m->memory && capacity_fit(p, o, &over[c->starts - 1], &proven)) return 1;
            if (i < SIMPLE) c->simple_ones++;
            c->levels += i >= MULTILEVEL;
            least = fmin(least, over[c->starts - 1]);
            continue;
        }
        free(o);
        if (!o || i < SIMPLE) return 1;
    }
    int kept = 0, simple_ones = 0;
    for (int i = 0; i < c->starts; i++) {
        if (over[i] > least * (1 + 1e-9)) {
            free(c->start[i]);
            continue;
        }
        simple_ones += i < c->simple_ones;
        c->rated[kept] = map_score(m, c->start[i], c->scratch);
        c->start[kept++] = c->start[i];
    }
    c->starts = kept;
    c->simple_ones = simple_ones;
    c->simple = shortest_of(c, simple_ones);
    return 0;
}

/* The choice among the gathered ones, in c->best; `other`: scratch. */
static void decide(struct choice *c, int *other) {
    const size_t bytes = (size_t)c->m->tasks * sizeof *other;
    const long budget = MAP_BUDGET + BUDGET_OF_TASK * (long)c->m->tasks;
    c->budget = budget;
    double shortest = shorten(c), loose = shortest * (1 + SLACK);
    double tight = fmax(shortest * (1 + MAP_NEAR), fmin(c->simple, loose));
    search(c, tight, budget / 2);
    /* the limit's cost in bytes: too high if many tasks must be moved to keep it */
    struct map_score kept = c->score;
    memcpy(other, c->best, bytes);
    if (loose > tight) search(c, loose, budget / 2);
    if (c->score.makespan > tight && c->score.cut * PRICE > kept.cut) {
        c->score = kept;
        memcpy(c->best, other, bytes);
    }
    tighten(c, c->simple);
}

/* The shortest makespan that is known where tasks are many: the bound, if a candidate is near it;
 * else longest task first, in `other`, is offered, too. */
static double shortest_of_many(struct choice *c, int *other) {
    const double shortest = shortest_of(c, c->starts);
    if (shortest <= c->m->bound * (1 + SLACK)) return c->m->bound;
    if (map_longest_first(c->m, other)) return shortest;
    const struct map_score score = map_score(c->m, other, c->scratch);
    c->limit = fmin(shortest, score.makespan) * (1 + SLACK);
    offer(c, other, score);
    return fmin(shortest, score.makespan);
}

/* Decides where tasks are many: the candidates are offered as they are, and the shortest of the
 * multilevel scheme's repaired; where exchange takes time, to be as short as possible. */
static void decide_many(struct choice *c, int *other) {
    const double shortest = shortest_of_many(c, other);
    const double enough = shortest * (1 + (c->m->tasks > SMOOTHED ? MUCH : SLACK));
    int best = c->starts - 1;
    c->limit = shortest * (1 + SLACK);
    for (int i = 0; i < c->starts; i++) offer(c, c->start[i], c->rated[i]);
    for (int i = best; i > c->starts - c->levels; i--)
        if (c->rated[i - 1].makespan < c->rated[best].makespan) best = i - 1;
    if (c->rated[best].makespan <= enough && !(c->m->per_byte > 0)) return;
    map_repair_start(c->repair, c->start[best],
                     REPAIR_OF_MANY + BUDGET_OF_TASK * (long)c->m->tasks);
    map_balance(c->repair, c->m->per_byte > 0 ? c->m->bound : c->limit);
    offer_repaired(c);
}

int map_choose(const evn_problem *p, const struct map_model *m, int *owner) {
    const size_t n = (size_t)m->tasks;
    struct choice c = {.m = m, .score = {.makespan = -1}, .few_score = {.makespan = -1}};
    c.shortest = INFINITY;
    c.repair = map_repair_open(m);
    c.best = malloc(n * sizeof *c.best);
    c.scratch = malloc((size_t)m->units * sizeof *c.scratch);
    int *other = malloc(n * sizeof *other);
    c.few = malloc(n * sizeof *c.few);
    const int failed = !c.repair || !c.best || !c.few || !c.scratch || !other || gather(&c, p);
    if (!failed) {
        if (c.levels && are_many(m))
            decide_many(&c, other);
        else
            decide(&c, other);
        prefer_few(&c);
        if (!p->links) prefer_consecutive(&c, other);
        memcpy(owner, c.best, n * sizeof *owner);
    }
    for (int i = 0; i < c.starts; i++) free(c.start[i]);
    free(other);
    free(c.scratch);
    free(c.best);
    free(c.few);
    map_repair_close(c.repair);
    return failed;
}

int map_plan(struct map_model *m, const evn_problem *p, const double *weight, const double *speed,
             int *owner) {
    evn_problem enough = *p;
    enough.capacity = NULL;
    int failed = map_model_open(m, &enough, weight, speed);
    if (failed) return 1;
    failed = map_choose(&enough, m, owner);
    double *used = failed || !capacity_given(p) ? NULL : malloc((size_t)p->units * sizeof *used);
    failed |= !used && capacity_given(p);
    const int fits = failed || !used || !(capacity_over(p, owner, used) > 0);
    free(used);
    if (!fits) {
        map_model_close(m);
        if (map_model_open(m, p, weight, speed)) return 1;
        failed = map_choose(p, m, owner);
    }
    if (failed) map_model_close(m);
    return failed;
}
