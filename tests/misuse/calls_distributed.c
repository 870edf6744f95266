/* Wrong calls of tasks distributed over ranks, on one rank; tests/distributed has those on several.
 */
#include "misuse/world.h"
#include <evener/distributed.h>
#include <math.h>

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

static evn_status own_loop(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch;
    return evn_distributed_run(arg, nothing, NULL);
}

static const size_t bytes[] = {64, 64, 64};
static const evn_access both[] = {EVN_BOTH}, no_access[] = {(evn_access)9};

static evn_distribution three_tasks(const struct world *w) {
    return (evn_distribution){.cluster = w->cluster,
                              .units = w->units,
                              .place = w->place,
                              .tasks = 3,
                              .regions = 1,
                              .bytes = bytes,
                              .access = both,
                              .element = 8};
}

int calls_distribution(struct world *w, int row) {
    static const double negative[] = {1, -1, 1}, no_number[] = {1, 1, NAN};
    evn_distributed *d, **out = &d;
    evn_distribution own = three_tasks(w);
    USAGE("where to put", evn_distributed_open(NULL, &own))
    USAGE("this rank's tasks", evn_distributed_open(out, NULL))
    USAGE("units", (own.units = NULL, evn_distributed_open(out, &own)))
    USAGE("a place", (own.place = NULL, evn_distributed_open(out, &own)))
    USAGE("-1 tasks", (own.tasks = -1, evn_distributed_open(out, &own)))
    USAGE("no rank has tasks", (own.tasks = 0, evn_distributed_open(out, &own)))
    USAGE("0 regions", (own.regions = 0, evn_distributed_open(out, &own)))
    USAGE("the bytes of regions", (own.bytes = NULL, evn_distributed_open(out, &own)))
    USAGE("access of regions", (own.access = NULL, evn_distributed_open(out, &own)))
    USAGE("access 9", (own.access = no_access, evn_distributed_open(out, &own)))
    USAGE("values of 0 bytes", (own.element = 0, evn_distributed_open(out, &own)))
    USAGE("-1 instances", (own.instances = -1, evn_distributed_open(out, &own)))
    USAGE("task 1", (own.weight = negative, evn_distributed_open(out, &own)))
    USAGE("task 2", (own.weight = no_number, evn_distributed_open(out, &own)))
    USAGE("no-such", (own.schedule = "no-such", evn_distributed_open(out, &own)))
    IS(EVN_OK, (own.cluster = NULL, evn_distributed_open(out, &own)))
    CALLS_END
}

