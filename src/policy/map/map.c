/* map: our own schedule. Tasks that exchange much stay together, on units of unequal speed, and
 * still no unit is longer than another.
 *
 * Scotch maps the graph of tasks, weighted by cost, onto a complete graph of units, weighted by
 * speed (Pellegrini and Roman, "Scotch: A Software Package for Static Mapping by Dual Recursive
 * Bipartitioning of Process and Architecture Graphs", HPCN 1996). It balances well only where a
 * fair share is many tasks, so that the repair of repair.h follows. Where tasks or units are
 * too many for it, or it is not there, a multilevel scheme of our own stands in for it
 * (levels.h). The simple assignments
 * (static, guided:size where it settles, consecutive optimum, longest task first) are candidates
 * beside it and are repaired, too.
 *
 * Where units are near and far, the time that links take on their routes stands for their bytes,
 * and one more candidate shares the tasks out to nodes first (nodes.c). Where memory is short
 * all candidates are changed until they fit (capacity.h), and no step fills a memory more.
 *
 * From times it learns costs and speeds (learn.h). A search takes as long as an instance of a small
 * problem, so each instance only asks, in a look at each task, whether the assignment has become
 * worse against what is possible than it was when chosen, by more than what times scatter by. Only
 * then it looks for another, and moves if that pays over the instances that are left, the search
 * itself included. Where tasks are many, as much time as the search takes has been lost by the
 * imbalance since the last one: so searches do not take more than what they were made for has cost.
 */
#include <evener/status.h>
#include "schedule/capacity.h"
#include "policy/known.h"
#include "policy/learn.h"
#include "policy/map/choice.h"
#include "policy/map/state.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPAIR_VISITS = 60, REPAIR_MAX = 10 }; /* a repair: visits a task; factor of the budget */
enum { TASK_BYTES = 80 }; /* bytes of a task's data per weight: ten doubles a grid point */

/* Seconds of a search, measured for BT-MZ's 4 to 1024 tasks on 2 to 6 units: SEARCH_S for a task
 * and unit, at most SEARCH_MAX since the budget is limited; SEARCH_TASK for a task if there are
 * very many. */
#define SEARCH_S    3e-5
#define SEARCH_MAX  0.05
#define SEARCH_TASK 4e-6
#define REPAIR_MANY 500   /* tasks from which on repairs are tried before a plan */
#define SEARCH_FREE 5e-3  /* initial `lost` after each search, s */
#define SEARCH_FEW  7e-6  /* s of a search for each task, without links */
#define REPAIR_TASK 4e-7  /* s of a repair alone, for each task and link */
#define HOPE        0.05  /* part of the possible gain that a first repair may cost */
#define MOST        0.5   /* part of the possible gain that a repair may leave */
#define VISIT_S     1e-8  /* s of a repair for each visit of a link */
#define REPAIR_NEAR 0.004 /* excess over the bound after a repair among links */

/* A cut that has grown by this factor since the last plan may be worth another plan. */
#define DRIFT 1.1

/* Seconds that straightening borders takes after a change, measured for 400 tasks on 4 and 16
 * units: so many for a task and unit, of which four count in any case; and at most, as its budget
 * is spent. */
#define STRAIGHTEN_S   1.5e-6
#define STRAIGHTEN_MAX 0.04

/* A repair that moves a part of all weight must save MOVES times that part of the bytes. */
#define MOVES 2

struct state {
    double ratio; /* makespan over its lower bound, when the assignment was chosen */
    double lost;  /* s lost by imbalance since the last search, plus SEARCH_FREE */
    double cut;   /* part of the links' bytes that the last plan cut */
    double vain;  /* lost s below which a repair alone is not tried again */
    int planned;  /* instances learnt by then */
    int changed;  /* instances learnt by the last change of tasks */
    struct learn *learn;
};

static const struct learn *learn_of(const evn_schedule *s) {
    return ((const struct state *)s->state)->learn;
}

static double cut_of(const evn_problem *p, const int *owner) {
    double all = 0;
    for (int i = 0; i < p->links; i++) all += 2 * p->link[i].bytes;
    return all > 0 ? evn_problem_cut(p, owner, NULL) / all : 0;
}

