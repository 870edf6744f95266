/* The crew: all cores of all units at one piece of work, for the stages of a step that are too
 * short to be a loop's tasks.
 *
 * A job is called on each of some cores with its number among them, takes its share of the work by
 * it, and may have barriers. A barrier costs a fraction of a microsecond, where beginning a job
 * costs several; a thread that waits at one spins, and sleeps if that lasts some hundred
 * microseconds. Where two units share a core (leaders of GPU units may), only one of them is in the
 * crew.
 */
#ifndef EVENER_CREW_H
#define EVENER_CREW_H

#include <evener/status.h>
#include <evener/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_crew evn_crew;

/* Core number `me` of `cores`. The first one is the caller's. */
typedef void (*evn_crew_job)(evn_crew *crew, int me, int cores, void *arg);

/* Of cores that are not bound (oversubscribed), at most `max`; 0: as many as there are processors.
 * EVN_USAGE: less than 0; EVN_MEMORY. A crew may be NULL everywhere below: the calling thread
 * alone. */
evn_status evn_crew_open(evn_crew **out, evn_units *units, int max);
void evn_crew_close(evn_crew *crew);

/* How many cores get `least` each of so much work: 1 to all. */
int evn_crew_cores(const evn_crew *crew, double work, double least);

/* What is known of one kind of job: how long it took on all, half, a quarter .. of the cores, and
 * on one. Begins as zeros. What barriers cost differs from machine to machine, and from one with
 * nothing else to do to one that is shared; so that is not computed but tried, now and then again.
 */
enum { EVN_CREW_LEVELS = 8, EVN_CREW_TRIES = 3 };
typedef struct evn_crew_pace {
    int max, calls, level; /* the best one */
    double seconds[EVN_CREW_LEVELS][EVN_CREW_TRIES];
} evn_crew_pace;

/* Runs the job on at most so many cores (1 to all) and returns when all are done; with a pace on as
 * many of them as are fastest. Errors are those of evn_units_run(); EVN_USAGE also in a job of the
 * crew. */
evn_status evn_crew_run(evn_crew *crew, evn_crew_pace *pace, int cores, evn_crew_job job,
                        void *arg);

/* Within a job: waits until all of its cores have come here, and sees what they have written. Where
 * no job is run it returns at once, with a message. */
void evn_crew_barrier(evn_crew *crew);

/* Where the share of core `me` begins; that of core `me + 1` begins where it ends. 0 where there is
 * no core. */
static inline int evn_crew_begin(int count, int me, int cores) {
    return cores < 1 ? 0 : (int)((long long)count * me / cores);
}

#ifdef __cplusplus
}
#endif
#endif
