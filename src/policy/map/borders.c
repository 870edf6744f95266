/* The borders between units on one level of the multilevel scheme: single moves that cut fewer
 * bytes, and from units that are too long the moves that cut the fewest bytes more. */
#include "policy/map/levels.h"
#include <math.h>
#include <stdlib.h>

enum {
    PASSES = 10, /* passes of moves that cut fewer bytes */
    ROUNDS = 12, /* rounds of moves from units that are too long */
};

struct loss {
    double gain; /* reduction of the cut over the vertex's weight */
    int v;
};

struct borders {
    const struct map_model *m;
    double per_byte;
    double *load, *out, *cost; /* load, cut bytes and cost of each unit, as in state.h */
    int *count;                /* vertices of each unit */
    double *to;                /* bytes of one vertex to each unit that it touches */
    int *touched, touches;
    double own, all; /* bytes of this vertex to its own unit; of all its links */
    char *queued;    /* 1: the vertex must be looked at again */
    int *lists, *now, *next;
    struct loss *loss;
};

void borders_close(struct borders *b) {
    if (!b) return;
    free(b->load);
    free(b->count);
    free(b->queued);
    free(b->lists);
    free(b->loss);
    free(b);
}

struct borders *borders_open(const struct map_model *m) {
    struct borders *b = calloc(1, sizeof *b);
    const size_t units = (size_t)m->units, n = (size_t)m->tasks;
    if (!b) return NULL;
    b->m = m;
    b->per_byte = m->routes.kinds ? 0 : m->per_byte;
    b->load = calloc(4 * units, sizeof *b->load);
    b->count = malloc(2 * units * sizeof *b->count);
    b->queued = calloc(n, 1);
    b->lists = malloc(2 * n * sizeof *b->lists);
    b->loss = malloc(n * sizeof *b->loss);
    if (!b->load || !b->count || !b->queued || !b->lists || !b->loss) {
        borders_close(b);
        return NULL;
    }
    b->out = b->load + units;
    b->cost = b->out + units;
    b->to = b->cost + units;
    b->touched = b->count + units;
    b->now = b->lists;
    b->next = b->now + n;
    return b;
}

static double cost(const struct borders *b, int u, double load, double out) {
    return load * b->m->pace[u] + out * b->per_byte;
}

static void start(struct borders *b, const struct level *g, const int *owner) {
    for (int u = 0; u < b->m->units; u++) b->load[u] = b->out[u] = b->count[u] = 0;
    for (int v = 0; v < g->n; v++) {
        const int u = owner[v];
        double out = 0;
        for (int i = g->start[v]; i < g->start[v + 1]; i++)
            if (owner[g->to[i]] != u) out += g->bytes[i];
        b->load[u] += g->weight[v];
        b->out[u] += out;
        b->count[u]++;
    }
    for (int u = 0; u < b->m->units; u++) b->cost[u] = cost(b, u, b->load[u], b->out[u]);
}

/* Time of the units if all took equally long, with the present cut. */
static double even(const struct borders *b) {
    double work = 0, speed = 0;
    for (int u = 0; u < b->m->units; u++) {
        work += b->load[u] + b->out[u] * b->per_byte / b->m->pace[u];
        speed += 1 / b->m->pace[u];
    }
    return fmax(work / speed, b->m->bound);
}

/* Fills in `touched`, `to`, `own` and `all` for vertex v. Returns 1 if it is at a border. */
static int look(struct borders *b, const struct level *g, const int *owner, int v) {
    const int u = owner[v];
    b->touches = 0;
    b->own = b->all = 0;
    for (int i = g->start[v]; i < g->start[v + 1]; i++) {
        const int w = owner[g->to[i]];
        b->all += g->bytes[i];
        if (w == u) {
            b->own += g->bytes[i];
            continue;
        }
        if (b->to[w] == 0) b->touched[b->touches++] = w;
        b->to[w] += g->bytes[i];
    }
    return b->touches > 0;
}

static void forget(struct borders *b) {
    for (int i = 0; i < b->touches; i++) b->to[b->touched[i]] = 0;
}

/* Cost of unit w if it had v. */
static double with(const struct borders *b, double weight, int w) {
    return cost(b, w, b->load[w] + weight, b->out[w] - 2 * b->to[w] + b->all);
}

/* The unit that v (see look()) moves to: where it cuts the fewest bytes; of equal ones the one done
 * first. It must stay below the limit or, with `must`, below v's unit. -1: none. */
