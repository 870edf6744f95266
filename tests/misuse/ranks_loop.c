/* Wrong calls over ranks: of clusters and loops, and from within a body of one rank. */
#include "misuse/over_ranks.h"
#include <evener/change.h>
#include <evener/open.h>
#include <evener/recover.h>
#include <string.h>

static const double equal[TASKS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const double negative[TASKS] = {1, 1, -1, 1};
static const double uneven[TASKS] = {1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1};

static evn_status fails(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit, (void)batch;
    return ODD ? evn_fail(EVN_SYSTEM, "the ninth wave") : EVN_OK;
}

/* A question that only births answer. */
static evn_status asks(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit;
    if (ODD) evn_batch_origins(batch, evn_batch_tasks(batch, &(int){0})[0]);
    return EVN_OK;
}

/* ---- clusters ------------------------------------------------------------------------------ */

void ranks_cluster(struct world *w) {
    static const double no_speed[] = {0};
    char eight[8] = "", all[8 * RANKS], sixteen[16];
    evn_machine *m;
    ONE("where to put", evn_cluster_machine(w->cluster, ODD ? NULL : &m, 0, 1))
    ONE("-1 cores", evn_cluster_machine(w->cluster, &m, ODD ? -1 : 0, 1))
    ONE("units", evn_cluster_units(w->cluster, ODD ? NULL : w->units, NULL))
    ONE("speed of unit 0 is 0", evn_cluster_units(w->cluster, w->units, ODD ? no_speed : NULL))
    ONE("are nowhere", evn_cluster_gather(w->cluster, ODD ? NULL : eight, 8, all))
    ONE("gathers", evn_cluster_gather(w->cluster, eight, ODD ? 4 : 8, all))
    ONE("are nowhere", evn_cluster_tell(w->cluster, ODD ? NULL : eight, 8))
    ONE("expects", evn_cluster_tell(w->cluster, sixteen, ODD ? 16 : 8))
    ONE("Sunday", evn_cluster_agree(w->cluster, ODD ? evn_fail(EVN_USAGE, "Sunday") : EVN_OK))
    ONE("all ranks make the same calls",
        ODD ? evn_cluster_agree(w->cluster, EVN_OK) : evn_cluster_tell(w->cluster, eight, 8))
}

/* ---- loops --------------------------------------------------------------------------------- */

static evn_status open_loop(struct world *w, evn_units *units, const evn_schedule *schedule) {
    evn_loop *loop = w->own;
    const evn_status status = evn_loop_open_on(&loop, units, (evn_schedule *)schedule, w->cluster);
    must(!loop);
    return status;
}

void ranks_loop(struct world *w) {
    evn_schedule *of_two, *longer, *other;
    evn_recovery *recovery;
    int numbers[TASKS] = {0};
    evn_loop *loop;
    must_ok(evn_schedule_open(&of_two, "static", &(evn_problem){.tasks = TASKS, .units = 2}));
    must_ok(evn_schedule_open(&longer, "static", &(evn_problem){.tasks = 40, .units = RANKS}));
    must_ok(evn_schedule_open(&other, "dynamic", &(evn_problem){.tasks = TASKS, .units = RANKS}));
    ONE("where to put", evn_loop_open_on(ODD ? NULL : &loop, w->units, w->schedule, w->cluster))
    ONE("units", open_loop(w, ODD ? NULL : w->units, w->schedule))
    ONE("a schedule", open_loop(w, w->units, ODD ? NULL : w->schedule))
    ONE("made for 2 units", open_loop(w, w->units, ODD ? of_two : w->schedule))
    ONE("40 ", open_loop(w, w->units, ODD ? longer : w->schedule))
    ONE("under \"dynamic", open_loop(w, w->units, ODD ? other : w->schedule))
    evn_schedule_close(of_two);
    evn_schedule_close(longer);
    evn_schedule_close(other);
    ONE("a body", evn_loop_run(w->own, ODD ? NULL : nothing, NULL))
    ONE("access 9", evn_loop_visit_host(w->own, nothing, NULL, ODD ? (evn_access)9 : EVN_READ))
    ONE("access 0", evn_loop_visit_host(w->placed, nothing, NULL, ODD ? (evn_access)0 : EVN_READ))
    ONE("at NULL", evn_loop_allgather(w->own, ODD ? NULL : numbers, sizeof *numbers))
    ONE("values of", evn_loop_allgather(w->own, numbers, ODD ? 1 : sizeof *numbers))
    ONE("task 2 is -1", evn_loop_weights(w->own, ODD ? negative : equal))
    ALL("task 2 is -1", evn_loop_weights(w->placed, negative))
    ONE("other weights on rank", evn_loop_weights(w->own, ODD ? uneven : equal))
    ONE_FAILS(EVN_BODY, "the ninth wave", evn_loop_run(w->own, fails, w))
    ONE_FAILS(EVN_BODY, "the ninth wave", evn_loop_run(w->placed, fails, w))
    ONE_FAILS(EVN_BODY, "the ninth wave", evn_loop_visit(w->own, fails, w))
    ONE_FAILS(EVN_BODY, "the ninth wave", evn_loop_visit_host(w->placed, fails, w, EVN_READ))
    ONE_FAILS(EVN_BODY, "these are no births", evn_loop_run(w->own, asks, w))
    ONE("all ranks make the same calls",
        ODD ? evn_loop_run(w->own, nothing, NULL) : evn_loop_visit(w->own, nothing, NULL))
    ONE("all ranks make the same calls",
        ODD ? evn_cluster_agree(w->cluster, EVN_OK) : evn_loop_run(w->placed, nothing, NULL))
    ALL("over ranks", evn_recovery_open(&recovery, w->own, 2, NULL))
}

/* ---- from within a body -------------------------------------------------------------------- */

/* The call of a number; *calls: number of them. */
static evn_status make_within(struct world *w, int row, int *calls) {
    static const evn_access both[] = {EVN_BOTH};
    static const size_t bytes[] = {BYTES};
    static const evn_problem tasks = {.tasks = TASKS};
    static evn_rank_task task;
    const evn_distribution own = {.cluster = w->cluster,
                                  .units = w->units,
                                  .place = w->place,
                                  .tasks = 1,
                                  .regions = 1,
                                  .bytes = bytes,
                                  .access = both,
                                  .element = 8};
    evn_face pair[2];
    evn_loop *loop;
    evn_schedule *schedule;
    evn_exchange *x;
    evn_distributed *d;
    int n = 0, open, numbers[TASKS] = {0};
    face_pair(0, pair);
#define CALL(...)                                                                                  \
    if (row == n++) return (__VA_ARGS__);
    CALL(evn_loop_run(w->own, nothing, NULL))
    CALL(evn_loop_run(w->placed, nothing, NULL))
    CALL(evn_loop_visit(w->own, nothing, NULL))
    CALL(evn_loop_visit_host(w->placed, nothing, NULL, EVN_READ))
    CALL(evn_loop_bring(w->placed))
    CALL(evn_loop_weights(w->own, equal))
    CALL(evn_loop_allgather(w->own, numbers, sizeof *numbers))
    CALL(evn_loop_change(w->own, &same_tasks))
    CALL(evn_loop_bear(w->own, nothing, NULL, EVN_READ))
    CALL(evn_loop_open_on(&loop, w->units, w->schedule, w->cluster))
    CALL(evn_exchange_open(&x, w->own, 8, 2, pair, (void *const *)w->block))
    CALL(evn_exchange_run(w->own_halo))
    CALL(evn_exchange_run(w->placed_halo))
    CALL(evn_exchange_start(w->own_halo, &open))
    CALL(evn_exchange_add(w->own_halo, 2, pair, (void *const *)w->block))
    CALL(evn_exchange_drop(w->own_halo, 1, each))
    CALL(evn_open_loop(&loop, w->session, "static", &tasks))
    CALL(evn_open_loop_on(&loop, w->session, w->schedule))
    CALL(evn_session_schedule(&schedule, w->session, "static", &tasks))
    CALL(evn_session_place(w->session, w->placed, w->place, 1, w->region, both))
    CALL(evn_session_collect(w->session, w->placed))
    CALL(evn_session_units_open(w->session, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE))
    CALL(evn_session_units_close(w->session))
    CALL(evn_close_loop(w->session, w->placed))
    CALL(evn_distributed_open(&d, &own))
    CALL(evn_distributed_add(w->mesh, 0, NULL))
    CALL(evn_distributed_run(w->mesh, nothing, NULL))
    CALL(evn_distributed_change(w->mesh, &same_tasks, NULL))
    CALL(evn_distributed_bear(w->mesh, nothing, NULL))
    CALL(evn_distributed_now(w->mesh, 1, &task))
    CALL(evn_distributed_balance(w->mesh, NULL))
#undef CALL
    *calls = n;
    return EVN_OK;
}

static evn_status within(evn_unit *unit, evn_batch *batch, void *arg) {
    struct world *w = arg;
    int calls;
    (void)unit, (void)batch;
    return ODD ? make_within(w, w->call, &calls) : EVN_OK;
}

/* Each answers at once, since no other rank comes, and its failure is that of the instance. */
void ranks_within(struct world *w) {
    int calls;
    make_within(w, -1, &calls);
    for (w->call = 0; w->call < calls; w->call++) {
        ONE_FAILS(EVN_BODY, "within a", evn_loop_run(w->own, within, w))
        ONE_FAILS(EVN_BODY, "within a", evn_loop_visit(w->placed, within, w))
        ONE_FAILS(EVN_BODY, "within a", evn_distributed_run(w->mesh, within, w))
    }
}
