/* Memory: moves tasks from full units to units with room, by best moves and swaps, and if that is
 * not enough by a search of all assignments, limited by a number of steps. */
#include "schedule/capacity.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_PAIRS = 20000000, /* tasks x units up to which each task is tried on each unit */
    DEPTH = 5000,         /* tasks up to which all assignments are searched */
    STEPS = 4000000,      /* most steps of that search */
};

int capacity_given(const evn_problem *p) {
    if (!p->bytes || !p->capacity) return 0;
    for (int u = 0; u < p->units; u++)
        if (!isinf(capacity_of(p, u))) return 1;
    return 0;
}

double capacity_of(const evn_problem *p, int unit) {
    return p->capacity && p->capacity[unit] > 0 ? p->capacity[unit] : INFINITY;
}

/* Bytes of `used` beyond a unit's capacity. */
static double excess(const evn_problem *p, int unit, double used) {
    return capacity_excess(capacity_of(p, unit), used);
}

double capacity_over(const evn_problem *p, const int *owner, double *used) {
    double over = 0;
    for (int u = 0; u < p->units; u++) used[u] = 0;
    for (int t = 0; p->bytes && t < p->tasks; t++) used[owner[t]] += p->bytes[t];
    for (int u = 0; u < p->units; u++) over += excess(p, u, used[u]);
    return over;
}

struct fit {
    const evn_problem *p;
    int *owner;
    double *used, *time; /* bytes of each unit's tasks; their weight over its speed */
    int *head, *next;    /* tasks of each unit, as lists that end with -1 */
    /* the search of all assignments */
    int *order, *trial;
    double over;  /* excess of the best assignment so far, bytes */
    double *left; /* bytes of the tasks from this one on */
    double *room; /* remaining bytes of each unit */
    long steps;
};

/* A task that changes its unit, or with b >= 0 two that change places. */
struct change {
    int a, b, to;
    double over, time; /* change of the excess; time of the longer of the two units afterwards */
};

/* Order of changes: larger reduction of the excess first; of equal ones, the units that finish
 * first. */
static void consider(const struct fit *f, struct change *best, int a, int b, int to) {
    const evn_problem *p = f->p;
    const int from = f->owner[a];
    const double bytes = p->bytes[a] - (b >= 0 ? p->bytes[b] : 0);
    const double weight = p->weight[a] - (b >= 0 ? p->weight[b] : 0);
    struct change c = {.a = a, .b = b, .to = to};
    c.over = excess(p, from, f->used[from] - bytes) + excess(p, to, f->used[to] + bytes) -
             excess(p, from, f->used[from]) - excess(p, to, f->used[to]);
    c.time = fmax(f->time[from] - weight / p->speed[from], f->time[to] + weight / p->speed[to]);
    if (!(c.over < -1e-12 * f->used[from]) || c.over > best->over ||
        (c.over == best->over && c.time >= best->time))
        return;
    *best = c;
}

static void move(struct fit *f, int t, int to) {
    const evn_problem *p = f->p;
    const int from = f->owner[t];
    f->used[from] -= p->bytes[t];
    f->used[to] += p->bytes[t];
    f->time[from] -= p->weight[t] / p->speed[from];
    f->time[to] += p->weight[t] / p->speed[to];
    int *at = &f->head[from];
    while (*at != t) at = &f->next[*at];
    *at = f->next[t];
    f->next[t] = f->head[to];
    f->head[to] = t;
    f->owner[t] = to;
}

/* The unit with the most room. */
static int roomiest(const struct fit *f) {
    int best = 0;
    for (int u = 1; u < f->p->units; u++)
        if (capacity_of(f->p, u) - f->used[u] > capacity_of(f->p, best) - f->used[best]) best = u;
    return best;
}

/* Moves tasks away from unit u as long as that reduces the excess. */
static void relieve(struct fit *f, int u) {
    const evn_problem *p = f->p;
    const int all = (double)p->tasks * p->units <= ALL_PAIRS;
    while (excess(p, u, f->used[u]) > 0) {
        struct change best = {.a = -1};
        const int to = all ? 0 : roomiest(f), end = all ? p->units : to + 1;
        for (int a = f->head[u]; a >= 0; a = f->next[a])
            for (int v = to; v < end; v++)
                if (v != u) consider(f, &best, a, -1, v);
        for (int a = f->head[u]; a >= 0 && best.a < 0 && all; a = f->next[a])
            for (int b = 0; b < p->tasks; b++)
                if (f->owner[b] != u && p->bytes[b] < p->bytes[a])
                    consider(f, &best, a, b, f->owner[b]);
        if (best.a < 0) return;
        move(f, best.a, best.to);
        if (best.b >= 0) move(f, best.b, u);
    }
}

/* Tries all assignments of the tasks from the i-th on, the present owner first; prunes those that
 * cannot be better than the best so far. */
