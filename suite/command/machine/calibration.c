/* The files that calibrations are kept in: which there are, and which fits. */
#include "machine/calibration.h"
#include "common/run/hash.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "machine/machine_file.h"
#include "run/table.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 2, CLASSES = 8 };

/* ---- places ---- */

char *calibration_folder(void) {
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    const int given = cache && *cache == '/'; /* others are to be ignored, says the standard */
    char *path = NULL;
    if (!given && !(home && *home)) return NULL;
    if (asprintf(&path, "%s%s/evener/calibration", given ? cache : home, given ? "" : "/.cache") <
        0)
        return NULL;
    return path;
}

int calibration_try_folder(const char *folder) {
    char *part = strdup(folder);
    for (char *p = part ? strchr(part + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(part, 0777);
        *p = '/';
    }
    free(part);
    mkdir(folder, 0777);
    DIR *there = opendir(folder);
    const int sound = there && !access(folder, W_OK | X_OK);
    if (!sound)
        complain("%s cannot be written: %s; name a file for the figures with --output FILE", folder,
                 strerror(errno));
    if (there) closedir(there);
    return sound ? 0 : EXIT_USAGE;
}

static const char *text_of(const cJSON *o, const char *key) {
    const char *text = json_text(o, key);
    return text ? text : "";
}

/* Identity of the machine that figures are of. The number of cores is no part of it, since it
 * changes from job to job. */
static uint64_t machine_hash(const evn_machine *m) {
    const char *processor = evn_machine_about(m).processor;
    uint64_t hash = hash_bytes(HASH_SEED, processor, strlen(processor) + 1);
    hash = hash_word(hash, (uint64_t)evn_machine_about(m).packages);
    for (int level = 1; level <= 3; level++)
        hash = hash_word(hash, evn_machine_cache(m, level, NULL));
    return hash;
}

/* "bt-mz-0123456789abcdef-", with which the names of a workload's files of this machine begin. */
static void prefix(char *text, size_t size, const char *app, const evn_machine *machine) {
    snprintf(text, size, "%.60s-%016llx-", app, (unsigned long long)machine_hash(machine));
}

/* The file of an entry, to be freed: its unit is in the name, so that a list of them has an order.
 */
static char *file_of(const char *folder, const evn_machine *machine, const cJSON *entry) {
    static const char *const keys[] = {"class", "unit", "device"};
    char *path = NULL, name[96], unit[24];
    uint64_t hash = HASH_SEED;
    size_t n = 0;
    prefix(name, sizeof name, text_of(entry, "app"), machine);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *text = text_of(entry, keys[k]);
        hash = hash_bytes(hash, text, strlen(text) + 1);
    }
    const char *cores = text_of(entry, "cores");
    if (*cores) hash = hash_bytes(hash, cores, strlen(cores) + 1);
    for (const char *p = text_of(entry, "unit"); *p && n < sizeof unit - 1; p++)
        if (*p != ':') unit[n++] = *p;
    unit[n] = 0;
    if (asprintf(&path, "%s/%s%s-%016llx.json", folder, name, unit, (unsigned long long)hash) < 0)
        return NULL;
    return path;
}

/* ---- reading ---- */

/* The fault of a calibration, whichever its machine; NULL: none. */
static const char *unsound(const cJSON *root) {
    const cJSON *entries = cJSON_GetObjectItemCaseSensitive(root, "entries"), *o;
    const double format = json_number(root, "calibration");
    int sound = format > 0 && cJSON_IsArray(entries);
    cJSON_ArrayForEach(o, entries) {
        sound = sound && *text_of(o, "app") && *text_of(o, "class") && *text_of(o, "unit") &&
                json_number(o, "task_s") > 0 && json_number(o, "weight_per_s") > 0 &&
                json_number(o, "within_s_per_byte") >= 0 &&
                json_number(o, "between_s_per_byte") >= 0;
    }
    if (!sound) return "is not a calibration";
    if (format != FORMAT || strcmp(text_of(root, "evener"), EVN_VERSION) != 0)
        return "is of another version";
    return NULL;
}

