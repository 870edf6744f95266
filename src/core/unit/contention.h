/* Contention: a bound thread waits for its core while another core is idle.
 *
 * Waiting alone is no reason to release a core: if every core is wanted, bound threads share the
 * cores evenly. So the verdict is CONTENTION_LET_GO only if the thread has waited in two successive
 * samples and a usable core was idle between them. */
#pragma once

#include "base/cpus.h"
#include "base/idle.h"

/* A sample of a thread's times, in seconds. */
struct contention_sample {
    double now;       /* time of the sample, evn_now() */
    double run;       /* time running */
    double delay;     /* time ready to run without a core; -1: not known */
    double preempted; /* number of preemptions */
};

/* 1 if the thread was off its core long enough between the samples that reading `delay` pays. */
int contention_may_be(const struct contention_sample *before,
                      const struct contention_sample *after);

/* 1 if a thread that has run for `run` seconds and waited for its core for `delay` seconds waited
 * for a fifth of the time that it wanted it, and for more than a moment. */
int contention_is_delay(double run, double delay);

/* 1 if the thread waited for its core between the two samples: for a fifth of the time that it
 * wanted the core, a tenth of all time, and more than a moment. If a delay is not known: if it was
 * preempted more often than any kernel's own threads do, and missed a fifth of all time. */
int contention_is(const struct contention_sample *before, const struct contention_sample *after);

/* 1 if a core of `mask` was idle for a third of `seconds`. */
int contention_has_idle(const struct idle *before, const struct idle *after, double seconds,
                        const struct cpus *mask);

enum contention_verdict { CONTENTION_STAY, CONTENTION_LET_GO };

/* State of a thread's samples. Zeros before the first. */
struct contention {
    double pause; /* s until the next sample */
    struct contention_sample last;
    int waited; /* 1: waited in the last sample; `idle` is of then */
    int blind;  /* 1: the kernel does not report idle cores */
    struct idle *idle;
};

/* Takes a sample; c->pause is then the time to the next. `idle` reads the idle times (0: not known)
 * and is called only for a thread that has waited; without it any core may be idle. */
enum contention_verdict contention_look(struct contention *c, const struct contention_sample *now,
                                        int (*idle)(struct idle *), const struct cpus *mask);

void contention_close(struct contention *c);