/* Notes that the present assignment is a new plan. */
static void note_plan(evn_schedule *s) {
    struct state *state = s->state;
    state->cut = cut_of(&s->problem, s->owner);
    state->planned = learn_instances(state->learn);
}

/* Makespan over its lower bound, by the estimated costs and speeds. */
static double known_ratio(const evn_schedule *s) {
    struct learn *l = ((struct state *)s->state)->learn;
    const double least = learn_least(l);
    return least > 0 ? learn_makespan(l, s->owner) / least : 1;
}

static evn_status open_map(evn_schedule *s, const evn_spec *spec) {
    evn_status status = policy_no_options(s, spec);
    if (status) return status;
    const evn_problem *p = &s->problem;
    struct state *state = malloc(sizeof *state + learn_bytes(p->tasks, p->units, LEARN_WINDOW));
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    *state = (struct state){.lost = SEARCH_FREE};
    state->learn = learn_init(state + 1, p, LEARN_WINDOW);
    s->state = state;
    struct map_model m;
    if (map_plan(&m, p, NULL, NULL, s->owner))
        return evn_fail(EVN_MEMORY, "schedule: not enough memory to map %d tasks", p->tasks);
    map_model_close(&m);
    state->ratio = known_ratio(s);
    note_plan(s);
    snprintf(s->text, sizeof s->text, "map");
    return EVN_OK;
}

/* Seconds to move from one assignment to another; `p`: in seconds. */
static double seconds_to_move(const evn_schedule *s, const struct map_model *m,
                              const evn_problem *p, const int *from, const int *to) {
    const double least = learn_seconds_to_move(((struct state *)s->state)->learn, from, to);
    double bytes = 0, seconds = 0;
    for (int t = 0; t < p->tasks; t++) {
        if (from[t] == to[t]) continue;
        const double own = p->bytes ? p->bytes[t] : p->weight[t] * TASK_BYTES;
        bytes += own;
        if (m->routes.kinds) seconds += routes_cost(&m->routes, from[t], to[t], own) * m->time_unit;
    }
    if (!m->routes.kinds && p->bandwidth > 0) seconds = bytes / p->bandwidth;
    return fmax(seconds, least);
}

/* Repairs the present assignment to be as short as `makespan`, in `r`; it is no choice if it fills
 * memories more than `renewed`. */
static int can_repair(const evn_schedule *s, struct map_repair *r, double makespan,
                      const int *renewed, double *scratch) {
    const evn_problem *p = &s->problem;
    map_repair_start(r, s->owner, MAP_BUDGET / 4);
    map_balance(r, makespan);
    if (!capacity_given(p)) return 1;
    const double over = capacity_over(p, renewed, scratch);
    return capacity_over(p, map_repair_owner(r), scratch) <= over;
}

/* Searches another assignment by the estimates: a new one, and a repair of the present one, which
 * moves less. Takes the faster one, moves included, if that pays. 1: taken, with its time in
 * *promise. */
static int remap(evn_schedule *s, const struct map_model *m, const evn_problem *p, int *renewed,
                 double *scratch, struct map_repair *r, double *promise) {
    struct learn *l = ((struct state *)s->state)->learn;
    const double left = learn_horizon(l);
    const double now = map_score(m, s->owner, scratch).makespan * m->time_unit;
    double then = map_score(m, renewed, scratch).makespan * m->time_unit;
    double move = seconds_to_move(s, m, p, s->owner, renewed);
    if (can_repair(s, r, then / m->time_unit, renewed, scratch)) {
        double repaired = map_repair_score(r).makespan * m->time_unit;
        double less = seconds_to_move(s, m, p, s->owner, map_repair_owner(r));
        if (repaired * left + less <= (then * left + move) * (1 + MAP_NEAR)) {
            memcpy(renewed, map_repair_owner(r), (size_t)p->tasks * sizeof *renewed);
            then = repaired;
            move = less;
        }
    }
    *promise = learn_makespan(l, renewed);
    if (!learn_pays(l, now, then, move) || !learn_carries(l, now, then, s->owner, renewed))
        return 0;
    learn_moves(l, learn_makespan(l, s->owner), *promise);
    memcpy(s->owner, renewed, (size_t)p->tasks * sizeof *renewed);
    return 1;
}

