/* optimal: the assignment with the smallest largest load, from the 0-1 program of Gonzalez and
 * Morancho, "Multi-GPU Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021), section
 * 3.3.1, with a proof of how far from the optimum it can be at most.
 *
 * Three stages, each only if the one before has not come within the gap that was asked for:
 *
 * 1. Assignments by rule: the heaviest task first, and the best consecutive ones along the rows and
 *    along the columns of the tasks. Bounds by argument (bound.c).
 * 2. Local search under the same model: moves and swaps that lower the largest load, moves that
 *    lower the communication of others, then small random disturbances, a fixed number of steps.
 * 3. The program itself in COIN-OR CBC, started from the best assignment. x_tu says that unit u has
 *    task t, z_lu that link l has one end on u:
 *
 *        minimise T,  sum_u x_tu = 1,  sum_t w_t / s_u x_tu + sum_l c_l z_lu <= T,
 *        z_lu >= x_au - x_bu,  z_lu >= x_bu - x_au  for the ends a, b of l.
 *
 *    As it stands its relaxation knows nothing of communication (all x_tu = 1 / U cuts no link), so
 *    what isoperimetry says about a unit's links at its weight is added as one row per unit; and
 *    equal units are told apart by their heaviest task, so that none is tried in another's place.
 *
 * Where units are near and far, or where what came out does not fit into their memories, the third
 * stage alone is gone through, from what `map` finds.
 *
 * The limit holds for all of that: the search may take half of it, the solver the rest, and where
 * tasks are so many that preparing the model takes longer, the plan is `static`. A limit of 0 is
 * the first two stages with their fixed number of steps. Without a time limit (`nodes` instead), or
 * with one of 0, no clock is read and the answer is the same each time. A unit stays empty only
 * where every assignment that uses it is worse. The plan is made once, from weights: with measured
 * times, which stops a run for as long as the solver takes, it is made again by optimal:time.
 */
#include <evener/status.h>
#include "base/number.h"
#include "policy/optimal/bound.h"
#include "policy/optimal/cbc.h"
#include "schedule/capacity.h"
#include "policy/optimal/optimal_time.h"
#include "policy/optimal/program.h"
#include "policy/optimal/search.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    struct optimal_options options;
    struct optimal_proof proof;
    double until; /* end of the limit by optimal_clock(); INFINITY: none */
};

/* --- options ------------------------------------------------------------------------------- */

static evn_status read_fraction(const evn_option *o, double max, double *out) {
    const char *wrong = number_check(o->value, 0, max, out);
    if (!wrong) return EVN_OK;
    return evn_fail(EVN_USAGE, "schedule: optimal: %s=%s %s, expected a number from 0 to %g",
                    o->key, o->value ? o->value : "", wrong, max);
}

static evn_status read_options(evn_schedule *s, const evn_spec *spec,
                               struct optimal_options *options) {
    int limited = 0;
    *options = (struct optimal_options){.limit = 60, .gap = 0.01};
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        evn_status status;
        if (!strcmp(o->key, "limit")) {
            status = read_fraction(o, 1e7, &options->limit);
            limited = 1;
        } else if (!strcmp(o->key, "gap")) {
            status = read_fraction(o, 1, &options->gap);
        } else if (!strcmp(o->key, "nodes")) {
            status = evn_spec_number(o, "schedule", spec->name, 1, 2000000000, &options->nodes);
        } else {
            status = evn_fail(EVN_USAGE,
                              "schedule: optimal has no option \"%s\", expected limit=SECONDS, "
                              "gap=FRACTION or nodes=N",
                              o->key);
        }
        if (status) return status;
    }
    /* a limit in nodes is there for the sake of answers that do not depend on the clock */
    if (options->nodes && !limited) options->limit = INFINITY;
    int at = snprintf(s->text, sizeof s->text, "optimal:");
    if (!isinf(options->limit))
        at += number_print(s->text + at, sizeof s->text - (size_t)at, "limit=%g,", options->limit);
    at += number_print(s->text + at, sizeof s->text - (size_t)at, "gap=%g", options->gap);
    if (options->nodes)
        snprintf(s->text + at, sizeof s->text - (size_t)at, ",nodes=%ld", options->nodes);
    return EVN_OK;
}

/* --- the plan ------------------------------------------------------------------------------ */

enum {
    LARGEST_TABLE = 1 << 24,   /* most tasks times units for which assignments are searched */
    LARGEST_PROGRAM = 1 << 18, /* most columns for which the solver is started */
};

/* Seconds of each stage's work on one core at 3 GHz, rounded up: with less time left it is not
 * begun. */
