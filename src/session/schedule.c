/* Schedules with all that a session knows of its units: how many, how fast, which share a memory,
 * and how much of it there is, over ranks those of all. */
#include "schedule/memory.h"
#include "schedule/policy.h"
#include "base/argument.h"
#include "session/session.h"
#include "unit/device_ops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_INSTANCES = 10 }; /* fewer are over before auto has learnt */

/* ---- memory ---- */

/* Memory of the devices of each unit; 0: a unit of cores, which have enough, and one that is only
 * described. */
static void find_rooms(const evn_units *units, double *room) {
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        const int devices = evn_unit_device(unit, 0) ? evn_unit_devices(unit) : 0;
        room[u] = 0;
        for (int d = 0; d < devices; d++)
            room[u] += (double)device_ops.traits(evn_unit_device(unit, d))->memory;
    }
}

/* Tells a schedule the memory of all ranks' units, if a device is too small for all tasks of these
 * bytes. Collective. EVN_MEMORY. */
static evn_status tell_memory(const evn_session *s, evn_schedule *schedule, const double *bytes) {
    evn_cluster *c = s->cluster;
    const int most = c ? session_ranks.widest(c) : evn_units_count(s->units);
    const int units = c ? session_ranks.about(c).units : most;
    double *mine = calloc((size_t)most, sizeof *mine);
    double *room = c ? malloc((size_t)units * sizeof *room) : mine;
    evn_status status =
        mine && room ? EVN_OK : evn_fail(EVN_MEMORY, "loop: not enough memory for %d units", units);
    status = session_agree(s, status);
    if (!status) find_rooms(s->units, mine);
    if (!status && c) status = session_ranks.share_rooms(c, mine, most, room);
    if (!status && evn_schedule_problem(schedule)->units == units)
        status = schedule_memory(schedule, bytes, room);
    if (room != mine) free(room);
    free(mine);
    return status;
}

/* ---- speeds and spaces ---- */

/* Speed of each unit as it is known before the first instance. NULL: no memory. */
static double *find_speeds(const evn_session *s, int units) {
    double *speed = malloc((size_t)units * sizeof *speed);
    for (int u = 0; speed && u < units; u++)
        speed[u] = s->cluster ? session_ranks.about(s->cluster).speed[u]
                              : evn_unit_about(evn_units_get(s->units, u)).speed;
    return speed;
}

/* Spaces of units: the host's units share one, each device has its own; over ranks each rank has
 * one. NULL: no memory. */
static int *find_spaces(const evn_session *s, int units) {
    int *space = malloc((size_t)units * sizeof *space);
    for (int u = 0; space && u < units; u++) {
        if (s->cluster)
            space[u] = session_ranks.rank_of(s->cluster, u);
        else
            space[u] = evn_unit_is_gpu(evn_units_get(s->units, u)) ? 1 + u : 0;
    }
    return space;
}

/* 1 if the spaces of units matter to the schedule: with devices, and over ranks if tasks have
 * states to carry. */
static int has_spaces(const evn_session *s, const evn_problem *problem) {
    return s->cluster ? problem->state != NULL : evn_units_about(s->units).gpus > 0;
}

/* ---- the schedule ---- */

/* Opens the schedule of the program's text, of its user's, or the default one. */
static evn_status open_text(const evn_session *s, evn_schedule **out, const char *text,
                            const evn_problem *problem) {
    const char *asked = NULL;
    if (session_default(s, text)) text = asked = session_variable(s, "EVENER_SCHEDULE");
    if (session_default(s, text))
        text = problem->instances > 0 && problem->instances < FEW_INSTANCES ? "dynamic"
                                                                            : policy_auto.name;
    evn_status status = evn_schedule_open(out, text, problem);
    if (status != EVN_USAGE || !asked) return status;
    /* a valid problem means that the variable is wrong */
    char message[1024];
    snprintf(message, sizeof message, "%s", evn_message());
    evn_schedule *plain;
    status = evn_schedule_open(&plain, "static", problem);
    if (status) return status;
    evn_schedule_close(plain);
    return evn_fail(EVN_USAGE, "EVENER_SCHEDULE: %s", message);
}

/* Opens the schedule for the problem, with all that the session knows of its units. */
static evn_status open_whole(const evn_session *s, evn_schedule **out, const char *text,
                             const evn_problem *problem) {
    evn_status status = session_units_needed(s, "a schedule");
    if (status) return status;
    const int units =
        s->cluster ? session_ranks.about(s->cluster).units : evn_units_count(s->units);
    evn_problem whole = *problem;
    if (!whole.units) whole.units = units;
    const int knows_speed = !whole.speed && whole.units == units;
    const int knows_space = !whole.space && whole.units == units && has_spaces(s, problem);
    double *speed = knows_speed ? find_speeds(s, units) : NULL;
    int *space = knows_space ? find_spaces(s, units) : NULL;
    if (knows_speed) whole.speed = speed;
    if (knows_space) whole.space = space;
    if ((knows_speed && !speed) || (knows_space && !space))
        status = evn_fail(EVN_MEMORY, "loop: not enough memory for %d units", units);
    else
        status = open_text(s, out, text, &whole);
    if (!status && session_has_files() && (status = session_files.take_plan(s, *out))) {
        evn_schedule_close(*out);
        *out = NULL;
    }
    free(space);
    free(speed);
    return status;
}

evn_status session_schedule(evn_schedule **out, evn_session *s, const char *text,
                            const evn_problem *problem, evn_status mine) {
    evn_schedule *schedule = NULL;
    evn_status status = mine ? mine : open_whole(s, &schedule, text, problem);
    if (s->cluster) status = session_ranks.same_problem(s->cluster, problem, status);
    if (!status && problem->bytes && !problem->capacity)
        status = session_agree(s, tell_memory(s, schedule, problem->bytes));
    if (status)
        evn_schedule_close(schedule);
    else
        *out = schedule;
    return status;
}

evn_status evn_session_schedule(evn_schedule **out, evn_session *s, const char *text,
                                const evn_problem *problem) {
    if (out) *out = NULL;
    NEED(s, "a session");
    const evn_status status = session_may_open(s, "evn_session_schedule()");
    if (status) return status;
    return session_schedule(out, s, text, problem, session_given(__func__, out, problem));
}
