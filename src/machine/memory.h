/* How much memory this process can still get. */
#ifndef MACHINE_MEMORY_H
#define MACHINE_MEMORY_H

#include <stdint.h>

/* Bytes that this process could get now without swapping, as the files below the folder `root` say
 * ("" for the system's own): the least of what is available in the machine, of what its control
 * groups still allow, and of its own limits of address space and data. 0: nothing is known; at
 * least 1 otherwise. */
uint64_t memory_available(const char *root);

#endif
