/* Wrong calls over ranks: of tasks of which each rank knows its own. */
#include "misuse/over_ranks.h"
#include <string.h>

void ranks_distribution(struct world *w) {
    static const evn_access both[] = {EVN_BOTH, EVN_BOTH}, none[] = {(evn_access)0};
    static const evn_access nine[] = {(evn_access)9};
    static const double negative[] = {1, -1};
    static const size_t bytes[] = {BYTES, BYTES};
    const evn_distribution good = {.cluster = w->cluster,
                                   .units = w->units,
                                   .place = w->place,
                                   .tasks = 1,
                                   .regions = 1,
                                   .bytes = bytes,
                                   .access = both,
                                   .element = 8};
    evn_distribution own;
    evn_distributed *d = NULL;
#define OPENING(words, field, value_)                                                              \
    ONE(words, (own = good, own.field = ODD ? (value_) : good.field, d = w->mesh,                  \
                evn_distributed_open(&d, &own)))                                                   \
    must(!d);
    OPENING("units", units, NULL)
    OPENING("a place", place, NULL)
    OPENING("-1 tasks", tasks, -1)
    OPENING("0 regions", regions, 0)
    OPENING("regions, values of", regions, 2)
    OPENING("the bytes of regions are not given", bytes, NULL)
    OPENING("access of regions is not given", access, NULL)
    OPENING("access 0 to region 0", access, none)
    OPENING("access 9 to region 0", access, nine)
    OPENING("values of 0 bytes", element, 0)
    OPENING("regions, values of", element, 4)
    OPENING("-1 instances", instances, -1)
    OPENING("regions, values of", instances, 9)
    OPENING("no-such", schedule, "no-such")
    ONE("task 1 is -1", (own = good, own.tasks = 2, own.weight = ODD ? negative : NULL,
                         evn_distributed_open(&d, &own)))
    ALL("no rank has tasks", (own = good, own.tasks = 0, evn_distributed_open(&d, &own)))
    must(!d);
#undef OPENING
}

/* One rank holds a region that others read, or one that they write. */
static evn_status run_held(struct world *w, int number, evn_access access) {
    const int *region = &evn_distributed_part(w->mesh).region[number];
    if (ODD) must_ok(evn_place_acquire(w->place, 1, region, EVN_HOST, access));
    const evn_status status = evn_distributed_run(w->mesh, nothing, NULL);
    if (ODD) must_ok(evn_place_release(w->place, 1, region, EVN_HOST));
    return status;
}

static evn_status fails(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit, (void)batch;
    return ODD ? evn_fail(EVN_SYSTEM, "the ninth wave") : EVN_OK;
}

