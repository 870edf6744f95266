/* The repair of assignments by best moves and swaps: see map_repair.h for the
 * model and sources. */
#include "schedule/map_repair.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_UNITS = 16,    /* up to so many, a task may go to any unit, not only to a
                          neighbour's */
    SMOOTHED = 20000,  /* more tasks than this are smoothed by single moves only */
    NEAREST = 4,       /* partners looked at on either side of the best weight */
    PATIENCE = 40,     /* steps of a pass without a new best */
    SWEEPS = 3,        /* over all tasks, of single moves that cut less */
    SCANNED = 20000000 /* tasks x units up to which every unit is looked at for
                          every task */
};

/* ---- the model ---- */

void map_model_close(struct map_model *m) {
    free(m->weight);
    free(m->pace);
    free(m->start);
    free(m->neighbour);
    free(m->bytes);
    *m = (struct map_model){0};
}

static double largest(const double *a, int n) {
    double max = a ? 0 : 1;
    for (int i = 0; a && i < n; i++) max = fmax(max, a[i]);
    return max;
}

/* Links as neighbours of both ends. A link to itself or of no bytes is none. */
static void make_graph(struct map_model *m, const evn_problem *p) {
    for (int t = 0; t <= m->tasks; t++) m->start[t] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int l = 0; l < p->links; l++) {
            const evn_link *link = &p->link[l];
            if (link->task[0] == link->task[1] || !(link->bytes > 0)) continue;
            double bytes = fmin(link->bytes, 1e100);
            for (int e = 0; e < 2; e++) {
                int at = link->task[e];
                if (pass) {
                    m->neighbour[m->start[at]] = link->task[1 - e];
                    m->bytes[m->start[at]] = bytes;
                }
                m->start[at]++;
            }
        }
        /* counts become beginnings; after the second pass each is the beginning of
         * the next */
        if (!pass) {
            int sum = 0;
            for (int t = 0; t <= m->tasks; t++) {
                int count = m->start[t];
                m->start[t] = sum;
                sum += count;
            }
        }
    }
    for (int t = m->tasks; t > 0; t--) m->start[t] = m->start[t - 1];
    m->start[0] = 0;
}

int map_model_open(struct map_model *m, const evn_problem *p, const double *weight,
                   const double *speed) {
    *m = (struct map_model){.tasks = p->tasks, .units = p->units};
    if (!weight) weight = p->weight;
    if (!speed) speed = p->speed;
    size_t n = (size_t)p->tasks, units = (size_t)p->units, links = (size_t)p->links;
    m->weight = malloc(n * sizeof *m->weight);
    m->pace = malloc(units * sizeof *m->pace);
    m->start = malloc((n + 1) * sizeof *m->start);
    m->neighbour = malloc((2 * links + 1) * sizeof *m->neighbour);
    m->bytes = malloc((2 * links + 1) * sizeof *m->bytes);
    if (!m->weight || !m->pace || !m->start || !m->neighbour || !m->bytes) {
        map_model_close(m);
        return 1;
    }
    double heaviest = largest(weight, p->tasks), fastest = largest(speed, p->units);
    /* tasks that all weigh nothing are as good as tasks that all weigh the same
     */
    int nothing = !(heaviest > 0);
    if (nothing) heaviest = 1;
    double total = 0, lightest = 1, total_speed = 0, slowest = 1;
    for (int t = 0; t < m->tasks; t++) {
        m->weight[t] = nothing || !weight ? 1 : weight[t] / heaviest;
        total += m->weight[t];
        lightest = fmin(lightest, m->weight[t]);
    }
    for (int u = 0; u < m->units; u++) {
        m->pace[u] = speed ? 1 / fmax(speed[u] / fastest, 1e-100) : 1;
        total_speed += 1 / m->pace[u];
        slowest = fmax(slowest, m->pace[u]);
    }
    /* the mean, the heaviest task on the fastest unit, the lightest on the
     * slowest */
    m->bound = fmax(total / total_speed, 1);
    if (m->tasks >= m->units) m->bound = fmax(m->bound, lightest * slowest);
    m->time_unit = heaviest / fastest;
    m->per_byte = 0;
    if (p->bandwidth > 0 && isfinite(p->bandwidth))
        m->per_byte = fmin(1 / p->bandwidth / m->time_unit, 1e100);
    make_graph(m, p);
    return 0;
}

