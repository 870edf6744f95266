/* The state of a run on disk: kept now and then, and gone on from, on any ranks and units.
 *
 * Rank 0 opens the file, which has no name until it is whole (<evener/output.h>). A rank that can
 * open it, too, by the number of the process and the descriptor, writes its zones into it; what
 * proves that it is the file is a random word in it. The zones of others, on other hosts, go to
 * rank 0 one after another. Reading is the same the other way: who finds the file under its name,
 * with the same header, reads its zones, and rank 0 those of others. All of it is collective.
 */
#ifndef NPBMZ_CHECKPOINT_H
#define NPBMZ_CHECKPOINT_H

#include "npbmz/run/run.h"
#include "npbmz/run/state_file.h"
#include <pthread.h>

/* ---- checkpoint.c ---- */

/* Whether a state could be kept, before anything is computed. EVN_USAGE says why not. */
evn_status checkpoint_try(struct run *run);

/* Keeps the state after step `done`, if one is due. `stopping`: no step follows; then it is kept
 * where that is done soon, since others may not wait. An earlier file stays as it is if it fails:
 * EVN_SYSTEM, EVN_DEVICE, EVN_MEMORY. */
evn_status checkpoint_keep(struct run *run, int done, int stopping);

/* Adds to the message of a run that was stopped, which state there is. EVN_STOPPED. */
evn_status checkpoint_stopped(const struct run *run);

/* ---- restart.c ---- */

/* Reads the header, and every zone for its checksum. EVN_USAGE: it cannot be read, is damaged, or
 * of another run. */
evn_status restart_open(struct run *run);
void restart_close(struct run *run);

/* The assignment that it was kept with, if the units are as they were. */
void restart_schedule(const struct run *run, evn_schedule *schedule);

/* The state into the zones, which are on the host after it. */
evn_status restart_load(struct run *run);

/* ---- for both ---- */

/* All that the bits depend on, "key=value ..". */
enum { IDENTITY_SIZE = 160 };
void checkpoint_identify(const struct run *run, char identity[IDENTITY_SIZE]);

/* Which units there are, as far as a schedule knows them. */
uint64_t checkpoint_speeds(const evn_schedule *schedule);

/* Zones in and out of a file, each by the leader of one of this rank's units. */
struct filing {
    struct run *run;
    struct state_file *file;
    const char *path; /* for messages */
    int fd;
    int *unit; /* of each zone: which of ours is at it; -1: none */
    evn_status (*zone)(struct filing *f, int z, double *piece); /* of STATE_PIECE doubles */
    pthread_mutex_t lock;                                       /* for what follows */
    evn_status status;
    char why[512];
};
evn_status filing_open(struct filing *f, struct run *run, struct state_file *file);
evn_status filing_run(struct filing *f);
void filing_close(struct filing *f);

/* Each zone by its owner; -1: not on this rank, or none is to be written at all (`here` 0). */
void filing_by_owner(struct filing *f, int here);

/* The rank that has the zone. */
int filing_rank(const struct run *run, int z);

/* A zone's memory on the host, while it is held. */
evn_status filing_hold(struct run *run, int z, evn_access access);
void filing_release(struct run *run, int z);

/* Whether each rank can do what this one says of itself; *all is to be freed. */
evn_status filing_share(struct run *run, int mine, int **all, int *ranks);

#endif
