/* Threads that the library makes. */
#pragma once

#include <pthread.h>
#include <stddef.h>

/* As pthread_create(), with a stack of at least 1 MiB, and at least that of OpenMP's threads, since
 * bodies run on both. 0, or an errno. */
int thread_make(pthread_t *thread, void *(*work)(void *), void *arg);

/* As thread_make(), with a stack of `stack` bytes. */
int thread_make_with(pthread_t *thread, size_t stack, void *(*work)(void *), void *arg);

/* Stack size of threads of OpenMP's runtime: OMP_STACKSIZE (in kB without a unit), else the
 * system's default. */
size_t thread_stack(void);
