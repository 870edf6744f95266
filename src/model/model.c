/* The model: seconds of a step from seconds of tasks and routes of bytes.
 *
 * Messages occupy the ports of units in rounds: in round r unit u sends to unit u + r, so that no
 * two senders want the same receiver while all have messages for all, as in well-ordered exchanges.
 */
#include <evener/model.h>
#include "policy/simulate.h"
#include "schedule/version.h"
#include "base/argument.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Faces from one unit to another; first one a face, then one a pair. */
struct message {
    int from, to;
    double bytes;
};

struct evn_simulation {
    evn_model model;
    int steps;
    int loops;                         /* of a step */
    double since;                      /* begin of the current loop in the step */
    double woken;                      /* s of the step in which units are woken */
    double *rest;                      /* s that each unit has had nothing to do */
    double *sum_compute, *sum_seconds; /* of the loops of a step, `migrate` with `compute` */
    unsigned long long seed;           /* seed of the noise */
    evn_step last; /* last step, whose exchange holds as long as no task has moved */
    int *owner, *before;
    double *seconds;                      /* seconds of each task */
    double *compute, *migrate, *exchange; /* seconds of each unit */
    double *out, *in;                     /* when each unit's ports are free */
    int ranks, *first;                    /* first unit of each rank */
    double *port;                         /* when each rank's messages are there */
    double *early; /* seconds of each unit with tasks that need nothing from other ranks */
    int *members;  /* number of units of each kind */
    char *needs;   /* by task, 1: it needs something from another rank */
    int *heap;     /* units while they draw, then units by their work */
    void (*watch)(void *arg, const evn_model_burst *burst);
    void *arg;
    struct message *message; /* room for two of each link */
};

static evn_status wrong(const char *what, int i, double is, const char *right) {
    return evn_fail(EVN_USAGE, "model: %s %d is %g, expected %s", what, i, is, right);
}

static int is_time(double x) { return x >= 0 && isfinite(x); }

static evn_status check_route(const evn_route *route, const char *what, int i) {
    for (int h = 0; h < 2; h++)
        if (!is_time(route->latency[h]) || !is_time(route->per_byte[h]))
            return wrong(what, i,
                         is_time(route->latency[h]) ? route->per_byte[h] : route->latency[h],
                         "times from 0");
    return EVN_OK;
}

