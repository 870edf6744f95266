/* Channels of an arena: messages in boxes. */
#include "wire/arena_boxes.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <unistd.h>

/* A rank's end of a channel. */
struct evn_channel {
    evn_wire *wire;
    struct wire_arena_box *box;
    int end, peer;
    unsigned count; /* messages sent, or received and released */
    int is_taken;   /* 1: the sender has taken the buffer of message `count` */
};

evn_status wire_arena_join(evn_wire **out, struct wire_arena *a, int rank, const char *name,
                           const struct wire_arena_speed *speed, const evn_wire_host *host) {
    evn_wire *w = calloc(1, sizeof *w);
    *out = w;
    if (!w) return host->fail(EVN_MEMORY, "%s: not enough memory", name);
    *w = (evn_wire){.arena = a, .rank = rank, .name = name, .host = host, .speed = *speed};
    return EVN_OK;
}

void wire_arena_leave(evn_wire *w) {
    struct wire_arena *a = w->arena;
    evn_status status = EVN_OK;
    atomic_store(&a->state[w->rank], ARENA_CLOSED);
    wire_arena_count(&a->left);
    while (!status) {
        unsigned seen = atomic_load(&a->left.count);
        if (seen == (unsigned)a->ranks) break;
        status = wire_arena_await(w, &a->left, seen, -1);
    }
    free(w);
}

void wire_arena_abort(evn_wire *w, int status) {
    atomic_store(&w->arena->state[w->rank], ARENA_ABORTED);
    _exit(status);
}

struct wire_arena *wire_arena_of(const evn_wire *w) {
    return w->arena;
}
int wire_arena_rank(const evn_wire *w) { return w->rank; }
int wire_arena_size(const evn_wire *w) { return w->arena->ranks; }

evn_status wire_arena_channel_open(evn_channel **out_channel, evn_wire *w, int peer, int tag,
                                   int out, size_t max) {
    *out_channel = NULL;
    if (peer < 0 || peer >= w->arena->ranks || tag < 0 || tag > EVN_WIRE_TAG_MAX ||
        max > EVN_WIRE_BYTES_MAX)
        return w->host->fail(EVN_USAGE,
                             "%s: channel %d of %zu bytes between ranks %d and %d: there are %d "
                             "ranks, tags to %d and messages to 1 GiB",
                             w->name, tag, max, w->rank, peer, w->arena->ranks, EVN_WIRE_TAG_MAX);
    evn_channel *m = calloc(1, sizeof *m);
    if (!m) return w->host->fail(EVN_MEMORY, "%s: not enough memory for channel %d", w->name, tag);
    m->wire = w;
    m->peer = peer;
    m->end = out ? SENDER : RECEIVER;
    evn_status status = wire_arena_box_open(&m->box, w->arena, w->name, out ? w->rank : peer,
                                            out ? peer : w->rank, tag, m->end, max);
    if (status)
        free(m);
    else
        *out_channel = m;
    return status;
}

void wire_arena_channel_close(evn_channel *m) {
    if (!m) return;
    wire_arena_box_close(m->box, m->wire->arena, m->end);
    free(m);
}

evn_status wire_arena_take(evn_channel *m, void **room) {
    struct wire_arena_box *b = m->box;
    *room = NULL;
    if (!m->is_taken) {
        /* the counter is at this value, or has passed it: the sender is at most two messages
         * ahead */
        evn_status status = wire_arena_await(m->wire, &b->taken, m->count - 2, m->peer);
        if (status) return status;
    }
    m->is_taken = 1;
    *room = b->room[m->count % 2];
    return EVN_OK;
}

double wire_arena_through(evn_wire *w, size_t bytes) {
    if (w->speed.latency <= 0 && w->speed.bandwidth <= 0) return 0;
    const double now = evn_now();
    if (w->port < now) w->port = now;
    if (w->speed.bandwidth > 0) w->port += (double)bytes / w->speed.bandwidth;
    return w->port + w->speed.latency;
}

evn_status wire_arena_send(evn_channel *m, size_t bytes) {
    struct wire_arena_box *b = m->box;
    if (!m->is_taken || bytes > b->max)
        return m->wire->host->fail(EVN_USAGE, "%s: channel %d to rank %d: %zu bytes sent %s",
                                   m->wire->name, b->tag, m->peer, bytes,
                                   m->is_taken ? "from a room of fewer" : "that have no room");
    b->length[m->count % 2] = bytes;
    b->visible[m->count % 2] = wire_arena_through(m->wire, bytes);
    m->is_taken = 0;
    m->count++;
    wire_arena_count(&b->sent);
    return EVN_OK;
}

evn_status wire_arena_expect(evn_channel *m) {
    (void)m;
    return EVN_OK;
}

evn_status wire_arena_look(evn_channel *m, int *here) {
    struct wire_arena_box *b = m->box;
    *here = atomic_load_explicit(&b->sent.count, memory_order_acquire) != m->count;
    if (*here && b->visible[m->count % 2] > 0) *here = evn_now() >= b->visible[m->count % 2];
    return EVN_OK;
}

evn_status wire_arena_wait(evn_channel *m, const void **data, size_t *bytes) {
    struct wire_arena_box *b = m->box;
    const int slot = m->count % 2;
    *data = NULL;
    *bytes = 0;
    evn_status status = wire_arena_await(m->wire, &b->sent, m->count, m->peer);
    if (!status && b->visible[slot] > 0) status = wire_arena_await_time(m->wire, b->visible[slot]);
    if (status) return status;
    *data = b->room[slot];
    *bytes = b->length[slot];
    return EVN_OK;
}

void wire_arena_release(evn_channel *m) {
    m->count++;
    wire_arena_count(&m->box->taken);
}
