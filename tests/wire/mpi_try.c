/* A rank of a group that a launcher of MPI has made, over the plug-in: what
 * tests/wire/mpi/test_mpi.py starts. usage: mpi_try [--plugin FILE] [--crowded] WHAT; exit status
 * 0: as it should be, 9: it is not, 2: no wire, with the message. */
#include "tdbem/solve/solve_mumps.h"
#include "wire/launcher.h"
#include <dlfcn.h>
#include <evener/clock.h>
#include <evener/plugin.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/suite.h"

enum { WRONG = 9 };

static int (*requests)(void); /* of MPI's that are outstanding */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) fail(__LINE__, #condition);                                              \
    } while (0)

static void fail(int line, const char *what) {
    fprintf(stderr, "mpi_try.c:%d: %s; the last message: %s\n", line, what, evn_message());
    fflush(NULL);
    _exit(WRONG);
}

/* The suite's random messages; of MPI's requests none is outstanding after them. */
static void try_random(struct member *m) {
    for (const struct wire_case *c = wire_cases; c->name; c++)
        if (!strcmp(c->name, "random messages")) c->run(m);
    for (double begin = evn_now(); requests() && evn_now() - begin < 10;) m->kind->poll(m->wire);
    MUST(!requests());
}

/* What is no use of channels is refused, and harms nothing. */
static void try_misuse(struct member *m) {
    const evn_wire_kind *k = m->kind;
    evn_channel *out, *in, *none;
    void *room;
    const void *data;
    size_t bytes;
    int here;
    MUST(k->channel_open(&none, m->wire, m->size, 1, 1, 8) == EVN_USAGE);
    MUST(k->channel_open(&none, m->wire, -1, 1, 1, 8) == EVN_USAGE);
    MUST(k->channel_open(&none, m->wire, 0, 32768, 1, 8) == EVN_USAGE);
    MUST(k->channel_open(&none, m->wire, 0, 1, 1, ((size_t)1 << 30) + 1) == EVN_USAGE);
    MUST(!none);
    MUST(!k->channel_open(&out, m->wire, m->me, 32767, 1, 8));
    MUST(!k->channel_open(&in, m->wire, m->me, 32767, 0, 8));
    MUST(k->send(out, 1) == EVN_USAGE && strstr(evn_message(), "without take()"));
    MUST(k->take(in, &room) == EVN_USAGE);
    MUST(k->expect(out) == EVN_USAGE);
    MUST(k->wait(in, &data, &bytes) == EVN_USAGE && strstr(evn_message(), "without expect()"));
    MUST(k->look(in, &here) == EVN_USAGE);
    k->release(in);
    MUST(!k->take(out, &room));
    MUST(k->send(out, 9) == EVN_USAGE && strstr(evn_message(), "larger"));
    memcpy(room, "message", 8);
    MUST(!k->send(out, 8));
    MUST(!k->expect(in) && !k->expect(in) && k->expect(in) == EVN_USAGE);
    MUST(!k->wait(in, &data, &bytes) && bytes == 8 && !strcmp(data, "message"));
    k->release(in);
    MUST(!k->take(out, &room) && !k->send(out, 0));
    MUST(!k->wait(in, &data, &bytes) && bytes == 0);
    k->release(in);
    k->channel_close(in);
    k->channel_close(out);
    evn_wire *second;
    MUST(k->open(&second, 4, NULL, &m->host) == EVN_USAGE && strstr(evn_message(), "mpirun -n 4"));
    MUST(k->open(&second, 0, "latency=1us", &m->host) == EVN_USAGE);
    MUST(!second);
}

/* What comes is larger than the receiver has room for: MPI's own words, and it stays a failure. A
 * small message between two ranks; Open MPI 4.1 says nothing of one to itself, and writes large
 * ones past the room before it says so. */
static void try_truncated(struct member *m) {
    evn_channel *out, *in;
    void *room;
    const void *data;
    size_t bytes;
    MUST(!m->kind->channel_open(&out, m->wire, (m->me + 1) % m->size, 1, 1, 100));
    MUST(!m->kind->channel_open(&in, m->wire, (m->me + m->size - 1) % m->size, 1, 0, 10));
    MUST(!m->kind->expect(in));
    MUST(!m->kind->take(out, &room) && !m->kind->send(out, 100));
    MUST(m->kind->wait(in, &data, &bytes) == EVN_SYSTEM);
    MUST(m->kind->wait(in, &data, &bytes) == EVN_SYSTEM);
    if (!m->me) printf("%s\n", evn_message());
    m->kind->channel_close(in);
    m->kind->channel_close(out);
}

/* Messages that nobody has received: how many a sender gets rid of before it waits, and gives up
 * since it is asked to end, two seconds later. All of them come. */
static int try_ahead(struct member *m, int tag, size_t max) {
    evn_channel *out, *in;
    void *room;
    const void *data;
    size_t bytes;
    int ahead = 0;
    evn_status status;
    MUST(!m->kind->channel_open(&out, m->wire, m->me, tag, 1, max));
    MUST(!m->kind->channel_open(&in, m->wire, m->me, tag, 0, max));
    m->stop = 1;
    const double begin = evn_now();
    while (!(status = m->kind->take(out, &room))) {
        *(double *)room = ahead++;
        MUST(!m->kind->send(out, max));
        MUST(ahead < 1000);
    }
    MUST(status == EVN_STOPPED && evn_now() - begin > 0.5);
    m->stop = 0;
    for (int i = 0; i < ahead; i++) {
        MUST(!m->kind->expect(in) && !m->kind->wait(in, &data, &bytes));
        MUST(bytes == max && *(const double *)data == i);
        m->kind->release(in);
    }
    m->kind->channel_close(in);
    m->kind->channel_close(out);
    return ahead;
}

