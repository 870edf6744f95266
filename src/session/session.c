/* Sessions: opened and closed, their loops. */
#include "base/argument.h"
#include "unit/share.h"
#include "base/not_linked.h"
#include "base/process.h"
#include "session/session.h"
#include "loop/origin.h"
#include "loop/watcher.h"
#include <evener/clock.h>
#include <evener/text.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLOSED_BURSTS = 1 << 18, /* bursts kept of closed loops, for the record */
};

/* -- the files -- */

static evn_status open_files(evn_session *s) {
    static const char *const variable[] = {"EVENER_RECORD", "EVENER_TRACE", "EVENER_PLAN",
                                           "EVENER_WATCH"};
    if (session_has_files()) return session_files.open(s);
    for (int i = 0; i < 4; i++)
        if (session_variable(s, variable[i]))
            return evn_fail(EVN_MISSING, "%s: the code of records, traces and plans " NOT_LINKED,
                            variable[i]);
    return EVN_OK;
}

/* Drops bursts of loops closed long ago, which a record does not show. */
static void forget_bursts(evn_session *s) {
    long kept = 0;
    for (int i = s->loops - 1; i >= 0; i--) {
        struct recorded_loop *r = &s->opened[i].record;
        kept += r->bursts;
        if (kept <= CLOSED_BURSTS) continue;
        free(r->burst);
        r->burst = NULL;
        r->bursts = 0;
    }
}

/* -- loops -- */

/* Keeps the loop's results for the files, and closes the loop. */
static evn_status finish(evn_session *s, struct opened *o) {
    evn_status status = EVN_OK;
    if (!o->loop) return EVN_OK;
    if (s->records || s->traces) status = session_files.loop_closes(s, o);
    evn_loop_close(o->loop);
    evn_schedule_close(o->schedule);
    if (o->regions) o->forget(o->regions);
    o->loop = NULL;
    o->schedule = NULL;
    o->regions = NULL;
    return status;
}

static int by_opener(const evn_session *s) { return pthread_equal(s->opener, pthread_self()); }

/* EVN_USAGE: another thread than the opener calls. A thread of a unit at work gets the message
 * about that. */
static evn_status other_thread(const evn_session *s, const char *what) {
    evn_status at_work = evn_units_here() ? session_at_work(s, what) : EVN_OK;
    if (at_work) return at_work;
    return evn_fail(EVN_USAGE,
                    "session: %s by another thread than the one that called evn_open(), which "
                    "makes all calls of its session",
                    what);
}

evn_status session_foreign(const evn_session *s, const char *what) {
    if (s->forks != process_forks())
        return evn_fail(
            EVN_USAGE,
            "session: %s in a process that was forked since evn_open(); open a session here", what);
    return by_opener(s) ? EVN_OK : other_thread(s, what);
}

evn_status session_may_open(const evn_session *s, const char *what) {
    const evn_status status = session_foreign(s, what);
    return status || !s->cluster ? status : session_at_work(s, what);
}

evn_status session_given(const char *function, const void *out, const void *problem) {
    if (out && problem) return EVN_OK;
    return argument_missing(function, out ? "a problem" : "where to put what it opens");
}

static evn_status room_for_one(evn_session *s) {
    struct opened *more = realloc(s->opened, (size_t)(s->loops + 1) * sizeof *more);
    if (!more) return evn_fail(EVN_MEMORY, "loop: not enough memory");
    s->opened = more;
    return EVN_OK;
}

/* EVN_OK if the session's units can have a loop with the schedule. */
static evn_status check_loop(const evn_session *s, const evn_schedule *schedule) {
    evn_status status = session_units_needed(s, "a loop");
    if (!status && s->described)
        status = evn_fail(EVN_USAGE,
                          "session: a loop on units that are only described "
                          "(EVN_DESCRIBE_ONLY), \"%s\"",
                          evn_units_text(s->units));
    if (!status && evn_schedule_about(schedule).reassigns)
        status = evn_fail(EVN_USAGE,
                          "loop: \"%s\" shares cores out before units are opened, and these are "
                          "open; expected binpack",
                          evn_schedule_text(schedule));
    return status;
}

/* Opens a loop with the schedule, which stays the caller's on failure; `status`: this rank's so
 * far. */
static evn_status open_loop(evn_loop **out, evn_session *s, evn_schedule *schedule,
                            evn_status status) {
    struct opened o = {0};
    if (!status) status = check_loop(s, schedule);
    if (!status) status = room_for_one(s);
    status = session_agree(s, status);
    if (!status)
        status = s->cluster ? session_ranks.loop_open(&o.loop, s->units, schedule, s->cluster)
                            : evn_loop_open(&o.loop, s->units, schedule);
    if (!status) o.begin = loop_origin(o.loop) - s->begin;
    if (!status)
        status =
            session_agree(s, session_has_files() ? session_files.loop_opened(s, o.loop) : EVN_OK);
    if (status) {
        evn_loop_close(o.loop);
        return status;
    }
    s->opened[s->loops++] = o;
    s->numbered++;
    *out = o.loop;
    return EVN_OK;
}

