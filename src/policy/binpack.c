/* binpack: the load balancing of NPB-MZ. Tasks in descending order of weight go to the unit that
 * would finish first; among tasks within 5 % of the next weight, the one that exchanges most with
 * the unit's tasks is taken. The caller may then reassign cores (core_reassignment.h). Source: Jin
 * and van der Wijngaart, "Performance characteristics of the multi-zone NAS Parallel Benchmarks"
 * (2006), and the benchmarks' code.
 *
 * Units of unequal speed: the unit that would finish first with the task, which for equal speeds is
 * the one with the smallest load; the last tasks are reserved for empty units.
 *
 * Two details repeat the benchmarks' decisions exactly. Equal weights come in the order of a
 * selection sort that swaps. And the exchange of two zones is measured by the length of their
 * common face, nx or ny points, while a link counts the bytes of the nx - 2 or ny - 2 inner points;
 * with two faces in the unit against one the difference decides (in class C it does), so each
 * face's missing part is reconstructed, see rim().
 *
 * With routes, or if the result exceeds capacities, binpack_near.c is used.
 *
 * The original walks over all tasks within 5 %, for each task anew, would take hours for a million
 * equal tasks. Here each unit keeps the tasks linked to its own in heaps, and every step has
 * logarithmic cost. */
#include <evener/status.h>
#include "policy/binpack.h"
#include "policy/binpack_near.h"
#include "schedule/capacity.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A heap: the smallest key first, of equal keys the smallest id. */
struct item {
    double key;
    int id;
};

struct heap {
    struct item *item;
    int n, room;
};

static int before(struct item a, struct item b) {
    return a.key < b.key || (a.key == b.key && a.id < b.id);
}

