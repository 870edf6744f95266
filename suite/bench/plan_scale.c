/* Plans of many tasks by the schedule `map`, beside those of METIS: makespan, bytes cut and seconds
 * of processor time.
 *
 * The tasks are of one of six kinds of graphs: a cube and a grid whose neighbours along their edges
 * exchange; points in a square and in a cube, evenly spread, and in a cube where most are near one
 * side (`graded`), which exchange with those near to them; and `hubs`, tasks that exchange with
 * three before them, mostly near ones and else such as have many links. They weigh 10 to 200, a
 * link has min(weights)^(2/3) bytes; units have speeds 1, 1, 2, 4. METIS (METIS_PartGraphKway) gets
 * whole weights and bytes, the speeds as target weights, and may leave units 1 % above them, which
 * it does not keep where units have few tasks; it knows nothing of a bandwidth, at which its plan
 * is what it is. The makespan is over the mean: all weights over all speeds.
 *
 * Run: plan_scale [KIND TASKS UNITS BANDWIDTH]    (all kinds, 1e4 and 1e5 tasks x 16, 256, 1000, 0)
 * Exit status 1 if a ratio is above 1.01 (makespan), 1.1 (bytes) or 2 (seconds). */
#include <evener.h>
#include <evener/schedule.h>
#include <math.h>
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const kinds[] = {"cube", "grid", "square", "space", "graded", "hubs"};
enum { CUBE, GRID, SQUARE, SPACE, GRADED, HUBS, KINDS };

struct tasks {
    evn_problem p;
    double *weight, *speed;
    evn_link *link;
    int room; /* links that there is room for */
};

static unsigned long long seed;

/* A reproducible random number, 0 to below 1. */
static double draw(void) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static void add_link(struct tasks *c, int t, int other) {
    const double least = fmin(c->weight[t], c->weight[other]);
    if (c->p.links == c->room) {
        evn_link *more = realloc(c->link, 2 * sizeof *more * (size_t)c->room);
        if (!more) exit(2);
        c->link = more;
        c->room *= 2;
    }
    c->link[c->p.links++] = (evn_link){{t, other}, floor(pow(least, 2. / 3)) + 1};
}

static void link_lattice(struct tasks *c, int side, int dimensions) {
    for (int t = 0; t < c->p.tasks; t++)
        for (int d = 0, step = 1; d < dimensions; d++, step *= side)
            if (t / step % side + 1 < side) add_link(c, t, t + step);
}

/* Links points in a box of cells that are as wide as links are long, some ten links a point. */
static void link_points(struct tasks *c, int dimensions, int graded) {
    const int n = c->p.tasks;
    const double reach = dimensions == 2 ? sqrt(10 / (M_PI * n)) : cbrt(14 / (4. / 3 * M_PI * n));
    const int side = (int)(1 / reach), cells = side * side * (dimensions == 3 ? side : 1);
    int *first = malloc(sizeof *first * (size_t)cells), *next = malloc(sizeof *next * (size_t)n);
    double(*x)[3] = calloc((size_t)n, sizeof *x);
    if (!first || !next || !x) exit(2);
    for (int i = 0; i < cells; i++) first[i] = -1;
    for (int t = 0; t < n; t++) {
        int cell = 0, at[3] = {0};
        for (int d = 0; d < dimensions; d++) {
            x[t][d] = graded && d == 0 ? pow(draw(), 2) : draw();
            at[d] = (int)fmin(x[t][d] * side, side - 1);
            cell = cell * side + at[d];
        }
        for (int i = 0; i < (dimensions == 3 ? 27 : 9); i++) {
            const int o[3] = {at[0] + i % 3 - 1, at[1] + i / 3 % 3 - 1,
                              dimensions == 3 ? at[2] + i / 9 - 1 : 0};
            if (o[0] < 0 || o[1] < 0 || o[2] < 0 || fmax(fmax(o[0], o[1]), o[2]) >= side) continue;
            const int near =
                dimensions == 3 ? (o[0] * side + o[1]) * side + o[2] : o[0] * side + o[1];
            for (int q = first[near]; q >= 0; q = next[q]) {
                double far = 0;
                for (int d = 0; d < 3; d++) far += pow(x[t][d] - x[q][d], 2);
                if (far < reach * reach) add_link(c, t, q);
            }
        }
        next[t] = first[cell];
        first[cell] = t;
    }
    free(first);
    free(next);
    free(x);
}

