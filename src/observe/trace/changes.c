/* Changes of the tasks of a trace's loops, as reported by the loops, on the trace's axis of time.
 * Over ranks those of rank 0, which made the same. */
#include "trace/gathered.h"
#include "base/argument.h"
#include <math.h>
#include <stdlib.h>

int trace_changes(const evn_trace *t, int loop) {
    return t->kept ? t->kept->loop[loop].changes : evn_loop_about(t->loop).generation;
}

evn_changed trace_change(const evn_trace *t, int loop, int i) {
    return t->kept ? t->kept->loop[loop].change[i] : evn_loop_changed(t->loop, i);
}

int trace_generation(const evn_trace *t, int loop, double when) {
    int lo = 0, hi = trace_changes(t, loop);
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (trace_change(t, loop, mid).begin <= when)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int trace_tasks(const evn_trace *t, int loop, int generation) {
    if (generation) return trace_change(t, loop, generation - 1).tasks;
    if (trace_changes(t, loop)) {
        const evn_changed first = trace_change(t, loop, 0);
        return first.kept + first.gone;
    }
    return t->kept ? t->kept->loop[loop].tasks
                   : evn_schedule_problem(evn_loop_schedule(t->loop))->tasks;
}

double trace_loop_begin(const evn_trace *t, int loop) {
    double begin = INFINITY;
    for (int u = 0; u < trace_units(t); u++)
        for (int i = 0; i < trace_unit(t, u).bursts; i++) {
            const struct loop_burst b = trace_burst(t, u, i);
            if (b.loop == loop) begin = fmin(begin, b.is.begin);
        }
    return begin;
}

int trace_has_changes(const evn_trace *t, int loop) {
    return trace_changes(t, loop) && !isinf(trace_loop_begin(t, loop));
}

evn_changed *evn_trace_changes(const evn_loop *loop, double shift, int *changes) {
    NEED_OR(NULL, loop, "a loop");
    NEED_OR(NULL, changes, "where to put the number of changes");
    const int count = evn_loop_about(loop).generation;
    evn_changed *copy = malloc(((size_t)count + 1) * sizeof *copy);
    for (*changes = 0; copy && *changes < count; ++*changes) {
        copy[*changes] = evn_loop_changed(loop, *changes);
        copy[*changes].begin += shift;
    }
    return copy;
}
