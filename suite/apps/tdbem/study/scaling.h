/* Predicted time of a group of steps on P ranks from that on one: the costs of TD-BEM over ranks,
 * in formulas. */
#pragma once

/* A problem, and a group of its steps on one rank, in seconds. Sums, radiation and right-hand sides
 * are shared out by ranks; what is left, solving above all, each does whole. */
struct scaling_case {
    double rows; /* number of vertices and points */
    int group, wide, real, blocks;
    double sum_s, radiation_s, right_s, solve_s;
    double gradients_s, iterations; /* of solve_s, what --solver cg:ranks shares out; a step's */
    double latency, per_byte;       /* seconds of a message between two ranks */
};

struct scaling {
    int ranks;
    double nodes; /* of the binary tree by which blocks are summed: how many a rank sends, in the
                     mean */
    double messages, sums_b, rows_b;    /* messages and bytes of a group, of all ranks */
    double sum_s, radiation_s, right_s; /* seconds of a group, also below */
    double sent_s, shared_s;            /* rows of sums to their owners; right-hand sides to all */
    double solve_s, group_s;
    double efficiency;
    double by_rows_s;  /* of a group, with the solution's rows shared out (--solver cg:ranks) */
    double overlaid_s; /* likewise, if none of its exchanges took time beside the summation */
};

/* Nodes of the tree that a rank has, of `blocks` blocks in `ranks` intervals whose ends are up to
 * half an interval off even ones: the mean of many. 0: no memory. */
double scaling_nodes(int blocks, int ranks);

/* `nodes`: as above, or of an assignment that is known. A rank sends its P - 1 messages one after
 * another, each with its latency. 1 <= ranks. */
struct scaling scaling_predict(const struct scaling_case *of, int ranks, double nodes);
