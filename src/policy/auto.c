/* auto: the default schedule, near the best on quiet, uneven and disturbed machines.
 *
 * An instance can run in three modes, and after each one the measured times tell how long it would
 * have been in each mode:
 *
 * - assigned: as `map`, which starts balanced, learns against noise, moves tasks where that pays,
 *   and moves them back when a unit recovers. The best mode while units keep their speeds.
 * - wary: assigned, with a few tasks taken from units that would be the longest at their slowest
 *   recent speed. The best mode with few tasks and one unit of varying speed; and with a unit so
 *   slow that all finish sooner without it, which `map` still gives a task.
 * - drawn: units draw tasks from a queue, the heaviest first (Graham, "Bounds on Multiprocessing
 *   Timing Anomalies", 1969, section 5), in classes, so that similar tasks keep their order. The
 *   best mode if a unit's speed changes faster than it can be learnt. On a quiet machine it loses a
 *   little in each instance, by the last tasks and by data that change their cores.
 *
 * The loss of the present mode against each other one is summed; when it exceeds half an instance,
 * the other mode is taken, so a wrong choice costs at most a few halves. The first two modes move
 * no state to another space by themselves, and units with memories of their own (`space`), devices
 * or ranks, never draw: a task's data would travel each time.
 *
 * Where units steal tasks within an instance (schedule_steals()), that does at once what the
 * second and third mode would learn: the first mode is kept. */
#include "policy/auto.h"
#include "policy/simulate.h"
#include "policy/map/choice.h"
#include "base/by_value.h"
#include "base/decisions.h"
#include "schedule/policy.h"
#include "schedule/pool.h"
#include "schedule/weigh.h"
#include <evener/status.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH  0.5  /* loss, in instances, at which the mode is changed */
#define MORE    1.5  /* factor on ENOUGH after each change of the mode */
#define CALM    0.98 /* decay of the excess over ENOUGH, an instance */
#define FADES   0.98 /* decay of a loss, an instance */
#define AWRY    1.2  /* ratio of the first instance to its forecast that shows wrong estimates */
#define PRICE   1.02 /* factor for the invisible cost of drawing: data that change their cores */
#define SCATTER 3.0  /* multiple of the units' median difference of speeds that counts as noise */
#define CLASS   0.1  /* weights within this ratio are alike, as a logarithm */

enum {
    PATIENT = 16, /* short instances must lose so many times more to leave `assigned` */
    MEMORY = 32,  /* instances that a mean covers */
    CHUNKS = 64,  /* least number of chunks of a unit, if tasks suffice */
    SAMPLE = 64,  /* most units that are sampled */
    SORTED = 16,  /* instances for which an order of tasks is used */
};

static const char *const ways[WAYS] = {"assigned", "wary", "drawn"};

/* 1 if all units share their memory. */
static int one_space(const evn_problem *p) {
    for (int u = 1; p->space && u < p->units; u++)
        if (p->space[u] != p->space[0]) return 0;
    return 1;
}

static void close_auto(evn_schedule *s) { evn_schedule_close(((struct state *)s->state)->map); }

/* A state with its arrays, and no schedule `map` yet; NULL without memory. */
static struct state *make_state(const evn_problem *p) {
    const size_t n = (size_t)p->tasks, units = (size_t)p->units;
    const size_t head = (sizeof(struct state) + 15) / 16 * 16;
    char *block =
        calloc(1, head + 2 * n * sizeof(int) + units * (4 * sizeof(double) + sizeof(int)));
    if (!block) return NULL;
    struct state *state = (struct state *)block;
    state->enough = ENOUGH;
    state->may_draw = p->units > 1 && one_space(p);
    state->busy = (double *)(block + head);
    state->low = state->busy + units;
    state->bytes = state->low + units;
    state->used = state->bytes + units;
    state->order = (int *)(state->used + units);
    state->wary = state->order + n;
    state->heap = state->wary + n;
    return state;
}

static evn_status open_auto(evn_schedule *s, const evn_spec *spec) {
    evn_status status = policy_no_options(s, spec);
    if (status) return status;
    const evn_problem *p = &s->problem;
    struct state *state = make_state(p);
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    s->state = state;
    if ((status = schedule_open_part(&state->map, &policy_map, s))) return status;
    state->learn = map_learnt(state->map);
    memcpy(s->owner, state->map->owner, (size_t)p->tasks * sizeof *s->owner);
    snprintf(s->text, sizeof s->text, "auto");
    return EVN_OK;
}

