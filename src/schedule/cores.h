/* Cores instead of tasks: what the grouping of tasks leaves uneven is evened out by giving groups
 * unequal numbers of cores (the thread reassignment of NPB-MZ; Jin and van der Wijngaart,
 * "Performance characteristics of the multi-zone NAS Parallel Benchmarks", 2006). */
#ifndef SCHEDULE_CORES_H
#define SCHEDULE_CORES_H

#include <evener/status.h>

/* Shares `threads` cores out to `groups` units by their `load` (>= 0 and finite), at least one and
 * at most `cap` each (0: no limit), so that the largest load per core becomes small; `cores`,
 * `groups` entries, receives them. They add up to `threads`. Loads that are all 0 count as equal.
 * EVN_USAGE: there are fewer cores than groups, or more than groups * cap. */
evn_status policy_reassign(const double *load, int groups, int threads, int cap, int *cores);

#endif
