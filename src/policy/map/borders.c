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

/* Passes end with one that leaves more than this part of the cut bytes. */
#define WORTH 0.95

struct borders {
    const struct map_model *m;
    double per_byte;
    double *load, *out, *cost; /* load, cut bytes and cost of each unit, as in state.h */
    int *count;                /* vertices of each unit */
    double *to;                /* bytes of one vertex to each unit that it touches */
    int *touched, touches;
    double *own, *all;      /* of each vertex in `border`: bytes to its unit; of all its links; */
    double *most;           /* at most so many of them are to one other unit */
    char *moved;            /* 1: the vertex has moved in this pass */
    char *is_there;         /* 1: the vertex is in `border`; others' links are all within a unit */
    double *gain;           /* of each vertex in the heap, at most */
    struct heap heap;       /* candidates for a move */
    int *border, at_border; /* vertices that are or were at a border, each once */
    int *trail, *from;      /* moves of a search: vertex, unit that it came from */
    int *seeds;             /* those that a pass starts from */
    void *memory;           /* of all arrays */
};

void borders_close(struct borders *b) {
    if (!b) return;
    free(b->memory);
    free(b);
}

struct borders *borders_open(const struct map_model *m) {
    struct borders *b = malloc(sizeof *b);
    const size_t units = (size_t)m->units, n = (size_t)m->tasks;
    if (!b) return NULL;
    *b = (struct borders){.m = m, .per_byte = m->routes.kinds ? 0 : m->per_byte};
    b->memory = map_model_memory((4 * units + 4 * n) * sizeof(double) +
                                 (2 * units + 6 * n) * sizeof(int) + 2 * n);
    if (!b->memory) {
        free(b);
        return NULL;
    }
    b->load = b->memory;
    b->out = b->load + units;
    b->cost = b->out + units;
    b->to = b->cost + units;
    b->gain = b->to + units;
    b->own = b->gain + n;
    b->all = b->own + n;
    b->most = b->all + n;
    b->count = (int *)(b->most + n);
    b->touched = b->count + units;
    b->heap = (struct heap){
        .vertex = b->touched + units, .place = b->touched + units + n, .gain = b->gain};
    b->border = b->heap.place + n;
    b->trail = b->border + n;
    b->from = b->trail + n;
    b->seeds = b->from + n;
    b->moved = (char *)(b->seeds + n);
    b->is_there = b->moved + n;
    memset(b->to, 0, units * sizeof *b->to);
    for (size_t v = 0; v < n; v++) b->heap.place[v] = -1;
    return b;
}

static double cost(const struct borders *b, int u, double load, double out) {
    return load * b->m->pace[u] + out * b->per_byte;
}

static double larger(double x, double y) { return x > y ? x : y; }

static void add_border(struct borders *b, int v) {
    b->is_there[v] = 1;
    b->border[b->at_border++] = v;
}

/* Sums up the bytes of v, which comes to a border. */
static void look_at(struct borders *b, const struct level *g, const int *owner, int v) {
    double own = 0, out = 0;
    for (int i = g->start[v]; i < g->start[v + 1]; i++)
        *(owner[g->to[i]] == owner[v] ? &own : &out) += g->bytes[i];
    b->own[v] = own;
    b->most[v] = out;
    b->all[v] = own + out;
}