/* ---- how long the last instance would have been -------------------------------------------- */

/* Classes of costs up to the largest that a learner has, the first ones of the largest costs. */
enum { HALF = 6908, CLASSES = 2 * HALF };

static int class_of(double cost) { return HALF - 1 - (int)floor(log(fmax(cost, 1e-300)) / CLASS); }

/* Sorts the tasks by descending class of their costs, then by number. */
static void sort(evn_schedule *s) {
    struct state *state = s->state;
    const int lesson = learn_instances(state->learn);
    if (state->sorted && lesson - state->sorted < SORTED) return;
    const double *cost = learn_cost(state->learn);
    const int n = s->problem.tasks;
    int next[CLASSES + 1] = {0}; /* where the next task of a class goes */
    for (int t = 0; t < n; t++) next[class_of(cost[t]) + 1]++;
    for (int c = 0; c < CLASSES; c++) next[c + 1] += next[c];
    for (int t = 0; t < n; t++) state->order[next[class_of(cost[t])]++] = t;
    state->sorted = lesson;
}

/* Speed of a unit in the last instance; if it showed none, the learnt one. */
static double speed_of(const struct state *state, int unit) {
    const double seen = learn_seen(state->learn)[unit];
    return seen > 0 ? seen : learn_speed(state->learn)[unit];
}

static void take(void *arg, int t, int unit) {
    struct state *state = arg;
    state->busy[unit] +=
        state->seconds[t] * (speed_of(state, state->owner[t]) / speed_of(state, unit));
}

static double most(const double *x, int n) {
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, x[i]);
    return max;
}

static double if_owned(const evn_schedule *s, const int *owner) {
    struct state *state = s->state;
    memset(state->busy, 0, (size_t)s->problem.units * sizeof *state->busy);
    for (int t = 0; t < s->problem.tasks; t++) take(state, t, owner[t]);
    return most(state->busy, s->problem.units);
}

/* Time of an assignment by learnt costs, without disturbances of single tasks: a spike does not
 * tell which unit should have had the task. */
static double if_calm(const evn_schedule *s, const int *owner) {
    struct state *state = s->state;
    const double *cost = learn_cost(state->learn);
    memset(state->busy, 0, (size_t)s->problem.units * sizeof *state->busy);
    for (int t = 0; t < s->problem.tasks; t++) state->busy[owner[t]] += cost[t];
    for (int u = 0; u < s->problem.units; u++) state->busy[u] /= speed_of(state, u);
    return most(state->busy, s->problem.units);
}

static int chunk_of(const evn_problem *p) {
    const int chunk = p->tasks / p->units / CHUNKS;
    return chunk ? chunk : 1;
}

static double if_drawn(evn_schedule *s) {
    struct state *state = s->state;
    if (s->chunk) return PRICE * if_owned(s, state->owner);
    sort(s);
    evn_schedule drawn = *s;
    drawn.chunk = chunk_of(&s->problem);
    drawn.order = state->order;
    memset(state->busy, 0, (size_t)s->problem.units * sizeof *state->busy);
    schedule_draw(&drawn, state->busy, state->heap, take, state);
    return PRICE * most(state->busy, s->problem.units);
}

/* Time of the instance if all units had finished at once. */
static double if_even(const struct state *state, const evn_problem *p) {
    double work = 0, speed = 0;
    for (int t = 0; t < p->tasks; t++) work += state->seconds[t] * speed_of(state, state->owner[t]);
    for (int u = 0; u < p->units; u++) speed += speed_of(state, u);
    return work / speed;
}

/* Scatter of the units' speeds, by the lower middle of some of them, so that units of varying speed
 * do not count while they are the minority. */
static void learn_noise_of_units(struct state *state, const evn_problem *p) {
    double off[SAMPLE];
    int n = 0;
    const int stride = (p->units + SAMPLE - 1) / SAMPLE;
    for (int u = 0; u < p->units; u += stride)
        if (learn_seen(state->learn)[u] > 0)
            off[n++] = fabs(log(learn_seen(state->learn)[u] / learn_speed(state->learn)[u]));
    if (!n) return;
    qsort(off, (size_t)n, sizeof *off, by_value);
    state->noise += (fmin(SCATTER * off[(n - 1) / 2], 1) - state->noise) / SORTED;
}