evn_status evn_open_loop(evn_loop **out, evn_session *s, const char *schedule,
                         const evn_problem *problem) {
    if (out) *out = NULL;
    NEED(s, "a session");
    evn_schedule *own;
    evn_status status = session_may_open(s, "evn_open_loop()");
    if (status) return status;
    status = session_schedule(&own, s, schedule, problem, session_given(__func__, out, problem));
    if (status) return status;
    status = open_loop(out, s, own, EVN_OK);
    if (status)
        evn_schedule_close(own);
    else
        s->opened[s->loops - 1].schedule = own;
    return status;
}

evn_status evn_open_loop_on(evn_loop **out, evn_session *s, evn_schedule *schedule) {
    if (out) *out = NULL;
    NEED(s, "a session");
    evn_status status = session_may_open(s, "evn_open_loop_on()");
    if (status) return status;
    if (!out || !schedule)
        status = argument_missing(__func__, out ? "a schedule" : "where to put what it opens");
    return open_loop(out, s, schedule, status);
}

evn_status session_at_work(const evn_session *s, const char *what) {
    if (!s->units || !units_running(s->units)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "session: %s while its units are at work, from within a body or a job; it must "
                    "return first",
                    what);
}

struct opened *session_find(evn_session *s, const evn_loop *loop) {
    for (int i = 0; i < s->loops; i++)
        if (s->opened[i].loop == loop) return &s->opened[i];
    evn_fail(EVN_USAGE, "loop: it is none of this session's, or was closed before; "
                        "evn_loop_close() closes what evn_loop_open() has opened");
    return NULL;
}

evn_status evn_name_loop(evn_session *s, evn_loop *loop, const char *name) {
    NEED(s, "a session");
    NEED(name, "a name");
    evn_status refused = session_foreign(s, "evn_name_loop()");
    if (refused) return refused;
    struct opened *o = session_find(s, loop);
    if (!o) return EVN_USAGE;
    char *copy = strdup(name);
    if (!copy) return evn_fail(EVN_MEMORY, "loop: not enough memory for its name");
    free(o->record.name);
    o->record.name = copy;
    const struct loop_watcher *watcher = loop_watcher;
    if (watcher) watcher->named(loop, name);
    return EVN_OK;
}

evn_status evn_close_loop(evn_session *s, evn_loop *loop) {
    if (!loop) return EVN_OK;
    NEED(s, "a session");
    evn_status refused = session_foreign(s, "evn_close_loop()");
    if (!refused) refused = session_at_work(s, "evn_close_loop()");
    if (refused) return refused;
    struct opened *o = session_find(s, loop);
    if (!o) return EVN_USAGE;
    evn_status status = finish(s, o);
    if (!s->records && !s->traces) { /* nothing is kept: loops may be opened for ever */
        record_release(&o->record);
        memmove(o, o + 1, (size_t)(s->opened + --s->loops - o) * sizeof *o);
    }
    forget_bursts(s);
    return status;
}

/* -- the whole -- */

static void release(evn_session *s) {
    for (int i = s->loops - 1; i >= 0; i--) record_release(&s->opened[i].record);
    free(s->opened);
    if (session_has_files()) session_files.close(s);
    evn_units_close(s->units);
    evn_machine_close(s->own_machine);
    free(s);
}

/* Closes all that is left of the session, the ranks last. */
static void leave(evn_session *s, evn_status status) {
    evn_cluster *cluster = s->cluster;
    s->cluster = NULL;
    const enum ranks ranks = s->ranks;
    release(s);
    if (cluster) session_ranks.leave(cluster, ranks, status);
}

/* Warns of misspelt variables, once a process, by one rank. */
static void tell_strays(const evn_session *s) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char line[300];
    const int rank = !session_has_ranks() ? 0
                     : s->cluster         ? session_ranks.rank(s->cluster)
                                          : session_ranks.launched(NULL);
    if (rank > 0 || atomic_flag_test_and_set(&told)) return;
    for (int i = 0; evn_environment_stray(i, line, sizeof line); i++)
        fprintf(stderr, "evener: warning: %s\n", line);
}

