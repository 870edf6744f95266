/* Processes: the kind of wire whose ranks are forked. */
#include "wire/processes.h"
#include "wire/arena.h"
#include "wire/supervisor.h"
#include "wire/thread_owners.h"
#include <dlfcn.h>
#include <errno.h>
#include <evener/text.h>
#include <evener/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { RESTARTS = 3 }; /* most restarts of a run */

static int is_rank; /* 1: this process is a rank */
static int restarts;

int wire_processes_restarts(void) { return restarts; }

/* A child has none of its parent's threads, and what they worked for waits for them for ever: the
 * first OpenMP region of a child does, where its parent has had one. */
static evn_status may_fork(int processes, const evn_wire_host *host) {
    if (processes < 1 || processes > ARENA_RANKS_MAX)
        return host->fail(EVN_USAGE, "processes: %d: their number is 1 to %d", processes,
                          ARENA_RANKS_MAX);
    if (is_rank)
        return host->fail(EVN_USAGE,
                          "processes: this process is itself one of a run's; a program has one "
                          "cluster of processes in its life");
    char owners[900];
    const int have = threads_count();
    if (have > 1)
        return host->fail(EVN_USAGE,
                          "processes: this process has %d threads already, which would not be in "
                          "those it forks%s",
                          have, threads_owners(have, owners, sizeof owners));
    return EVN_OK;
}

/* In the child: makes it end with its parent, which may have ended already. */
static void tie_to(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
}

/* Writes what streams of C, gfortran's runtime and C++ have buffered, since each child would write
 * it again. C++'s stream is constructed, so that its first word is not 0, only in programs that
 * include <iostream>. */
static void flush_streams(void) {
    static const struct {
        const char *flush, *stream; /* NULL: all of them */
    } runtime[] = {{"_gfortran_flush_i4", NULL},
                   {"_ZNSo5flushEv", "_ZSt4cout"},
                   {"_ZNSo5flushEv", "_ZSt4clog"}};
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++) {
        void *call = dlsym(RTLD_DEFAULT, runtime[i].flush);
        void *stream = runtime[i].stream ? dlsym(RTLD_DEFAULT, runtime[i].stream) : NULL;
        void *(*flush)(void *);
        memcpy(&flush, &call, sizeof call);
        if (flush && (stream ? *(void **)stream != NULL : !runtime[i].stream)) flush(stream);
    }
    fflush(NULL);
}

/* Forks the ranks: returns in each with its number. In the caller -2; -1 with errno: they cannot be
 * made. */
static int fork_ranks(pid_t *pid, int processes, const struct supervisor_signals *signals) {
    const pid_t parent = getpid();
    flush_streams();
    for (int r = 0; r < processes; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            tie_to(parent);
            supervisor_give_signals(signals);
            return r;
        }
        if (pid[r] < 0) {
            const int error = errno;
            supervisor_end(pid, r);
            errno = error;
            return -1;
        }
    }
    return -2;
}

/* Reactions to the loss of a rank. */
enum on_loss { END, FEWER, SAME };

/* Takes the option restart=.. out of `options`. */
static evn_status take_restart(char *options, const char *whole, enum on_loss *on_loss,
                               const evn_wire_host *host) {
    static const char key[] = "restart=";
    char *at = options;
    *on_loss = END;
    while (*at && strncmp(at, key, sizeof key - 1) != 0) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    if (!*at) return EVN_OK;
    const size_t length = strcspn(at, ",");
    const char *value = at + sizeof key - 1;
    const size_t rest = length - (sizeof key - 1);
    if (rest == 5 && !strncmp(value, "fewer", rest))
        *on_loss = FEWER;
    else if (rest == 4 && !strncmp(value, "same", rest))
        *on_loss = SAME;
    else
        return host->fail(EVN_USAGE, "processes: \"%s\": expected restart=fewer or restart=same",
                          whole);
    memmove(at, at + length + (at[length] == ','), strlen(at + length + (at[length] == ',')) + 1);
    const size_t left = strlen(options);
    if (left && options[left - 1] == ',') options[left - 1] = 0;
    return EVN_OK;
}

/* Number of processes after the loss of one of `processes`; 0: the run ends. */
static int next_count(int processes, enum on_loss on_loss) {
    if (on_loss == END || restarts == RESTARTS) return 0;
    return on_loss == SAME ? processes : processes - 1;
}

/* Returns in the ranks, with their arena and number; where the first cannot be made, in the caller.
 */
static evn_status run_ranks(struct wire_arena **arena, int *rank, int processes,
                            enum on_loss on_loss, const evn_wire_host *host) {
    static pid_t pid[ARENA_RANKS_MAX];
    struct supervisor_signals signals;
    evn_status status = wire_arena_open(arena, processes, 1);
    supervisor_take_signals(&signals);
    while (!status) {
        *rank = fork_ranks(pid, processes, &signals);
        if (*rank >= 0) return EVN_OK;
        if (*rank == -1) {
            char why[700];
            status = host->fail(EVN_SYSTEM, "processes: %d cannot be made: %s", processes,
                                evn_limits_text(errno, why, sizeof why));
            wire_arena_close(*arena);
            break;
        }
        const int next = next_count(processes, on_loss);
        const int verdict = supervisor_run(*arena, pid, processes, next, &signals);
        /* streams and objects from before the fork are the ranks' to write and close */
        if (verdict != SUPERVISOR_GO_ON) _exit(verdict);
        wire_arena_close(*arena);
        processes = next;
        restarts++;
        status = wire_arena_open(arena, processes, 1);
    }
    if (restarts) {
        fprintf(stderr, "evener: %s\n", evn_message());
        _exit(3);
    }
    supervisor_give_signals(&signals);
    return status;
}

static evn_status processes_open(evn_wire **out, int processes, const char *options,
                                 const evn_wire_host *host) {
    *out = NULL;
    struct wire_arena_speed speed;
    struct wire_arena *arena;
    enum on_loss on_loss;
    int rank = -1;
    char *own = strdup(options ? options : "");
    if (!own) return host->fail(EVN_MEMORY, "processes: not enough memory");
    evn_status status = take_restart(own, options, &on_loss, host);
    if (!status) status = wire_arena_speed_read(&speed, "processes", own);
    free(own);
    if (!status) status = may_fork(processes, host);
    if (!status) status = run_ranks(&arena, &rank, processes, on_loss, host);
    if (status) return status;
    is_rank = 1;
    return wire_arena_join(out, arena, rank, "processes", &speed, host);
}

static void processes_close(evn_wire *wire) {
    struct wire_arena *arena = wire_arena_of(wire);
    wire_arena_leave(wire);
    wire_arena_close(arena);
}

const evn_wire_kind wire_processes = {.version = EVN_WIRE_VERSION,
                                      .name = "processes",
                                      .open = processes_open,
                                      .close = processes_close,
                                      ARENA_FUNCTIONS};
