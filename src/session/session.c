/* Sessions: opened and closed, their loops and record. */
#include "base/argument.h"
#include "base/process.h"
#include "session/session.h"
#include "loop/origin.h"
#include "wire/launcher.h"
#include <evener/clock.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLOSED_BURSTS = 1 << 18, /* kept of loops that were closed, for the record */
};

/* -- the files -- */

/* A variable's name of a file, in which each %r is this process's rank; "": not set. */
static evn_status read_name(const evn_session *s, const char *variable, char name[PATH_MAX]) {
    const char *text = session_variable(s, variable);
    const int launched = evn_cluster_launched();
    const int rank = s->cluster ? evn_cluster_rank(s->cluster) : launched > 0 ? launched : 0;
    size_t at = 0;
    for (const char *c = text ? text : ""; *c; c++) {
        char one[16] = {*c};
        if (c[0] == '%' && c[1] == 'r') snprintf(one, sizeof one, "%d", rank), c++;
        const size_t more = strlen(one);
        if (at + more >= PATH_MAX)
            return evn_fail(EVN_USAGE, "%s: longer than %d characters", variable, PATH_MAX - 1);
        memcpy(name + at, one, more);
        at += more;
    }
    name[at] = '\0';
    return EVN_OK;
}

/* Of processes that a launcher has started as separate runs each would write the same trace, and
 * the last one's would stay. */
static evn_status check_alone(const evn_session *s) {
    const char *text = session_variable(s, "EVENER_TRACE");
    const int size = wire_plugin_size();
    if (!text || s->cluster || size < 2 || strstr(text, "%r")) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "EVENER_TRACE: %.200s: each of the launcher's %d processes is a run of its own "
                    "and would write it; put %%r, the rank, into the name",
                    text, size);
}

static evn_status open_files(evn_session *s) {
    char record_name[PATH_MAX], trace_name[PATH_MAX];
    evn_status read = read_name(s, "EVENER_RECORD", record_name);
    if (!read) read = read_name(s, "EVENER_TRACE", trace_name);
    if (!read) read = check_alone(s);
    if (read) return read;
    const char *record = *record_name ? record_name : NULL,
               *trace = *trace_name ? trace_name : NULL;
    if (trace && !strcmp(trace, "-"))
        return evn_fail(EVN_USAGE, "EVENER_TRACE: -: a trace is written while the program runs; "
                                   "name a file");
    if (s->cluster && evn_cluster_rank(s->cluster)) return EVN_OK; /* rank 0 writes */
    evn_status status = EVN_OK;
    if (record && trace && evn_output_same(record, trace)) return session_names_record(trace);
    if (record) status = evn_output_open(&s->record.out, "EVENER_RECORD", record);
    return status || !trace ? status : session_trace_open(s, trace, record);
}

/* All ranks know whether rank 0 writes a record, and a trace, to which all contribute. */
static evn_status tell_files(evn_session *s) {
    int wanted[] = {s->record.out != NULL, s->format != NULL};
    evn_status status = s->cluster ? evn_cluster_tell(s->cluster, wanted, sizeof wanted) : EVN_OK;
    if (status) return status;
    s->records = wanted[0];
    s->traces = wanted[1];
    return s->units ? session_trace_keep(s) : EVN_OK;
}

/* Keeps the first failure of a file for evn_close(). */
static evn_status note(evn_session *s, struct file *f, evn_status status) {
    if (!status) return EVN_OK;
    f->failed = 1;
    if (s->status) return status;
    s->status = status;
    snprintf(s->message, sizeof s->message, "%s", evn_message());
    return status;
}

/* Bursts of loops closed long ago are nothing that a record shows. */
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

/* Copies a loop's results; over ranks rank 0 gathers those of all units. */
static evn_status take(evn_session *s, struct opened *o) {
    evn_status status = session_agree(s, record_take(&o->record, o->loop, o->begin));
    return status ? status : session_gather_record(s, &o->record);
}

