/* A team that does nothing, led by a thread of its own, as long as the units are open. */
#include "unit/spare.h"
#include "base/thread.h"
#include <omp.h>
#include <stdlib.h>

enum { MOST = 256 }; /* spare threads: more would help only where most cores are others' */

struct spare {
    pthread_t thread;
    struct gate end;
    int threads;
};

/* LLVM's runtime: sets the milliseconds that teams of the calling thread spin. */
extern void kmp_set_blocktime(int ms) __attribute__((weak));

static int is_set(const char *name) {
    const char *text = secure_getenv(name);
    return text && *text;
}

int spare_may_choose(void) {
    return !is_set("OMP_WAIT_POLICY") && !is_set("GOMP_SPINCOUNT") && !is_set("KMP_BLOCKTIME");
}

static void nothing(void) {}

static void *lead_spare(void *p) {
    struct spare *s = p;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(s->threads)
    nothing();
    gate_wait(&s->end, 0);
    return NULL;
}

/* Threads of a spare team that make more than there are cores: libgomp counts threads of teams but
 * for their masters, and one for the process. */
static int spare_threads(const evn_units *all) {
    int counted = 1;
    for (int i = 0; i < all->count; i++) counted += all->unit[i].cores - 1;
    return all->processors - counted + 2;
}

static struct spare *start(int threads) {
    if (threads < 2 || threads > MOST || evn_threads_try(threads, 0)) return NULL;
    struct spare *s = aligned_alloc(_Alignof(struct spare), sizeof *s);
    if (!s) return NULL;
    gate_init(&s->end, 0);
    s->threads = threads;
    if (!thread_make(&s->thread, lead_spare, s)) return s;
    free(s);
    return NULL;
}

void spare_open(evn_units *all) {
    if (!spare_may_choose()) return;
    if (kmp_set_blocktime) kmp_set_blocktime(0);
    if (kmp_set_blocktime || atomic_exchange(&all->spares, 1)) return;
    all->spare = start(spare_threads(all));
}

void spare_close(evn_units *all) {
    if (all->spare) {
        gate_open(&all->spare->end);
        pthread_join(all->spare->thread, NULL);
    }
    free(all->spare);
    all->spare = NULL;
    atomic_store(&all->spares, 0);
}
