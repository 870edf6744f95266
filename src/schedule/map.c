/* map: our own schedule. Tasks that exchange much stay together, on units of unequal speed, and
 * still no unit is longer than another.
 *
 * Scotch maps the graph of tasks, weighted by cost, onto a complete graph of units, weighted by
 * speed (Pellegrini and Roman, "Scotch: A Software Package for Static Mapping by Dual Recursive
 * Bipartitioning of Process and Architecture Graphs", HPCN 1996). It balances well only where a
 * fair share is many tasks, so that the repair of map_repair.h follows. The simple assignments
 * (static, guided:size where it settles, consecutive optimum, longest task first) are candidates
 * beside it and are repaired, too.
 *
 * Makespans up to SLACK above the shortest one found count as equal, and of them the fewest bytes
 * win; but one that is longer than the best simple candidate by more than NEAR must be worth it, by
 * a PRICE in bytes. All simple candidates are in the choice as they are, so that by this order it
 * is never worse than the best of them. When tasks suffice every unit gets one, even a unit so slow
 * that the rest would be done sooner without it.
 *
 * From times it learns costs and speeds (learn.h). A search takes as long as an instance of a small
 * problem, so each instance only asks, in a look at each task, whether the assignment has become
 * worse against what is possible than it was when chosen, by more than what times scatter by. Only
 * then it looks for another, and moves if that pays over the instances that are left, the search
 * itself included.
 */
#include <evener/status.h>
#include "schedule/learn.h"
#include "schedule/map_repair.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 0.004  /* of the makespan, given for fewer bytes */
#define NEAR  0.0005 /* of the bound: short enough */
#define PRICE 1.1    /* times the bytes, for the last of the makespan */

enum {
    BUDGET = 4000000,    /* of a plan, in looks at a link: some 0.05 s, */
    BUDGET_OF_TASK = 60, /* and for each task */
    TASK_BYTES = 80,     /* of a task's data per weight: ten doubles a grid point */
    MANY = 1000,         /* instances to come when the problem says many */
    FEW = 300,           /* tasks up to which Scotch is asked in more ways */
    GUIDED_ROUNDS = 24,  /* until guided:size settles */
};

/* Seconds that a search takes, measured for BT-MZ's 4 to 1024 tasks on 2 to 6 units: so many for a
 * task and unit, and as its budget is spent no more than so many. */
#define SEARCH_S   3e-5
#define SEARCH_MAX 0.05

struct state {
    double ratio; /* makespan over its lower bound, when the assignment was chosen */
    struct learn *learn;
};

/* ---- Scotch ---- */

#ifdef EVENER_HAVE_SCOTCH
#    include <pthread.h>
#    include <scotch.h>
#    include <stdint.h>

enum {
    SCOTCH_TASKS = 200000, /* more, or more units, take it longer than a plan should */
    SCOTCH_UNITS = 1024,
    SCOTCH_LOAD = 1 << 24, /* its numbers are whole and 32 bits wide: what weights
                              add up to */
    SCOTCH_BYTES = 1 << 28,
    SCOTCH_SPEED = 1 << 14,
};

/* Its reader of strategies keeps its place in static memory. */
static pthread_mutex_t scotch_lock = PTHREAD_MUTEX_INITIALIZER;

struct whole_graph {
    SCOTCH_Num *start, *neighbour, *bytes, *weight, *speed, *owner;
};

static void whole_close(struct whole_graph *w) {
    free(w->start);
    free(w->neighbour);
    free(w->bytes);
    free(w->weight);
    free(w->speed);
    free(w->owner);
}

static SCOTCH_Num whole(double value, double scale) { return (SCOTCH_Num)fmax(1, value * scale); }

