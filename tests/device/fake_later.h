/* Work that a fake driver has been given and does late: as late as may be, and what nothing orders
 * in an order of its own. A stream's work is done in order, when somebody waits for it, or when the
 * dice say so while somebody waits for another; so a wait that is missing, or a host buffer that is
 * used again too soon, shows in results.
 *
 * Callers hold a lock of theirs. Streams and events are numbers from 0 on, below LATER_MAX. */
#pragma once

#include <stddef.h>

enum { LATER_MAX = 4096 };

/* Forgets all; `seed` throws the dice, 0: everything is done at once. */
void later_reset(unsigned seed);

/* Calls work(data) with a copy of `bytes` at `data`. */
void later_do(int stream, void (*work)(void *data), const void *data, size_t bytes);

/* The event happens when the stream comes here; and the stream waits here for the event, as it was
 * recorded last. */
void later_record(int stream, int event);
void later_wait(int stream, int event);

/* Until the stream is done; until the event has happened; everything. */
void later_stream(int stream);
void later_event(int event);
void later_all(void);

/* Whether the event has happened, once the dice have said what else has. Who asks again and again
 * learns in the end that it has. */
int later_asked(int event);

/* Whether the stream has nothing left to do; whether none has. */
int later_is_done(int stream);
int later_is_idle(void);

/* Whether the event has happened. */
int later_has(int event);
