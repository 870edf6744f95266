/* Reading a record: all that a page needs is checked here, so that drawing can trust it. */
#include "report/report.h"
#include "common/cli/message.h"
#include "run/table.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A record of a million tasks is 20 MiB; a text of this size becomes 2 GB of values at worst. */
enum { FILE_MAX = 32 << 20 };
enum { UNITS_MAX = 65536, TASKS_MAX = 1 << 24, PARTS_MAX = 24, CHOICES_MAX = 4096, TEXT_MAX = 400 };
enum { DEVICES_MAX = 1024, PHASES_MAX = 64, SITES_MAX = 1024 };

static const struct report_kind kinds[] = {
    {"compute", "computing", 0},
    {"exchange", "exchange", 0},
    {"copy", "copies", 1},
    {"migration", "moving tasks", 0},
    {"task_copy", "copying whole tasks", 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const struct report_kind *report_kind(int i) { return i >= 0 && i < KINDS ? &kinds[i] : NULL; }

const char *report_noun(const struct report_record *r) {
    const struct workload *w = r->noun ? NULL : workload_find(r->app); /* records had none once */
    return r->noun ? r->noun : w ? w->noun : "task";
}

int report_timed(const struct report_record *r) { return isfinite(r->compute_s); }

double report_step(const struct report_record *r) {
    return r->steps > 0 ? r->seconds / r->steps : NAN;
}

/* -- values of a record, each with a message that says where it is wrong -- */

/* Where reading is: after the first complaint `bad` stays set and the rest is passed over. */
struct reader {
    const char *file;
    int bad;
};

static void wrong(struct reader *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void wrong(struct reader *in, const char *format, ...) {
    if (in->bad) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    in->bad = 1;
    complain("%s: %s", in->file, text);
}

enum need { OPTIONAL, NEEDED };

/* The value of a key; NULL after a complaint if it is needed and not there. null counts as absent
 * where it is optional. */
static const cJSON *value(struct reader *in, const cJSON *o, const char *where, const char *key,
                          enum need need) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    if (need == OPTIONAL && cJSON_IsNull(v)) return NULL;
    if (!v && need == NEEDED)
        wrong(in, "no \"%s%s\"; expected a record, as of evener run APP --json FILE", where, key);
    return v;
}

static const char *read_text(struct reader *in, const cJSON *o, const char *where, const char *key,
                             enum need need) {
    const cJSON *v = value(in, o, where, key, need);
    if (!v) return NULL;
    if (!cJSON_IsString(v))
        wrong(in, "\"%s%s\" is no text", where, key);
    else if (strlen(v->valuestring) > TEXT_MAX)
        wrong(in, "\"%s%s\" is longer than %d characters", where, key, TEXT_MAX);
    else if (!*v->valuestring && need == NEEDED)
        wrong(in, "\"%s%s\" is empty", where, key);
    else
        return v->valuestring;
    return NULL;
}

/* No time, size or number of anything lies beyond these; within them no quotient overflows. */
static const double MAX = 1e30, LEAST = 1e-30;

static double check_number(struct reader *in, const cJSON *v, const char *where, const char *key) {
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || v->valuedouble > MAX) {
        wrong(in, "\"%s%s\" is no number from 0 to %g", where, key, MAX);
        return NAN;
    }
    return v->valuedouble < LEAST ? 0 : v->valuedouble;
}

static double read_number(struct reader *in, const cJSON *o, const char *where, const char *key,
                          enum need need) {
    const cJSON *v = value(in, o, where, key, need);
    return v ? check_number(in, v, where, key) : NAN;
}

static int read_whole(struct reader *in, const cJSON *o, const char *where, const char *key,
                      int max) {
    double x = read_number(in, o, where, key, NEEDED);
    if (x == floor(x) && x <= max) return (int)x;
    wrong(in, "\"%s%s\" is no whole number from 0 to %d", where, key, max);
    return 0;
}

/* The object or array of a key. */
static const cJSON *read_nest(struct reader *in, const cJSON *o, const char *where, const char *key,
                              enum need need, int array) {
    const cJSON *v = value(in, o, where, key, need);
    if (!v || (array ? cJSON_IsArray(v) : cJSON_IsObject(v))) return v;
    wrong(in, "\"%s%s\" is no %s", where, key, array ? "list" : "object");
    return NULL;
}

static void *room(struct reader *in, int n, size_t size) {
    void *p = calloc((size_t)n + 1, size);
    if (!p) wrong(in, "not enough memory for %d entries", n);
    return p;
}

/* A list of numbers; NULL after a complaint. */
static double *read_numbers(struct reader *in, const cJSON *list, const char *what, int n) {
    double *x = room(in, n, sizeof *x);
    const cJSON *v;
    int i = 0;
    cJSON_ArrayForEach(v, list) {
        if (x && i < n) x[i++] = check_number(in, v, "", what);
    }
    return x;
}

static int *read_wholes(struct reader *in, const cJSON *list, const char *what, int n, int max) {
    int *x = room(in, n, sizeof *x);
    const cJSON *v;
    int i = 0;
    cJSON_ArrayForEach(v, list) {
        if (!x || i >= n || in->bad) break;
        if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || v->valuedouble > max ||
            v->valuedouble != floor(v->valuedouble))
            wrong(in, "\"%s\" at entry %d: expected a whole number from 0 to %d", what, i, max);
        else
            x[i++] = (int)v->valuedouble;
    }
    return x;
}

