/* Reassignment of cores: groups of tasks with unequal loads get unequal numbers of cores (the
 * thread reassignment of NPB-MZ; Jin and van der Wijngaart, "Performance characteristics of the
 * multi-zone NAS Parallel Benchmarks", 2006). */
#pragma once

#include <evener/status.h>
#include <evener/program.h>

/* Assigns `threads` cores to `groups` units by `load` (>= 0 and finite), at least one and at most
 * `cap` each (0: no limit), so that the largest load per core is small; `cores`: `groups` entries,
 * whose sum is `threads`. Loads that are all 0 count as equal. EVN_USAGE: fewer cores than groups,
 * or more than groups * cap. */
evn_status policy_reassign(const double *load, int groups, int threads, int cap, int *cores);
