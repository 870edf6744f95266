/* TD-BEM on nodes with GPUs, in formulas: figures 13 and 14 of Bramas, Coulaud and Sylvand
 * (Parallel Computing 49, 2015). A node has one CPU-worker of all cores that lead no GPU, and a
 * worker for each GPU; intervals are balanced, so that all are done at one time. */
#pragma once

#include "tdbem/study/scaling.h"

struct cluster_node {
    int cores;
    double core_rate, gpu_rate; /* operations a second on values that are no padding */
    double gpu_bytes, bus;      /* memory of a GPU; bytes a second from the host to it */
};

/* The published case on such nodes: all steps of the run. */
struct cluster_case {
    struct scaling_case of;     /* rows, groups and messages; solve_s of a group, of each node */
    double values, value_bytes; /* in all matrices; of a value with padding */
    double groups;
};

struct cluster_row {
    int nodes, gpus;
    double sum_s, radiation_s, sent_s, solve_s, run_s; /* seconds of the run */
    double outside; /* values that no GPU has room for, over those that GPUs compute; 0: none */
    double speedup; /* over the fewest nodes with as many GPUs; set by the caller */
};

/* The nodes and the case of section 7, in single precision by groups of 8 steps. */
extern const struct cluster_node cluster_paper_node;
struct cluster_case cluster_paper_case(double latency, double per_byte);

/* `nodes` of `gpus` GPUs each, fewer than its cores. `tree`: nodes of the tree of sums that one
 * sends (scaling_nodes()). */
struct cluster_row cluster_predict(const struct cluster_case *c, const struct cluster_node *node,
                                   int nodes, int gpus, double tree);
