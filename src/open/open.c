/* Machine, units and loops in a few calls, from the program, its user's environment and defaults;
 * and the files about what they did. */
#include "base/argument.h"
#include "base/process.h"
#include "open/record.h"
#include "trace/chrome.h"
#include <errno.h>
#include <evener/clock.h>
#include <evener/open.h>
#include <evener/output.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_BURSTS = 1 << 20,  /* of a unit, 40 MB: more than a viewer likes */
    CLOSED_BURSTS = 1 << 18, /* kept of loops that were closed, for the record */
    FEW_INSTANCES = 10,      /* fewer are over before guided:time has learnt */
};

/* A loop of the session, and what is left of one that was closed. */
struct opened {
    evn_loop *loop; /* NULL: closed */
    evn_schedule *schedule;
    double begin; /* s since the session was opened */
    struct recorded_loop record;
};

struct file {
    evn_output *out; /* NULL: not wanted */
    int failed;      /* something that belongs into it is lost: it is not put in its place */
};

struct evn_session {
    evn_machine *machine;
    evn_units *units;
    unsigned forks; /* process_forks() when it was opened */
    double begin;
    struct opened *opened;
    int loops;
    struct file record, trace;
    struct trace_file events;
    evn_status status; /* of the files: the first failure, and its message */
    char message[1024];
};

/* -- the environment -- */

static int is_default(const char *text) { return !text || !strcmp(text, "default"); }

