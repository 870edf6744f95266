/* Work that is watched: where it touches memory that it may not, it ends there, and not the
 * process. For kernels that an emulated device runs. */
#ifndef DEVICE_WATCH_H
#define DEVICE_WATCH_H

#include <stddef.h>

/* Takes the signals of faults over, until as many watch_close() as watch_open() were called. What
 * is not the watched work's is handed on to whoever had them before. 0, or an errno. Any thread. */
int watch_open(void);
void watch_close(void);

/* Calls work(arg). NULL: it is done; else the address of a fault that ended it, for which
 * is_mine(arg, address) said 1. The work must have nothing to give back, and is_mine() only looks:
 * it is called while the work stands still. */
const void *watch_run(void (*work)(void *arg), int (*is_mine)(void *arg, const void *address),
                      void *arg);

#endif
