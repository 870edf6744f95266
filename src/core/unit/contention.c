/* Contention of a bound thread's core, by the kernel's counts. */
#include "unit/contention.h"
#include <stdlib.h>

/* Time slices are some milliseconds long, and ticks of idle time 10 ms. */
static const double LOOK = 0.02, SECOND_LOOK = 0.04, LONGEST_PAUSE = 1.0;
static const double LEAST_DELAY = 0.004;

int contention_may_be(const struct contention_sample *before,
                      const struct contention_sample *after) {
    return after->run - before->run < 0.9 * (after->now - before->now);
}

int contention_is_delay(double run, double delay) {
    return delay >= LEAST_DELAY && delay >= 0.2 * (run + delay);
}

int contention_is(const struct contention_sample *before, const struct contention_sample *after) {
    const double all = after->now - before->now, run = after->run - before->run;
    if (!(all > 0) || !contention_may_be(before, after)) return 0;
    if (after->delay < 0 || before->delay < 0)
        return run <= 0.8 * all && after->preempted - before->preempted >= all / 0.005;
    const double delay = after->delay - before->delay;
    return delay >= 0.1 * all && contention_is_delay(run, delay);
}

int contention_has_idle(const struct idle *before, const struct idle *after, double seconds,
                        const struct cpus *mask) {
    for (int i = 0; i < IDLE_CORES; i++)
        if (cpus_have(mask, i) && before->seconds[i] >= 0 &&
            after->seconds[i] - before->seconds[i] >= seconds / 3)
            return 1;
    return 0;
}

/* Remembers which cores are idle from now on. */
static void begin_second(struct contention *c, int (*idle)(struct idle *)) {
    if (!c->idle) c->idle = malloc(sizeof *c->idle);
    c->waited = 1;
    c->blind = !c->idle || !idle(c->idle);
    c->pause = SECOND_LOOK;
}

/* 1 if a core was idle since begin_second(). */
static int was_idle(const struct contention *c, double seconds, int (*idle)(struct idle *),
                    const struct cpus *mask) {
    struct idle now;
    return c->blind || !idle(&now) || contention_has_idle(c->idle, &now, seconds, mask);
}

enum contention_verdict contention_look(struct contention *c, const struct contention_sample *now,
                                        int (*idle)(struct idle *), const struct cpus *mask) {
    const struct contention_sample before = c->last;
    const int first = c->pause == 0, waits = !first && contention_is(&before, now);
    const double longer = c->pause * 2 < LONGEST_PAUSE ? c->pause * 2 : LONGEST_PAUSE;
    c->last = *now;
    if (!waits) {
        c->waited = 0;
        c->pause = LOOK;
    } else if (!c->waited) {
        begin_second(c, idle);
    } else if (was_idle(c, now->now - before.now, idle, mask)) {
        return CONTENTION_LET_GO;
    } else { /* no core was idle: the next look compares with this one, but later */
        begin_second(c, idle);
        c->pause = longer;
    }
    return CONTENTION_STAY;
}

void contention_close(struct contention *c) {
    free(c->idle);
    *c = (struct contention){0};
}
