/* A library that starts a thread when it is loaded, as OpenBLAS does. FAKE_SAYS: it says so by
 * OpenBLAS's functions; else its thread has a name. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *wait_on(void *p) {
    for (;;) pause();
    return p;
}

__attribute__((constructor)) static void start_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_on, NULL)) return;
#ifndef FAKE_SAYS
    pthread_setname_np(thread, "someone's own");
#endif
}

#ifdef FAKE_SAYS
int openblas_get_num_threads(void);
int openblas_get_num_threads(void) { return 2; }
int openblas_get_parallel(void);
int openblas_get_parallel(void) { return 1; }
#endif