/* The value of a variable; NULL where it says nothing. */
static const char *variable(const char *name) {
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

/* The failure that evn_message() tells is that variable's. */
static evn_status blame(const char *name, evn_status status) {
    return evn_fail(status, "%s: %s", name, evn_message());
}

static evn_status read_oversubscribe(unsigned *flags) {
    const char *text = variable("EVENER_OVERSUBSCRIBE");
    if (!text || !strcmp(text, "0")) return EVN_OK;
    if (strcmp(text, "1") != 0)
        return evn_fail(EVN_USAGE, "EVENER_OVERSUBSCRIBE: \"%.40s\", expected 1 or 0", text);
    *flags |= EVN_OVERSUBSCRIBE;
    return EVN_OK;
}

static evn_status open_units(evn_session *s, const char *list, const char *devices,
                             unsigned flags) {
    const char *asked_list = NULL, *asked_devices = NULL;
    if (is_default(list)) list = asked_list = variable("EVENER_UNITS");
    if (is_default(devices)) devices = asked_devices = variable("EVENER_DEVICES");
    if (is_default(list)) list = "auto";
    if (is_default(devices)) devices = NULL;
    evn_status status = read_oversubscribe(&flags);
    if (!status && asked_devices && devices) {
        int count;
        char why[512];
        status = evn_devices_count(devices, &count, why, sizeof why);
        if (status) return blame("EVENER_DEVICES", status);
    }
    if (!status) status = evn_machine_open(&s->machine);
    if (status) return status;
    status = evn_units_open_on(&s->units, s->machine, list, devices, flags);
    if (status && asked_list) return blame("EVENER_UNITS", status);
    if (status == EVN_MISSING && asked_devices) return blame("EVENER_DEVICES", status);
    return status;
}

/* -- the files -- */

static evn_status open_files(evn_session *s) {
    const char *record = variable("EVENER_RECORD"), *trace = variable("EVENER_TRACE");
    if (trace && !strcmp(trace, "-"))
        return evn_fail(EVN_USAGE, "EVENER_TRACE: -: a trace is written while the program runs; "
                                   "name a file");
    evn_status status = EVN_OK;
    if (record && trace && evn_output_same(record, trace))
        return evn_fail(EVN_USAGE, "EVENER_TRACE: %s is EVENER_RECORD's; name another file", trace);
    if (record) status = evn_output_open(&s->record.out, "EVENER_RECORD", record);
    if (!status && trace) status = evn_output_open(&s->trace.out, "EVENER_TRACE", trace);
    if (status || !trace) return status;
    char about[1024];
    snprintf(about, sizeof about, "%s, units %s", program_invocation_short_name,
             evn_units_text(s->units));
    trace_begin(&s->events, evn_output_stream(s->trace.out), about);
    /* else a process forked from this one would write it once more */
    fflush(evn_output_stream(s->trace.out));
    return EVN_OK;
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

/* Takes down what the loop did and closes it. */
static evn_status finish(evn_session *s, struct opened *o) {
    evn_status status = EVN_OK, traced = EVN_OK;
    if (!o->loop) return EVN_OK;
    if (s->record.out) status = note(s, &s->record, record_take(&o->record, o->loop, o->begin));
    if (s->trace.out) {
        char name[320];
        snprintf(name, sizeof name, "loop %d: %s", (int)(o - s->opened),
                 evn_schedule_text(evn_loop_schedule(o->loop)));
        traced = trace_add(&s->events, o->loop, "task", name, o->begin);
        fflush(evn_output_stream(s->trace.out));
        if (!traced && ferror(evn_output_stream(s->trace.out))) /* which says why */
            traced = s->trace.failed ? evn_fail(EVN_SYSTEM, "%s", s->message)
                                     : evn_output_commit(s->trace.out);
        traced = note(s, &s->trace, traced);
    }
    evn_loop_close(o->loop);
    evn_schedule_close(o->schedule);
    o->loop = NULL;
    o->schedule = NULL;
    return status ? status : traced;
}

/* Speed of each unit as far as anybody knows before it has run: its cores, or its devices. */
static double *count_speeds(const evn_units *units) {
    const int n = evn_units_count(units);
    double *speed = malloc((size_t)n * sizeof *speed);
    for (int u = 0; speed && u < n; u++) {
        const evn_unit *unit = evn_units_get(units, u);
        speed[u] = evn_unit_is_gpu(unit) ? evn_unit_devices(unit) : evn_unit_cores(unit);
    }
    return speed;
}

static evn_status open_schedule(evn_schedule **out, const char *text, const evn_problem *problem) {
    const char *asked = NULL;
    if (is_default(text)) text = asked = variable("EVENER_SCHEDULE");
    if (is_default(text))
        text = problem->instances > 0 && problem->instances < FEW_INSTANCES ? "dynamic"
                                                                            : "guided:time";
    evn_status status = evn_schedule_open(out, text, problem);
    if (status != EVN_USAGE || !asked) return status;
    /* or is it the problem that is wrong? */
    char message[1024];
    snprintf(message, sizeof message, "%s", evn_message());
    evn_schedule *plain;
    status = evn_schedule_open(&plain, "static", problem);
    if (status) return status;
    evn_schedule_close(plain);
    return evn_fail(EVN_USAGE, "EVENER_SCHEDULE: %s", message);
}

/* Threads and files are those of the process that has opened the session. */
static evn_status refuse_forked(const evn_session *s, const char *what) {
    if (s->forks == process_forks()) return EVN_OK;
    return evn_fail(
        EVN_USAGE, "session: %s in a process that was forked since evn_open(); open a session here",
        what);
}

evn_status evn_open_loop(evn_loop **out, evn_session *s, const char *schedule,
                         const evn_problem *problem) {
    NEED_OUT(out);
    NEED(s, "a session");
    NEED(problem, "a problem");
    evn_status here = refuse_forked(s, "evn_open_loop()");
    if (here) return here;
    struct opened *more = realloc(s->opened, (size_t)(s->loops + 1) * sizeof *more);
    if (!more) return evn_fail(EVN_MEMORY, "loop: not enough memory");
    s->opened = more;
    struct opened o = {0};
    evn_problem whole = *problem;
    double *speed = NULL;
    if (!whole.units) whole.units = evn_units_count(s->units);
    if (!whole.speed && whole.units == evn_units_count(s->units)) {
        whole.speed = speed = count_speeds(s->units);
        if (!speed) return evn_fail(EVN_MEMORY, "loop: not enough memory");
    }
    evn_status status = open_schedule(&o.schedule, schedule, &whole);
    free(speed);
    if (!status && evn_schedule_reassigns(o.schedule))
        status = evn_fail(EVN_USAGE,
                          "loop: \"%s\" shares cores out before units are opened, and these are "
                          "open; expected binpack",
                          evn_schedule_text(o.schedule));
    if (!status) status = evn_loop_open(&o.loop, s->units, o.schedule);
    o.begin = evn_now() - s->begin;
    if (!status && s->trace.out)
        status = evn_loop_keep_bursts(o.loop, TRACE_BURSTS);
    else if (!status && s->record.out)
        status = evn_loop_keep_bursts(o.loop, record_bursts(whole.tasks));
    if (status) {
        evn_loop_close(o.loop);
        evn_schedule_close(o.schedule);
        return status;
    }
    s->opened[s->loops++] = o;
    *out = o.loop;
    return EVN_OK;
}

/* Loops and units cannot be closed from within. */
static evn_status refuse_at_work(const evn_session *s, const char *what) {
    if (!evn_units_running(s->units)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "session: %s while its units are at work, from within a body or a job; it must "
                    "return first",
                    what);
}

evn_status evn_close_loop(evn_session *s, evn_loop *loop) {
    if (!loop) return EVN_OK;
    NEED(s, "a session");
    evn_status refused = refuse_forked(s, "evn_close_loop()");
    if (!refused) refused = refuse_at_work(s, "evn_close_loop()");
    if (refused) return refused;
    for (int i = 0; i < s->loops; i++) {
        if (s->opened[i].loop != loop) continue;
        evn_status status = finish(s, &s->opened[i]);
        forget_bursts(s);
        return status;
    }
    return evn_fail(EVN_USAGE, "loop: it is none of this session's, or was closed before; "
                               "evn_loop_close() closes what evn_loop_open() has opened");
}

/* -- the whole -- */

static void release(evn_session *s) {
    for (int i = s->loops - 1; i >= 0; i--) record_release(&s->opened[i].record);
    free(s->opened);
    evn_output_close(s->record.out);
    evn_output_close(s->trace.out);
    evn_units_close(s->units);
    evn_machine_close(s->machine);
    free(s);
}

evn_status evn_open(evn_session **out, const char *units, const char *devices, unsigned flags) {
    NEED_OUT(out);
    evn_session *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "session: not enough memory");
    s->forks = process_forks();
    s->begin = evn_now();
    evn_status status = open_units(s, units, devices, flags);
    if (!status) status = open_files(s);
    if (status) {
        release(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

static evn_status write_record(evn_session *s) {
    struct recorded_loop *all = calloc((size_t)s->loops + 1, sizeof *all);
    if (!all) return evn_fail(EVN_MEMORY, "not enough memory for %d loops", s->loops);
    for (int i = 0; i < s->loops; i++) all[i] = s->opened[i].record;
    fflush(stdout); /* where the record may go, behind what is there */
    evn_status status = record_write(evn_output_stream(s->record.out), all, s->loops, s->units);
    free(all);
    return status;
}

/* In a process that was forked since: memory is given back, and the files stay as they are. */
static evn_status close_forked(evn_session *s) {
    for (int i = 0; i < s->loops; i++) {
        evn_loop_close(s->opened[i].loop);
        evn_schedule_close(s->opened[i].schedule);
    }
    release(s);
    return EVN_OK;
}

evn_status evn_close(evn_session *s) {
    if (!s) return EVN_OK;
    if (s->forks != process_forks()) return close_forked(s);
    evn_status status = refuse_at_work(s, "evn_close()");
    if (status) return status;
    for (int i = 0; i < s->loops; i++) finish(s, &s->opened[i]);
    if (s->record.out && !s->record.failed) note(s, &s->record, write_record(s));
    if (s->trace.out) trace_end(&s->events);
    if (!s->record.failed) note(s, &s->record, evn_output_commit(s->record.out));
    if (!s->trace.failed) note(s, &s->trace, evn_output_commit(s->trace.out));
    status = s->status;
    char message[sizeof s->message];
    memcpy(message, s->message, sizeof message);
    release(s);
    return status ? evn_fail(status, "%s", message) : EVN_OK;
}

evn_units *evn_session_units(const evn_session *s) {
    NEED_OR(NULL, s, "a session");
    return s->units;
}
const evn_machine *evn_session_machine(const evn_session *s) {
    NEED_OR(NULL, s, "a session");
    return s->machine;
}
