/* The cases of one-sided memory. What is put is made from (from, to, round), so that the receiver
 * knows by itself what must have come. */
#include "shared/cases.h"
#include "own.h"
#include <evener/device.h>
#include "wire/ranks.h"
#include <evener/clock.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t seed_of(int from, int to, long round) {
    return mixed((uint64_t)from << 48 ^ (uint64_t)to << 32 ^ (uint64_t)round);
}

static void fill(uint64_t *to, size_t words, uint64_t seed) {
    for (size_t i = 0; i < words; i++) to[i] = mixed(seed + i);
}

static int is_filled(const uint64_t *data, size_t words, uint64_t seed) {
    for (size_t i = 0; i < words; i++)
        if (data[i] != mixed(seed + i)) return 0;
    return 1;
}

enum { LOCKS = 2 };

static evn_shared *shared_of(evn_cluster *c, size_t bytes, int signals, int per_node) {
    evn_shared *s;
    const evn_shared_shape shape = {bytes, signals, per_node, LOCKS, {0}};
    must_ok(evn_shared_open(&s, c, &shape));
    return s;
}

/* ---- where it is ---- */

static size_t bytes_of(int rank) { return rank % 3 == 2 ? 0 : (size_t)(1 + rank) * 5000; }

static void parts(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    for (int again = 0; again < 3; again++) {
        OWN(shared) *s = shared_of(c, bytes_of(me), again, per_node);
        unsigned char *mine = evn_shared_memory(s);
        must(!!mine == !!bytes_of(me) && mine == evn_shared_pointer(s, me));
        must((uintptr_t)mine % (uintptr_t)sysconf(_SC_PAGESIZE) == 0);
        for (int r = 0; r < size; r++) {
            must(evn_shared_bytes(s, r) == bytes_of(r));
            if (per_node && r / per_node != me / per_node) must(!evn_shared_pointer(s, r));
        }
        must(!evn_shared_pointer(s, size) && !evn_shared_pointer(s, -1));
        must(!evn_shared_bytes(s, size) && !evn_shared_bytes(s, -1));
        /* zeros, each time */
        for (size_t i = 0; i < bytes_of(me); i++) must(mine[i] == 0);
        if (mine) memset(mine, 0xa5, bytes_of(me));
        must_ok(evn_shared_barrier(s));
        /* a neighbour's is its own memory */
        for (int r = 0; r < size; r++) {
            const unsigned char *theirs = evn_shared_pointer(s, r);
            if (theirs) must(theirs[0] == 0xa5 && theirs[bytes_of(r) - 1] == 0xa5);
        }
    }
    evn_shared_close(NULL);
}

/* Two at once do not mix. */
static void two(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c), next = (me + 1) % size;
    const int previous = (me + size - 1) % size;
    OWN(shared) *a = shared_of(c, 8, 1, per_node), *b = shared_of(c, 8, 1, per_node);
    const uint64_t one = 100 + (uint64_t)me, other = 200 + (uint64_t)me;
    must_ok(evn_shared_put_signal(b, next, 0, &other, 8, 0));
    must_ok(evn_shared_wait(b, previous, 0, 1));
    unsigned long long raised = 7;
    must_ok(evn_shared_raised(a, previous, 0, &raised));
    must(raised == 0 && *(uint64_t *)evn_shared_memory(a) == 0);
    must(*(uint64_t *)evn_shared_memory(b) == 200 + (uint64_t)previous);
    must_ok(evn_shared_barrier(b)); /* or the previous one's signal might come first */
    must_ok(evn_shared_put_signal(a, next, 0, &one, 8, 0));
    must_ok(evn_shared_wait(a, previous, 0, 1));
    must(*(uint64_t *)evn_shared_memory(a) == 100 + (uint64_t)previous);
}

/* ---- puts and barriers ---- */

enum { BLOCK = 400 };

static void everybody(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, (size_t)size * BLOCK * 8, 0, per_node);
    uint64_t *block = malloc((size_t)size * BLOCK * 8), *mine = evn_shared_memory(s);
    must(block);
    for (long round = 0; round < 20; round++) {
        for (int i = 1; i <= size; i++) {
            const int to = (me + i) % size;
            fill(block + to * BLOCK, BLOCK, seed_of(me, to, round));
            must_ok(evn_shared_put(s, to, (size_t)me * BLOCK * 8, block + to * BLOCK, BLOCK * 8));
        }
        must_ok(evn_shared_barrier(s));
        for (int r = 0; r < size; r++)
            must(is_filled(mine + r * BLOCK, BLOCK, seed_of(r, me, round)));
        must_ok(evn_shared_barrier(s)); /* or the next round's would come before */
    }
    free(block);
}