static void try_third(struct member *m) {
    MUST(try_ahead(m, 1, 4 << 20) == 2);
    MUST(try_ahead(m, 2, 8) <= 18);
}

/* A message that never comes. */
static void wait_for_ever(struct member *m, int peer) {
    evn_channel *in;
    const void *data;
    size_t bytes;
    MUST(!m->kind->channel_open(&in, m->wire, peer, 7, 0, 8));
    MUST(!m->kind->expect(in));
    m->kind->wait(in, &data, &bytes);
    MUST(!"a message that nobody has sent");
}

/* The last rank is gone while the others wait for it. */
static void try_killed(struct member *m) {
    if (m->me < m->size - 1) wait_for_ever(m, m->size - 1);
    usleep(100000);
    raise(SIGKILL);
}

static void try_left(struct member *m) {
    if (m->me < m->size - 1) wait_for_ever(m, m->size - 1);
    exit(0);
}

/* MUMPS, whose library has an MPI_Comm_rank() of its own, and an MPI in one process. */
static void try_mumps(struct member *m) {
    static const evn_plugin plugin = {"solver", NULL, SOLVE_MUMPS_FILE, "evener_mumps_v1",
                                      SOLVE_MUMPS_VERSION};
    const void *functions;
    if (evn_plugin_open(&functions, NULL, &plugin, NULL)) {
        if (!m->me) printf("skipped: %s\n", evn_message());
        return;
    }
    const struct solve_mumps_plugin *p = functions;
    int row[] = {1, 2, 2}, column[] = {1, 1, 2};
    double entry[] = {4, 2, 5}, a[] = {2, 9}; /* 4 2, 2 5 times -1/2, 2 */
    struct solve_mumps *s;
    MUST(!p->open(&s, 2, 3, row, column, entry, evn_fail));
    try_random(m);
    MUST(!p->solve(s, a));
    MUST(a[0] > -0.5 - 1e-12 && a[0] < -0.5 + 1e-12 && a[1] > 2 - 1e-12 && a[1] < 2 + 1e-12);
    p->close(s);
    MUST(m->kind->rank(m->wire) == m->me && m->kind->size(m->wire) == m->size);
}

/* It knows that it cannot go on: its own status is the run's. */
static void try_refused(struct member *m) {
    if (m->me < m->size - 1) wait_for_ever(m, m->size - 1);
    exit(2);
}

/* A child of a rank leaves, and the rank goes on. */
static void try_forked(struct member *m) {
    fflush(NULL);
    int status;
    pid_t child = fork();
    if (!child) exit(0);
    MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    try_random(m);
}

static void try_aborted(struct member *m) {
    if (m->me < m->size - 1) wait_for_ever(m, m->size - 1);
    m->kind->abort(m->wire, 5);
}

/* Rank 0 closes the wire, and nobody has received its message: a large one, since small ones have
 * left. */
static void try_unreceived(struct member *m) {
    evn_channel *out;
    void *room;
    const size_t max = 4 << 20;
    MUST(!m->kind->channel_open(&out, m->wire, 0, 7, 1, max));
    if (!m->me) MUST(!m->kind->take(out, &room) && !m->kind->send(out, max));
    m->kind->channel_close(out);
}

/* Several ranks on one group: sizes and ranks are seen by all. */
static void try_open(struct member *m) {
    printf("rank %d of %d on %s\n", m->me, m->size, m->kind->name);
}

void ranks_fail(const char *file, int line, const char *what) {
    (void)file;
    fail(line, what);
}

static void try_suite(struct member *m) {
    for (const struct wire_case *c = wire_cases; c->name; c++) {
        suite_barrier(m);
        c->run(m);
    }
}

static const struct {
    const char *name;
    void (*run)(struct member *m);
} tries[] = {{"open", try_open},           {"random", try_random},   {"misuse", try_misuse},
             {"truncated", try_truncated}, {"third", try_third},     {"killed", try_killed},
             {"left", try_left},           {"mumps", try_mumps},     {"refused", try_refused},
             {"forked", try_forked},       {"aborted", try_aborted}, {"unreceived", try_unreceived},
             {"suite", try_suite}};

static int no_wire(void) {
    fprintf(stderr, "evener: %s\n", evn_message());
    return 2;
}

int main(int argc, char **argv) {
    static struct member m;
    const char *plugin = NULL, *what = "";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--plugin") && i + 1 < argc)
            plugin = argv[++i];
        else if (!strcmp(argv[i], "--crowded"))
            m.host.crowded = 1;
        else
            what = argv[i];
    }
    m.host.fail = evn_fail;
    m.host.stop = &m.stop;
    void (*job)(struct member *) = NULL;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (!strcmp(tries[i].name, what)) job = tries[i].run;
    MUST(job);
    void *library;
    if (wire_plugin_load(plugin, &m.kind, &library) || m.kind->open(&m.wire, 0, NULL, &m.host))
        return no_wire();
    m.me = m.kind->rank(m.wire);
    m.size = m.kind->size(m.wire);
    *(void **)&requests = dlsym(library, "evener_wire_requests");
    MUST(requests);
    int status = wire_plugin_check(m.kind, m.wire) ? no_wire() : 0;
    if (!status) job(&m);
    m.kind->close(m.wire);
    return status;
}
