/* Trial of threads: OpenMP's runtime ends the program, with status 1, if it cannot make a thread.
 * So threads are tried before a region is opened. */
#include <evener/text.h>
#include <evener/unit.h>
#include "base/thread.h"
#include <stdlib.h>
#include <string.h>

/* Waits for the lock and ends, so that all tried threads exist at once. */
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
    char why[700];
    return evn_fail(EVN_SYSTEM,
                    "threads: %d of %d could be made, with stacks of %zu kB (OMP_STACKSIZE): %s",
                    made, count, have / 1024, evn_limits_text(error, why, sizeof why));
}
