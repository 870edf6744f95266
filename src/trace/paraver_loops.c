/* Bursts of several loops, for Paraver's files of a session. */
#include "trace/paraver.h"
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(void) {
    return evn_fail(EVN_MEMORY, "trace: not enough memory for all loops' bursts");
}

static int make_room(struct kept_unit *u, int more) {
    if (u->bursts + more <= u->room) return 1;
    const int room = 2 * (u->bursts + more);
    struct loop_burst *burst = realloc(u->burst, (size_t)room * sizeof *burst);
    if (!burst) return 0;
    u->burst = burst;
    u->room = room;
    return 1;
}

evn_status paraver_begin(struct paraver_loops *all, const evn_units *units) {
    *all = (struct paraver_loops){.units = evn_units_count(units)};
    all->unit = calloc((size_t)all->units, sizeof *all->unit);
    if (!all->unit) return no_memory();
    for (int u = 0; u < all->units; u++) {
        const evn_unit *unit = evn_units_get(units, u);
        all->unit[u].gpu = evn_unit_is_gpu(unit);
        all->unit[u].cores = evn_unit_cores(unit);
    }
    return EVN_OK;
}

evn_status paraver_add(struct paraver_loops *all, const evn_loop *loop, const char *name,
                       double shift) {
    for (int u = 0; u < all->units; u++)
        if (!make_room(&all->unit[u], evn_loop_bursts(loop, u))) return no_memory();
    char **names = realloc(all->name, (size_t)(all->loops + 1) * sizeof *names);
    if (names) all->name = names;
    if (!names || !(names[all->loops] = strdup(name))) return no_memory();
    for (int u = 0; u < all->units; u++) {
        struct kept_unit *to = &all->unit[u];
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

void paraver_release(struct paraver_loops *all) {
    for (int u = 0; u < all->units && all->unit; u++) free(all->unit[u].burst);
    for (int l = 0; l < all->loops; l++) free(all->name[l]);
    free(all->unit);
    free(all->name);
    *all = (struct paraver_loops){0};
}