void ranks_distributed(struct world *w) {
    static const int falling[OWN + 1] = {0, 1, 0, 1}, far[OWN] = {0, 1, OWN, 3};
    static const int twice[OWN] = {0, 1, 1, 3};
    static const double negative[OWN] = {1, -1, 1, 1}, sizes[OWN] = {8, 8, 8, 8};
    evn_distributed *const mesh = w->mesh;
    evn_change good = same_tasks, c;
    good.tasks = OWN;
    /* from this rank's last task but one to that before it, which no other face touches */
    const evn_rank_face sound = {
        {w->rank, 2}, {w->rank, 1}, {.from_at = 3, .to_at = 4, .n = {1, 1, 1}}};
    const int next = (w->rank + 1) % RANKS;
    evn_rank_face f;
    evn_rank_task task;
#define FACE(words, member, value_)                                                                \
    ONE(words,                                                                                     \
        (f = sound, f.member = ODD ? (value_) : sound.member, evn_distributed_add(mesh, 1, &f)))
    FACE("from a task of rank 3", from.rank, RANKS)
    FACE("to a task of rank -1", to.rank, -1)
    FACE("from task 4 of rank", from.number, OWN)
    FACE("to task -1 of rank", to.number, -1)
    FACE("none may be below 0", block.n[1], -1)
    FACE("resolution 7", block.resolution[0], (evn_resolution)7)
    FACE("means of numbers 0", block.resolution[0], EVN_MEAN)
    FACE("reads region 1", block.from_region, 1)
    FACE("writes region -1", block.to_region, -1)
    FACE("reads values 8 to 8", block.from_at, VALUES)
    FACE("writes values -1 to -1", block.to_at, -1)
    FACE("than can be counted", block.n[0], (f.block.n[1] = f.block.n[2] = 1 << 30, 1 << 30))
    FACE("further away than can be counted", block.to_stride[0],
         (f.block.n[0] = 3, f.block.n[1] = f.block.n[2] = 1, 1LL << 62))
    FACE("writes value 0 of region 0 of task 1", block.to_at, 0)
    FACE("writes value 7 of region 0 of task 1", block.to_at, VALUES - 1)
    FACE("reads value 0 of region 0 of task 2", block.from_at, 0)
#undef FACE
    /* the other task is on another rank, which finds the mistake; the giver is named */
    ONE("reads values 8 to 8", (f = sound, f.from.rank = next, f.block.from_at = ODD ? VALUES : 3,
                                evn_distributed_add(mesh, ODD, &f)))
    ONE("writes values 8 to 8",
        (f = sound, f.to.rank = next, f.block.to_at = VALUES, evn_distributed_add(mesh, ODD, &f)))
    ONE("-1 faces", evn_distributed_add(mesh, ODD ? -1 : 1, &sound))
    ONE("none are given", evn_distributed_add(mesh, 1, ODD ? NULL : &sound))
    ONE("a body", evn_distributed_run(mesh, ODD ? NULL : nothing, NULL))
    ONE_FAILS(EVN_BODY, "the ninth wave", evn_distributed_run(mesh, fails, w))
    ONE("region", run_held(w, 0, EVN_BOTH))
    ONE("region", run_held(w, OWN - 1, EVN_BOTH))
    ALL("nothing has changed yet", evn_distributed_now(mesh, 0, NULL))
    ONE("a change", evn_distributed_change(mesh, ODD ? NULL : &good, NULL))
#define CHANGE(words, field, value_)                                                               \
    ONE(words,                                                                                     \
        (c = good, c.field = ODD ? (value_) : good.field, evn_distributed_change(mesh, &c, NULL)))
    CHANGE("-1 tasks", tasks, -1)
    CHANGE("-1 origins", first, falling)
    CHANGE("task 2 comes from task 4", from, far)
    CHANGE("both task 1", from, twice)
    CHANGE("no origins are given", from, NULL)
    CHANGE("task 1 is -1", weight, negative)
    CHANGE("links of a change", links, 1)
    CHANGE("links of a change", links, -2)
    CHANGE("region of a change", region, each)
    CHANGE("bytes of a change", bytes, sizes)
    CHANGE("state of a change", state, sizes)
    CHANGE("family of a change", family, each)
    CHANGE("-1 instances", instances, -1)
    CHANGE("may move", most, 2)
#undef CHANGE
    ONE("are not given", (c = good, c.first = ODD ? NULL : each, c.from = ODD ? NULL : each,
                          c.kept = ODD ? NULL : all_kept, evn_distributed_change(mesh, &c, NULL)))
    ALL("no task is left on any rank",
        (c = good, c.tasks = 0, evn_distributed_change(mesh, &c, NULL)))
    must_ok(evn_distributed_change(mesh, &good, NULL)); /* and what is right is done */
    goes_on(w);
    ONE("a body", evn_distributed_bear(mesh, ODD ? NULL : nothing, NULL))
    task = (evn_rank_task){0, 0};
    ONE("a task of rank 3", (task.rank = ODD ? RANKS : 0, evn_distributed_now(mesh, 1, &task)))
    ONE("task 4 of before",
        (task.rank = 0, task.number = ODD ? OWN : 0, evn_distributed_now(mesh, 1, &task)))
    ONE("task -1 of before", (task.number = ODD ? -1 : 0, evn_distributed_now(mesh, 1, &task)))
    ONE("which are not given", evn_distributed_now(mesh, 1, ODD ? NULL : &task))
    ONE("-1 tasks", (task.number = 0, evn_distributed_now(mesh, ODD ? -1 : 1, &task)))
    ONE("all ranks make the same calls",
        ODD ? evn_distributed_balance(mesh, NULL) : evn_distributed_now(mesh, 0, &task))
}
