/* The crew: all cores of all units at one piece of work, for the stages of a step that are too
 * short to be a loop's tasks.
 *
 * A job is called on each of some cores with its number among them, takes its share of the work by
 * it, and may meet the others on the way. Meeting is a counter that everybody looks at, a fraction
 * of a microsecond, where beginning a job costs several; who waits long sleeps. Where two units
 * share a core (leaders of GPU units may), only one of them is in the crew.
 */
#ifndef TDBEM_CREW_H
#define TDBEM_CREW_H

#include <evener/status.h>
#include <evener/unit.h>
#include <stddef.h>

struct crew;

/* Core number `me` of `cores`. The first one is the caller's. */
typedef void (*crew_job)(struct crew *crew, int me, int cores, void *arg);

/* Of cores that are not bound (oversubscribed), at most `most`; 0: as many as there are processors.
 * EVN_MEMORY. A crew may be NULL everywhere below: the calling thread alone. */
evn_status crew_open(struct crew **out, evn_units *units, int most);
void crew_close(struct crew *crew);

/* How many cores get `least` each of so much work: 1 to all. */
int crew_cores(const struct crew *crew, double work, double least);

/* What is known of one kind of job: how long it took on all, half, a quarter .. of the cores, and
 * on one. Begins as zeros. What meeting costs differs from machine to machine, and from one with
 * nothing else to do to one that is shared; so that is not counted but tried, now and then again.
 */
enum { CREW_LEVELS = 8, CREW_TRIES = 3 };
struct crew_pace {
    int most, calls, level; /* the best one */
    double seconds[CREW_LEVELS][CREW_TRIES];
};

/* Runs the job on at most so many cores (1 to all) and returns when all are done; with a pace on as
 * many of them as are fastest. Not within a job, and only by the thread that opened the units. */
void crew_run(struct crew *crew, struct crew_pace *pace, int cores, crew_job job, void *arg);

/* Within a job: waits until all of its cores have come here, and sees what they have written. */
void crew_meet(struct crew *crew);

/* Where the share of core `me` begins; that of core `me + 1` begins where it ends. */
static inline int crew_begin(int count, int me, int cores) {
    return (int)((long long)count * me / cores);
}

#endif