static evn_status push(struct heap *h, double key, int id) {
    if (h->n == h->room) {
        int room = h->room ? 2 * h->room : 4;
        struct item *item = realloc(h->item, sizeof *item * (size_t)room);
        if (!item) return evn_fail(EVN_MEMORY, "schedule: not enough memory for the links");
        h->item = item;
        h->room = room;
    }
    const struct item new = {key, id};
    int i = h->n++;
    for (; i && before(new, h->item[(i - 1) / 2]); i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = new;
    return EVN_OK;
}

/* Replaces the first item by `new`, and restores the heap. */
static void replace_first(struct heap *h, struct item new) {
    int i = 0;
    for (int c; (c = 2 * i + 1) < h->n; i = c) {
        if (c + 1 < h->n && before(h->item[c + 1], h->item[c])) c++;
        if (!before(h->item[c], new)) break;
        h->item[i] = h->item[c];
    }
    h->item[i] = new;
}

static int pop(struct heap *h) {
    const int id = h->item[0].id;
    const struct item last = h->item[--h->n];
    if (h->n) replace_first(h, last);
    return id;
}

/* Bytes between a task and a unit's tasks: an open hash table by task and unit. */
struct bond {
    uint64_t key; /* task * units + unit + 1; 0: free */
    double bytes;
};

enum { BLOCK = 64 }; /* classes that share an entry of `least` */

struct packing {
    const evn_problem *p;
    double rim;                  /* bytes missing in each link, see rim() */
    int *order, *place;          /* the tasks by descending weight; where each is in there */
    int *first, *neighbour;      /* neighbours of task t: first[t] .. first[t + 1] - 1 */
    double *bytes;               /* bytes of the links to these neighbours */
    int classes;                 /* classes of units of the same speed, fastest first */
    struct heap *class_;         /* units by load; -1: it has no task yet */
    double *load, *slowness;     /* smallest load of each class; 1 / speed */
    double *least, *looked_at;   /* earliest time in each BLOCK of classes, and for which weight */
    struct heap *near, *waiting; /* tasks linked to those of each unit, by their place: those within
                                    5 % by -bytes; the others */
    struct bond *bond;
    uint64_t slots; /* number of entries of `bond`, a power of 2 */
    int *owner;     /* -1: not placed */
};

/* The order of a selection sort that swaps the largest of the rest, the first one among equals, to
 * the front: with a tournament tree instead of a search for the largest. */
static evn_status sort_by_weight(const evn_problem *p, int *order) {
    const int n = p->tasks;
    int leaves = 1;
    while (leaves < n) leaves *= 2;
    /* winner[]: a tournament tree; leaf i - leaves is a position, -1: out */
    int *winner = malloc(sizeof *winner * 2 * (size_t)leaves);
    if (!winner) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", n);
    for (int t = 0; t < n; t++) order[t] = t;
    for (int i = 0; i < leaves; i++) winner[leaves + i] = i < n ? i : -1;
#define PLAY(i)                                                                                    \
    do {                                                                                           \
        const int a = winner[2 * (i)], b = winner[2 * (i) + 1];                                    \
        winner[i] = b < 0 || (a >= 0 && p->weight[order[a]] >= p->weight[order[b]]) ? a : b;       \
    } while (0)
    for (int i = leaves - 1; i; i--) PLAY(i);
    for (int front = 0; front < n; front++) {
        const int largest = winner[1], task = order[largest];
        order[largest] = order[front];
        order[front] = task;
        winner[leaves + front] = -1;
        for (int i = (leaves + front) / 2; i; i /= 2) PLAY(i);
        for (int i = (leaves + largest) / 2; i; i /= 2) PLAY(i);
    }
#undef PLAY
    free(winner);
    return EVN_OK;
}

static int by_bytes(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* 1 if task t is a zone of NPB-MZ with nz points in z: its four links are two times 40 (nx - 2)(nz
 * - 2) bytes and two times 40 (ny - 2)(nz - 2), and its weight is nx ny nz. */
static int is_zone(const struct packing *k, int t, int nz) {
    if (k->first[t + 1] - k->first[t] != 4) return 0;
    double b[4];
    memcpy(b, k->bytes + k->first[t], sizeof b);
    qsort(b, 4, sizeof *b, by_bytes);
    const double line = 40.0 * (nz - 2), nx = b[0] / line + 2, ny = b[2] / line + 2;
    return b[0] == b[1] && b[2] == b[3] && nx == floor(nx) && ny == floor(ny) &&
           nx * ny * nz == k->p->weight[t];
}

/* Bytes that the link of a face lacks of the face's full length: two lines, if all tasks are zones
 * with the same number of points in z; 0 otherwise, and then the bytes are all we go by. (So it is
 * in class S, too, where two zones have two faces in common; there it makes no difference.) */
static double rim(const struct packing *k) {
    for (int nz = 3; nz < 10000; nz++) {
        int t = 0;
        while (t < k->p->tasks && is_zone(k, t, nz)) t++;
        if (t == k->p->tasks) return 2 * 40.0 * (nz - 2);
    }
    return 0;
}

/* The table's entry for the bytes between a task and a unit. */
static double *bond(struct packing *k, int task, int unit) {
    const uint64_t key = (uint64_t)task * (uint64_t)k->p->units + (uint64_t)unit + 1;
    uint64_t i = (key * 0x9e3779b97f4a7c15u) >> 20;
    for (;; i++) {
        struct bond *b = &k->bond[i & (k->slots - 1)];
        if (!b->key) b->key = key;
        if (b->key == key) return &b->bytes;
    }
}

/* Finds in block b of classes the one that would be done first with a task of this weight, the
 * fastest of equal ones. */
static int look(struct packing *k, int b, double weight) {
    int best = b * BLOCK;
    double best_time = INFINITY;
    for (int c = best; c < (b + 1) * BLOCK && c < k->classes; c++) {
        const double time = (k->load[c] + weight) * k->slowness[c];
        if (!(time < best_time)) continue;
        best_time = time;
        best = c;
    }
    k->least[b] = best_time;
    k->looked_at[b] = weight;
    return best;
}

/* The class that would finish a task of this weight first. There may be as many classes as units,
 * so blocks of classes keep a lower bound of their times. Weights descend: since the bound was
 * taken, it has shrunk by no more than the difference of weights on the block's slowest class. A
 * block whose bound is not below the best time is skipped. */
static int soonest(struct packing *k, double weight) {
    int best = 0;
    double best_time = INFINITY;
    for (int b = 0; b * BLOCK < k->classes; b++) {
        const int last = (b + 1) * BLOCK < k->classes ? (b + 1) * BLOCK - 1 : k->classes - 1;
        if (k->least[b] - (k->looked_at[b] - weight) * k->slowness[last] >= best_time) continue;
        const int c = look(k, b, weight);
        if (!(k->least[b] < best_time)) continue;
        best_time = k->least[b];
        best = c;
    }
    return best;
}

/* The fastest class that has a unit without a task. */
static int without_task(const struct packing *k) {
    int c = 0;
    while (k->class_[c].item->key >= 0) c++;
    return c;
}

static evn_status pack(struct packing *k) {
    const evn_problem *p = k->p;
    const int n = p->tasks;
    int head = 0, limit = 0; /* first task not placed; first task more than 5 % lighter than it */
    int without = p->units;
    for (int placed = 0; placed < n; placed++) {
        while (k->owner[k->order[head]] >= 0) head++;
        const double max = p->weight[k->order[head]];
        while (limit < n && !((max - p->weight[k->order[limit]]) / max > 0.05)) limit++;
        const int c = n >= p->units && n - placed == without ? without_task(k) : soonest(k, max);
        struct heap *units = &k->class_[c];
        const int unit = units->item->id;
        struct heap *near = &k->near[unit], *waiting = &k->waiting[unit];
        evn_status status;
        while (waiting->n && waiting->item->id < limit) {
            const int place = pop(waiting);
            if ((status = push(near, -*bond(k, k->order[place], unit), place))) return status;
        }
        /* the most bytes first; a task whose bytes grew has a newer entry further up */
        while (near->n && k->owner[k->order[near->item->id]] >= 0) pop(near);
        const int task = k->order[near->n ? near->item->id : head];

        k->owner[task] = unit;
        const double load = units->item->key;
        without -= load < 0;
        replace_first(units, (struct item){fmax(load, 0) + p->weight[task], unit});
        k->load[c] = fmax(units->item->key, 0);
        look(k, c / BLOCK, max);
        for (int i = k->first[task]; i < k->first[task + 1]; i++) {
            const int other = k->neighbour[i], place = k->place[other];
            if (k->owner[other] >= 0) continue;
            double *bytes = bond(k, other, unit);
            *bytes += k->bytes[i] + k->rim;
            if (!(*bytes > 0)) continue;
            status = place < limit ? push(near, -*bytes, place) : push(waiting, place, place);
            if (status) return status;
        }
    }
    return EVN_OK;
}

static void find_neighbours(struct packing *k) {
    const evn_problem *p = k->p;
    for (int l = 0; l < p->links; l++)
        for (int e = 0; e < 2; e++) k->first[p->link[l].task[e] + 1]++;
    for (int t = 0; t < p->tasks; t++) k->first[t + 1] += k->first[t];
    for (int l = p->links - 1; l >= 0; l--)
        for (int e = 0; e < 2; e++) {
            int i = --k->first[p->link[l].task[e] + 1];
            k->neighbour[i] = p->link[l].task[1 - e];
            k->bytes[i] = p->link[l].bytes;
        }
    /* each entry t + 1 now says where t begins */
    memmove(k->first, k->first + 1, sizeof *k->first * (size_t)p->tasks);
    k->first[p->tasks] = 2 * p->links;
}

static int by_speed(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? 1 : -1) : x->id - y->id;
}

static evn_status find_classes(struct packing *k) {
    const int units = k->p->units;
    struct item *unit = malloc(sizeof *unit * (size_t)units);
    if (!unit) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", units);
    for (int u = 0; u < units; u++) unit[u] = (struct item){k->p->speed[u], u};
    qsort(unit, (size_t)units, sizeof *unit, by_speed);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < units; i++) {
        if (!i || unit[i].key != unit[i - 1].key) k->slowness[k->classes++] = 1 / unit[i].key;
        status = push(&k->class_[k->classes - 1], -1, unit[i].id);
    }
    free(unit);
    return status;
}

