/* MPI as a wire: with wire_mpi_shared.c the source of every plug-in, compiled with an MPI's own
 * compiler wrapper. It needs <evener/wire.h> and MPI 3, and links nothing of the library. A channel
 * has two buffers at each end. Message n uses buffer n % 2, and its sender writes it when message n
 * - 2 has left. Small messages leave before the receiver asks for them, and MPI keeps them there:
 * so one in SYNCHRONOUS is sent in synchronous mode, which limits how far a sender can be ahead.
 * (With all of them it would cost 2.5 times at 8 bytes.) Waiting is MPI_Test in a loop, since
 * MPI_Wait() cannot be left when the process is asked to end. Nothing is cancelled: MPIs differ in
 * the effect. A channel that is closed while MPI still has a message of it is freed when MPI is
 * done, so closing is local. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* secure_getenv() */
#endif
#include "wire_mpi.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TAG_MAX = 32767, /* the least upper bound of tags in any MPI */
    SYNCHRONOUS = 16,
    LOST = 3, /* the status of a run that has lost a rank or a message */
    INTERRUPTED = 130
};
static const size_t bytes_max = (size_t)1 << 30; /* a count of MPI's is an int */

/* Seconds that waits go on once the run is to end; fewer under Open MPI's mpirun, which kills a
 * second after it has told ranks to end, so that there is time for the message. */
static const double patience = 2, hurry = 0.6;

/* One message: `posted` and not `done`, it belongs to MPI. */
struct message {
    MPI_Request request;
    int posted, done, code;
    size_t bytes;
};

struct evn_channel {
    evn_wire *wire;
    int peer, tag, out;
    size_t max;
    char *room[2];
    struct message message[2];
    /* messages so far: taken or expected; sent or released */
    unsigned long begun, ended;
    evn_channel *next; /* the next one that is closing */
};

/* Number of requests that MPI holds; for tests, which expect 0 at the end of a step. */
static int requests;
__attribute__((visibility("default"))) int evener_wire_requests(void);
int evener_wire_requests(void) { return requests; }

static char library[64] = "MPI"; /* name and version of the MPI */
const char *wire_mpi_library(void) { return library; }

/* "Open MPI v4.1.4, package: .." and "MPICH Version:      4.0.2\n.." as "Open MPI 4.1.4" and
 * "MPICH 4.0.2". */
__attribute__((constructor)) static void find_name(void) {
    enum { ANY = 16384 }; /* another MPI, which the process has, may answer */
    char text[ANY < MPI_MAX_LIBRARY_VERSION_STRING ? MPI_MAX_LIBRARY_VERSION_STRING : ANY] = "";
    int length;
    if (MPI_Get_library_version(text, &length)) return;
    text[strcspn(text, ",\r\n")] = '\0';
    size_t n = 0;
    for (char *state, *word = strtok_r(text, " \t", &state); word;
         word = strtok_r(NULL, " \t", &state)) {
        if (!strcmp(word, "Version:")) continue;
        if (word[0] == 'v' && word[1] >= '0' && word[1] <= '9') word++;
        n += (size_t)snprintf(library + n, sizeof library - n, "%s%s", n ? " " : "", word);
        if (n >= sizeof library) break;
    }
}

evn_status wire_mpi_say(const evn_wire *w, const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return w->host->fail(EVN_SYSTEM, "wire: %s: %s: %s", library, what, text);
}

static evn_status say_of(const evn_channel *m, int code) {
    char what[80];
    snprintf(what, sizeof what, "a message %s rank %d with tag %d", m->out ? "to" : "from", m->peer,
             m->tag);
    return wire_mpi_say(m->wire, what, code);
}

static evn_status misuse(const evn_channel *m, const char *what) {
    return m->wire->host->fail(EVN_USAGE, "wire: channel %s rank %d with tag %d: %s",
                               m->out ? "to" : "from", m->peer, m->tag, what);
}

/* 1 after MPI_Finalize(): a call of MPI would end the process. */
int wire_mpi_is_over(void) {
    int over = 0;
    MPI_Finalized(&over);
    return over;
}

evn_status wire_mpi_say_over(const evn_wire *w) {
    return w->host->fail(EVN_STOPPED,
                         "wire: %s: MPI_Finalize() was called while ranks are in use; sessions and "
                         "clusters over ranks are closed before it (evn_close(), "
                         "evn_cluster_close())",
                         library);
}

double wire_mpi_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the group ---- */

/* The MPI that this plug-in was compiled for: its constants are that one's, whichever library its
 * functions are found in. */
__attribute__((visibility("default"))) extern const char evener_wire_made_for[];
const char evener_wire_made_for[] =
#ifdef OPEN_MPI
    "Open MPI";
#elif defined MPICH_VERSION || defined MPICH
    "MPICH";
#else
    "MPI";
