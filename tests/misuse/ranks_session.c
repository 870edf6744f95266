/* Wrong calls over ranks: of loops of sessions, and of their regions. */
#include "misuse/over_ranks.h"
#include <evener/open.h>
#include <string.h>

static evn_status open_loop(struct world *w, const char *schedule, const evn_problem *problem) {
    evn_loop *loop = w->own;
    const evn_status status = evn_open_loop(&loop, w->session, schedule, problem);
    must(!loop);
    return status;
}

static evn_status open_loop_on(struct world *w, evn_schedule *schedule) {
    evn_loop *loop = w->own;
    const evn_status status = evn_open_loop_on(&loop, w->session, schedule);
    must(!loop);
    return status;
}

static evn_status open_schedule(struct world *w, const char *text, const evn_problem *problem) {
    evn_schedule *schedule = w->schedule;
    const evn_status status = evn_session_schedule(&schedule, w->session, text, problem);
    must(!schedule);
    return status;
}

void ranks_session(struct world *w) {
    static const double bytes[TASKS] = {8}, negative[TASKS] = {1, -1};
    const evn_problem good = {.tasks = TASKS};
    evn_problem p;
    evn_schedule *of_two, *longer;
    must_ok(evn_schedule_open(&of_two, "static", &(evn_problem){.tasks = TASKS, .units = 2}));
    must_ok(evn_schedule_open(&longer, "static", &(evn_problem){.tasks = 40, .units = RANKS}));
#define PROBLEM(words, field, value_)                                                              \
    ONE(words, (p = good, p.field = ODD ? (value_) : good.field, open_loop(w, "static", &p)))      \
    ONE(words, (p = good, p.field = ODD ? (value_) : good.field, open_schedule(w, "static", &p)))
    PROBLEM("expected at least one", tasks, 0)
    PROBLEM("40 tasks", tasks, 40)
    PROBLEM("task 1 is -1", weight, negative)
    PROBLEM("bytes to be placed", bytes, bytes)
    PROBLEM("-1 instances", instances, -1)
#undef PROBLEM
    ONE("3 on all ranks", (p = good, p.units = ODD ? 2 : 0, open_loop(w, "static", &p)))
    ONE("no-such", open_loop(w, ODD ? "no-such" : "static", &good))
    ONE("no-such", open_schedule(w, ODD ? "no-such" : "static", &good))
    ONE("under \"dynamic", open_loop(w, ODD ? "dynamic" : "static", &good))
    ONE("a problem", open_loop(w, "static", ODD ? NULL : &good))
    ONE("a problem", open_schedule(w, "static", ODD ? NULL : &good))
    ONE("where to put", evn_open_loop(ODD ? NULL : &(evn_loop *){NULL}, w->session, NULL, &good))
    ONE("where to put",
        evn_session_schedule(ODD ? NULL : &(evn_schedule *){NULL}, w->session, NULL, &good))
    ONE("a schedule", open_loop_on(w, ODD ? NULL : w->schedule))
    ONE("where to put", evn_open_loop_on(ODD ? NULL : &(evn_loop *){NULL}, w->session, w->schedule))
    ONE("made for 2 units", open_loop_on(w, ODD ? of_two : w->schedule))
    ONE("40 ", open_loop_on(w, ODD ? longer : w->schedule))
    ALL("while a loop is open", evn_session_units_open(w->session, NULL, NULL, EVN_OVERSUBSCRIBE))
    evn_schedule_close(of_two);
    evn_schedule_close(longer);
}

/* ---- regions ------------------------------------------------------------------------------- */

/* One rank holds a region while all collect. */
static evn_status collect_held(struct world *w) {
    const int *region = &w->region[OWN * w->rank];
    if (ODD) must_ok(evn_place_acquire(w->place, 1, region, EVN_HOST, EVN_BOTH));
    const evn_status status = evn_session_collect(w->session, w->placed);
    if (ODD) must_ok(evn_place_release(w->place, 1, region, EVN_HOST));
    return status;
}

static evn_status run_held(struct world *w) {
    const int *region = &w->region[OWN * w->rank];
    if (ODD) must_ok(evn_place_acquire(w->place, 1, region, EVN_HOST, EVN_READ));
    const evn_status status = evn_loop_run(w->placed, nothing, NULL);
    if (ODD) must_ok(evn_place_release(w->place, 1, region, EVN_HOST));
    return status;
}

void ranks_regions(struct world *w) {
    static const evn_access both[] = {EVN_BOTH, EVN_BOTH}, none[] = {(evn_access)9};
    evn_session *const s = w->session;
    evn_place *const place = w->place;
    evn_loop *l;
    int good[2 * TASKS], absent, large, wrong[TASKS];
    const int own = OWN * w->rank, other = (own + OWN) % TASKS;
    for (int t = 0; t < TASKS; t++) must_ok(evn_place_make(place, BYTES, &good[t]));
    memset(good + TASKS, -1, TASKS * sizeof *good);
    must_ok(evn_place_add(place, NULL, BYTES, &absent));
    must_ok(evn_place_make(place, 2 * BYTES, &large));
    must_ok(evn_open_loop(&l, s, "static", &(evn_problem){.tasks = TASKS}));
#define REGION(words, task, number)                                                                \
    ONE(words, (memcpy(wrong, good, sizeof wrong), wrong[task] = ODD ? (number) : good[task],      \
                evn_session_place(s, l, place, 1, wrong, both)))
    REGION("named twice", own, good[other])
    REGION("has no memory", own, absent)
    REGION("has no memory", own, 1000)
    REGION("has no memory", other, 1000)
    REGION("number -2", own, -2)
    REGION("other sizes on rank", own, large)
    REGION("other sizes on rank", other, large)
    REGION("other sizes on rank", own, -1)
    REGION("other sizes on rank", other, -1)
#undef REGION
    ONE("a loop", evn_session_place(s, ODD ? NULL : l, place, 1, good, both))
    ONE("none of this session's", evn_session_place(s, ODD ? w->own : l, place, 1, good, both))
    ONE("no place", evn_session_place(s, l, ODD ? NULL : place, 1, good, both))
    ONE("0 regions", evn_session_place(s, l, place, ODD ? 0 : 1, good, both))
    ONE("regions of each task on rank", evn_session_place(s, l, place, ODD ? 1 : 2, good, both))
    ONE("place() with 1 regions", evn_session_place(s, l, place, 1, ODD ? NULL : good, both))
    ONE("place() with 1 regions", evn_session_place(s, l, place, 1, good, ODD ? NULL : both))
    ONE("access 9", evn_session_place(s, l, place, 1, good, ODD ? none : both))
    ALL("once more", evn_session_place(s, w->placed, place, 1, w->region, both))
    ONE("once more", evn_session_place(s, ODD ? w->placed : l, place, 1, good, both))
    ALL("without regions", evn_session_collect(s, l))
    must_ok(evn_session_place(s, l, place, 1, good, both)); /* and what is right is done */
    ONE("a loop", evn_session_collect(s, ODD ? NULL : w->placed))
    ONE("none of this session's", evn_session_collect(s, ODD ? w->own : w->placed))
    ONE("region", collect_held(w))
    ONE_FAILS(EVN_BODY, "cannot be acquired", run_held(w))
    must_ok(evn_session_collect(s, w->placed));
    for (int t = 0; !w->rank && t < TASKS; t++)
        must(!memcmp(evn_place_host(place, w->region[t]), w->value[t], BYTES));
    must_ok(evn_close_loop(s, l));
    goes_on(w);
}
