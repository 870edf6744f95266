/* Ways to run the tasks of bench tasks: programs with a mode and a setting each. */
#pragma once

enum { WAYS_MAX = 40, WAY_SAMPLES_MAX = 1000 };
enum { WAY_LATE = 1, WAY_FAILED };

struct way {
    char name[64];
    int ours;
    char program[4096];      /* the executable; "": the command itself */
    const char *built_in;    /* of the command itself: serial, openmp, evener */
    const char *mode;        /* its first argument */
    const char *variable[2]; /* of the environment, NAME and value; NULL: none */
    int steps;               /* of a sample */
    int wrong;               /* WAY_LATE, WAY_FAILED: it is not run again; 0: neither */
    double wall[WAY_SAMPLES_MAX], processor[WAY_SAMPLES_MAX]; /* s a task */
};

/* Fills the list: ours under three schedules, one thread, and the peers that are here. `mode` is
 * the mode of ours. How many. */
int ways_list(struct way *way, const char *mode);