static evn_status group(const evn_problem *p, int *owner) {
    const size_t n = (size_t)p->tasks, units = (size_t)p->units, ends = 2 * (size_t)p->links;
    struct packing k = {.p = p, .owner = owner, .slots = 1};
    while (k.slots < ends + 1) k.slots *= 2;
    k.order = malloc(sizeof *k.order * n);
    k.place = malloc(sizeof *k.place * n);
    k.first = calloc(n + 1, sizeof *k.first);
    k.neighbour = malloc(sizeof *k.neighbour * (ends + 1));
    k.bytes = malloc(sizeof *k.bytes * (ends + 1));
    k.bond = calloc(k.slots, sizeof *k.bond);
    k.class_ = calloc(units, sizeof *k.class_);
    k.load = calloc(4 * units, sizeof *k.load);
    k.near = calloc(2 * units, sizeof *k.near);
    evn_status status;
    if (!k.order || !k.place || !k.first || !k.neighbour || !k.bytes || !k.bond || !k.class_ ||
        !k.load || !k.near) {
        status = evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    } else {
        k.waiting = k.near + units;
        k.slowness = k.load + units;
        k.least = k.slowness + units;
        k.looked_at = k.least + units;
        for (size_t b = 0; b < units; b++) k.looked_at[b] = INFINITY;
        status = sort_by_weight(p, k.order);
    }
    if (!status) status = find_classes(&k);
    if (!status) {
        find_neighbours(&k);
        k.rim = rim(&k);
        for (int i = 0; i < p->tasks; i++) k.place[k.order[i]] = i;
        for (int t = 0; t < p->tasks; t++) owner[t] = -1;
        status = pack(&k);
    }
    for (int i = 0; i < k.classes; i++) free(k.class_[i].item);
    for (size_t i = 0; k.near && i < 2 * units; i++) free(k.near[i].item);
    free(k.order);
    free(k.place);
    free(k.first);
    free(k.neighbour);
    free(k.bytes);
    free(k.bond);
    free(k.class_);
    free(k.load);
    free(k.near);
    return status;
}

