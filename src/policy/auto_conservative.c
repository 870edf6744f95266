/* The conservative assignment of `auto`: assume each unit runs at its slowest recent speed; move
 * tasks off the unit that would then finish last until no move helps. No unit gets more than its
 * memory holds. A unit may be left without tasks; its estimated slowest speed then improves from
 * instance to instance, until it gets a task again. */
#include "policy/auto.h"
#include "schedule/capacity.h"
#include <math.h>
#include <string.h>

#define FORGIVEN 1.003 /* growth of the slowest speed, an instance */
#define ALIKE    1.01  /* ratio of two units' times up to which they are alike */
#define LEAST    0.99  /* ratio to the earlier time below which a move pays */

enum { LOOKS = 1000000 }; /* most looks at a task and a unit */

void auto_lows(struct state *state, const evn_problem *p) {
    const double *seen = learn_seen(state->learn), *speed = learn_speed(state->learn);
    const double scale = learn_scale(state->learn);
    double fastest = 0;
    for (int u = 0; u < p->units; u++) fastest = fmax(fastest, speed[u] / scale);
    for (int u = 0; u < p->units; u++) {
        double *low = &state->low[u];
        const double now = (seen[u] > 0 ? seen[u] : speed[u]) / scale;
        if (!(*low > 0)) *low = now;
        *low = fmin(*low * FORGIVEN, fastest);
        if (seen[u] > 0) *low = fmin(*low, now);
    }
}

/* 1 if a task may go from one unit to another: to another space only if `map` has found that it
 * pays. */
static int allowed(const evn_problem *p, int from, int to) {
    return !p->state || !p->space || p->space[from] == p->space[to];
}

/* 1 if unit u has memory for task t as well; units over their capacity take nothing. */
static int fits(const struct state *state, const evn_problem *p, int t, int u) {
    return !capacity_given(p) ||
           !(capacity_excess(capacity_of(p, u), state->used[u] + p->bytes[t]) > 0);
}

/* A move of a task of `from`. The best one leaves the longer of its two units shortest
 * (`longer`). */
struct move {
    int task, to;
    double longer;
};

static struct move best_move(const struct state *state, const evn_problem *p, const int *owner,
                             const double *busy, int from) {
    const double *cost = learn_cost(state->learn);
    struct move best = {-1, -1, busy[from] * fmax(LEAST - state->noise, 0)};
    for (int t = 0; t < p->tasks; t++) {
        if (owner[t] != from) continue;
        const double rest = busy[from] - cost[t] / state->low[from];
        for (int u = 0; u < p->units; u++) {
            if (u == from || !allowed(p, from, u) || !fits(state, p, t, u)) continue;
            const double longer = fmax(rest, busy[u] + cost[t] / state->low[u]);
            if (longer < best.longer) best = (struct move){t, u, longer};
        }
    }
    return best;
}

/* Among the equally good units for task t, the one with which it exchanges most. */
static int nearest(const struct state *state, const evn_problem *p, const double *busy, int from,
                   struct move m) {
    const double cost = learn_cost(state->learn)[m.task];
    double *bytes = state->bytes;
    memset(bytes, 0, (size_t)p->units * sizeof *bytes);
    for (int l = 0; l < p->links; l++)
        for (int e = 0; e < 2; e++)
            if (p->link[l].task[e] == m.task)
                bytes[state->wary[p->link[l].task[1 - e]]] += p->link[l].bytes;
    for (int u = 0; u < p->units; u++)
        if (u != from && bytes[u] > bytes[m.to] && allowed(p, from, u) &&
            fits(state, p, m.task, u) && busy[u] + cost / state->low[u] <= m.longer * ALIKE)
            m.to = u;
    return m.to;
}

void auto_wary(struct state *state, const evn_problem *p, const int *from) {
    const double *cost = learn_cost(state->learn);
    const int n = p->tasks, units = p->units;
    double *busy = state->busy;
    if (from != state->wary) memcpy(state->wary, from, (size_t)n * sizeof *from);
    memset(busy, 0, (size_t)units * sizeof *busy);
    if (capacity_given(p)) capacity_over(p, from, state->used);
    for (int t = 0; t < n; t++) busy[from[t]] += cost[t] / state->low[from[t]];
    const double looks = (double)n * units + p->links;
    for (double left = LOOKS; left >= looks; left -= looks) {
        int longest = 0;
        for (int u = 1; u < units; u++)
            if (busy[u] > busy[longest]) longest = u;
        struct move m = best_move(state, p, state->wary, busy, longest);
        if (m.task < 0) break;
        m.to = nearest(state, p, busy, longest, m);
        busy[longest] -= cost[m.task] / state->low[longest];
        busy[m.to] += cost[m.task] / state->low[m.to];
        if (capacity_given(p)) {
            state->used[longest] -= p->bytes[m.task];
            state->used[m.to] += p->bytes[m.task];
        }
        state->wary[m.task] = m.to;
    }
    state->made = 1;
}
