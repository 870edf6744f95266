/* Wires of an arena: the suite for 1 to 8 ranks, processes and threads, crowded and not; what is
 * refused; memory given back; a rank that is lost; the emulated wire. Run: ctest -R '^wire$' */
#include "check.h"
#include "wire/arena.h"
#include "wire/kinds.h"
#include "wire/processes.h"
#include "wire/suite.h"
#include "wire/threads.h"
#include <dlfcn.h>
#include <omp.h>
#include <unistd.h>

/* Fewer under a race detector, which slows and sees them all in a few. */
static const int RANKS = THREAD_SANITIZER ? 4 : 8;

static void all_cases(struct member *m) {
    for (const struct wire_case *c = wire_cases; c->name; c++) {
        suite_barrier(m);
        c->run(m);
    }
}

/* All but the last, which takes its two seconds. */
static void quick_cases(struct member *m) {
    for (const struct wire_case *c = wire_cases; c[1].name; c++) {
        suite_barrier(m);
        c->run(m);
    }
}

TEST(processes) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    for (int n = 1; n <= RANKS; n++)
        assert_int_equal(
            ranks_of_wire(0, n, NULL, n > 2, n == 1 || n == 4 ? all_cases : quick_cases), 0);
}

TEST(threads) {
    for (int n = 1; n <= RANKS; n++)
        assert_int_equal(ranks_of_wire(1, n, NULL, n > 2, n == 3 ? all_cases : quick_cases), 0);
}

/* Who spins where cores are shared, and who sleeps where they are not, are right, too. */
TEST(crowded) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    for (int threads = 0; threads < 2; threads++) {
        assert_int_equal(ranks_of_wire(threads, 2, NULL, 1, quick_cases), 0);
        assert_int_equal(ranks_of_wire(threads, 4, NULL, 0, quick_cases), 0);
    }
}

/* ---- what is refused ---- */

static void refused_channel(struct member *m) {
    evn_channel *channel = NULL, *second = NULL;
    void *room;
    const evn_wire_kind *k = m->kind;
    must_give(k->channel_open(&channel, m->wire, 2, 1, 1, 8), EVN_USAGE);
    must_give(k->channel_open(&channel, m->wire, -1, 1, 1, 8), EVN_USAGE);
    must_give(k->channel_open(&channel, m->wire, 0, EVN_WIRE_TAG_MAX + 1, 1, 8), EVN_USAGE);
    must_give(k->channel_open(&channel, m->wire, 0, 1, 1, EVN_WIRE_BYTES_MAX + 1), EVN_USAGE);
    must(!channel);
    must_ok(k->channel_open(&channel, m->wire, m->me, 1, 1, 8));
    must_give(k->channel_open(&second, m->wire, m->me, 1, 1, 8), EVN_USAGE); /* open already */
    must_give(k->channel_open(&second, m->wire, m->me, 1, 0, 9), EVN_USAGE); /* another size */
    must_ok(k->channel_open(&second, m->wire, m->me, 1, 0, 8));
    must_give(k->send(channel, 1), EVN_USAGE); /* without a room */
    must_ok(k->take(channel, &room));
    must_give(k->send(channel, 9), EVN_USAGE);
    k->channel_close(second);
    k->channel_close(channel);
}

TEST(refused) {
    assert_int_equal(ranks_of_wire(1, 2, NULL, 0, refused_channel), 0);
    evn_wire *wire;
    volatile int stop = 0;
    const evn_wire_host host = {evn_fail, &stop, 0};
    assert_fails(wire_threads.open(&wire, 0, NULL, &host), EVN_USAGE, "no rank of a group");
    assert_fails(wire_processes.open(&wire, 0, NULL, &host), EVN_USAGE, "1 to 1024");
    assert_fails(wire_processes.open(&wire, 2, "latency=2", &host), EVN_USAGE, "latency=2");
    assert_fails(wire_processes.open(&wire, 2, "speed=2", &host), EVN_USAGE, "bandwidth");
    assert_fails(threads_run(0, NULL, NULL), EVN_USAGE, "1 to 1024");
}

