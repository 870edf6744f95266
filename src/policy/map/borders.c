/* The borders between units on one level of the multilevel scheme. From units that are too long
 * vertices move where they cut the fewest bytes more; then local searches cut fewer bytes: from
 * each vertex at a border a few moves, the best one first even if it is a bad one, of which those
 * up to the best state stay (Sanders and Schulz, "Engineering Multilevel Graph Partitioning
 * Algorithms", ESA 2011). */
#include "policy/map/heap.h"
#include "policy/map/levels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PASSES = 2,   /* passes of searches over the borders */
    PATIENCE = 6, /* moves of a search without a new best */
    ROUNDS = 12,  /* rounds of moves from units that are too long */
};

/* No search starts with a move that cuts more than this part of the vertex's bytes more. */
#define HOPELESS 0.2

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
    struct loss *loss;
    char *moved;            /* 1: the vertex has moved in this pass */
    char *is_there;         /* 1: the vertex is in `border` */
    double *gain;           /* of each vertex in the heap */
    struct heap heap;       /* candidates of a search */
    int *lists;             /* memory of the heap and of these: */
    int *trail, *from;      /* moves of a search: vertex, unit that it came from */
    int *border, at_border; /* vertices that are or were at a border, each once */
    int *seeds;             /* those that a pass starts from */
};

void borders_close(struct borders *b) {
    if (!b) return;
    free(b->load);
    free(b->count);
    free(b->moved);
    free(b->lists);
    free(b->gain);
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
    b->moved = malloc(2 * n);
    b->gain = malloc(n * sizeof *b->gain);
    b->lists = malloc(6 * n * sizeof *b->lists);
    b->loss = malloc(n * sizeof *b->loss);
    if (!b->load || !b->count || !b->moved || !b->gain || !b->lists || !b->loss) {
        borders_close(b);
        return NULL;
    }
    b->out = b->load + units;
    b->cost = b->out + units;
    b->to = b->cost + units;
    b->touched = b->count + units;
    b->heap = (struct heap){.vertex = b->lists, .place = b->lists + n, .gain = b->gain};
    b->trail = b->lists + 2 * n;
    b->from = b->trail + n;
    b->border = b->from + n;
    b->seeds = b->border + n;
    b->is_there = b->moved + n;
    return b;
}

static double cost(const struct borders *b, int u, double load, double out) {
    return load * b->m->pace[u] + out * b->per_byte;
}

static void add_border(struct borders *b, int v) {
    if (!b->is_there[v]) b->border[b->at_border++] = v;
    b->is_there[v] = 1;
}

static void start(struct borders *b, const struct level *g, const int *owner) {
    for (int u = 0; u < b->m->units; u++) b->load[u] = b->out[u] = b->count[u] = 0;
    b->at_border = 0;
    for (int v = 0; v < g->n; v++) {
        const int u = owner[v];
        double out = 0;
        b->is_there[v] = 0;
        for (int i = g->start[v]; i < g->start[v + 1]; i++)
            if (owner[g->to[i]] != u) out += g->bytes[i];
        if (out > 0) add_border(b, v);
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
    double best = -INFINITY, shortest = INFINITY;
    const double without = cost(b, u, b->load[u] - weight, b->out[u] + 2 * b->own - b->all);
    int to = -1;
    if (b->count[u] < 2 || without > fmax(limit, b->cost[u])) return -1;
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
    for (int i = g->start[v]; i < g->start[v + 1]; i++) add_border(b, g->to[i]);
}

static int by_gain(const void *a, const void *b) {
    const struct loss *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return x->v - y->v;
}

/* Lists vertices of units that are too long, by the cost of moving them; returns their number. */
static int list_losses(struct borders *b, const struct level *g, const int *owner, double limit) {
    int n = 0;
    for (int i = 0; i < b->at_border; i++) {
        const int v = b->border[i], u = owner[v];
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

/* ---- searches ------------------------------------------------------------------------------ */

/* Gives v, unless it has moved in this pass, its place among the candidates of a search. */
static void enter(struct borders *b, const struct level *g, const int *owner, int v, double limit) {
    if (b->moved[v]) return;
    const int w = look(b, g, owner, v) ? best_unit(b, g->weight[v], owner[v], limit, 0) : -1;
    if (w >= 0) {
        b->gain[v] = b->to[w] - b->own;
        if (b->heap.place[v] < 0)
            heap_push(&b->heap, v);
        else
            heap_sift(&b->heap, b->heap.place[v], v);
    } else if (b->heap.place[v] >= 0) {
        heap_drop(&b->heap, v);
    }
    forget(b);
}

static void go(struct borders *b, const struct level *g, int *owner, int v, int w) {
    look(b, g, owner, v);
    move(b, g, owner, v, w);
    forget(b);
}

/* Moves vertices from v on, each time the one that cuts the fewest bytes more and each once in a
 * pass, until PATIENCE moves were in vain, which are taken back. 1: fewer bytes are cut. */
static int search_from(struct borders *b, const struct level *g, int *owner, int v, double limit) {
    double sum = 0, best = 0;
    int steps = 0, kept = 0;
    enter(b, g, owner, v, limit);
    if (b->heap.n && b->gain[v] < -HOPELESS * b->all) heap_drop(&b->heap, v);
    while (b->heap.n && steps - kept < PATIENCE) {
        v = b->heap.vertex[0];
        const double thought = b->gain[v];
        const int u = owner[v];
        look(b, g, owner, v);
        const int w = best_unit(b, g->weight[v], u, limit, 0);
        const double gain = w < 0 ? 0 : b->to[w] - b->own;
        if (w >= 0 && gain >= thought) move(b, g, owner, v, w);
        forget(b);
        if (w >= 0 && gain < thought) { /* its best unit has no room any more */
            b->gain[v] = gain;
            heap_sift(&b->heap, 0, v);
            continue;
        }
        heap_drop(&b->heap, v);
        if (w < 0) continue;
        b->moved[v] = 1;
        b->trail[steps] = v;
        b->from[steps++] = u;
        sum += gain;
        if (sum > best * (1 + 1e-12) + 1e-300) {
            best = sum;
            kept = steps;
        }
        for (int k = g->start[v]; k < g->start[v + 1]; k++) /* those of unit w gain less now */
            if (owner[g->to[k]] != w) enter(b, g, owner, g->to[k], limit);
    }
    while (b->heap.n) heap_drop(&b->heap, b->heap.vertex[b->heap.n - 1]);
    while (steps-- > kept) go(b, g, owner, b->trail[steps], b->from[steps]);
    return kept > 0;
}

/* Searches from each vertex at a border, in random order, pass by pass while that finds some. */
static void straighten(struct borders *b, const struct level *g, int *owner, double limit) {
    unsigned long long seed = 1;
    for (int v = 0; v < g->n; v++) b->heap.place[v] = -1;
    for (int pass = 0; pass < PASSES; pass++) {
        int n = b->at_border, found = 0;
        memset(b->moved, 0, (size_t)g->n);
        memcpy(b->seeds, b->border, (size_t)n * sizeof *b->seeds);
        while (n) {
            const int k = level_draw(&seed, n--), v = b->seeds[k];
            b->seeds[k] = b->seeds[n];
            if (!b->moved[v]) found += search_from(b, g, owner, v, limit);
        }
        if (!found) return;
    }
}

void borders_improve(struct borders *b, const struct level *g, int *owner, double loose) {
    start(b, g, owner);
    shorten(b, g, owner, even(b) * (1 + loose));
    straighten(b, g, owner, even(b) * (1 + loose));
    shorten(b, g, owner, even(b) * (1 + loose));
}
