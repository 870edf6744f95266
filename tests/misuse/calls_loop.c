/* Wrong calls of loops, batches, exchanges, recovery, traces and sessions. */
#include "misuse/world.h"
#include <evener/exchange.h>
#include <evener/open.h>
#include <evener/trace.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}
static evn_status silent(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_BODY;
}

static evn_status place_for(struct world *w, int regions, int number, evn_access access) {
    int region[2 * TASKS];
    for (int i = 0; i < 2 * TASKS; i++) region[i] = number;
    return evn_loop_place(w->loop, w->place, regions, region, (evn_access[]){access, access});
}

int calls_loop(struct world *w, int row) {
    evn_loop *l;
    const evn_access read = EVN_READ;
    USAGE("NULL", evn_loop_open(NULL, w->other, w->schedule))
    USAGE("units", evn_loop_open(&l, NULL, w->schedule))
    USAGE("a schedule", evn_loop_open(&l, w->other, NULL))
    USAGE("3 units", evn_loop_open(&l, w->other, w->of_three))
    USAGE("only described", evn_loop_open(&l, w->described, w->schedule))
    USAGE("no place", evn_loop_place(w->loop, NULL, 1, w->region, &read))
    USAGE("expected a place", evn_loop_place(w->loop, w->place, 1, NULL, &read))
    USAGE("access", evn_loop_place(w->loop, w->place, 1, w->region, NULL))
    USAGE("0 regions", place_for(w, 0, 0, EVN_READ))
    USAGE("-1 regions", place_for(w, -1, 0, EVN_READ))
    USAGE("access 0", place_for(w, 2, 0, (evn_access)0))
    USAGE("access 7", place_for(w, 2, 0, (evn_access)7))
    USAGE("number -2", place_for(w, 2, -2, EVN_READ))
    FAILS(EVN_BODY, "no region 99",
          (place_for(w, 1, 99, EVN_READ), evn_loop_run(w->loop, nothing, NULL)))
    USAGE("a body", evn_loop_run(w->loop, NULL, NULL))
    FAILS(EVN_BODY, "no message", evn_loop_run(w->plain_loop, silent, NULL))
    USAGE("not the loop's", evn_loop_join(w->loop, NULL, nothing, NULL))
    USAGE("not the loop's", evn_loop_join(w->loop, evn_units_get(w->other, 0), nothing, NULL))
    USAGE("outside", evn_loop_join(w->loop, w->cpu, nothing, NULL))
    IS(EVN_OK, evn_loop_visit(w->loop, NULL, NULL))
    USAGE("access 0", evn_loop_visit_host(w->loop, nothing, NULL, (evn_access)0))
    USAGE("access -1", evn_loop_visit_host(w->plain_loop, nothing, NULL, (evn_access)-1))
    IS(EVN_OK, evn_loop_weights(w->plain_loop, NULL))
    IS(EVN_OK, evn_loop_bring(w->plain_loop))
    CALLS_END
}

int calls_loop_asking(struct world *w, int row) {
    SAYS("NULL", evn_loop_devices(w->loop, 0, NULL))
    SAYS("NULL", evn_loop_devices(w->loop, 1, NULL))
    USAGE("latest 0 bursts", evn_loop_keep_bursts(w->loop, 0))
    USAGE("latest -1 bursts", evn_loop_keep_bursts(w->loop, -1))
    USAGE("1 or more", evn_loop_keep_bursts(w->loop, INT_MIN))
    GIVES(0, "units 0 to 1", evn_loop_bursts(w->loop, 2))
    GIVES(0, "unit -1", evn_loop_bursts(w->loop, -1))
    GIVES(0, "unit 2147483647", evn_loop_burst(w->loop, INT_MAX, 0).count)
    GIVES(0, "burst 0 of unit 0", evn_loop_burst(w->loop, 0, 0).count)
    GIVES(0, "burst -1", evn_loop_burst(w->loop, 0, -1).count)
    GIVES(0, "units 0 to 1", evn_loop_stats(w->loop, 99).tasks)
    GIVES(0, "unit -1", evn_loop_stats(w->loop, -1).tasks)
    GIVES(NULL, "how many links", evn_loop_links(w->loop, NULL))
    SAYS("the totals", evn_loop_add_totals(NULL, &(evn_loop_totals){0}))
    SAYS("the totals", evn_loop_add_totals(&(evn_loop_totals){0}, NULL))
    CALLS_END
}

