/* Times of launches on a device, summed by name: an event before and one after each.
 *
 * It uses only functions of every back end, so it works on all of them. Pairs of events are reused:
 * when there are many, those of finished launches are read, without waiting. With a virtual clock a
 * read would be a wait, and delay later work; there they are read at the end.
 *
 * The device's own events are not counted as objects by device.c: they close with it. */
#include "device/launch_times.h"
#include "base/argument.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 64 }; /* number of pairs from which on finished ones are collected */

struct sum {
    struct sum *next;
    evn_device_phase is;
};

/* A launch under way, or room for one. */
struct pair {
    struct pair *next;
    evn_event *begin, *end;
    struct sum *of;
};

struct phases {
    pthread_mutex_t lock;
    struct sum
        *first; /* in the order of first launches; never freed, since launches point to them */
    struct pair *oldest, **behind, *idle;
    int pairs;
};

/* ---- pairs of events ---- */

static evn_event *event_open(evn_device *d, evn_status *status) {
    if (*status) return NULL;
    evn_event *e = calloc(1, d->backend->event_size);
    if (e) e->device = d;
    *status = e ? d->backend->event_open(e) : evn_fail(EVN_MEMORY, "no memory for an event");
    if (*status) {
        free(e);
        return NULL;
    }
    return e;
}

static void event_close(evn_event *e) {
    if (e) e->device->backend->event_close(e);
    free(e);
}

static evn_status pair_open(evn_device *d, struct phases *p, struct pair **out) {
    struct pair *pair = calloc(1, sizeof *pair);
    evn_status status = pair ? EVN_OK : evn_fail(EVN_MEMORY, "no memory for two events");
    if (status) return status;
    pair->begin = event_open(d, &status);
    pair->end = event_open(d, &status);
    if (status) {
        event_close(pair->begin);
        free(pair);
        return status;
    }
    p->pairs++;
    *out = pair;
    return EVN_OK;
}

static void pairs_close(struct pair *pair) {
    for (struct pair *next; pair; pair = next) {
        next = pair->next;
        event_close(pair->begin);
        event_close(pair->end);
        free(pair);
    }
}

static void rest(struct phases *p, struct pair *pair) {
    pair->next = p->idle;
    p->idle = pair;
}

/* Removes the oldest pair from the list, when it is read or given up. */
static struct pair *take_oldest(struct phases *p) {
    struct pair *pair = p->oldest;
    p->oldest = pair->next;
    if (!p->oldest) p->behind = &p->oldest;
    return pair;
}

/* Adds up the oldest launches: all of them, waiting, or only finished ones. */
static evn_status collect(evn_device *d, struct phases *p, int all) {
    evn_status status = EVN_OK;
    while (!status && p->oldest && (all || d->backend->event_done(p->oldest->end))) {
        struct pair *pair = take_oldest(p);
        double seconds = 0;
        status = d->backend->event_seconds(pair->begin, pair->end, &seconds);
        if (!status) {
            pair->of->is.seconds += seconds;
            pair->of->is.launches++;
        }
        rest(p, pair);
    }
    return status;
}

/* ---- sums ---- */

/* NULL: no memory. */
static struct sum *sum_of(struct phases *p, const char *name) {
    struct sum **s = &p->first, fresh = {0};
    snprintf(fresh.is.name, sizeof fresh.is.name, "%s", name);
    while (*s && strcmp((*s)->is.name, fresh.is.name) != 0) s = &(*s)->next;
    if (*s) return *s;
    *s = malloc(sizeof **s);
    if (*s) **s = fresh;
    return *s;
}

static void sums_free(struct sum *s) {
    for (struct sum *next; s; s = next) {
        next = s->next;
        free(s);
    }
}

/* ---- a launch ---- */

/* A pair for a launch of the queue. Under the lock. */
static evn_status take(evn_queue *q, struct phases *p, const char *kernel, struct pair **out) {
    evn_device *d = q->device;
    evn_status status = EVN_OK;
    if (!p->idle && p->pairs >= MANY && !d->traits.clock_is_virtual) status = collect(d, p, 0);
    if (!status && !p->idle) {
        status = pair_open(d, p, out);
    } else if (!status) {
        *out = p->idle;
        p->idle = (*out)->next;
    }
    if (status) return status;
    (*out)->next = NULL;
    (*out)->of = sum_of(p, q->phase ? q->phase : kernel);
    if ((*out)->of) return EVN_OK;
    rest(p, *out);
    return evn_fail(EVN_MEMORY, "no memory for the time of a phase");
}

evn_status phases_launch(evn_queue *q, evn_kernel *k, int groups, int items, int is_resident,
                         const evn_argument *argument, int arguments) {
    const struct backend *backend = q->device->backend;
    struct phases *p = q->device->phases;
    struct pair *pair = NULL;
    pthread_mutex_lock(&p->lock);
    evn_status status = take(q, p, k->entry->name, &pair);
    pthread_mutex_unlock(&p->lock);
    if (status) return status;
    status = backend->event_record(pair->begin, q);
    if (!status) status = backend->launch(q, k, groups, items, is_resident, argument, arguments);
    if (!status) status = backend->event_record(pair->end, q);
    pthread_mutex_lock(&p->lock);
    if (status) {
        rest(p, pair);
    } else {
        *p->behind = pair;
        p->behind = &pair->next;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- beginning, end ---- */

evn_status phases_begin(evn_device *d) {
    struct phases *p = d->phases;
    if (!p) {
        p = d->phases = calloc(1, sizeof *p);
        if (!p) return evn_fail(EVN_MEMORY, "no memory for times of phases");
        pthread_mutex_init(&p->lock, NULL);
        p->behind = &p->oldest;
    }
    pthread_mutex_lock(&p->lock);
    while (p->oldest) rest(p, take_oldest(p));
    for (struct sum *s = p->first; s; s = s->next) s->is.seconds = 0, s->is.launches = 0;
    pthread_mutex_unlock(&p->lock);
    atomic_store_explicit(&d->timed, 1, memory_order_release);
    return EVN_OK;
}

evn_status phases_end(evn_device *d) {
    struct phases *p = d->phases;
    if (!p) return EVN_OK;
    atomic_store(&d->timed, 0);
    pthread_mutex_lock(&p->lock);
    const evn_status status = collect(d, p, 1);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* The first sum from here on that has launches since phases_begin(). */
static const struct sum *used(const struct sum *s) {
    while (s && !s->is.launches) s = s->next;
    return s;
}
static const struct sum *first_of(const evn_device *d) {
    return used(d->phases ? d->phases->first : NULL);
}
static const struct sum *next_of(const struct sum *s) { return used(s->next); }

evn_device_phase evn_device_phase_at(const evn_device *d, int i) {
    const evn_device_phase none = {.launches = 0};
    NEED_OR(none, d, "a device");
    const struct sum *s = first_of(d);
    for (int k = 0; s && k != i; k++) s = next_of(s);
    return s ? s->is : none;
}

void phases_close(evn_device *d) {
    struct phases *p = d->phases;
    if (!p) return;
    pairs_close(p->oldest);
    pairs_close(p->idle);
    sums_free(p->first);
    pthread_mutex_destroy(&p->lock);
    free(p);
    d->phases = NULL;
}