/* The model in whole numbers, none below 1. 1: not enough memory. */
static int whole_open(struct whole_graph *w, const struct map_model *m) {
    const size_t n = (size_t)m->tasks, ends = (size_t)m->start[m->tasks];
    *w = (struct whole_graph){
        .start = malloc((n + 1) * sizeof *w->start),
        .neighbour = malloc((ends + 1) * sizeof *w->neighbour),
        .bytes = malloc((ends + 1) * sizeof *w->bytes),
        .weight = malloc(n * sizeof *w->weight),
        .speed = malloc((size_t)m->units * sizeof *w->speed),
        .owner = malloc(n * sizeof *w->owner),
    };
    if (!w->start || !w->neighbour || !w->bytes || !w->weight || !w->speed || !w->owner) {
        whole_close(w);
        return 1;
    }
    double load = 0, bytes = 0, speed = 0;
    for (size_t t = 0; t < n; t++) load += m->weight[t];
    for (size_t i = 0; i < ends; i++) bytes += m->bytes[i];
    for (int u = 0; u < m->units; u++) speed += 1 / m->pace[u];
    for (size_t t = 0; t < n; t++) w->weight[t] = whole(m->weight[t], SCOTCH_LOAD / load);
    for (size_t t = 0; t <= n; t++) w->start[t] = m->start[t];
    for (size_t i = 0; i < ends; i++) {
        w->neighbour[i] = m->neighbour[i];
        w->bytes[i] = whole(m->bytes[i], SCOTCH_BYTES / bytes);
    }
    for (int u = 0; u < m->units; u++) w->speed[u] = whole(1 / m->pace[u], SCOTCH_SPEED / speed);
    return 0;
}

/* Maps with one of its strategies, a balance ratio and a seed, on this thread
 * alone and with numbers of its own, so that the answer is always the same. 1:
 * it could not. */
static int scotch_map(const struct map_model *m, struct whole_graph *w, SCOTCH_Num strategy,
                      double ratio, int *owner) {
    SCOTCH_Context context;
    SCOTCH_Graph graph, bound;
    SCOTCH_Arch units;
    SCOTCH_Strat how;
    int failed = SCOTCH_contextInit(&context);
    if (failed) return 1;
    failed |= SCOTCH_contextRandomClone(&context);
    SCOTCH_contextRandomSeed(&context, 1);
    SCOTCH_contextRandomReset(&context);
    failed |= SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    failed |= SCOTCH_contextThreadSpawn(&context, 1, NULL);
    failed |= SCOTCH_graphInit(&graph) | SCOTCH_graphInit(&bound);
    failed |= SCOTCH_archInit(&units) | SCOTCH_stratInit(&how);
    if (!failed) {
        failed = SCOTCH_graphBuild(&graph, 0, m->tasks, w->start, NULL, w->weight, NULL,
                                   m->start[m->tasks], w->neighbour, w->bytes) ||
                 SCOTCH_archCmpltw(&units, m->units, w->speed) ||
                 SCOTCH_stratGraphMapBuild(&how, strategy, m->units, ratio) ||
                 SCOTCH_contextBindGraph(&context, &graph, &bound) ||
                 SCOTCH_graphMap(&bound, &units, &how, w->owner);
        SCOTCH_stratExit(&how);
        SCOTCH_archExit(&units);
        SCOTCH_graphExit(&bound);
        SCOTCH_graphExit(&graph);
    }
    SCOTCH_contextExit(&context);
    for (int t = 0; !failed && t < m->tasks; t++) {
        failed = w->owner[t] < 0 || w->owner[t] >= m->units;
        owner[t] = w->owner[t];
    }
    return failed;
}

/* The i-th of its mappings; 1: there is none. */
static int scotch_candidate(const struct map_model *m, int i, int *owner) {
    static const struct {
        SCOTCH_Num strategy;
        double ratio;
    } kind[] = {
        {SCOTCH_STRATDEFAULT, 0.005},
        {SCOTCH_STRATBALANCE, 0.03},
        {SCOTCH_STRATQUALITY, 0.005},
        {SCOTCH_STRATQUALITY, 0.03},
    };
    struct whole_graph w;
    /* without links there is nothing to keep together, and Scotch 7.0.3 loses memory in its last
     * pass */
    if (m->start[m->tasks] == 0) return 1;
    if (i >= (int)(sizeof kind / sizeof *kind) || m->units < 2 || m->tasks < m->units ||
        m->tasks > SCOTCH_TASKS || m->units > SCOTCH_UNITS || whole_open(&w, m))
        return 1;
    pthread_mutex_lock(&scotch_lock);
    int failed = scotch_map(m, &w, kind[i].strategy, kind[i].ratio, owner);
    pthread_mutex_unlock(&scotch_lock);
    whole_close(&w);
    return failed || map_feed(m, owner);
}

