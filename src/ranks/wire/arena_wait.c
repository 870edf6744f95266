/* Waiting in the arena: for counters, and the other events that end a wait. */
#include "wire/arena_boxes.h"
#include "base/gate.h"
#include "base/pause.h"
#include "base/ticks.h"
#include <evener/clock.h>
#include <linux/futex.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 32 }; /* reads of the counter for each read of the clock */

static const double PATIENCE = 2; /* s that a wait goes on once the run is to end */
static const double LOOK = 0.1;   /* s between a sleeper's checks whether the run is to end */

static struct timespec duration(double seconds) {
    struct timespec t = {.tv_sec = (time_t)seconds};
    t.tv_nsec = (long)(1e9 * (seconds - (double)t.tv_sec));
    return t;
}

/* futex() across processes, so not FUTEX_PRIVATE. */
static void futex(atomic_uint *word, int what, unsigned value, const struct timespec *timeout) {
    syscall(SYS_futex, word, what, value, timeout, NULL, 0);
}

void wire_arena_count(struct wire_arena_counter *c) {
    /* both sides first write and then read (sequentially consistent): either the sleeper is seen,
     * or it sees the new count */
    atomic_fetch_add(&c->count, 1);
    if (atomic_load(&c->sleepers)) futex(&c->count, FUTEX_WAKE, ARENA_RANKS_MAX, NULL);
}

/* EVN_OK if a wait may go on. *since: time when the run was first asked to end; 0: it was not. */
static evn_status go_on(evn_wire *w, double *since, int from) {
    const int lost = atomic_load(&w->arena->lost);
    if (lost && w->arena->supervised) {
        atomic_store(&w->arena->state[w->rank], ARENA_GAVE_UP);
        _exit(3);
    }
    if (lost)
        return w->host->fail(EVN_SYSTEM, "%s: rank %d has left the run, and rank %d waits for %s",
                             w->name, lost - 1, w->rank, from == lost - 1 ? "it" : "others");
    if (!*w->host->stop) return EVN_OK;
    const double now = evn_now();
    if (!*since) *since = now;
    if (!w->is_leaving && now - *since < PATIENCE) return EVN_OK;
    w->is_leaving = 1;
    if (from < 0)
        return w->host->fail(EVN_STOPPED, "%s: interrupted, and nothing came from others for %g s",
                             w->name, PATIENCE);
    return w->host->fail(EVN_STOPPED, "%s: interrupted, and nothing came from rank %d for %g s",
                         w->name, from, PATIENCE);
}

static evn_status sleep_until_moved(evn_wire *w, struct wire_arena_counter *c, unsigned seen,
                                    int from) {
    const struct timespec look = duration(LOOK);
    evn_status status = EVN_OK;
    double since = 0;
    atomic_fetch_add(&c->sleepers, 1);
    while (atomic_load(&c->count) == seen && !(status = go_on(w, &since, from)))
        futex(&c->count, FUTEX_WAIT, seen, &look);
    atomic_fetch_sub(&c->sleepers, 1);
    return status;
}

static int has_moved(struct wire_arena_counter *c, unsigned seen) {
    return atomic_load_explicit(&c->count, memory_order_acquire) != seen;
}

/* 1 if the counter moves within the time to spin. */
static int moves(struct wire_arena_counter *c, unsigned seen) {
    const uint64_t spin = (uint64_t)(GATE_SPIN / ticks_open()), begin = ticks_now();
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (has_moved(c, seen)) return 1;
            pause_core();
        }
    } while (ticks_now() - begin < spin);
    return 0;
}

evn_status wire_arena_await(evn_wire *w, struct wire_arena_counter *c, unsigned seen, int from) {
    if (has_moved(c, seen) || (!w->host->crowded && moves(c, seen))) return EVN_OK;
    return sleep_until_moved(w, c, seen, from);
}

evn_status wire_arena_await_time(evn_wire *w, double when) {
    /* the kernel wakes some 50 us late: the rest is spun, unless others need the core */
    const double late = w->host->crowded ? 0 : 1e-4;
    double left, since = 0;
    evn_status status = EVN_OK;
    while (!status && (left = when - evn_now()) > 0) {
        if (left > late) {
            const struct timespec t = duration(fmin(left - late, LOOK));
            nanosleep(&t, NULL);
            status = go_on(w, &since, w->rank);
        } else {
            pause_core();
        }
    }
    return status;
}