/* -- the parts of a record -- */

static int alike(const struct report_unit *a, const struct report_unit *b) {
    return a->rank == b->rank && a->gpu == b->gpu &&
           (a->gpu ? a->devices == b->devices : a->cores == b->cores);
}

/* "4:CPU:2,1:GPU:1": runs of units alike; over ranks "2:CPU:1 | 2:CPU:1". */
static void write_units(struct report_record *r) {
    char *at = r->units_text, *end = at + sizeof r->units_text;
    for (int u = 0; u < r->units;) {
        const struct report_unit *x = &r->unit[u];
        int n = 1;
        const char *between = at == r->units_text ? "" : x->rank != x[-1].rank ? " | " : ",";
        while (u + n < r->units && alike(x, &r->unit[u + n])) n++;
        u += n;
        char run[48];
        int length = snprintf(run, sizeof run, "%s%d:%s", between, n, x->gpu ? "GPU" : "CPU");
        /* the record does not say how many cores an oversubscribed unit has */
        if (x->gpu || x->cores)
            length += snprintf(run + length, sizeof run - (size_t)length, ":%d",
                               x->gpu ? x->devices : x->cores);
        if (length + 4 >= end - at) {
            snprintf(at, (size_t)(end - at), ",..");
            return;
        }
        memcpy(at, run, (size_t)length + 1);
        at += length;
    }
}

static void read_units(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "units", NEEDED, 1), *o;
    if (!list) return;
    int n = cJSON_GetArraySize(list), u = 0;
    if (n < 1 || n > UNITS_MAX) {
        wrong(in, "\"units\" has %d entries, expected 1 to %d", n, UNITS_MAX);
        return;
    }
    r->unit = room(in, n, sizeof *r->unit);
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        char where[32];
        snprintf(where, sizeof where, "units[%d].", u);
        struct report_unit *x = &r->unit[u++];
        const char *kind = read_text(in, o, where, "kind", NEEDED);
        if (kind && strcmp(kind, "cpu") != 0 && strcmp(kind, "gpu") != 0)
            wrong(in, "\"%skind\": unknown kind \"%.40s\", expected cpu or gpu", where, kind);
        x->gpu = kind && !strcmp(kind, "gpu");
        x->cores = cJSON_GetArraySize(read_nest(in, o, where, "cores", OPTIONAL, 1));
        const cJSON *device = cJSON_GetObjectItemCaseSensitive(o, "device"); /* one, or a list */
        x->devices = cJSON_IsArray(device) ? cJSON_GetArraySize(device) : 1;
        const cJSON *rank = cJSON_GetObjectItemCaseSensitive(o, "rank"); /* alone there is none */
        x->rank = cJSON_IsNumber(rank) ? rank->valueint : 0;
        x->tasks = read_whole(in, o, where, "tasks", TASKS_MAX);
        x->weight = read_number(in, o, where, "weight", NEEDED);
        x->compute_s = read_number(in, o, where, "compute_s", NEEDED);
        x->exchange_s = read_number(in, o, where, "exchange_s", NEEDED);
        x->idle_s = read_number(in, o, where, "idle_s", NEEDED);
    }
    r->units = u;
    write_units(r);
}

static void read_owner(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "owner", NEEDED, 1);
    r->tasks = cJSON_GetArraySize(list);
    if (list) r->owner = read_wholes(in, list, "owner", r->tasks, r->units - 1);
}

static void read_zones(struct reader *in, struct report_record *r) {
    const cJSON *zones = read_nest(in, r->json, "", "zones", OPTIONAL, 0);
    if (!zones) return;
    for (int d = 0; d < 2; d++) {
        const char *key = d ? "y" : "x";
        const cJSON *list = read_nest(in, zones, "zones.", key, NEEDED, 1);
        if (!list) return;
        r->zones[d] = cJSON_GetArraySize(list);
        r->width[d] = read_numbers(in, list, d ? "zones.y" : "zones.x", r->zones[d]);
        for (int i = 0; i < r->zones[d] && !in->bad; i++)
            if (!(r->width[d][i] > 0))
                wrong(in, "\"zones.%s\" at entry %d: a width above 0 is needed", key, i);
    }
    if ((double)r->zones[0] * r->zones[1] != r->tasks)
        wrong(in, "\"zones\" are %d x %d, but \"owner\" has %d entries", r->zones[0], r->zones[1],
              r->tasks);
}

