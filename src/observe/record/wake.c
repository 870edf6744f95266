/* What it takes to wake a thread on another core, measured with one that sleeps at a gate, as the
 * units' leaders do. */
#include "record/wake.h"
#include "base/bind.h"
#include "base/by_value.h"
#include "base/cpus.h"
#include "base/gate.h"
#include "base/thread.h"
#include <evener/clock.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 15 };

#define ASLEEP 50e-6 /* s until a thread that is at the gate sleeps, and its core does */

struct sleeper {
    struct gate call, answer;
    struct cpus cores; /* where it sleeps, unless EVENER_BIND=none */
    double woke;
};

static void *answer(void *p) {
    struct sleeper *s = p;
    if (!bind_never()) cpus_set(0, &s->cores);
    for (unsigned i = 0; i < ROUNDS; i++) {
        gate_wait(&s->call, i);
        s->woke = evn_now();
        gate_open(&s->answer);
    }
    return NULL;
}

/* Seconds from a call until it has begun, and *own of it that the call itself takes. */
static double call(struct sleeper *s, unsigned round, double *own) {
    while (!atomic_load(&s->call.sleepers)) sched_yield();
    double begin = evn_now() + ASLEEP;
    while (evn_now() < begin) continue;
    begin = evn_now();
    gate_open(&s->call);
    *own = evn_now() - begin;
    gate_wait(&s->answer, round);
    return s->woke - begin;
}

double record_wake(const evn_machine *m, double *own) {
    struct sleeper s = {0};
    double seconds[ROUNDS], calls[ROUNDS];
    pthread_t thread;
    for (int c = 0; c < evn_machine_cores(m); c++)
        if (evn_machine_core_number(m, c) != sched_getcpu())
            cpus_add(&s.cores, evn_machine_core_number(m, c));
    *own = NAN;
    gate_init(&s.call, 0);
    gate_init(&s.answer, GATE_SPIN);
    if (!evn_machine_about(m).here || evn_machine_cores(m) < 2) return NAN;
    if (thread_make(&thread, answer, &s)) return NAN;
    for (unsigned i = 0; i < ROUNDS; i++) seconds[i] = call(&s, i, &calls[i]);
    pthread_join(thread, NULL);
    qsort(seconds, ROUNDS, sizeof *seconds, by_value);
    qsort(calls, ROUNDS, sizeof *calls, by_value);
    *own = calls[ROUNDS / 4];
    return seconds[ROUNDS / 4];
}