/* After a flush others may be told in any way. */
static void flushed(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, (size_t)size * 8, 0, per_node);
    for (int round = 1; round < 10; round++) {
        uint64_t said = (uint64_t)(1000 * round + me);
        for (int r = 0; r < size; r++) {
            must_ok(evn_shared_put(s, r, (size_t)me * 8, &said, 8));
            if (round % 2) must_ok(evn_shared_flush(s, r));
        }
        if (round % 2 == 0) must_ok(evn_shared_flush(s, -1));
        said = 0; /* it is this rank's again */
        must_ok(evn_cluster_agree(c, EVN_OK));
        for (int r = 0; r < size; r++)
            must(((uint64_t *)evn_shared_memory(s))[r] == (uint64_t)(1000 * round + r));
        must_ok(evn_cluster_agree(c, EVN_OK));
    }
}

/* A rank reads from all what they have written, while others read from it, and what it has put
 * itself; all gets are under way together. */
static void gets(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, (size_t)(2 * BLOCK + size) * 8, 0, per_node);
    uint64_t *got = malloc((size_t)size * (BLOCK + 2) * 8), *mine = evn_shared_memory(s);
    must(got);
    for (long round = 0; round < 10; round++) {
        fill(mine, 2 * BLOCK, seed_of(me, me, round));
        must_ok(evn_shared_barrier(s));
        for (int i = 0; i < size; i++) {
            const int from = (me + i) % size;
            const size_t at = seed_of(me, from, round) % BLOCK;
            uint64_t *to = got + i * (BLOCK + 2);
            to[BLOCK + 1] = mixed((uint64_t)(1000 * round + i));
            must_ok(evn_shared_get(s, from, at * 8, to, BLOCK * 8));
            must_ok(evn_shared_put(s, from, (size_t)(2 * BLOCK + me) * 8, &to[BLOCK + 1], 8));
            must_ok(evn_shared_get(s, from, (size_t)(2 * BLOCK + me) * 8, &to[BLOCK], 8));
            if (round % 2) must_ok(evn_shared_flush(s, from));
        }
        if (round % 2 == 0) must_ok(evn_shared_flush(s, -1));
        for (int i = 0; i < size; i++) {
            const int from = (me + i) % size;
            const uint64_t *to = got + i * (BLOCK + 2);
            const size_t at = seed_of(me, from, round) % BLOCK;
            must(is_filled(to, BLOCK, seed_of(from, from, round) + at));
            must(to[BLOCK] == to[BLOCK + 1]);
        }
        must_ok(evn_shared_barrier(s)); /* or one would write what another reads */
    }
    evn_shared_counts n;
    evn_shared_count(s, &n);
    must(n.gets == 20 * (size - 1) && n.got_bytes == 10.0 * (size - 1) * 8 * (BLOCK + 1));
    free(got);
}

/* A column of each rank's square goes to a row of all others' squares, and into a column. */
static void blocks(evn_cluster *c, int per_node) {
    enum { SIDE = 7 };
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, (size_t)(size * SIDE * SIDE) * 8, 0, per_node);
    uint64_t square[SIDE * SIDE], *mine = evn_shared_memory(s);
    for (int turned = 0; turned < 2; turned++) {
        const evn_shared_blocks column = {8, SIDE, SIDE * 8, turned ? 8 : SIDE * 8};
        for (int r = 0; r < size; r++) {
            fill(square, SIDE * SIDE, seed_of(me, r, turned));
            must_ok(evn_shared_put_blocks(s, r, (size_t)me * SIDE * SIDE * 8, square + 3, &column));
            must_ok(evn_shared_flush(s, r));
        }
        must_ok(evn_shared_barrier(s));
        for (int r = 0; r < size; r++) {
            fill(square, SIDE * SIDE, seed_of(r, me, turned));
            for (int i = 0; i < SIDE; i++)
                must(mine[r * SIDE * SIDE + (turned ? i : i * SIDE)] == square[i * SIDE + 3]);
        }
        must_ok(evn_shared_barrier(s));
    }
    evn_shared_counts n;
    evn_shared_count(s, &n);
    must(n.puts == 2 * SIDE * (size - 1));
    const evn_shared_blocks bad[] = {{8, -1, 8, 8},
                                     {8, 2, 8, 4},
                                     {8, size * SIDE * SIDE + 1, 8, 8},
                                     {8, 3, 8, SIZE_MAX / 2},
                                     {8, 3, SIZE_MAX / 2, 8}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        must_give(evn_shared_put_blocks(s, 0, 0, square, &bad[i]), EVN_USAGE);
    must_give(evn_shared_put_blocks(s, 0, 0, square, NULL), EVN_USAGE);
    must_give(evn_shared_put_blocks(s, size, 0, square, &(evn_shared_blocks){8, 1, 8, 8}),
              EVN_USAGE);
    must_give(evn_shared_put_blocks(s, 0, 0, NULL, &(evn_shared_blocks){8, 1, 8, 8}), EVN_USAGE);
    must_give(evn_shared_put_blocks(NULL, 0, 0, square, &(evn_shared_blocks){8, 1, 8, 8}),
              EVN_USAGE);
    must_ok(evn_shared_put_blocks(s, 0, 0, NULL, &(evn_shared_blocks){8, 0, 8, 8}));
}

