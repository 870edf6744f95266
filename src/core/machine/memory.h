/* Memory that this process can still get. */
#pragma once

#include <stdint.h>

/* Memory that this process could get now without swapping, bytes, by the files below `root` ("" for
 * the system's): the least of the machine's available memory, the allowance of its control groups,
 * and its own limits of address space and data. 0: not known; else at least 1. */
uint64_t memory_available(const char *root);
