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
enum { VALUES_AT = 64 };

struct watched {
    const evn_mail *mail;
    const evn_wire *wire;
    enum watched_use use;
    int out, expected; /* and not yet let go */
    long sent;
    char *room, *before; /* of faces: the message at hand, and the one before */
    struct watched *next;
};

static struct {
    evn_wire_kind kind;
    int (*requests)(void);
    struct watched *first;
    struct watched_order order;
    struct watched_counts counts;
    int altered;
    pthread_mutex_t lock;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum watched_use use_of(int tag) {
    static const int from[WATCHED_USES] = {0, 16, 512, 1024};
    int use = WATCHED_USES - 1;
    while (tag < from[use]) use--;
    return (enum watched_use)use;
}

/* Where it is in the list; NULL is there for mail that was opened before it was watched. */
static struct watched **find(const evn_mail *mail) {
    struct watched **at = &all.first;
    while (*at && (*at)->mail != mail) at = &(*at)->next;
    return at;
}

static evn_status open_mail(evn_mail **out_mail, evn_wire *wire, int peer, int tag, int out,
                            size_t max) {
    evn_status status = all.kind.mail_open(out_mail, wire, peer, tag, out, max);
    if (status) return status;
    struct watched *w = calloc(1, sizeof *w);
    if (!w) abort();
    *w = (struct watched){.mail = *out_mail, .wire = wire, .use = use_of(tag), .out = out};
    if (out && w->use == WATCHED_FACES && !(w->before = calloc(1, max))) abort();
    pthread_mutex_lock(&all.lock);
    w->next = all.first;
    all.first = w;
    pthread_mutex_unlock(&all.lock);
    return EVN_OK;
}

static void close_mail(evn_mail *mail) {
    pthread_mutex_lock(&all.lock);
    struct watched **at = find(mail), *w = *at;
    if (w) *at = w->next;
    pthread_mutex_unlock(&all.lock);
    if (w) free(w->before);
    free(w);
    all.kind.mail_close(mail);
}

static evn_status take(evn_mail *mail, void **room) {
    evn_status status = all.kind.take(mail, room);
    pthread_mutex_lock(&all.lock);
    struct watched *w = *find(mail);
    if (w) w->room = *room;
    pthread_mutex_unlock(&all.lock);
    return status;
}

static void add_expected(const evn_mail *mail, int some) {
    pthread_mutex_lock(&all.lock);
    struct watched *w = *find(mail);
    if (w) w->expected += some;
    pthread_mutex_unlock(&all.lock);
}

static evn_status expect(evn_mail *mail) {
    evn_status status = all.kind.expect(mail);
    if (!status) add_expected(mail, 1);
    return status;
}

static void release(evn_mail *mail) {
    add_expected(mail, -1);
    all.kind.release(mail);
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

/* ---- what is counted ----------------------------------------------------------------------- */

/* A rank tells of itself. */
static void look_around(const evn_wire *wire) {
    long posted = 0;
    for (const struct watched *w = all.first; w; w = w->next) {
        if (w->wire != wire) continue;
        if (w->use == WATCHED_FACES) all.counts.late += w->expected;
        posted += w->out ? (w->sent < 2 ? w->sent : 2) : w->expected;
    }
    const int requests = all.requests ? all.requests() : 0;
    all.counts.excess += requests > posted;
    if (requests > all.counts.requests_max) all.counts.requests_max = requests;
}

/* Counts the message, and alters it if it is the one; how long it is then. */
static size_t watch(struct watched *w, size_t bytes) {
    const int faces = w->use == WATCHED_FACES;
    all.counts.messages[w->use]++;
    all.counts.bytes[w->use] += (double)(bytes - (faces ? VALUES_AT : 0));
    if (w->use == WATCHED_CONTROL) look_around(w->wire);
    w->sent++;
    if (!faces) return bytes;
    if (is_ordered(w, bytes)) {
        all.altered++;
        return change(w, bytes);
    }
    memcpy(w->before, w->room, bytes);
    return bytes;
}

static evn_status send(evn_mail *mail, size_t bytes) {
    pthread_mutex_lock(&all.lock);
    struct watched *w = *find(mail);
    if (w) bytes = watch(w, bytes);
    pthread_mutex_unlock(&all.lock);
    return all.kind.send(mail, bytes);
}

/* ---- to be used ---------------------------------------------------------------------------- */

evn_wire_kind watched_kind(const evn_wire_kind *inner, int (*requests)(void)) {
    evn_wire_kind kind = all.kind = *inner;
    all.requests = requests;
    kind.mail_open = open_mail;
    kind.mail_close = close_mail;
    kind.take = take;
    kind.send = send;
    kind.expect = expect;
    kind.release = release;
    return kind;
}

void watched_begin(const struct watched_order *order) {
    static const struct watched_order none;
    pthread_mutex_lock(&all.lock);
    all.order = order ? *order : none;
    all.counts = (struct watched_counts){0};
    all.altered = 0;
    pthread_mutex_unlock(&all.lock);
}

struct watched_counts watched_end(int *altered) {
    pthread_mutex_lock(&all.lock);
    const struct watched_counts counts = all.counts;
    if (altered) *altered = all.altered;
    pthread_mutex_unlock(&all.lock);
    return counts;
}
