/* Checks of a record: all that the page shows is there and can be shown, so that its script can
 * trust it. Keys that nothing shows are passed over. */
#include "report/report.h"
#include "common/cli/message.h"
#include "common/cli/input.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* A record of a million tasks is 20 MiB; a text of this size becomes 2 GB of values at worst. */
enum { FILE_MAX = 32 << 20 };
enum { UNITS_MAX = 65536, TASKS_MAX = 1 << 24, PARTS_MAX = 24, CHOICES_MAX = 4096, TEXT_MAX = 400 };
enum { DEVICES_MAX = 1024, PHASES_MAX = 64, SITES_MAX = 1024, STEPS_MAX = 1000000000 };

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

/* No time, size or number of anything lies beyond this; within it no quotient overflows. */
static const double MAX = 1e30;

static double number_of(const cJSON *o, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return v ? v->valuedouble : NAN;
}

static int is_number(const cJSON *v, double max) {
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble <= max;
}

static void check_number(struct reader *in, const cJSON *v, const char *where, const char *key) {
    if (!is_number(v, MAX)) wrong(in, "\"%s%s\" is no number from 0 to %g", where, key, MAX);
}

static int is_whole(const cJSON *v, int max) {
    return is_number(v, max) && v->valuedouble == floor(v->valuedouble);
}

/* The object or array of a key. */
static const cJSON *read_nest(struct reader *in, const cJSON *o, const char *where, const char *key,
                              enum need need, int array) {
    const cJSON *v = value(in, o, where, key, need);
    if (!v || (array ? cJSON_IsArray(v) : cJSON_IsObject(v))) return v;
    wrong(in, "\"%s%s\" is no %s", where, key, array ? "list" : "object");
    return NULL;
}

/* Checks numbers by their names, "compute_s idle_s taken?"; a question mark: may be absent. `max`
 * of whole numbers; ANY: they need not be whole. */
enum { ANY = -2 };
static void read_each(struct reader *in, const cJSON *o, const char *where, const char *keys,
                      int max) {
    for (size_t n; *keys; keys += n + strspn(keys + n, "? ")) {
        char key[24];
        n = strcspn(keys, "? ");
        snprintf(key, sizeof key, "%.*s", (int)n, keys);
        const cJSON *v = value(in, o, where, key, keys[n] == '?' ? OPTIONAL : NEEDED);
        if (v) check_number(in, v, where, key);
        if (v && max != ANY && !is_whole(v, max))
            wrong(in, "\"%s%s\" is no whole number from 0 to %d", where, key, max);
    }
}

static void read_numbers(struct reader *in, const cJSON *o, const char *where, const char *keys) {
    read_each(in, o, where, keys, ANY);
}

static void check_numbers(struct reader *in, const cJSON *list, const char *what) {
    const cJSON *v;
    cJSON_ArrayForEach(v, list) check_number(in, v, "", what);
}

static void check_wholes(struct reader *in, const cJSON *list, const char *what, int max) {
    const cJSON *v;
    int i = 0;
    cJSON_ArrayForEach(v, list) {
        if (!is_whole(v, max))
            wrong(in, "\"%s\" at entry %d: expected a whole number from 0 to %d", what, i, max);
        i++;
    }
}

/* Number of entries of a list that has to have some. */
static int count(struct reader *in, const cJSON *list, const char *key, const char *what, int max) {
    const int n = cJSON_GetArraySize(list);
    if (list && (n < 1 || n > max))
        wrong(in, "\"%s\" has %d %s, expected 1 to %d", key, n, what, max);
    return n;
}

/* The entry of a list, under its name in messages: "units[3].". */
struct entry {
    char where[48];
};
static struct entry entry(const char *key, int i) {
    struct entry e;
    snprintf(e.where, sizeof e.where, "%s[%d].", key, i);
    return e;
}

/* -- the parts of a record -- */

/* Checks a text that is one of some. */
static void check_kind(struct reader *in, const cJSON *o, const char *where,
                       const char *const *kinds, const char *expected) {
    const char *kind = read_text(in, o, where, "kind", NEEDED);
    while (kind && *kinds && strcmp(kind, *kinds) != 0) kinds++;
    if (kind && !*kinds)
        wrong(in, "\"%skind\": unknown kind \"%.40s\", expected %s", where, kind, expected);
}