#endif

static pid_t inside; /* the process between MPI_Init and MPI_Finalize; 0: none */

/* MPICH's launcher ends with 0 if a rank exits with 0 before MPI_Finalize, so such an exit becomes
 * MPI_Abort(). Processes forked from this one may exit as they like. */
static void guard(int status, void *unused) {
    (void)unused;
    if (!status && inside && inside == getpid() && !wire_mpi_is_over())
        MPI_Abort(MPI_COMM_WORLD, LOST);
}

#ifndef __GLIBC__
static void guard_any(void) { guard(0, NULL); }
#    define on_exit(function, arg) atexit(guard_any)
#endif

/* The program's communicator, by its Fortran handle. */
static evn_status take_communicator(const evn_wire *w, int handle, MPI_Comm *from) {
    int is, inter;
    MPI_Initialized(&is);
    if (!is)
        return w->host->fail(EVN_USAGE,
                             "wire: %s: a communicator before MPI_Init_thread(), which the program "
                             "calls first",
                             library);
    if (wire_mpi_is_over())
        return w->host->fail(EVN_USAGE,
                             "wire: %s: a communicator after MPI_Finalize(), before which the "
                             "program opens and closes what uses it",
                             library);
    *from = MPI_Comm_f2c((MPI_Fint)handle);
    if (*from == MPI_COMM_NULL)
        return w->host->fail(
            EVN_USAGE,
            "wire: %s: communicator %d is none; expected MPI_Comm_c2f() of one, or "
            "Fortran's handle",
            library, handle);
    int code = MPI_Comm_test_inter(*from, &inter);
    if (code) return wire_mpi_say(w, "the program's communicator", code);
    if (!inter) return EVN_OK;
    return w->host->fail(EVN_USAGE,
                         "wire: %s: communicator %d is an inter-communicator; expected one of a "
                         "single group",
                         library, handle);
}

