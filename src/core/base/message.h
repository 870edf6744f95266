/* The calling thread's message, for the library's own use; the public part is <evener/status.h>. */
#pragma once

/* Number of messages that the thread has set so far, which tells a new message from an old one. */
unsigned message_count(void);