static void check_unit(struct reader *in, const cJSON *o, const char *where) {
    static const char *const kinds[] = {"cpu", "gpu", NULL};
    check_kind(in, o, where, kinds, "cpu or gpu");
    read_each(in, o, where, "threads?", TASKS_MAX);
    read_nest(in, o, where, "cores", OPTIONAL, 1);
    read_numbers(in, o, where, "speed? taken?");
    read_each(in, o, where, "tasks", TASKS_MAX);
    read_numbers(in, o, where, "weight compute_s exchange_s idle_s");
}

/* Returns how many there are. */
static int check_units(struct reader *in, const cJSON *root) {
    const cJSON *list = read_nest(in, root, "", "units", NEEDED, 1), *o;
    const int units = count(in, list, "units", "entries", UNITS_MAX);
    int u = 0;
    cJSON_ArrayForEach(o, list) { check_unit(in, o, entry("units", u++).where); }
    return units;
}

static void check_zones(struct reader *in, const cJSON *root, int tasks) {
    const cJSON *zones = read_nest(in, root, "", "zones", OPTIONAL, 0), *v;
    int n[2] = {0, 0};
    for (int d = 0; zones && d < 2; d++) {
        const char *key = d ? "y" : "x";
        const cJSON *list = read_nest(in, zones, "zones.", key, NEEDED, 1);
        check_numbers(in, list, d ? "zones.y" : "zones.x");
        cJSON_ArrayForEach(v, list) {
            if (!(v->valuedouble > 0))
                wrong(in, "\"zones.%s\" at entry %d: a width above 0 is needed", key, n[d]);
            n[d]++;
        }
    }
    if (zones && (double)n[0] * n[1] != tasks)
        wrong(in, "\"zones\" are %d x %d, but \"owner\" has %d entries", n[0], n[1], tasks);
}

static void check_bursts(struct reader *in, const cJSON *root, int units) {
    static const char *const kinds[] = {"compute",   "exchange",  "copy",
                                        "migration", "task_copy", NULL};
    const cJSON *list = read_nest(in, root, "", "bursts", OPTIONAL, 1), *o;
    int i = 0;
    cJSON_ArrayForEach(o, list) {
        const struct entry at = entry("bursts", i++);
        check_kind(in, o, at.where, kinds, "one of compute, exchange, copy, migration, task_copy");
        read_numbers(in, o, at.where, "begin end");
        read_each(in, o, at.where, "unit", units - 1);
        read_each(in, o, at.where, "task count", TASKS_MAX);
        read_each(in, o, at.where, "step", STEPS_MAX);
        if (number_of(o, "end") < number_of(o, "begin"))
            wrong(in, "\"%send\" lies before its begin", at.where);
    }
}

/* Where there are ranks each has some units, one rank's after another's. Returns how many. */
static int check_ranks(struct reader *in, const cJSON *root) {
    const cJSON *list = read_nest(in, root, "", "ranks", OPTIONAL, 1), *o, *u;
    if (!list) return 0;
    const int n = cJSON_GetArraySize(list);
    int last = -1, ordered = 1, i = 0;
    cJSON_ArrayForEach(u, cJSON_GetObjectItemCaseSensitive(root, "units")) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(u, "rank"); /* alone there is none */
        const int rank = cJSON_IsNumber(v) ? v->valueint : 0;
        ordered &= rank == last + 1 || (rank == last && last >= 0);
        last = rank;
    }
    if (!ordered || last != n - 1)
        wrong(in, "\"units\" are not of the %d ranks, one rank's after another's", n);
    cJSON_ArrayForEach(o, list) {
        const struct entry at = entry("ranks", i++);
        read_text(in, o, at.where, "host", NEEDED);
        read_numbers(in, o, at.where, "messages? bytes? moved_tasks? moved_bytes?");
    }
    return n;
}