evn_status session_open(evn_session **out, const evn_open_options *o, session_join *join,
                        const void *how) {
    evn_session *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "session: not enough memory");
    const unsigned flags =
        o->flags & ~(unsigned)(EVN_OVER_RANKS | EVN_ANY_CLOSES | EVN_NO_ENVIRONMENT);
    s->no_environment = (o->flags & EVN_NO_ENVIRONMENT) != 0;
    s->machine = o->machine;
    evn_status status = join(s, how);
    s->forks = process_forks();
    s->opener = pthread_self();
    s->any_closes = (o->flags & EVN_ANY_CLOSES) != 0;
    s->begin = evn_now();
    if (!status) status = session_begin(s, o->units, o->devices, flags);
    if (!status) status = session_agree(s, open_files(s));
    if (!status && session_has_files()) status = session_files.tell(s);
    if (!status && !s->no_environment) tell_strays(s);
    if (status) {
        char message[sizeof s->message];
        snprintf(message, sizeof message, "%s", evn_message());
        leave(s, status);
        return evn_fail(status, "%s", message);
    }
    *out = s;
    return EVN_OK;
}

static evn_status no_ranks(void) {
    return evn_fail(EVN_MISSING, "session: the code of ranks " NOT_LINKED);
}

/* Joins the ranks of the options. */
static evn_status join(evn_session *s, const void *options) {
    const evn_open_options *o = options;
    if (o->cluster)
        return session_has_ranks() ? session_ranks.join_given(s, o->cluster) : no_ranks();
    const char *processes = session_variable(s, "EVENER_PROCESSES");
    const int over_ranks = (o->flags & EVN_OVER_RANKS) != 0;
    if (processes && strcmp(processes, "1") != 0 && !over_ranks)
        return evn_fail(EVN_USAGE, "EVENER_PROCESSES: this program runs in one process alone; it "
                                   "says EVN_OVER_RANKS where it runs over several");
    if (!over_ranks) return EVN_OK;
    return session_has_ranks() ? session_ranks.join(s, processes) : no_ranks();
}

evn_status evn_open(evn_session **out, const char *units, const char *devices, unsigned flags) {
    NEED_OUT(out);
    const evn_open_options options = {units, devices, flags, NULL, NULL};
    return session_open(out, &options, join, &options);
}

evn_status evn_open_with(evn_session **out, const evn_open_options *options) {
    NEED_OUT(out);
    NEED(options, "options");
    return session_open(out, options, join, options);
}

void session_forget_loops(evn_session *s) {
    for (int i = 0; i < s->loops; i++) record_release(&s->opened[i].record);
    s->loops = 0;
    if (session_has_files()) session_files.forget(s);
}

/* Closes the loops without keeping anything for the files. */
static void drop_loops(evn_session *s) {
    for (int i = 0; i < s->loops; i++) {
        evn_loop_close(s->opened[i].loop);
        evn_schedule_close(s->opened[i].schedule);
        if (s->opened[i].regions) s->opened[i].forget(s->opened[i].regions);
    }
}

/* Closes the session in a forked process: frees memory, and leaves the files alone. */
static evn_status close_forked(evn_session *s) {
    drop_loops(s);
    release(s); /* the ranks are its parent's */
    return EVN_OK;
}

void evn_abandon(evn_session *s) {
    if (!s) return;
    if (s->forks != process_forks()) {
        close_forked(s);
        return;
    }
    if (!s->any_closes && !by_opener(s)) {
        other_thread(s, "evn_abandon()");
        return;
    }
    if (session_at_work(s, "evn_abandon()")) return;
    char message[sizeof s->message];
    snprintf(message, sizeof message, "%s", evn_message());
    if (!*message) snprintf(message, sizeof message, "session: its program has given it up");
    drop_loops(s);
    leave(s, evn_fail(EVN_BODY, "%s", message));
    evn_fail(EVN_BODY, "%s", message);
}

evn_status evn_close(evn_session *s) {
    if (!s) return EVN_OK;
    if (s->forks != process_forks()) return close_forked(s);
    if (!s->any_closes && !by_opener(s)) return other_thread(s, "evn_close()");
    evn_status status = session_at_work(s, "evn_close()");
    if (status) return status;
    for (int i = 0; i < s->loops; i++) finish(s, &s->opened[i]);
    if (session_has_files()) session_files.write(s);
    if (s->status) evn_fail(s->status, "%s", s->message);
    /* a cluster of the program's may have failed, and is not used without need */
    if (s->ranks != RANKS_GIVEN || s->records || s->traces) status = session_agree(s, s->status);
    char message[sizeof s->message];
    snprintf(message, sizeof message, "%s", evn_message());
    leave(s, status);
    return status ? evn_fail(status, "%s", message) : EVN_OK;
}

int evn_session_rank(const evn_session *s) {
    NEED_OR(0, s, "a session");
    return s->cluster ? session_ranks.rank(s->cluster) : 0;
}

int evn_complain(const char *program) {
    NEED_OR(1, program, "the program's name");
    if (session_has_ranks()) return session_ranks.complain(program);
    fprintf(stderr, "%s: %s\n", program, evn_message());
    return 1;
}