#define TO_PREPARE 6e-7 /* the model, for a task or link */
#define TO_MAP     2e-5 /* a map, for a task */
#define TO_MAP_ANY 0.1  /* most time of a map beside TO_MAP */
#define TO_MAP_ONE 3e-5 /* a map beside TO_MAP, for a task and unit */
#define TO_FIT     1e-9 /* memory, for a pair of tasks */
#define TO_SEARCH  6e-8 /* the first search, for a task and unit */

/* 1 if there is time for so many seconds of work. */
static int has_time(const struct state *state, double seconds) {
    return !(state->until < INFINITY) || state->until - optimal_clock() > seconds;
}

static evn_status no_memory(const struct optimal_model *m) {
    return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", m->tasks);
}

static double below(double bound, double gap) { return bound * (1 + gap); }

/* Bounds are in the model's unit of time until the end. */
static void prove(struct optimal_proof *proof, double bound, const char *by) {
    if (!(bound > proof->bound)) return;
    proof->bound = bound;
    proof->proved = by;
}

static void prove_by_argument(struct optimal_proof *proof, const struct optimal_model *m,
                              double longest) {
    const char *why;
    const double bound = optimal_bound(m, longest, &why);
    prove(proof, bound, why);
}

/* 1 if the solver is to be started for an assignment of largest load `longest`. */
static int is_for_solver(const struct state *state, const struct optimal_model *m, double longest) {
    const size_t columns = ((size_t)m->tasks + (size_t)m->links) * (size_t)m->units;
    return longest > below(state->proof.bound, state->options.gap) && state->options.limit > 0 &&
           columns < LARGEST_PROGRAM;
}

static evn_status solve(struct state *state, const struct optimal_model *m, double longest,
                        int *owner) {
    struct optimal_proof *proof = &state->proof;
    struct optimal_solution solution;
    const evn_status status =
        optimal_solve(m, &state->options, proof->bound, longest, owner, &solution);
    proof->solved = 1;
    proof->answered = solution.answered;
    proof->nodes = solution.nodes;
    proof->solver = solution.proven * m->unit;
    prove(proof, fmin(solution.proven, longest), "CBC");
    return status;
}

/* Time when half of the remaining time is over. */
static double half_of(double until) {
    return until < INFINITY ? (optimal_clock() + until) / 2 : INFINITY;
}

/* Runs all three stages, where a link costs the same wherever its ends are. Returns the largest
 * load. */
static evn_status plan_alike(struct state *state, struct optimal_model *m, int *best,
                             double *longest) {
    struct optimal_proof *proof = &state->proof;
    m->until = half_of(state->until);
    struct search s;
    int *owner = malloc(sizeof *owner * (size_t)m->tasks);
    evn_status status = search_open(&s, m, best) || !owner ? no_memory(m) : EVN_OK;
    if (!status) {
        search_rules(&s, &proof->found);
        prove_by_argument(proof, m, s.longest);
        const double enough = below(proof->bound, state->options.gap);
        if (s.longest > enough && search_disturb(&s, enough)) proof->found = "local search";
        search_feed_empty(&s);
        proof->bound = 0; /* again: the load may have become smaller */
        prove_by_argument(proof, m, s.longest);
    }
    m->until = state->until;
    if (!status && is_for_solver(state, m, s.longest)) {
        memcpy(owner, best, sizeof *owner * (size_t)m->tasks);
        status = solve(state, m, s.longest, owner);
        search_refresh(&s);
        search_consider(&s, owner, "CBC", &proof->found);
        search_feed_empty(&s);
    }
    *longest = s.longest;
    search_close(&s);
    free(owner);
    return status;
}

/* Solves the program alone, starting from `map`'s plan: where units are near and far, or their
 * memories full. */
static evn_status plan_near(evn_schedule *schedule, struct state *state,
                            const struct optimal_model *m, double *longest) {
    struct optimal_proof *proof = &state->proof;
    const evn_problem *p = &schedule->problem;
    const size_t bytes = sizeof(int) * (size_t)p->tasks;
    evn_schedule *map = NULL;
    int *owner = malloc(bytes);
    double *used = malloc(2 * sizeof *used * (size_t)p->units), *load = used + p->units;
    evn_status status = owner && used ? EVN_OK : no_memory(m);
    evn_problem without = *p;
    if (!m->memory) without.capacity = NULL;
    const double any = fmin(TO_MAP_ONE * p->tasks * p->units, TO_MAP_ANY);
    if (!status && has_time(state, 2 * (any + TO_MAP * p->tasks))) {
        status = evn_schedule_open(&map, policy_map.name, &without);
        if (!status) memcpy(schedule->owner, evn_schedule_owner(map), bytes);
        proof->found = "map";
    } else if (!status && !m->memory) {
        optimal_consecutive(m, NULL, schedule->owner, load);
        proof->found = "consecutive tasks";
    }
    if (!status) {
        *longest = optimal_load(m, schedule->owner, load);
        prove_by_argument(proof, m, *longest);
    }
    if (!status && is_for_solver(state, m, *longest)) {
        memcpy(owner, schedule->owner, bytes);
        const double over = capacity_over(&without, owner, used);
        status = solve(state, m, *longest, owner);
        const double found = optimal_load(m, owner, load);
        if (found < *longest && capacity_over(&without, owner, used) <= over * (1 + 1e-9)) {
            memcpy(schedule->owner, owner, bytes);
            *longest = found;
            proof->found = "CBC";
        }
    }
    evn_schedule_close(map);
    free(used);
    free(owner);
    return status;
}