/* Messages between ranks. */
static void check_messages(struct reader *in, const cJSON *root, int ranks) {
    const cJSON *list = read_nest(in, root, "", "messages", OPTIONAL, 1), *o;
    const cJSON *clocks = read_nest(in, root, "", "clocks", OPTIONAL, 0);
    int i = 0;
    if (clocks) read_numbers(in, clocks, "clocks.", "uncertainty_s");
    if (list && list->child && !ranks) wrong(in, "\"messages\" are there, but no \"ranks\"");
    cJSON_ArrayForEach(o, list) {
        const struct entry at = entry("messages", i++);
        read_text(in, o, at.where, "kind", NEEDED);
        read_each(in, o, at.where, "from to", ranks - 1);
        read_each(in, o, at.where, "task?", TASKS_MAX);
        read_numbers(in, o, at.where, "bytes sent received");
        if (number_of(o, "from") == number_of(o, "to"))
            wrong(in, "\"%sto\" is the rank that it is from", at.where);
    }
}

/* Stages (TD-BEM) or phases (NPB-MZ): names and times. */
static void check_parts(struct reader *in, const cJSON *root) {
    const char *key = cJSON_GetObjectItemCaseSensitive(root, "stages") ? "stages" : "phases";
    const cJSON *parts = read_nest(in, root, "", key, OPTIONAL, 0), *v;
    if (cJSON_GetArraySize(parts) > PARTS_MAX)
        wrong(in, "\"%s\" has more than %d entries", key, PARTS_MAX);
    cJSON_ArrayForEach(v, parts) {
        if (strlen(v->string) > 40) wrong(in, "\"%s\" has a name of more than 40 characters", key);
        check_number(in, v, key, "");
    }
}

/* Times of launches on a device. */
static void check_phases(struct reader *in, const cJSON *device, int d) {
    const struct entry at = entry("devices", d);
    const cJSON *phases = read_nest(in, device, at.where, "phases", OPTIONAL, 0), *v;
    if (cJSON_GetArraySize(phases) > PHASES_MAX)
        wrong(in, "\"%sphases\" has more than %d entries", at.where, PHASES_MAX);
    cJSON_ArrayForEach(v, phases) {
        char where[128];
        if (!cJSON_IsObject(v) || strlen(v->string) > 47)
            wrong(in,
                  "\"%sphases\" at \"%.48s\": expected a name of up to 47 characters, with seconds "
                  "and launches",
                  at.where, v->string);
        snprintf(where, sizeof where, "%sphases.%.47s.", at.where, v->string);
        read_numbers(in, v, where, "seconds launches");
    }
}

/* Devices; those of a run without --phases have counters alone. */
static void check_devices(struct reader *in, const cJSON *root) {
    const cJSON *list = read_nest(in, root, "", "devices", OPTIONAL, 1), *o;
    int device = 0;
    if (cJSON_GetArraySize(list) > DEVICES_MAX)
        wrong(in, "\"devices\" has more than %d entries", DEVICES_MAX);
    cJSON_ArrayForEach(o, list) {
        if (!cJSON_IsObject(o)) wrong(in, "\"devices\" at entry %d is no object", device);
        check_phases(in, o, device++);
    }
}

/* Tasks and loads of each unit by iteration: from the owner of each task (evener plan), or as
 * numbers of tasks, "tasks" (intervals); loads are "times" or "unit_compute_s" (s), or "load"
 * (weight). */
static void check_iterations(struct reader *in, const cJSON *root, enum need need, int units) {
    static const char *const lists[] = {"tasks", "times", "unit_compute_s", "load"};
    const cJSON *list = read_nest(in, root, "", "iterations", need, 1), *o;
    int i = 0;
    cJSON_ArrayForEach(o, list) {
        const struct entry at = entry("iterations", i++);
        const cJSON *owner = read_nest(in, o, at.where, "owner", OPTIONAL, 1);
        for (int k = 0; k < 4; k++) {
            const cJSON *each = read_nest(in, o, at.where, lists[k], OPTIONAL, 1);
            if (each && cJSON_GetArraySize(each) != units)
                wrong(in, "\"%s\" has lists that are not one entry for each of the %d units",
                      at.where, units);
            if (k)
                check_numbers(in, each, "iterations");
            else
                check_wholes(in, each, "tasks", TASKS_MAX);
        }
        check_wholes(in, owner, "owner", units - 1);
    }
}

