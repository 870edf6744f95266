/* Copies of checkpoint parts into and out of a file, each by the leader of one of this rank's
 * units; for state_keep.c and state_restart.c. */
#pragma once

#include "common/checkpoint/state_file.h"
#include <pthread.h>

/* Units as a schedule knows them. */
uint64_t state_speeds(const evn_schedule *schedule);

/* Whether this rank is the one that has the file. */
int state_leads(const struct states *s);

/* state_keep.c: whether a state could be kept, before anything is computed. EVN_USAGE says why not.
 * state_restart.c: reads the header, and every part for its checksum. EVN_USAGE: it cannot be read,
 * is damaged, or of another run. */
evn_status state_try(struct states *s);
evn_status state_begin(struct states *s);

struct filing {
    struct states *states;
    struct state_file *file;
    const char *path; /* path of the file, for messages */
    int fd;
    int *unit; /* unit of ours that is at each part; -1: none */
    evn_status (*each)(struct filing *f, int part, double *piece); /* STATE_PIECE doubles */
    pthread_mutex_t lock;                                          /* protects the members below */
    evn_status status;
    char why[512];
};
evn_status filing_open(struct filing *f, struct states *s, struct state_file *file);
evn_status filing_run(struct filing *f);
void filing_close(struct filing *f);

/* Each part by its owner; -1: not on this rank, or none is to be written at all (`here` 0). */
void filing_by_owner(struct filing *f, int here);

/* The rank that has the part; and whether it is this one. */
int filing_rank(const struct states *s, int part);
int filing_has(void *states, int part);

/* A part's memory on the host, while it is held. */
evn_status filing_hold(struct states *s, int part, evn_access access);
void filing_release(struct states *s, int part);

/* Gathers each rank's ability to access the file; *all is to be freed. */
evn_status filing_share(struct states *s, int mine, int **all, int *ranks);