/* Seconds that the present mode has lost against mode w. `wary` needs a gain beyond noise, and is
 * left without one. */
static double lost_to(const struct state *state, const double *took, const double *calm, int w) {
    if (w == DRAWN || state->way == DRAWN) return took[state->way] - took[w];
    if (state->way == WARY) return PRICE * calm[WARY] - calm[w];
    return calm[ASSIGNED] * (1 - state->noise) - calm[w];
}

/* Adds up the present mode's losses against the others, in instances. Returns 1 if the last
 * instance was uneven. */
static int add_losses(evn_schedule *s) {
    struct state *state = s->state;
    double took[WAYS], calm[WAYS] = {0};
    const double even = if_even(state, &s->problem);
    took[ASSIGNED] = if_owned(s, state->assigned);
    took[WARY] = state->made ? if_owned(s, state->wary) : took[ASSIGNED];
    if (state->made) calm[ASSIGNED] = if_calm(s, state->assigned);
    if (state->made) calm[WARY] = if_calm(s, state->wary);
    /* where drawing cannot be better, its loss is not computed */
    const int tried = state->may_draw && (s->chunk || took[state->way] > PRICE * even);
    took[DRAWN] = tried ? if_drawn(s) : PRICE * even;
    if (!(even > 0)) return 0;
    const int lessons = learn_instances(state->learn);
    const int behind = lessons < MEMORY ? lessons : MEMORY;
    for (int w = 0; w < WAYS; w++)
        state->mean[w] += ((w == WARY ? PRICE : 1) * took[w] - state->mean[w]) / behind;
    for (int w = 0; w < WAYS; w++) {
        if (w == (int)state->way) continue;
        double more = lost_to(state, took, calm, w) / even;
        if (w != ASSIGNED && even < POOL_LONG) more /= PATIENT;
        if (more > -1e300 && more < 1e300) state->lost[w] = fmax(FADES * state->lost[w] + more, 0);
    }
    if (!state->may_draw) state->lost[DRAWN] = 0;
    return took[state->way] > PRICE * even;
}

/* ---- the policy ---------------------------------------------------------------------------- */

/* Changes to the mode with the best recent times, of those against which the present one has lost
 * enough. */
static void choose(struct state *state) {
    enum way best = state->way;
    state->enough = ENOUGH + CALM * (state->enough - ENOUGH);
    for (int w = 0; w < WAYS; w++)
        if (state->lost[w] >= state->enough && state->mean[w] < state->mean[best])
            best = (enum way)w;
    if (best == state->way) return;
    state->way = best;
    state->enough *= MORE;
    memset(state->lost, 0, sizeof state->lost);
}

/* Corrects the first assignment where units cannot draw: the first instance may show that speeds or
 * weights were wrong, before `map` believes it; map's assignment is taken when it is as good. */
static void correct(evn_schedule *s, int uneven) {
    struct state *state = s->state;
    if (state->may_draw) return;
    const int *owner = state->map->owner;
    const size_t bytes = (size_t)s->problem.tasks * sizeof *owner;
    if (uneven && learn_instances(state->learn) == 1 &&
        state->mean[ASSIGNED] > AWRY * if_owned(s, state->wary))
        state->way = WARY;
    else if (state->way == WARY && memcmp(owner, state->assigned, bytes) != 0 &&
             if_calm(s, owner) <= PRICE * if_calm(s, state->wary))
        state->way = ASSIGNED;
}

static void look_at_ways(evn_schedule *s) {
    struct state *state = s->state;
    if (s->stealing) {
        state->way = ASSIGNED;
        memset(state->lost, 0, sizeof state->lost);
        return;
    }
    auto_lows(state, &s->problem);
    learn_noise_of_units(state, &s->problem);
    const int uneven = add_losses(s);
    choose(state);
    /* a unit without tasks makes nothing uneven: it gets some again from time to time */
    if (uneven || (state->way == WARY && learn_instances(state->learn) % SORTED == 0))
        auto_wary(state, &s->problem, state->way == WARY ? state->wary : state->map->owner);
    correct(s, uneven);
}