static void unknown_kind(struct reader *in, const char *where, const char *kind) {
    char list[160] = "";
    for (int k = 0; k < KINDS; k++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", k ? ", " : "", kinds[k].name);
    }
    wrong(in, "\"%skind\": unknown kind \"%.40s\", expected one of %s", where, kind, list);
}

static void read_bursts(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "bursts", OPTIONAL, 1), *o;
    if (!list) return;
    int n = cJSON_GetArraySize(list), i = 0;
    r->burst = room(in, n, sizeof *r->burst);
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        char where[32];
        snprintf(where, sizeof where, "bursts[%d].", i);
        struct report_burst *b = &r->burst[i++];
        const char *kind = read_text(in, o, where, "kind", NEEDED);
        b->begin = read_number(in, o, where, "begin", NEEDED);
        b->end = read_number(in, o, where, "end", NEEDED);
        b->unit = read_whole(in, o, where, "unit", r->units - 1);
        b->task = read_whole(in, o, where, "task", TASKS_MAX);
        b->count = read_whole(in, o, where, "count", TASKS_MAX);
        b->step = read_whole(in, o, where, "step", 1000000000);
        for (b->kind = 0; kind && b->kind < KINDS && strcmp(kinds[b->kind].name, kind) != 0;)
            b->kind++;
        if (kind && b->kind == KINDS) unknown_kind(in, where, kind);
        if (b->end < b->begin) wrong(in, "\"%send\" lies before its begin", where);
    }
    r->bursts = n;
}

/* Where there are ranks each has some units, one rank's after another's. */
static void read_ranks(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "ranks", OPTIONAL, 1), *o;
    if (!list || in->bad) return;
    const int n = cJSON_GetArraySize(list);
    int last = -1, ordered = n <= r->units;
    for (int u = 0; u < r->units; last = r->unit[u++].rank)
        ordered &= r->unit[u].rank == last || r->unit[u].rank == last + 1;
    if (!ordered || !r->units || r->unit[0].rank || last != n - 1) {
        wrong(in, "\"units\" are not of the %d ranks, one rank's after another's", n);
        return;
    }
    r->rank = room(in, n, sizeof *r->rank);
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        char where[32];
        snprintf(where, sizeof where, "ranks[%d].", r->ranks);
        struct report_rank *x = &r->rank[r->ranks++];
        x->host = read_text(in, o, where, "host", NEEDED);
        x->messages = read_number(in, o, where, "messages", NEEDED);
        x->bytes = read_number(in, o, where, "bytes", NEEDED);
        x->moved = read_number(in, o, where, "moved_tasks", NEEDED);
        x->moved_bytes = read_number(in, o, where, "moved_bytes", NEEDED);
        x->wait_s = read_number(in, o, where, "wait_s", NEEDED);
    }
}

/* Messages between ranks, in the order in which they were sent. */
static void read_messages(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "messages", OPTIONAL, 1), *o;
    const cJSON *clocks = read_nest(in, r->json, "", "clocks", OPTIONAL, 0);
    if (clocks) r->uncertainty = read_number(in, clocks, "clocks.", "uncertainty_s", NEEDED);
    if (!list || in->bad) return;
    if (!r->ranks && list->child) wrong(in, "\"messages\" are there, but no \"ranks\"");
    r->message = room(in, cJSON_GetArraySize(list), sizeof *r->message);
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        char where[32];
        snprintf(where, sizeof where, "messages[%d].", r->messages_shown);
        struct report_message *m = &r->message[r->messages_shown++];
        m->kind = read_text(in, o, where, "kind", NEEDED);
        m->from = read_whole(in, o, where, "from", r->ranks - 1);
        m->to = read_whole(in, o, where, "to", r->ranks - 1);
        m->task = cJSON_GetObjectItemCaseSensitive(o, "task")
                      ? read_whole(in, o, where, "task", TASKS_MAX)
                      : -1;
        m->bytes = read_number(in, o, where, "bytes", NEEDED);
        m->sent = read_number(in, o, where, "sent", NEEDED);
        m->received = read_number(in, o, where, "received", NEEDED);
        if (m->from == m->to) wrong(in, "\"%sto\" is the rank that it is from", where);
    }
}

