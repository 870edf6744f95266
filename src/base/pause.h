/* What a thread does between two looks at memory that another one will write. */
#ifndef BASE_PAUSE_H
#define BASE_PAUSE_H

/* Leaves the core to its other hardware thread for a moment, some tens of nanoseconds, and does not
 * read ahead. aarch64's own hint, yield, does nothing on cores with one hardware thread: there it
 * is the barrier that empties the pipeline. */
static inline void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

#endif
