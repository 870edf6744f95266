/* One-sided memory of a single process, whose threads may signal each other. */
#include "pgas/inside.h"
#include <evener/clock.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

static const double PATIENCE = 2; /* s that a wait goes on once the run is to end */

struct evn_segment {
    const evn_wire_host *host;
    void *memory;
    size_t bytes;
    atomic_ullong word[];
};

evn_status shared_alone_open(evn_segment **out, const evn_wire_host *host, size_t bytes,
                             int words) {
    evn_segment *s = calloc(1, sizeof *s + (size_t)words * sizeof s->word[0]);
    void *memory = s ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : MAP_FAILED;
    *out = NULL;
    if (memory == MAP_FAILED) {
        free(s);
        return host->fail(EVN_MEMORY, "shared: no memory for %zu MiB", bytes >> 20);
    }
    s->host = host;
    s->memory = memory;
    s->bytes = bytes;
    *out = s;
    return EVN_OK;
}

static void alone_close(evn_segment *s, int together) {
    (void)together;
    munmap(s->memory, s->bytes);
    free(s);
}

static void *alone_memory(const evn_segment *s, int rank) {
    (void)rank;
    return s->memory;
}

static evn_status alone_raise(evn_segment *s, int to, int word, int direct) {
    (void)to;
    (void)direct;
    atomic_fetch_add_explicit(&s->word[word], 1, memory_order_release);
    return EVN_OK;
}

static unsigned long long alone_value(evn_segment *s, int word) {
    return atomic_load_explicit(&s->word[word], memory_order_acquire);
}

static unsigned alone_bell(const evn_segment *s) {
    (void)s;
    return 0;
}

static evn_status alone_rest(evn_segment *s, unsigned bell, int from, double *since) {
    (void)bell;
    (void)from;
    sched_yield();
    if (!*s->host->stop) return EVN_OK;
    const double now = evn_now();
    if (!*since) *since = now;
    if (now - *since < PATIENCE) return EVN_OK;
    return s->host->fail(EVN_STOPPED, "shared: interrupted, and nothing came from rank 0 for %g s",
                         PATIENCE);
}

const evn_wire_shared shared_alone = {.close = alone_close,
                                      .memory = alone_memory,
                                      .raise = alone_raise,
                                      .value = alone_value,
                                      .bell = alone_bell,
                                      .rest = alone_rest};
