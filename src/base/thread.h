/* Threads that the library makes. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* As pthread_create(), with a stack of 1 MiB or more, whatever the limit of this process, and no
 * smaller than those of OpenMP's threads: bodies run on it as they do on these. 0, or an errno. */
int thread_make(pthread_t *thread, void *(*work)(void *), void *arg);

/* The same with a stack of so many bytes. */
int thread_make_with(pthread_t *thread, size_t stack, void *(*work)(void *), void *arg);

/* The stack of a thread that OpenMP's runtime will make: OMP_STACKSIZE (in kB without a unit), else
 * what all threads have. */
size_t thread_stack(void);

#endif