static evn_status start(evn_wire *w, const int *handle) {
    MPI_Comm from = MPI_COMM_WORLD;
    evn_status status = handle ? take_communicator(w, *handle, &from) : EVN_OK;
    if (status) return status;
    int is, was, level = MPI_THREAD_SINGLE, code;
    MPI_Initialized(&is);
    MPI_Finalized(&was);
    if (!is) wire_mpi_choose_engine();
    if (was)
        return w->host->fail(EVN_USAGE, "wire: %s has ended in this process, and begins only once",
                             library);
    code =
        is ? MPI_Query_thread(&level) : MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (code) return wire_mpi_say(w, "it cannot start", code);
    w->initialised = !is;
    if (!is) {
        inside = getpid();
        static int guarded;
        if (!guarded) on_exit(guard, NULL); /* registered after MPI's own, so that it runs first */
        guarded = 1;
    }
    if (level < MPI_THREAD_SERIALIZED)
        return w->host->fail(EVN_SYSTEM,
                             "wire: %s gives thread level %d, and MPI_THREAD_SERIALIZED (%d) is "
                             "needed: a program asks for it in MPI_Init_thread()",
                             library, level, MPI_THREAD_SERIALIZED);
    if (!is) { /* MPICH calls these when a request of ours has failed */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    code = MPI_Comm_dup(from, &w->comm);
    if (!code) code = MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    if (!code) code = MPI_Comm_rank(w->comm, &w->rank);
    if (!code) code = MPI_Comm_size(w->comm, &w->size);
    return code ? wire_mpi_say(w, "it cannot make a communicator", code) : EVN_OK;
}

static void finish(evn_wire *w) {
    const int over = wire_mpi_is_over();
    if (w->comm != MPI_COMM_NULL && !over) MPI_Comm_free(&w->comm);
    if (w->initialised) {
        inside = 0;
        if (!over) MPI_Finalize();
    }
    free(w);
}

static evn_status wire_open(evn_wire **out, int processes, const char *options,
                            const evn_wire_host *host) {
    *out = NULL;
    if (processes > 0)
        return host->fail(EVN_USAGE, "wire: %s makes no processes, its launcher does: mpirun -n %d",
                          library, processes);
    int handle, length = 0;
    const int given =
        options && sscanf(options, "comm=%d%n", &handle, &length) == 1 && !options[length];
    if (options && *options && !given)
        return host->fail(EVN_USAGE, "wire: %s has no options, and these are given: %s", library,
                          options);
    evn_wire *w = calloc(1, sizeof *w);
    if (!w) return host->fail(EVN_MEMORY, "wire: not enough memory");
    w->host = host;
    w->comm = MPI_COMM_NULL;
    const int is_open = !strcmp(evener_wire_made_for, "Open MPI");
    w->patience = is_open && secure_getenv("OMPI_COMM_WORLD_RANK") ? hurry : patience;
    evn_status status = start(w, given ? &handle : NULL);
    if (status) {
        finish(w);
        return status;
    }
    *out = w;
    return EVN_OK;
}

static _Noreturn void wire_abort(evn_wire *w, int status) {
    inside = 0;
    (void)w;
    if (!wire_mpi_is_over()) MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

static int wire_rank(const evn_wire *w) { return w->rank; }
static int wire_size(const evn_wire *w) { return w->size; }

/* ---- one message ---- */

/* *done: 1 if the message has been sent or received; asks MPI. A failed message stays failed. */
static evn_status test(const evn_channel *m, struct message *g, int *done) {
    *done = 0;
    if (g->posted && !g->done) {
        if (wire_mpi_is_over()) return wire_mpi_say_over(m->wire);
        MPI_Status status;
        int bytes = 0;
        g->code = MPI_Test(&g->request, &g->done, &status);
        if (!g->code && g->done && !m->out) g->code = MPI_Get_count(&status, MPI_BYTE, &bytes);
        if (g->code) g->done = 1; /* MPI has freed the request */
        g->bytes = (size_t)bytes;
        requests -= g->done;
        m->wire->requests -= g->done;
    }
    *done = !g->posted || g->done;
    return g->code ? say_of(m, g->code) : EVN_OK;
}

static int leaves(evn_wire *w) { return w->is_leaving = w->is_leaving && *w->host->stop; }

/* The error of a channel that is waited for after the run has stopped. */
static evn_status left(const evn_channel *m) {
    return m->wire->host->fail(EVN_STOPPED,
                               "ended from outside (a rank has died, or the run was interrupted), "
                               "and nothing went %s rank %d",
                               m->out ? "to" : "on from", m->peer);
}

/* Waits for a message, but not for long once the run is to end. */
static evn_status await(evn_channel *m, struct message *g) {
    const evn_wire_host *host = m->wire->host;
    double since = 0;
    for (;;) {
        int done;
        evn_status status = test(m, g, &done);
        if (status || done) return status;
        if (host->crowded) sched_yield();
        if (!*host->stop) continue;
        if (!since) since = wire_mpi_now();
        if (!leaves(m->wire) && wire_mpi_now() - since < m->wire->patience) continue;
        m->wire->is_leaving = 1;
        return left(m);
    }
}

/* ---- channels ---- */

/* 1 if MPI is done with all messages of a channel, successfully or not. */
static int is_idle(evn_channel *m) {
    int idle = 1, done;
    for (int i = 0; i < 2; i++)
        if (test(m, &m->message[i], &done) == EVN_OK) idle &= done;
    return idle;
}

/* Frees closed channels that MPI is done with. */
static void sweep(evn_wire *w) {
    for (evn_channel **at = &w->closing; *at;) {
        evn_channel *m = *at;
        if (is_idle(m)) {
            *at = m->next;
            free(m->room[0]);
            free(m->room[1]);
            free(m);
        } else {
            at = &m->next;
        }
    }
}

static void channel_close(evn_channel *m) {
    if (!m) return;
    m->next = m->wire->closing;
    m->wire->closing = m;
    sweep(m->wire);
}

static evn_status channel_open(evn_channel **out_channel, evn_wire *w, int peer, int tag, int out,
                               size_t max) {
    *out_channel = NULL;
    sweep(w);
    if (peer < 0 || peer >= w->size)
        return w->host->fail(EVN_USAGE, "wire: there is no rank %d, there are %d", peer, w->size);
    if (tag < 0 || tag > TAG_MAX)
        return w->host->fail(EVN_USAGE, "wire: tag %d is not in 0 .. %d", tag, TAG_MAX);
    if (max > bytes_max)
        return w->host->fail(EVN_USAGE, "wire: messages of %zu bytes, at most %zu are possible",
                             max, bytes_max);
    const long page = sysconf(_SC_PAGESIZE);
    evn_channel *m = calloc(1, sizeof *m);
    int failed = !m;
    for (int i = 0; !failed && i < 2; i++) {
        void *room = NULL;
        failed = posix_memalign(&room, (size_t)page, max ? max : 1);
        m->room[i] = room;
    }
    if (failed) {
        if (m) free(m->room[0]);
        free(m);
        return w->host->fail(EVN_MEMORY, "wire: not enough memory for messages of %zu bytes", max);
    }
    m->wire = w;
    m->peer = peer;
    m->tag = tag;
    m->out = out;
    m->max = max;
    *out_channel = m;
    return EVN_OK;
}

static evn_status channel_take(evn_channel *m, void **room) {
    struct message *g = &m->message[m->ended % 2];
    *room = NULL;
    if (!m->out) return misuse(m, "take() is for the sender");
    if (m->begun == m->ended) {
        evn_status status = await(m, g);
        if (status) return status;
        *g = (struct message){0};
        m->begun++;
    }
    *room = m->room[m->ended % 2];
    return EVN_OK;
}

/* Gives a message to MPI. */
static evn_status post(evn_channel *m, struct message *g, int code) {
    if (code) return say_of(m, code);
    g->posted = 1;
    requests++;
    m->wire->requests++;
    return EVN_OK;
}

static evn_status channel_send(evn_channel *m, size_t bytes) {
    struct message *g = &m->message[m->ended % 2];
    if (!m->out || m->begun == m->ended) return misuse(m, "send() without take()");
    if (bytes > m->max) return misuse(m, "a message that is larger than its room");
    if (wire_mpi_is_over()) return wire_mpi_say_over(m->wire);
    int (*const give)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        m->ended % SYNCHRONOUS == SYNCHRONOUS - 1 ? MPI_Issend : MPI_Isend;
    evn_status status = post(m, g,
                             give(m->room[m->ended % 2], (int)bytes, MPI_BYTE, m->peer, m->tag,
                                  m->wire->comm, &g->request));
    if (!status) m->ended++;
    return status;
}

static evn_status channel_expect(evn_channel *m) {
    struct message *g = &m->message[m->begun % 2];
    if (m->out) return misuse(m, "expect() is for the receiver");
    if (leaves(m->wire)) return left(m);
    if (wire_mpi_is_over()) return wire_mpi_say_over(m->wire);
    if (m->begun - m->ended >= 2) return misuse(m, "three messages expected, and none released");
    *g = (struct message){0};
    evn_status status = post(m, g,
                             MPI_Irecv(m->room[m->begun % 2], (int)m->max, MPI_BYTE, m->peer,
                                       m->tag, m->wire->comm, &g->request));
    if (!status) m->begun++;
    return status;
}

static evn_status channel_look(evn_channel *m, int *here) {
    *here = 0;
    if (m->out || m->begun == m->ended) return misuse(m, "look() without expect()");
    return test(m, &m->message[m->ended % 2], here);
}

static evn_status channel_wait(evn_channel *m, const void **data, size_t *bytes) {
    struct message *g = &m->message[m->ended % 2];
    *data = NULL;
    *bytes = 0;
    if (m->out || m->begun == m->ended) return misuse(m, "wait() without expect()");
    evn_status status = await(m, g);
    if (status) return status;
    *data = m->room[m->ended % 2];
    *bytes = g->bytes;
    return EVN_OK;
}

static void channel_release(evn_channel *m) {
    if (!m->out && m->begun != m->ended && m->message[m->ended % 2].done) m->ended++;
}

/* ---- the wire's ---- */

static void wire_poll(evn_wire *w) {
    int here;
    if (wire_mpi_is_over()) return;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &here, MPI_STATUS_IGNORE);
    if (w->closing) sweep(w);
}

/* Ends the process without MPI_Finalize(), which is collective, when ranks disagree; the first rank
 * may still have to report. */
static _Noreturn void leave(evn_wire *w) {
    for (const double since = wire_mpi_now(); w->rank && wire_mpi_now() - since < patience;)
        usleep(10000);
    wire_abort(w, INTERRUPTED);
}

/* When all ranks are here, every message has been received; requests that are left never
 * complete. */
static void wire_close(evn_wire *w) {
    MPI_Request request;
    if (wire_mpi_is_over()) { /* no rank can be told; only memory is left */
        sweep(w);
        finish(w);
        return;
    }
    if (leaves(w)) leave(w);
    int here = MPI_Ibarrier(w->comm, &request) != MPI_SUCCESS;
    while (!here) {
        if (MPI_Test(&request, &here, MPI_STATUS_IGNORE)) break;
        sweep(w);
        if (!here && w->host->crowded) sched_yield();
    }
    for (const double since = wire_mpi_now(); w->requests && wire_mpi_now() - since < patience;) {
        sweep(w);
        if (w->host->crowded) sched_yield();
    }
    if (w->requests) { /* MPI_Finalize() might wait for ever */
        fprintf(stderr, "evener: %s: rank %d ends with %d messages on their way\n", library,
                w->rank, w->requests);
        wire_abort(w, LOST);
    }
    finish(w);
}

extern const evn_wire_kind evener_wire_v1;
__attribute__((visibility("default"))) const evn_wire_kind evener_wire_v1 = {
    .version = EVN_WIRE_VERSION,
    .name = library,
    .open = wire_open,
    .close = wire_close,
    .abort = wire_abort,
    .rank = wire_rank,
    .size = wire_size,
    .channel_open = channel_open,
    .channel_close = channel_close,
    .take = channel_take,
    .send = channel_send,
    .expect = channel_expect,
    .look = channel_look,
    .wait = channel_wait,
    .release = channel_release,
    .poll = wire_poll,
    .shared = &wire_mpi_shared,
};
