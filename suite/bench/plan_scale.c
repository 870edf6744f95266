/* Plans of many tasks by the schedule `map`, beside those of METIS: makespan, bytes cut and
 * seconds, exchange free and with a bandwidth.
 *
 * The tasks are a cube whose neighbours along its edges exchange; they weigh 10 to 200, a link has
 * min(weights)^(2/3) bytes; units have speeds 1, 1, 2, 4. METIS (METIS_PartGraphKway) gets whole
 * weights and bytes, the speeds as target weights, and may leave units 1 % above them; it knows
 * nothing of a bandwidth, at which its plan is what it is. The bandwidth is such that exchange
 * takes some 5 % of a step. The makespan is over the mean: all weights over all speeds.
 *
 * Run: plan_scale [TASKS UNITS BANDWIDTH]      (the four cases: 1e5 and 1e6 x 1e3, 0 and 18 or 9)
 * Exit status 1 if a ratio is above 1.01 (makespan), 1.1 (bytes) or 2 (seconds). */
#include <evener.h>
#include <evener/schedule.h>
#include <math.h>
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cube {
    evn_problem p;
    double *weight, *speed;
    evn_link *link;
};

static double draw(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static void add_link(struct cube *c, int t, int other) {
    const double least = fmin(c->weight[t], c->weight[other]);
    c->link[c->p.links++] = (evn_link){{t, other}, floor(pow(least, 2. / 3)) + 1};
}

static int cube_open(struct cube *c, double tasks, int units, double bandwidth) {
    const int side = (int)lround(cbrt(tasks)), n = side * side * side;
    static const double speeds[] = {1, 1, 2, 4};
    unsigned long long seed = 1;
    c->weight = malloc(sizeof *c->weight * (size_t)n);
    c->speed = malloc(sizeof *c->speed * (size_t)units);
    c->link = malloc(sizeof *c->link * 3 * (size_t)n);
    if (!c->weight || !c->speed || !c->link) return 1;
    c->p = (evn_problem){.tasks = n,
                         .weight = c->weight,
                         .link = c->link,
                         .units = units,
                         .speed = c->speed,
                         .instances = 1000,
                         .bandwidth = bandwidth};
    for (int t = 0; t < n; t++) c->weight[t] = floor(exp(3 * draw(&seed)) * 10);
    for (int u = 0; u < units; u++) c->speed[u] = speeds[u % 4];
    for (int t = 0; t < n; t++) {
        if (t % side + 1 < side) add_link(c, t, t + 1);
        if (t / side % side + 1 < side) add_link(c, t, t + side);
        if (t + side * side < n) add_link(c, t, t + side * side);
    }
    return 0;
}

static void cube_close(struct cube *c) {
    free(c->weight);
    free(c->speed);
    free(c->link);
}

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
    const double begin = evn_now();
    failed =
        failed || METIS_PartGraphKway(&n, &one, g.start, g.neighbour, g.weight, NULL, g.bytes,
                                      &units, g.share, &uneven, options, &cut, g.owner) != METIS_OK;
    r->seconds = evn_now() - begin;
    for (int t = 0; !failed && t < p->tasks; t++) owner[t] = (int)g.owner[t];
    graph_close(&g);
    return failed;
}

static int by_map(const evn_problem *p, int *owner, struct result *r) {
    evn_schedule *s;
    const double begin = evn_now();
    if (evn_schedule_open(&s, "map", p)) return 1;
    r->seconds = evn_now() - begin;
    memcpy(owner, evn_schedule_owner(s), sizeof *owner * (size_t)p->tasks);
    evn_schedule_close(s);
    return 0;
}

static void line(const evn_problem *p, const char *name, const struct result *r) {
    printf("%8d %6d %10g  %-6s %9.4f %10.0f %8.2f\n", p->tasks, p->units, p->bandwidth, name,
           r->makespan, r->cut, r->seconds);
}

/* One case; how many ratios are too large, -1 if it could not be done. */
static int compare(double tasks, int units, double bandwidth) {
    struct cube c = {0};
    struct result map, metis;
    int wrong = -1, *owner = NULL;
    if (!cube_open(&c, tasks, units, bandwidth)) owner = malloc(sizeof *owner * (size_t)c.p.tasks);
    if (owner && !by_metis(&c.p, owner, &metis)) {
        rate(&c.p, owner, &metis);
        if (!by_map(&c.p, owner, &map)) {
            rate(&c.p, owner, &map);
            line(&c.p, "METIS", &metis);
            line(&c.p, "map", &map);
            const double makespan = map.makespan / metis.makespan, cut = map.cut / metis.cut,
                         seconds = map.seconds / metis.seconds;
            printf("%26s  %-6s %9.3f %10.3f %8.2f\n", "", "ratio", makespan, cut, seconds);
            wrong = (makespan > 1.01) + (cut > 1.1) + (seconds > 2);
        }
    }
    free(owner);
    cube_close(&c);
    return wrong;
}

int main(int argc, char **argv) {
    static const struct {
        double tasks, bandwidth;
        int units;
    } of[] = {{1e5, 0, 1000}, {1e5, 18, 1000}, {1e6, 0, 1000}, {1e6, 9, 1000}};
    if (argc != 1 && argc != 4) {
        fprintf(stderr, "usage: %s [TASKS UNITS BANDWIDTH]\n", argv[0]);
        return 2;
    }
    int wrong = 0;
    printf("   tasks  units  bandwidth          makespan  bytes cut  seconds\n");
    for (size_t i = 0; i < (argc == 4 ? 1 : sizeof of / sizeof *of); i++) {
        const int more = argc == 4 ? compare(atof(argv[1]), atoi(argv[2]), atof(argv[3]))
                                   : compare(of[i].tasks, of[i].units, of[i].bandwidth);
        if (more < 0) {
            fprintf(stderr, "plan_scale: a plan could not be made: %s\n", evn_message());
            return 2;
        }
        wrong += more;
        fflush(stdout);
    }
    return wrong > 0;
}