int calls_trace(struct world *w, int row) {
    evn_trace *t = NULL;
    GIVES(NULL, "the number of changes", evn_trace_changes(w->loop, 0, NULL))
    USAGE("where to put", evn_trace_open(NULL, w->plain_loop, 1, 1))
    USAGE("a loop", evn_trace_open(&t, NULL, 1, 1))
    USAGE("latest 0 bursts", evn_trace_open(&t, w->plain_loop, 0, 1))
    USAGE("latest -1 messages", evn_trace_open(&t, w->plain_loop, 1, -1))
    if (evn_trace_open(&t, w->plain_loop, 8, 8)) return WRONG;
    USAGE("what tasks are called", evn_trace_put(t, NULL, stdout))
    USAGE("a stream", evn_trace_put(t, "task", NULL))
    GIVES(0, "unit -1", evn_trace_bursts(t, -1))
    GIVES(0, "unit 99", evn_trace_burst(t, 99, 0).count)
    GIVES(0, "burst -1", evn_trace_burst(t, 0, -1).count)
    GIVES(0, "burst 9", evn_trace_burst(t, 0, 9).count)
    CALLS_END
}

int calls_exchange(struct world *w, int row) {
    evn_exchange *x;
    const evn_face face = {.from = 0, .to = 1, .n = {1, 1, 1}};
    void *const memory[TASKS] = {w->text};
    USAGE("NULL", evn_exchange_open(NULL, w->loop, 8, 1, &face, NULL))
    USAGE("a loop", evn_exchange_open(&x, NULL, 8, 1, &face, NULL))
    USAGE("0 bytes", evn_exchange_open(&x, w->loop, 0, 1, &face, NULL))
    USAGE("1 or more", evn_exchange_open(&x, w->loop, SIZE_MAX, 1, &face, NULL))
    USAGE("-1 faces", evn_exchange_open(&x, w->loop, 8, -1, &face, NULL))
    USAGE("none are given", evn_exchange_open(&x, w->loop, 8, 1, NULL, NULL))
    USAGE("memory", evn_exchange_open(&x, w->plain_loop, 8, 1, &face, NULL))
    USAGE("task 1 has no memory", evn_exchange_open(&x, w->plain_loop, 8, 1, &face, memory))
    USAGE("NULL", evn_exchange_start(w->exchange, NULL))
    USAGE("a unit", evn_exchange_finish(w->exchange, NULL, -1))
    USAGE("loop's units", evn_exchange_finish(w->exchange, evn_units_get(w->other, 1), -1))
    IS(EVN_OK, evn_exchange_finish(w->exchange, w->gpu, INT_MAX))
    GIVES(-1, "no task -1", evn_exchange_needs(w->exchange, -1))
    GIVES(-1, "no task 99", evn_exchange_needs(w->exchange, 99))
    GIVES(-1, "first run", evn_exchange_needs(w->exchange, 0))
    GIVES(-1, "NULL", evn_exchange_pairs(w->exchange, NULL))
    USAGE("other regions since", (place_for(w, 2, -1, EVN_READ), evn_exchange_run(w->exchange)))
    USAGE("nowhere", (evn_place_leave(w->place, w->region[4]), evn_exchange_run(w->exchange)))
    CALLS_END
}