/* From each rank's device to all others' parts, and from there into devices. */
/* Each element is on one rank, at its own place, and this rank's are numbered as they lie; by a
 * plain walk over blocks. */
static void arrays(evn_cluster *c, int per_node) {
    static const evn_shared_array of[] = {
        {1, 0, 8}, {1000, 0, 8}, {1000, 7, 8}, {37, 1, 24}, {5, 90, 8}};
    const int rank = evn_cluster_rank(c), size = evn_cluster_size(c);
    for (size_t a = 0; a < sizeof of / sizeof *of; a++) {
        OWN(shared) *s;
        must_ok(evn_shared_open(&s, c, &(evn_shared_shape){.per_node = per_node, .array = of[a]}));
        const long long block = of[a].block ? of[a].block : (of[a].count + size - 1) / size;
        size_t at[64] = {0};
        long long own = 0, left = block;
        int owner = 0;
        for (long long i = 0; i < of[a].count; i++, left--) {
            if (!left) owner = (owner + 1) % size;
            if (!left) left = block;
            size_t place;
            must(evn_shared_owner(s, i, &place) == owner && place == at[owner]);
            must(evn_shared_is_here(s, i) == (owner == rank));
            if (owner == rank) must(evn_shared_element(s, own++) == i);
            at[owner] += of[a].bytes;
        }
        for (int r = 0; r < size; r++) must(evn_shared_bytes(s, r) == at[r]);
        must(evn_shared_owner(s, of[a].count, NULL) == -1);
        must(evn_shared_is_here(s, -1) == -1);
        must(evn_shared_element(s, own) == -1);
    }
}

static void devices(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    const size_t bytes = BLOCK * 8;
    OWN(shared) *s = shared_of(c, (size_t)size * bytes, 0, per_node);
    OWN(device) *device;
    OWN(queue) *q;
    OWN(buffer) *b;
    uint64_t data[BLOCK];
    must_ok(evn_device_open(&device, "emulated", 0));
    must_ok(evn_queue_open(&q, device));
    must_ok(evn_buffer_open(&b, device, 2 * bytes));
    for (int r = 0; r < size; r++) {
        fill(data, BLOCK, seed_of(me, r, 0));
        must_ok(evn_copy_to_device(q, b, bytes, data, bytes));
        must_ok(evn_shared_put_device(s, r, (size_t)me * bytes, q, b, bytes, bytes));
    }
    must_ok(evn_shared_barrier(s));
    for (int r = 0; r < size; r++) {
        must_ok(evn_shared_get_device(s, r, (size_t)me * bytes, q, b, 0, bytes));
        must_ok(evn_copy_to_host(q, data, b, 0, bytes));
        must_ok(evn_queue_finish(q));
        must(is_filled(data, BLOCK, seed_of(me, r, 0)));
        must(is_filled((uint64_t *)evn_shared_memory(s) + r * BLOCK, BLOCK, seed_of(r, me, 0)));
    }
    evn_shared_counts n;
    evn_shared_count(s, &n);
    must(n.puts == size - 1 && n.bytes == (double)bytes * (size - 1) && n.gets == size - 1);
    must_give(evn_shared_put_device(s, 0, 0, NULL, b, 0, 8), EVN_USAGE);
    must_give(evn_shared_put_device(s, 0, 0, q, NULL, 0, 8), EVN_USAGE);
    must_give(evn_shared_put_device(s, size, 0, q, b, 0, 8), EVN_USAGE);
    must_give(evn_shared_put_device(s, 0, 0, q, b, 2 * bytes, 8), EVN_USAGE);
    must_give(evn_shared_put_device(NULL, 0, 0, q, b, 0, 8), EVN_USAGE);
    must_give(evn_shared_get_device(s, 0, 0, NULL, b, 0, 8), EVN_USAGE);
    must_give(evn_shared_get_device(s, 0, 0, q, NULL, 0, 8), EVN_USAGE);
    must_give(evn_shared_get_device(s, 0, (size_t)size * bytes, q, b, 0, 8), EVN_USAGE);
    must_give(evn_shared_get_device(s, 0, 0, q, b, 2 * bytes, 8), EVN_USAGE);
    must_give(evn_shared_get_device(NULL, 0, 0, q, b, 0, 8), EVN_USAGE);
    must_ok(evn_shared_barrier(s));
}

/* ---- atomic updates and locks ---- */

