/* Threads: the kind of wire whose ranks are threads of one process. */
#include "wire/threads.h"
#include "wire/arena.h"
#include <evener/text.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A thread that is a rank. */
struct rank {
    struct wire_arena *arena;
    int rank, ranks;
    void (*main)(int rank, void *arg);
    void *arg;
    pthread_t thread;
};

static _Thread_local const struct rank *here;

static evn_status threads_open(evn_wire **out, int processes, const char *options,
                               const evn_wire_host *host) {
    *out = NULL;
    struct wire_arena_speed speed;
    evn_status status = wire_arena_speed_read(&speed, "threads", options);
    if (status) return status;
    if (!here) return host->fail(EVN_USAGE, "threads: this thread is no rank of a group");
    if (processes && processes != here->ranks)
        return host->fail(EVN_USAGE, "threads: %d ranks, and the group has %d", processes,
                          here->ranks);
    return wire_arena_join(out, here->arena, here->rank, "threads", &speed, host);
}

const evn_wire_kind wire_threads = {.version = EVN_WIRE_VERSION,
                                    .name = "threads",
                                    .open = threads_open,
                                    .close = wire_arena_leave,
                                    ARENA_FUNCTIONS};

static void *run(void *p) {
    here = p;
    here->main(here->rank, here->arg);
    return NULL;
}

evn_status threads_run(int ranks, void (*rank_main)(int rank, void *arg), void *arg) {
    if (ranks < 1 || ranks > ARENA_RANKS_MAX)
        return evn_fail(EVN_USAGE, "threads: %d: their number is 1 to %d", ranks, ARENA_RANKS_MAX);
    struct wire_arena *arena = NULL;
    struct rank *rank = calloc((size_t)ranks, sizeof *rank);
    evn_status status = rank ? wire_arena_open(&arena, ranks, 0)
                             : evn_fail(EVN_MEMORY, "threads: no memory for %d ranks", ranks);
    int made = 0;
    for (; !status && made < ranks; made++) {
        rank[made] = (struct rank){arena, made, ranks, rank_main, arg, 0};
        const int error = pthread_create(&rank[made].thread, NULL, run, &rank[made]);
        if (error) {
            char why[700];
            status = evn_fail(EVN_SYSTEM, "threads: rank %d of %d cannot be made: %s", made, ranks,
                              evn_limits_text(error, why, sizeof why));
            wire_arena_lose(arena, made); /* ranks made already would wait for it */
            break;
        }
    }
    for (int r = 0; r < made; r++) pthread_join(rank[r].thread, NULL);
    wire_arena_close(arena);
    free(rank);
    return status;
}