/* Plans consecutive tasks, where there are too many for anything else. */
static evn_status plan_many(evn_schedule *schedule, struct state *state,
                            const struct optimal_model *m, double *longest) {
    double *load = malloc(sizeof *load * (size_t)m->units);
    if (!load) return no_memory(m);
    optimal_consecutive(m, NULL, schedule->owner, load);
    *longest = optimal_load(m, schedule->owner, load);
    state->proof.found = "consecutive tasks";
    prove_by_argument(&state->proof, m, *longest);
    free(load);
    return EVN_OK;
}

/* The assignment of `static`, with bounds from one look at each task and link, where there is no
 * time for a model. */
static evn_status plan_cheap(evn_schedule *schedule, struct state *state) {
    const evn_problem *p = &schedule->problem;
    struct optimal_proof *proof = &state->proof;
    struct routes routes;
    double *load = calloc((size_t)p->units, sizeof *load), work = 0, speed = 0;
    if (!load || routes_open(&routes, p, 1)) {
        free(load);
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    }
    policy_static(p->tasks, p->units, schedule->owner);
    for (int t = 0; t < p->tasks; t++) {
        load[schedule->owner[t]] += p->weight[t] / p->speed[schedule->owner[t]];
        work += p->weight[t];
    }
    for (int l = 0; l < p->links; l++) {
        const int u = schedule->owner[p->link[l].task[0]], v = schedule->owner[p->link[l].task[1]];
        const double bytes = fmax(p->link[l].bytes, 0);
        if (u == v || !(bytes > 0)) continue;
        const double cost = routes.kinds           ? routes_cost(&routes, u, v, bytes)
                            : routes.bandwidth > 0 ? bytes / routes.bandwidth
                                                   : 0;
        load[u] += cost;
        load[v] += cost;
    }
    proof->longest = 0;
    for (int u = 0; u < p->units; u++) {
        speed += p->speed[u];
        proof->longest = fmax(proof->longest, load[u]);
    }
    prove(proof, fmin(work / speed * (1 - 1e-9), proof->longest), "all weight over all speeds");
    proof->gap = proof->longest > proof->bound ? proof->longest / proof->bound - 1 : 0;
    routes_close(&routes);
    free(load);
    return EVN_OK;
}

/* Makes a plan; `memory`: capacities count, but for `over` bytes. Proofs without capacities hold,
 * too. */
static evn_status make_plan(evn_schedule *schedule, struct state *state, int memory, double over) {
    struct optimal_proof *proof = &state->proof;
    struct optimal_model m;
    double longest = 0;
    evn_status status = optimal_model_make(&m, &schedule->problem, memory, over);
    if (!status) {
        proof->bound /= m.unit;
        m.until = state->until;
        const double table = (double)m.tasks * m.units;
        if (m.routes.kinds || memory)
            status = plan_near(schedule, state, &m, &longest);
        else if (table > LARGEST_TABLE || !has_time(state, TO_SEARCH * table))
            status = plan_many(schedule, state, &m, &longest);
        else
            status = plan_alike(state, &m, schedule->owner, &longest);
        proof->longest = longest * m.unit;
        proof->gap = longest > proof->bound ? longest / proof->bound - 1 : 0;
        proof->bound *= m.unit;
    }
    optimal_model_free(&m);
    return status;
}

