/* The first two stages of the exact schedule: assignments by rule, and local search. */
#include "policy/optimal/search.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- by rule ------------------------------------------------------------------------------- */

/* Gives the heaviest remaining task to the unit that ends first with it. */
static void heaviest_first(const struct optimal_model *m, int *owner, double *load, int *count) {
    for (int u = 0; u < m->units; u++) load[u] = count[u] = 0;
    for (int i = 0; i < m->tasks; i++) {
        int t = m->heavy[i], to = 0;
        double ends = INFINITY;
        for (int u = 0; u < m->units; u++) {
            double e = load[u] + m->weight[t] / m->speed[u];
            if (e > ends || (e == ends && count[u] >= count[to])) continue;
            ends = e;
            to = u;
        }
        owner[t] = to;
        load[to] = ends;
        count[to]++;
    }
}

/* Fills the units one after another with tasks in the order of `place` (NULL: by number) as long as
 * none gets above `longest`; 0 if something is left over. Keeps a task for each unit behind. */
static int fill(const struct optimal_model *m, const int *place, double longest, int *owner) {
    const int n = m->tasks, units = m->units;
    int i = 0;
    for (int u = 0; u < units; u++) {
        double sum = 0;
        const int keep = n >= units ? units - 1 - u : 0;
        for (; i < n - keep; i++) {
            int t = place ? place[i] : i;
            sum += m->weight[t];
            if (sum > longest * m->speed[u]) break;
            owner[t] = u;
        }
    }
    return i == n;
}

/* Finds by bisection the least load under which consecutive tasks fit, as the papers' guided
 * schedule aims to. */
