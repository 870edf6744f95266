/* interval: contiguous intervals of tasks in the order of the units, moved after each instance by
 * what was measured: the greedy balancer of Bramas, Coulaud and Sylvand, "Time-domain BEM for the
 * wave equation on distributed-heterogeneous architectures: a blocking approach" (2015), section
 * 6.2.
 *
 * With t_i the time of unit i for its s_i tasks, t_a the mean of the times and c_i = t_i / s_i: a
 * slower unit gives up (t_i - t_a) / c_i tasks, and what is given up goes to the faster ones in
 * proportion to the (t_a - t_i) / c_i they would like. The start is the same number of tasks for
 * each. No step is sure to be an improvement; after a fixed number of them the best one seen is
 * taken and kept.
 *
 * Six things are ours. Where costs jump from one task to the next, the steps as published swing
 * to and fro for ever, several per cent from the optimum; so after one that was no improvement
 * steps become shorter, and longer again while they improve, and fractions of tasks are carried
 * over. The times are those that were learnt from the last instances (learn.h), so that a spike
 * moves no task. Where times scatter, a step that could gain no more than they do, or promises
 * nothing, is left out, though it counts. Where carrying states to other spaces takes longer than a
 * step saves, the boundaries between spaces stay. What was kept is given up when units or tasks
 * have changed so that this pays for certain: then the shortest of all intervals by the times
 * learnt are taken, or, of the units of each space, the best of all steps made at once. And these
 * intervals take the place of steps after the first few of a search, with many units from the first
 * on: steps need the more instances the more units there are. */
#include <evener/status.h>
#include "policy/consecutive.h"
#include "policy/learn.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE = 1000, /* steps at most */
    FIRST = 4,      /* steps of a search that are as published */
    FEW_UNITS = 8,  /* most units with which they are */
};

struct state {
    long iterations;
    long done;        /* number of steps of this search */
    int keeping;      /* the search is over */
    int left_out;     /* 1: some steps of the search were left out */
    double even;      /* longest time over the mean, when the best assignment ran */
    double last_time; /* longest in the last instance; infinite: there was none in this search */
    double best_time; /* longest time of the best assignment of this search */
    int *best;        /* owners of the best assignment */
    int *trial;       /* other owners, while several steps are made at once */
    double length;    /* length of the next step, in units of the published one */
    double *time;     /* time of each unit */
    double *cost;     /* cost of a task on each unit */
    double *change;   /* change of each unit's number of tasks */
    double *want;     /* number of tasks that each unit should have, with its fraction */
    int *given;       /* `want`, rounded */
    int *tasks;       /* number of tasks that each unit has, whatever was given */
    struct learn *learn;
};

static void begin_search(evn_schedule *s) {
    struct state *state = s->state;
    state->keeping = s->settled = 0;
    state->done = state->left_out = 0;
    state->last_time = state->best_time = INFINITY;
    state->length = 1;
    state->given[0] = -1;
}

/* Allocates a state with its arrays, and memory of a learner, which is not initialised. */
static struct state *make_state(const evn_problem *p, long iterations) {
    const size_t units = (size_t)p->units, n = (size_t)p->tasks;
    const size_t learner = learn_bytes(p->tasks, p->units, LEARN_WINDOW);
    const size_t head = (sizeof(struct state) + 15) / 16 * 16;
    char *block = malloc(head + learner + units * (4 * sizeof(double) + 2 * sizeof(int)) +
                         2 * n * sizeof(int));
    if (!block) return NULL;
    struct state *state = (struct state *)block;
    *state = (struct state){.iterations = iterations};
    state->learn = (struct learn *)(block + head);
    state->time = (double *)(block + head + learner);
    state->cost = state->time + units;
    state->change = state->cost + units;
    state->want = state->change + units;
    state->given = (int *)(state->want + units);
    state->tasks = state->given + units;
    state->best = state->tasks + units;
    state->trial = state->best + n;
    return state;
}

static evn_status open_interval(evn_schedule *s, const evn_spec *spec) {
    const evn_problem *p = &s->problem;
    long iterations = 40;
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        if (strcmp(o->key, "iterations") != 0)
            return evn_fail(EVN_USAGE,
                            "schedule: interval has no option \"%s\", expected iterations=N",
                            o->key);
        evn_status status = evn_spec_number(o, "schedule", spec->name, 1, 1000000000, &iterations);
        if (status) return status;
    }
    struct state *state = make_state(p, iterations);
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    s->state = state;
    state->learn = learn_init(state->learn, p, LEARN_WINDOW);
    begin_search(s);
    snprintf(s->text, sizeof s->text, "interval:iterations=%ld", iterations);
    return EVN_OK;
}

