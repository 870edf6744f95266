/* Ticks: a clock that is read in a few nanoseconds, for intervals within one thread. */
#ifndef BASE_TICKS_H /* a test puts its own in its place */
#define BASE_TICKS_H

#include <stdint.h>

/* 1: ticks are the processor's counter, which runs at a constant rate; set by ticks_open(). 0:
 * ticks are nanoseconds of the system's clock. */
extern int ticks_by_counter;

uint64_t ticks_of_clock(void);

/* The processor's counter, where ticks_by_counter is set. */
static inline uint64_t ticks_counter(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
}

/* The counter now. Only differences have a meaning, and between threads only as far as the system
 * keeps its cores' counters together. */
static inline uint64_t ticks_now(void) {
    return ticks_by_counter ? ticks_counter() : ticks_of_clock();
}

/* Begins to measure the counter's rate; what is done before ticks_open() is time that it need not
 * wait. */
void ticks_begin(void);

/* Measures the counter's rate, once in a process, within some tenths of a millisecond. Any thread;
 * before ticks are taken that will be compared. Seconds of a tick. */
double ticks_open(void);

/* A moment in ticks and in seconds of evn_now(), with the rate: nearby moments are computed from
 * ticks alone. */
struct ticks_at {
    uint64_t count;
    double now, second;
};

/* The present moment; `now`: evn_now(), just read. Call ticks_open() before. */
struct ticks_at ticks_at(double now);

/* evn_now() at a count of ticks soon after the moment. */
static inline double ticks_time(const struct ticks_at *at, uint64_t count) {
    return at->now + (double)(int64_t)(count - at->count) * at->second;
}

#endif
