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
#include "schedule/learn.h"
#include "schedule/map/choice.h"
#include "schedule/map/state.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_BYTES = 80 }; /* bytes of a task's data per weight: ten doubles a grid point */

/* Seconds that a search takes, measured for BT-MZ's 4 to 1024 tasks on 2 to 6 units: so many for a
 * task and unit, and as its budget is spent no more than so many; but so many a task where tasks
 * are very many. */
#define SEARCH_S    3e-5
#define SEARCH_MAX  0.05
#define SEARCH_TASK 4e-6
#define SEARCH_FREE 5e-3 /* lost s that are counted after each search */

/* A cut that has grown by so much since the last plan may be worth another one. */
#define DRIFT 1.1

/* Seconds that straightening borders takes after a change, measured for 400 tasks on 4 and 16
 * units: so many for a task and unit, of which four count in any case; and at most, as its budget
 * is spent. */
#define STRAIGHTEN_S   1.5e-6
#define STRAIGHTEN_MAX 0.04

/* Times the part of all weight that a repair moves: the part of the bytes that it must spare. */
#define MOVES 2

struct state {
    double ratio; /* makespan over its lower bound, when the assignment was chosen */
    double lost;  /* s by the imbalance since the last search, and SEARCH_FREE */
    double cut;   /* part of the links' bytes that the last plan cut */
    int planned;  /* instances learnt by then */
    int changed;  /* instances learnt by the last change of tasks */
    struct learn *learn;
};

static double cut_of(const evn_problem *p, const int *owner) {
    double all = 0;
    for (int i = 0; i < p->links; i++) all += 2 * p->link[i].bytes;
    return all > 0 ? evn_problem_cut(p, owner, NULL) / all : 0;
}

/* The present assignment is a plan. */
static void note_plan(evn_schedule *s) {
    struct state *state = s->state;
    state->cut = cut_of(&s->problem, s->owner);
    state->planned = learn_instances(state->learn);
}

/* Lower bound of the makespan without exchange, by the estimated costs and speeds. */
static double known_least(const evn_schedule *s) {
    const struct learn *l = ((struct state *)s->state)->learn;
    const double *cost = learn_cost(l), *speed = learn_speed(l);
    double max = 0, fastest = 0;
    for (int t = 0; t < s->problem.tasks; t++) max = cost[t] > max ? cost[t] : max;
    for (int u = 0; u < s->problem.units; u++) fastest = fmax(fastest, speed[u]);
    return fmax(learn_even(l), max / fastest);
}

/* Makespan over that. */
static double known_ratio(const evn_schedule *s) {
    const double least = known_least(s);
    return least > 0 ? learn_makespan(((struct state *)s->state)->learn, s->owner) / least : 1;
}

static evn_status open_map(evn_schedule *s, const evn_spec *spec) {
    evn_status status = policy_no_options(s, spec);
    if (status) return status;
    const evn_problem *p = &s->problem;
    struct state *state = malloc(sizeof *state + learn_bytes(p->tasks, p->units, LEARN_WINDOW));
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    s->state = state;
    state->learn = learn_init(state + 1, p, LEARN_WINDOW);
    state->lost = SEARCH_FREE;
    struct map_model m;
    if (map_plan(&m, p, NULL, NULL, s->owner))
        return evn_fail(EVN_MEMORY, "schedule: not enough memory to map %d tasks", p->tasks);
    map_model_close(&m);
    state->ratio = known_ratio(s);
    note_plan(s);
    snprintf(s->text, sizeof s->text, "map");
    return EVN_OK;
}

/* The problem in seconds, as times have told how long its unit of time is. */
struct known {
    evn_problem p;
    evn_route *routes; /* near, then far */
};

static int known_open(struct known *k, const evn_schedule *s) {
    const double unit = learn_time_unit(((struct state *)s->state)->learn);
    const size_t n = s->problem.kinds ? (size_t)s->problem.kinds * (size_t)s->problem.kinds : 1;
    *k = (struct known){.p = s->problem};
    k->p.bandwidth /= unit;
    if (!k->p.route && !k->p.far) return 0;
    k->routes = malloc(2 * n * sizeof *k->routes);
    if (!k->routes) return 1;
    if (k->p.route) k->p.route = memcpy(k->routes, k->p.route, n * sizeof *k->routes);
    if (k->p.far) k->p.far = memcpy(k->routes + n, k->p.far, n * sizeof *k->routes);
    for (size_t i = k->p.route ? 0 : n; i < (k->p.far ? 2 * n : n); i++)
        for (int h = 0; h < 2; h++) {
            k->routes[i].latency[h] *= unit;
            k->routes[i].per_byte[h] *= unit;
        }
    return 0;
}

/* Seconds that the move from one assignment to another takes, `p` being in seconds. */
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

