/* Memory of the units of a session, told to the schedule of a loop whose tasks have bytes: before
 * there are places, and over ranks, where each knows its own devices only. */
#include "schedule/memory.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

/* Memory of the devices of each unit; 0: a unit of cores, which have enough. */
static void find_rooms(const evn_units *units, double *room) {
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        room[u] = 0;
        for (int d = 0; d < evn_unit_devices(unit); d++)
            room[u] += (double)evn_device_traits(evn_unit_device(unit, d))->memory;
    }
}

/* The rooms of all ranks' units, from `mine`, as many on each rank as the widest has. */
static evn_status share_rooms(evn_cluster *c, const double *mine, int most, double *room) {
    const int ranks = evn_cluster_size(c);
    const size_t bytes = (size_t)most * sizeof *mine;
    double *all = malloc(bytes * (size_t)ranks);
    evn_status status = all ? EVN_OK : evn_fail(EVN_MEMORY, "loop: not enough memory");
    status = evn_cluster_agree(c, status);
    if (!status) status = evn_cluster_gather(c, mine, bytes, all);
    if (!status) status = evn_cluster_tell(c, all, bytes * (size_t)ranks);
    for (int u = 0; !status && u < evn_cluster_unit_count(c); u++) {
        const int rank = evn_cluster_rank_of(c, u);
        room[u] = all[rank * most + u - evn_cluster_first_unit(c, rank)];
    }
    free(all);
    return status;
}

evn_status session_tell_memory(evn_session *s, evn_schedule *schedule, const double *bytes) {
    evn_cluster *c = s->cluster;
    const int most = c ? session_widest(c) : evn_units_count(s->units);
    const int units = c ? evn_cluster_unit_count(c) : most;
    double *mine = calloc((size_t)most, sizeof *mine);
    double *room = c ? malloc((size_t)units * sizeof *room) : mine;
    evn_status status =
        mine && room ? EVN_OK : evn_fail(EVN_MEMORY, "loop: not enough memory for %d units", units);
    status = session_agree(s, status);
    if (!status) find_rooms(s->units, mine);
    if (!status && c) status = share_rooms(c, mine, most, room);
    if (!status && evn_schedule_problem(schedule)->units == units)
        status = schedule_memory(schedule, bytes, room);
    if (room != mine) free(room);
    free(mine);
    return status;
}
