/* Bursts: the latest intervals of each unit, in a ring. */
#include "loop/internal.h"
#include "loop/origin.h"
#include "base/argument.h"
#include <math.h>
#include <stdlib.h>

void loop_record(evn_loop *loop, int unit, evn_burst_kind kind, int task, int count, double begin,
                 double end) {
    struct worker *w = &loop->worker[unit];
    w->common.instance = loop_instance(loop);
    burst_record(w, kind, task, count, begin, end);
}

evn_status loop_keep_bursts(evn_loop *loop, int max) {
    evn_burst **fresh = calloc((size_t)loop->count, sizeof *fresh);
    int ok = fresh != NULL;
    for (int u = 0; ok && u < loop->count; u++)
        ok = (fresh[u] = malloc(sizeof **fresh * (size_t)max)) != NULL;
    for (int u = 0; fresh && u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        free(ok ? w->ring.burst : fresh[u]);
        if (!ok) continue;
        w->ring = (struct ring){.burst = fresh[u], .at = fresh[u], .end = fresh[u] + max};
        w->origin = loop->origin;
    }
    free(fresh);
    if (ok) return EVN_OK;
    return evn_fail(EVN_MEMORY, "loop: no memory to keep %d bursts of %d units", max, loop->count);
}

evn_status evn_loop_keep_bursts(evn_loop *loop, int max) {
    NEED(loop, "a loop");
    if (max < 1)
        return evn_fail(EVN_USAGE, "loop: the latest %d bursts to be kept, expected 1 or more",
                        max);
    if (loop_is_at_work(loop))
        return evn_fail(EVN_USAGE, "loop: evn_loop_keep_bursts() from within its body, which must "
                                   "return first");
    return loop_keep_bursts(loop, max);
}

/* Rounds to whole nanoseconds, as the clock tells times and ticks tell more finely: in files in
 * nanoseconds bursts then end where the next ones begin. */
static double whole_ns(double seconds) { return rint(1e9 * seconds) / 1e9; }

static int kept(const struct ring *r) { return (int)((r->full ? r->end : r->at) - r->burst); }

int evn_loop_bursts(const evn_loop *loop, int unit) {
    NEED_OR(0, loop, "a loop");
    if (unit >= 0 && unit < loop->count) return kept(&loop->worker[unit].ring);
    evn_fail(EVN_USAGE, "loop: bursts of unit %d; there are units 0 to %d", unit, loop->count - 1);
    return 0;
}

evn_burst evn_loop_burst(const evn_loop *loop, int unit, int i) {
    NEED_OR((evn_burst){0}, loop, "a loop");
    const int count = evn_loop_bursts(loop, unit);
    if (i < 0 || i >= count) {
        if (unit >= 0 && unit < loop->count)
            evn_fail(EVN_USAGE, "loop: burst %d of unit %d, of which %d are kept, from 0", i, unit,
                     count);
        return (evn_burst){0};
    }
    const struct ring *r = &loop->worker[unit].ring;
    const long oldest = r->full ? r->at - r->burst : 0;
    evn_burst burst = r->burst[(oldest + i) % count];
    burst.begin = whole_ns(burst.begin);
    burst.end = whole_ns(burst.end);
    return burst;
}

double loop_origin(const evn_loop *loop) { return loop->origin; }

evn_cluster *loop_cluster(const evn_loop *loop) { return loop->cluster; }
