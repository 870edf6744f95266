/* The problem as its users see it: classes, sizes, tasks. */
#include "mg/mg.h"
#include "mg/blocks/blocks.h"
#include "mg/slabs/sweep.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mg {
    mg_shape shape;
    mg_way way;
    int tasks, links;
    double *weight;
    evn_link *link;
};

static const struct class_ {
    char name;
    int n, steps;
    char smoother;
    double norm;
} classes[] = {
    {'S', 32, 4, 'a', 0.5307707005734e-04},    {'W', 128, 4, 'a', 0.6467329375339e-05},
    {'A', 256, 4, 'a', 0.2433365309069e-05},   {'B', 256, 20, 'b', 0.1800564401355e-05},
    {'C', 512, 20, 'b', 0.5706732285740e-06},  {'D', 1024, 50, 'b', 0.1583275060440e-09},
    {'E', 2048, 50, 'b', 0.5630442584711e-10}, {'F', 4096, 50, 'b', 0.1889225697989e-10},
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* Between two tasks goes what sweeps read of each other: two planes each way, once a step. */
static void make_links(mg *m) {
    const struct level level = level_shape(m->shape.n);
    const double bytes = 2.0 * (double)level.n * level.n * sizeof(double);
    for (int t = 0; t < m->tasks; t++) {
        const int next = (t + 1) % m->tasks;
        m->weight[t] = (double)MG_PLANES * level.n * level.n;
        m->link[t] = (evn_link){{t < next ? t : next, t < next ? next : t}, bytes};
    }
    m->links = m->tasks;
}

static evn_status open_shape(mg **out, mg_shape shape) {
    mg *m = calloc(1, sizeof *m);
    shape.bytes = grid_bytes(shape.n);
    shape.mop = 58e-6 * shape.n * (double)shape.n * shape.n;
    if (m) {
        m->shape = shape;
        m->tasks = shape.n / MG_PLANES;
        m->weight = malloc((size_t)m->tasks * sizeof *m->weight);
        m->link = malloc((size_t)m->tasks * sizeof *m->link);
    }
    if (!m || !m->weight || !m->link) {
        mg_close(m);
        return evn_fail(EVN_MEMORY, "mg: not enough memory for the list of tasks");
    }
    make_links(m);
    *out = m;
    return EVN_OK;
}

evn_status mg_open_class(mg **out, char class_) {
    *out = NULL;
    for (int i = 0; i < CLASSES; i++)
        if (classes[i].name == class_)
            return open_shape(out, (mg_shape){.class_ = class_,
                                              .n = classes[i].n,
                                              .steps = classes[i].steps,
                                              .smoother = classes[i].smoother});
    return evn_fail(EVN_USAGE, "mg: there is no class \"%c\", expected one of S W A B C D E F",
                    class_);
}

evn_status mg_open_size(mg **out, long n, char smoother) {
    *out = NULL;
    if (n < MG_LEAST || n > MG_MOST || n & (n - 1))
        return evn_fail(EVN_USAGE,
                        "mg: a size of %ld points, expected a power of two from %d to %d", n,
                        MG_LEAST, MG_MOST);
    if (smoother != 'a' && smoother != 'b')
        return evn_fail(EVN_USAGE, "mg: there is no smoother \"%c\", expected a or b", smoother);
    return open_shape(out, (mg_shape){.n = (int)n, .steps = 4, .smoother = smoother});
}

evn_status mg_choose(mg *m, mg_way way, int ranks) {
    m->way = way;
    if (way.variant == MG_BEST) return EVN_OK;
    if (ranks < 1 || ranks & (ranks - 1))
        return evn_fail(EVN_USAGE, "mg: blocks for %d ranks, expected a power of two", ranks);
    if (blocks_whole(m->shape.n, ranks) < 0)
        return evn_fail(EVN_USAGE, "mg: %d blocks of a cube of %d points a side, expected fewer",
                        ranks, m->shape.n);
    double *weight = realloc(m->weight, (size_t)ranks * sizeof *weight);
    if (!weight) return evn_fail(EVN_MEMORY, "mg: not enough memory for the list of tasks");
    m->weight = weight;
    m->tasks = ranks;
    m->links = 0;
    for (int t = 0; t < ranks; t++) m->weight[t] = pow(m->shape.n, 3) / ranks;
    m->shape.bytes = blocks_doubles(m->shape.n, ranks) * ranks * sizeof(double);
    return EVN_OK;
}

mg_way mg_chosen(const mg *m) { return m->way; }

void mg_close(mg *m) {
    if (!m) return;
    free_all(m->weight, m->link, m);
}

mg_shape mg_describe(const mg *m) { return m->shape; }

evn_problem mg_tasks(const mg *m) {
    return (evn_problem){
        .tasks = m->tasks, .weight = m->weight, .links = m->links, .link = m->link};
}

void mg_judge(const mg *m, int steps, mg_result *r) {
    const double official = mg_official(m);
    const int timed = steps - r->run.restarted_from;
    r->run.mops = r->run.seconds > 0 ? m->shape.mop * timed / r->run.seconds : 0;
    r->run.verified = -1;
    if (official > 0 && steps == m->shape.steps)
        r->run.verified = fabs(r->norm - official) <= 1e-8 * official;
}

double mg_official(const mg *m) {
    for (int i = 0; i < CLASSES; i++)
        if (classes[i].name == m->shape.class_) return classes[i].norm;
    return 0;
}

const char *mg_operator_name(int operator_) {
    static const char *const name[MG_OPERATORS] = {
        [MG_RESID] = "resid", [MG_PSINV] = "psinv", [MG_RPRJ3] = "rprj3", [MG_INTERP] = "interp"};
    return name[operator_];
}

const char *mg_phase_name(int phase) {
    static const char *const name[MG_PHASES] = {
        [MG_FIRST] = "first",   [MG_FINEST] = "finest", [MG_EDGES] = "edges",
        [MG_MIDDLE] = "middle", [MG_COARSE] = "coarse", [MG_EXCHANGE] = "exchange"};
    return name[phase];
}