/* Seconds that the longest unit's time is over the bound, in so many instances. */
static double seconds_lost(const struct map_model *m, double makespan, double instances) {
    return (makespan - m->bound) * m->time_unit * instances;
}

static double seconds_to_search(const evn_problem *p) {
    const double most = fmax(p->links || p->tasks < REPAIR_MANY ? SEARCH_MAX : 0,
                             (p->links ? SEARCH_TASK : SEARCH_FEW) * p->tasks);
    return fmin(SEARCH_S * p->tasks * p->units, most);
}

/* Searches, and moves if that pays; without memory the assignment stays. */
static int search(evn_schedule *s, double *promise) {
    const evn_problem *p = &s->problem;
    struct learn *l = ((struct state *)s->state)->learn;
    struct known known;
    struct map_model m;
    int *renewed = malloc((size_t)p->tasks * sizeof *renewed), moved = 0;
    double *scratch = malloc((size_t)p->units * sizeof *scratch);
    if (!known_open(&known, &s->problem, learn_of(s)) && renewed && scratch &&
        !map_plan(&m, &known.p, learn_cost(l), learn_speed(l), renewed)) {
        struct map_repair *r = map_repair_open(&m);
        if (r) moved = remap(s, &m, &known.p, renewed, scratch, r, promise);
        map_repair_close(r);
        map_model_close(&m);
    }
    known_close(&known);
    free(scratch);
    free(renewed);
    return moved;
}

/* Visits of links that the repair may take: a part of the time that it could save. */
static long repair_budget(const evn_schedule *s, double hope) {
    const double least = MAP_BUDGET / 4 + REPAIR_VISITS * (double)s->problem.tasks;
    return (long)fmin(fmax(least, HOPE * hope / VISIT_S), REPAIR_MAX * least);
}

/* For tasks without links whose times repeat: assigns them longest first, to `to`. 1: that is
 * enough shorter than `makespan` to be worth moving most tasks. */
static int longest_first(const evn_schedule *s, const struct map_model *m, const evn_problem *p,
                         double makespan, int *to, double *scratch) {
    struct learn *l = ((struct state *)s->state)->learn;
    if (p->links || learn_noise(l) > 0 || !learn_trusts(l) ||
        makespan <= m->bound * (1 + REPAIR_NEAR))
        return 0;
    int *plan = malloc((size_t)p->tasks * sizeof *plan);
    const int better = plan && !map_longest_first(m, plan) &&
                       !map_rename(p, learn_speed(l), s->owner, plan) &&
                       map_score(m, plan, scratch).makespan * (1 + REPAIR_NEAR) < makespan;
    if (better) memcpy(to, plan, (size_t)p->tasks * sizeof *to);
    free(plan);
    return better;
}

/* The present assignment improved, which takes a small part of a search, in `to`; returns its
 * makespan, s. */
static double improved(const evn_schedule *s, const struct map_model *m, const evn_problem *p,
                       struct map_repair *r, double hope, int *to, double *scratch) {
    map_repair_start(r, s->owner, repair_budget(s, hope));
    map_balance(r, m->bound * (1 + (p->links ? REPAIR_NEAR : MAP_NEAR)));
    memcpy(to, map_repair_owner(r), (size_t)p->tasks * sizeof *to);
    const double repaired = map_repair_score(r).makespan;
    if (!longest_first(s, m, p, repaired, to, scratch)) return repaired * m->time_unit;
    return map_score(m, to, scratch).makespan * m->time_unit;
}

/* Takes an improvement if it pays and reaches most of what a plan could; else a search is due. 1:
 * it was taken. */