void optimal_consecutive(const struct optimal_model *m, const int *place, int *owner,
                         double *load) {
    policy_static(m->tasks, m->units, owner);
    double low = 0, high = 0;
    for (int u = 0; u < m->units; u++) load[u] = 0;
    for (int i = 0; i < m->tasks; i++) {
        load[owner[i]] += m->weight[place ? place[i] : i] / m->speed[owner[i]];
        high = fmax(high, load[owner[i]]);
    }
    high *= 1 + 1e-9;
    for (int i = 0; i < 60 && low < high && !optimal_late(m); i++) {
        double middle = (low + high) / 2;
        if (fill(m, place, middle, owner)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    fill(m, place, high, owner);
}

/* --- local search -------------------------------------------------------------------------- */

enum {
    STEPS = 200000000, /* exchanges of tasks that the local search looks at, about a second */
    A_LOOK = 100000,   /* exchanges from one look at the clock to the next */
    ROUNDS = 20,       /* disturbances for each task */
};

/* Counts exchanges; returns 1 if there may be more. */
static int goes_on(struct search *s, long exchanges) {
    s->steps -= exchanges;
    s->unlooked -= exchanges;
    if (s->unlooked <= 0) {
        s->unlooked = A_LOOK;
        s->late = optimal_late(s->m);
    }
    return s->steps > 0 && !s->late;
}

static double *in(const struct search *s, int t) { return s->in + (size_t)t * (size_t)s->m->units; }

/* Change of a unit's load when task t leaves it, and when t arrives. Other units' loads do not
 * change: a link that they cut stays cut. */
static double leaves(const struct search *s, int t, int unit) {
    return 2 * in(s, t)[unit] - s->m->tied[t] - s->m->weight[t] / s->m->speed[unit];
}
static double comes(const struct search *s, int t, int unit) {
    return s->m->weight[t] / s->m->speed[unit] + s->m->tied[t] - 2 * in(s, t)[unit];
}

static int max_loaded(const struct search *s) {
    int max = 0;
    for (int u = 1; u < s->m->units; u++)
        if (s->load[u] > s->load[max]) max = u;
    return max;
}

/* Counts and loads afresh, so that rounding does not add up. */
static void set(struct search *s, const int *owner) {
    const struct optimal_model *m = s->m;
    if (owner != s->owner) memcpy(s->owner, owner, sizeof *owner * (size_t)m->tasks);
    memset(s->in, 0, sizeof *s->in * (size_t)m->tasks * (size_t)m->units);
    memset(s->count, 0, sizeof *s->count * (size_t)m->units);
    for (int t = 0; t < m->tasks; t++) {
        s->count[s->owner[t]]++;
        for (int l = m->first[t]; l < m->first[t + 1]; l++)
            in(s, t)[s->owner[m->other[l]]] += m->cost[l];
    }
    optimal_load(m, s->owner, s->load);
}

static void move(struct search *s, int t, int to) {
    const struct optimal_model *m = s->m;
    int from = s->owner[t];
    s->load[from] += leaves(s, t, from);
    s->load[to] += comes(s, t, to);
    s->count[from]--;
    s->count[to]++;
    s->owner[t] = to;
    for (int l = m->first[t]; l < m->first[t + 1]; l++) {
        in(s, m->other[l])[from] -= m->cost[l];
        in(s, m->other[l])[to] += m->cost[l];
    }
}

/* The move of a task away from unit `a` that makes the larger of the two loads smallest, if that is
 * below a's. */
static int best_move(struct search *s, int a) {
    double best = s->load[a] * (1 - 1e-13);
    int task = -1, to = -1;
    for (int t = 0; t < s->m->tasks; t++) {
        if (s->owner[t] != a) continue;
        goes_on(s, s->m->units);
        if (s->late) break;
        double left = s->load[a] + leaves(s, t, a);
        if (!(left < best)) continue;
        for (int b = 0; b < s->m->units; b++) {
            if (b == a) continue;
            double both = fmax(left, s->load[b] + comes(s, t, b));
            if (!(both < best)) continue;
            best = both;
            task = t;
            to = b;
        }
    }
    if (task >= 0) move(s, task, to);
    return task >= 0;
}

static double between(const struct optimal_model *m, int t, int q) {
    for (int l = m->first[t]; l < m->first[t + 1]; l++)
        if (m->other[l] == q) return m->cost[l];
    return 0;
}

/* The swap of a task of unit `a` with another unit's that makes the larger of the two loads
 * smallest, if that is below a's. */
static int best_swap(struct search *s, int a) {
    const struct optimal_model *m = s->m;
    double best = s->load[a] * (1 - 1e-13);
    int task = -1, with = -1;
    for (int t = 0; t < m->tasks && goes_on(s, 0); t++) {
        if (s->owner[t] != a) continue;
        goes_on(s, m->tasks);
        double left = s->load[a] + leaves(s, t, a);
        for (int q = 0; q < m->tasks; q++) {
            int b = s->owner[q];
            if (b == a) continue;
            double both =
                fmax(left + comes(s, q, a), s->load[b] + leaves(s, q, b) + comes(s, t, b));
            if (!(both < best)) continue;
            /* the link between the two is cut before and after; the sums above have it uncut */
            both += 2 * between(m, t, q);
            if (!(both < best)) continue;
            best = both;
            task = t;
            with = q;
        }
    }
    if (task < 0) return 0;
    int b = s->owner[with];
    move(s, task, b);
    move(s, with, a);
    return 1;
}

/* Makes moves that lower the communication and keep both loads below the largest. */
static void tidy(struct search *s) {
    const struct optimal_model *m = s->m;
    if (!m->links) return;
    for (int again = 1; again && goes_on(s, 0);) {
        double max = s->load[max_loaded(s)] * (1 - 1e-13);
        again = 0;
        for (int t = 0; t < m->tasks; t++) {
            int a = s->owner[t], to = -1;
            double gain = -1e-12 * max, left = leaves(s, t, a);
            goes_on(s, m->units);
            if (s->late) return;
            /* saving in communication alone: moving weight to a slower unit is no loss */
            double talk = left + m->weight[t] / m->speed[a];
            for (int b = 0; b < m->units; b++) {
                if (b == a || s->count[a] == 1) continue;
                double come = comes(s, t, b);
                double saved = talk + come - m->weight[t] / m->speed[b];
                if (!(saved < gain) || s->load[b] + come >= max || s->load[a] + left >= max)
                    continue;
                gain = saved;
                to = b;
            }
            if (to < 0) continue;
            move(s, t, to);
            again = 1;
        }
    }
}

static void descend(struct search *s) {
    tidy(s);
    for (int a = max_loaded(s); goes_on(s, 0); a = max_loaded(s))
        if (!best_move(s, a) && !best_swap(s, a)) break;
    set(s, s->owner);
}

static int draw(struct search *s, int below) {
    s->seed = s->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((s->seed >> 33) % (unsigned long long)below);
}

static int keep_if_better(struct search *s) {
    double now = s->load[max_loaded(s)];
    if (!(now < s->longest)) return 0;
    s->longest = now;
    memcpy(s->best, s->owner, sizeof *s->best * (size_t)s->m->tasks);
    return 1;
}

int search_disturb(struct search *s, double enough) {
    const struct optimal_model *m = s->m;
    int better = 0;
    for (int k = ROUNDS * m->tasks; k > 0 && s->longest > enough && goes_on(s, 0); k--) {
        goes_on(s, m->links + m->tasks * (long)m->units);
        set(s, s->best);
        for (int moves = 2 + draw(s, 5); moves > 0; moves--) {
            int t = draw(s, m->tasks), links = m->first[t + 1] - m->first[t];
            int to = links ? s->owner[m->other[m->first[t] + draw(s, links)]] : draw(s, m->units);
            if (to != s->owner[t]) move(s, t, to);
        }
        descend(s);
        better |= keep_if_better(s);
    }
    return better;
}

void search_feed_empty(struct search *s) {
    const struct optimal_model *m = s->m;
    set(s, s->best);
    for (int u = 0; u < m->units && m->tasks >= m->units; u++) {
        if (s->count[u]) continue;
        int task = -1;
        double least = s->longest;
        for (int t = 0; t < m->tasks; t++) {
            int a = s->owner[t];
            if (s->count[a] < 2 || s->load[a] + leaves(s, t, a) > s->longest) continue;
            double load = s->load[u] + comes(s, t, u);
            if (load > least || (load == least && task >= 0)) continue;
            least = load;
            task = t;
        }
        if (task >= 0) move(s, task, u);
    }
    memcpy(s->best, s->owner, sizeof *s->best * (size_t)m->tasks);
}

/* --- all of it ----------------------------------------------------------------------------- */

int search_open(struct search *s, const struct optimal_model *m, int *best) {
    const size_t n = (size_t)m->tasks, units = (size_t)m->units;
    *s = (struct search){.m = m, .longest = INFINITY, .seed = 1, .best = best};
    s->owner = malloc(sizeof *s->owner * n);
    s->count = malloc(sizeof *s->count * units);
    s->load = malloc(sizeof *s->load * units);
    s->in = malloc(sizeof *s->in * n * units);
    s->work = malloc(2 * sizeof *s->work * n);
    search_refresh(s);
    return !s->owner || !s->count || !s->load || !s->in || !s->work;
}

void search_close(struct search *s) {
    free(s->owner);
    free(s->count);
    free(s->load);
    free(s->in);
    free(s->work);
}

void search_refresh(struct search *s) {
    s->steps = STEPS;
    s->unlooked = 0;
    s->late = 0;
}

void search_consider(struct search *s, const int *owner, const char *by, const char **found) {
    set(s, owner);
    if (keep_if_better(s)) *found = by;
    descend(s);
    if (keep_if_better(s)) *found = "local search";
}

void search_rules(struct search *s, const char **found) {
    const struct optimal_model *m = s->m;
    int *owner = s->work, *place = s->work + m->tasks;
    heaviest_first(m, owner, s->load, s->count);
    search_consider(s, owner, "heaviest task first", found);
    optimal_consecutive(m, NULL, owner, s->load);
    search_consider(s, owner, "consecutive tasks", found);
    if (m->across < 2 || m->up < 2) return;
    for (int i = 0; i < m->tasks; i++) place[i] = i / m->up + i % m->up * m->across;
    optimal_consecutive(m, place, owner, s->load);
    search_consider(s, owner, "consecutive tasks along columns", found);
}
