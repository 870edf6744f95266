/* Helpers: the threads of a unit's cores beside its leader.
 *
 * What the library itself does on all cores of a unit they do, and not OpenMP's team, whose threads
 * spin for milliseconds behind every region. They are made when first they are needed. */
#include "base/thread.h"
#include "unit/share.h"
#include "unit/team.h"
#include <evener/text.h>
#include <stdlib.h>
#include <string.h>

struct helper {
    struct helpers *all;
    int core;
    int error; /* errno of binding the thread; 0: bound */
    pthread_t thread;
};

struct helpers {
    struct fork_join fork;
    evn_unit *unit;
    int count; /* number of helpers that were made */
    void (*work)(int core, void *arg);
    void *arg;
    struct helper helper[];
};

static void *help(void *p) {
    struct helper *h = p;
    struct helpers *all = h->all;
    h->error = team_join(all->unit, h->core);
    unsigned seen = 0;
    while (fork_enter(&all->fork, FORK_FREE, &seen)) {
        all->work(h->core, all->arg);
        fork_leave(&all->fork);
    }
    return NULL;
}

static void end(struct helpers *all) {
    fork_end(&all->fork);
    for (int i = 0; i < all->count; i++) pthread_join(all->helper[i].thread, NULL);
    free(all);
}

void helpers_close(evn_unit *u) {
    if (u->helpers) end(u->helpers);
    u->helpers = NULL;
}

static void nothing(int core, void *arg) { (void)core, (void)arg; }

static void run(struct helpers *all, int each, void (*work)(int, void *), void *arg) {
    all->work = work;
    all->arg = arg;
    fork_open(&all->fork, each ? all->count : 0, FORK_ALL);
    work(0, arg);
    fork_close(&all->fork);
}

static evn_status refuse(const evn_unit *u, int core, int error) {
    char why[700];
    return evn_fail(EVN_SYSTEM, "units: the thread of core %d of unit %d cannot be %s: %s", core,
                    u->number, error < 0 ? "bound" : "made",
                    error < 0 ? strerror(-error) : evn_limits_text(error, why, sizeof why));
}

static evn_status make(evn_unit *u) {
    const int count = u->cores - 1;
    struct helpers *all =
        aligned_alloc(64, (sizeof *all + sizeof all->helper[0] * (size_t)count + 63) / 64 * 64);
    if (!all) return evn_fail(EVN_MEMORY, "units: no memory for %d threads", count);
    memset(all, 0, sizeof *all);
    all->unit = u;
    fork_init(&all->fork, unit_spin(u));
    for (int i = 0, error = 0; i < count; i++) {
        struct helper *h = &all->helper[i];
        *h = (struct helper){.all = all, .core = i + 1};
        if ((error = thread_make(&h->thread, help, h))) {
            end(all);
            return refuse(u, i + 1, error);
        }
        all->count++;
    }
    run(all, 1, nothing, NULL);
    for (int i = 0; i < count; i++) {
        const int error = all->helper[i].error;
        if (!error) continue;
        end(all);
        return refuse(u, i + 1, -error);
    }
    u->helpers = all;
    return EVN_OK;
}

evn_status helpers_make(evn_unit *u) { return u->helpers || u->cores == 1 ? EVN_OK : make(u); }

evn_status helpers_share(evn_unit *u, int each, void (*work)(int core, void *arg), void *arg) {
    evn_status status = helpers_make(u);
    if (status) return status;
    if (u->cores == 1)
        work(0, arg);
    else
        run(u->helpers, each, work, arg);
    return EVN_OK;
}
