/* A candidate of `map` where units are near and far: the same choice twice, first among nodes, each
 * of the speed and the memory of all its units, then within each node. */
#include "policy/map/choice.h"
#include <stdlib.h>
#include <string.h>

/* Units in groups: nodes, or kinds on one node. */
struct groups {
    int n;
    int *of_unit; /* group of each unit */
    int *unit;    /* the first unit of each group */
};

static int is_of(const struct routes *r, int by_kind, int u) {
    return by_kind ? (r->kind ? r->kind[u] : 0) : (r->node ? r->node[u] : 0);
}

static void find_groups(struct groups *g, const struct routes *r, int units, int by_kind) {
    g->n = 0;
    for (int u = 0; u < units; u++) {
        int i = g->n; /* units with neighbouring numbers are often in one group */
        while (i > 0 && is_of(r, by_kind, g->unit[i - 1]) != is_of(r, by_kind, u)) i--;
        if (!i) g->unit[g->n] = u;
        g->of_unit[u] = i ? i - 1 : g->n++;
    }
}

/* The problem of a part: arrays for `tasks` tasks and `units` units. */
struct part {
    evn_problem p;
    double *weight, *speed, *bytes, *capacity;
    int *kind, *node;
    evn_link *link;
    int *task, *unit; /* numbers of its tasks and units in the whole problem */
    int *owner;
};

static int part_open(struct part *x, const evn_problem *p) {
    const size_t n = (size_t)p->tasks, units = (size_t)p->units;
    *x = (struct part){
        .weight = malloc(n * sizeof(double)),
        .speed = malloc(units * sizeof(double)),
        .bytes = malloc(n * sizeof(double)),
        .capacity = malloc(units * sizeof(double)),
        .kind = malloc(units * sizeof(int)),
        .node = malloc(units * sizeof(int)),
        .link = malloc((size_t)p->links * sizeof(evn_link) + 1),
        .task = malloc(n * sizeof(int)),
        .unit = malloc(units * sizeof(int)),
        .owner = malloc(n * sizeof(int)),
    };
    return !x->weight || !x->speed || !x->bytes || !x->capacity || !x->kind || !x->node ||
           !x->link || !x->task || !x->unit || !x->owner;
}

static void part_close(struct part *x) {
    free(x->weight);
    free(x->speed);
    free(x->bytes);
    free(x->capacity);
    free(x->kind);
    free(x->node);
    free(x->link);
    free(x->task);
    free(x->unit);
    free(x->owner);
}

static void begin(struct part *x, const evn_problem *p) {
    x->p = *p;
    x->p.tasks = x->p.links = x->p.units = 0;
    x->p.weight = x->weight;
    x->p.speed = x->speed;
    x->p.link = x->link;
    x->p.kind = p->kind ? x->kind : NULL;
    x->p.node = p->node ? x->node : NULL;
    x->p.bytes = p->bytes ? x->bytes : NULL;
    x->p.capacity = p->capacity ? x->capacity : NULL;
}

/* Weights and speeds of the model give times in its unit, routes are in the problem's. */
static void add_task(struct part *x, const evn_problem *p, const struct map_model *m, int t) {
    const int at = x->p.tasks++;
    x->task[at] = t;
    x->weight[at] = m->weight[t] * m->time_unit;
    x->bytes[at] = p->bytes ? p->bytes[t] : 0;
}

static void add_unit(struct part *x, const evn_problem *p, const struct map_model *m, int u) {
    const int at = x->p.units++;
    x->unit[at] = u;
    x->speed[at] = 1 / m->pace[u];
    x->kind[at] = p->kind ? p->kind[u] : 0;
    x->node[at] = p->node ? p->node[u] : 0;
    x->capacity[at] = m->capacity[u];
}

static int solve(struct part *x) {
    struct map_model m;
    if (x->p.tasks < 1 || x->p.units < 1) return 0;
    if (map_model_open(&m, &x->p, NULL, NULL)) return 1;
    m.is_part = 1;
    const int failed = map_choose(&x->p, &m, x->owner);
    map_model_close(&m);
    return failed;
}

/* Assigns tasks to groups, in `owner`. */
static int share_out(struct part *x, const evn_problem *p, const struct map_model *m,
                     const struct groups *g, int *owner) {
    begin(x, p);
    for (int t = 0; t < p->tasks; t++) add_task(x, p, m, t);
    for (int i = 0; i < g->n; i++) add_unit(x, p, m, g->unit[i]);
    for (int i = 0; i < g->n; i++) x->speed[i] = x->capacity[i] = 0;
    for (int u = 0; u < p->units; u++) {
        x->speed[g->of_unit[u]] += 1 / m->pace[u];
        x->capacity[g->of_unit[u]] += m->capacity[u];
    }
    memcpy(x->link, p->link, (size_t)p->links * sizeof *x->link);
    x->p.links = p->links;
    if (solve(x)) return 1;
    memcpy(owner, x->owner, (size_t)p->tasks * sizeof *owner);
    return 0;
}

/* Assigns the tasks of one group to its units; `group`: group of each task, `place`: its index in
 * the part. */
static int share_group(struct part *x, const evn_problem *p, const struct map_model *m,
                       const struct groups *g, int i, const int *group, int *place, int *owner) {
    begin(x, p);
    x->p.node = NULL; /* within one node, or among nodes' units of one kind, nodes do not matter */
    for (int t = 0; t < p->tasks; t++) {
        place[t] = x->p.tasks;
        if (group[t] == i) add_task(x, p, m, t);
    }
    for (int u = 0; u < p->units; u++)
        if (g->of_unit[u] == i) add_unit(x, p, m, u);
    for (int l = 0; l < p->links; l++) {
        const int *end = p->link[l].task;
        if (group[end[0]] == i && group[end[1]] == i)
            x->link[x->p.links++] = (evn_link){{place[end[0]], place[end[1]]}, p->link[l].bytes};
    }
    if (solve(x)) return 1;
    for (int t = 0; t < x->p.tasks; t++) owner[x->task[t]] = x->unit[x->owner[t]];
    return 0;
}

int map_by_nodes(const evn_problem *p, const struct map_model *m, int *owner) {
    if (!m->routes.kinds) return 1;
    const size_t n = (size_t)p->tasks, units = (size_t)p->units;
    int *of_units = malloc(2 * units * sizeof *of_units);
    int *of_tasks = malloc(2 * n * sizeof *of_tasks);
    struct groups g = {.of_unit = of_units, .unit = of_units ? of_units + units : NULL};
    struct part x;
    int failed = part_open(&x, p) || !of_units || !of_tasks;
    if (!failed) {
        find_groups(&g, &m->routes, p->units, 0);
        if (g.n == 1) find_groups(&g, &m->routes, p->units, 1);
        failed = g.n == 1 || g.n == p->units || share_out(&x, p, m, &g, of_tasks);
    }
    for (int i = 0; !failed && i < g.n; i++)
        failed = share_group(&x, p, m, &g, i, of_tasks, of_tasks + n, owner);
    part_close(&x);
    free(of_units);
    free(of_tasks);
    return failed || map_feed(m, owner);
}
