/* Fork and join: one thread opens jobs, and member threads enter the open job, until
 * fork_end().
 *
 * A job ends when the opener has closed it and all members inside have left. Members that have not
 * arrived by then, since another program has their core, are not waited for, except those of the
 * classes that the job was opened with: closing waits until as many of them as needed have been
 * there.
 *
 *     caller                                   member
 *     job, arg = ..;                           unsigned seen = 0;
 *     fork_open(&f, needed, classes);          while (fork_enter(&f, class, &seen)) {
 *     .. its own share ..                          .. job(arg) ..
 *     fork_close(&f);                              fork_leave(&f);
 *     ..                                       }
 *     fork_end(&f);
 */
#pragma once

#include "base/gate.h"

/* Classes of members; may be added. */
enum fork_class { FORK_FREE = 1, FORK_BOUND = 2, FORK_ALL = 3 };

struct fork_join {
    struct gate begin; /* number of jobs so far */
    struct gate end;   /* moves when the last member leaves a closed job */
    atomic_int ended;  /* fork_end() was called */
    /* job, classes needed, open, members still needed, members inside (fork_join.c) */
    _Alignas(64) _Atomic uint64_t state;
};

void fork_init(struct fork_join *f, double spin);

/* Opens a job; its members see the writes before it. `needed` members of `classes` must enter it.
 * By one thread at a time, after the last job was closed. */
void fork_open(struct fork_join *f, int needed, unsigned classes);

/* Closes the job: only needed members may still enter. Returns when all have left. */
void fork_close(struct fork_join *f);

/* Waits for a job newer than number *seen, which begins at 0, that is open or needs the member, and
 * enters it: 1. 0: fork_end() was called. */
int fork_enter(struct fork_join *f, unsigned class, unsigned *seen);
void fork_leave(struct fork_join *f);

/* After the last job was closed: no member enters any more. */
void fork_end(struct fork_join *f);
