/* The rate of the processor's counter, against the system's clock. */
#include "base/ticks.h"
#include <pthread.h>
#include <time.h>
#if defined(__x86_64__)
#    include <cpuid.h>
#endif

enum { SPAN = 200000 }; /* least ns between the two looks at both clocks */

/* s after which the rate since the first look is more exact than that within SPAN */
#define LONG 0.01

int ticks_by_counter;
static double second = 1e-9;
static struct ticks_at first; /* begin of the interval that the rate is measured over */
static pthread_once_t begun = PTHREAD_ONCE_INIT, once = PTHREAD_ONCE_INIT;

uint64_t ticks_of_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
static int has_counter(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1); /* invariant TSC */
}

static uint64_t counter(void) { return __builtin_ia32_rdtsc(); }

/* Reads both clocks at nearly the same moment: the closest pair of several reads. */
static void look(uint64_t *count, uint64_t *clock) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        const uint64_t before = counter(), at = ticks_of_clock(), after = counter();
        if (after - before >= least) continue;
        least = after - before;
        *count = before + least / 2;
        *clock = at;
    }
}

static uint64_t count_first, clock_first;

static void begin(void) {
    if (has_counter()) look(&count_first, &clock_first);
}

static void measure(void) {
    uint64_t count = 0, clock = 0;
    if (!clock_first) return;
    while (ticks_of_clock() - clock_first < SPAN) continue;
    look(&count, &clock);
    if (count <= count_first) return;
    second = 1e-9 * (double)(clock - clock_first) / (double)(count - count_first);
    ticks_by_counter = 1;
}
#elif defined(__aarch64__)
static void begin(void) {}
static void measure(void) {
    uint64_t rate;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    if (rate < 10000000) return; /* coarser than 100 ns */
    second = 1 / (double)rate;
    ticks_by_counter = 1;
}
#else
static void begin(void) {}
static void measure(void) {}
#endif

void ticks_begin(void) { pthread_once(&begun, begin); }

static void open_once(void) {
    ticks_begin();
    measure();
    const uint64_t clock = ticks_of_clock();
    first = (struct ticks_at){.count = ticks_now(), .now = 1e-9 * (double)clock};
}

double ticks_open(void) {
    pthread_once(&once, open_once);
    return second;
}

struct ticks_at ticks_at(double now) {
    struct ticks_at at = {.count = ticks_now(), .now = now, .second = second};
    if (now - first.now > LONG) at.second = (now - first.now) / (double)(at.count - first.count);
    return at;
}