/* Stages (TD-BEM) or phases (NPB-MZ): names and times, the _s of a name left out. */
static void read_parts(struct reader *in, struct report_record *r) {
    const char *key = cJSON_GetObjectItemCaseSensitive(r->json, "stages") ? "stages" : "phases";
    const cJSON *parts = read_nest(in, r->json, "", key, OPTIONAL, 0), *v;
    if (!parts) return;
    r->parts_name = strcmp(key, "stages") ? "phase" : "stage";
    if (cJSON_GetArraySize(parts) > PARTS_MAX) {
        wrong(in, "\"%s\" has more than %d entries", key, PARTS_MAX);
        return;
    }
    r->part = room(in, PARTS_MAX, sizeof *r->part);
    cJSON_ArrayForEach(v, parts) {
        if (in->bad) return;
        size_t length = strlen(v->string);
        if (length > 40) wrong(in, "\"%s\" has a name of more than 40 characters", key);
        double seconds = check_number(in, v, key, "");
        if (in->bad) return;
        if (length > 2 && !strcmp(v->string + length - 2, "_s")) v->string[length - 2] = 0;
        r->part[r->parts++] = (struct report_part){v->string, seconds};
    }
}

/* Reads the times of launches on device number `device`. */
static void read_phases(struct reader *in, struct report_record *r, const cJSON *o, int device) {
    char where[96];
    snprintf(where, sizeof where, "devices[%d].", device);
    const cJSON *phases = read_nest(in, o, where, "phases", OPTIONAL, 0), *v;
    if (!phases) return;
    if (cJSON_GetArraySize(phases) > PHASES_MAX) {
        wrong(in, "\"%sphases\" has more than %d entries", where, PHASES_MAX);
        return;
    }
    cJSON_ArrayForEach(v, phases) {
        if (in->bad) return;
        if (!cJSON_IsObject(v) || strlen(v->string) > 47)
            wrong(in,
                  "\"devices[%d].phases\" at \"%.48s\": expected a name of up to 47 characters, "
                  "with seconds and launches",
                  device, v->string);
        if (in->bad) return;
        snprintf(where, sizeof where, "devices[%d].phases.%s.", device, v->string);
        struct report_launches *l = &r->launches[r->timed++];
        *l = (struct report_launches){.device = device, .name = v->string};
        l->seconds = read_number(in, v, where, "seconds", NEEDED);
        l->launches = read_number(in, v, where, "launches", NEEDED);
    }
}

/* Devices; those of a run without --phases have counters alone. */
static void read_devices(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "devices", OPTIONAL, 1), *o;
    const int devices = list ? cJSON_GetArraySize(list) : 0;
    if (!devices) return;
    if (devices > DEVICES_MAX) {
        wrong(in, "\"devices\" has more than %d entries", DEVICES_MAX);
        return;
    }
    r->launches = room(in, devices * PHASES_MAX, sizeof *r->launches);
    int device = 0;
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        if (cJSON_IsObject(o))
            read_phases(in, r, o, device++);
        else
            wrong(in, "\"devices\" at entry %d is no object", device);
    }
}

/* Tasks and loads of each unit by iteration: from the owner of each task (evener plan), or as
 * numbers of tasks, "tasks" (intervals); loads are "times" or "unit_compute_s" (s), or "load"
 * (weight). */
static void read_iterations(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "iterations", r->plan ? NEEDED : OPTIONAL, 1);
    if (!list) return;
    const cJSON *o;
    int n = cJSON_GetArraySize(list);
    r->iteration = room(in, n, sizeof *r->iteration);
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        char where[40];
        struct report_iteration *it = &r->iteration[r->iterations];
        snprintf(where, sizeof where, "iterations[%d].", r->iterations++);
        const cJSON *owner = read_nest(in, o, where, "owner", OPTIONAL, 1);
        const cJSON *tasks = read_nest(in, o, where, "tasks", OPTIONAL, 1);
        const cJSON *load = NULL;
        static const char *const loads[] = {"times", "unit_compute_s", "load"};
        for (int k = 0; k < 3 && !load; k++) {
            load = read_nest(in, o, where, loads[k], OPTIONAL, 1);
            r->load_is_weight = load && k == 2;
        }
        if ((tasks && cJSON_GetArraySize(tasks) != r->units) ||
            (load && cJSON_GetArraySize(load) != r->units))
            wrong(in, "\"%s\" has lists that are not one entry for each of the %d units", where,
                  r->units);
        if (load) it->load = read_numbers(in, load, "iterations", r->units);
        if (owner) {
            int m = cJSON_GetArraySize(owner);
            int *of = read_wholes(in, owner, "owner", m, r->units - 1);
            it->tasks = room(in, r->units, sizeof *it->tasks);
            for (int t = 0; t < m && of && it->tasks && !in->bad; t++) it->tasks[of[t]]++;
            free(of);
        } else if (tasks) {
            it->tasks = read_wholes(in, tasks, "tasks", r->units, TASKS_MAX);
        }
    }
}

