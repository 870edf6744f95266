/* The crew: cores of all units by number, and a barrier whose gate the last one to arrive opens. */
#include <evener/clock.h>
#include <evener/crew.h>
#include "base/argument.h"
#include "base/by_value.h"
#include "unit/internal.h"
#include "unit/share.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* calls from one round of tries to the next: at most a tenth are tries */
enum { CYCLE = 10 * EVN_CREW_LEVELS * EVN_CREW_TRIES };

struct evn_crew {
    evn_units *units;
    int *first;  /* index in `number` of each unit's first core */
    int *number; /* number in the crew of each core of each unit; -1: not in the crew */
    int count;
    /* the present job */
    evn_crew_job job;
    void *arg;
    int cores; /* 0 outside of jobs */
    struct barrier barrier;
};

/* 1 if an earlier member of the crew has the same core. */
static int is_taken(const evn_crew *c, int unit, int core, int system) {
    for (int u = 0; u <= unit; u++) {
        const evn_unit *other = evn_units_get(c->units, u);
        const int end = u < unit ? evn_unit_cores(other) : core;
        for (int i = 0; i < end; i++)
            if (evn_unit_core_number(other, i) == system) return 1;
    }
    return 0;
}

/* Numbers the cores. */
static void number_cores(evn_crew *c, int max) {
    int at = 0;
    for (int u = 0; u < evn_units_count(c->units); u++) {
        const evn_unit *unit = evn_units_get(c->units, u);
        c->first[u] = at;
        for (int i = 0; i < evn_unit_cores(unit); i++) {
            const int system = evn_unit_core_number(unit, i);
            /* the caller's is always in */
            const int in = !at || (system < 0 ? c->count < max : !is_taken(c, u, i, system));
            c->number[at++] = in ? c->count++ : -1;
        }
    }
}

evn_status evn_crew_open(evn_crew **out, evn_units *units, int max) {
    NEED_OUT(out);
    NEED(units, "units");
    if (max < 0)
        return evn_fail(EVN_USAGE, "crew: at most %d cores, expected 1 or more, or 0: all", max);
    const int count = evn_units_count(units);
    int cores = 0;
    for (int u = 0; u < count; u++) cores += evn_unit_cores(evn_units_get(units, u));
    evn_crew *c = aligned_alloc(_Alignof(struct evn_crew), sizeof *c);
    if (!c) return evn_fail(EVN_MEMORY, "crew: no memory for %d cores", cores);
    *c = (struct evn_crew){.units = units};
    barrier_init(&c->barrier, unit_spin(evn_units_get(units, 0)));
    c->first = malloc(sizeof *c->first * (size_t)count);
    c->number = malloc(sizeof *c->number * (size_t)cores);
    if (!c->first || !c->number) {
        evn_crew_close(c);
        return evn_fail(EVN_MEMORY, "crew: no memory for %d cores", cores);
    }
    number_cores(c, max ? max : (int)sysconf(_SC_NPROCESSORS_ONLN));
    *out = c;
    return EVN_OK;
}

void evn_crew_close(evn_crew *c) {
    if (!c) return;
    free(c->first);
    free(c->number);
    free(c);
}

int evn_crew_cores(const evn_crew *c, double work, double least) {
    const double want = work / least;
    if (!c || !(want >= 2)) return 1; /* also if `want` is NaN */
    return want < c->count ? (int)want : c->count;
}

/* A unit's part of a job. */
struct part {
    evn_crew *crew;
    int first; /* number in the crew of the unit's first core */
};

static void take_part(int core, void *arg) {
    const struct part *p = arg;
    evn_crew *c = p->crew;
    const int me = c->number[p->first + core];
    if (me >= 0 && me < c->cores) c->job(c, me, c->cores, c->arg);
}

/* A unit's cores do their shares. */
static void run_unit(evn_unit *unit, void *arg) {
    evn_crew *c = arg;
    struct part part = {c, c->first[evn_unit_number(unit)]};
    int wanted = 0;
    for (int i = 0; i < evn_unit_cores(unit); i++) {
        const int number = c->number[part.first + i];
        wanted += number >= 0 && number < c->cores;
    }
    if (wanted) helpers_share(unit, 1, take_part, &part);
}

/* Each unit's threads are made before a job, whose cores wait for each other. */
static void prepare_unit(evn_unit *unit, void *unused) {
    (void)unused;
    unit->status = helpers_make(unit);
    if (unit->status) snprintf(unit->message, sizeof unit->message, "%s", evn_message());
}

/* All threads that the cores need, before a job. EVN_SYSTEM, EVN_MEMORY. */
static evn_status prepare(evn_units *all) {
    int missing = 0;
    for (int u = 0; u < all->count; u++) missing |= all->unit[u].cores > 1 && !all->unit[u].helpers;
    if (!missing) return EVN_OK;
    evn_status status = evn_units_run(all, prepare_unit, NULL);
    return status ? status : leaders_status(all);
}

static void run_alone(evn_unit *unit, void *arg) {
    (void)unit;
    evn_crew *c = arg;
    c->job(c, 0, 1, c->arg);
}

static evn_status run_on(evn_crew *c, int cores, evn_crew_job job, void *arg) {
    if (!c) {
        job(c, 0, 1, arg);
        return EVN_OK;
    }
    if (c->cores)
        return evn_fail(EVN_USAGE,
                        "crew: a job of the crew has a job for it; it must return first");
    evn_status status = cores > 1 ? prepare(c->units) : EVN_OK;
    if (status) return status;
    c->job = job;
    c->arg = arg;
    c->cores = cores < 1 ? 1 : cores < c->count ? cores : c->count;
    status =
        c->cores == 1 ? units_alone(c->units, run_alone, c) : evn_units_run(c->units, run_unit, c);
    c->cores = 0;
    return status;
}

/* Chooses by medians: a disturbance of one try does not count, one of most tries does. */
static void choose(evn_crew_pace *p, int levels) {
    double least = 0;
    for (int l = 0; l < levels; l++) {
        qsort(p->seconds[l], EVN_CREW_TRIES, sizeof **p->seconds, by_value);
        const double median = p->seconds[l][EVN_CREW_TRIES / 2];
        if (!l || median < least) {
            least = median;
            p->level = l;
        }
    }
}

evn_status evn_crew_run(evn_crew *c, evn_crew_pace *p, int cores, evn_crew_job job, void *arg) {
    NEED(job, "a job");
    if (!p || !c || cores <= 1) return run_on(c, cores, job, arg);
    int levels = 1;
    while (levels < EVN_CREW_LEVELS && cores >> (levels - 1) > 1) levels++;
    if (p->max != cores) *p = (evn_crew_pace){.max = cores};
    const int call = p->calls++ % CYCLE, trying = call < levels * EVN_CREW_TRIES;
    const int level = trying ? call % levels : p->level;
    const double begin = evn_now();
    evn_status status = run_on(c, level == levels - 1 ? 1 : cores >> level, job, arg);
    if (trying) p->seconds[level][call / levels] = evn_now() - begin;
    if (call == levels * EVN_CREW_TRIES - 1) choose(p, levels);
    return status;
}

void evn_crew_barrier(evn_crew *c) {
    if (!c || c->cores == 1) return;
    if (!c->cores) { /* outside of the crew's jobs only the caller is here */
        evn_fail(EVN_USAGE, "crew: evn_crew_barrier() outside of a job of evn_crew_run()");
        return;
    }
    barrier_wait(&c->barrier, c->cores);
}