/* Each value is had by one rank once; a compare-and-swap that fails changes nothing. */
static void atomics(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c), home = size - 1;
    const int times = per_node ? 20 : 20000, all = size * times;
    OWN(shared) *s = shared_of(c, 32 + (size_t)all * 8, 0, per_node);
    for (int i = 0; i < times; i++) {
        int64_t ticket = 1, swap[2] = {0};
        double half = 0.5;
        must_ok(evn_shared_atomic(s, home, 0, EVN_ADD_INT64, &ticket));
        must(ticket >= 0 && ticket < all);
        int64_t taken = 1 + me;
        must_ok(evn_shared_atomic(s, home, 32 + (size_t)ticket * 8, EVN_SWAP_INT64, &taken));
        must(taken == 0);
        must_ok(evn_shared_atomic(s, home, 8, EVN_ADD_DOUBLE, &half));
        must(half == 0.5 * (int)(2 * half) && half < 0.5 * all);
        do {
            swap[1] = swap[0];
            swap[0] += 3;
            must_ok(evn_shared_atomic(s, home, 16, EVN_COMPARE_SWAP_INT64, swap));
        } while (swap[0] != swap[1]);
    }
    must_ok(evn_shared_barrier(s));
    const int64_t *mine = evn_shared_memory(s);
    for (int i = 0; me == home && i < all; i++) must(mine[4 + i] >= 1 && mine[4 + i] <= size);
    must(mine[0] == (me == home) * all && mine[2] == 3 * mine[0]);
    must(((const double *)mine)[1] == 0.5 * (double)mine[0]);
    int64_t value[2] = {1, 7};
    must_give(evn_shared_atomic(s, 0, 4, EVN_ADD_INT64, value), EVN_USAGE);
    must_give(evn_shared_atomic(s, 0, 32 + (size_t)all * 8, EVN_ADD_INT64, value), EVN_USAGE);
    must_give(evn_shared_atomic(s, size, 0, EVN_ADD_INT64, value), EVN_USAGE);
    must_give(evn_shared_atomic(s, 0, 0, (evn_atomic)4, value), EVN_USAGE);
    must_give(evn_shared_atomic(s, 0, 0, (evn_atomic)-1, value), EVN_USAGE);
    must_give(evn_shared_atomic(s, 0, 0, EVN_ADD_INT64, NULL), EVN_USAGE);
}

struct locked {
    evn_shared *s;
    int home, lock, times;
};

/* Two numbers that only a lock keeps equal. */
static void *count_locked(void *arg) {
    const struct locked *l = arg;
    for (int i = 0; i < l->times; i++) {
        uint64_t both[2];
        must_ok(evn_shared_lock(l->s, l->lock));
        must_give(evn_shared_lock(l->s, l->lock), EVN_USAGE);
        must_ok(evn_shared_get(l->s, l->home, (size_t)l->lock * 16, both, sizeof both));
        must_ok(evn_shared_flush(l->s, l->home));
        must(both[0] == both[1]);
        sched_yield();
        for (size_t k = 0; k < 2; k++) {
            both[k]++;
            must_ok(evn_shared_put(l->s, l->home, (size_t)l->lock * 16 + 8 * k, &both[k], 8));
        }
        must_ok(evn_shared_unlock(l->s, l->lock));
    }
    return NULL;
}

static void locks(evn_cluster *c, int per_node) {
    enum { TIMES = 10 };
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, LOCKS * 16, 1, per_node);
    struct locked of[2 * LOCKS];
    pthread_t id[2 * LOCKS];
    for (int i = 0; i < 2 * LOCKS; i++) {
        of[i] = (struct locked){s, (i % LOCKS + 1) % size, i % LOCKS, TIMES};
        must(!pthread_create(&id[i], NULL, count_locked, &of[i]));
    }
    for (int i = 0; i < 2 * LOCKS; i++) must(!pthread_join(id[i], NULL));
    must_ok(evn_shared_barrier(s));
    const uint64_t *mine = evn_shared_memory(s);
    for (int l = 0; l < LOCKS; l++)
        must(mine[2 * l] == (me == (l + 1) % size ? (uint64_t)(2 * size * TIMES) : 0));
    must_give(evn_shared_unlock(s, 0), EVN_USAGE);
    for (int bad = -1; bad <= LOCKS; bad += LOCKS + 1) {
        must_give(evn_shared_lock(s, bad), EVN_USAGE);
        must_give(evn_shared_unlock(s, bad), EVN_USAGE);
    }
}

/* ---- signals ---- */

enum { DATA, ROOM, RING_MAX = 8192 };

/* Round a ring, of random lengths: what has been put is there when its signal is. Two rooms, and
 * who has read one says so. */