/* The site of that name, which may be a new one; NULL: there are too many. */
static struct report_site *site_of(struct reader *in, struct report_record *r, const char *name) {
    for (int i = r->sites; i-- > 0;)
        if (!strcmp(r->site[i].name, name)) return &r->site[i];
    if (r->sites == SITES_MAX) wrong(in, "\"loops\" has more than %d names", SITES_MAX);
    struct report_unit *unit = in->bad ? NULL : room(in, r->units, sizeof *unit);
    if (!unit) return NULL;
    struct report_site *s = &r->site[r->sites++];
    *s = (struct report_site){.name = name, .unit = unit};
    return s;
}

/* Adds a loop to its site. */
static void add_loop(struct reader *in, const struct report_record *r, struct report_site *s,
                     const cJSON *o) {
    static const char where[] = "loops[].";
    const cJSON *units = read_nest(in, o, where, "units", NEEDED, 1), *u;
    const cJSON *transfers = read_nest(in, o, where, "transfers", NEEDED, 0);
    s->loops++;
    s->schedule = read_text(in, o, where, "schedule", NEEDED);
    s->tasks = read_number(in, o, where, "tasks", NEEDED);
    s->instances += read_number(in, o, where, "steps", NEEDED);
    s->seconds += read_number(in, o, where, "seconds", NEEDED);
    if (in->bad) return;
    s->migrations += read_number(in, transfers, "loops[].transfers.", "migrations", NEEDED);
    s->moved_bytes += read_number(in, transfers, "loops[].transfers.", "moved_bytes", NEEDED);
    if (cJSON_GetArraySize(units) != r->units) return; /* before a unit was lost */
    int i = 0;
    cJSON_ArrayForEach(u, units) {
        struct report_unit *to = &s->unit[i++];
        to->compute_s += read_number(in, u, "loops[].units[].", "compute_s", NEEDED);
        to->exchange_s += read_number(in, u, "loops[].units[].", "exchange_s", NEEDED);
        to->idle_s += read_number(in, u, "loops[].units[].", "idle_s", NEEDED);
    }
}

/* Loops with names, which programs with directives have. */
static void read_sites(struct reader *in, struct report_record *r) {
    const cJSON *list = read_nest(in, r->json, "", "loops", OPTIONAL, 1), *o;
    r->site = list ? room(in, SITES_MAX, sizeof *r->site) : NULL;
    cJSON_ArrayForEach(o, list) {
        const char *name = in->bad ? NULL : read_text(in, o, "loops[].", "name", OPTIONAL);
        struct report_site *s = name ? site_of(in, r, name) : NULL;
        if (s) add_loop(in, r, s, o);
        if (in->bad) return;
    }
    if (r->sites) r->steps = NAN;
}

/* ---- tasks that come and go ---- */

static void read_change(struct reader *in, const cJSON *o, struct report_change *c) {
    static const char where[] = "changes[].";
    c->instance = read_whole(in, o, where, "instance", 1000000000);
    c->tasks = read_number(in, o, where, "tasks", NEEDED);
    c->kept = read_number(in, o, where, "kept", NEEDED);
    c->born = read_number(in, o, where, "born", NEEDED);
    c->gone = read_number(in, o, where, "gone", NEEDED);
    c->moved = read_number(in, o, where, "moved", NEEDED);
    c->moved_bytes = read_number(in, o, where, "moved_bytes", NEEDED);
    c->faces_added = read_number(in, o, where, "faces_added", NEEDED);
    c->faces_gone = read_number(in, o, where, "faces_gone", NEEDED);
    c->seconds = read_number(in, o, where, "seconds", NEEDED);
    c->imbalance = read_number(in, o, where, "imbalance", OPTIONAL);
}

/* The changes of a record or of one of its loops, if there are any. After the loss of a device
 * instances are counted anew, and go on here from those before. */
static void read_changes(struct reader *in, struct report_record *r, const cJSON *of,
                         const char *name, const char *instances) {
    const cJSON *list = in->bad ? NULL : read_nest(in, of, "", "changes", OPTIONAL, 1), *o;
    const int n = list ? cJSON_GetArraySize(list) : 0;
    if (!n || r->changing == SITES_MAX) return;
    struct report_changes *c = &r->changes[r->changing++];
    snprintf(c->name, sizeof c->name, "%.95s", name);
    c->change = room(in, n, sizeof *c->change);
    cJSON_ArrayForEach(o, list) {
        if (in->bad) return;
        struct report_change *at = &c->change[c->count++];
        read_change(in, o, at);
        if (at > c->change && at->instance < at[-1].instance) at->instance += at[-1].instance;
    }
    const double last = c->change[n - 1].instance;
    c->instances = fmax(read_number(in, of, "", instances, NEEDED), last);
}

