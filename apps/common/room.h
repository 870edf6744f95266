/* Room for fields. */
#ifndef COMMON_ROOM_H
#define COMMON_ROOM_H

#include <stddef.h>

/* Memory that nobody has touched, free() it; aligned to 64 bytes. What fills whole huge pages is
 * laid on them where the system has them: strides of a plane touch a page a point otherwise. NULL:
 * there is none. Any thread may call it. */
void *room(size_t bytes);

#endif