#else

static int scotch_candidate(const struct map_model *m, int i, int *owner) {
    (void)m, (void)i, (void)owner;
    return 1;
}

#endif

/* ---- the choice ---- */

/* The problem that the candidates see, with what was learnt. */
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
        for (int i = 0; !failed && i < GUIDED_ROUNDS && !evn_schedule_settled(s); i++)
            failed =
                evn_schedule_simulate(s, owner, seconds) || evn_schedule_learn(s, owner, seconds);
        memcpy(owner, evn_schedule_owner(s), (size_t)m->tasks * sizeof *owner);
        evn_schedule_close(s);
    }
    free(seconds);
    free(speed);
    return failed || map_feed(m, owner);
}

enum { SIMPLE = 4, CANDIDATES = 8 };

/* Candidate i, the simple ones first; 1: there is none. */
static int candidate(const evn_problem *p, const struct map_model *m, int i, int *owner) {
    switch (i) {
    case 0: policy_static(m->tasks, m->units, owner); return 0;
    case 1: return map_consecutive(m, owner);
    case 2: return map_longest_first(m, owner);
    case 3: return guided_candidate(p, m, owner);
    default:
        return i - SIMPLE < (m->tasks <= FEW ? 4 : 2) ? scotch_candidate(m, i - SIMPLE, owner) : 1;
    }
}

/* What the search for an assignment holds. */
struct choice {
    const struct map_model *m;
    struct map_repair *repair;
    double limit;
    long budget;
    int *best; /* the assignment so far */
    struct map_score score;
    double *scratch;
};

static void offer(struct choice *c, const int *owner) {
    struct map_score score = map_score(c->m, owner, c->scratch);
    if (c->score.makespan >= 0 && !map_better(score, c->score, c->limit)) return;
    c->score = score;
    memcpy(c->best, owner, (size_t)c->m->tasks * sizeof *owner);
}

/* Repairs one candidate for the fewest bytes within the limit: from borders
 * that were straightened under a looser one, and all the way under it. It may
 * use up a part of the budget. */
static void repair(struct choice *c, const int *owner, int parts) {
    static const double looser[] = {0.01, 0, 0.04};
    for (int i = 0; i < 3; i++) {
        long share = c->budget / (parts * 3 - i);
        map_repair_start(c->repair, owner, share);
        if (looser[i] > 0) {
            double loose = c->limit * (1 + looser[i]);
            map_balance(c->repair, loose);
            map_smooth(c->repair, loose, loose);
        }
        map_balance(c->repair, c->limit);
        map_smooth(c->repair, c->limit, c->limit * 1.01);
        c->budget -= share - map_repair_left(c->repair);
        offer(c, map_repair_owner(c->repair));
    }
}

/* The best that the candidates can be repaired to under a limit. */
static void search(struct choice *c, int *const *start, int starts, double limit, long budget) {
    c->limit = limit;
    c->budget = budget;
    for (int i = 0; i < starts; i++) offer(c, start[i]);
    /* the most promising first, each with half of what is left */
    for (int i = starts - 1; i >= 0; i--) repair(c, start[i], i < 2 ? i + 1 : 2);
}

/* How short it can be: the candidates' best, and if that is not near the bound
 * already, what balance alone makes of each. */
static double shorten(struct choice *c, int *const *start, int starts) {
    double shortest = INFINITY;
    for (int i = 0; i < starts; i++)
        shortest = fmin(shortest, map_score(c->m, start[i], c->scratch).makespan);
    for (int i = 0; i < starts && shortest > c->m->bound * (1 + NEAR); i++) {
        long share = c->budget / (4 * (starts - i));
        map_repair_start(c->repair, start[i], share);
        map_balance(c->repair, c->m->bound);
        c->budget -= share - map_repair_left(c->repair);
        c->limit = shortest;
        offer(c, map_repair_owner(c->repair));
        shortest = fmin(shortest, map_repair_score(c->repair).makespan);
    }
    return shortest;
}

/* What is as short as the best simple one but for NEAR becomes shorter than
 * that, if this can be had for few bytes. */
