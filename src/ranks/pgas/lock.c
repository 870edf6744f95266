/* Locks: ranks wait in a queue, each for the one before it (Mellor-Crummey and Scott, "Algorithms
 * for scalable synchronization on shared-memory multiprocessors", 1991). The word of lock l, at
 * rank l modulo the number of ranks, is 1 + the last rank of the queue; 0: the lock is free.
 *
 * One signal of a rank to another one tells both "I am behind you", for which the rank that has the
 * lock waits, and "it is your turn", for which the one behind waits. If both have come before
 * either is waited for, the turn came first: a rank comes behind again only once it has passed the
 * lock on. So raises are taken one by one, and need not say which they are. */
#include "pgas/inside.h"
#include <stdlib.h>

static _Thread_local char self; /* its address names a thread */

int shared_locks_make(evn_shared *s) {
    s->lock = calloc((size_t)s->locks + 1, sizeof *s->lock);
    for (int l = 0; s->lock && l < s->locks; l++) {
        struct shared_lock *lock = &s->lock[l];
        pthread_mutex_init(&lock->gate, NULL);
        lock->next = malloc((size_t)s->size * sizeof *lock->next);
        if (!lock->next) return 1;
        for (int r = 0; r < s->size; r++)
            lock->next[r] = (evn_shared_signal){r == s->rank ? -1 : r, s->signals + l, 1};
    }
    return !s->lock;
}

void shared_locks_forget(evn_shared *s) {
    for (int l = 0; s->lock && l < s->locks; l++) {
        pthread_mutex_destroy(&s->lock[l].gate);
        free(s->lock[l].next);
    }
    free(s->lock);
}

static evn_status check(const evn_shared *s, const char *what, int lock) {
    if (!s) return evn_fail(EVN_USAGE, "%s: the shared memory is NULL", what);
    if (lock < 0 || lock >= s->locks)
        return evn_fail(EVN_USAGE, "%s: there is no lock %d; the memory was opened with %d, from 0",
                        what, lock, s->locks);
    return EVN_OK;
}

static evn_status change(evn_shared *s, int lock, evn_atomic what, int64_t *value) {
    return shared_update(s, lock % s->size, shared_lock_at(s, lock), what, value);
}

/* Waits for one of `count` signals; the next wait is for its next raise. */
static evn_status await(evn_shared *s, evn_shared_signal *of, int count, int *which) {
    evn_status status = shared_wait(s, of, count, which);
    if (!status) of[*which].value++;
    return status;
}

static evn_status go_behind(evn_shared *s, int lock, int before) {
    int which;
    evn_status status = shared_raise(s, before, s->signals + lock);
    return status ? status : await(s, &s->lock[lock].next[before], 1, &which);
}

static evn_status pass_on(evn_shared *s, int lock) {
    int next;
    evn_status status = await(s, s->lock[lock].next, s->size, &next);
    return status ? status : shared_raise(s, next, s->signals + lock);
}

static evn_status join(evn_shared *s, const char *what, int lock) {
    int64_t last = 1 + s->rank;
    if (s->is_queue_broken)
        return evn_fail(EVN_SYSTEM, "%s: a lock or unlock of rank %d has failed before", what,
                        s->rank);
    evn_status status = change(s, lock, EVN_SWAP_INT64, &last);
    return status || !last ? status : go_behind(s, lock, (int)last - 1);
}

evn_status evn_shared_lock(evn_shared *s, int lock) {
    static const char what[] = "evn_shared_lock()";
    evn_status status = check(s, what, lock);
    if (status) return status;
    struct shared_lock *l = &s->lock[lock];
    if (l->thread == &self)
        return evn_fail(EVN_USAGE, "%s: this thread has lock %d already", what, lock);
    pthread_mutex_lock(&l->gate);
    status = join(s, what, lock);
    if (status) {
        s->is_queue_broken = 1;
        pthread_mutex_unlock(&l->gate);
    } else {
        l->thread = &self;
    }
    return status;
}

evn_status evn_shared_unlock(evn_shared *s, int lock) {
    static const char what[] = "evn_shared_unlock()";
    evn_status status = check(s, what, lock);
    if (status) return status;
    struct shared_lock *l = &s->lock[lock];
    if (l->thread != &self)
        return evn_fail(EVN_USAGE, "%s: this thread has not locked lock %d", what, lock);
    int64_t last[2] = {0, 1 + s->rank};
    status = evn_shared_flush(s, -1);
    if (!status) status = change(s, lock, EVN_COMPARE_SWAP_INT64, last);
    if (!status && last[0] != 1 + s->rank) status = pass_on(s, lock);
    if (status) s->is_queue_broken = 1;
    l->thread = NULL;
    pthread_mutex_unlock(&l->gate);
    return status;
}