int calls_distributed(struct world *w, int row) {
    static const int each[] = {0, 1, 2, 3}, falling[] = {0, 1, 0, 1}, far[] = {0, 1, 3};
    static const char kept[] = {1, 1, 1};
    static const size_t none[] = {0, 0, 0};
    static evn_rank_task task[] = {{0, 0}}, wrong[] = {{0, 3}}, below[] = {{0, -1}};
    const evn_rank_face face = {{0, 0}, {0, 1}, {.n = {1, 1, 1}}};
    const evn_rank_face rank = {{1, 0}, {0, 1}, {.n = {1, 1, 1}}};
    const evn_rank_face number = {{0, 0}, {0, -1}, {.n = {1, 1, 1}}};
    const evn_rank_face large = {{0, 0}, {0, 1}, {.n = {1 << 30, 1 << 30, 1 << 30}}};
    const evn_rank_face apart = {{0, 0}, {0, 1}, {.n = {3, 1, 1}, .to_stride = {1LL << 62, 0, 0}}};
    const evn_rank_face beyond = {{0, 0}, {0, 1}, {.n = {1, 1, 1}, .from_at = 8}};
    const evn_rank_face before = {{0, 0}, {0, 1}, {.n = {1, 1, 1}, .to_at = -1}};
    const evn_rank_face region = {{0, 0}, {0, 1}, {.n = {1, 1, 1}, .from_region = 1}};
    const evn_rank_face twice = {{0, 0}, {0, 1}, {.n = {2, 1, 1}, .from_stride = {1, 0, 0}}};
    const evn_change same = {.tasks = 3, .first = each, .from = each, .kept = kept, .links = -1};
    evn_change c = same;
    evn_distributed *d = NULL;
    const evn_distribution own = three_tasks(w);
    if (evn_distributed_open(&d, &own)) return WRONG;
    IS(3, evn_distributed_part(d).tasks)
    GIVES(-1, "expected 0 to 1", evn_distributed_sum(d, 2))
    GIVES(-1, "rank -1", evn_distributed_sum(d, -1))
    USAGE("-1 faces", evn_distributed_add(d, -1, &face))
    USAGE("none are given", evn_distributed_add(d, 1, NULL))
    USAGE("a task of rank 1", evn_distributed_add(d, 1, &rank))
    USAGE("task -1 of rank 0", evn_distributed_add(d, 1, &number))
    USAGE("than can be counted", evn_distributed_add(d, 1, &large))
    USAGE("than can be counted", evn_distributed_add(d, 1, &apart))
    USAGE("reads values 8 to 8", evn_distributed_add(d, 1, &beyond))
    USAGE("writes values -1 to -1", evn_distributed_add(d, 1, &before))
    USAGE("reads region 1", evn_distributed_add(d, 1, &region))
    USAGE("writes value 0 of region 0 of task 1", evn_distributed_add(d, 1, &twice))
    IS(EVN_OK, evn_distributed_add(d, 1, &face))
    IS(EVN_OK, evn_distributed_add(d, 0, NULL))
    USAGE("a body", evn_distributed_run(d, NULL, NULL))
    USAGE("a change", evn_distributed_change(d, NULL, NULL))
    USAGE("-1 tasks", (c.tasks = -1, evn_distributed_change(d, &c, NULL)))
    USAGE("no task is left", (c.tasks = 0, evn_distributed_change(d, &c, NULL)))
    USAGE("-1 origins", (c.first = falling, evn_distributed_change(d, &c, NULL)))
    USAGE("there were tasks 0 to 2", (c.from = far, evn_distributed_change(d, &c, NULL)))
    USAGE("links", (c.links = -2, evn_distributed_change(d, &c, NULL)))
    USAGE("links", (c.links = 1, evn_distributed_change(d, &c, NULL)))
    USAGE("state", (c.state = w->doubles, evn_distributed_change(d, &c, NULL)))
    USAGE("bytes", (c.bytes = w->doubles, evn_distributed_change(d, &c, NULL)))
    USAGE("family", (c.family = each, evn_distributed_change(d, &c, NULL)))
    USAGE("instances", (c.instances = -1, evn_distributed_change(d, &c, NULL)))
    USAGE("may move", (c.most = 2, evn_distributed_change(d, &c, NULL)))
    USAGE("are not given", (c.first = NULL, c.kept = NULL, evn_distributed_change(d, &c, NULL)))
    IS(EVN_OK, (c.first = NULL, c.kept = NULL, evn_distributed_change(d, &c, none)))
    IS(EVN_OK, evn_distributed_change(d, &same, NULL))
    USAGE("a body", evn_distributed_bear(d, NULL, NULL))
    IS(EVN_OK, evn_distributed_bear(d, nothing, NULL))
    USAGE("nothing has changed yet", evn_distributed_now(d, 1, task))
    USAGE("which are not given",
          (evn_distributed_change(d, &same, NULL), evn_distributed_now(d, 1, NULL)))
    USAGE("task 3 of before",
          (evn_distributed_change(d, &same, NULL), evn_distributed_now(d, 1, wrong)))
    USAGE("task -1 of before",
          (evn_distributed_change(d, &same, NULL), evn_distributed_now(d, 1, below)))
    IS(EVN_OK, evn_distributed_balance(d, NULL))
    IS(EVN_OK, (evn_loop_visit_host(evn_distributed_part(d).loop, nothing, NULL, EVN_WRITE),
                evn_distributed_run(d, nothing, NULL)))
    FAILS(EVN_BODY, "while the units are at work",
          (evn_loop_visit_host(evn_distributed_part(d).loop, nothing, NULL, EVN_WRITE),
           evn_distributed_run(d, own_loop, d)))
    CALLS_END
}
