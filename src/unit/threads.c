/* Whether there can be as many threads as are wanted.
 *
 * OpenMP's runtime ends the program, with status 1, where it cannot make a thread. So threads
 * are tried before a region is opened. */
#include <evener/unit.h>
#include "base/thread.h"
#include <stdlib.h>
#include <string.h>

/* A tried thread ends once the lock is free: until then all of them exist at once. */
static void *wait_for(void *p) {
    pthread_mutex_t *all = p;
    pthread_mutex_lock(all);
    pthread_mutex_unlock(all);
    return NULL;
}

static int try(pthread_t *thread, int count, size_t stack, int *error) {
    pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    pthread_mutex_lock(&all);
    while (made < count && !(*error = thread_make_with(&thread[made], stack, wait_for, &all)))
        made++;
    pthread_mutex_unlock(&all);
    for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
    return made;
}

evn_status evn_threads_try(int count, size_t stack) {
    const size_t have = thread_stack();
    if (have < stack)
        return evn_fail(EVN_SYSTEM,
                        "threads: OpenMP's have stacks of %zu kB here, and this needs %zu kB; look "
                        "at OMP_STACKSIZE and ulimit -s",
                        have / 1024, (stack + 1023) / 1024);
    if (count <= 0) return EVN_OK;
    pthread_t *thread = malloc((size_t)count * sizeof *thread);
    if (!thread) return evn_fail(EVN_MEMORY, "threads: no memory for %d", count);
    int error = 0;
    const int made = try(thread, count, have, &error);
    free(thread);
    if (made == count) return EVN_OK;
    return evn_fail(EVN_SYSTEM,
                    "threads: %d of %d could be made, with stacks of %zu kB: %s; look at ulimit "
                    "-u, at the limit of processes in this control group, and at OMP_STACKSIZE, or "
                    "ask for fewer cores",
                    made, count, have / 1024, strerror(error));
}
