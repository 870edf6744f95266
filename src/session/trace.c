/* Traces of a session: Chrome's format, Paraver's and OTF2's. */
#include "session/session.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_BURSTS = 1 << 20, /* of a unit, 32 MB: more than a viewer likes */
    FEW_BURSTS = 1024,      /* at least, of a unit of one of very many ranks */
};

/* A format: the end of its file names, and its part of the session's trace. */
struct trace_format {
    const char *end; /* "": any */
    int whole;       /* 1: written at the end from all loops' bursts, also without ranks */
    evn_status (*open)(evn_session *s, const char *trace, const char *record);
    evn_status (*write)(evn_session *s);
    void (*close)(evn_session *s);
};

evn_status session_names_record(const char *trace) {
    return evn_fail(EVN_USAGE, "EVENER_TRACE: %s is EVENER_RECORD's; name another file", trace);
}

/* Gives files their names. */
static evn_status commit(evn_status status, evn_output *const *file, int files) {
    /* of a write that failed the commit says where */
    for (int i = 0; i < files && (!status || status == EVN_SYSTEM); i++) {
        const evn_status committed = evn_output_commit(file[i]);
        if (committed) return committed;
    }
    return status;
}

/* -- Chrome's format -- */

/* A trace of one process is written as its loops are closed. */
static evn_status open_chrome(evn_session *s, const char *trace, const char *record) {
    (void)record; /* another file than the trace */
    evn_status status = evn_output_open(&s->trace.out, "EVENER_TRACE", trace);
    if (status || s->cluster) return status;
    char about[1024];
    snprintf(about, sizeof about, "%s%s%s", program_invocation_short_name,
             s->units ? ", units " : "", s->units ? evn_units_text(s->units) : "");
    trace_begin(&s->events, evn_output_stream(s->trace.out), about);
    /* else a process forked from this one would write it once more */
    fflush(evn_output_stream(s->trace.out));
    return EVN_OK;
}

static evn_status write_chrome(evn_session *s) {
    evn_status status = EVN_OK;
    if (s->kept)
        status = evn_trace_put(s->kept, "task", evn_output_stream(s->trace.out));
    else
        trace_end(&s->events);
    return commit(status, &s->trace.out, 1);
}

static void close_chrome(evn_session *s) { evn_output_close(s->trace.out); }

/* -- Paraver's: FILE.prv and the two files beside it -- */

static evn_status open_paraver(evn_session *s, const char *trace, const char *record) {
    static const char *const end[] = {"pcf", "row"};
    evn_status status = evn_output_open(&s->trace.out, "EVENER_TRACE", trace);
    for (int i = 0; !status && i < 2; i++) {
        char *name = strdup(trace);
        if (!name) return evn_fail(EVN_MEMORY, "EVENER_TRACE: not enough memory");
        memcpy(name + strlen(name) - 3, end[i], 3);
        if (record && evn_output_same(record, name))
            status = session_names_record(name);
        else
            status = evn_output_open(&s->beside[i], "EVENER_TRACE", name);
        free(name);
    }
    return status;
}

/* FILE.prv gets its name last. */
static evn_status write_paraver(evn_session *s) {
    evn_output *const file[] = {s->beside[0], s->beside[1], s->trace.out};
    return commit(evn_trace_put_paraver(s->kept, "task", evn_output_stream(s->trace.out),
                                        evn_output_stream(s->beside[0]),
                                        evn_output_stream(s->beside[1])),
                  file, 3);
}

static void close_paraver(evn_session *s) {
    evn_output_close(s->trace.out);
    for (int i = 0; i < 2; i++) evn_output_close(s->beside[i]);
}

/* -- OTF2's: an archive, which is written at the end -- */

static evn_status open_otf2(evn_session *s, const char *trace, const char *record) {
    (void)record; /* another file than the trace */
    evn_status status = evn_trace_otf2();
    if (status) return session_blame("EVENER_TRACE", status);
    status = evn_output_try("EVENER_TRACE", trace, 0);
    if (status) return status;
    s->archive = strdup(trace);
    return s->archive ? EVN_OK : evn_fail(EVN_MEMORY, "EVENER_TRACE: not enough memory");
}

static evn_status write_otf2(evn_session *s) {
    return evn_trace_put_otf2(s->kept, "task", s->archive);
}

static void close_otf2(evn_session *s) { free(s->archive); }

/* -- all of them -- */

/* The formats; the first whose ending the name has is taken. */
static const struct trace_format formats[] = {
    {".otf2", 1, open_otf2, write_otf2, close_otf2},
    {".prv", 1, open_paraver, write_paraver, close_paraver},
    {"", 0, open_chrome, write_chrome, close_chrome},
};

static int ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

evn_status session_trace_open(evn_session *s, const char *trace, const char *record) {
    for (s->format = formats; !ends_with(trace, s->format->end);) s->format++;
    return s->format->open(s, trace, record);
}

evn_status session_trace_write(evn_session *s) { return s->format->write(s); }

void session_trace_close(evn_session *s) {
    if (s->format) s->format->close(s);
}

int session_trace_keeps(const evn_session *s) {
    return s->traces && (s->cluster || s->format->whole);
}

/* As many as rank 0 can hold of all ranks. */
int session_trace_most(const evn_session *s) {
    const int most = TRACE_BURSTS / (s->cluster ? evn_cluster_size(s->cluster) : 1);
    return most > FEW_BURSTS ? most : FEW_BURSTS;
}

evn_status session_trace_keep(evn_session *s) {
    if (!session_trace_keeps(s)) return EVN_OK;
    return trace_open_loops(&s->kept, s->units, s->cluster, s->begin, session_trace_most(s));
}

evn_status session_trace_loop(evn_session *s, const struct opened *o) {
    char name[640], number[32];
    snprintf(number, sizeof number, "loop %d", (int)(o - s->opened));
    snprintf(name, sizeof name, "%.300s: %s", o->record.name ? o->record.name : number,
             evn_schedule_text(evn_loop_schedule(o->loop)));
    if (s->kept) return trace_add_loop(s->kept, o->loop, name);
    evn_status status = trace_add(&s->events, o->loop, "task", name, o->begin);
    fflush(evn_output_stream(s->trace.out));
    if (!status && ferror(evn_output_stream(s->trace.out))) /* the commit's message says why */
        status = s->trace.failed ? evn_fail(EVN_SYSTEM, "%s", s->message)
                                 : evn_output_commit(s->trace.out);
    return status;
}

evn_status session_trace_gather(evn_session *s) {
    evn_status status = s->trace.failed ? evn_fail(s->status, "%s", s->message) : EVN_OK;
    if (!s->kept) return status;
    status = session_agree(s, status);
    return status ? status : evn_trace_gather(s->kept);
}
