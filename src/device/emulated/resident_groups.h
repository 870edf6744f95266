/* Deterministic scheduler for resident launches: runs one group at a time, always the
 * highest-numbered that can proceed.
 *
 * Each group has a thread of its own. A group that waits for an earlier one so begins before it,
 * waits as soon as it can, and continues at the very moment a flag allows it: values written before
 * a flag is raised, and values read without waiting, show the same way in every run. */
#pragma once

#include "device/emulated/model.h"
#include <evener/kernel.h>
#include <pthread.h>

struct turns {
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    int groups, now; /* the running group; -1: all have ended */
    int is_stuck;    /* 1: no group can proceed: all waits end now */
    struct seat {
        int has_ended;
        const evn_long *flag; /* the group waits until *flag is `n`; NULL: it does not wait */
        evn_long n;
    } seat[EMULATED_CORES];
};

void turns_open(struct turns *t, int groups);
void turns_close(struct turns *t);

/* Brackets a group, by its thread; the first call waits for its turn. */
void turns_begin(struct turns *t, int group);
void turns_end(void);

/* 1 if a group of the calling thread waited for a flag that no group would raise, since the last
 * call; it continued without it. */
int turns_in_vain(void);