static void ring(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    const int to = (me + 1) % size, from = (me + size - 1) % size;
    OWN(shared) *s = shared_of(c, 2 * RING_MAX * 8, 2, per_node);
    uint64_t *out = malloc(RING_MAX * 8), *in = evn_shared_memory(s);
    must(out);
    for (long round = 1; round <= 300; round++) {
        const size_t room = (size_t)(round % 2) * RING_MAX;
        const size_t words = seed_of(me, to, round) % (round % 8 ? 64 : RING_MAX);
        fill(out, words, seed_of(me, to, round));
        if (round > 2) must_ok(evn_shared_wait(s, to, ROOM, (unsigned long long)round - 2));
        must_ok(evn_shared_put_signal(s, to, room * 8, out, words * 8, DATA));
        must_ok(evn_shared_wait(s, from, DATA, (unsigned long long)round));
        const uint64_t seed = seed_of(from, me, round);
        must(is_filled(in + room, seed % (round % 8 ? 64 : RING_MAX), seed));
        must_ok(evn_shared_raise(s, from, ROOM));
    }
    free(out);
}

/* Short ones as fast as they go: a signal that is before its data is found here. Ranks beyond an
 * even number look on. */
static void order(evn_cluster *c, int per_node) {
    enum { WORDS = 24, ROUNDS = 4000 };
    const int me = evn_cluster_rank(c), peer = me ^ 1;
    OWN(shared) *s = shared_of(c, WORDS * 8, 1, per_node);
    volatile uint64_t *in = evn_shared_memory(s);
    uint64_t out[WORDS];
    const int rounds = evn_shared_pointer(s, peer) ? ROUNDS : ROUNDS / 20;
    for (int round = 1; peer < evn_cluster_size(c) && round <= rounds; round++) {
        if (me % 2) must_ok(evn_shared_wait(s, peer, 0, (unsigned long long)round));
        if (me % 2)
            for (int i = WORDS; i-- > 0;) must(in[i] == (uint64_t)(round * WORDS + i));
        for (int i = 0; i < WORDS; i++) out[i] = (uint64_t)(round * WORDS + i);
        must_ok(evn_shared_put_signal(s, peer, 0, out, sizeof out, 0));
        if (me % 2 == 0) must_ok(evn_shared_wait(s, peer, 0, (unsigned long long)round));
        if (me % 2 == 0)
            for (int i = WORDS; i-- > 0;) must(in[i] == (uint64_t)(round * WORDS + i));
    }
}

/* What a neighbour's processor writes by itself is there with a signal, too. */
static void direct(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    const int to = (me + 1) % size, from = (me + size - 1) % size;
    OWN(shared) *s = shared_of(c, 1000 * 8, 2, per_node);
    uint64_t *theirs = evn_shared_pointer(s, to);
    const int is_near = evn_shared_pointer(s, from) != NULL;
    for (long round = 1; round <= 200; round++) {
        if (theirs) {
            fill(theirs, 1000, seed_of(me, to, round));
            must_ok(evn_shared_raise(s, to, 0));
        }
        if (is_near) {
            must_ok(evn_shared_wait(s, from, 0, (unsigned long long)round));
            must(is_filled(evn_shared_memory(s), 1000, seed_of(from, me, round)));
            must_ok(evn_shared_raise(s, from, 1));
        }
        if (theirs) must_ok(evn_shared_wait(s, to, 1, (unsigned long long)round));
    }
}

/* Rank 0 serves the others as they come, each three times. */
static void any(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, 0, 2, per_node);
    HEAP evn_shared_signal *of = calloc((size_t)size, sizeof *of);
    int left = size - 1, which = 0;
    must(of);
    of[0].from = -1;
    for (int r = 1; r < size; r++) of[r] = (evn_shared_signal){r, 1, 1};
    for (int i = 0; me && i < 3; i++) must_ok(evn_shared_raise(s, 0, 1));
    while (!me && left) {
        must_ok(evn_shared_wait_any(s, of, size, &which));
        must(which > 0 && which < size);
        unsigned long long raised;
        must_ok(evn_shared_raised(s, which, 1, &raised));
        must(raised >= of[which].value && raised <= 3);
        must_ok(evn_shared_raise(s, which, 0));
        if (++of[which].value <= 3) continue;
        of[which].from = -1;
        left--;
    }
    if (me) must_ok(evn_shared_wait(s, 0, 0, 3));
    if (!me) must_give(evn_shared_wait_any(s, of, size, &which), EVN_USAGE);
}

/* ---- reductions ---- */

static double value_of(int rank, int i, int round) {
    return ((rank + i) % 2 ? -1 : 1) * (1 + rank + 0.1 * i) * pow(10, (rank * 7 + round) % 13);
}

static void reductions(evn_cluster *c, int per_node) {
    static const int counts[] = {0, 1, 31, 32, 33, 100};
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, 0, 0, per_node);
    for (int round = 0; round < 60; round++) {
        const int count = counts[round % 6];
        double value[100], sum[100], most[100];
        for (int i = 0; i < count; i++) {
            value[i] = sum[i] = most[i] = value_of(0, i, round);
            for (int r = 1; r < size; r++) {
                sum[i] += value_of(r, i, round);
                most[i] = fmax(most[i], value_of(r, i, round));
            }
            value[i] = value_of(me, i, round);
        }
        if ((round + me) % 5 == 0) usleep(200); /* some are late */
        const evn_reduction what = round % 4 == 3 ? EVN_MAX : EVN_SUM;
        must_ok(evn_shared_reduce(s, what, value, count));
        /* the bits of a loop over ranks */
        must(!memcmp(value, what == EVN_MAX ? most : sum, (size_t)count * sizeof *value));
    }
    double none = me == size - 1 ? NAN : 1;
    must_ok(evn_shared_reduce(s, EVN_MAX, &none, 1));
    must(isnan(none));
}

