/* Opens three loops over a line of tasks on each rank, and goes through their steps beside plain
 * arrays. */
#include "misuse/over_ranks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 60 };

struct progress *progress;

const int each[TASKS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const char all_kept[TASKS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
const evn_change same_tasks = {
    .tasks = TASKS, .first = each, .from = each, .kept = all_kept, .links = -1};

/* ---- plain arrays -------------------------------------------------------------------------- */

static void compute(double *v, int step) {
    double next[VALUES];
    for (int i = 1; i < VALUES - 1; i++)
        next[i] = 0.5 * v[i] + 0.2 * v[i - 1] + 0.3 * v[i + 1] + step % 3;
    memcpy(v + 1, next + 1, (VALUES - 2) * sizeof *v);
}

static void step_plainly(struct world *w) {
    for (int t = 0; t + 1 < TASKS; t++) {
        w->value[t + 1][0] = w->value[t][VALUES - 2];
        w->value[t][VALUES - 1] = w->value[t + 1][1];
    }
    for (int t = 0; t < TASKS; t++) compute(w->value[t], w->step);
    w->step++;
}

/* ---- bodies -------------------------------------------------------------------------------- */

evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

static evn_status in_blocks(evn_unit *unit, evn_batch *batch, void *arg) {
    struct world *w = arg;
    const evn_status status =
        w->open ? evn_exchange_finish(w->own_halo, unit, evn_batch_device(batch)) : EVN_OK;
    if (status) return status;
    for (int t; (t = evn_batch_next(batch)) >= 0;) compute(w->block[t], w->step);
    return EVN_OK;
}

static evn_status in_regions(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) compute(evn_batch_host(batch, t, 0), w->step);
    return EVN_OK;
}

static evn_status fill(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        memcpy(evn_batch_host(batch, t, 0), w->value[t], BYTES);
    return EVN_OK;
}

static evn_status fill_mesh(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        memcpy(evn_batch_host(batch, t, 0), w->value[OWN * w->rank + t], BYTES);
    return EVN_OK;
}

/* ---- opening ------------------------------------------------------------------------------- */

static evn_status make(void *arg, int task) {
    struct world *w = arg;
    w->block[task] = malloc(BYTES);
    return w->block[task] ? EVN_OK : evn_fail(EVN_MEMORY, "no room for task %d", task);
}

static void *memory(void *arg, int task, int block, size_t *bytes) {
    const struct world *w = arg;
    (void)block;
    *bytes = w->block[task] ? BYTES : 0;
    return w->block[task];
}

static void drop(void *arg, int task) {
    struct world *w = arg;
    free(w->block[task]);
    w->block[task] = NULL;
}

void face_pair(int t, evn_face *face) {
    face[0] = (evn_face){.from = t, .to = t + 1, .from_at = VALUES - 2, .n = {1, 1, 1}};
    face[1] = (evn_face){.from = t + 1, .to = t, .from_at = 1, .to_at = VALUES - 1, .n = {1, 1, 1}};
}

static void open_own(struct world *w, const evn_face *face, int faces) {
    static const evn_home home = {.blocks = 1, .make = make, .memory = memory, .drop = drop};
    const evn_problem p = {.tasks = TASKS,
                           .units = evn_cluster_about(w->cluster).units,
                           .speed = evn_cluster_about(w->cluster).speed};
    must_ok(evn_schedule_open(&w->schedule, "static", &p));
    must_ok(evn_loop_open_on(&w->own, w->units, w->schedule, w->cluster));
    must_ok(evn_loop_homes(w->own, &home, w));
    for (int t = 0; t < TASKS; t++) {
        must(evn_loop_has(w->own, t) == (t / OWN == w->rank));
        if (!evn_loop_has(w->own, t)) continue;
        must_ok(make(w, t));
        memcpy(w->block[t], w->value[t], BYTES);
    }
    must_ok(evn_exchange_open(&w->own_halo, w->own, sizeof(double), faces, face,
                              (void *const *)w->block));
}

static void open_placed(struct world *w, const evn_face *face, int faces) {
    static const evn_access both[] = {EVN_BOTH};
    must_ok(evn_open_loop(&w->placed, w->session, "static", &(evn_problem){.tasks = TASKS}));
    for (int t = 0; t < TASKS; t++) must_ok(evn_place_make(w->place, BYTES, &w->region[t]));
    must_ok(evn_session_place(w->session, w->placed, w->place, 1, w->region, both));
    must_ok(evn_loop_visit_host(w->placed, fill, w, EVN_WRITE));
    must_ok(evn_exchange_open(&w->placed_halo, w->placed, sizeof(double), faces, face, NULL));
}

static void open_mesh(struct world *w) {
    static const evn_access both[] = {EVN_BOTH};
    static const size_t bytes[OWN] = {BYTES, BYTES, BYTES, BYTES};
    const evn_distribution own = {.cluster = w->cluster,
                                  .units = w->units,
                                  .place = w->place,
                                  .schedule = "static",
                                  .tasks = OWN,
                                  .regions = 1,
                                  .bytes = bytes,
                                  .access = both,
                                  .element = sizeof(double)};
    evn_rank_face face[2 * OWN];
    int faces = 0;
    must_ok(evn_distributed_open(&w->mesh, &own));
    must_ok(evn_loop_visit_host(evn_distributed_part(w->mesh).loop, fill_mesh, w, EVN_WRITE));
    for (int t = OWN * w->rank; t < OWN * (w->rank + 1) && t + 1 < TASKS; t++) {
        evn_face pair[2];
        face_pair(t, pair);
        for (int i = 0; i < 2; i++)
            face[faces++] = (evn_rank_face){{pair[i].from / OWN, pair[i].from % OWN},
                                            {pair[i].to / OWN, pair[i].to % OWN},
                                            pair[i]};
    }
    must_ok(evn_distributed_add(w->mesh, faces, face));
}

void ranks_open(struct world *w, evn_cluster *cluster) {
    evn_face face[2 * TASKS];
    *w = (struct world){.cluster = cluster, .rank = evn_cluster_rank(cluster)};
    for (int t = 0; t < TASKS; t++)
        for (int i = 0; i < VALUES; i++) w->value[t][i] = t + i % 5;
    for (int t = 0; t + 1 < TASKS; t++) face_pair(t, &face[2 * t]);
    must_ok(evn_open_with(&w->session,
                          &(evn_open_options){.units = "1:CPU:1",
                                              .flags = EVN_OVERSUBSCRIBE | EVN_NO_ENVIRONMENT,
                                              .cluster = cluster}));
    w->units = evn_session_units(w->session);
    must_ok(evn_place_open(&w->place, w->units, 0.5));
    open_own(w, face, 2 * (TASKS - 1));
    open_placed(w, face, 2 * (TASKS - 1));
    open_mesh(w);
    goes_on(w);
}

void ranks_close(struct world *w) {
    must_ok(evn_cluster_agree(w->cluster, EVN_OK));
    evn_distributed_close(w->mesh);
    evn_exchange_close(w->own_halo);
    evn_exchange_close(w->placed_halo);
    evn_loop_close(w->own);
    evn_schedule_close(w->schedule);
    evn_place_close(w->place);
    must_ok(evn_close(w->session));
    for (int t = 0; t < TASKS; t++) free(w->block[t]);
}

/* ---- steps --------------------------------------------------------------------------------- */

static void check_region(const struct world *w, int region, const double *value) {
    must_ok(evn_place_acquire(w->place, 1, &region, EVN_HOST, EVN_READ));
    must(!memcmp(evn_place_host(w->place, region), value, BYTES));
    must_ok(evn_place_release(w->place, 1, &region, EVN_HOST));
}

void goes_on(struct world *w) {
    if (!w->open) must_ok(evn_exchange_run(w->own_halo));
    must_ok(evn_loop_run(w->own, in_blocks, w));
    w->open = 0;
    must_ok(evn_exchange_run(w->placed_halo));
    must_ok(evn_loop_run(w->placed, in_regions, w));
    must_ok(evn_distributed_run(w->mesh, in_regions, w));
    step_plainly(w);
    for (int t = OWN * w->rank; t < OWN * (w->rank + 1); t++) {
        must(evn_loop_has(w->own, t) && evn_loop_has(w->placed, t));
        must(!memcmp(w->block[t], w->value[t], BYTES));
        check_region(w, w->region[t], w->value[t]);
        check_region(w, evn_distributed_part(w->mesh).region[t % OWN], w->value[t]);
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

void begin_row(struct world *w, int wrong, const char *call) {
    w->wrong = wrong;
    snprintf(progress->row[w->rank], sizeof progress->row[w->rank], "wrong is rank %d: %s", wrong,
             call);
    if (!w->rank) progress->rows++;
    alarm(PATIENCE); /* ranks that wait for each other for ever */
    evn_fail(EVN_SYSTEM, "an old message");
}

void end_row(struct world *w, evn_status got, evn_status want, const char *words) {
    char name[20] = "";
    if (w->wrong < RANKS) snprintf(name, sizeof name, "rank %d", w->wrong);
    if (got != want || !strstr(evn_message(), words) || !strstr(evn_message(), name)) {
        fprintf(stderr, "rank %d: %s, expected %s, and the message \"%s\" must have \"%s\" %s\n",
                w->rank, evn_status_text(got), evn_status_text(want), evn_message(), words, name);
        must(got == want);
        must(!"the message says so");
    }
    goes_on(w);
    alarm(0);
}