static evn_status check(const evn_model *m) {
    if (m->tasks < 1 || m->units < 1 || m->kinds < 1)
        return evn_fail(EVN_USAGE,
                        "model: %d tasks on %d units of %d kinds, expected at least one of each",
                        m->tasks, m->units, m->kinds);
    if (m->kinds > 32767)
        return evn_fail(EVN_USAGE, "model: %d kinds of units, expected up to 32767", m->kinds);
    if (!m->seconds)
        return evn_fail(EVN_USAGE, "model: the tasks' seconds are NULL, expected kinds x tasks");
    if (m->pieces < 0 || m->loops < 0)
        return wrong(m->loops < 0 ? "loops: number" : "pieces: number", 0,
                     m->loops < 0 ? m->loops : m->pieces, "0 or more");
    if (m->links < 0 || (m->links && !m->link))
        return evn_fail(EVN_USAGE, "model: %d links%s, expected 0 or more and an array of them",
                        m->links, m->link ? "" : " and no array of them");
    const size_t n = (size_t)m->tasks;
    if (!(m->noise >= 0 && m->noise < 1))
        return evn_fail(EVN_USAGE, "model: a noise of %g, expected 0 to below 1", m->noise);
    for (int u = 0; u < m->units; u++) {
        if (m->kind && (m->kind[u] < 0 || m->kind[u] >= m->kinds))
            return wrong("the kind of unit", u, m->kind[u], "a number of a kind");
        if (m->slow && !(m->slow[u] > 0 && isfinite(m->slow[u])))
            return wrong("the factor of unit", u, m->slow[u], "a number above 0");
    }
    for (size_t i = 0; i < n * (size_t)m->kinds; i++)
        if (!is_time(m->seconds[i]))
            return wrong("the time of task", (int)(i % n), m->seconds[i], "seconds from 0");
    for (int t = 0; m->state && t < m->tasks; t++)
        if (!is_time(m->state[t])) return wrong("the data of task", t, m->state[t], "bytes from 0");
    for (int l = 0; l < m->links; l++) {
        for (int e = 0; e < 2; e++)
            if (m->link[l].task[e] < 0 || m->link[l].task[e] >= m->tasks)
                return wrong("an end of link", l, m->link[l].task[e], "a number of a task");
        if (!is_time(m->link[l].bytes))
            return wrong("the size of link", l, m->link[l].bytes, "bytes from 0");
    }
    for (int u = 0; m->rank && u < m->units; u++)
        if (m->rank[u] < 0 || m->rank[u] >= m->units)
            return wrong("the rank of unit", u, m->rank[u], "0 to below the number of units");
    if (m->sequential < EVN_EXCHANGE_PARALLEL || m->sequential > EVN_EXCHANGE_TASKS)
        return wrong("the order of exchange: number", 0, m->sequential, "an evn_exchange_order");
    for (int t = 0; m->copied && t < m->tasks; t++)
        if (!is_time(m->copied[t]))
            return wrong("the copy of task", t, m->copied[t], "bytes from 0");
    for (int i = 0; m->crowd && i < m->kinds * m->units; i++)
        if (!(m->crowd[i] > 0 && isfinite(m->crowd[i])))
            return wrong("the factor of a crowd, number", i, m->crowd[i], "a number above 0");
    for (int k = 0; m->beside && k < m->kinds; k++)
        if (!(m->beside[k] > 0 && isfinite(m->beside[k])))
            return wrong("the factor beside others of kind", k, m->beside[k], "a number above 0");
    if (!is_time(m->tree)) return wrong("the tree: hop", 0, m->tree, "seconds from 0");
    const double beside[] = {m->beside_s, m->idle_s, m->spin_s, m->wake_s, m->wake_call_s};
    for (int i = 0; i < 5; i++)
        if (!is_time(beside[i])) return wrong("beside tasks: time", i, beside[i], "seconds from 0");
    evn_status status = EVN_OK;
    for (int i = 0; !status && m->far && i < m->kinds * m->kinds; i++)
        status = check_route(&m->far[i], "far route", i);
    for (int i = 0; !status && m->route && i < m->kinds * m->kinds; i++)
        status = check_route(&m->route[i], "route", i);
    for (int i = 0; !status && m->copy && i < m->kinds * m->kinds; i++)
        status = check_route(&m->copy[i], "route of copies", i);
    for (int i = 0; !status && m->within && i < m->kinds; i++)
        status = check_route(&m->within[i], "the route within kind", i);
    return status;
}

static int rank_of(const evn_model *m, int unit) { return m->rank ? m->rank[unit] : 0; }

/* Number of ranks, and each one's first unit; -1: it has none, and sends nothing. */
static void find_ranks(evn_simulation *s) {
    for (int u = 0; u < s->model.units; u++) s->first[u] = -1;
    for (int u = s->model.units - 1; u >= 0; u--) {
        const int r = rank_of(&s->model, u);
        s->first[r] = u;
        if (r >= s->ranks) s->ranks = r + 1;
    }
}