static int take_improved(evn_schedule *s, const struct map_model *m, const evn_problem *p,
                         struct map_repair *r, double could, int *to, double *scratch) {
    struct learn *l = ((struct state *)s->state)->learn;
    const double now = map_score(m, s->owner, scratch).makespan * m->time_unit;
    const double then = improved(s, m, p, r, (now - could) * learn_horizon(l), to, scratch);
    if (capacity_given(p) && capacity_over(p, to, scratch) > capacity_over(p, s->owner, scratch))
        return 0;
    if (then - could > MOST * (now - could) ||
        !learn_pays(l, now, then, seconds_to_move(s, m, p, s->owner, to)) ||
        !learn_carries(l, now, then, s->owner, to))
        return 0;
    learn_moves(l, learn_makespan(l, s->owner), learn_makespan(l, to));
    memcpy(s->owner, to, (size_t)p->tasks * sizeof *to);
    return 1;
}

/* 1: the present assignment was improved. Without memory it stays. */
static int improve(evn_schedule *s, double could) {
    const evn_problem *p = &s->problem;
    struct learn *l = ((struct state *)s->state)->learn;
    struct known known;
    struct map_model m;
    int moved = 0, *to = malloc((size_t)p->tasks * sizeof *to);
    double *scratch = malloc((size_t)p->units * sizeof *scratch);
    if (!known_open(&known, &s->problem, learn_of(s)) && to && scratch &&
        !map_model_open(&m, &known.p, learn_cost(l), learn_speed(l))) {
        struct map_repair *r = map_repair_open(&m);
        if (r) moved = take_improved(s, &m, &known.p, r, could, to, scratch);
        map_repair_close(r);
        map_model_close(&m);
    }
    known_close(&known);
    free(scratch);
    free(to);
    return moved;
}

/* Improves the present assignment where that may save more than it takes. 1: it did. */
static int may_improve(evn_schedule *s, double now, double could, double search) {
    const evn_problem *p = &s->problem;
    struct state *state = s->state;
    const double price = REPAIR_TASK * ((double)p->tasks + p->links);
    const double hope = (now - could) * learn_horizon(state->learn);
    const int first = (!state->vain || learn_closes(state->learn)) && HOPE * hope >= price;
    if ((p->tasks < REPAIR_MANY && !learn_settles(state->learn)) || price >= search ||
        hope <= price || !(first || state->lost >= fmax(price, state->vain)))
        return 0;
    if (!improve(s, could)) {
        state->vain = state->lost + 4 * fmax(price, state->vain);
        return 0;
    }
    const double ratio = known_ratio(s);
    state->ratio = learn_settles(state->learn) ? fmin(ratio, state->ratio) : ratio;
    state->lost = SEARCH_FREE;
    state->vain = 0;
    s->settled = 0;
    return 1;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    const evn_problem *p = &s->problem;
    struct state *state = s->state;
    struct learn *l = state->learn;
    /* one unit has all tasks whatever they cost: so much as can be said of them is enough */
    if (p->units == 1 && learn_instances(l) >= LEARN_WINDOW) return;
    learn_passed(l, s->passed);
    if (learn_feed(l, owner, seconds)) return;
    s->settled = learn_ready(l);
    if (!learn_ready(l)) return;
    const double now = learn_makespan(l, s->owner), could = learn_least(learn_of(s)) * state->ratio;
    state->lost += fmax(now - could, 0) * s->passed;
    if (!learn_asks(l, now, could)) return;
    const double price = seconds_to_search(p);
    if (may_improve(s, now, could, price)) return;
    if ((now - could) * learn_left(l) <= price || state->lost < price) return;
    state->lost = SEARCH_FREE;
    state->vain = 0;
    double then = now;
    if (search(s, &then)) {
        state->ratio = known_ratio(s);
        note_plan(s);
        s->settled = 0;
    } else {
        learn_stays(l, now, could, then);
    }
}

/* Repairs the present assignment until it is as good under the new weights as it was under the old
 * ones, if that pays. */