static void tighten(struct choice *c, double simple) {
    if (c->score.makespan <= simple) return;
    map_repair_start(c->repair, c->best, BUDGET / 4);
    map_balance(c->repair, simple);
    struct map_score score = map_repair_score(c->repair);
    if (score.makespan > simple || score.cut > c->score.cut * PRICE) return;
    c->score = score;
    memcpy(c->best, map_repair_owner(c->repair), (size_t)c->m->tasks * sizeof *c->best);
}

/* The best assignment under the model. 1: not enough memory. */
static int choose(const evn_problem *p, const struct map_model *m, int *owner) {
    const size_t n = (size_t)m->tasks;
    struct choice c = {.m = m, .score = {-1, 0}};
    int *start[CANDIDATES] = {0}, starts = 0;
    c.repair = map_repair_open(m);
    c.best = malloc(n * sizeof *c.best);
    c.scratch = malloc((size_t)m->units * sizeof *c.scratch);
    int *best = malloc(n * sizeof *best);
    int failed = !c.repair || !c.best || !c.scratch || !best;
    double simple = INFINITY;
    for (int i = 0; !failed && i < CANDIDATES; i++) {
        int *o = malloc(n * sizeof *o);
        if (!o || candidate(p, m, i, o)) {
            failed = !o || i < SIMPLE;
            free(o);
            break;
        }
        start[starts++] = o;
        if (i < SIMPLE) simple = fmin(simple, map_score(m, o, c.scratch).makespan);
    }
    if (!failed) {
        const long budget = BUDGET + BUDGET_OF_TASK * (long)m->tasks;
        c.budget = budget;
        double shortest = shorten(&c, start, starts);
        double tight = fmax(shortest * (1 + NEAR), fmin(simple, shortest * (1 + SLACK)));
        search(&c, start, starts, tight, budget / 2);
        /* what the limit costs in bytes: too much where there are many tasks to be
         * moved to keep it */
        struct map_score kept = c.score;
        memcpy(best, c.best, n * sizeof *best);
        search(&c, start, starts, shortest * (1 + SLACK), budget / 2);
        if (c.score.makespan > tight && c.score.cut * PRICE > kept.cut) {
            c.score = kept;
            memcpy(c.best, best, n * sizeof *best);
        }
        tighten(&c, simple);
        memcpy(owner, c.best, n * sizeof *owner);
    }
    for (int i = 0; i < starts; i++) free(start[i]);
    free(best);
    free(c.scratch);
    free(c.best);
    map_repair_close(c.repair);
    return failed;
}

/* ---- the policy ---- */

/* What the makespan can be at the least, without exchange, as far as is known of costs and speeds.
 */
static double known_least(const evn_schedule *s) {
    const struct learn *l = ((struct state *)s->state)->learn;
    const double *cost = learn_cost(l), *speed = learn_speed(l);
    double max = 0, fastest = 0;
    for (int t = 0; t < s->problem.tasks; t++) max = fmax(max, cost[t]);
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
    struct map_model m;
    int failed = map_model_open(&m, p, NULL, NULL);
    if (!failed) {
        failed = choose(p, &m, s->owner);
        map_model_close(&m);
    }
    if (failed)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory to map %d tasks", p->tasks);
    state->ratio = known_ratio(s);
    snprintf(s->text, sizeof s->text, "map");
    return EVN_OK;
}

/* Seconds that the move from one assignment to another takes. */
static double seconds_to_move(const evn_schedule *s, const int *from, const int *to,
                              double bandwidth) {
    const evn_problem *p = &s->problem;
    const double least = learn_seconds_to_move(((struct state *)s->state)->learn, from, to);
    double weight = 0;
    for (int t = 0; t < p->tasks; t++) weight += from[t] != to[t] ? p->weight[t] : 0;
    return bandwidth > 0 ? fmax(weight * TASK_BYTES / bandwidth, least) : least;
}

/* Looks for another assignment under what was learnt: a new one, and the present one repaired,
 * which moves less. Changes to the one that is done first, moving included, if that pays. Returns
 * whether it does, and in *promise what that one takes. */
