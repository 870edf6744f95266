/* Owners of threads that the program did not ask for. */
#pragma once

#include <stddef.h>

/* Threads of this process; 1 where the system does not say. */
int threads_count(void);

/* Part of a message that follows the number of threads: the loaded library that has started some of
 * them, the names that they have, and the remedy. Returns text. */
const char *threads_owners(int count, char *text, size_t size);
