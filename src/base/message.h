/* What the library asks about the calling thread's message; the rest is <evener/status.h>. */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

/* Messages that the thread has kept so far: who calls a program's function can tell whether a
 * failure brought one of its own, or the message that is there is an old one. */
unsigned message_count(void);

#endif