evn_status evn_simulation_open(evn_simulation **out, const evn_model *model) {
    NEED_OUT(out);
    NEED(model, "a model");
    evn_status status = check(model);
    if (status) return status;
    const size_t n = (size_t)model->tasks, units = (size_t)model->units;
    evn_simulation *s = calloc(1, sizeof *s);
    if (s) {
        s->model = *model;
        s->seed = 1;
        s->owner = malloc(2 * n * sizeof *s->owner);
        s->loops = model->loops > 1 ? model->loops : 1;
        s->seconds = malloc(2 * n * sizeof *s->seconds);
        s->compute = calloc(10 * units, sizeof *s->compute);
        s->heap = malloc(2 * units * sizeof *s->heap);
        s->needs = calloc(n, 1);
        s->members = calloc((size_t)model->kinds, sizeof *s->members);
        s->message = malloc((2 * (size_t)model->links + 1) * sizeof *s->message);
    }
    if (!s || !s->owner || !s->seconds || !s->compute || !s->heap || !s->needs || !s->members ||
        !s->message) {
        evn_simulation_close(s);
        return evn_fail(EVN_MEMORY, "model: not enough memory for %zu tasks on %zu units", n,
                        units);
    }
    s->before = s->owner + n;
    s->migrate = s->compute + units;
    s->exchange = s->migrate + units;
    s->out = s->exchange + units;
    s->in = s->out + units;
    s->port = s->in + units;
    s->early = s->port + units;
    s->rest = s->early + units;
    s->sum_compute = s->rest + units;
    s->sum_seconds = s->seconds + n;
    s->first = s->heap + units;
    find_ranks(s);
    for (int u = 0; u < model->units; u++) s->members[model->kind ? model->kind[u] : 0]++;
    *out = s;
    return EVN_OK;
}

void evn_simulation_close(evn_simulation *s) {
    if (!s) return;
    free(s->owner);
    free(s->seconds);
    free(s->compute);
    free(s->heap);
    free(s->needs);
    free(s->members);
    free(s->message);
    free(s);
}

static int kind_of(const evn_model *m, int unit) { return m->kind ? m->kind[unit] : 0; }

static const evn_route *route(const evn_model *m, int from, int to) {
    static const evn_route free_of_charge = {.hops = 1};
    const int a = kind_of(m, from), b = kind_of(m, to);
    if (from == to) return m->within ? &m->within[a] : &free_of_charge;
    if (m->far && rank_of(m, from) != rank_of(m, to)) return &m->far[a * m->kinds + b];
    return m->route ? &m->route[a * m->kinds + b] : &free_of_charge;
}

/* Time of one message on an idle route. */
static double whole_way(const evn_route *r, double bytes) {
    double time = r->latency[0] + bytes * r->per_byte[0];
    if (r->hops == 2) time += r->latency[1] + bytes * r->per_byte[1];
    return time;
}

static void watch(const evn_simulation *s, evn_model_burst_kind kind, int unit, int task,
                  double begin, double end) {
    const evn_model_burst burst = {kind, unit, task, s->since + begin, s->since + end};
    if (s->watch && end > begin) s->watch(s->arg, &burst);
}

void evn_simulation_watch(evn_simulation *s, void (*to)(void *arg, const evn_model_burst *burst),
                          void *arg) {
    NEED_OR(, s, "a simulation");
    s->watch = to;
    s->arg = arg;
}

/* --- sleepers ------------------------------------------------------------------------------ */

/* When the units of a rank have done their seconds in `busy`. `shares`: those that are awake do
 * what one that sleeps would do, until it comes. */
