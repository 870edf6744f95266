/* Files of a session: its record, and its trace (trace.c), which the user asks for by variables. */
#include "session/session.h"
#include "loop/internal.h"
#include "wire/launcher.h"
#include "base/process.h"
#include <evener/watch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ------------------------------------------------------------------------------- */

/* Reads a file name from a variable, with each %r replaced by this process's rank; "": not set. */
static evn_status read_name(const evn_session *s, const char *variable, char name[PATH_MAX]) {
    const char *text = session_variable(s, variable);
    const int launched = evn_cluster_launched(NULL);
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

/* EVN_USAGE: separate runs that a launcher started together would write the same trace, one over
 * the other. */
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

/* Begins counters of the loops where EVENER_WATCH is set, `asked`, or a record is wanted; without
 * them the record is written all the same. */
static evn_status begin_watch(evn_session *s, int asked) {
    char name[PATH_MAX] = "-";
    if (!asked && !s->records) return EVN_OK;
    evn_status status = s->record.out ? read_name(s, "EVENER_RECORD", name) : EVN_OK;
    if (!status) status = evn_watch_begin(name, s->cluster);
    s->watched = !status;
    return asked ? session_agree(s, status) : EVN_OK;
}

/* Tells all ranks whether rank 0 writes a record, and a trace, to which all contribute, and whether
 * somebody watches. */
static evn_status tell_files(evn_session *s) {
    const char *watch = session_variable(s, "EVENER_WATCH");
    int wanted[] = {s->record.out != NULL, s->format != NULL, watch && strcmp(watch, "0") != 0};
    evn_status status = s->cluster ? evn_cluster_tell(s->cluster, wanted, sizeof wanted) : EVN_OK;
    if (status) return status;
    s->records = wanted[0];
    s->traces = wanted[1];
    status = begin_watch(s, wanted[2]);
    return status || !s->units ? status : session_trace_keep(s);
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

/* ---- loops --------------------------------------------------------------------------------- */

static evn_status keep_bursts(const evn_session *s, evn_loop *loop) {
    loop->notes = s->record.out != NULL;
    const int tasks = evn_schedule_problem(evn_loop_schedule(loop))->tasks;
    if (s->traces) return evn_loop_keep_bursts(loop, session_trace_most(s));
    return s->record.out ? evn_loop_keep_bursts(loop, record_bursts_max(tasks)) : EVN_OK;
}

/* Copies a loop's results; over ranks rank 0 gathers those of all units. */
static evn_status take(evn_session *s, struct opened *o) {
    evn_status status = session_agree(s, record_take(&o->record, o->loop, o->begin));
    return status ? status : session_gather_record(s, &o->record);
}

static evn_status loop_closes(evn_session *s, struct opened *o) {
    evn_status status = EVN_OK, traced = EVN_OK;
    if (s->records) status = note(s, &s->record, take(s, o));
    if (s->traces) traced = note(s, &s->trace, session_trace_loop(s, o));
    return status ? status : traced;
}

static void forget(evn_session *s) {
    evn_trace_close(s->kept);
    s->kept = NULL;
}

/* ---- writing ------------------------------------------------------------------------------- */

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
    fflush(stdout); /* the record may go there, behind earlier output */
    if (!status && s->record.out)
        status = record_write(evn_output_stream(s->record.out), all, s->loops, &parts);
    free(all);
    free(parts.unit);
    free(parts.device);
    return status;
}

/* EVN_USAGE: no units were open at the end, so there is nothing to write. */
static evn_status check_units(const evn_session *s, const char *variable) {
    if (s->units) return EVN_OK;
    return evn_fail(EVN_USAGE, "%s: nothing is written, since no units are open at evn_close()",
                    variable);
}

static void write_files(evn_session *s) {
    if (s->records && !s->record.failed) note(s, &s->record, check_units(s, "EVENER_RECORD"));
    if (s->records && !s->record.failed) note(s, &s->record, write_record(s));
    if (!s->record.failed) note(s, &s->record, evn_output_commit(s->record.out));
    if (session_trace_keeps(s)) note(s, &s->trace, check_units(s, "EVENER_TRACE"));
    if (s->traces) note(s, &s->trace, session_trace_gather(s));
    if (s->format && !s->trace.failed) note(s, &s->trace, session_trace_write(s));
}

static void close_files(evn_session *s) {
    if (s->watched && s->forks == process_forks()) evn_watch_end();
    evn_trace_close(s->kept);
    evn_output_close(s->record.out);
    session_trace_close(s);
}

const struct session_files session_files = {
    .open = open_files,
    .tell = tell_files,
    .units_opened = session_trace_keep,
    .loop_opened = keep_bursts,
    .take_plan = session_take_plan,
    .loop_closes = loop_closes,
    .forget = forget,
    .write = write_files,
    .close = close_files,
};