/* Rounds the sizes that units from .. to-1 want to whole numbers that add up to n, each by less
 * than one, and none to 0 if there are enough tasks. */
static void round_off(struct state *state, int n, int from, int to) {
    const int least = n >= to - from;
    double sum = 0;
    int end = 0;
    for (int u = from; u < to; u++) {
        const int begin = end;
        sum += state->want[u];
        end = u == to - 1 ? n : (int)fmin(fmax(floor(sum + 0.5), 0), n);
        /* at least one task, and one for each unit behind */
        if (end > n - least * (to - 1 - u)) end = n - least * (to - 1 - u);
        if (end < begin + least) end = begin + least;
        state->given[u] = end - begin;
    }
}

/* Computes the next sizes of units from .. to-1, whose mean time is `mean`, for their n tasks. */
static void step_of(struct state *state, int n, int from, int to, double mean) {
    double removed = 0, wanted = 0;
    for (int u = from; u < to; u++) {
        /* a unit gives up at most all its tasks */
        state->change[u] = fmin((mean - state->time[u]) / state->cost[u], n);
        if (state->change[u] > 0)
            wanted += state->change[u];
        else
            removed -= state->change[u];
    }
    for (int u = from; u < to; u++) {
        if (state->change[u] > 0) state->change[u] *= removed / wanted;
        state->want[u] = fmax(state->want[u] + state->length * state->change[u], 0);
    }
    round_off(state, n, from, to);
}

/* Makes the next intervals from each unit's time; `within`: for the units of each space by
 * themselves, so that no task changes its space. */
static void step(struct state *state, const evn_problem *p, double mean, int within, int *owner) {
    const int units = p->units;
    if (memcmp(state->given, state->tasks, sizeof *state->given * (size_t)units) != 0)
        for (int u = 0; u < units; u++) state->want[u] = state->tasks[u];
    if (!within) step_of(state, p->tasks, 0, units, mean);
    for (int from = 0, to; within && from < units; from = to) {
        int n = state->tasks[from];
        double sum = state->time[from];
        for (to = from + 1; to < units && p->space[to] == p->space[from]; to++) {
            n += state->tasks[to];
            sum += state->time[to];
        }
        step_of(state, n, from, to, sum / (to - from));
    }
    for (int u = 0, t = 0; u < units; u++)
        for (int i = 0; i < state->given[u]; i++) owner[t++] = u;
}

/* Computes the units' learnt times under `owner`; returns the longest. */
static double look(struct state *state, const evn_problem *p, const int *owner, double *mean) {
    const double *cost = learn_cost(state->learn), *speed = learn_speed(state->learn);
    double total = 0, longest = 0, sum = 0;
    for (int u = 0; u < p->units; u++) state->time[u] = state->tasks[u] = 0;
    for (int t = 0; t < p->tasks; t++) {
        state->time[owner[t]] += cost[t];
        state->tasks[owner[t]]++;
        total += cost[t];
    }
    for (int u = 0; u < p->units; u++) {
        state->time[u] /= speed[u];
        longest = fmax(longest, state->time[u]);
        sum += state->time[u];
        /* a unit without tasks, or whose tasks take no time: the average cost */
        state->cost[u] =
            state->time[u] > 0 ? state->time[u] / state->tasks[u] : total / p->tasks / speed[u];
    }
    *mean = sum / p->units;
    return longest;
}

/* Length of the next step, from the longest unit's present and earlier time. */
static void set_length(struct state *state, double longest) {
    /* factors between 0.5 and 0.7, and 1.3 to 1.4, meet all of the paper's table 1 */
    state->length = longest > state->last_time ? fmax(0.6 * state->length, 1.0 / 64)
                                               : fmin(1.3 * state->length, 1);
    state->last_time = longest;
}

/* Makes all steps of a search at once, from s->owner and by the learnt times, without moving tasks
 * to another space; the best goes to state->best. Returns its longest time. */
static double search_within(evn_schedule *s) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    const size_t bytes = sizeof *s->owner * (size_t)p->tasks;
    double mean;
    begin_search(s);
    memcpy(state->trial, s->owner, bytes);
    for (; state->done < state->iterations && state->done < AT_ONCE; state->done++) {
        const double longest = look(state, p, state->trial, &mean);
        set_length(state, longest);
        if (longest < state->best_time) {
            state->best_time = longest;
            memcpy(state->best, state->trial, bytes);
        }
        if (!(mean > 0)) break;
        step(state, p, mean, 1, state->trial);
    }
    state->keeping = s->settled = 1;
    return state->best_time;
}

