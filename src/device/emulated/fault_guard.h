/* Guarded call: a SIGSEGV or SIGBUS in the function ends the function, not the process. For kernels
 * on the emulated device. */
#pragma once

#include <stddef.h>

/* Installs the handlers, until watch_close() was called as often as watch_open(). Faults outside of
 * guarded calls go to the previous handlers. 0, or an errno. Any thread. */
int watch_open(void);
void watch_close(void);

/* Calls work(arg). Returns NULL, or the address of the fault that ended it, for which is_mine(arg,
 * address) returned 1. The work must hold no resources; is_mine() runs in the handler and must only
 * read. */
const void *watch_run(void (*work)(void *arg), int (*is_mine)(void *arg, const void *address),
                      void *arg);
