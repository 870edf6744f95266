/* Comparison of the clocks of other hosts with rank 0's, over the cluster. */
#pragma once

#include "trace/clocks.h"
#include <evener/cluster.h>

/* Fills point[rank] on rank 0 for each rank with another clock; the others are unchanged.
 * Collective. EVN_STOPPED, EVN_SYSTEM. */
evn_status compare_clocks(evn_cluster *cluster, struct clock_point *point);

/* 1 if any rank has another clock than rank 0; the same on all. */
int compare_is_needed(const evn_cluster *cluster);

/* For tests on one host: from now on rank r's clock shows clock(r, t) at time t, in all functions
 * of traces; NULL: as it is. */
void compare_pretend(double (*clock)(int rank, double time));

/* This rank's clock at a time of evn_now(). */
double compare_shown(const evn_cluster *cluster, double time);
