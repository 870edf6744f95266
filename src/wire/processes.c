/* Processes: the kind of wire whose ranks are forked. */
#include "wire/processes.h"
#include "wire/arena.h"
#include "wire/supervisor.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int is_rank; /* this process is one already */

/* Threads of this process; 1 where the system does not say. */
static int threads(void) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    int count = 1;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    if (f) fclose(f);
    return count;
}

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
    const int have = threads();
    if (have > 1)
        return host->fail(EVN_USAGE,
                          "processes: this process has %d threads already, which would not be in "
                          "those it forks; open the cluster first of all, before OpenMP regions, "
                          "units and devices",
                          have);
    return EVN_OK;
}

/* In the child: ends with its parent, whose death may have come before it could say so. */
static void tie_to(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
}

/* Returns in the ranks, with their number; on failure in the caller, with -1. */
static int fork_ranks(struct wire_arena *arena, int processes) {
    static pid_t pid[ARENA_RANKS_MAX];
    const pid_t parent = getpid();
    struct supervisor_signals signals;
    fflush(NULL); /* or each would write what is waiting */
    supervisor_take_signals(&signals);
    for (int r = 0; r < processes; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            tie_to(parent);
            supervisor_give_signals(&signals);
            return r;
        }
        if (pid[r] < 0) {
            const int error = errno;
            supervisor_end(pid, r);
            supervisor_give_signals(&signals);
            errno = error;
            return -1;
        }
    }
    supervisor_run(arena, pid, processes, &signals);
}

static evn_status processes_open(evn_wire **out, int processes, const char *options,
                                 const evn_wire_host *host) {
    *out = NULL;
    struct wire_arena_speed speed;
    struct wire_arena *arena;
    evn_status status = wire_arena_speed_read(&speed, "processes", options);
    if (!status) status = may_fork(processes, host);
    if (!status) status = wire_arena_open(&arena, processes, 1);
    if (status) return status;
    const int rank = fork_ranks(arena, processes);
    if (rank < 0) {
        wire_arena_close(arena);
        return host->fail(EVN_SYSTEM, "processes: %d cannot be made: %s", processes,
                          strerror(errno));
    }
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