static void read_all_changes(struct reader *in, struct report_record *r) {
    const cJSON *loops = read_nest(in, r->json, "", "loops", OPTIONAL, 1), *o;
    int number = 0;
    r->changes = room(in, SITES_MAX, sizeof *r->changes);
    read_changes(in, r, r->json, "", "instances");
    cJSON_ArrayForEach(o, loops) {
        char name[32];
        const char *own = in->bad ? NULL : read_text(in, o, "loops[].", "name", OPTIONAL);
        snprintf(name, sizeof name, "loop %d", ++number);
        read_changes(in, r, o, own ? own : name, "steps");
    }
}

static void read_run(struct reader *in, struct report_record *r) {
    const cJSON *root = r->json;
    r->steps = read_whole(in, root, "", "steps", 1000000000);
    r->seconds = read_number(in, root, "", "seconds", NEEDED);
    const cJSON *verified = value(in, root, "", "verified", NEEDED);
    if (verified && !cJSON_IsBool(verified) && !cJSON_IsNull(verified))
        wrong(in, "\"verified\" is none of true, false and null");
    r->verified = cJSON_IsTrue(verified) ? 1 : cJSON_IsFalse(verified) ? 0 : -1;
    r->mops = read_number(in, root, "", "mops", OPTIONAL);
    r->hash = read_text(in, root, "", "hash", OPTIONAL);
    r->imbalance = read_number(in, root, "", "imbalance", OPTIONAL); /* null: infinite */
    read_units(in, r);
    if (!in->bad) read_ranks(in, r);
    const cJSON *periods = read_nest(in, root, "", "periods", NEEDED, 0);
    const cJSON *transfers = read_nest(in, root, "", "transfers", NEEDED, 0);
    if (in->bad) return;
    r->compute_s = read_number(in, periods, "periods.", "compute_s", NEEDED);
    r->communication_s = read_number(in, periods, "periods.", "communication_s", NEEDED);
    r->migrations = read_number(in, transfers, "transfers.", "migrations", NEEDED);
    r->messages = read_number(in, transfers, "transfers.", "messages", NEEDED);
    r->bytes = read_number(in, transfers, "transfers.", "bytes", NEEDED);
    if (!in->bad) read_owner(in, r);
    if (!in->bad) read_zones(in, r);
    if (!in->bad) read_bursts(in, r);
    if (!in->bad) read_messages(in, r);
    if (!in->bad) read_parts(in, r);
    if (!in->bad) read_devices(in, r);
    if (!in->bad) read_sites(in, r);
    if (!in->bad) read_all_changes(in, r);
    const cJSON *mesh = read_nest(in, root, "", "mesh", OPTIONAL, 0);
    if (mesh) r->triangles = read_number(in, mesh, "mesh.", "triangles", OPTIONAL);
    const cJSON *machine = read_nest(in, root, "", "machine", OPTIONAL, 0);
    if (machine) r->processor = read_text(in, machine, "machine.", "processor", OPTIONAL);
}

/* Reads the predicted step of a plan, if its last iteration has one. */
static void read_prediction(struct reader *in, struct report_record *r) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->json, "iterations"), *o;
    const cJSON *last = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
    if (!cJSON_IsObject(last)) return;
    r->imbalance = read_number(in, last, "iterations[-1].", "imbalance", OPTIONAL);
    r->compute_s = read_number(in, last, "iterations[-1].", "compute_s", OPTIONAL);
    r->communication_s = read_number(in, last, "iterations[-1].", "communication_s", OPTIONAL);
    r->seconds = read_number(in, last, "iterations[-1].", "step_s", OPTIONAL);
    r->bytes = read_number(in, last, "iterations[-1].", "cut_bytes", OPTIONAL);
    r->messages = read_number(in, last, "iterations[-1].", "messages", OPTIONAL);
    r->steps = 1;
    r->migrations = 0;
    cJSON_ArrayForEach(o, list) {
        r->migrations += read_number(in, o, "iterations[].", "migrations", OPTIONAL);
    }
    if (isnan(r->compute_s + r->communication_s + r->seconds))
        r->compute_s = r->communication_s = r->seconds = NAN; /* all of them or none */
}

/* A plan has units as a text, and one speed for each. */
static void read_plan(struct reader *in, struct report_record *r) {
    const char *units = read_text(in, r->json, "", "units", NEEDED);
    if (units) snprintf(r->units_text, sizeof r->units_text, "%s", units);
    const cJSON *speed = read_nest(in, r->json, "", "speed", NEEDED, 1);
    r->units = cJSON_GetArraySize(speed);
    if (speed && (r->units < 1 || r->units > UNITS_MAX))
        wrong(in, "\"speed\" has %d entries, expected 1 to %d", r->units, UNITS_MAX);
}

