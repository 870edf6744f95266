/* Wrong calls over ranks: of exchanges, and while a second half is open. */
#include "misuse/over_ranks.h"
#include <evener/change.h>

static evn_status open_halo(struct world *w, size_t element, int count, const evn_face *face,
                            void *const *host) {
    evn_exchange *x = w->own_halo;
    const evn_status status = evn_exchange_open(&x, w->own, element, count, face, host);
    must(!x);
    return status;
}

static evn_status open_placed_halo(struct world *w, int count, const evn_face *face) {
    evn_exchange *x = w->own_halo;
    const evn_status status = evn_exchange_open(&x, w->placed, 8, count, face, NULL);
    must(!x);
    return status;
}

/* The rank that makes the mistake has not told a task's memory. */
static evn_status without_memory(struct world *w, int adds) {
    const evn_face face = {
        .from = OWN * w->wrong, .to = OWN * w->wrong + 1, .from_at = 2, .to_at = 4, .n = {1, 1, 1}};
    void *host[TASKS];
    for (int t = 0; t < TASKS; t++) host[t] = ODD && t == face.to ? NULL : w->block[t];
    return adds ? evn_exchange_add(w->own_halo, 1, &face, host) : open_halo(w, 8, 1, &face, host);
}

/* A run while one rank holds a region, of which all hear at the end of the next instance. */
static evn_status run_held(struct world *w) {
    const int *region = &w->region[OWN * w->rank];
    if (ODD) must_ok(evn_place_acquire(w->place, 1, region, EVN_HOST, EVN_BOTH));
    must_ok(evn_exchange_run(w->placed_halo));
    if (ODD) must_ok(evn_place_release(w->place, 1, region, EVN_HOST));
    return evn_loop_run(w->placed, nothing, NULL);
}

static evn_status start(evn_exchange *x, int *open, evn_loop *loop) {
    must_ok(evn_exchange_start(x, open));
    return evn_loop_run(loop, nothing, NULL);
}

static evn_status finishes_nowhere(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    return evn_exchange_finish(w->own_halo, ODD ? NULL : unit, evn_batch_device(batch));
}

void ranks_exchange(struct world *w) {
    void *const *host = (void *const *)w->block;
    evn_face pair[2], f, twice[2];
    int open;
    /* beside the faces that there are: values of the middle */
    const evn_face good = {.from = 3, .to = 4, .from_at = 2, .to_at = 4, .n = {1, 1, 1}};
    face_pair(3, pair);
    twice[0] = good;
    twice[1] = good;
    twice[1].from = 5;
#define FACE(words, field, value_)                                                                 \
    ONE(words, (f = good, f.field = ODD ? (value_) : good.field, open_halo(w, 8, 1, &f, host)))    \
    ONE(words, (f = good, f.field = ODD ? (value_) : good.field,                                   \
                evn_exchange_add(w->own_halo, 1, &f, host)))
    FACE("task -1", from, -1)
    FACE("task 12", to, TASKS)
    FACE("none may be below 0", n[1], -1)
    FACE("reads region 1", from_region, 1)
    FACE("writes region -1", to_region, -1)
    FACE("resolution 7", resolution[2], (evn_resolution)7)
    FACE("means of numbers 0", resolution[0], EVN_MEAN)
    FACE("can be counted", to_at, (1LL << 62))
    FACE("arrays on rank", from_at, 3)
    FACE("arrays on rank", n[0], 0)
    FACE("arrays on rank", from, 2)
#undef FACE
    ONE("where to put",
        evn_exchange_open(ODD ? NULL : &(evn_exchange *){NULL}, w->own, 8, 1, &good, host))
    ONE("values of 0 bytes", open_halo(w, ODD ? 0 : 8, 1, &good, host))
    ONE("on rank", open_halo(w, ODD ? 4 : 8, 1, &good, host))
    ONE("-1 faces", open_halo(w, 8, ODD ? -1 : 1, &good, host))
    ONE("-1 faces", evn_exchange_add(w->own_halo, ODD ? -1 : 1, &good, host))
    ONE("faces on rank", open_halo(w, 8, !ODD, &good, host))
    ONE("faces on rank", evn_exchange_add(w->own_halo, !ODD, &good, host))
    ONE("none are given", open_halo(w, 8, 1, ODD ? NULL : &good, host))
    ONE("none are given", evn_exchange_add(w->own_halo, 1, ODD ? NULL : &good, host))
    ONE("memory are given", open_halo(w, 8, 1, &good, ODD ? NULL : host))
    ONE("memory are given", evn_exchange_add(w->own_halo, 1, &good, ODD ? NULL : host))
    ONE("has no memory", without_memory(w, 0))
    ONE("has no memory", without_memory(w, 1))
    ONE("face 0", open_halo(w, 8, 1 + ODD, twice, host))
    ALL("face", open_halo(w, 8, 2, twice, host))
    ALL("face", evn_exchange_add(w->own_halo, 2, pair, host)) /* which are there */
    ONE("which has 8 (64 bytes)",
        (f = good, f.to_at = ODD ? VALUES : 4, open_placed_halo(w, 1, &f)))
    ONE("which has 8 (64 bytes)",
        (f = good, f.from_at = ODD ? -1 : 2, evn_exchange_add(w->placed_halo, 1, &f, NULL)))
    ONE("face -1", evn_exchange_drop(w->own_halo, 1, (const int[]){ODD ? -1 : 0}))
    ONE("face 22", evn_exchange_drop(w->own_halo, 1, (const int[]){ODD ? 22 : 0}))
    ONE("face 1 to be dropped twice", evn_exchange_drop(w->own_halo, 2, (const int[]){1, ODD}))
    ONE("arrays on rank", evn_exchange_drop(w->own_halo, 1, (const int[]){ODD}))
    ONE("faces on rank", evn_exchange_drop(w->own_halo, !ODD, (const int[]){0}))
    ONE("-1 faces", evn_exchange_drop(w->own_halo, ODD ? -1 : 1, (const int[]){0}))
    ONE("none are given", evn_exchange_drop(w->own_halo, 1, ODD ? NULL : each))
    ONE("region", run_held(w))
    ONE("where to put", start(w->own_halo, ODD ? NULL : &open, w->own))
    ONE("where to put", start(w->placed_halo, ODD ? NULL : &open, w->placed))
    ONE_FAILS(EVN_BODY, "a unit", evn_loop_run(w->own, finishes_nowhere, w))
}

/* ---- halves -------------------------------------------------------------------------------- */

/* The first half, unless it is open still. */
static int starts(struct world *w) {
    if (!w->open) must_ok(evn_exchange_start(w->own_halo, &w->open));
    must(w->open); /* each rank has a neighbour */
    return 0;
}

/* The next step finishes it: values are those of a whole exchange. */
void ranks_halves(struct world *w) {
    const evn_face face = {.from = 3, .to = 4, .from_at = 2, .to_at = 4, .n = {1, 1, 1}};
    void *const *host = (void *const *)w->block;
    ALL("second half", (starts(w), evn_loop_change(w->own, &same_tasks)))
    ALL("second half", (starts(w), evn_exchange_add(w->own_halo, 1, &face, host)))
    ALL("second half", (starts(w), evn_exchange_add(w->own_halo, 0, NULL, host)))
    ALL("second half", (starts(w), evn_exchange_drop(w->own_halo, 1, each)))
    must(evn_loop_about(w->own).generation == 0);
    starts(w);
    goes_on(w);
    must_ok(evn_loop_change(w->own, &same_tasks)); /* once it is finished */
    goes_on(w);
}
