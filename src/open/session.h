/* A session from inside, for the files of this room. */
#ifndef OPEN_SESSION_H
#define OPEN_SESSION_H

#include "open/record.h"
#include "trace/chrome.h"
#include <evener/open.h>
#include <evener/output.h>

/* A loop of the session, and what is left of one that was closed. */
struct opened {
    evn_loop *loop; /* NULL: closed */
    evn_schedule *schedule;
    struct own_regions *regions; /* evn_session_place(); NULL: nothing was said */
    double begin;                /* s since the session was opened */
    struct recorded_loop record;
};

struct file {
    evn_output *out; /* NULL: not wanted */
    int failed;      /* something that belongs into it is lost: it is not put in its place */
};

struct evn_session {
    evn_cluster *cluster; /* NULL: alone */
    evn_machine *machine;
    evn_units *units;
    unsigned forks; /* process_forks() when it was opened */
    int records;    /* a record is wanted: by rank 0, and all know */
    double begin;
    struct opened *opened;
    int loops;
    struct file record, trace;
    struct trace_file events;
    evn_status status; /* of the files: the first failure, and its message */
    char message[1024];
};

/* The value of a variable; NULL where it says nothing. */
const char *session_variable(const char *name);

/* The failure that evn_message() tells is that variable's. */
evn_status session_blame(const char *name, evn_status status);

/* What is wrong with a call in a process that was forked since, or from within a body or a job. */
evn_status session_forked(const evn_session *session, const char *what);
evn_status session_at_work(const evn_session *session, const char *what);

/* The loop's entry; NULL, with a message: it is none of the session's, or closed. */
struct opened *session_find(evn_session *session, const evn_loop *loop);

/* Forgets what evn_session_place() has kept. */
void session_forget(struct own_regions *regions);

/* ---- ranks ---- */

/* Joins the ranks that a launcher or EVENER_PROCESSES says; `flags`: whether the program runs over
 * ranks. */
evn_status session_join(evn_session *session, unsigned flags);

/* Cores that a list of units asks for; 0: as many as there are. */
evn_status session_cores(const char *list, const char *devices, int *wanted);

/* The worst status of all ranks; alone the one that is given. */
evn_status session_agree(evn_session *session, evn_status mine);

/* Leaves the ranks with this status, the last of all; NULL: alone. */
void session_leave(evn_cluster *cluster, evn_status status);

/* What all ranks' units did in a loop, on rank 0; elsewhere nothing is changed. Collective. */
evn_status session_gather_record(evn_session *session, struct recorded_loop *record);

/* On rank 0 all ranks' texts, one behind the other, to be freed; elsewhere NULL. Alone a copy.
 * Collective. */
evn_status session_gather_text(evn_session *session, const char *mine, char **all);

#endif