static void link_hubs(struct tasks *c) {
    for (int t = 1; t < c->p.tasks; t++)
        for (int i = 0; i < 3; i++) {
            const int any = c->p.links > 0 && draw() < 0.3;
            const evn_link *of = any ? &c->link[(int)(draw() * c->p.links)] : NULL;
            const int other = of ? of->task[draw() < 0.5] : t - 1 - (int)(draw() * 50);
            if (other != t) add_link(c, t, other > 0 ? other : 0);
        }
}

static int tasks_open(struct tasks *c, int kind, double tasks, int units, double bandwidth) {
    const int side = (int)lround(kind == GRID ? sqrt(tasks) : cbrt(tasks));
    const int n = kind == CUBE ? side * side * side : kind == GRID ? side * side : (int)tasks;
    static const double speeds[] = {1, 1, 2, 4};
    seed = 1;
    c->room = 4 * n;
    c->weight = malloc(sizeof *c->weight * (size_t)n);
    c->speed = malloc(sizeof *c->speed * (size_t)units);
    c->link = malloc(sizeof *c->link * (size_t)c->room);
    if (!c->weight || !c->speed || !c->link) return 1;
    c->p = (evn_problem){.tasks = n, .units = units, .instances = 1000, .bandwidth = bandwidth};
    for (int t = 0; t < n; t++) c->weight[t] = floor(exp(3 * draw()) * 10);
    for (int u = 0; u < units; u++) c->speed[u] = speeds[u % 4];
    if (kind == CUBE || kind == GRID) link_lattice(c, side, kind == CUBE ? 3 : 2);
    if (kind == SQUARE) link_points(c, 2, 0);
    if (kind == SPACE || kind == GRADED) link_points(c, 3, kind == GRADED);
    if (kind == HUBS) link_hubs(c);
    c->p.weight = c->weight;
    c->p.speed = c->speed;
    c->p.link = c->link;
    return 0;
}

static void tasks_close(struct tasks *c) {
    free(c->weight);
    free(c->speed);
    free(c->link);
}

static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The graph as METIS has it. */
struct graph {
    idx_t *start, *neighbour, *bytes, *weight, *owner;
    real_t *share;
};

static void graph_close(struct graph *g) {
    free(g->start);
    free(g->neighbour);
    free(g->bytes);
    free(g->weight);
    free(g->owner);
    free(g->share);
}

static int graph_open(struct graph *g, const evn_problem *p) {
    const size_t n = (size_t)p->tasks, ends = 2 * (size_t)p->links;
    double all = 0;
    g->start = calloc(n + 2, sizeof *g->start);
    g->neighbour = malloc(ends * sizeof *g->neighbour);
    g->bytes = malloc(ends * sizeof *g->bytes);
    g->weight = malloc(n * sizeof *g->weight);
    g->owner = malloc(n * sizeof *g->owner);
    g->share = malloc((size_t)p->units * sizeof *g->share);
    if (!g->start || !g->neighbour || !g->bytes || !g->weight || !g->owner || !g->share) return 1;
    for (int u = 0; u < p->units; u++) all += p->speed[u];
    for (int u = 0; u < p->units; u++) g->share[u] = (real_t)(p->speed[u] / all);
    for (size_t t = 0; t < n; t++) g->weight[t] = (idx_t)p->weight[t];
    for (int l = 0; l < p->links; l++)
        for (int e = 0; e < 2; e++) g->start[p->link[l].task[e] + 2]++;
    for (size_t t = 2; t <= n; t++) g->start[t] += g->start[t - 1];
    for (int l = 0; l < p->links; l++)
        for (int e = 0; e < 2; e++) {
            const idx_t at = g->start[p->link[l].task[e] + 1]++;
            g->neighbour[at] = p->link[l].task[1 - e];
            g->bytes[at] = (idx_t)p->link[l].bytes;
        }
    return 0;
}

struct result {
    double makespan, cut, seconds;
};

