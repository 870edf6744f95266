/* Assignment of cores to units by their loads. */
#include "schedule/core_reassignment.h"
#include <math.h>

evn_status policy_reassign(const double *load, int groups, int threads, int cap, int *cores) {
    if (groups < 1 || threads < groups)
        return evn_fail(EVN_USAGE, "schedule: %d cores for %d units, expected one or more a unit",
                        threads, groups);
    if (cap < 0 || (cap && cap < (threads + groups - 1) / groups))
        return evn_fail(
            EVN_USAGE, "schedule: %d cores for %d units with at most %d each: not all can be given",
            threads, groups, cap);
    double total = 0;
    for (int g = 0; g < groups; g++) total += load[g];
    const double average = total > 0 ? total / threads : groups / (double)threads;
#define LOAD(g) (total > 0 ? load[g] : 1)
    int left = threads;
    for (int g = 0; g < groups; g++) {
        const double fair = floor(LOAD(g) / average);
        cores[g] = fair < 1 ? 1 : fair < threads ? (int)fair : threads;
        if (cap && cores[g] > cap) cores[g] = cap;
        left -= cores[g];
    }
    for (; left > 0; left--) {
        int max = -1;
        for (int g = 0; g < groups; g++) {
            if (cap && cores[g] >= cap) continue;
            if (max < 0 || LOAD(g) / cores[g] > LOAD(max) / cores[max]) max = g;
        }
        cores[max]++;
    }
    for (; left < 0; left++) {
        int least = -1;
        for (int g = 0; g < groups; g++) {
            if (cores[g] < 2) continue;
            if (least < 0 || LOAD(g) / (cores[g] - 1) < LOAD(least) / (cores[least] - 1)) least = g;
        }
        cores[least]--;
    }
#undef LOAD
    return EVN_OK;
}
