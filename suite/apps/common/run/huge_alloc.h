/* Memory for fields. */
#pragma once

#include <stddef.h>

/* Untouched memory, aligned to 64 bytes; free() it. Blocks of whole huge pages use them where the
 * system has them, since strides of a plane touch a page a point otherwise. NULL: no memory. Any
 * thread. */
void *room(size_t bytes);