static double meet_rank(evn_simulation *s, int rank, const double *busy, int shares) {
    const evn_model *m = &s->model;
    const int caller = s->first[rank];
    double end = 0, longest = 0, work = 0, early = 0, late = 0, *begin = s->rest;
    int units = 0, asleep = 0, last = caller;
    for (int u = caller; u < m->units; u++) {
        if (rank_of(m, u) != rank) continue;
        const int sleeps = u != caller && s->rest[u] > m->spin_s;
        begin[u] = sleeps ? m->wake_s : 0;
        asleep += sleeps;
        units++;
    }
    begin[caller] = asleep ? m->wake_call_s : 0;
    for (int u = caller; u < m->units; u++) {
        if (rank_of(m, u) != rank) continue;
        const int sleeps = u != caller && begin[u] > 0;
        if (begin[u] + busy[u] > begin[last] + busy[last]) last = u;
        if (!sleeps) longest = fmax(longest, begin[u] + busy[u]);
        *(sleeps ? &late : &early) += begin[u];
        work += busy[u];
    }
    end = begin[last] + busy[last];
    if (shares && asleep) {
        double shared = (work + early) / (units - asleep);
        if (shared > m->wake_s) shared = (work + early + late) / units;
        end = fmin(end, fmax(longest, shared));
        for (int u = caller; u < m->units; u++)
            if (rank_of(m, u) == rank)
                s->rest[u] = u != caller && begin[u] > 0 ? end - begin[u] : 0;
        return end;
    }
    const int joins = !shares && end - begin[caller] - busy[caller] > m->spin_s;
    for (int u = caller; u < m->units; u++)
        if (rank_of(m, u) == rank) s->rest[u] = end - begin[u] - busy[u] + joins * m->wake_s;
    s->rest[last] -= joins * m->wake_call_s;
    return end + joins * m->wake_s;
}

/* All units do their seconds in `busy`: adds what it takes longer than the longest of them. */
static void meet(evn_simulation *s, const double *busy, int shares) {
    const evn_model *m = &s->model;
    double end = 0, longest = 0;
    for (int u = 0; u < m->units; u++) longest = fmax(longest, busy[u]);
    if (!(m->wake_s > 0 && longest > 0)) return;
    for (int r = 0; r < s->ranks; r++)
        if (s->first[r] >= 0) end = fmax(end, meet_rank(s, r, busy, shares));
    s->woken += fmax(0, end - longest);
}

/* --- tasks --------------------------------------------------------------------------------- */

/* Factor on the seconds of a kind while n of its units compute. */
static double crowd(const evn_model *m, int kind, int n) {
    return m->crowd && n > 0 ? m->crowd[(size_t)kind * (size_t)m->units + (size_t)n - 1] : 1;
}

/* Factor on the seconds of a kind while all units compute, `members` of them of this kind. */
static double crowd_of_all(const evn_model *m, int kind, int members) {
    return crowd(m, kind, members) * (m->beside && members < m->units ? m->beside[kind] : 1);
}

static double migration(const evn_model *m, int t, int from, int to) {
    const int pieces = m->pieces > 1 ? m->pieces : 1;
    return pieces * whole_way(route(m, from, to), m->state[t] / pieces);
}

static void take(void *arg, int t, int unit) {
    evn_simulation *s = arg;
    const evn_model *m = &s->model;
    const size_t at = (size_t)kind_of(m, unit) * (size_t)m->tasks + (size_t)t;
    s->owner[t] = unit;
    s->seconds[t] = m->seconds[at] / s->loops * (m->slow ? m->slow[unit] : 1) *
                    crowd_of_all(m, kind_of(m, unit), s->members[kind_of(m, unit)]);
    if (m->noise > 0) {
        s->seed = s->seed * 6364136223846793005ULL + 1442695040888963407ULL;
        s->seconds[t] *= 1 + m->noise * ((double)(s->seed >> 33) / (1 << 30) - 1);
    }
    s->compute[unit] += s->seconds[t];
    if (s->steps == 1) s->before[t] = unit; /* laid where the first step wants it */
    if (s->before[t] == unit || !m->state) return;
    const double time = migration(m, t, s->before[t], unit);
    s->migrate[unit] += time;
    s->compute[unit] += time;
}

/* Tasks are drawn as if all units of a kind computed. Units that end leave the others faster: of
 * the work between two ends, the factor is that of the units still at it. */