struct map_score map_score(const struct map_model *m, const int *owner, double *scratch) {
    struct map_score score = {0};
    for (int u = 0; u < m->units; u++) scratch[u] = 0;
    for (int t = 0; t < m->tasks; t++) {
        int u = owner[t];
        scratch[u] += m->weight[t] * m->pace[u];
        for (int i = m->start[t]; i < m->start[t + 1]; i++) {
            if (owner[m->neighbour[i]] == u) continue;
            scratch[u] += m->bytes[i] * m->per_byte;
            score.cut += m->bytes[i] / 2;
        }
    }
    for (int u = 0; u < m->units; u++) score.makespan = fmax(score.makespan, scratch[u]);
    return score;
}

int map_better(struct map_score a, struct map_score b, double limit) {
    int keeps = a.makespan <= limit;
    if (keeps != (b.makespan <= limit)) return keeps;
    if (!keeps && a.makespan != b.makespan) return a.makespan < b.makespan;
    if (a.cut != b.cut) return a.cut < b.cut;
    return a.makespan < b.makespan;
}

/* ---- the unit with the smallest or largest value, kept up to date ----
 */

/* A tournament: node i is won by the better of 2i and 2i+1, the leaves are the
 * units. */
struct tournament {
    int leaves;
    int *winner;
    const double *value;
    double sign; /* 1: the smallest wins; -1: the largest. Of equals the lowest number */
};

static int beats(const struct tournament *c, int a, int b) {
    if (a < 0 || b < 0) return b < 0;
    double x = c->sign * c->value[a], y = c->sign * c->value[b];
    return x < y || (x == y && a < b);
}

static void play(struct tournament *c, int i) {
    int a = c->winner[2 * i], b = c->winner[2 * i + 1];
    c->winner[i] = beats(c, a, b) ? a : b;
}

static void tournament_start(struct tournament *c, int units) {
    for (int i = 0; i < c->leaves; i++) c->winner[c->leaves + i] = i < units ? i : -1;
    for (int i = c->leaves - 1; i > 0; i--) play(c, i);
}

static int tournament_open(struct tournament *c, const double *value, int units, double sign) {
    *c = (struct tournament){.leaves = 1, .value = value, .sign = sign};
    while (c->leaves < units) c->leaves *= 2;
    c->winner = malloc(2 * (size_t)c->leaves * sizeof *c->winner);
    if (!c->winner) return 1;
    tournament_start(c, units);
    return 0;
}

static void tournament_changed(struct tournament *c, int unit) {
    for (int i = (c->leaves + unit) / 2; i > 0; i /= 2) play(c, i);
}

static int tournament_winner(const struct tournament *c) { return c->winner[1]; }

/* ---- simple candidates ---- */

struct ranked {
    double value;
    int index;
};