/* map's owners before a lesson: the schedule's own, unless it is wary. NULL: not enough memory. */
static const int *owners_before(const evn_schedule *s) {
    const struct state *state = s->state;
    const size_t bytes = (size_t)s->problem.tasks * sizeof *s->owner;
    if (state->way != WARY) return s->owner;
    int *copy = malloc(bytes);
    return copy ? memcpy(copy, state->map->owner, bytes) : NULL;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    evn_schedule *map = state->map;
    const size_t bytes = (size_t)p->tasks * sizeof *owner;
    const enum way before = state->way;
    state->owner = owner;
    state->seconds = seconds;
    state->assigned = owners_before(s);
    map->problem.carry = p->carry;
    map->instance += s->passed;
    map->passed = s->passed;
    map->policy->learn(map, owner, seconds);
    if (p->units > 1 && state->assigned && learn_instances(state->learn)) look_at_ways(s);
    if (state->assigned != s->owner) free((void *)state->assigned);
    s->chunk = state->way == DRAWN ? chunk_of(p) : 0;
    if (s->chunk) sort(s);
    s->order = state->order;
    memcpy(s->owner, state->way == WARY ? state->wary : map->owner, bytes);
    s->settled = map->settled && state->way != DRAWN;
    if (state->way != before && decisions_wanted(OF_SCHEDULES))
        decisions.schedule(s, "another way");
}

/* `map` follows the weights; an order of many tasks stays good enough for some changes. */
static void weights(evn_schedule *s, const double *before) {
    struct state *state = s->state;
    evn_schedule *map = state->map;
    schedule_weigh(map, s->problem.weight, before);
    if (state->way == WARY) auto_wary(state, &s->problem, state->wary);
    if (s->chunk && state->weights++ % SORTED == 0) {
        state->sorted = 0;
        sort(s);
    }
    memcpy(s->owner, state->way == WARY ? state->wary : map->owner,
           (size_t)s->problem.tasks * sizeof *s->owner);
}

/* `map` goes on from its own owners. The mode stays, but a conservative assignment is made anew
 * when it is needed. */
static evn_status change(evn_schedule *s, const struct origins *o) {
    struct state *was = s->state, *state = make_state(&s->problem);
    if (!state)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", s->problem.tasks);
    const double even = learn_even(was->learn);
    evn_status status = schedule_change_part(was->map, s, o);
    if (status) {
        free(state);
        return status;
    }
    state->map = was->map;
    state->learn = map_learnt(state->map);
    state->way = was->way == WARY ? ASSIGNED : was->way;
    state->enough = was->enough;
    state->noise = was->noise;
    for (int w = 0; w < WAYS; w++)
        state->mean[w] = was->mean[w] * (learn_even(state->learn) / even);
    memcpy(state->low, was->low, (size_t)s->problem.units * sizeof *state->low);
    free(was);
    s->state = state;
    memcpy(s->owner, state->map->owner, (size_t)s->problem.tasks * sizeof *s->owner);
    s->settled = 0;
    s->chunk = state->way == DRAWN ? chunk_of(&s->problem) : 0;
    s->order = state->order;
    if (s->chunk) sort(s);
    return EVN_OK;
}

static evn_status import(evn_schedule *s) {
    struct state *state = s->state;
    memcpy(state->map->owner, s->owner, (size_t)s->problem.tasks * sizeof *s->owner);
    s->chunk = 0;
    state->way = ASSIGNED;
    state->made = 0;
    memset(state->lost, 0, sizeof state->lost);
    return state->map->policy->import(state->map);
}

static void explain(const evn_schedule *s, FILE *out) {
    const struct state *state = s->state;
    state->map->policy->explain(state->map, out);
    fprintf(out, "tasks are %s", ways[state->way]);
    for (int w = 0, after = 0; w < WAYS; w++) {
        if (w == (int)state->way || (w == DRAWN && !state->may_draw)) continue;
        fprintf(out, "%s%s %.2f", after++ ? ", " : "; lost against ", ways[w], state->lost[w]);
    }
    fprintf(out, " instances; from %.2f on the way is changed\n", ENOUGH);
}

const struct policy policy_auto = {
    .name = "auto",
    .steals = 1,
    .pools = 1,
    .explanation = "the default: as map; where a unit comes and goes, fewer tasks for it, or "
                   "units draw",
    .open = open_auto,
    .learn = learn,
    .weights = weights,
    .change = change,
    .import = import,
    .close = close_auto,
    .explain = explain,
};
