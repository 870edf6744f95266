/* Memory of devices, and the bytes of tasks' regions there, told to the schedule: so a device that
 * is too small for its tasks gets those that fit, ahead, and does not evict them in turns.
 *
 * Over ranks all have the same schedule and each knows its own devices only: there the problem says
 * both (evn_problem.bytes, .capacity). */
#include "loop/internal.h"
#include "data/arena.h"
#include "schedule/memory.h"
#include "schedule/version.h"
#include <stdlib.h>

/* Memory of a unit's regions; 0: enough. Its devices get tasks in equal shares, so that the
 * smallest counts for each. */
static double room_of(const evn_loop *loop, const evn_unit *unit) {
    double least = 0;
    for (int d = 0; d < evn_unit_devices(unit); d++) {
        const int space = evn_place_space(loop->place, unit, d);
        const double room = space > EVN_HOST ? (double)place_room(loop->place, space) : 0;
        if (!(room > 0)) return 0;
        if (!d || room < least) least = room;
    }
    return least * evn_unit_devices(unit);
}

/* Number of tasks of each region; NULL without memory. */
static int *count_users(const int *region, size_t count) {
    int most = 0;
    for (size_t i = 0; i < count; i++)
        if (region[i] > most) most = region[i];
    int *users = calloc((size_t)most + 1, sizeof *users);
    for (size_t i = 0; users && i < count; i++)
        if (region[i] >= 0) users[region[i]]++;
    return users;
}

/* Bytes of a task, or those it takes on a device; of a region of several tasks each counts its
 * part. */
static double bytes_of(const evn_loop *loop, int task, const int *users, int on_device) {
    const int *region = loop->region + (size_t)task * (size_t)loop->regions;
    double bytes = 0;
    for (int i = 0; i < loop->regions; i++) {
        if (region[i] < 0) continue;
        const size_t all = evn_place_bytes(loop->place, region[i]);
        bytes += (double)(on_device ? arena_rounded(all) : all) / users[region[i]];
    }
    return bytes;
}

void loop_note_bytes(evn_loop *loop) {
    const size_t tasks = (size_t)loop->problem->tasks;
    free(loop->bytes);
    loop->bytes = loop->notes && loop->place ? malloc(tasks * sizeof *loop->bytes) : NULL;
    int *users = loop->bytes ? count_users(loop->region, tasks * (size_t)loop->regions) : NULL;
    for (size_t t = 0; users && t < tasks; t++) loop->bytes[t] = bytes_of(loop, (int)t, users, 0);
    if (!users) {
        free(loop->bytes);
        loop->bytes = NULL;
    }
    free(users);
}

evn_status loop_tell_memory(evn_loop *loop) {
    const size_t tasks = (size_t)loop->problem->tasks, units = (size_t)loop->count;
    if (loop->cluster || evn_place_spaces(loop->place) == 1) return EVN_OK;
    double *bytes = malloc(tasks * sizeof *bytes), *room = malloc(units * sizeof *room);
    int *users = count_users(loop->region, tasks * (size_t)loop->regions);
    evn_status status = EVN_OK;
    if (!bytes || !room || !users)
        status = evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", tasks);
    for (size_t t = 0; !status && t < tasks; t++) bytes[t] = bytes_of(loop, (int)t, users, 1);
    for (size_t u = 0; !status && u < units; u++)
        room[u] = room_of(loop, evn_units_get(loop->units, (int)u));
    const unsigned version = schedule_version(loop->schedule);
    if (!status) status = schedule_memory(loop->schedule, bytes, room);
    if (schedule_version(loop->schedule) != version) loop_begin_schedule(loop, loop->schedule);
    free(users);
    free(room);
    free(bytes);
    return status;
}
