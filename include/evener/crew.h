/* For tools: the crew, all cores of all units at one short piece of work, for stages of a step
 * that are too short to be tasks of a loop.
 *
 * A job is called once on each of some cores, takes its share of the work by the core's number, and
 * may have barriers. A barrier costs a fraction of a microsecond, the start of a job several. A
 * thread at a barrier spins, and sleeps after some hundred microseconds. Where two units share a
 * core (leaders of GPU units may), one of the two is in the crew. */
#ifndef EVENER_CREW_H
#define EVENER_CREW_H

#include <evener/program.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_crew evn_crew;

/* A job: the share of core `me` of `cores`. Core 0 is the caller's. */
typedef void (*evn_crew_job)(evn_crew *crew, int me, int cores, void *arg);

/* Makes a crew. `max`: the most cores to use if cores are not bound (oversubscribed); 0: the number
 * of processors. EVN_USAGE: `max` is below 0; EVN_MEMORY. All functions below accept a NULL crew:
 * the calling thread alone. */
evn_status evn_crew_open(evn_crew **out, evn_units *units, int max);
void evn_crew_close(evn_crew *crew);

/* The largest number of cores, 1 to all, that leaves each at least `least` of `work`. */
int evn_crew_cores(const evn_crew *crew, double work, double least);

/* Times of one kind of job on all, half, a quarter .. of the cores, and on one. Initialise with
 * zeros. The library tries these numbers now and then and takes the fastest: the cost of barriers
 * depends on the machine and on its load, so it is measured, not computed. */
enum { EVN_CREW_LEVELS = 8, EVN_CREW_TRIES = 3 };
typedef struct evn_crew_pace {
    int max, calls, level; /* level: the fastest one */
    double seconds[EVN_CREW_LEVELS][EVN_CREW_TRIES];
} evn_crew_pace;

/* Runs the job on at most `cores` cores (1 to all) and returns when all are done; with a pace, on
 * the fastest number of cores up to `cores`. Errors as of evn_units_run(); EVN_USAGE also from
 * within a job of the crew. */
evn_status evn_crew_run(evn_crew *crew, evn_crew_pace *pace, int cores, evn_crew_job job,
                        void *arg);

/* Barrier of a job: returns when all of its cores have called it; their earlier writes are then
 * visible. Outside of a job it returns at once, with a message. */
void evn_crew_barrier(evn_crew *crew);

/* First index of core `me`'s share of `count`; it ends where that of core me + 1 begins. 0 if
 * `cores` is below 1. */
static inline int evn_crew_begin(int count, int me, int cores) {
    return cores < 1 ? 0 : (int)((long long)count * me / cores);
}

#ifdef __cplusplus
}
#endif
#endif