/* Writes the shortest of all intervals by the learnt times to `to`; returns the longest time.
 * Without memory, the present ones. */
static double shortest(const evn_schedule *s, int *to) {
    const evn_problem *p = &s->problem;
    struct learn *l = ((struct state *)s->state)->learn;
    if (consecutive_shortest(p->tasks, p->units, learn_cost(l), learn_speed(l), to))
        memcpy(to, s->owner, sizeof *to * (size_t)p->tasks);
    return learn_makespan(l, to);
}

/* Takes the shortest intervals in place of a whole search. */
static double search_at_once(evn_schedule *s) {
    struct state *state = s->state;
    begin_search(s);
    state->keeping = s->settled = 1;
    state->done = state->iterations;
    return state->best_time = shortest(s, state->best);
}

/* Searches at once, and takes the best if it beats `now`, the time of an instance, by enough; if
 * carrying states does not pay, the best without that. */
static void search_again(evn_schedule *s, double now, double could) {
    struct state *state = s->state;
    struct learn *l = state->learn;
    const double even = state->even;
    const double least = search_at_once(s);
    const int within = !learn_carries(l, now, least, s->owner, state->best);
    const double then = within ? search_within(s) : least;
    if (learn_pays(l, now, then, learn_seconds_to_move(l, s->owner, state->best))) {
        learn_moves(l, now, then);
        memcpy(s->owner, state->best, sizeof *s->owner * (size_t)s->problem.tasks);
        s->settled = 0;
    } else {
        learn_stays(l, now, could, fmin(least, then));
    }
    double mean;
    look(state, &s->problem, state->best, &mean);
    state->even = mean > 0 ? fmin(then / mean, s->settled ? even : INFINITY) : 1;
}

/* Gives up the fixed assignment if that pays. `longest`: time of an instance. */
static void keep(evn_schedule *s, double longest, double mean) {
    struct state *state = s->state;
    /* where times repeat only a deterioration counts; else the search may have been misled */
    double could = state->even * mean;
    if (learn_noise(state->learn) > 0) could = fmin(could, learn_even(state->learn));
    s->settled = 1;
    if (learn_ready(state->learn) && learn_asks(state->learn, longest, could))
        search_again(s, longest, could);
}

/* Ends the search with the best assignment seen, unless a unit became slower after that, or steps
 * were left out of the search and the shortest intervals are better. */
static void end_search(evn_schedule *s, double noise) {
    struct state *state = s->state;
    state->keeping = s->settled = 1;
    /* beyond the published steps: times that repeat tell the shortest of all as surely as the best
     * that was seen */
    if (!(noise > 0) && state->done > FIRST &&
        shortest(s, state->trial) < learn_makespan(state->learn, state->best))
        memcpy(state->best, state->trial, sizeof *s->owner * (size_t)s->problem.tasks);
    const double best = learn_makespan(state->learn, state->best),
                 now = learn_makespan(state->learn, s->owner);
    if (best > (1.1 + noise) * state->best_time ||
        !learn_carries(state->learn, now, best, s->owner, state->best))
        state->left_out = 1;
    else if (best < now)
        memcpy(s->owner, state->best, sizeof *s->owner * (size_t)s->problem.tasks);
    if (state->left_out && learn_ready(state->learn))
        search_again(s, learn_makespan(state->learn, s->owner), 0);
}

/* After the first steps: takes the shortest intervals, if they pay. 0: carrying states to them does
 * not pay, so a step is due. */