static int is_of(const cJSON *root, const evn_machine *m) {
    const cJSON *there = cJSON_GetObjectItemCaseSensitive(root, "machine");
    int same = !strcmp(text_of(there, "processor"), evn_machine_about(m).processor) &&
               json_number(there, "packages") == evn_machine_about(m).packages;
    for (int level = 1; level <= 3; level++) {
        char key[16];
        snprintf(key, sizeof key, "l%d", level);
        same = same && json_number(there, key) == (double)evn_machine_cache(m, level, NULL);
    }
    return same;
}

/* Faulty files of a folder: the first one's fault, and their number. */
struct doubts {
    int count;
    char first[512];
};

static void doubt(struct doubts *d, const char *folder, const char *file, const char *why) {
    if (d->count++) return;
    snprintf(d->first, sizeof d->first, "%.300s/%.100s %.80s", folder, file, why);
}

static void say_doubts(const struct doubts *d) {
    char others[48] = "";
    if (!d->count) return;
    if (d->count > 1) snprintf(others, sizeof others, " (and %d more)", d->count - 1);
    complain("warning: %s%s; its figures are left out until evener calibrate has measured them "
             "again",
             d->first, others);
}

/* Adds the entries of one file to `all`. */
static void read_file(cJSON *all, const char *folder, const char *name, const evn_machine *machine,
                      struct doubts *doubts) {
    char *path = NULL, why[256] = "cannot be read: not enough memory";
    cJSON *root = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) path = NULL;
    const char *wrong = !path || json_file_try(&root, path, why, sizeof why) ? why : unsound(root);
    if (!wrong && !is_of(root, machine)) wrong = "is of another machine";
    if (wrong) doubt(doubts, folder, name, wrong);
    cJSON *entries = wrong ? NULL : cJSON_GetObjectItemCaseSensitive(root, "entries");
    while (entries && entries->child)
        cJSON_AddItemToArray(all, cJSON_DetachItemFromArray(entries, 0));
    cJSON_Delete(root);
    free(path);
}

/* All entries of a workload that the folder has of this machine, in the order of the files' names.
 */
static cJSON *read_folder(const char *folder, const char *app, const evn_machine *machine,
                          struct doubts *doubts) {
    cJSON *all = cJSON_CreateArray();
    struct dirent **file = NULL;
    char begin[96];
    prefix(begin, sizeof begin, app, machine);
    const size_t length = strlen(begin);
    const int files = scandir(folder, &file, NULL, versionsort);
    for (int i = 0; i < files; i++) {
        const char *name = file[i]->d_name, *end = strrchr(name, '.');
        if (!strncmp(name, begin, length) && end && !strcmp(end, ".json"))
            read_file(all, folder, name, machine, doubts);
        free(file[i]);
    }
    free(file);
    return all;
}

cJSON *calibration_kept(const char *folder, const evn_machine *machine) {
    cJSON *all = cJSON_CreateArray();
    struct doubts doubts = {0};
    const struct workload *is;
    for (int i = 0; (is = workload_at(i)); i++) {
        cJSON *own = read_folder(folder, is->name, machine, &doubts);
        while (own && own->child) cJSON_AddItemToArray(all, cJSON_DetachItemFromArray(own, 0));
        cJSON_Delete(own);
    }
    say_doubts(&doubts);
    return all;
}

/* Earlier versions had one file for everything, beside the folder. */
static void say_older(const char *folder) {
    char path[4096];
    struct stat there;
    snprintf(path, sizeof path, "%s.json", folder);
    if (!stat(path, &there))
        complain("warning: %s is of an earlier version and not read any more; run evener calibrate "
                 "again, and remove it",
                 path);
}

/* ---- what fits ---- */

const char *calibration_device(const evn_unit *unit) {
    if (!evn_unit_is_gpu(unit)) return "";
    evn_device *device = evn_unit_device(unit, 0);
    return device ? evn_device_traits(device)->name : NULL;
}

const char *calibration_cores(const evn_machine *machine, int kind, char text[16]) {
    *text = 0;
    if (evn_machine_about(machine).kinds > 1) snprintf(text, 16, "%d", kind);
    return text;
}

/* How far two problems' keys are apart: 0 the same, then classes by their order, then all others.
 */
static int distance(const char *a, const char *b) {
    static const char classes[] = "SWABCDEF";
    const char *x = strchr(classes, *a), *y = strchr(classes, *b);
    if (!strcmp(a, b)) return 0;
    return x && y && !a[1] && !b[1] ? abs((int)(x - y)) : CLASSES - 1;
}

