/* Memory for fields. */
#ifndef COMMON_RUN_HUGE_ALLOC_H
#define COMMON_RUN_HUGE_ALLOC_H

#include <stddef.h>

/* Untouched memory, aligned to 64 bytes; free() it. Blocks of whole huge pages use them where the
 * system has them, since strides of a plane touch a page a point otherwise. NULL: no memory. Any
 * thread. */
void *room(size_t bytes);

#endif
