/* The watched wire. */
#include "wire/watched.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *const watched_change_name[WATCHED_CHANGES] = {
    "nothing", "value", "face",  "old",   "before", /* words of the plug-in's, too */
    "plan",    "run",   "bytes", "short", "status"};

/* Before the values of a message of faces. */
struct header {
    long long run, bytes;
    int plan, status;
};
enum { VALUES_AT = 64, FACES_FROM = 1024 /* tags of faces begin here */ };

/* Outgoing channels of faces. */
struct watched {
    const evn_channel *channel;
    char *room, *before; /* the message at hand, and the one before */
    struct watched *next;
};

static struct {
    evn_wire_kind kind;
    struct watched *first;
    struct watched_order order;
    int altered, sent;
    pthread_mutex_t lock;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Its place in the list; NULL is there for other channels. */
static struct watched **find(const evn_channel *channel) {
    struct watched **at = &all.first;
    while (*at && (*at)->channel != channel) at = &(*at)->next;
    return at;
}

static evn_status open_channel(evn_channel **out_channel, evn_wire *wire, int peer, int tag,
                               int out, size_t max) {
    evn_status status = all.kind.channel_open(out_channel, wire, peer, tag, out, max);
    if (status || !out || tag < FACES_FROM) return status;
    struct watched *w = calloc(1, sizeof *w);
    if (!w || !(w->before = calloc(1, max))) abort();
    w->channel = *out_channel;
    pthread_mutex_lock(&all.lock);
    w->next = all.first;
    all.first = w;
    pthread_mutex_unlock(&all.lock);
    return EVN_OK;
}

static void close_channel(evn_channel *channel) {
    pthread_mutex_lock(&all.lock);
    struct watched **at = find(channel), *w = *at;
    if (w) *at = w->next;
    pthread_mutex_unlock(&all.lock);
    if (w) free(w->before);
    free(w);
    all.kind.channel_close(channel);
}

static evn_status take(evn_channel *channel, void **room) {
    evn_status status = all.kind.take(channel, room);
    pthread_mutex_lock(&all.lock);
    struct watched *w = *find(channel);
    if (w) w->room = *room;
    pthread_mutex_unlock(&all.lock);
    return status;
}

/* ---- what is altered ----------------------------------------------------------------------- */

/* How long the message is then. */
static size_t change(const struct watched *w, size_t bytes) {
    struct header *h = (struct header *)(void *)w->room;
    char *value = w->room + VALUES_AT;
    const size_t n = all.order.face;
    switch (all.order.change) {
    case WATCHED_VALUE: w->room[bytes - 1] ^= 4; break; /* the highest byte of the last value */
    case WATCHED_FACE:
        for (size_t i = 0; i < n; i++) {
            const char c = value[i];
            value[i] = value[n + i];
            value[n + i] = c;
        }
        break;
    case WATCHED_OLD: memcpy(value, w->before + VALUES_AT, bytes - VALUES_AT); break;
    case WATCHED_BEFORE: memcpy(w->room, w->before, bytes); break;
    case WATCHED_PLAN: h->plan++; break;
    case WATCHED_RUN: h->run++; break;
    case WATCHED_BYTES: h->bytes--; break;
    case WATCHED_SHORT: return bytes - 1;
    case WATCHED_STATUS: h->status = EVN_DEVICE; break;
    default: break;
    }
    return bytes;
}

static int is_ordered(const struct watched *w, size_t bytes) {
    const struct header *h = (const struct header *)(void *)w->room;
    const size_t least = VALUES_AT + (all.order.change == WATCHED_FACE ? 2 * all.order.face : 1);
    return all.order.change && !all.altered && h->run == all.order.run && bytes >= least;
}

/* Counts the message, and alters it if it is the one; how long it is then. */
static size_t watch(struct watched *w, size_t bytes) {
    all.sent++;
    if (is_ordered(w, bytes)) {
        all.altered++;
        return change(w, bytes);
    }
    memcpy(w->before, w->room, bytes);
    return bytes;
}

static evn_status send(evn_channel *channel, size_t bytes) {
    pthread_mutex_lock(&all.lock);
    struct watched *w = *find(channel);
    if (w) bytes = watch(w, bytes);
    pthread_mutex_unlock(&all.lock);
    return all.kind.send(channel, bytes);
}

/* ---- to be used ---------------------------------------------------------------------------- */

evn_wire_kind watched_kind(const evn_wire_kind *inner) {
    evn_wire_kind kind = all.kind = *inner;
    kind.channel_open = open_channel;
    kind.channel_close = close_channel;
    kind.take = take;
    kind.send = send;
    return kind;
}

void watched_begin(const struct watched_order *order) {
    pthread_mutex_lock(&all.lock);
    all.order = *order;
    all.altered = all.sent = 0;
    pthread_mutex_unlock(&all.lock);
}

int watched_end(int *altered) {
    pthread_mutex_lock(&all.lock);
    const int sent = all.sent;
    *altered = all.altered;
    pthread_mutex_unlock(&all.lock);
    return sent;
}
