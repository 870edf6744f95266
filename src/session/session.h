/* Internals of a session. */
#pragma once

#include "record/record.h"
#include "trace/chrome.h"
#include "trace/loops.h"
#include <evener/open.h>
#include <evener/output.h>
#include <pthread.h>

/* A loop of the session, or the results of one that was closed. */
struct opened {
    evn_loop *loop; /* NULL: closed */
    evn_schedule *schedule;
    struct own_regions *regions; /* evn_session_place(); NULL: nothing was said */
    void (*forget)(struct own_regions *regions);
    double begin; /* s since the session was opened */
    struct recorded_loop record;
};

struct file {
    evn_output *out; /* NULL: not wanted */
    int failed;      /* 1: part of its content is lost, so it is not published */
};

/* The ranks of a session, if it has any. */
enum ranks {
    RANKS_JOINED, /* joined by the first session, which evn_complain() speaks for */
    RANKS_APART,  /* a further session's, of a communicator */
    RANKS_GIVEN   /* the program's cluster, which it closes itself */
};

struct evn_session {
    evn_cluster *cluster; /* NULL: alone */
    enum ranks ranks;
    const evn_machine *machine;
    evn_machine *own_machine; /* `machine`, if the session opened it */
    evn_units *units;         /* NULL: none are open */
    int described;            /* 1: the units are only described */
    int no_environment;       /* EVN_NO_ENVIRONMENT */
    unsigned forks;           /* process_forks() when it was opened */
    pthread_t opener;
    int any_closes; /* EVN_ANY_CLOSES */
    int records;    /* 1: rank 0 writes a record; the same on all ranks */
    int traces;     /* 1: rank 0 writes a trace; the same on all ranks */
    int watched;    /* 1: its loops have counters that others see (<evener/watch.h>) */
    double begin;
    struct opened *opened;
    int loops;
    int numbered; /* loops that were opened so far */
    struct file record, trace;
    const struct trace_format *format; /* format of the trace; NULL: this process writes none */
    evn_output *beside[2];             /* Paraver's files beside the trace */
    char *archive;                     /* OTF2's */
    evn_trace *kept;                   /* all loops' bursts, to be written at the end; NULL: .. */
    struct trace_file events;          /* .. each loop's are as it is closed */
    evn_status status;                 /* of the files: the first failure and its message */
    char message[1024];
};

/* Value of a variable; NULL: empty, not set, or not looked at. */
const char *session_variable(const evn_session *session, const char *name);

/* 1 if the program leaves the choice to its user: NULL, or "default". */
int session_default(const evn_session *session, const char *text);

/* Puts the variable's name before evn_message(). */
evn_status session_blame(const char *name, evn_status status);

/* Errors of calls in a child of fork(), by another thread than the opener, or from within a body or
 * job; EVN_OK: none. */
evn_status session_foreign(const evn_session *session, const char *what);
evn_status session_at_work(const evn_session *session, const char *what);

/* session_foreign() for opening a loop or schedule: over ranks also an error within a body or job,
 * where no rank waits for the call. */
evn_status session_may_open(const evn_session *session, const char *what);

/* EVN_USAGE: one of these arguments of `function` is NULL. */
evn_status session_given(const char *function, const void *out, const void *problem);

/* As evn_session_schedule(), over ranks with this rank's status so far, of which all hear. */
evn_status session_schedule(evn_schedule **out, evn_session *session, const char *text,
                            const evn_problem *problem, evn_status mine);

/* The loop's entry; NULL, with a message: not of this session, or closed. */
struct opened *session_find(evn_session *session, const evn_loop *loop);

/* Drops the results of closed loops, kept for record and trace. */
void session_forget_loops(evn_session *session);

/* ---- the files ---- */

/* Functions of record and trace: a table that a program of the archive links where something refers
 * to it (everything.c). Without it a variable that names a file is EVN_MISSING, and `records` and
 * `traces` are 0. */
struct session_files {
    /* Opens the files that the variables name, on rank 0; tells all ranks which there are,
     * collective. */
    evn_status (*open)(evn_session *s);
    evn_status (*tell)(evn_session *s);
    /* Prepare recording, of units and of a loop, when they are opened. */
    evn_status (*units_opened)(evn_session *s);
    evn_status (*loop_opened)(const evn_session *s, evn_loop *loop);
    /* Gives the schedule of the next loop the owners of its user's plan. EVN_USAGE: they are for
     * other tasks or units. */
    evn_status (*take_plan)(const evn_session *s, evn_schedule *schedule);
    /* Keeps a loop's results, where a file needs them. Collective. */
    evn_status (*loop_closes)(evn_session *s, struct opened *o);
    /* Drops a trace's bursts of the units. */
    void (*forget)(evn_session *s);
    /* Writes the files, and notes failures in the session; frees them. */
    void (*write)(evn_session *s);
    void (*close)(evn_session *s);
};