/* How a plan's tasks lie, whose they are at its end, and the bursts of its last iteration. */
static void read_picture(struct reader *in, struct report_record *r) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->json, "iterations");
    const cJSON *last = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
    const cJSON *owner = cJSON_GetObjectItemCaseSensitive(last, "owner");
    const cJSON *weight = cJSON_GetObjectItemCaseSensitive(r->json, "weight");
    r->tasks = cJSON_GetArraySize(owner);
    if (!r->tasks || cJSON_GetArraySize(weight) != r->tasks) {
        r->tasks = 0;
        return;
    }
    r->owner = read_wholes(in, owner, "owner", r->tasks, r->units - 1);
    double *of = read_numbers(in, weight, "weight", r->tasks);
    r->unit = room(in, r->units, sizeof *r->unit);
    for (int t = 0; r->owner && of && r->unit && t < r->tasks && !in->bad; t++) {
        r->unit[r->owner[t]].tasks++;
        r->unit[r->owner[t]].weight += of[t];
    }
    free(of);
    if (!in->bad) read_zones(in, r);
    if (!in->bad) read_bursts(in, r);
}

/* The rows of evener model. */
static void read_model(struct reader *in, struct report_record *r) {
    static const char *const key[] = {"binpack", "map"};
    const cJSON *list = read_nest(in, r->json, "", "model", NEEDED, 1), *o;
    const int n = cJSON_GetArraySize(list);
    if (!in->bad && (n < 1 || n > CHOICES_MAX))
        wrong(in, "\"model\" has %d rows, expected 1 to %d", n, CHOICES_MAX);
    r->alpha = read_number(in, r->json, "", "alpha", NEEDED);
    r->choice = in->bad ? NULL : room(in, n, sizeof *r->choice);
    cJSON_ArrayForEach(o, list) {
        char where[32];
        if (in->bad || r->choices == n) break;
        snprintf(where, sizeof where, "model[%d].", r->choices);
        struct report_choice *c = &r->choice[r->choices++];
        c->cores = read_whole(in, o, where, "cores", UNITS_MAX * 16);
        c->processes = read_whole(in, o, where, "processes", UNITS_MAX * 16);
        c->threads = read_whole(in, o, where, "threads", UNITS_MAX * 16);
        if (!in->bad && (!c->cores || !c->processes || !c->threads))
            wrong(in, "\"%scores\", \"processes\" or \"threads\" is 0", where);
        for (int g = 0; g < 2; g++)
            c->speedup[g] = read_number(in, read_nest(in, o, where, key[g], NEEDED, 0), where,
                                        "speedup", NEEDED);
        c->speedup[SPEEDUP_EQUATION] = read_number(in, o, where, "speedup_eq1", NEEDED);
        const double measured = read_number(in, o, where, "speedup_measured", OPTIONAL);
        c->speedup[SPEEDUP_MEASURED] = isnan(measured) ? 0 : measured;
    }
}

/* The rows of evener model in virtual time. */
static void read_in_time(struct reader *in, struct report_record *r) {
    static const char *const group[POINT_GROUPS] = {"compute", "copies", "puts", "barriers"};
    const cJSON *list = read_nest(in, r->json, "", "in_time", NEEDED, 1), *o;
    const int n = cJSON_GetArraySize(list);
    if (!in->bad && (n < 1 || n > CHOICES_MAX))
        wrong(in, "\"in_time\" has %d rows, expected 1 to %d", n, CHOICES_MAX);
    r->point = in->bad ? NULL : room(in, n, sizeof *r->point);
    cJSON_ArrayForEach(o, list) {
        char where[32];
        if (in->bad || r->choices == n) break;
        snprintf(where, sizeof where, "in_time[%d].", r->choices);
        struct report_point *p = &r->point[r->choices++];
        p->variant = read_text(in, o, where, "variant", NEEDED);
        p->gpu = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "gpu"));
        p->nodes = read_whole(in, o, where, "nodes", UNITS_MAX);
        p->threads = read_whole(in, o, where, "threads", UNITS_MAX * 16);
        p->step_s = read_number(in, o, where, "step_s", NEEDED);
        p->speedup = read_number(in, o, where, "speedup", NEEDED);
        const cJSON *groups = read_nest(in, o, where, "groups_s", NEEDED, 0);
        for (int g = 0; g < POINT_GROUPS && !in->bad; g++)
            p->group_s[g] = read_number(in, groups, where, group[g], NEEDED);
        if (!in->bad && (!p->nodes || !p->threads))
            wrong(in, "\"%snodes\" or \"threads\" is 0", where);
    }
}