/* The entry of a kind of units, of the nearest problem there is; `device` and `cores` may be NULL:
 * any. */
static const cJSON *find(const cJSON *entries, const char *key, const char *unit,
                         const char *device, const char *cores) {
    const cJSON *o, *best = NULL;
    int best_distance = CLASSES;
    cJSON_ArrayForEach(o, entries) {
        if (strcmp(text_of(o, "unit"), unit) != 0) continue;
        if (device && strcmp(text_of(o, "device"), device) != 0) continue;
        if (cores && strcmp(text_of(o, "cores"), cores) != 0) continue;
        const int away = distance(text_of(o, "class"), key);
        if (away >= best_distance) continue;
        best = o;
        best_distance = away;
    }
    return best;
}

/* The entry of one unit, whose kind is `kind`; NULL: there is none. */
static const cJSON *find_unit(const cJSON *entries, const char *key, const evn_unit *u,
                              const evn_machine *machine, struct unit_kind kind) {
    char unit[24], cores[16] = "";
    if (!evn_unit_is_gpu(u)) calibration_cores(machine, evn_unit_about(u).kind, cores);
    return find(entries, key, unit_kind_text(kind, unit), calibration_device(u), cores);
}

/* Speeds of units by these entries, as calibration_speeds(). */
static int fill(const cJSON *entries, const char *key, const evn_units *units, int *kind,
                double *speed, double *per_byte) {
    struct unit_kind kinds[KINDS_MAX];
    const cJSON *o = NULL;
    const int n = evn_units_count(units);
    double *rate = malloc(2 * sizeof *rate * (size_t)n), *cost = rate + n;
    if (!rate) return -1;
    unit_kinds(units, kinds, kind);
    for (int u = 0; u < n; u++) {
        const evn_unit *unit = evn_units_get(units, u);
        const int again =
            u && kind[u] == kind[u - 1] &&
            evn_unit_about(unit).kind == evn_unit_about(evn_units_get(units, u - 1)).kind;
        if (!again)
            o = find_unit(entries, key, unit, evn_units_about(units).machine, kinds[kind[u]]);
        if (!o) break;
        rate[u] = json_number(o, "weight_per_s");
        /* beyond the cost of a face within the unit */
        cost[u] =
            !evn_unit_is_gpu(unit)
                ? 0
                : fmax(json_number(o, "between_s_per_byte") - json_number(o, "within_s_per_byte"),
                       0);
    }
    if (o) memcpy(speed, rate, sizeof *rate * (size_t)n);
    if (o && per_byte) memcpy(per_byte, cost, sizeof *cost * (size_t)n);
    free(rate);
    return o ? 0 : -1;
}

int calibration_speeds(const struct workload *is, const char *key, const evn_units *units,
                       double *speed, double *per_byte) {
    char *folder = calibration_folder();
    int *kind = malloc(sizeof *kind * (size_t)evn_units_count(units));
    struct doubts doubts = {0};
    cJSON *entries = folder && kind
                         ? read_folder(folder, is->name, evn_units_about(units).machine, &doubts)
                         : NULL;
    const int code = entries ? fill(entries, key, units, kind, speed, per_byte) : -1;
    if (entries && !entries->child && !doubts.count) say_older(folder);
    say_doubts(&doubts);
    cJSON_Delete(entries);
    free(kind);
    free(folder);
    return code;
}

/* ---- routes --------------------------------------------------------------------------------- */

/* The way between the memories of two kinds: one hop from or to the host, two between devices. */
static evn_route route_between(double a, double b) {
    if (a > 0 && b > 0) return (evn_route){.hops = 2, .per_byte = {a, b}};
    return (evn_route){.hops = 1, .per_byte = {a + b}};
}

