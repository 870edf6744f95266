/* Schedules with all that a session knows of its units: how many, how fast, which share a memory,
 * and how much of it there is, over ranks those of all. */
#include "schedule/memory.h"
#include "base/argument.h"
#include "cluster/collective_record.h"
#include "session/session.h"
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

/* Tells a schedule the memory of all ranks' units, if a device is too small for all tasks of these
 * bytes. Collective. EVN_MEMORY. */
static evn_status tell_memory(const evn_session *s, evn_schedule *schedule, const double *bytes) {
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

/* ---- speeds and spaces ---- */

/* Speed of each unit as far as anybody knows before it has run. NULL: no memory. */
static double *find_speeds(const evn_session *s, int units) {
    double *speed = malloc((size_t)units * sizeof *speed);
    for (int u = 0; speed && u < units; u++)
        speed[u] = s->cluster ? evn_cluster_speeds(s->cluster)[u]
                              : evn_unit_speed(evn_units_get(s->units, u));
    return speed;
}

/* Spaces of units: the host's units share one, each device has its own; over ranks each rank has
 * one. NULL: no memory. */
static int *find_spaces(const evn_session *s, int units) {
    int *space = malloc((size_t)units * sizeof *space);
    for (int u = 0; space && u < units; u++) {
        if (s->cluster)
            space[u] = evn_cluster_rank_of(s->cluster, u);
        else
            space[u] = evn_unit_is_gpu(evn_units_get(s->units, u)) ? 1 + u : 0;
    }
    return space;
}

/* Whether a schedule gains by knowing them: where there are devices, and over ranks where states
 * are told that would go along. */
static int has_spaces(const evn_session *s, const evn_problem *problem) {
    return s->cluster ? problem->state != NULL : evn_units_gpus(s->units) > 0;
}

/* ---- the schedule ---- */

/* The program's text, its user's, or a default. */
static evn_status open_text(const evn_session *s, evn_schedule **out, const char *text,
                            const evn_problem *problem) {
    const char *asked = NULL;
    if (session_default(s, text)) text = asked = session_variable(s, "EVENER_SCHEDULE");
    if (session_default(s, text))
        text = problem->instances > 0 && problem->instances < FEW_INSTANCES ? "dynamic" : "auto";
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

/* The problem with what the session knows of units. */
static evn_status open_whole(const evn_session *s, evn_schedule **out, const char *text,
                             const evn_problem *problem) {
    evn_status status = session_units_needed(s, "a schedule");
    if (status) return status;
    const int units = s->cluster ? evn_cluster_unit_count(s->cluster) : evn_units_count(s->units);
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
    free(space);
    free(speed);
    return status;
}

/* A rank's problem, as far as it decides about the calls that follow. */
struct given_problem {
    int tasks;
    int memory; /* 1: bytes are given, and capacities are not */
};

static evn_status differ(const void *arg, int r, const void *theirs, const void *first) {
    const struct given_problem *x = theirs, *y = first;
    (void)arg;
    if (x->tasks == y->tasks && x->memory == y->memory) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "session: a problem of %d tasks %s bytes to be placed on rank %d, and of %d "
                    "tasks %s on rank 0; all ranks have the same problem",
                    x->tasks, x->memory ? "with" : "without", r, y->tasks,
                    y->memory ? "with" : "without");
}

/* Whether all ranks have the same problem, with this rank's status so far. */
static evn_status same_problem(const evn_session *s, const evn_problem *problem, evn_status mine) {
    if (!s->cluster) return mine;
    struct given_problem given = {0};
    if (!mine) given = (struct given_problem){problem->tasks, problem->bytes && !problem->capacity};
    return cluster_meet_alike(s->cluster, "evn_session_schedule()", mine, &given, sizeof given,
                              differ, NULL);
}

evn_status session_schedule(evn_schedule **out, evn_session *s, const char *text,
                            const evn_problem *problem, evn_status mine) {
    evn_schedule *schedule = NULL;
    evn_status status = mine ? mine : open_whole(s, &schedule, text, problem);
    status = same_problem(s, problem, status);
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
