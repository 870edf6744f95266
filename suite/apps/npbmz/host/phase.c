/* The clock of a step's phases, read by the first core of a team. */
#include "npbmz/problem.h"
#include <evener/clock.h>

void phase_start(struct scratch *s, const struct team *t) {
    if (t->core == 0) s->since = evn_now();
}

void phase_mark(struct scratch *s, const struct team *t, enum npbmz_phase ended) {
    if (t->core != 0) return;
    double end = evn_now();
    s->seconds[ended] += (end - s->since) * s->share;
    s->since = end;
}
