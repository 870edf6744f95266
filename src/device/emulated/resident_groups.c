/* The scheduler of a resident launch's groups (resident_groups.h), and flags of kernels on the
 * host. */
#include "device/emulated/resident_groups.h"

static _Thread_local struct turns *mine; /* groups among which the calling thread runs one */
static _Thread_local int group;          /* number of the calling thread's group */
static _Thread_local int in_vain;

void turns_open(struct turns *t, int groups) {
    *t = (struct turns){.groups = groups, .now = groups - 1};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
}

void turns_close(struct turns *t) {
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
}

/* 1 if group g can run: it waits for no flag, or the flag is raised. Under the lock. */
static int can_go_on(const struct turns *t, int g) {
    const struct seat *s = &t->seat[g];
    return !s->has_ended && (t->is_stuck || !s->flag || *s->flag >= s->n);
}

/* Gives the turn to the last group that can go on. Under the lock. */
static void pass(struct turns *t) {
    int next = t->groups - 1;
    while (next >= 0 && !can_go_on(t, next)) next--;
    for (int g = 0; next < 0 && g < t->groups; g++)
        if (!t->seat[g].has_ended) {
            t->is_stuck = 1;
            next = g;
        }
    if (next == t->now) return;
    t->now = next;
    pthread_cond_broadcast(&t->changed);
}

static void wait_for_turn(struct turns *t) {
    while (t->now != group) pthread_cond_wait(&t->changed, &t->lock);
}

void turns_begin(struct turns *t, int g) {
    mine = t;
    group = g;
    pthread_mutex_lock(&t->lock);
    wait_for_turn(t);
    pthread_mutex_unlock(&t->lock);
}

void turns_end(void) {
    struct turns *t = mine;
    mine = NULL;
    pthread_mutex_lock(&t->lock);
    t->seat[group].has_ended = 1;
    pass(t);
    pthread_mutex_unlock(&t->lock);
}

int turns_in_vain(void) {
    const int was = in_vain;
    in_vain = 0;
    return was;
}

void evn_group_await(const evn_long *flag, evn_long n) {
    struct turns *t = mine;
    if (*flag >= n) return;
    if (!t) {
        in_vain = 1; /* no other group is at work */
        return;
    }
    pthread_mutex_lock(&t->lock);
    struct seat *s = &t->seat[group];
    s->flag = flag;
    s->n = n;
    pass(t);
    wait_for_turn(t);
    s->flag = NULL;
    in_vain |= *flag < n;
    pthread_mutex_unlock(&t->lock);
}

void evn_group_raise(evn_long *flag, evn_long n) {
    struct turns *t = mine;
    *flag = n;
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    pass(t);
    wait_for_turn(t);
    pthread_mutex_unlock(&t->lock);
}