static int cut(evn_schedule *s, double longest) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    struct learn *l = state->learn;
    if (p->units <= FEW_UNITS && state->done <= FIRST) return 0;
    if (state->done > 1 && !learn_asks(l, longest, learn_even(l))) return 1;
    const double then = shortest(s, state->trial);
    const double price = learn_seconds_to_move(l, s->owner, state->trial);
    if (!learn_carries(l, longest, then, s->owner, state->trial)) return 0;
    if (state->done > 1 ? learn_pays(l, longest, then, price)
                        : learn_pays_certainly(l, longest, then, price)) {
        learn_moves(l, longest, then);
        memcpy(s->owner, state->trial, sizeof *s->owner * (size_t)p->tasks);
    } else {
        learn_stays(l, longest, learn_even(l), then);
    }
    return 1;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    const size_t bytes = sizeof *owner * (size_t)p->tasks;
    if (learn_feed(state->learn, owner, seconds)) return;
    double mean;
    const double longest = look(state, p, owner, &mean);
    if (state->keeping) {
        keep(s, longest, mean);
        return;
    }
    const double noise = learn_noise(state->learn);
    /* so short a step does not lengthen a unit that much: a unit has become slower */
    if (state->length < 0.5 && longest > (1.1 + noise) * state->last_time) begin_search(s);
    if (longest < state->best_time) {
        state->best_time = longest;
        state->even = mean > 0 ? longest / mean : 1;
        memcpy(state->best, owner, bytes);
    }
    if (++state->done >= state->iterations || !(mean > 0)) {
        end_search(s, noise);
        return;
    }
    if (cut(s, longest)) return;
    if (noise > 0 && longest - learn_even(state->learn) <= noise * longest) {
        state->left_out = 1;
        return;
    }
    set_length(state, longest);
    step(state, p, mean, 0, s->owner);
    if (learn_seconds_to_carry(state->learn, owner, s->owner) > 0 &&
        !learn_carries(state->learn, longest, learn_makespan(state->learn, s->owner), owner,
                       s->owner)) {
        state->left_out = 1;
        state->given[0] = -1; /* fractions belong to a step that is not made */
        step(state, p, mean, 1, s->owner);
    }
    if (!(noise > 0) || learn_makespan(state->learn, s->owner) < longest) return;
    memcpy(s->owner, owner, bytes); /* the learnt times promise no gain either */
    state->left_out = 1;
}

/* A search continues; its steps are compared by the final estimates. */
static void weights(evn_schedule *s, const double *before) {
    struct state *state = s->state;
    learn_weights(state->learn, before);
    if (state->keeping)
        keep(s, learn_makespan(state->learn, s->owner), learn_even(state->learn));
    else
        state->left_out = 1;
}

/* Boundaries stay beside the same tasks; then a search at once, on the times learnt. */
static evn_status change(evn_schedule *s, const struct origins *o) {
    const evn_problem *p = &s->problem;
    struct state *was = s->state, *state = make_state(p, was->iterations);
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    const int keeping = was->keeping;
    state->even = was->even;
    state->learn = learn_change(state->learn, p, was->learn, o, s->owner);
    free(was);
    s->state = state;
    policy_consecutive(s->owner, p->tasks, p->units, state->tasks, s->owner);
    begin_search(s);
    if (!learn_instances(state->learn)) return EVN_OK;
    if (o->renumbers && keeping) {
        state->keeping = s->settled = 1;
        return EVN_OK;
    }
    const double now = learn_makespan(state->learn, s->owner), then = search_at_once(s);
    if (learn_pays_certainly(state->learn, now, then,
                             learn_seconds_to_move(state->learn, s->owner, state->best)))
        memcpy(s->owner, state->best, sizeof *s->owner * (size_t)p->tasks);
    double mean;
    const double longest = look(state, p, s->owner, &mean);
    state->even = mean > 0 ? longest / mean : 1;
    if (!keeping) begin_search(s);
    s->settled = 0;
    return EVN_OK;
}

static evn_status import(evn_schedule *s) {
    for (int t = 1; t < s->problem.tasks; t++)
        if (s->owner[t] < s->owner[t - 1])
            return evn_fail(EVN_USAGE,
                            "schedule: interval needs consecutive tasks in the order of the units, "
                            "and the imported assignment is none of that kind");
    /* counts as the best of an earlier search, and as even until it has run */
    struct state *state = s->state;
    begin_search(s);
    state->keeping = s->settled = 1;
    state->even = 1;
    return EVN_OK;
}

static void explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    if (state->keeping && state->done)
        fprintf(out, "keeps the best of %ld iterations: longest unit %.3f %% above the mean\n",
                state->done, 100 * (state->even - 1));
    else if (state->keeping)
        fprintf(out, "keeps what was imported\n");
    else
        fprintf(out, "iteration %ld of %ld; %s\n", state->done, state->iterations,
                isinf(state->best_time) ? "none was measured yet" : "the best will be kept");
}

const struct policy policy_interval = {
    .name = "interval",
    .explanation = "iterations=N: slower units give up consecutive tasks to faster ones; kept at "
                   "its best after N steps",
    .open = open_interval,
    .learn = learn,
    .weights = weights,
    .change = change,
    .import = import,
    .explain = explain,
};