/* Plans without routes and capacities; if that does not fit, or there are routes, by
 * binpack_near(). */
evn_status binpack_plan(const evn_problem *p, int *owner) {
    struct routes routes;
    double *used = malloc((size_t)p->units * sizeof *used), over = 0;
    int least, failed = routes_open(&routes, p, 1);
    evn_status status = used && !failed ? EVN_OK : EVN_MEMORY;
    if (!status && routes.kinds)
        status = binpack_near(p, &routes, 0, owner);
    else if (!status)
        status = group(p, owner);
    if (!status && capacity_given(p) && capacity_over(p, owner, used) > 0) {
        status = binpack_near(p, &routes, 1, owner);
        if (!status && capacity_over(p, owner, used) > 0 && capacity_fit(p, owner, &over, &least))
            status = EVN_MEMORY;
    }
    free(used);
    if (!failed) routes_close(&routes);
    return status == EVN_MEMORY
               ? evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks)
               : status;
}

static evn_status open_binpack(evn_schedule *s, const evn_spec *spec) {
    long cap = 0;
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        if (!strcmp(o->key, "reassign") && !o->value) {
            s->reassigns = 1;
        } else if (strcmp(o->key, "cap") != 0) {
            return evn_fail(
                EVN_USAGE,
                "schedule: binpack has no option \"%s\", expected time, reassign or cap=N", o->key);
        } else {
            evn_status status = evn_spec_number(o, "schedule", spec->name, 1, 1000000, &cap);
            if (status) return status;
        }
    }
    if (cap && !s->reassigns)
        return evn_fail(EVN_USAGE,
                        "schedule: binpack:cap=%ld: cores are not reassigned, expected "
                        "binpack:reassign,cap=%ld",
                        cap, cap);
    s->cap = (int)cap;
    snprintf(s->text, sizeof s->text,
             cap            ? "binpack:reassign,cap=%ld"
             : s->reassigns ? "binpack:reassign"
                            : "binpack",
             cap);
    s->settled = 1;
    return binpack_plan(&s->problem, s->owner);
}

const struct policy policy_binpack = {
    .name = "binpack",
    .still = 1,
    .by_time = &policy_binpack_time,
    .weights = policy_weights_plan,
    .change = policy_change_repair,
    .explanation = "heaviest task first to the unit that is done first, beside its neighbours if "
                   "weights are close; time: again by times learnt; reassign,cap=N: cores follow",
    .open = open_binpack,
};