static void follow(evn_schedule *s, const struct map_model *m, const evn_problem *p,
                   struct map_repair *r, double could, double *scratch) {
    struct learn *l = ((struct state *)s->state)->learn;
    const double now = map_score(m, s->owner, scratch).makespan * m->time_unit;
    if (!can_repair(s, r, could / m->time_unit, s->owner, scratch)) return;
    const int *to = map_repair_owner(r);
    const double then = map_repair_score(r).makespan * m->time_unit;
    if (learn_pays_certainly(l, now, then, seconds_to_move(s, m, p, s->owner, to)) &&
        learn_carries(l, now, then, s->owner, to))
        memcpy(s->owner, to, (size_t)p->tasks * sizeof *to);
}

/* Adapts the assignment to new weights; without memory it stays. */
static void weights(evn_schedule *s, const double *before) {
    struct state *state = s->state;
    learn_weights(state->learn, before);
    const double now = learn_makespan(state->learn, s->owner),
                 could = learn_least(learn_of(s)) * state->ratio;
    if (!learn_pays_certainly(state->learn, now, could, 0)) return;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    if (!known_open(&known, &s->problem, learn_of(s)) && scratch &&
        !map_model_open(&m, &known.p, learn_cost(state->learn), learn_speed(state->learn))) {
        struct map_repair *r = map_repair_open(&m);
        if (r) follow(s, &m, &known.p, r, could, scratch);
        map_repair_close(r);
        map_model_close(&m);
    }
    known_close(&known);
    free(scratch);
}

/* ---- other tasks ---- */

/* A task that is to change its unit, and how much longer its unit is than the one it goes to, for
 * each byte that goes along. */
struct leaving {
    int task;
    double gain;
};

static int by_gain(const void *a, const void *b) {
    const struct leaving *x = a, *y = b;
    if (x->gain != y->gain) return x->gain < y->gain ? 1 : -1;
    return x->task - y->task;
}

/* Makes those moves of `to` that gain most, until `most` of all weight has moved; the others are
 * undone. 1: not enough memory. */
static int keep_most(const evn_schedule *s, double most, int *to) {
    const evn_problem *p = &s->problem;
    struct learn *l = ((struct state *)s->state)->learn;
    const double *cost = learn_cost(l), *speed = learn_speed(l);
    struct leaving *list = malloc((size_t)p->tasks * sizeof *list);
    double *load = calloc((size_t)p->units, sizeof *load), all = 0, moved = 0;
    int count = 0;
    for (int t = 0; load && t < p->tasks; t++) {
        load[s->owner[t]] += cost[t] / speed[s->owner[t]];
        all += p->weight[t];
    }
    for (int t = 0; list && load && t < p->tasks; t++) {
        if (s->owner[t] == to[t]) continue;
        const double bytes = p->bytes ? p->bytes[t] : p->weight[t] * TASK_BYTES;
        list[count++] = (struct leaving){t, (load[s->owner[t]] - load[to[t]]) / fmax(bytes, 1)};
    }
    if (list) qsort(list, (size_t)count, sizeof *list, by_gain);
    for (int i = 0; i < count; i++) {
        const int t = list[i].task;
        if (moved + p->weight[t] <= most * all)
            moved += p->weight[t];
        else
            to[t] = s->owner[t];
    }
    const int failed = !list || !load;
    free(list);
    free(load);
    return failed;
}

/* Where a repair has ended for want of time, as where one task has become a thousand: a plan from
 * scratch in `to` if it is shorter than the repair's `makespan`; 1 if so. None is made where what
 * the repair has left takes less time than a plan. */
static int plan_from_far(const evn_schedule *s, const struct map_model *m, const evn_problem *p,
                         double makespan, int *to, double *scratch) {
    const struct learn *l = ((struct state *)s->state)->learn;
    const size_t bytes = (size_t)p->tasks * sizeof *to;
    if (seconds_lost(m, makespan, learn_horizon(l)) <= seconds_to_search(p)) return 0;
    int *plan = malloc(bytes);
    struct map_model fresh;
    int better = plan && !map_plan(&fresh, p, learn_cost(l), learn_speed(l), plan);
    if (better) map_model_close(&fresh);
    better = better && !map_rename(p, learn_speed(l), s->owner, plan) &&
             map_score(m, plan, scratch).makespan < makespan;
    if (better) memcpy(to, plan, bytes);
    free(plan);
    return better;
}

