/* Runs of bench tasks: a process each, since what a runtime does while it waits is fixed when a
 * process starts; and a process that competes. */
#pragma once

#include "bench/tasks_ways.h"
#include <sys/types.h>

/* A case: a step of `tasks` tasks of `turns` turns (suite/bench/peers/work.h). */
struct tasks_case {
    const char *units; /* of ours */
    int threads;       /* of the peers */
    int tasks;
    long turns;
};

/* So many steps one way. s a task. *wrong: it was ended after its time, or a peer has failed. 0, or
 * an exit status after a message. */
int tasks_run(const struct way *way, const struct tasks_case *of, int steps, double *wall,
              double *processor, int *wrong);

/* Turns of the generator in a second; 0, or an exit status after a message. */
int tasks_turns(double *turns);

/* Such a program of the command itself, which argv[0] names. */
int tasks_program(int argc, char **argv);

/* A process that computes on the second core that this one may use, or on the only one, until
 * competitor_end(); it ends with this process. -1: it cannot be started. */
pid_t competitor_begin(void);
void competitor_end(pid_t competitor);
