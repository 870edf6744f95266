#include "tdbem/study/cluster.h"
#include <math.h>

/* Two X5650 and three M2070: tables 3 and 2 have 2.7 GFlop/s of a core and 146 of a GPU on
 * Contiguous-Blocking with rows of 16 values, single precision. */
const struct cluster_node cluster_paper_node = {
    .cores = 12, .core_rate = 2.7e9, .gpu_rate = 146e9, .gpu_bytes = 6e9, .bus = 6e9};

/* 10823 steps of 5.46e9 values, two operations each; Contiguous-Blocking has 63 % of values that
 * are no padding. Every node solves: 0.0519 of the summation of all on one node's cores, from the
 * efficiency of 0.78 of 8 nodes over 2, (S + 2 s) / (S + 8 s). */
struct cluster_case cluster_paper_case(double latency, double per_byte) {
    const struct cluster_node *node = &cluster_paper_node;
    struct cluster_case c = {.of = {.rows = 23962,
                                    .group = 8,
                                    .wide = 8,
                                    .real = 4,
                                    .blocks = 128,
                                    .latency = latency,
                                    .per_byte = per_byte},
                             .values = 5.46e9,
                             .value_bytes = 4 / 0.63,
                             .groups = 10823.0 / 8};
    c.of.sum_s = 2 * c.of.group * c.values / (node->cores * node->core_rate);
    c.of.radiation_s = c.of.sum_s * 8.1 / 291; /* ratio of the case in double */
    c.of.solve_s = 0.0519 * c.of.sum_s;
    return c;
}

/* Seconds of a group's sum on a node, and values that are brought to its GPUs in each. Values
 * that they have no room for come over the bus, beside the computing, so that a GPU goes on at the
 * slower of both. */
static double sum_of_node(const struct cluster_case *c, const struct cluster_node *n, int gpus,
                          double values, double *brought) {
    const double flop = 2 * c->of.group, room = n->gpu_bytes / c->value_bytes;
    const double core = (n->cores - gpus) * n->core_rate / flop, gpu = n->gpu_rate / flop;
    const double full = room / gpu; /* when a GPU has done all that it holds */
    const double slow = fmin(gpu, n->bus / c->value_bytes);
    *brought = 0;
    if (values <= full * (core + gpus * gpu)) return values / (core + gpus * gpu);
    const double left = values - full * (core + gpus * gpu);
    const double more = left / (core + gpus * slow);
    *brought = gpus * slow * more;
    return full + more;
}

struct cluster_row cluster_predict(const struct cluster_case *c, const struct cluster_node *node,
                                   int nodes, int gpus, double tree) {
    const struct scaling s = scaling_predict(&c->of, nodes, tree);
    const double room = node->gpu_bytes / c->value_bytes;
    double brought;
    const double sum = sum_of_node(c, node, gpus, c->values / nodes, &brought);
    struct cluster_row r = {.nodes = nodes,
                            .gpus = gpus,
                            .sum_s = c->groups * sum,
                            .radiation_s = c->groups * s.radiation_s,
                            .sent_s = c->groups * (s.sent_s + s.shared_s),
                            .solve_s = c->groups * s.solve_s};
    if (brought > 0) r.outside = brought / (gpus * room + brought);
    r.run_s = r.sum_s + r.radiation_s + r.sent_s + r.solve_s;
    return r;
}