/* A score whose bytes count more the more weight moves: a part of it that moves is worth twice that
 * part of the bytes. */
static struct map_score dearer(const evn_schedule *s, struct map_score score, const int *to) {
    const evn_problem *p = &s->problem;
    double moved = 0, all = 0;
    for (int t = 0; t < p->tasks; t++) {
        all += p->weight[t];
        moved += to[t] != s->owner[t] ? p->weight[t] : 0;
    }
    if (all > 0) score.cut *= 1 + MOVES * moved / all;
    return score;
}

/* Repairs of the present owners that straighten borders under looser limits first: change after
 * change borders become ragged, and steps under the limit alone leave them so. The best of them
 * takes the place of `to`, which has `score`, if it is better. */
static struct map_score straighten(const evn_schedule *s, struct map_repair *r, double limit,
                                   struct map_score score, int *to) {
    static const double looser[] = {0.01, 0.02, 0.04};
    struct map_score best = dearer(s, score, to);
    for (int i = 0; i < 3; i++) {
        map_repair_start(r, s->owner, MAP_BUDGET / 4);
        map_straighten(r, limit, looser[i]);
        const struct map_score of = map_repair_score(r);
        const struct map_score other = dearer(s, of, map_repair_owner(r));
        if (!map_better(other, best, limit)) continue;
        best = other;
        score = of;
        memcpy(to, map_repair_owner(r), (size_t)s->problem.tasks * sizeof *to);
    }
    return score;
}

/* 1 if exchange costs more, in as many instances as the last tasks had, than straightening borders
 * takes. */
static int may_straighten(const evn_schedule *s, const struct map_model *m, double makespan) {
    const struct state *state = s->state;
    const int since = learn_instances(state->learn) - state->changed;
    const double price =
        fmin(STRAIGHTEN_S * s->problem.tasks * (s->problem.units + 4), STRAIGHTEN_MAX);
    return m->per_byte > 0 && s->problem.tasks <= SMOOTHED &&
           seconds_lost(m, makespan, since) > price;
}

/* Improves inherited owners by few moves, without regard to uncertainty, since the tasks have
 * certainly changed. */
static void settle(evn_schedule *s, const struct map_model *m, const evn_problem *p,
                   struct map_repair *r, double most, int *to, double *scratch) {
    struct learn *l = ((struct state *)s->state)->learn;
    const double left = learn_horizon(l);
    map_repair_start(r, s->owner, MAP_BUDGET / 4);
    const struct map_score now = map_repair_score(r);
    map_balance(r, m->bound * (1 + MAP_NEAR));
    const double limit = fmax(map_repair_makespan(r), m->bound * 1.01);
    map_smooth(r, limit, limit * 1.02);
    memcpy(to, map_repair_owner(r), (size_t)p->tasks * sizeof *to);
    struct map_score then = map_repair_score(r);
    const int far = map_repair_left(r) <= 0 && plan_from_far(s, m, p, then.makespan, to, scratch);
    if (!far && may_straighten(s, m, then.makespan)) then = straighten(s, r, limit, then, to);
    if (most > 0 && keep_most(s, most, to)) return;
    if (far || most > 0) then = map_score(m, to, scratch);
    const double move = seconds_to_move(s, m, p, s->owner, to);
    if (then.over < now.over ||
        (then.over == now.over && (now.makespan - then.makespan) * m->time_unit * left > move))
        memcpy(s->owner, to, (size_t)p->tasks * sizeof *s->owner);
}

/* Repairs alone let the cut grow, change after change: makes a plan from scratch where the cut
 * costs more than that plan and its moves. The plan's gain is assumed to last as long as the last
 * plan's did. */