static void search(struct fit *f, int i, double over) {
    const evn_problem *p = f->p;
    double room = 0;
    for (int u = 0; u < p->units; u++) room += fmax(f->room[u], 0);
    if (over + fmax(f->left[i] - room, 0) >= f->over * (1 - 1e-12) || f->steps-- <= 0) return;
    if (i == p->tasks) {
        f->over = over;
        memcpy(f->owner, f->trial, (size_t)p->tasks * sizeof *f->owner);
        return;
    }
    const int t = f->order[i], first = f->trial[t];
    for (int k = 0; k < p->units; k++) {
        const int u = k == 0 ? first : k <= first ? k - 1 : k;
        int like = 0; /* 1: a unit that is alike was tried */
        for (int j = 0; j < k && !like; j++) {
            const int v = j == 0 ? first : j <= first ? j - 1 : j;
            like = f->room[u] == f->room[v];
        }
        if (like) continue;
        const double had = f->room[u], has = had - p->bytes[t];
        const double rounding = isinf(had) ? 0 : 1e-12 * capacity_of(p, u);
        f->trial[t] = u;
        f->room[u] = has;
        search(f, i + 1, over + (has < -rounding ? fmin(-has, p->bytes[t]) : 0));
        f->room[u] = had;
    }
    f->trial[t] = first;
}

static int by_bytes(const void *a, const void *b, void *bytes) {
    const int s = *(const int *)a, t = *(const int *)b;
    const double *x = bytes;
    return x[s] != x[t] ? (x[s] < x[t] ? 1 : -1) : s - t;
}

/* Least possible excess. */
static double least_over(const evn_problem *p) {
    double bytes = 0, room = 0, largest = 0, roomiest = 0;
    for (int t = 0; t < p->tasks; t++) {
        bytes += p->bytes[t];
        largest = fmax(largest, p->bytes[t]);
    }
    for (int u = 0; u < p->units; u++) {
        room += capacity_of(p, u);
        roomiest = fmax(roomiest, capacity_of(p, u));
    }
    return fmax(fmax(bytes - room, largest - roomiest), 0);
}

/* Searches all assignments, if there are few enough. Returns whether the search was completed. */
static int search_all(struct fit *f) {
    const evn_problem *p = f->p;
    if (p->tasks > DEPTH || (double)p->tasks * p->units > ALL_PAIRS) return 0;
    for (int t = 0; t < p->tasks; t++) f->order[t] = t;
    qsort_r(f->order, (size_t)p->tasks, sizeof *f->order, by_bytes, (void *)p->bytes);
    f->left[p->tasks] = 0;
    for (int i = p->tasks - 1; i >= 0; i--) f->left[i] = f->left[i + 1] + p->bytes[f->order[i]];
    for (int u = 0; u < p->units; u++) f->room[u] = capacity_of(p, u);
    memcpy(f->trial, f->owner, (size_t)p->tasks * sizeof *f->trial);
    f->steps = STEPS / p->units;
    search(f, 0, 0);
    return f->steps > 0;
}

int capacity_fit(const evn_problem *p, int *owner, double *over, int *least) {
    const size_t n = (size_t)p->tasks, units = (size_t)p->units;
    struct fit f = {.p = p, .owner = owner};
    double *of_units = calloc(3 * units + n + 1, sizeof *of_units);
    int *of_tasks = malloc((3 * n + units) * sizeof *of_tasks);
    const int failed = !of_units || !of_tasks;
    if (!failed) {
        f.used = of_units;
        f.time = f.used + units;
        f.room = f.time + units;
        f.left = f.room + units;
        f.next = of_tasks;
        f.order = f.next + n;
        f.trial = f.order + n;
        f.head = f.trial + n;
        capacity_over(p, owner, f.used);
        for (size_t u = 0; u < units; u++) f.head[u] = -1;
        for (int t = p->tasks - 1; t >= 0; t--) {
            f.time[owner[t]] += p->weight[t] / p->speed[owner[t]];
            f.next[t] = f.head[owner[t]];
            f.head[owner[t]] = t;
        }
        for (int u = 0; u < p->units; u++) relieve(&f, u);
        f.over = capacity_over(p, owner, f.used);
        *least = f.over <= least_over(p) * (1 + 1e-12);
        if (!*least) *least = search_all(&f);
        *over = capacity_over(p, owner, f.used);
    }
    free(of_units);
    free(of_tasks);
    return failed;
}

enum { LISTED = 8 }; /* units that a message lists; of more it gives the number */

int capacity_explain(const evn_problem *p, const int *owner, FILE *out) {
    if (!capacity_given(p)) return 0;
    const size_t n = (size_t)p->tasks;
    double *used = malloc((size_t)p->units * sizeof *used), over = 0;
    int *other = malloc(n * sizeof *other), least = 0, units = 0;
    int failed = !used || !other;
    if (!failed) over = capacity_over(p, owner, used);
    if (over > 0) {
        for (int u = 0; u < p->units; u++) {
            if (!(excess(p, u, used[u]) > 0) || ++units > LISTED) continue;
            fprintf(out, "unit %d is over its capacity by %.0f bytes, %.0f of %.0f\n", u,
                    excess(p, u, used[u]), used[u], capacity_of(p, u));
        }
        if (units > LISTED)
            fprintf(out, "so are %d more units, %.0f bytes in all\n", units - LISTED, over);
        memcpy(other, owner, n * sizeof *other);
        failed = capacity_fit(p, other, &over, &least);
        if (!failed)
            fprintf(out, "%s\n",
                    !(over > 0) ? "there is an assignment that fits"
                    : least     ? "no assignment fits"
                                : "no assignment was found that fits");
    }
    free(used);
    free(other);
    return failed;
}
