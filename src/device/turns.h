/* Groups that wait for each other, one at a time: which of a resident launch's groups goes on.
 *
 * Each has a thread of its own, and one of them at a time goes on: always the last one that can. So
 * a group that waits for an earlier one begins before it, waits as soon as it may, and goes on in
 * the very moment in which a flag says so: what is raised before it is written, and what is not
 * waited for, shows each time in the same way. */
#ifndef DEVICE_TURNS_H
#define DEVICE_TURNS_H

#include "device/emulated_model.h"
#include <evener/kernel.h>
#include <pthread.h>

struct turns {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    int groups, now; /* the one that goes on; -1: all have ended */
    int is_stuck;    /* none could: all waits end now */
    struct seat {
        int has_ended;
        const evn_long *flag; /* it waits for this one to be `n`; NULL: for none */
        evn_long n;
    } seat[EMULATED_CORES];
};

void turns_open(struct turns *t, int groups);
void turns_close(struct turns *t);

/* Around a group, by its thread: waits for its first turn. */
void turns_begin(struct turns *t, int group);
void turns_end(void);

/* Whether a group of the calling thread waited for what nothing would bring about, since this was
 * asked last: it went on without it. */
int turns_in_vain(void);

#endif