/* A plan without capacities and, if it does not fit, one with them. */
static evn_status make_plans(evn_schedule *schedule, struct state *state) {
    const evn_problem *p = &schedule->problem;
    const size_t bytes = sizeof(int) * (size_t)p->tasks;
    const double limit = state->options.limit, things = (double)p->tasks + p->links + p->units;
    const double until = limit > 0 && limit < INFINITY ? optimal_clock() + limit : INFINITY;
    state->proof = (struct optimal_proof){.found = "static", .proved = "no load is negative"};
    state->until = capacity_given(p) ? half_of(until) : until;
    if (!has_time(state, TO_PREPARE * things)) return plan_cheap(schedule, state);
    evn_status status = make_plan(schedule, state, 0, 0);
    state->until = until;
    if (status || !capacity_given(p) || !has_time(state, TO_FIT * p->tasks * p->tasks))
        return status;
    double *used = malloc(sizeof *used * (size_t)p->units), over = 0;
    int *owner = malloc(bytes), least;
    int failed = !used || !owner;
    if (!failed && capacity_over(p, schedule->owner, used) > 0) {
        memcpy(owner, schedule->owner, bytes);
        failed = capacity_fit(p, owner, &over, &least);
        if (!failed) memcpy(schedule->owner, owner, bytes); /* if there is no time for `map` */
        if (!failed) status = make_plan(schedule, state, 1, over);
    }
    free(used);
    free(owner);
    return failed ? evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks)
                  : status;
}

static evn_status open_optimal(evn_schedule *s, const evn_spec *spec) {
    struct state *state = malloc(sizeof *state);
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory");
    s->state = state;
    evn_status status = read_options(s, spec, &state->options);
    if (!status) status = make_plans(s, state);
    s->settled = 1;
    return status;
}

/* Proves a bound for the present assignment as far as arguments go; without memory none. */
static void prove_anew(evn_schedule *s, const char *found) {
    struct state *state = s->state;
    struct optimal_model m;
    double *load = malloc(sizeof *load * (size_t)s->problem.units);
    const evn_status status = optimal_model_make(&m, &s->problem, 0, 0);
    state->proof = (struct optimal_proof){
        .longest = NAN, .gap = NAN, .found = found, .proved = "no load is negative"};
    if (load && !status) {
        const double longest = optimal_load(&m, s->owner, load);
        prove_by_argument(&state->proof, &m, longest);
        state->proof.longest = longest * m.unit;
        state->proof.gap = longest > state->proof.bound ? longest / state->proof.bound - 1 : 0;
        state->proof.bound *= m.unit;
    }
    optimal_model_free(&m);
    free(load);
}

static void weights(evn_schedule *s, const double *before) {
    (void)before;
    if (!policy_plan_anew(s)) prove_anew(s, "the plan for other weights");
}

static evn_status change(evn_schedule *s, const struct origins *o) {
    evn_status status = policy_change_repair(s, o);
    if (!status) prove_anew(s, "the plan for other tasks");
    return status;
}

static evn_status import(evn_schedule *s) {
    /* the bound holds for any assignment; the rest is that of the one that came */
    struct state *state = s->state;
    struct optimal_model m;
    evn_status status = optimal_model_make(&m, &s->problem, 0, 0);
    double *load = status ? NULL : malloc(sizeof *load * (size_t)m.units);
    if (load) {
        state->proof.longest = optimal_load(&m, s->owner, load) * m.unit;
        state->proof.gap = fmax(0, state->proof.longest / state->proof.bound - 1);
        if (!(state->proof.longest > state->proof.bound)) state->proof.gap = 0;
        state->proof.found = "import";
    } else if (!status) {
        status = evn_fail(EVN_MEMORY, "schedule: not enough memory");
    }
    free(load);
    optimal_model_free(&m);
    return status;
}

const struct optimal_proof *optimal_proof(const evn_schedule *s) {
    const struct state *state = s->state;
    return &state->proof;
}

void optimal_explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    const struct optimal_proof *p = &state->proof;
    if (isnan(p->longest)) {
        fprintf(out, "%s: not enough memory for its largest load and a bound\n", p->found);
        return;
    }
    fprintf(out,
            "largest load %.6g (found by: %s), at least %.6g (proven by: %s), so at most %.3g %% "
            "above the optimum; ",
            p->longest, p->found, p->bound, p->proved, 100 * p->gap);
    if (p->solved && !p->answered) {
        fputs("CBC gave no answer in time\n", out);
    } else if (p->solved) {
        fprintf(out, "CBC searched %d nodes and proved %.6g\n", p->nodes, p->solver);
    } else {
        fputs(p->gap > state->options.gap ? "CBC was not started: no time for it, or too large\n"
                                          : "CBC was not needed\n",
              out);
    }
}

const struct policy policy_optimal = {
    .name = "optimal",
    .still = 1,
    .by_time = &policy_optimal_time,
    .weights = weights,
    .change = change,
    .explanation = "the smallest largest load, proven to a gap (time,limit=SECONDS,gap=F,nodes=N)",
    .open = open_optimal,
    .library = "COIN-OR CBC",
    .look = cbc_look,
    .import = import,
    .explain = optimal_explain,
};
