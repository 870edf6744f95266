/* Clocks of ranks on other hosts than rank 0's, compared over the cluster. */
#ifndef TRACE_COMPARE_H
#define TRACE_COMPARE_H

#include "trace/clocks.h"
#include <evener/cluster.h>

/* Collective: on rank 0 point[rank] of each rank that has another clock; the others' stay as they
 * are. EVN_STOPPED, EVN_SYSTEM. */
evn_status compare_clocks(evn_cluster *cluster, struct clock_point *point);

/* Whether any rank has another clock than rank 0: the same on all. */
int compare_is_needed(const evn_cluster *cluster);

/* For tests on one host: from now on rank r's clock shows clock(r, t) when it is t, in all that a
 * trace takes from it; NULL: as it is. */
void compare_pretend(double (*clock)(int rank, double time));

/* What this rank's clock shows at a time of evn_now(). */
double compare_shown(const evn_cluster *cluster, double time);

#endif