/* Takes down what the loop did and closes it. */
static evn_status finish(evn_session *s, struct opened *o) {
    evn_status status = EVN_OK, traced = EVN_OK;
    if (!o->loop) return EVN_OK;
    if (s->records) status = note(s, &s->record, take(s, o));
    if (s->traces) traced = note(s, &s->trace, session_trace_loop(s, o));
    evn_loop_close(o->loop);
    evn_schedule_close(o->schedule);
    session_forget(o->regions);
    o->loop = NULL;
    o->schedule = NULL;
    o->regions = NULL;
    return status ? status : traced;
}

static int by_opener(const evn_session *s) { return pthread_equal(s->opener, pthread_self()); }

/* A unit's thread is told rather that it is at work. */
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

static evn_status keep_bursts(const evn_session *s, evn_loop *loop, int tasks) {
    if (s->traces) return evn_loop_keep_bursts(loop, session_trace_most(s));
    return s->record.out ? evn_loop_keep_bursts(loop, record_bursts_max(tasks)) : EVN_OK;
}

/* Whether the session's units can have a loop with the schedule. */
static evn_status check_loop(const evn_session *s, const evn_schedule *schedule) {
    evn_status status = session_units_needed(s, "a loop");
    if (!status && s->described)
        status = evn_fail(EVN_USAGE,
                          "session: a loop on units that are only described "
                          "(EVN_DESCRIBE_ONLY), \"%s\"",
                          evn_units_text(s->units));
    if (!status && evn_schedule_reassigns(schedule))
        status = evn_fail(EVN_USAGE,
                          "loop: \"%s\" shares cores out before units are opened, and these are "
                          "open; expected binpack",
                          evn_schedule_text(schedule));
    return status;
}

/* A loop with the schedule, which is not the session's yet; `status`: this rank's so far. */
static evn_status open_loop(evn_loop **out, evn_session *s, evn_schedule *schedule,
                            evn_status status) {
    struct opened o = {0};
    if (!status) status = check_loop(s, schedule);
    if (!status) status = room_for_one(s);
    status = session_agree(s, status);
    if (!status) status = evn_loop_open_on(&o.loop, s->units, schedule, s->cluster);
    if (!status) o.begin = loop_origin(o.loop) - s->begin;
    if (!status)
        status = session_agree(s, keep_bursts(s, o.loop, evn_schedule_problem(schedule)->tasks));
    if (status) {
        evn_loop_close(o.loop);
        return status;
    }
    s->opened[s->loops++] = o;
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
    if (!s->units || !evn_units_running(s->units)) return EVN_OK;
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
    if (!s->records && !s->traces) { /* not wanted: a program may open loops for ever */
        record_release(&o->record);
        memmove(o, o + 1, (size_t)(s->opened + --s->loops - o) * sizeof *o);
    }
    forget_bursts(s);
    return status;
}

/* -- the whole -- */

static void release(evn_session *s) {
    evn_trace_close(s->kept);
    for (int i = s->loops - 1; i >= 0; i--) record_release(&s->opened[i].record);
    free(s->opened);
    evn_output_close(s->record.out);
    session_trace_close(s);
    evn_units_close(s->units);
    evn_machine_close(s->own_machine);
    free(s);
}

/* All that is left of it, and the ranks last. */
static void leave(evn_session *s, evn_status status) {
    evn_cluster *cluster = s->cluster;
    s->cluster = NULL;
    const enum ranks ranks = s->ranks;
    release(s);
    if (ranks == RANKS_APART) evn_cluster_close(cluster, status);
    if (ranks == RANKS_JOINED) session_leave(cluster, status);
}

/* `comm`: the program's communicator; NULL: it gives none. */
static evn_status open_session(evn_session **out, const int *comm, const evn_open_options *o) {
    evn_session *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "session: not enough memory");
    const unsigned flags =
        o->flags & ~(unsigned)(EVN_OVER_RANKS | EVN_ANY_CLOSES | EVN_NO_ENVIRONMENT);
    s->no_environment = (o->flags & EVN_NO_ENVIRONMENT) != 0;
    s->machine = o->machine;
    evn_status status = comm         ? session_join_comm(s, *comm)
                        : o->cluster ? session_join_given(s, o->cluster)
                                     : session_join(s, o->flags);
    s->forks = process_forks();
    s->opener = pthread_self();
    s->any_closes = (o->flags & EVN_ANY_CLOSES) != 0;
    s->begin = evn_now();
    if (!status) status = session_begin(s, o->units, o->devices, flags);
    if (!status) status = session_agree(s, open_files(s));
    if (!status) status = tell_files(s);
    if (status) {
        char message[sizeof s->message];
        snprintf(message, sizeof message, "%s", evn_message());
        leave(s, status);
        return evn_fail(status, "%s", message);
    }
    *out = s;
    return EVN_OK;
}