TEST(choice) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    struct wire_choice choice;
    assert_ok(wire_choose(&choice, "alone"));
    assert_null(choice.kind);
    assert_ok(wire_choose(&choice, "auto"));
    assert_null(choice.kind);
    assert_ok(wire_choose(&choice, "processes:4,latency=20us"));
    assert_ptr_equal(choice.kind, &wire_processes);
    assert_int_equal(choice.processes, 4);
    assert_string_equal(choice.options, "latency=20us");
    static const char *const bad[] = {
        "",        "process:2",    "processes",    "processes:0",    "auto:1",
        "alone:x", "processes:2x", "processes:-1", "processes:1025", "mpi:",
        ":",       "processes2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(wire_choose(&choice, bad[i]), EVN_USAGE, "expected");
    char text[400] = "processes:2,";
    memset(text + strlen(text), 'x', sizeof text - strlen(text) - 1);
    text[sizeof text - 1] = 0;
    assert_fails(wire_choose(&choice, text), EVN_USAGE, "longer than");
}

/* Its threads would not be in the ranks, and OpenMP's first region there would wait for them. */
TEST(forks_first) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    pid_t pid = fork();
    if (pid == 0) {
        volatile int stop = 0, sum = 0;
        const evn_wire_host host = {evn_fail, &stop, 0};
        evn_wire *wire;
#pragma omp parallel num_threads(2)
#pragma omp atomic
        sum++;
        _exit(wire_processes.open(&wire, 2, NULL, &host) == EVN_USAGE &&
                      strstr(evn_message(), "OpenMP")
                  ? 0
                  : 1);
    }
    assert_ends_well(pid);
}

/* The message for threads of a library, in a child that has loaded it. */
static int refusal_of(const char *file, const char *says, const char *other, int further) {
    volatile int stop = 0;
    const evn_wire_host host = {evn_fail, &stop, 0};
    evn_wire *wire;
    if (!dlopen(file, RTLD_NOW | RTLD_LOCAL)) return 1;
    if (wire_processes.open(&wire, 2, NULL, &host) != EVN_USAGE) return 2;
    if (!strstr(evn_message(), "2 threads") || !strstr(evn_message(), says)) return 3;
    return !strstr(evn_message(), other) || !strstr(evn_message(), "OpenMP") != !further ? 4 : 0;
}

/* It names the library, or the thread, and the remedy that helps. */
TEST(threads_of_library) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    static const struct {
        const char *file, *says, *other;
        int further;
    } of[] = {{FAKES "libopenblas_says.so",
               "libopenblas_says.so has started threads as it was loaded", "OPENBLAS_NUM_THREADS=1",
               0},
              {FAKES "libopenblas_mute.so", "libopenblas_mute.so may have started threads",
               "of them \"someone's own\"", 1}};
    for (int i = 0; i < 2; i++) {
        const pid_t pid = fork();
        if (!pid) _exit(refusal_of(of[i].file, of[i].says, of[i].other, of[i].further));
        assert_ends_well(pid);
    }
}

/* ---- the arena's memory ---- */

/* Plans that change do not make the arena grow: after some rounds nothing new is given out, and
 * what is closed is given back. */
