/* Wrong calls of what changes the tasks of a loop, of a schedule, and the faces of an exchange. */
#include "misuse/world.h"
#include <evener/change.h>
#include <limits.h>
#include <math.h>

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

static const int each[4] = {0, 1, 2, 3};
#define CHANGE(tasks_, first_, from_, ...)                                                         \
    &(const evn_change) { .tasks = tasks_, .first = first_, .from = from_, __VA_ARGS__ }

int calls_change(struct world *w, int row) {
    static const int beyond[3] = {0, 1, TASKS}, below[3] = {0, -1, 2}, twice[3] = {0, 1, 1};
    static const int falling[4] = {0, 1, 0, 1}, before[4] = {-1, 1, 2, 3};
    static const int steep[4] = {0, 2000000000, 1, 2}, deep[4] = {INT_MAX, INT_MIN, 0, 1};
    static const int none[3] = {-1, -1, -1000000000}, empty[2] = {0, 0};
    static const char kept[3] = {1, 1, 1};
    static const double negative[3] = {1, -1, 1}, no_number[3] = {1, 1, NAN};
    static const double endless[3] = {1, INFINITY, 1};
    static const evn_link far = {{0, 3}, 8};
    USAGE("a change", evn_loop_change(w->plain_loop, NULL))
    USAGE("at least one", evn_loop_change(w->plain_loop, CHANGE(0, each, each, .kept = NULL)))
    USAGE("at least one", evn_loop_change(w->plain_loop, CHANGE(-1, each, each, .kept = NULL)))
    USAGE("task 2 comes from task 6",
          evn_loop_change(w->plain_loop, CHANGE(3, each, beyond, .kept = NULL)))
    USAGE("task 1 comes from task -1",
          evn_loop_change(w->plain_loop, CHANGE(3, each, below, .kept = NULL)))
    USAGE("comes from task -1", evn_loop_change(w->plain_loop, CHANGE(3, each, NULL, .kept = NULL)))
    USAGE("-1 origins", evn_loop_change(w->plain_loop, CHANGE(3, falling, each, .kept = NULL)))
    USAGE("task 1 has -1999999999 origins",
          evn_schedule_change(w->schedule, CHANGE(3, steep, each, .kept = NULL)))
    USAGE("task 1 has -1999999999 origins",
          evn_loop_change(w->plain_loop, CHANGE(3, steep, each, .kept = NULL)))
    USAGE("task 0 has -4294967295 origins",
          evn_loop_change(w->plain_loop, CHANGE(3, deep, each, .kept = NULL)))
    USAGE("region 0 of task 2 is number -1000000000",
          evn_loop_change(w->loop, CHANGE(3, each, each, .region = none)))
    USAGE("begin at -1", evn_loop_change(w->plain_loop, CHANGE(3, before, each, .kept = NULL)))
    USAGE("both task 1", evn_loop_change(w->plain_loop, CHANGE(3, each, twice, .kept = kept)))
    USAGE("kept and has 0 origins",
          evn_loop_change(w->plain_loop, CHANGE(1, empty, each, .kept = kept)))
    USAGE("no origins", evn_loop_change(w->plain_loop, CHANGE(3, NULL, each, .kept = kept)))
    USAGE("no origins", evn_loop_change(w->plain_loop, CHANGE(3, each, NULL, .kept = kept)))
    USAGE("task 1 is -1", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .weight = negative)))
    USAGE("of task 2 is",
          evn_loop_change(w->plain_loop, CHANGE(3, each, each, .weight = no_number)))
    USAGE("task 1 is inf", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .weight = endless)))
    USAGE("links", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .links = -2)))
    USAGE("link", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .links = 1)))
    USAGE("task", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .links = 1, .link = &far)))
    USAGE("may move", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .most = -0.5)))
    USAGE("may move", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .most = NAN)))
    USAGE("instances", evn_loop_change(w->plain_loop, CHANGE(3, each, each, .instances = -1)))
    USAGE("-1 instances", (evn_schedule_change(w->schedule, CHANGE(3, each, each, .kept = kept)),
                           evn_schedule_change(w->schedule, CHANGE(3, each, each, .kept = kept,
                                                                   .links = -1, .instances = -1))))
    IS(EVN_OK, evn_loop_change(w->plain_loop, CHANGE(3, each, each, .kept = kept)))
    USAGE("a change", evn_schedule_change(w->schedule, NULL))
    USAGE("task 2 comes from task 6",
          evn_schedule_change(w->schedule, CHANGE(3, each, beyond, .kept = NULL)))
    USAGE("both task 1", evn_schedule_change(w->schedule, CHANGE(3, each, twice, .kept = kept)))
    USAGE("of task 2 is",
          evn_schedule_change(w->schedule, CHANGE(3, each, each, .weight = no_number)))
    GIVES(0, "change 0", evn_loop_changed(w->loop, 0).tasks)
    GIVES(0, "change -1", evn_loop_changed(w->loop, -1).tasks)
    CALLS_END
}

int calls_birth(struct world *w, int row) {
    USAGE("a body", evn_loop_bear(w->loop, NULL, NULL, EVN_READ))
    USAGE("EVN_READ or EVN_BOTH", evn_loop_bear(w->loop, nothing, NULL, EVN_WRITE))
    USAGE("EVN_READ or EVN_BOTH", evn_loop_bear(w->loop, nothing, NULL, (evn_access)99))
    IS(EVN_OK, evn_loop_bear(w->loop, nothing, NULL, EVN_READ))
    CALLS_END
}

int calls_changed_faces(struct world *w, int row) {
    static const int below = -1, beyond = 99, twice[2] = {0, 0};
    const evn_face there = {.from = 1, .to = 4, .n = {1, 1, 1}}; /* writes what face 0 does */
    const evn_face face = {.from = 0, .to = 1, .n = {1, 1, 1}};
    const evn_face nowhere = {.from = 0, .to = TASKS, .n = {1, 1, 1}};
    const evn_face negative = {.from = 0, .to = 1, .n = {1, -1, 1}};
    USAGE("-1 faces", evn_exchange_add(w->exchange, -1, &face, NULL))
    USAGE("none are given", evn_exchange_add(w->exchange, 1, NULL, NULL))
    USAGE("there are tasks 0 to 5", evn_exchange_add(w->exchange, 1, &nowhere, NULL))
    USAGE("none may be below 0", evn_exchange_add(w->exchange, 1, &negative, NULL))
    IS(EVN_OK, evn_exchange_add(w->exchange, 0, NULL, NULL))
    USAGE("-1 faces", evn_exchange_drop(w->exchange, -1, &below))
    USAGE("none are given", evn_exchange_drop(w->exchange, 1, NULL))
    USAGE("face -1", evn_exchange_drop(w->exchange, 1, &below))
    USAGE("face 99", evn_exchange_drop(w->exchange, 1, &beyond))
    IS(EVN_OK, evn_exchange_drop(w->exchange, 0, NULL))
    USAGE("writes at the same time", evn_exchange_add(w->exchange, 1, &there, NULL))
    USAGE("to be dropped twice", evn_exchange_drop(w->exchange, 2, twice))
    USAGE("is gone already",
          (evn_exchange_drop(w->exchange, 1, twice), evn_exchange_drop(w->exchange, 1, twice)))
    CALLS_END
}