static void thin_out(evn_simulation *s, int kind) {
    const evn_model *m = &s->model;
    int n = 0;
    for (int u = 0; u < m->units; u++)
        if (kind_of(m, u) == kind) s->heap[n++] = u;
    for (int i = 1; i < n; i++) /* by their work; mostly sorted or short */
        for (int k = i; k && s->compute[s->heap[k - 1]] > s->compute[s->heap[k]]; k--) {
            const int u = s->heap[k];
            s->heap[k] = s->heap[k - 1];
            s->heap[k - 1] = u;
        }
    const double all = crowd(m, kind, s->members[kind]);
    double work = 0, time = 0;
    for (int i = 0; i < n; i++) {
        const int u = s->heap[i];
        time += (s->compute[u] - work) * crowd(m, kind, n - i) / all;
        work = s->compute[u];
        s->out[u] = work > 0 ? time / work : 1;
        s->compute[u] = time;
    }
}

/* The kind that ends last has the time after all others without them. */
static void leave_alone(evn_simulation *s) {
    const evn_model *m = &s->model;
    int longest = 0;
    double others = 0; /* end of all other kinds */
    for (int u = 1; u < m->units; u++)
        if (s->compute[u] > s->compute[longest]) longest = u;
    const int last = kind_of(m, longest);
    for (int u = 0; u < m->units; u++)
        if (kind_of(m, u) != last) others = fmax(others, s->compute[u]);
    for (int u = 0; s->members[last] < m->units && u < m->units; u++) {
        const double time = s->compute[u];
        if (kind_of(m, u) != last || time <= others) continue;
        s->compute[u] = others + (time - others) / m->beside[last];
        s->out[u] *= s->compute[u] / time;
    }
}

static void show_tasks(const evn_simulation *s) {
    const evn_model *m = &s->model;
    double *end = s->in;
    memset(end, 0, (size_t)m->units * sizeof *end);
    for (int t = 0; t < m->tasks; t++) {
        const int u = s->owner[t];
        const double begin = end[u];
        if (s->before[t] != u && m->state) end[u] += migration(m, t, s->before[t], u);
        watch(s, EVN_MODEL_MIGRATION, u, t, begin, end[u]);
        watch(s, EVN_MODEL_COMPUTE, u, t, end[u], end[u] + s->seconds[t]);
        end[u] += s->seconds[t];
    }
}

static void run_tasks(evn_simulation *s, const evn_schedule *schedule) {
    const evn_model *m = &s->model;
    memset(s->compute, 0, 2 * (size_t)m->units * sizeof *s->compute);
    schedule_draw(schedule, s->compute, s->heap, take, s);
    const int slowed = m->crowd || m->beside;
    for (int k = 0; slowed && k < m->kinds; k++) thin_out(s, k);
    if (m->beside) leave_alone(s);
    for (int t = 0; slowed && t < m->tasks; t++) s->seconds[t] *= s->out[s->owner[t]];
    if (s->watch) show_tasks(s);
}

/* --- exchange ------------------------------------------------------------------------------ */

