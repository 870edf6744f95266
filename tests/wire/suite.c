/* The cases that every kind of wire must pass. Messages are numbers made from (from, to, tag,
 * count), so that the receiver knows by itself what must have come. */
#include "wire/suite.h"
#include <evener/clock.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BARRIER = 32700, MAX = 70000 };

/* ---- what messages are made of ---- */

static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t seed_of(int from, int to, int tag, long count) {
    return mixed((uint64_t)from << 48 ^ (uint64_t)to << 40 ^ (uint64_t)tag << 20 ^ (uint64_t)count);
}

static void fill(unsigned char *room, size_t bytes, uint64_t seed) {
    for (size_t i = 0; i < bytes; i += sizeof seed) {
        const uint64_t word = mixed(seed + i);
        memcpy(room + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

static int is_filled(const unsigned char *data, size_t bytes, uint64_t seed) {
    for (size_t i = 0; i < bytes; i += sizeof seed) {
        const uint64_t word = mixed(seed + i);
        if (memcmp(data + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word)) return 0;
    }
    return 1;
}

/* ---- an end of a way, and its next message ---- */

struct way {
    evn_channel *channel;
    int from, to, tag;
    long count;
};

static struct way way_open(struct member *m, int peer, int tag, int out, size_t max) {
    struct way w = {NULL, out ? m->me : peer, out ? peer : m->me, tag, 0};
    must_ok(m->kind->channel_open(&w.channel, m->wire, peer, tag, out, max));
    return w;
}

static void way_send(struct member *m, struct way *w, size_t bytes) {
    void *room, *again;
    must_ok(m->kind->take(w->channel, &room));
    must_ok(m->kind->take(w->channel, &again));
    must(room == again);
    must((uintptr_t)room % (uintptr_t)sysconf(_SC_PAGESIZE) == 0);
    fill(room, bytes, seed_of(w->from, w->to, w->tag, w->count));
    must_ok(m->kind->send(w->channel, bytes));
    w->count++;
}

static void way_receive(struct member *m, struct way *w, size_t expected) {
    const void *data;
    size_t bytes;
    must_ok(m->kind->expect(w->channel));
    must_ok(m->kind->wait(w->channel, &data, &bytes));
    must(bytes == expected);
    must(is_filled(data, bytes, seed_of(w->from, w->to, w->tag, w->count)));
    m->kind->release(w->channel);
    w->count++;
}

static int next(const struct member *m) { return (m->me + 1) % m->size; }
static int previous(const struct member *m) { return (m->me + m->size - 1) % m->size; }

/* Twice round the ring. */
void suite_barrier(struct member *m) {
    if (m->size == 1) return;
    struct way out = way_open(m, next(m), BARRIER, 1, 1),
               in = way_open(m, previous(m), BARRIER, 0, 1);
    for (int i = 0; i < 2; i++) {
        if (m->me) way_receive(m, &in, 1);
        way_send(m, &out, 1);
        if (!m->me) way_receive(m, &in, 1);
    }
    m->kind->channel_close(out.channel);
    m->kind->channel_close(in.channel);
}

/* ---- cases ---- */

/* The ring's neighbours, to themselves too where there is one rank. */
static void order(struct member *m) {
    struct way out = way_open(m, next(m), 1, 1, MAX), in = way_open(m, previous(m), 1, 0, MAX);
    for (long i = 0; i < 200; i++) {
        way_send(m, &out, seed_of(out.from, out.to, 77, i) % 300);
        way_receive(m, &in, seed_of(in.from, in.to, 77, i) % 300);
    }
    m->kind->channel_close(out.channel);
    m->kind->channel_close(in.channel);
}

static void sizes(struct member *m) {
    static const size_t max[] = {0, 1, 8, 4095, 4096, 4097, MAX, (size_t)3 << 20};
    for (size_t i = 0; i < sizeof max / sizeof *max; i++) {
        struct way out = way_open(m, next(m), 2, 1, max[i]);
        struct way in = way_open(m, previous(m), 2, 0, max[i]);
        way_send(m, &out, max[i]);
        way_send(m, &out, 0);
        way_receive(m, &in, max[i]);
        way_receive(m, &in, 0);
        m->kind->channel_close(in.channel);
        m->kind->channel_close(out.channel);
    }
}

/* Three are sent at once, and the receiver comes late: were the third not to wait, it would be
 * where the first one is. */
static void third_waits(struct member *m) {
    struct way out = way_open(m, next(m), 3, 1, 64), in = way_open(m, previous(m), 3, 0, 64);
    if (m->size > 1 && m->me % 2 == 0 && next(m)) {
        for (int i = 0; i < 6; i++) way_send(m, &out, 64);
    } else if (m->me % 2) {
        usleep(50000);
        for (int i = 0; i < 6; i++) way_receive(m, &in, 64);
    }
    m->kind->channel_close(out.channel);
    m->kind->channel_close(in.channel);
}

/* Messages of each tag wait where they are until they are asked for. */
static void tags(struct member *m) {
    enum { TAGS = 60 };
    struct way out[TAGS], in[TAGS];
    for (int t = 0; t < TAGS; t++) {
        out[t] = way_open(m, next(m), 500 * t, 1, 1000);
        in[TAGS - 1 - t] = way_open(m, previous(m), 500 * (TAGS - 1 - t), 0, 1000);
    }
    for (int t = 0; t < TAGS; t++) way_send(m, &out[t], (size_t)t);
    for (int t = TAGS - 1; t >= 0; t--) way_receive(m, &in[t], (size_t)t);
    for (int t = 0; t < TAGS; t++) {
        m->kind->channel_close(out[t].channel);
        m->kind->channel_close(in[t].channel);
    }
}

static void everybody(struct member *m, struct way *out, struct way *in, int tag, size_t max) {
    for (int r = 0; r < m->size; r++) {
        out[r] = way_open(m, r, tag, 1, max);
        in[r] = way_open(m, r, tag, 0, max);
    }
}

static void nobody(struct member *m, struct way *out, struct way *in) {
    for (int r = 0; r < m->size; r++) {
        m->kind->channel_close(in[r].channel);
        m->kind->channel_close(out[r].channel);
    }
}

/* Two to everybody before anything is received. */
static void all_at_once(struct member *m) {
    struct way out[64], in[64];
    everybody(m, out, in, 5, MAX);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 2; i++)
            for (int r = 0; r < m->size; r++) way_send(m, &out[r], (size_t)(MAX - 7 * r));
        for (int i = 0; i < 2; i++)
            for (int r = 0; r < m->size; r++) way_receive(m, &in[r], (size_t)(MAX - 7 * m->me));
    }
    nobody(m, out, in);
}

/* Each plan has its own sizes; an end that is done opens the next one, whether or not the other end
 * has closed the last. */
static void reopened(struct member *m) {
    for (long k = 0; k < 40; k++) {
        size_t out_max = seed_of(m->me, next(m), 6, k) % MAX;
        size_t in_max = seed_of(previous(m), m->me, 6, k) % MAX;
        struct way out = way_open(m, next(m), 6, 1, out_max);
        way_send(m, &out, out_max);
        way_send(m, &out, out_max / 2);
        m->kind->channel_close(out.channel);
        struct way in = way_open(m, previous(m), 6, 0, in_max);
        way_receive(m, &in, in_max);
        way_receive(m, &in, in_max / 2);
        m->kind->channel_close(in.channel);
    }
}

/* A message is not here before it is sent. */
static void looks(struct member *m) {
    struct way out = way_open(m, next(m), 7, 1, 8), in = way_open(m, previous(m), 7, 0, 8);
    for (int i = 0; i < 20; i++) {
        int here = 1;
        must_ok(m->kind->expect(in.channel));
        must_ok(m->kind->look(in.channel, &here));
        must(!here);
        suite_barrier(m);
        way_send(m, &out, 8);
        while (!here) {
            if (m->kind->poll) m->kind->poll(m->wire);
            must_ok(m->kind->look(in.channel, &here));
        }
        const void *data;
        size_t bytes;
        must_ok(m->kind->wait(in.channel, &data, &bytes));
        must(bytes == 8 && is_filled(data, 8, seed_of(in.from, in.to, 7, in.count++)));
        m->kind->release(in.channel);
        suite_barrier(m);
    }
    m->kind->channel_close(out.channel);
    m->kind->channel_close(in.channel);
}

/* How many messages go on a way in a round, and how long each is: both ends know. */
static int model_count(int from, int to, int tag, long round) {
    return (int)(seed_of(from, to, tag + 100, round) % 3);
}

static size_t model_bytes(const struct way *w) {
    uint64_t x = seed_of(w->from, w->to, w->tag + 200, w->count);
    return x % 8 ? (x >> 8) % 100 : (x >> 8) % MAX;
}

static void model_round(struct member *m, struct way (*out)[64], struct way (*in)[64], long round) {
    enum { TAGS = 3 };
    const int ways = TAGS * m->size, first = (int)(seed_of(m->me, 0, 300, round) % (unsigned)ways);
    for (int i = 0; i < ways; i++) {
        struct way *w = &out[(first + i) % TAGS][(first + i) / TAGS % m->size];
        for (int k = model_count(w->from, w->to, w->tag, round); k > 0; k--)
            way_send(m, w, model_bytes(w));
    }
    for (int i = ways; i-- > 0;) {
        struct way *w = &in[(first + i) % TAGS][(first + i) / TAGS % m->size];
        for (int k = model_count(w->from, w->to, w->tag, round); k > 0; k--)
            way_receive(m, w, model_bytes(w));
    }
}

static void random_messages(struct member *m) {
    struct way out[3][64], in[3][64];
    for (int t = 0; t < 3; t++) everybody(m, out[t], in[t], 10 + t, MAX);
    for (long round = 0; round < 800 / m->size; round++) model_round(m, out, in, round);
    for (int t = 0; t < 3; t++) nobody(m, out[t], in[t]);
}

/* Somebody wants it to end, and what it waits for does not come. Last: nothing is sent after. */
static void stopped(struct member *m) {
    suite_barrier(m);
    struct way in = way_open(m, previous(m), 8, 0, 8);
    const void *data;
    size_t bytes;
    m->stop = 1;
    const double begin = evn_now();
    must_ok(m->kind->expect(in.channel));
    must_give(m->kind->wait(in.channel, &data, &bytes), EVN_STOPPED);
    must(evn_now() - begin > 0.5);
    m->stop = 0;
    suite_barrier(m); /* all have given up; what comes late is not lost */
    struct way out = way_open(m, next(m), 8, 1, 8);
    way_send(m, &out, 8);
    must_ok(m->kind->wait(in.channel, &data, &bytes));
    must(bytes == 8);
    m->kind->release(in.channel);
    m->kind->channel_close(in.channel);
    m->kind->channel_close(out.channel);
}

const struct wire_case wire_cases[] = {
    {"order", order},
    {"sizes", sizes},
    {"third waits", third_waits},
    {"tags", tags},
    {"all at once", all_at_once},
    {"reopened", reopened},
    {"looks", looks},
    {"random messages", random_messages},
    {"stopped", stopped},
    {NULL, NULL},
};