static void plan_anew(evn_schedule *s, const struct map_model *m, const evn_problem *p, int *to,
                      double *scratch) {
    struct state *state = s->state;
    struct learn *l = state->learn;
    if (!(p->bandwidth > 0 || m->routes.kinds)) return;
    const double part = cut_of(p, s->owner), since = learn_instances(l) - state->planned,
                 left = fmin(learn_left(l), since);
    if (part <= DRIFT * state->cut) return;
    const struct map_score now = map_score(m, s->owner, scratch);
    const double price = seconds_to_search(p);
    if (seconds_lost(m, now.makespan, left) <= price) return;
    struct map_model fresh;
    if (map_plan(&fresh, p, learn_cost(l), learn_speed(l), to)) return;
    map_model_close(&fresh);
    if (map_rename(p, learn_speed(l), s->owner, to)) return;
    const struct map_score then = map_score(m, to, scratch);
    const double move = seconds_to_move(s, m, p, s->owner, to);
    state->cut = part; /* until the cut has grown again */
    if (then.over > now.over) return;
    if (then.over == now.over &&
        (now.makespan - then.makespan) * m->time_unit * left <= move + price)
        return;
    memcpy(s->owner, to, (size_t)p->tasks * sizeof *s->owner);
    note_plan(s);
}

/* Improves inherited owners; without memory they stay. */
static void rebalance(evn_schedule *s, double most) {
    struct learn *l = ((struct state *)s->state)->learn;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    int *to = malloc((size_t)s->problem.tasks * sizeof *to);
    if (!known_open(&known, &s->problem, learn_of(s)) && scratch && to &&
        !map_model_open(&m, &known.p, learn_cost(l), learn_speed(l))) {
        struct map_repair *r = map_repair_open(&m);
        if (r) settle(s, &m, &known.p, r, most, to, scratch);
        if (r && !(most > 0)) plan_anew(s, &m, &known.p, to, scratch);
        map_repair_close(r);
        map_model_close(&m);
    }
    known_close(&known);
    free(scratch);
    free(to);
}

static evn_status change(evn_schedule *s, const struct origins *o) {
    const evn_problem *p = &s->problem;
    struct state *was = s->state;
    struct state *state = malloc(sizeof *state + learn_bytes(p->tasks, p->units, LEARN_WINDOW));
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    *state = *was;
    state->learn = learn_change(state + 1, p, was->learn, o, s->owner);
    s->state = state;
    s->settled = 0;
    if (p->units > 1 && !o->renumbers) rebalance(s, o->change->most);
    if (!o->renumbers) state->ratio = known_ratio(s);
    state->changed = learn_instances(state->learn);
    free(was);
    return EVN_OK;
}

struct learn *map_learnt(const evn_schedule *map) {
    return ((const struct state *)map->state)->learn;
}

static evn_status import(evn_schedule *s) {
    struct state *state = s->state;
    state->ratio = known_ratio(s); /* every assignment can be continued from */
    note_plan(s);
    return EVN_OK;
}

/* The assignment under the model, in the unit of the times that have been learnt: seconds in a
 * loop, but a plan without a machine has weights for times. */
static void explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    if (!known_open(&known, &s->problem, learn_of(s)) && scratch &&
        !map_model_open(&m, &known.p, learn_cost(state->learn), learn_speed(state->learn))) {
        const struct map_score score = map_score(&m, s->owner, scratch);
        fprintf(out,
                "longest unit %.6g by the model load / speed + %s, at least %.6g "
                "without exchange, so at most %.3g %% above the optimum; %.0f bytes cut\n",
                score.makespan * m.time_unit,
                m.routes.kinds ? "time of routes" : "bytes / bandwidth", m.bound * m.time_unit,
                m.bound > 0 ? 100 * (score.makespan / m.bound - 1) : 0,
                m.routes.kinds ? evn_problem_cut(&s->problem, s->owner, NULL) : 2 * score.cut);
        map_model_close(&m);
    }
    free(scratch);
    known_close(&known);
}

const struct policy policy_map = {
    .name = "map",
    .pools = 1,
    .explanation = "neighbours together on units of unequal speed, balanced, few bytes cut",
    .library = "Scotch",
    .look = map_scotch_look,
    .open = open_map,
    .learn = learn,
    .weights = weights,
    .change = change,
    .import = import,
    .explain = explain,
};