static void read_record(struct reader *in, struct report_record *r) {
    if (!cJSON_IsObject(r->json)) {
        wrong(in, "is JSON, but no record: expected an object, as of evener run APP --json FILE");
        return;
    }
    r->seconds = r->mops = r->imbalance = r->compute_s = r->communication_s = NAN;
    r->migrations = r->messages = r->bytes = r->triangles = NAN;
    r->verified = -1;
    read_text(in, r->json, "", "evener", NEEDED);
    r->app = read_text(in, r->json, "", "app", NEEDED);
    r->class_ = read_text(in, r->json, "", "class", OPTIONAL);
    r->noun = read_text(in, r->json, "", "noun", OPTIONAL);
    const int in_time = cJSON_GetObjectItemCaseSensitive(r->json, "in_time") != NULL;
    const int model = in_time || cJSON_GetObjectItemCaseSensitive(r->json, "model") != NULL;
    if (!model) r->schedule = read_text(in, r->json, "", "schedule", NEEDED);
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(r->json, "command");
    if (cJSON_IsString(command)) r->command = command->valuestring;
    if (model && !in->bad) (in_time ? read_in_time : read_model)(in, r);
    if (in->bad || model) return;
    r->plan = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(r->json, "units"));
    if (r->plan)
        read_plan(in, r);
    else
        read_run(in, r);
    if (!in->bad) read_iterations(in, r);
    if (!in->bad && r->plan) read_prediction(in, r);
    if (!in->bad && r->plan) read_picture(in, r);
}

/* The whole file as text; NULL after a complaint. */
static char *read_file(struct reader *in, size_t *length) {
    struct stat there;
    FILE *file = fopen(in->file, "r");
    char *text = NULL;
    if (!file || fstat(fileno(file), &there))
        wrong(in, "cannot be read: %s", strerror(errno));
    else if (S_ISDIR(there.st_mode))
        wrong(in, "is a folder; expected a record, as of evener run APP --json FILE");
    size_t size = 0, max = 1 << 16;
    *length = 0;
    while (!in->bad) {
        if (*length + 1 >= size) {
            size = size ? 2 * size : max;
            char *more = realloc(text, size);
            if (!more) wrong(in, "not enough memory to read it");
            if (!more) break;
            text = more;
        }
        size_t n = fread(text + *length, 1, size - *length - 1, file);
        *length += n;
        if (*length > FILE_MAX) wrong(in, "is larger than %d MiB; no record is", FILE_MAX >> 20);
        if (n == 0 && ferror(file)) wrong(in, "cannot be read: %s", strerror(errno));
        if (n == 0) break;
    }
    if (file) fclose(file);
    if (in->bad) {
        free(text);
        return NULL;
    }
    text[*length] = 0;
    return text;
}

static void where_wrong(struct reader *in, const char *text, const char *at, size_t length) {
    int line = 1, column = 1;
    if (!at || at < text || at > text + length) at = text;
    const char *last = text + length; /* behind the last character that is no blank */
    while (last > text && strchr(" \t\r\n", last[-1])) last--;
    for (const char *p = text; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    if (last == text)
        wrong(in, "is empty; expected a record, as of evener run APP --json FILE");
    else if (at >= last)
        wrong(in, "ends in the middle of its JSON, at line %d; has it been cut off?", line);
    else
        wrong(in, "is no JSON: line %d, column %d is not understood", line, column);
}

int report_read(struct report_record *r, const char *file) {
    struct reader in = {.file = file};
    *r = (struct report_record){.file = file};
    size_t length;
    char *text = read_file(&in, &length);
    if (!text) return EXIT_USAGE;
    const char *at = NULL;
    if (strlen(text) == length) r->json = cJSON_ParseWithLengthOpts(text, length + 1, &at, 1);
    if (strlen(text) < length)
        wrong(&in, "is no JSON: there is a zero byte behind %zu others", strlen(text));
    else if (!r->json)
        where_wrong(&in, text, at, length);
    else
        read_record(&in, r);
    free(text);
    return in.bad ? EXIT_USAGE : 0;
}

int report_take(struct report_record *r, const char *name, cJSON *json) {
    struct reader in = {.file = name};
    *r = (struct report_record){.file = name, .json = json};
    if (json)
        read_record(&in, r);
    else
        wrong(&in, "is no JSON");
    return in.bad ? EXIT_USAGE : 0;
}

void report_free(struct report_record *r) {
    for (int i = 0; i < r->iterations; i++) {
        free(r->iteration[i].tasks);
        free(r->iteration[i].load);
    }
    free(r->iteration);
    for (int i = 0; i < r->sites; i++) free(r->site[i].unit);
    free(r->site);
    for (int i = 0; i < r->changing; i++) free(r->changes[i].change);
    free(r->changes);
    free(r->choice);
    free(r->point);
    free(r->part);
    free(r->launches);
    free(r->message);
    free(r->rank);
    free(r->burst);
    free(r->width[0]);
    free(r->width[1]);
    free(r->owner);
    free(r->unit);
    cJSON_Delete(r->json);
    *r = (struct report_record){0};
}
