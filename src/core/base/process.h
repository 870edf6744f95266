/* Children of fork(): they have all memory of the parent, and only the thread that called it. */
#pragma once

/* Number of fork()s between the first process and this one. An object made under another number
 * belongs to another process, and its threads do not exist here. */
unsigned process_forks(void);