int calibration_routes_open(struct calibration_routes *r, const double *per_byte, int units) {
    double cost[KINDS_MAX] = {0}; /* of each kind; the first is the host's */
    int kinds = 1;
    *r = (struct calibration_routes){.kind = malloc(sizeof *r->kind * (size_t)units)};
    if (!r->kind) return -1;
    for (int u = 0; u < units; u++) {
        int k = 0;
        while (k < kinds && cost[k] != per_byte[u]) k++;
        if (k == KINDS_MAX) return -1;
        if (k == kinds) cost[kinds++] = per_byte[u];
        r->kind[u] = k;
    }
    if (kinds == 1) return 0;
    r->route = malloc(sizeof *r->route * (size_t)kinds * (size_t)kinds);
    if (!r->route) return -1;
    for (int a = 0; a < kinds; a++)
        for (int b = 0; b < kinds; b++) r->route[a * kinds + b] = route_between(cost[a], cost[b]);
    for (int k = 1; k < kinds; k++)
        if (!(r->bandwidth > 0) || 1 / cost[k] < r->bandwidth) r->bandwidth = 1 / cost[k];
    r->kinds = kinds;
    return 0;
}

void calibration_routes_close(struct calibration_routes *r) {
    free(r->kind);
    free(r->route);
    *r = (struct calibration_routes){0};
}

cJSON *calibration_entry(const struct workload *is, const char *key, const char *unit,
                         const evn_machine *machine) {
    char *folder = calibration_folder();
    struct doubts doubts = {0};
    cJSON *entries = folder ? read_folder(folder, is->name, machine, &doubts) : NULL;
    cJSON *found = cJSON_Duplicate(find(entries, key, unit, NULL, NULL), 1);
    say_doubts(&doubts);
    cJSON_Delete(entries);
    free(folder);
    return found;
}

void calibration_teams(const struct workload *is, const char *key, const evn_machine *machine,
                       struct choice_cost *cost) {
    char *folder = calibration_folder();
    struct doubts doubts = {0};
    cJSON *entries = folder ? read_folder(folder, is->name, machine, &doubts) : NULL;
    const cJSON *o = find(entries, key, CALIBRATION_TOGETHER, NULL, NULL);
    const double doubling = json_number(o, "doubling"), meeting = json_number(o, "meeting_s"),
                 largest = json_number(o, "largest"), rate = json_number(o, "weight_per_s");
    const int sound = doubling >= 0 && doubling < INFINITY && meeting >= 0 && meeting < 1 &&
                      largest >= 2 && isfinite(rate * meeting);
    if (o && !sound)
        complain("warning: what is kept of %s on several cores is damaged; its figures are left "
                 "out until evener calibrate %s has measured them again",
                 is->name, is->name);
    if (o && sound) *cost = (struct choice_cost){doubling, rate * meeting, 1};
    cJSON_Delete(entries);
    free(folder);
}

/* ---- writing ---- */

int calibration_try_file(const char *path) {
    struct stat there;
    char why[256];
    cJSON *root = NULL;
    if (stat(path, &there) || !S_ISREG(there.st_mode) || !there.st_size) {
        evn_output *file;
        const int code = output_open(&file, path) ? EXIT_USAGE : 0;
        evn_output_close(file);
        return code;
    }
    const char *wrong = json_file_try(&root, path, why, sizeof why) ? why : NULL;
    if (!wrong && !(json_number(root, "calibration") > 0)) wrong = "is not a calibration";
    if (wrong)
        complain("--output %s %s, and stays as it is; name another file, or remove it", path,
                 wrong);
    cJSON_Delete(root);
    return wrong ? EXIT_USAGE : 0;
}

int calibration_write(const char *path, const evn_machine *machine, const cJSON *entries) {
    evn_output *file;
    if (output_open(&file, path)) return EXIT_FAILED;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "calibration", FORMAT);
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddItemToObject(root, "machine", record_machine(machine));
    cJSON_AddItemToObject(root, "entries", cJSON_Duplicate(entries, 1));
    char *text = record_text(root);
    int code = !text || output_commit(file, text) ? EXIT_FAILED : 0;
    free(text);
    evn_output_close(file);
    return code;
}

int calibration_keep(const char *folder, const evn_machine *machine, const cJSON *entries) {
    const cJSON *o;
    int code = 0;
    cJSON_ArrayForEach(o, entries) {
        char *path = file_of(folder, machine, o);
        cJSON *one = cJSON_CreateArray();
        cJSON_AddItemToArray(one, cJSON_Duplicate(o, 1));
        if (!code && !path) code = give_up(evn_fail(EVN_MEMORY, "calibrate: not enough memory"));
        if (!code) code = calibration_write(path, machine, one);
        cJSON_Delete(one);
        free(path);
    }
    return code;
}