void borders_start(struct borders *b, const struct level *g, const int *into, int *owner) {
    for (int u = 0; u < b->m->units; u++) b->load[u] = b->out[u] = b->count[u] = 0;
    b->at_border = 0;
    for (int v = g->n - 1; v >= 0; v--) { /* into[v] <= v */
        if (into) owner[v] = owner[into[v]];
        b->is_there[v] = into ? b->is_there[into[v]] : 1;
    }
    for (int v = 0; v < g->n; v++) {
        b->load[owner[v]] += g->weight[v];
        b->count[owner[v]]++;
        if (!b->is_there[v]) continue;
        b->is_there[v] = 0;
        look_at(b, g, owner, v);
        b->out[owner[v]] += b->most[v];
        if (b->most[v] > 0) add_border(b, v);
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

/* Fills in `touched` and `to` for vertex v. */
static void look(struct borders *b, const struct level *g, const int *owner, int v) {
    const int u = owner[v];
    b->touches = 0;
    for (int i = g->start[v]; i < g->start[v + 1]; i++) {
        const int w = owner[g->to[i]];
        if (w == u) continue;
        if (b->to[w] == 0) b->touched[b->touches++] = w;
        b->to[w] += g->bytes[i];
    }
}

/* The unit that v (see look()) moves to: where it cuts the fewest bytes; of equal ones the one done
 * first. It must stay below the limit or, with `must`, below v's unit. -1: none. */
static int best_unit(const struct borders *b, double weight, int v, int u, double limit, int must) {
    double best = 0, shortest = INFINITY;
    const double own = b->own[v], all = b->all[v];
    const double without = cost(b, u, b->load[u] - weight, b->out[u] + 2 * own - all);
    int to = -1;
    if (b->count[u] < 2 || without > fmax(limit, b->cost[u])) return -1;
    for (int i = 0; i < b->touches; i++) {
        const int w = b->touched[i];
        if (b->to[w] < best) continue;
        const double then = cost(b, w, b->load[w] + weight, b->out[w] - 2 * b->to[w] + all);
        if (then > limit && !(must && then < b->cost[u] * (1 - 1e-9))) continue;
        if (b->to[w] == best && then >= shortest) continue;
        best = b->to[w];
        shortest = then;
        to = w;
    }
    return to;
}

/* The best unit for v, -1: none, and the reduction of the cut when it moves there. */
static int find_unit(struct borders *b, const struct level *g, const int *owner, int v,
                     double limit, int must, double *gain) {
    look(b, g, owner, v);
    const int w = best_unit(b, g->weight[v], v, owner[v], limit, must);
    *gain = w < 0 ? 0 : b->to[w] - b->own[v];
    b->most[v] = 0;
    for (int i = 0; i < b->touches; i++) {
        b->most[v] = larger(b->most[v], b->to[b->touched[i]]);
        b->to[b->touched[i]] = 0;
    }
    return w;
}

/* Moves vertex v to unit w. */
static void move(struct borders *b, const struct level *g, int *owner, int v, int w) {
    const int u = owner[v];
    double to = 0;
    owner[v] = w;
    for (int i = g->start[v]; i < g->start[v + 1]; i++) {
        const int o = g->to[i];
        if (owner[o] == w) {
            b->own[o] += g->bytes[i];
            to += g->bytes[i];
            continue;
        }
        if (!b->is_there[o]) {
            add_border(b, o);
            look_at(b, g, owner, o);
            continue;
        }
        b->most[o] += g->bytes[i];
        if (owner[o] == u) b->own[o] -= g->bytes[i];
    }
    b->load[u] -= g->weight[v];
    b->load[w] += g->weight[v];
    b->out[u] += 2 * b->own[v] - b->all[v];
    b->out[w] += b->all[v] - 2 * to;
    b->most[v] = larger(b->most[v], b->own[v]);
    b->own[v] = to;
    b->cost[u] = cost(b, u, b->load[u], b->out[u]);
    b->cost[w] = cost(b, w, b->load[w], b->out[w]);
    b->count[u]--;
    b->count[w]++;
}

/* Gives v its place in the heap. */
static void enter(struct borders *b, int v, double gain) {
    b->gain[v] = gain;
    if (b->heap.place[v] < 0)
        heap_push(&b->heap, v);
    else
        heap_sift(&b->heap, b->heap.place[v], v);
}

/* What the heap has for a vertex that leaves a unit that is too long: a loss counts by weight. */
static double by_weight(double gain, double weight) {
    return gain < 0 ? gain / (weight + 1e-300) : gain;
}

/* Moves vertices from units that are too long, where that cuts the fewest bytes more first and each
 * once; returns their number. */
static int shorten(struct borders *b, const struct level *g, int *owner, double limit) {
    int moves = 0;
    for (int i = 0; i < b->at_border; i++) {
        const int v = b->border[i];
        if (b->cost[owner[v]] > limit) enter(b, v, by_weight(b->most[v] - b->own[v], g->weight[v]));
    }
    while (b->heap.n) {
        const int v = b->heap.vertex[0];
        double gain;
        const int w = b->cost[owner[v]] <= limit ? -1 : find_unit(b, g, owner, v, limit, 1, &gain);
        if (w >= 0 && by_weight(gain, g->weight[v]) < b->gain[v]) {
            enter(b, v, by_weight(gain, g->weight[v]));
            continue;
        }
        heap_drop(&b->heap, v);
        if (w >= 0) move(b, g, owner, v, w);
        moves += w >= 0;
    }
    return moves;
}

static void shorten_all(struct borders *b, const struct level *g, int *owner, double limit) {
    for (int r = 0; r < ROUNDS && shorten(b, g, owner, limit); r++) {
    }
}

/* ---- searches ------------------------------------------------------------------------------ */

/* Moves vertices from v on, each time the one that cuts the fewest bytes more and each once in a
 * pass, until PATIENCE moves were in vain, which are taken back. */
static void search_from(struct borders *b, const struct level *g, int *owner, int v, double limit) {
    double sum = 0, best = 0;
    int steps = 0, kept = 0;
    enter(b, v, b->most[v] - b->own[v]);
    while (b->heap.n && steps - kept < PATIENCE) {
        v = b->heap.vertex[0];
        double gain;
        const int u = owner[v], w = find_unit(b, g, owner, v, limit, 0, &gain);
        if (w >= 0 && gain < b->gain[v] && (steps || gain >= -HOPELESS * b->all[v])) {
            enter(b, v, gain);
            continue;
        }
        heap_drop(&b->heap, v);
        if (w < 0 || gain < b->gain[v]) continue;
        move(b, g, owner, v, w);
        b->moved[v] = 1;
        b->trail[steps] = v;
        b->from[steps++] = u;
        sum += gain;
        if (sum > best * (1 + 1e-12) + 1e-300) {
            best = sum;
            kept = steps;
        }
        for (int k = g->start[v]; k < g->start[v + 1]; k++) { /* those of unit w gain less now */
            const int o = g->to[k];
            if (owner[o] != w && !b->moved[o]) enter(b, o, b->most[o] - b->own[o]);
        }
    }
    while (b->heap.n) heap_drop(&b->heap, b->heap.vertex[b->heap.n - 1]);
    while (steps-- > kept) move(b, g, owner, b->trail[steps], b->from[steps]);
}

static double bytes_cut(const struct borders *b) {
    double sum = 0;
    for (int u = 0; u < b->m->units; u++) sum += b->out[u];
    return sum;
}

/* Searches from each vertex at a border, in random order, pass by pass while that is worth it. */
static void straighten(struct borders *b, const struct level *g, int *owner, double limit) {
    unsigned long long seed = 1;
    for (int pass = 0; pass < PASSES; pass++) {
        const double before = bytes_cut(b);
        int n = b->at_border;
        memset(b->moved, 0, (size_t)g->n);
        memcpy(b->seeds, b->border, (size_t)n * sizeof *b->seeds);
        while (n) {
            const int k = level_draw(&seed, n--), v = b->seeds[k];
            b->seeds[k] = b->seeds[n];
            if (!b->moved[v] && b->most[v] - b->own[v] >= -HOPELESS * b->all[v])
                search_from(b, g, owner, v, limit);
        }
        if (bytes_cut(b) > before * WORTH) return;
    }
}

void borders_improve(struct borders *b, const struct level *g, int *owner, double loose) {
    shorten_all(b, g, owner, even(b) * (1 + loose));
    straighten(b, g, owner, even(b) * (1 + loose));
    shorten_all(b, g, owner, even(b) * (1 + loose));
}