/* Nobody leaves a barrier before all have come. */
static void barriers(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(shared) *s = shared_of(c, (size_t)size * 8, 0, per_node);
    const uint64_t *mine = evn_shared_memory(s);
    for (uint64_t round = 1; round <= 100; round++) {
        if (round % 10 == (uint64_t)me % 10) usleep(500);
        for (int r = 0; r < size; r++)
            must_ok(evn_shared_put(s, r, (size_t)me * 8, &round, sizeof round));
        must_ok(evn_shared_barrier(s));
        for (int r = 0; r < size; r++) must(mine[r] >= round && mine[r] <= round + 1);
    }
}

/* ---- counts ---- */

static void counts(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    evn_shared *s = shared_of(c, 4096, 1, per_node);
    char data[100] = {0};
    long long near_puts = 0, far_puts = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < 3; i++) {
            must_ok(evn_shared_put(s, r, (size_t)i, data, sizeof data));
            must_ok(evn_shared_put(s, r, 0, NULL, 0));
            must_ok(evn_shared_raise(s, r, 0));
            if (r != me && evn_shared_pointer(s, r)) near_puts++;
            if (!evn_shared_pointer(s, r)) far_puts++;
        }
    must_ok(evn_shared_barrier(s));
    evn_shared_counts n;
    evn_shared_count(s, &n);
    must(near_puts + far_puts == 3 * (size - 1));
    must(n.near_puts == near_puts && n.far_puts == far_puts && n.puts == near_puts + far_puts);
    must(n.near_bytes == 100.0 * (double)near_puts && n.far_bytes == 100.0 * (double)far_puts);
    must(n.bytes == n.near_bytes + n.far_bytes && n.signals == 3 * size);
    evn_shared_close(s);
}

/* ---- threads of one rank ---- */

struct thread {
    evn_shared *s;
    int me, size, number;
    pthread_t id;
};

enum { THREADS = 3, TURNS = 60, SLOT = 16 };

/* Each has a signal and a place of its own at every rank; while one waits others put. */
static void *turn(void *p) {
    struct thread *t = p;
    const uint64_t *mine = evn_shared_memory(t->s);
    const int to = (t->me + 1) % t->size, from = (t->me + t->size - 1) % t->size;
    for (int i = 1; i <= TURNS; i++) {
        uint64_t out[SLOT];
        fill(out, SLOT, seed_of(t->me, t->number, i));
        if (t->number == 1) usleep(50);
        must_ok(evn_shared_put_signal(t->s, to, (size_t)t->number * sizeof out, out, sizeof out,
                                      2 * t->number));
        must_ok(evn_shared_wait(t->s, from, 2 * t->number, (unsigned long long)i));
        must(is_filled(mine + t->number * SLOT, SLOT, seed_of(from, t->number, i)));
        must_ok(evn_shared_raise(t->s, from, 2 * t->number + 1));
        must_ok(evn_shared_wait(t->s, to, 2 * t->number + 1, (unsigned long long)i));
    }
    return NULL;
}

static void threads(evn_cluster *c, int per_node) {
    struct thread thread[THREADS];
    OWN(shared) *s = shared_of(c, THREADS * SLOT * 8, 2 * THREADS, per_node);
    for (int i = 0; i < THREADS; i++) {
        thread[i] = (struct thread){s, evn_cluster_rank(c), evn_cluster_size(c), i, 0};
        must(!pthread_create(&thread[i].id, NULL, turn, &thread[i]));
    }
    for (int i = 0; i < THREADS; i++) must(!pthread_join(thread[i].id, NULL));
}

/* Rank 0 computes. What a neighbour does to it is done meanwhile, without its help: it is told by a
 * word of memory. Who is on another node may have to wait for it, but nothing hangs. */
enum { DEAF = 1000 };

static void be_deaf(const evn_shared *s, uint64_t *through, int size) {
    for (const double begin = evn_now(); evn_now() - begin < 0.5;) {
        int near = 0;
        for (int r = 1; r < size; r++) near += evn_shared_pointer(s, r) != NULL;
        if (near == size - 1) break;
        usleep(1000);
    }
    for (int r = 1; r < size; r++)
        for (const double begin = evn_now();
             evn_shared_pointer(s, r) && !__atomic_load_n(&through[r], __ATOMIC_ACQUIRE);) {
            must(evn_now() - begin < 60);
            usleep(100);
        }
}