extern const struct session_files session_files __attribute__((weak));

/* Of that table (plan.c). */
evn_status session_take_plan(const evn_session *session, evn_schedule *schedule);

static inline int session_has_files(void) { return &session_files != NULL; }

/* ---- machine and units ---- */

/* Opens the machine and, without EVN_UNITS_LATER, the units, as evn_open() says. Collective. */
evn_status session_begin(evn_session *session, const char *units, const char *devices,
                         unsigned flags);

/* EVN_USAGE: no units are open. */
evn_status session_units_needed(const evn_session *session, const char *what);

/* ---- the trace ---- */

/* Opens the trace in the format that the end of its name says. `record`: the record's file, which
 * none of the trace's may be; NULL: there is none. */
evn_status session_trace_open(evn_session *session, const char *trace, const char *record);
/* EVN_USAGE: a file of the trace is the record's. */
evn_status session_names_record(const char *trace);

/* session_trace_keeps(): 1 if bursts of all loops are kept for the end. session_trace_keep():
 * begins to keep them. */
int session_trace_keeps(const evn_session *session);
evn_status session_trace_keep(evn_session *session);

/* Bursts of a unit, and messages of a rank, that are kept. */
int session_trace_most(const evn_session *session);

/* Puts a loop's bursts into the trace. */
evn_status session_trace_loop(evn_session *session, const struct opened *opened);

/* Gathers all ranks' recordings on rank 0, unless a rank has lost some; writes the trace, publishes
 * its files, and closes them. */
evn_status session_trace_gather(evn_session *session);
evn_status session_trace_write(evn_session *session);
void session_trace_close(evn_session *session);

/* ---- ranks ---- */

/* Functions of ranks that sessions call (ranks.c): a table, as session_files. Without it a session
 * that wants ranks is EVN_MISSING. */
struct session_ranks {
    /* Joins the ranks of a launcher or of EVENER_PROCESSES; or takes those of the program. */
    evn_status (*join)(evn_session *s, const char *processes);
    evn_status (*join_given)(evn_session *s, evn_cluster *cluster);
    /* Closes the cluster with this status, as the last step. */
    void (*leave)(evn_cluster *cluster, enum ranks ranks, evn_status status);
    int (*complain)(const char *program);
    int (*rank)(const evn_cluster *cluster);
    int (*launched)(int *speaks); /* evn_cluster_launched() */
    evn_status (*agree)(evn_cluster *cluster, evn_status mine);
    /* machine, units, loops */
    evn_status (*machine)(evn_cluster *cluster, evn_machine **out, int wanted, int oversubscribe);
    evn_status (*units)(evn_cluster *cluster, const evn_units *mine, const double *speed);
    evn_status (*loop_open)(evn_loop **out, evn_units *units, evn_schedule *schedule,
                            evn_cluster *cluster);
    /* schedules: units of all ranks; speed and rank of each; units of the rank that has most; the
     * memories of all ranks' units, from `mine`, as many on each rank as the widest has; whether
     * all ranks have the same problem, with this rank's status so far */
    evn_cluster_info (*about)(const evn_cluster *cluster);
    int (*rank_of)(const evn_cluster *cluster, int unit);
    int (*widest)(const evn_cluster *cluster);
    evn_status (*share_rooms)(evn_cluster *cluster, const double *mine, int most, double *room);
    evn_status (*same_problem)(evn_cluster *cluster, const evn_problem *problem, evn_status mine);
};

extern const struct session_ranks session_ranks __attribute__((weak));

static inline int session_has_ranks(void) { return &session_ranks != NULL; }

/* Opens a session; `join` finds its ranks, as `how` says. */
typedef evn_status session_join(evn_session *s, const void *how);
evn_status session_open(evn_session **out, const evn_open_options *options, session_join *join,
                        const void *how);

/* The worst status of all ranks; without ranks, `mine`. */
static inline evn_status session_agree(const evn_session *s, evn_status mine) {
    return s->cluster ? session_ranks.agree(s->cluster, mine) : mine;
}

/* Gathers a loop's results of all ranks' units on rank 0; nothing changes on other ranks.
 * Collective. */
evn_status session_gather_record(evn_session *session, struct recorded_loop *record);

/* Units of the rank that has most. */
int session_widest(const evn_cluster *cluster);

/* Concatenates all ranks' texts on rank 0, to be freed; NULL on other ranks. Without ranks a copy.
 * Collective. */
evn_status session_gather_text(evn_session *session, const char *mine, char **all);
