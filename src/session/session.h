/* Internals of a session. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

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
    double begin;                /* s since the session was opened */
    struct recorded_loop record;
};

struct file {
    evn_output *out; /* NULL: not wanted */
    int failed;      /* 1: part of its content is lost, so it is not published */
};

/* The ranks of a session, if it has any. */
enum ranks {
    RANKS_JOINED, /* by the first session, which evn_complain() speaks for */
    RANKS_APART,  /* beside it, of a communicator */
    RANKS_GIVEN   /* the program's cluster, which it closes itself */
};

struct evn_session {
    evn_cluster *cluster; /* NULL: alone */
    enum ranks ranks;
    const evn_machine *machine;
    evn_machine *own_machine; /* the same, unless it is the program's */
    evn_units *units;         /* NULL: none are open */
    int described;            /* they are only described */
    int no_environment;       /* EVN_NO_ENVIRONMENT */
    unsigned forks;           /* process_forks() when it was opened */
    pthread_t opener;
    int any_closes; /* EVN_ANY_CLOSES */
    int records;    /* 1: a record is wanted, by rank 0; the same on all ranks */
    int traces;     /* 1: a trace is, likewise */
    double begin;
    struct opened *opened;
    int loops;
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

/* Whether a text of the program's leaves it to the user: NULL, or "default". */
int session_default(const evn_session *session, const char *text);

/* Puts the variable's name before evn_message(). */
evn_status session_blame(const char *name, evn_status status);

/* Errors of calls in a child of fork(), by another thread than the opener, or from within a body or
 * job; EVN_OK: none. */
evn_status session_foreign(const evn_session *session, const char *what);
evn_status session_at_work(const evn_session *session, const char *what);

/* The same before a loop or schedule is opened: over ranks also from within a body or job, where no
 * rank waits for the call; EVN_OK: none. */
evn_status session_may_open(const evn_session *session, const char *what);

/* EVN_USAGE: one of these arguments of `function` is NULL. */
evn_status session_given(const char *function, const void *out, const void *problem);

/* As evn_session_schedule(), over ranks with this rank's status so far, of which all hear. */
evn_status session_schedule(evn_schedule **out, evn_session *session, const char *text,
                            const evn_problem *problem, evn_status mine);

/* The loop's entry; NULL, with a message: not of this session, or closed. */
struct opened *session_find(evn_session *session, const evn_loop *loop);

/* Frees the state of evn_session_place(). */
void session_forget(struct own_regions *regions);

/* Drops what is kept of closed loops for record and trace. */
void session_forget_loops(evn_session *session);

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

/* Whether bursts of all loops are kept for the end, and begins to. */
int session_trace_keeps(const evn_session *session);
evn_status session_trace_keep(evn_session *session);

/* Bursts of a unit, and messages of a rank, that are kept. */
int session_trace_most(const evn_session *session);

/* Puts a loop's bursts into the trace. */
evn_status session_trace_loop(evn_session *session, const struct opened *opened);

/* At the end: rank 0 gets what all have kept, unless a rank has lost some of it; the trace is
 * written, and its files get their names; they are closed. */
evn_status session_trace_gather(evn_session *session);
evn_status session_trace_write(evn_session *session);
void session_trace_close(evn_session *session);

/* ---- ranks ---- */

/* Joins the ranks of a launcher or of EVENER_PROCESSES; `flags` decide whether the program runs
 * over ranks. */
evn_status session_join(evn_session *session, unsigned flags);
/* Joins those of a communicator of the program's. */
evn_status session_join_comm(evn_session *session, int comm);
/* Those of a cluster of the program's. */
evn_status session_join_given(evn_session *session, evn_cluster *cluster);

/* The worst status of all ranks; without ranks, `mine`. */
evn_status session_agree(const evn_session *session, evn_status mine);

/* Closes the cluster with this status, as the last step; NULL: no ranks. */
void session_leave(evn_cluster *cluster, evn_status status);

/* Gathers a loop's results of all ranks' units on rank 0; nothing changes on other ranks.
 * Collective. */
evn_status session_gather_record(evn_session *session, struct recorded_loop *record);

/* Units of the rank that has most. */
int session_widest(const evn_cluster *cluster);

/* Concatenates all ranks' texts on rank 0, to be freed; NULL on other ranks. Without ranks a copy.
 * Collective. */
evn_status session_gather_text(evn_session *session, const char *mine, char **all);

#endif