evn_status evn_open(evn_session **out, const char *units, const char *devices, unsigned flags) {
    NEED_OUT(out);
    return open_session(out, NULL, &(evn_open_options){units, devices, flags, NULL, NULL});
}

evn_status evn_open_with(evn_session **out, const evn_open_options *options) {
    NEED_OUT(out);
    NEED(options, "options");
    return open_session(out, NULL, options);
}

evn_status evn_open_comm(evn_session **out, int comm, const char *units, const char *devices,
                         unsigned flags) {
    NEED_OUT(out);
    return open_session(out, &comm, &(evn_open_options){units, devices, flags, NULL, NULL});
}

/* Each rank describes its units; rank 0 writes the record. */
static evn_status write_record(evn_session *s) {
    struct record_parts parts = {.cluster = s->cluster, .units = s->units};
    char *units = NULL, *devices = NULL;
    evn_status status = session_agree(s, record_describe(&parts, &units, &devices));
    if (!status) status = session_gather_text(s, units, &parts.unit);
    if (!status) status = session_gather_text(s, devices, &parts.device);
    free(units);
    free(devices);
    struct recorded_loop *all = status ? NULL : calloc((size_t)s->loops + 1, sizeof *all);
    if (!status && !all) status = evn_fail(EVN_MEMORY, "not enough memory for %d loops", s->loops);
    for (int i = 0; !status && i < s->loops; i++) all[i] = s->opened[i].record;
    fflush(stdout); /* target of the record, behind existing content */
    if (!status && s->record.out)
        status = record_write(evn_output_stream(s->record.out), all, s->loops, &parts);
    free(all);
    free(parts.unit);
    free(parts.device);
    return status;
}

/* A record and a trace of all units' bursts are of one list of units. */
static evn_status check_units(const evn_session *s, const char *variable) {
    if (s->units) return EVN_OK;
    return evn_fail(EVN_USAGE, "%s: nothing is written, since no units are open at evn_close()",
                    variable);
}

void session_forget_loops(evn_session *s) {
    for (int i = 0; i < s->loops; i++) record_release(&s->opened[i].record);
    s->loops = 0;
    evn_trace_close(s->kept);
    s->kept = NULL;
}

/* Loops and their state, without a word to the files. */
static void drop_loops(evn_session *s) {
    for (int i = 0; i < s->loops; i++) {
        evn_loop_close(s->opened[i].loop);
        evn_schedule_close(s->opened[i].schedule);
        session_forget(s->opened[i].regions);
    }
}

/* In a process that was forked since: memory is given back, and the files stay as they are. */
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
    if (s->records && !s->record.failed) note(s, &s->record, check_units(s, "EVENER_RECORD"));
    if (s->records && !s->record.failed) note(s, &s->record, write_record(s));
    if (!s->record.failed) note(s, &s->record, evn_output_commit(s->record.out));
    if (session_trace_keeps(s)) note(s, &s->trace, check_units(s, "EVENER_TRACE"));
    if (s->traces) note(s, &s->trace, session_trace_gather(s));
    if (s->format && !s->trace.failed) note(s, &s->trace, session_trace_write(s));
    if (s->status) evn_fail(s->status, "%s", s->message);
    /* ranks of the program's it closes itself, and may have lost before */
    if (s->ranks != RANKS_GIVEN || s->records || s->traces) status = session_agree(s, s->status);
    char message[sizeof s->message];
    snprintf(message, sizeof message, "%s", evn_message());
    leave(s, status);
    return status ? evn_fail(status, "%s", message) : EVN_OK;
}