/* By the unit that sends, then by the one that receives. */
static int by_pair(const void *a, const void *b) {
    const struct message *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* `to` says the round here, see below. */
static int by_round(const void *a, const void *b) {
    const struct message *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

/* One message a pair of `ends`, units or ranks, in rounds. Returns their number. */
static int gather(struct message *message, int faces, int ends) {
    qsort(message, (size_t)faces, sizeof *message, by_pair);
    int pairs = 0;
    for (int i = 0; i < faces; i++) {
        struct message *last = &message[pairs - 1];
        if (pairs && last->from == message[i].from && last->to == message[i].to)
            last->bytes += message[i].bytes;
        else
            message[pairs++] = message[i];
    }
    for (int i = 0; i < pairs; i++) message[i].to = (message[i].to - message[i].from + ends) % ends;
    qsort(message, (size_t)pairs, sizeof *message, by_round);
    for (int i = 0; i < pairs; i++) message[i].to = (message[i].to + message[i].from) % ends;
    return pairs;
}

static void send(evn_simulation *s, const struct message *m, const evn_route *r) {
    double *out = &s->out[m->from], *in = &s->in[m->to];
    const double first = r->latency[0] + m->bytes * r->per_byte[0];
    if (r->hops == 2) {
        *out += first;
        *in = fmax(*in, *out) + r->latency[1] + m->bytes * r->per_byte[1];
    } else {
        *out = *in = fmax(*out, *in) + first;
    }
}

/* Faces between units of two ranks (`far`), or between two units of a rank. Within one unit they
 * only count, bytes first. Returns how many there are; each goes both ways. */
static int collect(evn_simulation *s, int far, evn_step *step) {
    const evn_model *m = &s->model;
    int faces = 0;
    for (int l = 0; l < m->links; l++) {
        const int *task = m->link[l].task;
        int a = s->owner[task[0]], b = s->owner[task[1]];
        const double bytes = m->link[l].bytes;
        const int apart = rank_of(m, a) != rank_of(m, b);
        if (a == b && !far) s->exchange[a] += 2 * bytes;
        if (a == b || apart != far) continue;
        if (far) {
            s->needs[task[0]] = s->needs[task[1]] = 1;
            a = rank_of(m, a);
            b = rank_of(m, b);
        }
        s->message[faces++] = (struct message){a, b, bytes};
        s->message[faces++] = (struct message){b, a, bytes};
        step->bytes += 2 * bytes;
    }
    return faces;
}

/* Messages of all ranks, then, side by side with them, those of all units. */
static void in_parallel(evn_simulation *s, evn_step *step) {
    const evn_model *m = &s->model;
    const size_t units = (size_t)m->units;
    memset(s->needs, 0, (size_t)m->tasks);
    memset(s->exchange, 0, 4 * units * sizeof *s->exchange); /* out, in and port follow it */
    const int far = s->ranks > 1 ? gather(s->message, collect(s, 1, step), s->ranks) : 0;
    for (int i = 0; i < far; i++) {
        const struct message *g = &s->message[i];
        send(s, g, route(m, s->first[g->from], s->first[g->to]));
    }
    for (int r = 0; r < s->ranks; r++) s->port[r] = fmax(s->out[r], s->in[r]);
    memset(s->out, 0, 2 * units * sizeof *s->out);
    const int near = gather(s->message, collect(s, 0, step), m->units);
    for (int i = 0; i < near; i++)
        send(s, &s->message[i], route(m, s->message[i].from, s->message[i].to));
    step->messages = far + near;
    for (int u = 0; u < m->units; u++) {
        if (s->exchange[u] > 0) s->exchange[u] = whole_way(route(m, u, u), s->exchange[u]);
        s->exchange[u] += fmax(s->out[u], s->in[u]) + s->port[rank_of(m, u)];
        watch(s, EVN_MODEL_FACES, u, -1, step->compute_s, step->compute_s + s->exchange[u]);
        step->exchange_s = fmax(step->exchange_s, s->exchange[u]);
    }
}

/* Time of the step from its tasks and its exchange. */
static void add_up(evn_simulation *s, evn_step *step) {
    const evn_model *m = &s->model;
    int hops = 0;
    while ((1LL << hops) < s->ranks) hops++;
    step->tree_s = 2 * hops * m->tree;
    step->step_s = step->compute_s + step->exchange_s;
    if (m->overlap && !m->sequential) {
        memset(s->early, 0, (size_t)m->units * sizeof *s->early);
        for (int t = 0; t < m->tasks; t++)
            if (!s->needs[t]) s->early[s->owner[t]] += s->seconds[t];
        step->step_s = 0;
        for (int u = 0; u < m->units; u++) {
            const double hidden = fmin(s->early[u], s->port[rank_of(m, u)]);
            step->step_s = fmax(step->step_s, s->compute[u] + s->exchange[u] - hidden);
        }
    }
    step->beside_s = s->loops * m->beside_s + s->woken;
    step->step_s += step->tree_s + step->beside_s;
}

/* Bytes of a whole copy of a task. */
static double copied(const evn_model *m, int task) {
    return m->copied ? m->copied[task] : m->state ? m->state[task] : 0;
}

static const evn_route *copy_route(const evn_model *m, int from, int to) {
    return m->copy ? &m->copy[kind_of(m, from) * m->kinds + kind_of(m, to)] : route(m, from, to);
}

/* One interval of the exchange in sequence, of a unit, behind all before it. */
static void in_turn(const evn_simulation *s, evn_step *step, evn_model_burst_kind kind, int unit,
                    int task, double seconds) {
    const double begin = step->compute_s + step->exchange_s;
    watch(s, kind, unit, task, begin, begin + seconds);
    step->exchange_s += seconds;
}

static void in_sequence(evn_simulation *s, evn_step *step) {
    const evn_model *m = &s->model;
    const int whole = m->sequential == EVN_EXCHANGE_TASKS;
    for (int l = 0; l < m->links; l++) {
        const int *task = m->link[l].task, a = s->owner[task[0]], b = s->owner[task[1]];
        const double bytes = m->link[l].bytes, copy = copied(m, task[1]);
        if (whole) {
            if (a != b)
                in_turn(s, step, EVN_MODEL_COPY, a, task[1], whole_way(copy_route(m, b, a), copy));
            in_turn(s, step, EVN_MODEL_FACES, a, task[0], 2 * whole_way(route(m, a, a), bytes));
            if (a != b)
                in_turn(s, step, EVN_MODEL_COPY, a, task[1], whole_way(copy_route(m, a, b), copy));
        } else {
            in_turn(s, step, EVN_MODEL_FACES, a, task[0],
                    whole_way(route(m, a, b), bytes) + whole_way(route(m, b, a), bytes));
        }
        if (a == b) continue;
        step->bytes += 2 * (whole ? copy : bytes);
        step->messages += 2;
    }
    for (int u = 0; u < m->units; u++) s->exchange[u] = step->exchange_s;
}

/* --- a step -------------------------------------------------------------------------------- */

/* One loop, behind those before it. */
static void run_loop(evn_simulation *s, const evn_schedule *schedule, evn_step *step) {
    const evn_model *m = &s->model;
    double compute = 0, migrate = 0;
    run_tasks(s, schedule);
    for (int u = 0; u < m->units; u++) {
        compute = fmax(compute, s->compute[u]);
        migrate = fmax(migrate, s->migrate[u]);
    }
    meet(s, s->compute, evn_schedule_about(schedule).chunk || schedule_steals(schedule));
    step->compute_s = s->since += compute;
    step->migration_s += migrate;
    for (int t = 0; t < m->tasks; t++) {
        s->sum_seconds[t] += s->seconds[t];
        if (s->owner[t] == s->before[t]) continue;
        step->migrations++;
        step->migrated_bytes += m->state ? m->state[t] : 0;
    }
    for (int u = 0; u < 2 * m->units; u++) s->sum_compute[u] += s->compute[u];
}

/* All loops of a step; units and tasks have their sums then. */
static void run_loops(evn_simulation *s, const evn_schedule *schedule, evn_step *step) {
    const evn_model *m = &s->model;
    const size_t tasks = (size_t)m->tasks, units = (size_t)m->units;
    memset(s->sum_compute, 0, 2 * units * sizeof *s->sum_compute);
    memset(s->sum_seconds, 0, tasks * sizeof *s->sum_seconds);
    s->since = 0;
    for (int l = 0; l < s->loops; l++) {
        if (s->steps > 1 || l) memcpy(s->before, s->owner, tasks * sizeof *s->owner);
        run_loop(s, schedule, step);
    }
    s->since = 0;
    memcpy(s->compute, s->sum_compute, 2 * units * sizeof *s->compute);
    memcpy(s->seconds, s->sum_seconds, tasks * sizeof *s->seconds);
}

evn_status evn_simulation_step(evn_simulation *s, evn_schedule *schedule, evn_step *step) {
    NEED(s, "a simulation");
    NEED(schedule, "a schedule");
    NEED(step, "where to put what the step takes");
    const evn_model *m = &s->model;
    const evn_problem *p = evn_schedule_problem(schedule);
    if (p->tasks != m->tasks || p->units != m->units)
        return evn_fail(EVN_USAGE,
                        "model: the schedule was made for %d tasks on %d units and the model has "
                        "%d on %d",
                        p->tasks, p->units, m->tasks, m->units);
    s->steps++;
    *step = (evn_step){0};
    s->woken = 0;
    for (int u = 0; u < m->units; u++) s->rest[u] += m->idle_s;
    run_loops(s, schedule, step);
    step->imbalance = evn_imbalance(m->units, s->compute);
    if (s->steps > 1 && !step->migrations && !s->watch) {
        step->exchange_s = s->last.exchange_s;
        step->bytes = s->last.bytes;
        step->messages = s->last.messages;
    } else if (m->sequential) {
        in_sequence(s, step);
    } else {
        in_parallel(s, step);
    }
    meet(s, s->exchange, !m->sequential);
    add_up(s, step);
    s->last = *step;
    return evn_schedule_learn(schedule, s->owner, s->seconds);
}

evn_last_step evn_simulation_last(const evn_simulation *s) {
    NEED_OR((evn_last_step){0}, s, "a simulation");
    return (evn_last_step){s->owner, s->seconds, s->compute, s->exchange};
}

double evn_model_speeds(const evn_model *m, const double *weight, double *speed) {
    NEED_OR(NAN, m, "a model");
    NEED_OR(NAN, speed, "where to put the units' speeds");
    if (check(m)) return NAN;
    double total = 0;
    for (int t = 0; t < m->tasks; t++) total += weight ? weight[t] : 1;
    double *count = calloc((size_t)m->kinds, sizeof *count); /* units of each kind */
    for (int k = 0; k < m->kinds; k++) {
        double seconds = 0;
        for (int t = 0; t < m->tasks; t++)
            seconds += m->seconds[(size_t)k * (size_t)m->tasks + (size_t)t];
        int members = 0;
        for (int u = 0; u < m->units; u++) members += kind_of(m, u) == k;
        seconds *= crowd_of_all(m, k, members);
        for (int u = 0; u < m->units; u++)
            if (kind_of(m, u) == k) {
                speed[u] = (total > 0 ? total : 1) / (seconds > 0 ? seconds : 1) /
                           (m->slow ? m->slow[u] : 1);
                if (count) count[k]++;
            }
    }
    /* in sequence each face is a message, whose latency counts as bytes do; or a whole task is */
    double pairs = 0, per_byte = 0, bytes = 0, whole = 1;
    for (int l = 0; l < m->links; l++) bytes += m->link[l].bytes / m->links;
    const double messages = m->sequential && bytes > 0 ? 1 / bytes : 0; /* messages a byte */
    if (m->sequential == EVN_EXCHANGE_TASKS && bytes > 0) {
        whole = 0;
        for (int l = 0; l < m->links; l++)
            whole += copied(m, m->link[l].task[1]) / m->links / bytes;
    }
    for (int a = 0; count && m->route && a < m->kinds; a++)
        for (int b = 0; b < m->kinds; b++) {
            const evn_route *r = m->sequential == EVN_EXCHANGE_TASKS && m->copy
                                     ? &m->copy[a * m->kinds + b]
                                     : &m->route[a * m->kinds + b];
            const double both = count[a] * (count[b] - (a == b));
            pairs += both;
            const evn_route none = {.hops = 1}, *within = m->within ? &m->within[b] : &none;
            /* borders within a unit are computed in any case where whole tasks are copied */
            const evn_route *less = m->sequential == EVN_EXCHANGE_TASKS ? &none : within;
            double more = whole * r->per_byte[0] - less->per_byte[0] +
                          messages * (r->latency[0] - less->latency[0]);
            if (r->hops == 2) more += whole * r->per_byte[1] + messages * r->latency[1];
            per_byte += both * fmax(0, more);
        }
    free(count);
    return per_byte > 0 ? pairs / per_byte : 0;
}