/* An exchange of one face, of regions or of memory. */
static evn_status open_face(struct world *w, evn_face f) {
    OWN(exchange) *x;
    if (!f.n[0] && !f.n[1] && !f.n[2]) f.n[0] = f.n[1] = f.n[2] = 1;
    const evn_status status = evn_exchange_open(&x, w->loop, 8, 1, &f, NULL);
    return status;
}
static evn_status open_two(struct world *w, const evn_face *face) {
    OWN(exchange) *x;
    const evn_status status = evn_exchange_open(&x, w->loop, 8, 2, face, NULL);
    return status;
}

#define FACE(...) open_face(w, (evn_face){__VA_ARGS__})

int calls_faces(struct world *w, int row) {
    const evn_face overlap[] = {{.from = 0, .to = 1, .n = {1, 1, 1}},
                                {.from = 2, .to = 1, .n = {1, 1, 1}}};
    const evn_face read[] = {{.from = 0, .to = 1, .n = {1, 1, 1}},
                             {.from = 1, .to = 2, .n = {1, 1, 1}}};
    USAGE("tasks 0 to 5", FACE(.from = -1))
    USAGE("task 6", FACE(.to = 6))
    USAGE("task 2147483647", FACE(.from = INT_MAX))
    USAGE("region 1 of task 0", FACE(.to = 1, .from_region = 1))
    USAGE("region -1 of task 1", FACE(.to = 1, .to_region = -1))
    USAGE("below 0", FACE(.to = 1, .n = {1, -1, 1}))
    USAGE("below 0", FACE(.to = 1, .n = {INT_MIN, 1, 1}))
    USAGE("reads values 8 to 8", FACE(.to = 1, .from_at = VALUES))
    USAGE("writes values -1", FACE(.to = 1, .to_at = -1))
    USAGE("values 0 to 8", FACE(.to = 1, .n = {1, 1, 9}, .from_stride = {0, 0, 1}))
    USAGE("values 0 to 9", FACE(.to = 1, .n = {2, 2, 1}, .from_stride = {5, 4, 1}))
    USAGE("values -7 to 0", FACE(.to = 1, .n = {8, 1, 1}, .from_stride = {-1, 1, 1}))
    /* what overflows an int, and what overflows everything */
    USAGE("reads values 0 to", FACE(.to = 1, .n = {65536, 65536, 1}, .from_stride = {65536, 1}))
    USAGE("task 1", FACE(.to = 1, .n = {65536, 65536, 1}, .to_stride = {65536, 1}))
    USAGE("further than", FACE(.to = 1, .n = {INT_MAX, INT_MAX, INT_MAX}))
    USAGE("further than", FACE(.to = 1, .n = {3, 1, 1}, .from_stride = {LLONG_MAX}))
    USAGE("further than", FACE(.to = 1, .n = {3, 1, 1}, .to_stride = {LLONG_MIN}))
    USAGE("further than", FACE(.to = 1, .from_at = LLONG_MAX))
    USAGE("further than", FACE(.to = 1, .to_at = LLONG_MIN))
    USAGE("more than once", FACE(.to = 1, .n = {2, 1, 1}))
    USAGE("at the same time", open_two(w, overlap))
    USAGE("at the same time", open_two(w, read))
    CALLS_END
}

int calls_recovery(struct world *w, int row) {
    evn_recovery *r;
    int step = 0;
    USAGE("NULL", evn_recovery_open(NULL, w->loop, 1, NULL))
    USAGE("a loop", evn_recovery_open(&r, NULL, 1, NULL))
    USAGE("every -1 steps", evn_recovery_open(&r, w->loop, -1, NULL))
    GIVES(NULL, "how many tasks", evn_recovery_tasks(w->recovery, NULL))
    USAGE("step -1", evn_recovery_keep(w->recovery, -1))
    USAGE("is held", evn_recovery_keep(w->recovery, 0))
    USAGE("NULL", evn_recovery_go_on(w->recovery, EVN_DEVICE, NULL))
    USAGE("without a failure, with status 99",
          evn_recovery_go_on(w->recovery, (evn_status)99, &step))
    USAGE("without a failure", evn_recovery_go_on(w->recovery, EVN_OK, &step))
    FAILS(EVN_DEVICE, "",
          (evn_fail(EVN_DEVICE, "mine"), evn_recovery_go_on(w->recovery, EVN_DEVICE, &step)))
    CALLS_END
}

