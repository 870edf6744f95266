/* Machine and units of a session: from the program, its user's environment and defaults; other
 * units later on. */
#include "base/argument.h"
#include "session/session.h"
#include "unit/descriptor.h"
#include "unit/device_ops.h"
#include "machine/cores.h"
#include <stdlib.h>
#include <string.h>

/* ---- the environment ---- */

int session_default(const evn_session *s, const char *text) {
    return !text || (!s->no_environment && !strcmp(text, "default"));
}

const char *session_variable(const evn_session *s, const char *name) {
    const char *text = s->no_environment ? NULL : secure_getenv(name);
    return text && *text ? text : NULL;
}

evn_status session_blame(const char *name, evn_status status) {
    return evn_fail(status, "%s: %s", name, evn_message());
}

static evn_status read_oversubscribe(const evn_session *s, unsigned *flags) {
    const char *text = session_variable(s, "EVENER_OVERSUBSCRIBE");
    if (!text || !strcmp(text, "0")) return EVN_OK;
    if (strcmp(text, "1") != 0)
        return evn_fail(EVN_USAGE, "EVENER_OVERSUBSCRIBE: \"%.40s\", expected 1 or 0", text);
    *flags |= EVN_OVERSUBSCRIBE;
    return EVN_OK;
}

/* Lists of units and devices, of the program or its user. */
struct words {
    const char *list, *devices;
    const char *asked_list, *asked_devices; /* the user's texts, for messages */
    unsigned flags;
};

static evn_status read_words(const evn_session *s, struct words *w, const char *list,
                             const char *devices, unsigned flags) {
    *w = (struct words){.list = list, .devices = devices, .flags = flags};
    if (session_default(s, list)) w->list = w->asked_list = session_variable(s, "EVENER_UNITS");
    if (session_default(s, devices))
        w->devices = w->asked_devices = session_variable(s, "EVENER_DEVICES");
    if (session_default(s, w->list)) w->list = "auto";
    if (session_default(s, w->devices)) w->devices = NULL;
    evn_status status = read_oversubscribe(s, &w->flags);
    if (status || !w->asked_devices || !w->devices) return status;
    int count;
    status = unit_count_devices(w->devices, &count);
    return status ? session_blame("EVENER_DEVICES", status) : EVN_OK;
}

static evn_status blame_words(const struct words *w, evn_status status) {
    if (status && w->asked_list) return session_blame("EVENER_UNITS", status);
    if (status == EVN_MISSING && w->asked_devices) return session_blame("EVENER_DEVICES", status);
    return status;
}

/* ---- the machine ---- */

/* Number of cores that the list of units needs; 0: all. */
static evn_status count_cores(const struct words *w, int *wanted) {
    struct unit_list list = {0};
    const int is_auto = unit_list_is_auto(w->list);
    evn_status status = is_auto ? EVN_OK : unit_list_parse(&list, w->list, 0, 0);
    *wanted = list.cores;
    return status;
}

/* The machine as this process may use it. */
static evn_status open_machine(evn_session *s, const struct words *w) {
    int wanted = 0;
    evn_status status = EVN_OK;
    if (s->machine) return EVN_OK; /* the program has given its machine */
    if (!s->cluster) {
        status = evn_machine_open(&s->own_machine);
    } else {
        status = session_agree(s, blame_words(w, count_cores(w, &wanted)));
        if (!status)
            status = session_ranks.machine(s->cluster, &s->own_machine, wanted,
                                           (w->flags & EVN_OVERSUBSCRIBE) != 0);
    }
    s->machine = s->own_machine;
    return status;
}

/* ---- the units ---- */

/* Binding the calling thread around each loop costs more than it gains where steps are short. */
static unsigned own_flags(unsigned flags) {
    unsigned own = flags & ~(unsigned)EVN_TEAMS;
    if (!(flags & EVN_STAY_BOUND)) own |= EVN_CALLER_FREE;
    if (!(flags & EVN_TEAMS)) own |= EVN_SINGLE_CORES;
    return own;
}

/* Opens the units on the machine, and tells all ranks of them. */
static evn_status open_units(evn_session *s, const struct words *w) {
    evn_status status = EVN_OK;
    if (!(w->flags & EVN_DESCRIBE_ONLY) && !evn_machine_about(s->machine).here)
        status = evn_fail(EVN_USAGE, "%s", machine_reason(s->machine));
    else
        status = blame_words(
            w, evn_units_open(&s->units, s->machine, w->list, w->devices, own_flags(w->flags)));
    s->described = (w->flags & EVN_DESCRIBE_ONLY) != 0;
    status = session_agree(s, status);
    return status || !s->cluster ? status : session_ranks.units(s->cluster, s->units, NULL);
}

evn_status session_begin(evn_session *s, const char *list, const char *devices, unsigned flags) {
    struct words w;
    evn_status status = session_agree(s, read_words(s, &w, list, devices, flags));
    if (!status) status = open_machine(s, &w);
    if (!status && !(flags & EVN_UNITS_LATER)) status = open_units(s, &w);
    return status;
}

/* 1: a loop of the session is open, and has left a message. */
static int has_loops(const evn_session *s, const char *what) {
    for (int i = 0; i < s->loops; i++) {
        const struct opened *o = &s->opened[i];
        if (!o->loop) continue;
        evn_fail(EVN_USAGE, "session: %s while a loop is open, %s%s; evn_close_loop() closes it",
                 what, o->record.name ? "" : "without a name under ",
                 o->record.name ? o->record.name : evn_schedule_text(evn_loop_schedule(o->loop)));
        return 1;
    }
    return 0;
}

static void close_units(evn_session *s) {
    session_forget_loops(s);
    evn_units_close(s->units);
    s->units = NULL;
}

static evn_status refuse_units(const evn_session *s, const char *what) {
    evn_status status = s->units ? session_at_work(s, what) : EVN_OK;
    return status ? status : has_loops(s, what) ? EVN_USAGE : EVN_OK;
}

evn_status evn_session_units_close(evn_session *s) {
    NEED(s, "a session");
    evn_status status = session_foreign(s, "evn_session_units_close()");
    if (!status) status = refuse_units(s, "evn_session_units_close()");
    if (!status) close_units(s);
    return status;
}

evn_status evn_session_units_open(evn_session *s, const char *list, const char *devices,
                                  unsigned flags) {
    NEED(s, "a session");
    evn_status status = session_foreign(s, "evn_session_units_open()");
    if (status) return status;
    struct words w;
    if (s->units) status = session_at_work(s, "evn_session_units_open()");
    if (status) return status; /* no rank waits for the call of a body */
    status = refuse_units(s, "evn_session_units_open()");
    if (!status) status = read_words(s, &w, list, devices, flags);
    status = session_agree(s, status);
    if (status) return status;
    close_units(s);
    status = open_units(s, &w);
    if (!status)
        status = session_agree(s, session_has_files() ? session_files.units_opened(s) : EVN_OK);
    if (!status) return EVN_OK;
    evn_units_close(s->units);
    s->units = NULL;
    return status;
}

evn_status session_units_needed(const evn_session *s, const char *what) {
    if (s->units) return EVN_OK;
    return evn_fail(EVN_USAGE, "session: %s without units; evn_session_units_open() opens them",
                    what);
}

evn_units *evn_session_units(const evn_session *s) {
    NEED_OR(NULL, s, "a session");
    return s->units;
}

const evn_machine *evn_session_machine(const evn_session *s) {
    NEED_OR(NULL, s, "a session");
    return s->machine;
}
