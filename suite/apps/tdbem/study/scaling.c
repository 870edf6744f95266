#include "tdbem/study/scaling.h"
#include "tdbem/summation/summation_tree.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { DRAWS = 64 };

/* In [-0.5, 0.5), the same ones each time. */
static double draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

double scaling_nodes(int blocks, int ranks) {
    int *block = malloc((size_t)blocks * sizeof *block);
    struct summation_node *node = calloc((size_t)blocks, sizeof *node);
    uint64_t seed = 1;
    double nodes = 0;
    int max = 1;
    while (max < blocks) max *= 2;
    for (int b = 0; block && b < blocks; b++) block[b] = b;
    for (int d = 0; block && node && d < DRAWS; d++)
        for (int r = 0, from = 0, to; r < ranks; r++, from = to) {
            to = r == ranks - 1 ? blocks : (int)floor(blocks * (r + 1 + draw(&seed)) / ranks + 0.5);
            to = to < from ? from : to;
            nodes += summation_nodes(to - from, block + from, max, node);
        }
    free(block);
    free(node);
    return nodes / DRAWS / ranks;
}

struct scaling scaling_predict(const struct scaling_case *of, int ranks, double nodes) {
    const double p = ranks, others = p - 1;
    struct scaling s = {
        .ranks = ranks,
        .nodes = nodes,
        .messages = p * others * (1 + of->group),
        .sums_b = others * nodes * of->rows * of->wide * of->real,
        .rows_b = others * of->group * 8 * of->rows,
        .sum_s = of->sum_s / p,
        .radiation_s = of->radiation_s / p,
        .right_s = of->right_s / p,
        .solve_s = of->solve_s,
    };
    s.sent_s = others * of->latency + s.sums_b / p * of->per_byte;
    s.shared_s = others * of->group * of->latency + s.rows_b / p * of->per_byte;
    s.group_s = s.sum_s + s.radiation_s + s.right_s + s.sent_s + s.shared_s + s.solve_s;
    /* an exchange an iteration and three more, of the sums of all chunks of 64 rows and of halos as
     * on spheres */
    const double exchanges = of->group * (of->iterations + 3), chunks = ceil(of->rows / 64);
    const double exchange_b = 16 * chunks * others / p + (p > 1 ? 512 * 3 * sqrt(chunks) : 0);
    s.overlaid_s = s.group_s - of->gradients_s * others / p;
    s.by_rows_s = s.overlaid_s + exchanges * (others * of->latency + exchange_b * of->per_byte);
    const double alone = of->sum_s + of->radiation_s + of->right_s + of->solve_s;
    s.efficiency = alone / (p * s.group_s);
    return s;
}
