/* For tools: counters of a process's loops while it runs, in memory that other processes of its
 * user read. `evener watch` shows them; sessions (<evener/program.h>) keep them where EVENER_WATCH
 * or EVENER_RECORD is set.
 *
 * The memory is an unlinked file of the name EVN_WATCH_NAME, an evn_watched, open in the process:
 * /proc/PID/fd/N leads to it. It is gone with the process, however that ends. One thread at a time
 * writes a loop's counters, after each of its instances; a reader copies them, and again where
 * `changes` was odd or is another one after the copy. Times are s, instants evn_now()'s.
 *
 * Any thread; errors leave a message in evn_message(). */
#ifndef EVENER_WATCH_H
#define EVENER_WATCH_H

#include <evener/cluster.h>
#include <evener/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVN_WATCH_NAME "evener-watch"
enum {
    EVN_WATCH_VERSION = 1,
    EVN_WATCH_LOOPS = 64,  /* loops that have counters; of more, the latest do without */
    EVN_WATCH_UNITS = 256, /* units of a loop that have counters, from the first on */
    EVN_WATCH_PATH = 4096,
};

/* A unit's statistics, as evn_unit_stats. */
typedef struct evn_watched_stats {
    double compute_s, exchange_s, copy_s, idle_s, tasks;
} evn_watched_stats;

typedef struct evn_watched_unit {
    int gpu, cores, core;          /* core: number of its first one; -1: bound to none */
    evn_watched_stats before, now; /* before: of loops of the same name that were closed */
} evn_watched_unit;

/* A loop's totals, as evn_loop_totals. */
typedef struct evn_watched_totals {
    double instances, compute_s, exchange_s, migrations, bytes, moved_bytes;
} evn_watched_totals;

typedef enum evn_watched_state {
    EVN_WATCH_FREE,
    EVN_WATCH_OPEN,
    EVN_WATCH_CLOSED
} evn_watched_state;

typedef struct evn_watched_loop {
    unsigned changes; /* rises before and after each change: odd within one */
    int state;        /* an evn_watched_state */
    char name[96];    /* evn_name_loop(), the end of a long one; "": none */
    char schedule[64];
    int tasks, units, first; /* first: number of unit[0] among the units of all ranks */
    double ended;            /* end of its last instance */
    evn_watched_totals before, now;
    evn_watched_unit unit[EVN_WATCH_UNITS];
} evn_watched_loop;

typedef struct evn_watched {
    int version; /* EVN_WATCH_VERSION, once all else is there */
    int pid, rank, ranks;
    int run_pid; /* of rank 0, and when its counters began: the same in all processes of a run */
    double run_begin;
    double begin;                /* of this process's counters */
    int lacks;                   /* 1: a loop had no counters, since EVN_WATCH_LOOPS others had */
    char program[64];            /* name of its executable */
    char record[EVN_WATCH_PATH]; /* path of the record that it will write; "": none */
    evn_watched_loop loop[EVN_WATCH_LOOPS];
} evn_watched;

/* Begins counters of all loops of the process that end an instance from now on, until as many
 * evn_watch_end() as there were beginnings. `record`: path of the record that will be written; NULL
 * or "-": none. Collective over the ranks of `cluster`, which may be NULL; each then has its own
 * status. EVN_SYSTEM: there is no memory to share. */
evn_status evn_watch_begin(const char *record, evn_cluster *cluster);
/* Nothing after a fork, whose counters are the parent's. */
void evn_watch_end(void);

#ifdef __cplusplus
}
#endif
#endif