static int remap(evn_schedule *s, const struct map_model *m, double bandwidth, int *renewed,
                 double *scratch, struct map_repair *r, double *promise) {
    const evn_problem *p = &s->problem;
    struct learn *l = ((struct state *)s->state)->learn;
    if (choose(p, m, renewed)) return 0;
    const double left = fmin(learn_left(l), MANY);
    const double now = map_score(m, s->owner, scratch).makespan * m->time_unit;
    double then = map_score(m, renewed, scratch).makespan * m->time_unit;
    double move = seconds_to_move(s, s->owner, renewed, bandwidth);
    map_repair_start(r, s->owner, BUDGET / 4);
    map_balance(r, then / m->time_unit);
    double repaired = map_repair_score(r).makespan * m->time_unit;
    double less = seconds_to_move(s, s->owner, map_repair_owner(r), bandwidth);
    if (repaired * left + less <= (then * left + move) * (1 + NEAR)) {
        memcpy(renewed, map_repair_owner(r), (size_t)p->tasks * sizeof *renewed);
        then = repaired;
        move = less;
    }
    *promise = learn_makespan(l, renewed);
    if (!learn_pays(l, now, then, move)) return 0;
    learn_moves(l, learn_makespan(l, s->owner), *promise);
    memcpy(s->owner, renewed, (size_t)p->tasks * sizeof *renewed);
    return 1;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    const evn_problem *p = &s->problem;
    struct state *state = s->state;
    struct learn *l = state->learn;
    learn_feed(l, owner, seconds);
    s->settled = learn_ready(l);
    if (!learn_ready(l)) return;
    const double now = learn_makespan(l, s->owner), could = known_least(s) * state->ratio;
    if (!learn_asks(l, now, could)) return;
    if ((now - could) * learn_left(l) <= fmin(SEARCH_S * p->tasks * p->units, SEARCH_MAX)) return;
    evn_problem known = *p; /* in seconds */
    known.bandwidth /= learn_time_unit(l);
    struct map_model m;
    if (map_model_open(&m, &known, learn_cost(l), learn_speed(l))) return;
    struct map_repair *r = map_repair_open(&m);
    int *renewed = malloc((size_t)p->tasks * sizeof *renewed);
    double *scratch = malloc((size_t)p->units * sizeof *scratch);
    /* without memory for it things stay as they are */
    double then = now;
    const int moved =
        r && renewed && scratch && remap(s, &m, known.bandwidth, renewed, scratch, r, &then);
    free(scratch);
    free(renewed);
    map_repair_close(r);
    map_model_close(&m);
    if (moved) {
        state->ratio = known_ratio(s);
        s->settled = 0;
    } else {
        learn_stays(l, now, could, then);
    }
}

static evn_status import(evn_schedule *s) {
    ((struct state *)s->state)->ratio = known_ratio(s); /* any assignment can be gone on from */
    return EVN_OK;
}

/* The assignment under the model, in seconds where times have been learnt. */
static void explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    const int learnt = learn_instances(state->learn) > 0;
    evn_problem known = s->problem;
    known.bandwidth /= learn_time_unit(state->learn);
    struct map_model m;
    if (map_model_open(&m, &known, learn_cost(state->learn), learn_speed(state->learn))) return;
    double *scratch = malloc((size_t)m.units * sizeof *scratch);
    if (scratch) {
        const struct map_score score = map_score(&m, s->owner, scratch);
        fprintf(out,
                "longest unit %.6g%s by the model load / speed + bytes / bandwidth, at least %.6g "
                "without exchange, so at most %.3g %% above the optimum; %.0f bytes cut\n",
                score.makespan * m.time_unit, learnt ? " s" : "", m.bound * m.time_unit,
                m.bound > 0 ? 100 * (score.makespan / m.bound - 1) : 0, 2 * score.cut);
    }
    free(scratch);
    map_model_close(&m);
}

const struct policy policy_map = {
    .name = "map",
#ifdef EVENER_HAVE_SCOTCH
    .explanation = "neighbours together on units of unequal speed (Scotch), "
                   "balanced, few bytes cut",
#else
    .explanation = "neighbours together on units of unequal speed, balanced "
                   "(built without Scotch)",
#endif
    .open = open_map,
    .learn = learn,
    .import = import,
    .explain = explain,
};