static void given_back(struct member *m) {
    size_t before, now, ever, settled = 0;
    suite_barrier(m);
    suite_barrier(m);
    wire_arena_use(wire_arena_of(m->wire), &before, &ever);
    suite_barrier(m);
    for (int round = 0; round < 60; round++) {
        evn_channel *channel[10];
        for (int i = 0; i < 10; i++)
            must_ok(m->kind->channel_open(&channel[i], m->wire, m->me, 20 + i, 1,
                                          (size_t)(100000 + 977 * ((round * 7 + i * 3) % 40))));
        wire_arena_use(wire_arena_of(m->wire), &now, &ever);
        must(now >= before + 10 * 2 * 100000);
        suite_barrier(m); /* all are open at once: the most is the same, whoever is late */
        for (int i = 0; i < 10; i++) {
            evn_channel *end;
            must_ok(m->kind->channel_open(&end, m->wire, m->me, 20 + i, 0,
                                          (size_t)(100000 + 977 * ((round * 7 + i * 3) % 40))));
            m->kind->channel_close(channel[i]);
            m->kind->channel_close(end);
        }
        suite_barrier(m);
        if (round == 45) wire_arena_use(wire_arena_of(m->wire), &now, &settled);
    }
    suite_barrier(m);
    wire_arena_use(wire_arena_of(m->wire), &now, &ever);
    must(ever == settled);
    suite_barrier(m);
}

TEST(given_back) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    assert_int_equal(ranks_of_wire(0, 3, NULL, 1, given_back), 0);
}

static void nothing_left(struct member *m) {
    size_t now, ever;
    quick_cases(m);
    wire_arena_use(wire_arena_of(m->wire), &now, &ever);
    must(now == 0 && ever > 0);
}

TEST(nothing_left) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    assert_int_equal(ranks_of_wire(0, 1, NULL, 0, nothing_left), 0);
}

/* ---- a rank that is lost ---- */

static void lost(struct member *m) {
    evn_channel *in;
    const void *data;
    size_t bytes;
    suite_barrier(m);
    if (m->me == 2) {
        usleep(20000); /* the others wait already, or not */
        wire_arena_lose(wire_arena_of(m->wire), 2);
        return;
    }
    must_ok(m->kind->channel_open(&in, m->wire, 2, 1, 0, 8));
    must_give(m->kind->wait(in, &data, &bytes), EVN_SYSTEM);
    must(strstr(evn_message(), "rank 2 has left"));
    m->kind->channel_close(in);
}

TEST(lost) { assert_int_equal(ranks_of_wire(1, 4, NULL, 1, lost), 0); }

/* ---- the emulated wire: never earlier than it says ---- */

enum { BYTES = 100000 };
static const double LATENCY = 2e-3, BANDWIDTH = 1e8;

static void slow_wire(struct member *m) {
    evn_channel *out, *in;
    const int peer = 1 - m->me;
    must_ok(m->kind->channel_open(&out, m->wire, peer, 1, 1, BYTES));
    must_ok(m->kind->channel_open(&in, m->wire, peer, 1, 0, BYTES));
    for (int round = 0; round < 10; round++) {
        /* two at once: the second one goes through the port after the first */
        for (int i = 0; i < 2; i++) {
            void *room;
            must_ok(m->kind->take(out, &room));
            *(double *)room = evn_now();
            must_ok(m->kind->send(out, BYTES));
        }
        double first = 0;
        for (int i = 0; i < 2; i++) {
            const void *data;
            size_t bytes;
            int here = 0;
            if (round % 2)
                while (!here) must_ok(m->kind->look(in, &here));
            must_ok(m->kind->wait(in, &data, &bytes));
            if (!i) first = *(const double *)data;
            must(evn_now() - first >= LATENCY + (i + 1) * BYTES / BANDWIDTH);
            m->kind->release(in);
        }
    }
    m->kind->channel_close(out);
    m->kind->channel_close(in);
}

TEST(slow_wire) {
    if (THREAD_SANITIZER) skip(); /* it sees no other process */
    for (int threads = 0; threads < 2; threads++)
        for (int crowded = 0; crowded < 2; crowded++)
            assert_int_equal(
                ranks_of_wire(threads, 2, "latency=2ms,bandwidth=100MB/s", crowded, slow_wire), 0);
    assert_int_equal(ranks_of_wire(0, 3, "latency=20us", 1, quick_cases), 0);
}

RUN_TESTS(NULL, NULL)