int calls_session(struct world *w, int row) {
    evn_session *s;
    evn_loop *l;
    evn_schedule *c;
    const evn_access both = EVN_BOTH;
    const evn_problem p = {.tasks = TASKS}, none = {0}, three = {.tasks = TASKS, .units = 3};
    USAGE("NULL", evn_open(NULL, "1:CPU:1", NULL, 0))
    USAGE("column", evn_open(&s, "1:CPU", NULL, 0))
    USAGE("expected", evn_open(&s, "", NULL, 0))
    USAGE("back end", evn_open(&s, "1:GPU:1", "nonsense", EVN_OVERSUBSCRIBE))
    USAGE("flags", evn_open(&s, "1:CPU:1", NULL, 1U << 22))
    USAGE("NULL", evn_open_with(NULL, &(evn_open_options){.units = "1:CPU:1"}))
    USAGE("options", evn_open_with(&s, NULL))
    USAGE("a loop is open", evn_session_units_open(w->session, "1:CPU:1", NULL, 0))
    USAGE("a loop is open", evn_session_units_close(w->session))
    USAGE("NULL", evn_session_schedule(NULL, w->session, "static", &p))
    USAGE("a session", evn_session_schedule(&c, NULL, "static", &p))
    USAGE("a problem", evn_session_schedule(&c, w->session, "static", NULL))
    USAGE("none called", evn_session_schedule(&c, w->session, "nonsense", &p))
    USAGE("NULL", evn_open_loop_on(NULL, w->session, w->plain_schedule))
    USAGE("a session", evn_open_loop_on(&l, NULL, w->plain_schedule))
    USAGE("a schedule", evn_open_loop_on(&l, w->session, NULL))
    USAGE("units", evn_open_loop_on(&l, w->session, w->of_three))
    USAGE("NULL", evn_open_loop(NULL, w->session, "static", &p))
    USAGE("a session", evn_open_loop(&l, NULL, "static", &p))
    USAGE("a problem", evn_open_loop(&l, w->session, "static", NULL))
    USAGE("0 tasks", evn_open_loop(&l, w->session, NULL, &none))
    USAGE("3 units", evn_open_loop(&l, w->session, "static", &three))
    USAGE("none called", evn_open_loop(&l, w->session, "nonsense", &p))
    USAGE("before units are opened", evn_open_loop(&l, w->session, "binpack:reassign", &p))
    USAGE("a session", evn_close_loop(NULL, w->session_loop))
    IS(EVN_OK, evn_close_loop(w->session, NULL))
    IS(EVN_OK, evn_close_loop(NULL, NULL))
    USAGE("none of this session's", evn_close_loop(w->session, w->loop))
    USAGE("closed before", (evn_close_loop(w->session, w->session_loop),
                            evn_close_loop(w->session, w->session_loop)))
    IS(EVN_OK, evn_close(NULL))
    USAGE("a loop", evn_session_place(w->session, NULL, w->place, 1, w->region, &both))
    USAGE("none of this", evn_session_place(w->session, w->loop, w->place, 1, w->region, &both))
    USAGE("no place", evn_session_place(w->session, w->session_loop, NULL, 1, w->region, &both))
    USAGE("0 regions",
          evn_session_place(w->session, w->session_loop, w->place, 0, w->region, &both))
    USAGE("a loop", evn_session_collect(w->session, NULL))
    USAGE("none of this session's", evn_session_collect(w->session, w->loop))
    USAGE("without regions", evn_session_collect(w->session, w->session_loop))
    GIVES(1, "program's name", evn_complain(NULL))
    CALLS_END
}