/* A loop of a place in a program, mostly a directive (evn_name_loop()). */
static void check_loop(struct reader *in, const cJSON *o, int units) {
    static const char where[] = "loops[].";
    const cJSON *list = read_nest(in, o, where, "units", NEEDED, 1), *u;
    read_text(in, o, where, "schedule", NEEDED);
    read_numbers(in, o, where, "tasks steps seconds");
    read_numbers(in, read_nest(in, o, where, "transfers", NEEDED, 0), "loops[].transfers.",
                 "migrations moved_bytes");
    if (cJSON_GetArraySize(list) != units) return; /* before a unit was lost */
    cJSON_ArrayForEach(u, list)
        read_numbers(in, u, "loops[].units[].", "compute_s exchange_s idle_s");
}

/* Changes of the tasks of a record or of one of its loops. */
static void check_changes(struct reader *in, const cJSON *of, const char *instances) {
    const cJSON *list = read_nest(in, of, "", "changes", OPTIONAL, 1), *o;
    cJSON_ArrayForEach(o, list) {
        read_each(in, o, "changes[].", "instance", STEPS_MAX);
        read_numbers(
            in, o, "changes[].",
            "tasks kept born gone moved moved_bytes faces_added faces_gone seconds imbalance?");
    }
    if (cJSON_GetArraySize(list)) read_numbers(in, of, "", instances);
}

static void check_loops(struct reader *in, const cJSON *root, int units) {
    const cJSON *list = read_nest(in, root, "", "loops", OPTIONAL, 1), *o;
    const char *name[SITES_MAX];
    int names = 0;
    cJSON_ArrayForEach(o, list) {
        const char *mine = read_text(in, o, "loops[].", "name", OPTIONAL);
        int k = names;
        while (mine && k > 0 && strcmp(name[k - 1], mine) != 0) k--;
        if (mine && !k && names == SITES_MAX)
            wrong(in, "\"loops\" has more than %d names", SITES_MAX);
        if (mine && !k && names < SITES_MAX) name[names++] = mine;
        if (mine) check_loop(in, o, units);
    }
    check_changes(in, root, "instances");
    cJSON_ArrayForEach(o, list) check_changes(in, o, "steps");
}

static void check_run(struct reader *in, const cJSON *root) {
    read_each(in, root, "", "steps", STEPS_MAX);
    read_numbers(in, root, "", "seconds");
    const cJSON *verified = value(in, root, "", "verified", NEEDED);
    if (verified && !cJSON_IsBool(verified) && !cJSON_IsNull(verified))
        wrong(in, "\"verified\" is none of true, false and null");
    read_numbers(in, root, "", "mops?");
    read_text(in, root, "", "hash", OPTIONAL);
    read_numbers(in, root, "", "imbalance?");
    const int units = check_units(in, root);
    const int ranks = check_ranks(in, root);
    read_numbers(in, read_nest(in, root, "", "periods", NEEDED, 0), "periods.",
                 "compute_s communication_s");
    read_numbers(in, read_nest(in, root, "", "transfers", NEEDED, 0), "transfers.",
                 "migrations messages bytes");
    const cJSON *owner = read_nest(in, root, "", "owner", NEEDED, 1);
    check_wholes(in, owner, "owner", units - 1);
    check_zones(in, root, cJSON_GetArraySize(owner));
    check_bursts(in, root, units);
    check_messages(in, root, ranks);
    check_parts(in, root);
    check_devices(in, root);
    check_loops(in, root, units);
    read_numbers(in, read_nest(in, root, "", "mesh", OPTIONAL, 0), "mesh.", "triangles?");
    read_text(in, read_nest(in, root, "", "machine", OPTIONAL, 0), "machine.", "processor",
              OPTIONAL);
    check_iterations(in, root, OPTIONAL, units);
}

/* A plan has units as a text, and one speed for each; the owners of its last iteration are drawn.
 */
static void check_plan(struct reader *in, const cJSON *root) {
    read_text(in, root, "", "units", NEEDED);
    const cJSON *speed = read_nest(in, root, "", "speed", NEEDED, 1);
    const int units = count(in, speed, "speed", "entries", UNITS_MAX);
    check_iterations(in, root, NEEDED, units);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "iterations"), *o;
    const cJSON *last = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
    if (cJSON_IsObject(last))
        read_numbers(in, last, "iterations[-1].",
                     "imbalance? compute_s? communication_s? step_s? cut_bytes? messages?");
    cJSON_ArrayForEach(o, list) read_numbers(in, o, "iterations[].", "migrations?");
    const cJSON *weight = cJSON_GetObjectItemCaseSensitive(root, "weight");
    const int tasks = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(last, "owner"));
    if (in->bad || !tasks || cJSON_GetArraySize(weight) != tasks) return;
    check_numbers(in, weight, "weight");
    check_zones(in, root, tasks);
    check_bursts(in, root, units);
}

