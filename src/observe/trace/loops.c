/* Bursts of several loops, as each is closed. */
#include "trace/gathered.h"
#include "trace/loops.h"
#include "loop/origin.h"
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(void) {
    return evn_fail(EVN_MEMORY, "trace: not enough memory for all loops' bursts");
}

static int make_room(struct trace_unit *u, int more) {
    if (u->bursts + more <= u->room) return 1;
    const int room = 2 * (u->bursts + more);
    struct loop_burst *burst = realloc(u->burst, (size_t)room * sizeof *burst);
    if (!burst) return 0;
    u->burst = burst;
    u->room = room;
    return 1;
}

evn_status loops_open(struct kept_loops **out, const evn_units *units, double origin) {
    const int n = evn_units_count(units);
    struct kept_loops *all = calloc(1, sizeof *all);
    if (all) all->unit = calloc((size_t)n, sizeof *all->unit);
    if (!all || !all->unit) {
        free(all);
        return no_memory();
    }
    all->own = units;
    all->units = n;
    all->origin = origin;
    for (int u = 0; u < n; u++) {
        const evn_unit *unit = evn_units_get(units, u);
        all->unit[u].gpu = evn_unit_is_gpu(unit);
        all->unit[u].cores = evn_unit_cores(unit);
    }
    *out = all;
    return EVN_OK;
}

/* Room for one loop more. */
static evn_status grow(struct kept_loops *all, const evn_loop *loop, const char *name,
                       double shift) {
    for (int u = 0; u < all->units; u++)
        if (!make_room(&all->unit[u], evn_loop_bursts(loop, u))) return no_memory();
    struct kept_loop *of = realloc(all->loop, (size_t)(all->loops + 1) * sizeof *of);
    if (of) all->loop = of;
    if (!of) return no_memory();
    struct kept_loop *is = &of[all->loops];
    *is = (struct kept_loop){.name = strdup(name)};
    is->change = evn_trace_changes(loop, shift, &is->changes);
    if (is->name && is->change) return EVN_OK;
    free(is->change);
    free(is->name);
    return no_memory();
}

evn_status trace_add_loop(evn_trace *trace, const evn_loop *loop, const char *name) {
    struct kept_loops *all = trace->kept;
    const double shift = loop_origin(loop) - all->origin;
    evn_status status = grow(all, loop, name, shift);
    if (status) return status;
    all->loop[all->loops].tasks = evn_schedule_problem(evn_loop_schedule(loop))->tasks;
    for (int u = 0; u < all->units; u++) {
        struct trace_unit *to = &all->unit[u];
        for (int i = 0; i < evn_loop_bursts(loop, u); i++) {
            evn_burst b = evn_loop_burst(loop, u, i);
            b.begin += shift;
            b.end += shift;
            to->burst[to->bursts++] = (struct loop_burst){b, all->loops};
        }
    }
    all->loops++;
    return EVN_OK;
}

static int by_begin(const void *a, const void *b) {
    const struct loop_burst *x = a, *y = b;
    return (x->is.begin > y->is.begin) - (x->is.begin < y->is.begin);
}

void loops_sort(struct kept_loops *all) {
    for (int u = 0; u < all->units; u++)
        if (all->unit[u].bursts)
            qsort(all->unit[u].burst, (size_t)all->unit[u].bursts, sizeof *all->unit[u].burst,
                  by_begin);
}

void loops_close(struct kept_loops *all) {
    if (!all) return;
    for (int u = 0; u < all->units; u++) free(all->unit[u].burst);
    for (int l = 0; l < all->loops; l++) {
        free(all->loop[l].name);
        free(all->loop[l].change);
    }
    free(all->unit);
    free(all->loop);
    free(all);
}