static void deaf(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    const size_t blocks = (size_t)size * DEAF * 8;
    OWN(shared) *s = shared_of(c, blocks + (size_t)size * 8, 1, per_node);
    char *first = evn_shared_pointer(s, 0);
    uint64_t data[DEAF], *through = first ? (uint64_t *)(first + blocks) : NULL;
    must_ok(evn_shared_barrier(s));
    if (!me) {
        be_deaf(s, through, size);
        for (int r = 1; r < size; r++) {
            must_ok(evn_shared_wait(s, r, 0, 1));
            must(is_filled((uint64_t *)evn_shared_memory(s) + r * DEAF, DEAF, seed_of(r, 0, 1)));
        }
    } else {
        fill(data, DEAF, seed_of(me, 0, 1));
        must_ok(evn_shared_put(s, 0, (size_t)me * sizeof data, data, sizeof data));
        must_ok(evn_shared_flush(s, 0));
        must_ok(evn_shared_raise(s, 0, 0));
        if (through) __atomic_store_n(&through[me], 1, __ATOMIC_RELEASE);
    }
    must_ok(evn_shared_barrier(s));
}

/* ---- what ends a wait ---- */

void shared_stopped(evn_cluster *c, int per_node, double hurry, int locks) {
    static volatile int stop;
    const int me = evn_cluster_rank(c);
    stop = 0;
    OWN(shared) *s = shared_of(c, 0, 1, per_node);
    evn_cluster_stop_on(c, &stop);
    if (locks && !me) must_ok(evn_shared_lock(s, 0));
    must_ok(evn_shared_barrier(s));
    stop = 1;
    const double begin = evn_now();
    if (!locks || me) {
        must_give(locks ? evn_shared_lock(s, 0) : evn_shared_wait(s, 0, 0, 1), EVN_STOPPED);
        must(evn_now() - begin >= 1.9 - hurry);
        must(strstr(evn_message(), locks ? "rank" : "rank 0"));
    }
    stop = 0;
    if (locks && me) must_give(evn_shared_lock(s, 1), EVN_SYSTEM);
}

void shared_dying(evn_cluster *c, int per_node, int locks) {
    const int last = evn_cluster_size(c) - 1;
    evn_shared *s = shared_of(c, 1 << 20, 1, per_node);
    if (locks && evn_cluster_rank(c) == last) must_ok(evn_shared_lock(s, 0));
    must_ok(evn_shared_barrier(s));
    if (evn_cluster_rank(c) == last) raise(SIGKILL);
    if (locks)
        evn_shared_lock(s, 0);
    else
        evn_shared_wait(s, last, 0, 1);
    must(!"a signal or lock of a rank that is dead");
}

/* ---- misuse ---- */

