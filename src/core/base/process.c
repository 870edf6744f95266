/* Counts forks, since asking for the process's number is a system call. */
#include "base/process.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }

__attribute__((constructor)) static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned process_forks(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