static int descending(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct ranked *rank(const double *value, int n) {
    struct ranked *r = malloc((size_t)n * sizeof *r);
    for (int i = 0; r && i < n; i++) r[i] = (struct ranked){value[i], i};
    if (r) qsort(r, (size_t)n, sizeof *r, descending);
    return r;
}

int map_feed(const struct map_model *m, int *owner) {
    const int n = m->tasks, units = m->units;
    if (n < units) return 0;
    int *count = calloc((size_t)units, sizeof *count);
    if (!count) return 1;
    int hungry = 0;
    for (int t = 0; t < n; t++) count[owner[t]]++;
    for (int u = 0; u < units; u++) hungry += !count[u];
    struct ranked *task = hungry ? rank(m->weight, n) : NULL;
    struct ranked *unit = hungry ? rank(m->pace, units) : NULL;
    int failed = hungry && (!task || !unit);
    /* the slowest gets the lightest */
    for (int i = 0, next = n - 1; !failed && i < units; i++) {
        int u = unit ? unit[i].index : i;
        if (count[u] || !task) continue;
        while (count[owner[task[next].index]] < 2) next--;
        int t = task[next--].index;
        count[owner[t]]--;
        owner[t] = u;
        count[u] = 1;
    }
    free(unit);
    free(task);
    free(count);
    return failed;
}

int map_longest_first(const struct map_model *m, int *owner) {
    const int n = m->tasks, units = m->units;
    struct ranked *task = rank(m->weight, n);
    double *busy = calloc((size_t)units, sizeof *busy);
    int *count = calloc((size_t)units, sizeof *count);
    struct tournament first = {0};
    /* with very many, the unit that is free first stands for the one that would
     * be done first */
    int scan = (double)n * units <= SCANNED;
    int failed = !task || !busy || !count || tournament_open(&first, busy, units, 1);
    for (int i = 0; !failed && i < n; i++) {
        const int t = task[i].index;
        int best = scan ? 0 : tournament_winner(&first);
        for (int u = 1; scan && u < units; u++) {
            double a = busy[u] + m->weight[t] * m->pace[u],
                   b = busy[best] + m->weight[t] * m->pace[best];
            if (a < b || (a == b && count[u] < count[best])) best = u;
        }
        owner[t] = best;
        busy[best] += m->weight[t] * m->pace[best];
        count[best]++;
        if (!scan) tournament_changed(&first, best);
    }
    free(first.winner);
    free(count);
    free(busy);
    free(task);
    return failed || map_feed(m, owner);
}

/* Gives each unit as many of the next tasks as it can do by `limit`; whether
 * all were given out. */
static int fill(const struct map_model *m, const double *sum, double limit, int *owner) {
    const int n = m->tasks;
    int t = 0;
    for (int u = 0; u < m->units && t < n; u++) {
        double upto = sum[t] + limit / m->pace[u];
        int low = t, high = n; /* sum[low] <= upto */
        while (low < high) {
            int middle = low + (high - low + 1) / 2;
            if (sum[middle] <= upto)
                low = middle;
            else
                high = middle - 1;
        }
        for (int i = t; owner && i < low; i++) owner[i] = u;
        t = low;
    }
    return t == n;
}

int map_consecutive(const struct map_model *m, int *owner) {
    const int n = m->tasks;
    double *sum = malloc(((size_t)n + 1) * sizeof *sum);
    if (!sum) return 1;
    sum[0] = 0;
    for (int t = 0; t < n; t++) sum[t + 1] = sum[t] + m->weight[t];
    /* the least limit that all tasks fit into, by halving the interval between
     * one that may be too small and one that is not: the fastest unit alone */
    double low = 0, high = sum[n] * (1 + 1e-9);
    for (int i = 0; i < 64; i++) {
        double middle = low + (high - low) / 2;
        if (fill(m, sum, middle, NULL))
            high = middle;
        else
            low = middle;
    }
    fill(m, sum, high, owner);
    free(sum);
    return map_feed(m, owner);
}

/* ---- the repair ---- */

/* Task t, of unit u, and what unit v of one of its neighbours would make of the
 * cut. */
struct border {
    int u, v, t;
    double gain; /* change of the cut if it moved */
};

/* Bytes of a task's links: to its unit, to another, and all. */
struct ties {
    double own, other, all;
};

struct partner {
    int t;
    double weight;
    struct ties k;
};

struct map_repair {
    const struct map_model *m;
    int *owner, *count;       /* of each task; of each unit */
    int *first, *next, *prev; /* the tasks of each unit, as lists */
    double *load, *out;       /* of each unit: weights; bytes of its links that are cut */
    double *cost;             /* of each unit, the model's time */
    double cut;
    struct tournament longest, shortest;
    char *locked; /* tasks moved in this pass */
    double *to;   /* bytes of one task's links to each unit */
    double *mark; /* of one task to each other task */
    int *touched; /* units that have an entry in `to` */
    int *target;  /* units that a task may go to */
    char *is_target;
    struct partner *partner;       /* tasks of a unit that may be swapped against */
    struct border *border, *fresh; /* sorted; those to be merged into it */
    char *dirty;                   /* tasks whose entries are no longer right */
    int *changed;                  /* the dirty ones */
    int *trail;                    /* task, unit it came from */
    double *scratch;               /* an entry a unit */
    long budget;                   /* looks at a link that are left */
};

void map_repair_close(struct map_repair *r) {
    if (!r) return;
    free(r->longest.winner);
    free(r->shortest.winner);
    free(r->owner);
    free(r->count);
    free(r->first);
    free(r->next);
    free(r->prev);
    free(r->load);
    free(r->out);
    free(r->cost);
    free(r->locked);
    free(r->to);
    free(r->mark);
    free(r->touched);
    free(r->target);
    free(r->is_target);
    free(r->partner);
    free(r->border);
    free(r->fresh);
    free(r->dirty);
    free(r->changed);
    free(r->trail);
    free(r->scratch);
    free(r);
}

struct map_repair *map_repair_open(const struct map_model *m) {
    struct map_repair *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    const size_t n = (size_t)m->tasks, units = (size_t)m->units;
    /* entries of all tasks at once are only needed where passes are made */
    size_t ends = m->tasks <= SMOOTHED ? (size_t)m->start[m->tasks] : 0;
    for (int t = 0; t < m->tasks; t++)
        if ((size_t)(m->start[t + 1] - m->start[t]) > ends)
            ends = (size_t)(m->start[t + 1] - m->start[t]);
    r->m = m;
    r->owner = calloc(n, sizeof *r->owner);
    r->next = malloc(n * sizeof *r->next);
    r->prev = malloc(n * sizeof *r->prev);
    r->locked = calloc(n, 1);
    r->mark = calloc(n, sizeof *r->mark);
    r->trail = malloc(2 * n * sizeof *r->trail);
    r->count = malloc(units * sizeof *r->count);
    r->first = malloc(units * sizeof *r->first);
    r->load = malloc(units * sizeof *r->load);
    r->out = malloc(units * sizeof *r->out);
    r->cost = calloc(units, sizeof *r->cost);
    r->scratch = malloc(units * sizeof *r->scratch);
    r->to = calloc(units, sizeof *r->to);
    r->touched = malloc(units * sizeof *r->touched);
    r->target = malloc(units * sizeof *r->target);
    r->is_target = calloc(units, 1);
    r->partner = malloc(n * sizeof *r->partner);
    r->border = malloc((ends + 1) * sizeof *r->border);
    r->fresh = malloc((ends + 1) * sizeof *r->fresh);
    r->dirty = calloc(n, 1);
    r->changed = malloc(n * sizeof *r->changed);
    if (!r->owner || !r->next || !r->prev || !r->locked || !r->mark || !r->trail || !r->count ||
        !r->first || !r->load || !r->out || !r->cost || !r->to || !r->touched || !r->target ||
        !r->is_target || !r->scratch || !r->partner || !r->border || !r->fresh || !r->dirty ||
        !r->changed || tournament_open(&r->longest, r->cost, m->units, -1) ||
        tournament_open(&r->shortest, r->cost, m->units, 1)) {
        map_repair_close(r);
        return NULL;
    }
    return r;
}

const int *map_repair_owner(const struct map_repair *r) { return r->owner; }

struct map_score map_repair_score(const struct map_repair *r) {
    return map_score(r->m, r->owner, r->scratch);
}

static double unit_cost(const struct map_repair *r, int u, double load, double out) {
    return load * r->m->pace[u] + out * r->m->per_byte;
}

static void link_in(struct map_repair *r, int t, int u) {
    r->owner[t] = u;
    r->prev[t] = -1;
    r->next[t] = r->first[u];
    if (r->next[t] >= 0) r->prev[r->next[t]] = t;
    r->first[u] = t;
    r->count[u]++;
}

static void link_out(struct map_repair *r, int t) {
    int u = r->owner[t];
    if (r->next[t] >= 0) r->prev[r->next[t]] = r->prev[t];
    if (r->prev[t] >= 0)
        r->next[r->prev[t]] = r->next[t];
    else
        r->first[u] = r->next[t];
    r->count[u]--;
}

double map_repair_makespan(const struct map_repair *r) {
    return r->cost[tournament_winner(&r->longest)];
}

double map_repair_cut(const struct map_repair *r) { return r->cut; }

long map_repair_left(const struct map_repair *r) { return r->budget; }

void map_repair_start(struct map_repair *r, const int *owner, long budget) {
    const struct map_model *m = r->m;
    for (int u = 0; u < m->units; u++) {
        r->first[u] = -1;
        r->count[u] = 0;
        r->load[u] = r->out[u] = 0;
    }
    r->cut = 0;
    r->budget = budget;
    for (int t = m->tasks - 1; t >= 0; t--) {
        int u = owner[t];
        link_in(r, t, u);
        r->load[u] += m->weight[t];
        for (int i = m->start[t]; i < m->start[t + 1]; i++) {
            if (owner[m->neighbour[i]] == u) continue;
            r->out[u] += m->bytes[i];
            r->cut += m->bytes[i] / 2;
        }
    }
    for (int u = 0; u < m->units; u++) r->cost[u] = unit_cost(r, u, r->load[u], r->out[u]);
    tournament_start(&r->longest, m->units);
    tournament_start(&r->shortest, m->units);
}

static struct ties ties(struct map_repair *r, int t, int v) {
    const struct map_model *m = r->m;
    const int u = r->owner[t];
    struct ties k = {0};
    for (int i = m->start[t]; i < m->start[t + 1]; i++) {
        int o = r->owner[m->neighbour[i]];
        if (o == u)
            k.own += m->bytes[i];
        else if (o == v)
            k.other += m->bytes[i];
        k.all += m->bytes[i];
    }
    r->budget -= 1 + m->start[t + 1] - m->start[t];
    return k;
}

/* What a step would make of the two units' costs, and of the cut. */
struct effect {
    double u, v, cut;
};

/* Task a of u, with ties ka to v, moves there. */
static struct effect moved(const struct map_repair *r, int a, struct ties ka, int u, int v) {
    double w = r->m->weight[a];
    return (struct effect){
        .u = unit_cost(r, u, r->load[u] - w, r->out[u] + 2 * ka.own - ka.all),
        .v = unit_cost(r, v, r->load[v] + w, r->out[v] - 2 * ka.other + ka.all),
        .cut = ka.own - ka.other,
    };
}

/* The same, and task b of v moves to u; `between` are the bytes of the link
 * between the two. */
static struct effect swapped(const struct map_repair *r, int a, struct ties ka, int b,
                             struct ties kb, double between, int u, int v) {
    double w = r->m->weight[a] - r->m->weight[b];
    double own = kb.own + between, other = kb.other - between; /* once a has moved */
    return (struct effect){
        .u = unit_cost(r, u, r->load[u] - w, r->out[u] + 2 * ka.own - ka.all - 2 * other + kb.all),
        .v = unit_cost(r, v, r->load[v] + w, r->out[v] - 2 * ka.other + ka.all + 2 * own - kb.all),
        .cut = ka.own - ka.other + own - other,
    };
}

static void move(struct map_repair *r, int t, int v) {
    const int u = r->owner[t];
    struct ties k = ties(r, t, v);
    struct effect e = moved(r, t, k, u, v);
    link_out(r, t);
    link_in(r, t, v);
    r->load[u] -= r->m->weight[t];
    r->load[v] += r->m->weight[t];
    r->out[u] += 2 * k.own - k.all;
    r->out[v] += k.all - 2 * k.other;
    r->cut += e.cut;
    r->cost[u] = e.u;
    r->cost[v] = e.v;
    tournament_changed(&r->longest, u);
    tournament_changed(&r->longest, v);
    tournament_changed(&r->shortest, u);
    tournament_changed(&r->shortest, v);
}

/* Whether unit u may give away a task and get none. */
static int may_give(const struct map_repair *r, int u) {
    return r->count[u] > 1 || r->m->tasks < r->m->units;
}

/* The bytes of a's links to each task are in `mark` until they are cleared. */
static void set_mark(struct map_repair *r, int a, int on) {
    const struct map_model *m = r->m;
    for (int i = m->start[a]; i < m->start[a + 1]; i++)
        r->mark[m->neighbour[i]] = on ? r->mark[m->neighbour[i]] + m->bytes[i] : 0;
}

/* A step that shortens the longest unit: a moves to v, and b, if not -1, back.
 */
struct step {
    int a, b, v;
    double value; /* the least is the best */
};

/* fmax(x - limit, 0) for numbers; a call of the library for each took a third of a large plan. */
static double above(double x, double limit) { return x > limit ? x - limit : 0; }

/* Steps that do not cut more come first, the one that saves the most time
 * before the others; then by bytes per time saved. */
static void consider(struct step *best, struct step s, struct effect e, double u, double v,
                     double limit) {
    if (e.u >= u || e.v >= u) return;
    const double saved = above(u, limit) + above(v, limit) - above(e.u, limit) - above(e.v, limit);
    if (!(saved > 1e-12 * u)) return;
    s.value = e.cut <= 0 ? -saved : e.cut / saved;
    if (best->a < 0 || s.value < best->value) *best = s;
}

/* Where u's tasks may go: everywhere if there are few units, else to its
 * neighbours and to the unit that is done first. */
static int find_targets(struct map_repair *r, int u) {
    const struct map_model *m = r->m;
    int n = 0;
    if (m->units <= ALL_UNITS) {
        for (int v = 0; v < m->units; v++)
            if (v != u) r->target[n++] = v;
        return n;
    }
    for (int t = r->first[u]; t >= 0; t = r->next[t]) {
        for (int i = m->start[t]; i < m->start[t + 1]; i++) {
            int v = r->owner[m->neighbour[i]];
            if (v == u || r->is_target[v]) continue;
            r->is_target[v] = 1;
            r->target[n++] = v;
        }
        r->budget -= 1 + m->start[t + 1] - m->start[t];
    }
    int v = tournament_winner(&r->shortest);
    if (v != u && !r->is_target[v]) r->target[n++] = v;
    for (int i = 0; i < n; i++) r->is_target[r->target[i]] = 0;
    return n;
}

static int by_weight(const void *a, const void *b) {
    const struct partner *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return (x->t > y->t) - (x->t < y->t);
}

/* Looks at swaps between u and v. With `border` at those of tasks that have
 * links across; otherwise for each task at those whose difference in weight is
 * nearest to what is too much. */
static void consider_swaps(struct map_repair *r, int u, int v, double limit, int border,
                           struct step *best) {
    const double excess = (r->cost[u] - limit) / r->m->pace[u];
    struct partner *p = r->partner;
    int n = 0;
    for (int b = r->first[v]; b >= 0; b = r->next[b]) {
        struct ties k = ties(r, b, u);
        if (!border || k.other > 0)
            p[n++] = (struct partner){.t = b, .weight = r->m->weight[b], .k = k};
    }
    if (!border) qsort(p, (size_t)n, sizeof *p, by_weight);
    for (int a = r->first[u]; a >= 0 && n && r->budget > 0; a = r->next[a]) {
        struct ties ka = ties(r, a, v);
        if (border && !(ka.other > 0)) continue;
        const double weight = r->m->weight[a];
        int from = 0, to = n;
        if (!border) {
            for (int high = n; from < high;) {
                int middle = (from + high) / 2;
                if (p[middle].weight < weight - excess)
                    from = middle + 1;
                else
                    high = middle;
            }
            to = from + NEAREST < n ? from + NEAREST : n;
            from = from > NEAREST ? from - NEAREST : 0;
        }
        set_mark(r, a, 1);
        r->budget -= to - from;
        for (int i = from; i < to; i++) {
            if (r->m->per_byte == 0 && !(p[i].weight < weight)) continue;
            consider(best, (struct step){.a = a, .b = p[i].t, .v = v},
                     swapped(r, a, ka, p[i].t, p[i].k, r->mark[p[i].t], u, v), r->cost[u],
                     r->cost[v], limit);
        }
        set_mark(r, a, 0);
    }
}

void map_balance(struct map_repair *r, double limit) {
    while (r->budget > 0) {
        const int u = tournament_winner(&r->longest);
        if (r->cost[u] <= limit) return;
        struct step best = {.a = -1};
        const int targets = find_targets(r, u);
        double heaviest = 0;
        for (int a = r->first[u]; a >= 0; a = r->next[a])
            heaviest = fmax(heaviest, r->m->weight[a]);
        for (int a = r->first[u]; a >= 0 && may_give(r, u); a = r->next[a])
            for (int i = 0; i < targets; i++) {
                int v = r->target[i];
                consider(&best, (struct step){.a = a, .b = -1, .v = v},
                         moved(r, a, ties(r, a, v), u, v), r->cost[u], r->cost[v], limit);
            }
        /* far from the limit moves do; swaps are for what is less than a task */
        const int fine = r->cost[u] - limit < heaviest * r->m->pace[u] && r->m->tasks <= SMOOTHED;
        for (int i = 0; i < targets && (fine || best.a < 0); i++)
            consider_swaps(r, u, r->target[i], limit, 1, &best);
        for (int i = 0; i < targets && best.a < 0; i++)
            consider_swaps(r, u, r->target[i], limit, 0, &best);
        if (best.a < 0) return;
        move(r, best.a, best.v);
        if (best.b >= 0) move(r, best.b, u);
    }
}

/* ---- smoothing ---- */

static int by_units_and_gain(const void *a, const void *b) {
    const struct border *x = a, *y = b;
    if (x->u != y->u) return x->u < y->u ? -1 : 1;
    if (x->v != y->v) return x->v < y->v ? -1 : 1;
    if (x->gain != y->gain) return x->gain < y->gain ? -1 : 1;
    return (x->t > y->t) - (x->t < y->t);
}

/* Appends task t's entries to n others, one for each unit it has links to. */
static int add_borders(struct map_repair *r, int t, struct border *border, int n) {
    const struct map_model *m = r->m;
    const int u = r->owner[t];
    int touched = 0, at = n;
    for (int i = m->start[t]; i < m->start[t + 1]; i++) {
        int v = r->owner[m->neighbour[i]];
        if (r->to[v] == 0) r->touched[touched++] = v;
        r->to[v] += m->bytes[i];
    }
    for (int k = 0; k < touched; k++) {
        int v = r->touched[k];
        if (v != u)
            border[at++] = (struct border){.u = u, .v = v, .t = t, .gain = r->to[u] - r->to[v]};
    }
    for (int k = 0; k < touched; k++) r->to[r->touched[k]] = 0;
    r->budget -= 1 + m->start[t + 1] - m->start[t];
    return at;
}

/* Whether neither unit exceeds the limit, or if one does, not more than before.
 */
static int allowed(const struct map_repair *r, struct effect e, int u, int v, double limit) {
    return e.u <= fmax(limit, r->cost[u]) && e.v <= fmax(limit, r->cost[v]);
}

/* The best swap between the entries a0..a1 from u to v and b0..b1 back, both by
 * rising gain. */
static void best_swap(struct map_repair *r, int a0, int a1, int b0, int b1, double limit,
                      struct step *best) {
    const struct border *border = r->border;
    for (int i = a0; i < a1; i++) {
        const int a = border[i].t, u = border[i].u, v = border[i].v;
        if (border[i].gain + border[b0].gain >= best->value) break;
        struct ties ka = ties(r, a, v);
        set_mark(r, a, 1);
        for (int j = b0; j < b1; j++) {
            r->budget--;
            if (border[i].gain + border[j].gain >= best->value) break;
            const int b = border[j].t;
            double gain = border[i].gain + border[j].gain + 2 * r->mark[b];
            if (gain >= best->value) continue;
            struct effect e = swapped(r, a, ka, b, ties(r, b, u), r->mark[b], u, v);
            if (!allowed(r, e, u, v, limit)) continue;
            *best = (struct step){.a = a, .b = b, .v = v, .value = gain};
        }
        set_mark(r, a, 0);
    }
}

static int find_group(const struct border *border, int n, int u, int v) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        const struct border *x = &border[middle];
        if (x->u < u || (x->u == u && x->v < v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes the n entries right again after tasks have moved; their new number. */
static int refresh(struct map_repair *r, int n, const int *changed, int changes) {
    int kept = 0, fresh = 0;
    for (int i = 0; i < n; i++)
        if (!r->dirty[r->border[i].t]) r->border[kept++] = r->border[i];
    r->budget -= n;
    for (int i = 0; i < changes; i++) {
        r->dirty[changed[i]] = 0;
        if (!r->locked[changed[i]]) fresh = add_borders(r, changed[i], r->fresh, fresh);
    }
    qsort(r->fresh, (size_t)fresh, sizeof *r->fresh, by_units_and_gain);
    /* from behind, so that it fits in place */
    for (int at = kept + fresh, i = kept - 1, k = fresh - 1; k >= 0;)
        if (i >= 0 && by_units_and_gain(&r->border[i], &r->fresh[k]) > 0)
            r->border[--at] = r->border[i--];
        else
            r->border[--at] = r->fresh[k--];
    return kept + fresh;
}

/* The step that cuts the fewest bytes more, of the tasks that have entries. */
static struct step best_step(struct map_repair *r, int n, double limit) {
    struct step best = {.a = -1, .value = INFINITY};
    for (int i = 0; i < n; i++) {
        const struct border *x = &r->border[i];
        if (x->gain >= best.value || !may_give(r, x->u)) continue;
        struct effect e = moved(r, x->t, ties(r, x->t, x->v), x->u, x->v);
        if (!allowed(r, e, x->u, x->v, limit)) continue;
        best = (struct step){.a = x->t, .b = -1, .v = x->v, .value = x->gain};
    }
    for (int i = 0, end; i < n; i = end) {
        const struct border *x = &r->border[i];
        for (end = i + 1; end < n && r->border[end].u == x->u && r->border[end].v == x->v;) end++;
        if (x->u > x->v) continue;
        int b0 = find_group(r->border, n, x->v, x->u), b1 = b0;
        while (b1 < n && r->border[b1].u == x->v && r->border[b1].v == x->u) b1++;
        if (b0 < b1) best_swap(r, i, end, b0, b1, limit, &best);
    }
    return best;
}

/* Task t and its neighbours, which have other entries now, go to the end of a
 * list. */
static int add_dirty(struct map_repair *r, int t, int *list, int n) {
    const struct map_model *m = r->m;
    for (int i = m->start[t] - 1; i < m->start[t + 1]; i++) {
        int task = i < m->start[t] ? t : m->neighbour[i];
        if (r->dirty[task]) continue;
        r->dirty[task] = 1;
        list[n++] = task;
    }
    return n;
}

/* One pass; whether it found something better. */
static int pass(struct map_repair *r, double limit, double loose) {
    const double began = r->cut;
    double best = began;
    int steps = 0, kept = 0, n = 0; /* entries of the trail; of the border */
    memset(r->locked, 0, (size_t)r->m->tasks);
    for (int t = 0; t < r->m->tasks; t++) n = add_borders(r, t, r->border, n);
    qsort(r->border, (size_t)n, sizeof *r->border, by_units_and_gain);
    for (int since = 0; since < PATIENCE && r->budget > 0; since++) {
        struct step s = best_step(r, n, loose);
        if (s.a < 0) break;
        const int task[2] = {s.a, s.b}, to[2] = {s.v, r->owner[s.a]};
        int changes = 0;
        for (int i = 0; i < 2 && task[i] >= 0; i++) {
            r->trail[2 * steps] = task[i];
            r->trail[2 * steps++ + 1] = r->owner[task[i]];
            r->locked[task[i]] = 1;
            move(r, task[i], to[i]);
            changes = add_dirty(r, task[i], r->changed, changes);
        }
        n = refresh(r, n, r->changed, changes);
        if (r->cut < best * (1 - 1e-12) && map_repair_makespan(r) <= limit) {
            best = r->cut;
            kept = steps;
            since = 0;
        }
    }
    while (steps > kept) {
        steps--;
        move(r, r->trail[2 * steps], r->trail[2 * steps + 1]);
    }
    return best < began;
}

/* Single moves that cut less, tasks in order. */
static void sweep(struct map_repair *r, double limit) {
    for (int s = 0, moves = 1; s < SWEEPS && moves && r->budget > 0; s++) {
        moves = 0;
        for (int t = 0; t < r->m->tasks && r->budget > 0; t++) {
            if (!may_give(r, r->owner[t])) continue;
            int n = add_borders(r, t, r->border, 0), to = -1;
            double best = 0;
            for (int i = 0; i < n; i++) {
                const struct border *x = &r->border[i];
                if (x->gain >= best) continue;
                struct effect e = moved(r, t, ties(r, t, x->v), x->u, x->v);
                if (!allowed(r, e, x->u, x->v, limit)) continue;
                best = x->gain;
                to = x->v;
            }
            if (to < 0) continue;
            move(r, t, to);
            moves = 1;
        }
    }
}

void map_smooth(struct map_repair *r, double limit, double loose) {
    limit = fmax(limit, map_repair_makespan(r));
    loose = fmax(limit, loose);
    sweep(r, limit);
    if (r->m->tasks > SMOOTHED) return;
    while (r->budget > 0 && pass(r, limit, loose)) {
    }
}