static int best_unit(const struct borders *b, double weight, int u, double limit, int must) {
    double best = must ? -INFINITY : 0, shortest = b->cost[u];
    const double without = cost(b, u, b->load[u] - weight, b->out[u] + 2 * b->own - b->all);
    int to = -1;
    if (b->count[u] < 2 || without > fmax(limit, b->cost[u])) return -1;
    if (must) shortest = INFINITY;
    for (int i = 0; i < b->touches; i++) {
        const int w = b->touched[i];
        const double gain = b->to[w] - b->own;
        if (gain < best) continue;
        const double then = with(b, weight, w);
        if (then > limit && !(must && then < b->cost[u] * (1 - 1e-9))) continue;
        if (gain == best && then >= shortest) continue;
        best = gain;
        shortest = then;
        to = w;
    }
    return to;
}

/* Moves vertex v (see look()) from u to w. */
static void move(struct borders *b, const struct level *g, int *owner, int v, int w) {
    const int u = owner[v];
    owner[v] = w;
    b->load[u] -= g->weight[v];
    b->load[w] += g->weight[v];
    b->out[u] += 2 * b->own - b->all;
    b->out[w] += b->all - 2 * b->to[w];
    b->cost[u] = cost(b, u, b->load[u], b->out[u]);
    b->cost[w] = cost(b, w, b->load[w], b->out[w]);
    b->count[u]--;
    b->count[w]++;
}

static int by_gain(const void *a, const void *b) {
    const struct loss *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return x->v - y->v;
}

/* Lists vertices of units that are too long, by the cost of moving them; returns their number. */
static int list_losses(struct borders *b, const struct level *g, const int *owner, double limit) {
    int n = 0;
    for (int v = 0; v < g->n; v++) {
        const int u = owner[v];
        if (b->cost[u] <= limit) continue;
        if (look(b, g, owner, v)) {
            const int w = best_unit(b, g->weight[v], u, limit, 1);
            if (w >= 0) {
                const double gain = b->to[w] - b->own;
                b->loss[n++] =
                    (struct loss){.gain = gain < 0 ? gain / (g->weight[v] + 1e-300) : gain, .v = v};
            }
        }
        forget(b);
    }
    qsort(b->loss, (size_t)n, sizeof *b->loss, by_gain);
    return n;
}

/* Moves vertices from units that are too long. */
static void shorten(struct borders *b, const struct level *g, int *owner, double limit) {
    for (int r = 0, moves = 1; r < ROUNDS && moves; r++) {
        const int n = list_losses(b, g, owner, limit);
        moves = 0;
        for (int i = 0; i < n; i++) {
            const int v = b->loss[i].v;
            if (b->cost[owner[v]] <= limit) continue;
            look(b, g, owner, v);
            const int w = best_unit(b, g->weight[v], owner[v], limit, 1);
            if (w >= 0) move(b, g, owner, v, w);
            moves += w >= 0;
            forget(b);
        }
    }
}

static int queue(struct borders *b, int v, int n) {
    if (b->queued[v]) return n;
    b->queued[v] = 1;
    b->next[n] = v;
    return n + 1;
}

/* Makes moves that cut fewer bytes, or as many from a longer unit; after the first pass only beside
 * vertices that have moved. */
static void straighten(struct borders *b, const struct level *g, int *owner, double limit) {
    int n = g->n;
    for (int v = 0; v < n; v++) b->now[v] = v;
    for (int pass = 0; pass < PASSES && n; pass++) {
        int next = 0;
        for (int i = 0; i < n; i++) b->queued[b->now[i]] = 0;
        for (int i = 0; i < n; i++) {
            const int v = b->now[i];
            const int w =
                look(b, g, owner, v) ? best_unit(b, g->weight[v], owner[v], limit, 0) : -1;
            if (w >= 0) {
                move(b, g, owner, v, w);
                next = queue(b, v, next);
                for (int k = g->start[v]; k < g->start[v + 1]; k++) next = queue(b, g->to[k], next);
            }
            forget(b);
        }
        int *swap = b->now;
        b->now = b->next;
        b->next = swap;
        n = next;
    }
    for (int i = 0; i < n; i++) b->queued[b->now[i]] = 0;
}

void borders_improve(struct borders *b, const struct level *g, int *owner, double loose) {
    start(b, g, owner);
    shorten(b, g, owner, even(b) * (1 + loose));
    straighten(b, g, owner, even(b) * (1 + loose));
    shorten(b, g, owner, even(b) * (1 + loose));
}