/* Searches another assignment by the estimates: a new one, and the repaired present one, which
 * moves less. Takes the faster, moves included, if that pays. Returns 1 if so, with its time in
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
    const double most = fmax(SEARCH_MAX, SEARCH_TASK * p->tasks);
    return fmin(SEARCH_S * p->tasks * p->units, most);
}

/* The search, and the move if it pays; without memory for it things stay as they are. */
static int search(evn_schedule *s, double *promise) {
    const evn_problem *p = &s->problem;
    struct learn *l = ((struct state *)s->state)->learn;
    struct known known;
    struct map_model m;
    int *renewed = malloc((size_t)p->tasks * sizeof *renewed), moved = 0;
    double *scratch = malloc((size_t)p->units * sizeof *scratch);
    if (!known_open(&known, s) && renewed && scratch &&
        !map_plan(&m, &known.p, learn_cost(l), learn_speed(l), renewed)) {
        struct map_repair *r = map_repair_open(&m);
        if (r) moved = remap(s, &m, &known.p, renewed, scratch, r, promise);
        map_repair_close(r);
        map_model_close(&m);
    }
    free(known.routes);
    free(scratch);
    free(renewed);
    return moved;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    const evn_problem *p = &s->problem;
    struct state *state = s->state;
    struct learn *l = state->learn;
    /* one unit has all tasks whatever they cost: so much as can be said of them is enough */
    if (p->units == 1 && learn_instances(l) >= LEARN_WINDOW) return;
    learn_passed(l, s->passed);
    learn_feed(l, owner, seconds);
    s->settled = learn_ready(l);
    if (!learn_ready(l)) return;
    const double now = learn_makespan(l, s->owner), could = known_least(s) * state->ratio;
    state->lost += fmax(now - could, 0) * s->passed;
    if (!learn_asks(l, now, could)) return;
    const double price = seconds_to_search(p);
    if ((now - could) * learn_left(l) <= price || state->lost < price) return;
    state->lost = SEARCH_FREE;
    double then = now;
    if (search(s, &then)) {
        state->ratio = known_ratio(s);
        note_plan(s);
        s->settled = 0;
    } else {
        learn_stays(l, now, could, then);
    }
}

/* The present assignment, repaired until it is as good under other weights as it was, if that pays.
 */
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
                 could = known_least(s) * state->ratio;
    if (!learn_pays_certainly(state->learn, now, could, 0)) return;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    if (!known_open(&known, s) && scratch &&
        !map_model_open(&m, &known.p, learn_cost(state->learn), learn_speed(state->learn))) {
        struct map_repair *r = map_repair_open(&m);
        if (r) follow(s, &m, &known.p, r, could, scratch);
        map_repair_close(r);
        map_model_close(&m);
    }
    free(known.routes);
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

/* Whether the time that units are longer than without exchange, in as many instances as the last
 * tasks had, is more than straightening takes. */
static int may_straighten(const evn_schedule *s, const struct map_model *m, double makespan) {
    const struct state *state = s->state;
    const int since = learn_instances(state->learn) - state->changed;
    const double price =
        fmin(STRAIGHTEN_S * s->problem.tasks * (s->problem.units + 4), STRAIGHTEN_MAX);
    return m->per_byte > 0 && s->problem.tasks <= SMOOTHED &&
           seconds_lost(m, makespan, since) > price;
}

/* From inherited owners to better ones by few moves. No doubt is due: the tasks are others for
 * certain. */
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

/* Repairs alone let the cut grow, change after change: where that takes more time than a plan from
 * scratch and its moves, there is one. Its gain is taken to last as long as the last plan's has. */
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
    state->cut = part; /* until it has grown once more */
    if (then.over > now.over) return;
    if (then.over == now.over &&
        (now.makespan - then.makespan) * m->time_unit * left <= move + price)
        return;
    memcpy(s->owner, to, (size_t)p->tasks * sizeof *s->owner);
    note_plan(s);
}

/* Without memory for it owners stay as inherited. */
static void rebalance(evn_schedule *s, double most) {
    struct learn *l = ((struct state *)s->state)->learn;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    int *to = malloc((size_t)s->problem.tasks * sizeof *to);
    if (!known_open(&known, s) && scratch && to &&
        !map_model_open(&m, &known.p, learn_cost(l), learn_speed(l))) {
        struct map_repair *r = map_repair_open(&m);
        if (r) settle(s, &m, &known.p, r, most, to, scratch);
        if (r && !(most > 0)) plan_anew(s, &m, &known.p, to, scratch);
        map_repair_close(r);
        map_model_close(&m);
    }
    free(known.routes);
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
    state->ratio = known_ratio(s); /* any assignment can be gone on from */
    note_plan(s);
    return EVN_OK;
}

/* The assignment under the model, in seconds where times have been learnt. */
static void explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    const int learnt = learn_instances(state->learn) > 0;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    if (!known_open(&known, s) && scratch &&
        !map_model_open(&m, &known.p, learn_cost(state->learn), learn_speed(state->learn))) {
        const struct map_score score = map_score(&m, s->owner, scratch);
        fprintf(out,
                "longest unit %.6g%s by the model load / speed + %s, at least %.6g "
                "without exchange, so at most %.3g %% above the optimum; %.0f bytes cut\n",
                score.makespan * m.time_unit, learnt ? " s" : "",
                m.routes.kinds ? "time of routes" : "bytes / bandwidth", m.bound * m.time_unit,
                m.bound > 0 ? 100 * (score.makespan / m.bound - 1) : 0,
                m.routes.kinds ? evn_problem_cut(&s->problem, s->owner, NULL) : 2 * score.cut);
        map_model_close(&m);
    }
    free(scratch);
    free(known.routes);
}

const struct policy policy_map = {
    .name = "map",
    .pools = 1,
#ifdef EVENER_HAVE_SCOTCH
    .explanation = "neighbours together on units of unequal speed (Scotch), "
                   "balanced, few bytes cut",
#else
    .explanation = "neighbours together on units of unequal speed, balanced "
                   "(built without Scotch)",
#endif
    .open = open_map,
    .learn = learn,
    .weights = weights,
    .change = change,
    .import = import,
    .explain = explain,
};
