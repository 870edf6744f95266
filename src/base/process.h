/* Processes made by fork(): they have all memory of the one they come from, and of its threads only
 * the one that called. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

/* How often this process's line has forked: what was made under another number belongs to another
 * process, and its threads are not here. */
unsigned process_forks(void);

#endif
