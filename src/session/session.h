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

struct evn_session {
    evn_cluster *cluster; /* NULL: alone */
    evn_machine *machine;
    evn_units *units;
    unsigned forks; /* process_forks() when it was opened */
    pthread_t opener;
    int any_closes; /* EVN_ANY_CLOSES */
    int apart;      /* one more over ranks, beside the first, which evn_complain() speaks for */
    int records;    /* 1: a record is wanted, by rank 0; the same on all ranks */
    int traces;     /* 1: a trace is, likewise */
    double begin;
    struct opened *opened;
    int loops;
    struct file record, trace;
    evn_output *pcf, *row;    /* beside a trace for Paraver; NULL: Chrome's format */
    char *otf2;               /* a trace for OTF2; NULL: another one, or none */
    evn_trace *kept;          /* all loops' bursts, to be written at the end; NULL: .. */
    struct trace_file events; /* .. each loop's are as it is closed */
    evn_status status;        /* of the files: the first failure and its message */
    char message[1024];
};

/* Value of a variable; NULL: empty or not set. */
const char *session_variable(const char *name);

/* Puts the variable's name before evn_message(). */
evn_status session_blame(const char *name, evn_status status);

/* Errors of calls in a child of fork(), by another thread than the opener, or from within a body or
 * job; EVN_OK: none. */
evn_status session_foreign(const evn_session *session, const char *what);
evn_status session_at_work(const evn_session *session, const char *what);

/* The loop's entry; NULL, with a message: not of this session, or closed. */
struct opened *session_find(evn_session *session, const evn_loop *loop);

/* Frees the state of evn_session_place(). */
void session_forget(struct own_regions *regions);

/* ---- ranks ---- */

/* Joins the ranks of a launcher or of EVENER_PROCESSES; `flags` decide whether the program runs
 * over ranks. */
evn_status session_join(evn_session *session, unsigned flags);
/* Joins those of a communicator of the program's. */
evn_status session_join_comm(evn_session *session, int comm);

/* Number of cores that a list of units needs; 0: all. */
evn_status session_cores(const char *list, const char *devices, int *wanted);

/* The worst status of all ranks; without ranks, `mine`. */
evn_status session_agree(evn_session *session, evn_status mine);

/* Closes the cluster with this status, as the last step; NULL: no ranks. */
void session_leave(evn_cluster *cluster, evn_status status);

/* Gathers a loop's results of all ranks' units on rank 0; nothing changes on other ranks.
 * Collective. */
evn_status session_gather_record(evn_session *session, struct recorded_loop *record);

/* Units of the rank that has most. */
int session_widest(const evn_cluster *cluster);

/* Tells a schedule the memory of all ranks' units, if a device is too small for all tasks of these
 * bytes. Collective. EVN_MEMORY. */
evn_status session_tell_memory(evn_session *session, evn_schedule *schedule, const double *bytes);

/* Concatenates all ranks' texts on rank 0, to be freed; NULL on other ranks. Without ranks a copy.
 * Collective. */
evn_status session_gather_text(evn_session *session, const char *mine, char **all);

#endif
