/* Running processes whose loops have counters (<evener/watch.h>), and copies of these. */
#pragma once

#include <evener/watch.h>

/* A process at one moment. */
struct watched {
    int fd;        /* its counters, which outlive it */
    long begun;    /* when it began, in the system's ticks: tells processes of one number apart */
    int over;      /* 1: it has ended; its counters are the last ones */
    double at;     /* moment of the copy, evn_now() */
    double core_s; /* time that its threads had cores for */
    evn_watched *copy; /* NULL: none yet */
};

struct watched_list {
    struct watched *of;
    int count;
};

/* Finds processes of this user with counters: of the run of process `pid`; else of the run that
 * writes `record`; else (0, NULL) all. In the order of run and rank. 0, or an exit status after a
 * message that says why there are none. */
int watched_find(struct watched_list *list, int pid, const char *record);
void watched_close(struct watched_list *list);

/* Copies the counters of all of them as they are now; 0, or an exit status after a message. */
int watched_read(struct watched_list *list);
