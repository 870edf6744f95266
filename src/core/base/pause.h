/* Pause of a spinning thread between two reads of memory. */
#ifndef BASE_PAUSE_H /* a test puts its own in its place */
#define BASE_PAUSE_H

/* Yields the core to its other hardware thread for some tens of nanoseconds, and stops speculative
 * reads. On aarch64 `yield` does nothing on cores with one hardware thread, so the instruction
 * barrier is used. */
static inline void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

#endif