/* Rates an assignment, exchange counted. */
static void rate(const evn_problem *p, const int *owner, struct result *r) {
    double weights = 0, speeds = 0;
    double *load = calloc((size_t)p->units, sizeof *load);
    if (!load) return;
    r->makespan = r->cut = 0;
    for (int t = 0; t < p->tasks; t++) {
        load[owner[t]] += p->weight[t] / p->speed[owner[t]];
        weights += p->weight[t];
    }
    for (int l = 0; l < p->links; l++) {
        const int u = owner[p->link[l].task[0]], v = owner[p->link[l].task[1]];
        if (u == v) continue;
        r->cut += p->link[l].bytes;
        if (!(p->bandwidth > 0)) continue;
        load[u] += p->link[l].bytes / p->bandwidth;
        load[v] += p->link[l].bytes / p->bandwidth;
    }
    for (int u = 0; u < p->units; u++) {
        r->makespan = fmax(r->makespan, load[u]);
        speeds += p->speed[u];
    }
    r->makespan /= weights / speeds;
    free(load);
}

static int by_metis(const evn_problem *p, int *owner, struct result *r) {
    struct graph g = {0};
    idx_t n = p->tasks, one = 1, units = p->units, cut, options[METIS_NOPTIONS];
    real_t uneven = (real_t)1.01;
    int failed = graph_open(&g, p);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const double begin = processor_time();
    failed =
        failed || METIS_PartGraphKway(&n, &one, g.start, g.neighbour, g.weight, NULL, g.bytes,
                                      &units, g.share, &uneven, options, &cut, g.owner) != METIS_OK;
    r->seconds = processor_time() - begin;
    for (int t = 0; !failed && t < p->tasks; t++) owner[t] = (int)g.owner[t];
    graph_close(&g);
    return failed;
}

static int by_map(const evn_problem *p, int *owner, struct result *r) {
    evn_schedule *s;
    const double begin = processor_time();
    if (evn_schedule_open(&s, "map", p)) return 1;
    r->seconds = processor_time() - begin;
    memcpy(owner, evn_schedule_owner(s), sizeof *owner * (size_t)p->tasks);
    evn_schedule_close(s);
    return 0;
}

/* One case, a line; how many ratios are too large, -1 if it could not be done. */
static int compare(int kind, double tasks, int units, double bandwidth) {
    struct tasks c = {0};
    struct result map, metis;
    int wrong = -1, *owner = NULL;
    if (!tasks_open(&c, kind, tasks, units, bandwidth))
        owner = malloc(sizeof *owner * (size_t)c.p.tasks);
    if (owner && !by_metis(&c.p, owner, &metis)) {
        rate(&c.p, owner, &metis);
        if (!by_map(&c.p, owner, &map)) {
            rate(&c.p, owner, &map);
            const double makespan = map.makespan / metis.makespan, cut = map.cut / metis.cut,
                         seconds = map.seconds / metis.seconds;
            printf("%-7s%8d%6d%6g |%7.4f%10.0f%7.3f |%7.4f%10.0f%7.3f |%7.3f%7.3f%7.2f\n",
                   kinds[kind], c.p.tasks, units, bandwidth, metis.makespan, metis.cut,
                   metis.seconds, map.makespan, map.cut, map.seconds, makespan, cut, seconds);
            wrong = (makespan > 1.01) + (cut > 1.1) + (seconds > 2);
        }
    }
    free(owner);
    tasks_close(&c);
    fflush(stdout);
    return wrong;
}

static int kind_of(const char *name) {
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(name, kinds[i])) return i;
    return -1;
}

int main(int argc, char **argv) {
    static const int units[] = {16, 256, 1000};
    const int kind = argc == 5 ? kind_of(argv[1]) : 0;
    if ((argc != 1 && argc != 5) || kind < 0) {
        fprintf(stderr, "usage: %s [cube|grid|square|space|graded|hubs TASKS UNITS BANDWIDTH]\n",
                argv[0]);
        return 2;
    }
    int wrong = 0;
    printf("%-27s |%-24s |%-24s | map over METIS\n", "", " METIS", " map");
    printf("%-7s%8s%6s%6s |%7s%10s%7s |%7s%10s%7s |%7s%7s%7s\n", "kind", "tasks", "units", "bytes/",
           "span", "cut", "s", "span", "cut", "s", "span", "cut", "s");
    for (int i = 0; i < (argc == 5 ? 1 : 6 * KINDS); i++) {
        const int more = argc == 5
                             ? compare(kind, atof(argv[2]), atoi(argv[3]), atof(argv[4]))
                             : compare(i / 3 % KINDS, i < 3 * KINDS ? 1e4 : 1e5, units[i % 3], 0);
        if (more < 0) {
            fprintf(stderr, "plan_scale: a plan could not be made: %s\n", evn_message());
            return 2;
        }
        wrong += more;
    }
    return wrong > 0;
}