/* The rows of evener model. */
static void check_model(struct reader *in, const cJSON *root) {
    const cJSON *list = read_nest(in, root, "", "model", NEEDED, 1), *o;
    int i = 0;
    count(in, list, "model", "rows", CHOICES_MAX);
    read_numbers(in, root, "", "alpha");
    cJSON_ArrayForEach(o, list) {
        const struct entry at = entry("model", i++);
        read_each(in, o, at.where, "cores processes threads", UNITS_MAX * 16);
        if (!(number_of(o, "cores") && number_of(o, "processes") && number_of(o, "threads")))
            wrong(in, "\"%scores\", \"processes\" or \"threads\" is 0", at.where);
        read_numbers(in, read_nest(in, o, at.where, "binpack", NEEDED, 0), at.where, "speedup");
        read_numbers(in, read_nest(in, o, at.where, "map", NEEDED, 0), at.where, "speedup");
        read_numbers(in, o, at.where, "speedup_eq1 speedup_measured?");
    }
}

/* The rows of evener model in virtual time. */
static void check_in_time(struct reader *in, const cJSON *root) {
    const cJSON *list = read_nest(in, root, "", "in_time", NEEDED, 1), *o;
    int i = 0;
    count(in, list, "in_time", "rows", CHOICES_MAX);
    cJSON_ArrayForEach(o, list) {
        const struct entry at = entry("in_time", i++);
        read_text(in, o, at.where, "variant", NEEDED);
        read_each(in, o, at.where, "nodes", UNITS_MAX);
        read_each(in, o, at.where, "threads", UNITS_MAX * 16);
        read_numbers(in, o, at.where, "step_s speedup");
        read_numbers(in, read_nest(in, o, at.where, "groups_s", NEEDED, 0), at.where,
                     "compute copies puts barriers");
        if (!(number_of(o, "nodes") && number_of(o, "threads")))
            wrong(in, "\"%snodes\" or \"threads\" is 0", at.where);
    }
}

static void check_record(struct reader *in, const cJSON *root) {
    if (!cJSON_IsObject(root))
        wrong(in, "is JSON, but no record: expected an object, as of evener run APP --json FILE");
    read_text(in, root, "", "evener", NEEDED);
    read_text(in, root, "", "app", NEEDED);
    read_text(in, root, "", "class", OPTIONAL);
    read_text(in, root, "", "noun", OPTIONAL);
    if (in->bad || read_nest(in, root, "", "sections", OPTIONAL, 1)) return; /* drawn as they are */
    if (cJSON_GetObjectItemCaseSensitive(root, "in_time"))
        check_in_time(in, root);
    else if (cJSON_GetObjectItemCaseSensitive(root, "model"))
        check_model(in, root);
    else {
        read_text(in, root, "", "schedule", NEEDED);
        if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(root, "units")))
            check_plan(in, root);
        else
            check_run(in, root);
    }
}

/* The whole file as text; NULL after a complaint. */
static char *read_file(struct reader *in, size_t *length) {
    struct stat there;
    FILE *file = input_open(in->file);
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

int report_check(const char *file, const cJSON *record) {
    struct reader in = {.file = file};
    if (record)
        check_record(&in, record);
    else
        wrong(&in, "is no JSON");
    return in.bad ? EXIT_USAGE : 0;
}

cJSON *report_read(const char *file) {
    struct reader in = {.file = file};
    const char *end = strrchr(file, '.');
    if (end && !strcasecmp(end, ".csv")) return report_table(file);
    size_t length;
    char *text = read_file(&in, &length);
    if (!text) return NULL;
    const char *at = NULL;
    cJSON *record = NULL;
    if (strlen(text) == length) record = cJSON_ParseWithLengthOpts(text, length + 1, &at, 1);
    if (strlen(text) < length)
        wrong(&in, "is no JSON: there is a zero byte behind %zu others", strlen(text));
    else if (!record)
        where_wrong(&in, text, at, length);
    free(text);
    if (record && !report_check(file, record)) return record;
    cJSON_Delete(record);
    return NULL;
}
