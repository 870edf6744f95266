/* Medians of the latest instances. */
#include "loop/recent.h"
#include "base/argument.h"
#include "base/by_value.h"
#include "loop/internal.h"
#include <stdlib.h>

static double median(const double *value, const double *more, int count) {
    double sorted[RECENT];
    for (int i = 0; i < count; i++) sorted[i] = value[i] + (more ? more[i] : 0);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return count ? 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]) : 0;
}

evn_loop_medians recent_median(const struct recent *r) {
    const int count = r->count < RECENT ? r->count : RECENT;
    return (evn_loop_medians){median(r->compute_s, NULL, count),
                              median(r->exchange_s, NULL, count),
                              median(r->compute_s, r->exchange_s, count),
                              median(r->beside_s, NULL, count),
                              median(r->idle_s, NULL, count),
                              median(r->task_s, NULL, count)};
}

evn_loop_medians evn_loop_median(const evn_loop *loop) {
    NEED_OR((evn_loop_medians){0}, loop, "a loop");
    return recent_median(&loop->recent);
}
