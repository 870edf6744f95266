/* The model of `map` (repair.h): preparation of a problem, and the score of an assignment. */
#include "policy/map/repair.h"
#include "schedule/capacity.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 1 << 21 }; /* bytes; a quarter of a page pays already */

void *map_model_memory(size_t bytes) {
    if (bytes < LARGE_PAGE / 4 || bytes > SIZE_MAX - LARGE_PAGE) return malloc(bytes);
    bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory = aligned_alloc(LARGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (memory) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void map_model_close(struct map_model *m) {
    free(m->weight);
    free(m->pace);
    free(m->start);
    free(m->neighbour);
    free(m->bytes);
    free(m->capacity);
    routes_close(&m->routes);
    *m = (struct map_model){0};
}

static double largest(const double *a, int n) {
    double max = a ? 0 : 1;
    for (int i = 0; a && i < n; i++) max = a[i] > max ? a[i] : max;
    return max;
}

/* 1 if a link has two different ends, and bytes. */
static int is_link(const evn_link *link) {
    return link->task[0] != link->task[1] && link->bytes > 0;
}

/* Links as neighbours of both ends. */
static void make_graph(struct map_model *m, const evn_problem *p) {
    const evn_link *const link = p->link;
    const int tasks = m->tasks, links = p->links;
    int *const start = m->start, *const neighbour = m->neighbour;
    double *const bytes = m->bytes;
    for (int t = 0; t <= tasks; t++) start[t] = 0;
    for (int l = 0; l < links; l++) {
        if (!is_link(&link[l])) continue;
        start[link[l].task[0]]++;
        start[link[l].task[1]]++;
    }
    for (int t = 0, sum = 0; t <= tasks; t++) {
        const int count = start[t];
        start[t] = sum;
        sum += count;
    }
    for (int l = 0; l < links; l++) {
        if (!is_link(&link[l])) continue;
        const double size = link[l].bytes < 1e100 ? link[l].bytes : 1e100;
        const int a = link[l].task[0], b = link[l].task[1];
        const int of_a = start[a]++, of_b = start[b]++;
        neighbour[of_a] = b;
        neighbour[of_b] = a;
        bytes[of_a] = bytes[of_b] = size;
    }
    /* each is the beginning of the next one now */
    for (int t = tasks; t > 0; t--) start[t] = start[t - 1];
    start[0] = 0;
}

int map_model_open(struct map_model *m, const evn_problem *p, const double *weight,
                   const double *speed) {
    *m = (struct map_model){.tasks = p->tasks, .units = p->units};
    if (!weight) weight = p->weight;
    if (!speed) speed = p->speed;
    size_t n = (size_t)p->tasks, units = (size_t)p->units, links = (size_t)p->links;
    m->weight = malloc(n * sizeof *m->weight);
    m->pace = malloc(units * sizeof *m->pace);
    m->start = malloc((n + 1) * sizeof *m->start);
    m->neighbour = map_model_memory((2 * links + 1) * sizeof *m->neighbour);
    m->bytes = map_model_memory((2 * links + 1) * sizeof *m->bytes);
    m->capacity = malloc(units * sizeof *m->capacity);
    if (!m->capacity || !m->weight || !m->pace || !m->start || !m->neighbour || !m->bytes) {
        map_model_close(m);
        return 1;
    }
    double heaviest = largest(weight, p->tasks), fastest = largest(speed, p->units);
    /* if all tasks weigh nothing, all weigh the same */
    int nothing = !(heaviest > 0);
    if (nothing) heaviest = 1;
    double total = 0, lightest = 1, total_speed = 0, slowest = 1;
    for (int t = 0; t < m->tasks; t++) {
        m->weight[t] = nothing || !weight ? 1 : weight[t] / heaviest;
        total += m->weight[t];
        if (m->weight[t] < lightest) lightest = m->weight[t];
    }
    for (int u = 0; u < m->units; u++) {
        m->pace[u] = speed ? 1 / fmax(speed[u] / fastest, 1e-100) : 1;
        total_speed += 1 / m->pace[u];
        slowest = fmax(slowest, m->pace[u]);
    }
    /* the mean, the heaviest task on the fastest unit, the lightest on the
     * slowest */
    m->bound = fmax(total / total_speed, 1);
    if (m->tasks >= m->units) m->bound = fmax(m->bound, lightest * slowest);
    m->time_unit = heaviest / fastest;
    if (routes_open(&m->routes, p, 1 / m->time_unit)) {
        map_model_close(m);
        return 1;
    }
    const double bandwidth = m->routes.bandwidth;
    m->per_byte = m->routes.kinds > 0;
    if (bandwidth > 0 && isfinite(bandwidth))
        m->per_byte = fmin(1 / bandwidth / m->time_unit, 1e100);
    if (capacity_given(p)) m->memory = p->bytes;
    for (int u = 0; u < m->units; u++) m->capacity[u] = capacity_of(p, u);
    make_graph(m, p);
    return 0;
}

struct map_score map_score(const struct map_model *m, const int *owner, double *scratch) {
    struct map_score score = {0};
    for (int u = 0; u < m->units; u++) scratch[u] = 0;
    for (int t = 0; t < m->tasks; t++) {
        const int u = owner[t];
        double bytes = 0;
        for (int i = m->start[t]; i < m->start[t + 1]; i++) {
            const int v = owner[m->neighbour[i]];
            if (v != u) bytes += map_cost(m, i, u, v);
        }
        scratch[u] += m->weight[t] * m->pace[u] + bytes * m->per_byte;
        score.cut += bytes / 2;
    }
    for (int u = 0; u < m->units; u++) score.makespan = fmax(score.makespan, scratch[u]);
    if (!m->memory) return score;
    for (int u = 0; u < m->units; u++) scratch[u] = 0;
    for (int t = 0; t < m->tasks; t++) scratch[owner[t]] += m->memory[t];
    for (int u = 0; u < m->units; u++) score.over += capacity_excess(m->capacity[u], scratch[u]);
    return score;
}

int map_better(struct map_score a, struct map_score b, double limit) {
    if (a.over != b.over) return a.over < b.over;
    int keeps = a.makespan <= limit;
    if (keeps != (b.makespan <= limit)) return keeps;
    if (!keeps && a.makespan != b.makespan) return a.makespan < b.makespan;
    if (a.cut != b.cut) return a.cut < b.cut;
    return a.makespan < b.makespan;
}