static void misuse(evn_cluster *c, int per_node) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    evn_shared *s = NULL, *none = NULL;
    char data[16] = {0};
    int which;
    double value = 1;
    unsigned long long raised;
    evn_shared_signal of = {0, 0, 0};
    must_give(evn_shared_open(NULL, c, &(evn_shared_shape){0}), EVN_USAGE);
    must_give(evn_shared_open(&none, NULL, &(evn_shared_shape){0}), EVN_USAGE);
    must_give(evn_shared_open(&none, c, NULL), EVN_USAGE);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){8, -1, 0, 0, {0}}), EVN_USAGE);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){8, 4097, 0, 0, {0}}), EVN_USAGE);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){8, 1, -1, 0, {0}}), EVN_USAGE);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){.locks = -1}), EVN_USAGE);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){.locks = 4097}), EVN_USAGE);
    const evn_shared_shape array[] = {{.array = {-1, 0, 8}},
                                      {.array = {9, -1, 8}},
                                      {.array = {9, 0, 0}},
                                      {.bytes = 8, .array = {9, 0, 8}},
                                      {.array = {9 + me, 0, 8}}};
    for (int k = 0; k < (size > 1 ? 5 : 4); k++)
        must_give(evn_shared_open(&none, c, &array[k]), EVN_USAGE);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){.array = {1LL << 60, 0, 8}}),
              EVN_MEMORY);
    if (size > 1) must_give(evn_shared_open(&none, c, &(evn_shared_shape){.locks = me}), EVN_USAGE);
    /* on one rank only: all know, and none has it */
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){8, me == size - 1 ? -1 : 1, 0, 0, {0}}),
              EVN_USAGE);
    must_give(
        evn_shared_open(&none, c,
                        &(evn_shared_shape){me == size - 1 ? (size_t)1 << 50 : 8, 1, 0, 0, {0}}),
        EVN_MEMORY);
    must_give(evn_shared_open(&none, c, &(evn_shared_shape){SIZE_MAX, 1, 0, 0, {0}}), EVN_MEMORY);
    if (size > 1)
        must_give(evn_shared_open(&none, c, &(evn_shared_shape){8, me ? 2 : 1, 0, 0, {0}}),
                  EVN_USAGE);
    must(!none);
    s = shared_of(c, 8, 1, per_node);
    for (int bad = -2; bad <= size; bad += size + 2) {
        must_give(evn_shared_put(s, bad, 0, data, 8), EVN_USAGE);
        must_give(evn_shared_get(s, bad, 0, data, 8), EVN_USAGE);
        must_give(evn_shared_put_signal(s, bad, 0, data, 8, 0), EVN_USAGE);
        must_give(evn_shared_raise(s, bad, 0), EVN_USAGE);
        must_give(evn_shared_flush(s, bad), EVN_USAGE);
        must_give(evn_shared_wait(s, bad, 0, 0), EVN_USAGE);
        must_give(evn_shared_raised(s, bad, 0, &raised), EVN_USAGE);
        of.from = bad;
        must_give(evn_shared_wait_any(s, &of, 1, &which), EVN_USAGE);
    }
    for (int r = 0; r < size; r++) {
        must_give(evn_shared_put(s, r, 0, data, 9), EVN_USAGE);
        must_give(evn_shared_put(s, r, 9, data, 0), EVN_USAGE);
        must_give(evn_shared_put(s, r, 8, data, 1), EVN_USAGE);
        must_give(evn_shared_put(s, r, 4, data, SIZE_MAX), EVN_USAGE);
        must_give(evn_shared_put(s, r, 0, NULL, 8), EVN_USAGE);
        must_ok(evn_shared_put(s, r, 8, NULL, 0));
        must_give(evn_shared_get(s, r, 0, data, 9), EVN_USAGE);
        must_give(evn_shared_get(s, r, 9, data, 0), EVN_USAGE);
        must_give(evn_shared_get(s, r, 4, data, SIZE_MAX), EVN_USAGE);
        must_give(evn_shared_get(s, r, 0, NULL, 8), EVN_USAGE);
        must_ok(evn_shared_get(s, r, 8, NULL, 0));
    }
    must_give(evn_shared_raise(s, 0, 1), EVN_USAGE);
    must_give(evn_shared_raise(s, 0, -1), EVN_USAGE);
    must_give(evn_shared_put_signal(s, 0, 0, data, 8, 1), EVN_USAGE);
    must_give(evn_shared_wait(s, 0, 1, 0), EVN_USAGE);
    must_give(evn_shared_raised(s, 0, 0, NULL), EVN_USAGE);
    must_give(evn_shared_wait_any(s, NULL, 1, &which), EVN_USAGE);
    must_give(evn_shared_wait_any(s, &of, 1, NULL), EVN_USAGE);
    must_give(evn_shared_wait_any(s, &of, 0, &which), EVN_USAGE);
    must_give(evn_shared_reduce(s, (evn_reduction)2, &value, 1), EVN_USAGE);
    must_give(evn_shared_reduce(s, EVN_SUM, NULL, 1), EVN_USAGE);
    must_give(evn_shared_reduce(s, EVN_SUM, &value, -1), EVN_USAGE);
    must(!evn_shared_memory(NULL) && !evn_shared_pointer(NULL, 0) && !evn_shared_bytes(NULL, 0));
    evn_shared_counts n = {.puts = 1};
    evn_shared_count(NULL, &n);
    must(n.puts == 0);
    evn_shared_count(s, NULL);
    evn_shared_poll(NULL);
    /* nothing was written, and nothing counted */
    evn_shared_count(s, &n);
    must(n.puts == 0 && n.bytes == 0 && n.signals == 0 && n.gets == 0);
    must_ok(evn_shared_barrier(s));
    must(*(uint64_t *)evn_shared_memory(s) == 0);
    evn_shared_close(s);
}

const struct shared_case shared_cases[] = {{"parts", parts},
                                           {"two", two},
                                           {"everybody", everybody},
                                           {"flushed", flushed},
                                           {"gets", gets},
                                           {"blocks", blocks},
                                           {"arrays", arrays},
                                           {"devices", devices},
                                           {"atomics", atomics},
                                           {"locks", locks},
                                           {"ring", ring},
                                           {"order", order},
                                           {"direct", direct},
                                           {"any", any},
                                           {"counts", counts},
                                           {"barriers", barriers},
                                           {"reductions", reductions},
                                           {"threads", threads},
                                           {"deaf", deaf},
                                           {"misuse", misuse},
                                           {NULL, NULL}};

void shared_run_all(evn_cluster *c) {
    for (const struct shared_case *k = shared_cases; k->name; k++)
        for (int per_node = 0; per_node <= 3; per_node++) {
            if (per_node >= 2 && evn_cluster_size(c) <= per_node) break; /* as it is */
            if (k->run == deaf && per_node > 1) continue;                /* half a second each */
            k->run(c, per_node);
        }
}
