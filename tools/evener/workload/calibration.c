/* The file that calibrations are kept in: which there may be, and which fits. */
#include "workload/calibration.h"
#include "common/json_file.h"
#include "common/message.h"
#include "common/output.h"
#include "common/record.h"
#include "workload/machine_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT = 1, CLASSES = 8 };

char *calibration_path(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int given = cache && *cache == '/'; /* others are to be ignored, says the standard */
    if (!given && !(home && *home)) {
        complain("neither XDG_CACHE_HOME nor HOME is set: name the file with --output FILE");
        return NULL;
    }
    char *path = NULL;
    if (asprintf(&path, "%s%s/evener/calibration.json", given ? cache : home,
                 given ? "" : "/.cache") < 0) {
        complain("not enough memory");
        return NULL;
    }
    return path;
}

void calibration_folders(const char *path) {
    char *part = strdup(path);
    for (char *p = part ? strchr(part + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(part, 0777);
        *p = '/';
    }
    free(part);
}

static const char *text_of(const cJSON *o, const char *key) {
    const char *text = json_text(o, key);
    return text ? text : "";
}

/* Whether `root` is a calibration of this machine by this version; complains of what is wrong with
 * the file at `path` (NULL: says nothing). */
static int check(const cJSON *root, const char *path, const evn_machine *machine) {
    const cJSON *there = cJSON_GetObjectItemCaseSensitive(root, "machine"), *o;
    const cJSON *entries = cJSON_GetObjectItemCaseSensitive(root, "entries");
    int sound = json_number(root, "calibration") == FORMAT && cJSON_IsArray(entries);
    cJSON_ArrayForEach(o, entries) {
        sound = sound && *text_of(o, "app") && *text_of(o, "class") && *text_of(o, "unit") &&
                json_number(o, "task_s") > 0 && json_number(o, "weight_per_s") > 0 &&
                json_number(o, "within_s_per_byte") >= 0 &&
                json_number(o, "between_s_per_byte") >= 0;
    }
    if (!sound) {
        if (path)
            complain("%s is not a calibration as this version writes it; remove it, or run evener "
                     "calibrate again",
                     path);
        return EXIT_USAGE;
    }
    if (strcmp(text_of(there, "processor"), evn_machine_processor(machine)) != 0 ||
        json_number(there, "packages") != evn_machine_packages(machine)) {
        if (path)
            complain("%s was measured on another machine (%s); run evener calibrate on this one",
                     path, text_of(there, "processor"));
        return EXIT_USAGE;
    }
    if (strcmp(text_of(root, "evener"), EVN_VERSION) != 0) {
        if (path)
            complain("%s was measured with version %s and this is %s; run evener calibrate again",
                     path, text_of(root, "evener"), EVN_VERSION);
        return EXIT_USAGE;
    }
    return 0;
}

static const char classes[] = "SWABCDEF";

const char *calibration_device(const evn_unit *unit) {
    if (evn_unit_is_cpu(unit)) return "";
    evn_device *device = evn_unit_device(unit, 0);
    return device ? evn_device_traits(device)->name : NULL;
}

/* How far two problems' keys are apart: 0 the same, then classes by their order, then all others.
 */
static int distance(const char *a, const char *b) {
    const char *x = strchr(classes, *a), *y = strchr(classes, *b);
    if (!strcmp(a, b)) return 0;
    return x && y && !a[1] && !b[1] ? abs((int)(x - y)) : CLASSES - 1;
}

/* The entry of a kind of units for a workload, of the nearest problem there is. */
static const cJSON *find(const cJSON *root, const char *app, const char *key, const char *unit,
                         const char *device) {
    const cJSON *o, *best = NULL;
    int best_distance = CLASSES;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(root, "entries")) {
        if (strcmp(text_of(o, "app"), app) != 0 || strcmp(text_of(o, "unit"), unit) != 0) continue;
        if (device && strcmp(text_of(o, "device"), device) != 0) continue;
        const int away = distance(text_of(o, "class"), key);
        if (away >= best_distance) continue;
        best = o;
        best_distance = away;
    }
    return best;
}

int calibration_speeds(const struct workload *is, const char *key, const evn_units *units,
                       double *speed, double *bandwidth) {
    char *path = calibration_path();
    struct stat there;
    cJSON *root = NULL;
    int *kind = malloc(sizeof *kind * (size_t)evn_units_count(units));
    int code = -1;
    if (path && kind && stat(path, &there) == 0) {
        code = json_file_read(&root, path);
        if (!code) code = check(root, path, evn_units_machine(units));
    }
    struct unit_kind kinds[KINDS_MAX];
    double rate[KINDS_MAX], per_byte = 0;
    const int n = kind ? unit_kinds(units, kinds, kind) : 0;
    for (int k = 0; !code && k < n; k++) {
        char unit[24];
        int u = 0; /* one of them */
        while (kind[u] != k) u++;
        const cJSON *o = find(root, is->name, key, unit_kind_text(kinds[k], unit),
                              calibration_device(evn_units_get(units, u)));
        if (!o) {
            code = -1;
            break;
        }
        rate[k] = json_number(o, "weight_per_s");
        /* what it costs that a face lies between units; all that CPU units own lies in one memory
         */
        if (evn_units_gpus(units) > 0)
            per_byte = fmax(per_byte, json_number(o, "between_s_per_byte") -
                                          json_number(o, "within_s_per_byte"));
    }
    if (!code) {
        for (int u = 0; u < evn_units_count(units); u++) speed[u] = rate[kind[u]];
        if (bandwidth) *bandwidth = per_byte > 0 ? 1 / per_byte : 0;
    }
    cJSON_Delete(root);
    free(kind);
    free(path);
    return code;
}

void calibration_keep(cJSON *entries, cJSON *fresh) {
    int i = 0;
    const cJSON *o;
    cJSON_ArrayForEach(o, entries) {
        if (!strcmp(text_of(o, "app"), text_of(fresh, "app")) &&
            !strcmp(text_of(o, "class"), text_of(fresh, "class")) &&
            !strcmp(text_of(o, "unit"), text_of(fresh, "unit")) &&
            !strcmp(text_of(o, "device"), text_of(fresh, "device")))
            break;
        i++;
    }
    if (o)
        cJSON_ReplaceItemInArray(entries, i, fresh);
    else
        cJSON_AddItemToArray(entries, fresh);
}

cJSON *calibration_read(const char *path, const evn_machine *machine) {
    struct stat there;
    cJSON *root = NULL, *entries = NULL;
    if (stat(path, &there) == 0 && S_ISREG(there.st_mode) && !json_file_read(&root, path) &&
        !check(root, NULL, machine))
        entries = cJSON_DetachItemFromObjectCaseSensitive(root, "entries");
    cJSON_Delete(root);
    return entries ? entries : cJSON_CreateArray();
}

int calibration_save(const char *path, const evn_machine *machine, cJSON *entries) {
    evn_output *file;
    if (output_open(&file, path)) {
        cJSON_Delete(entries);
        return EXIT_USAGE;
    }
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "calibration", FORMAT);
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddItemToObject(root, "machine", record_machine(machine));
    cJSON_AddItemToObject(root, "entries", entries);
    char *text = record_text(root);
    int code = !text || output_commit(file, text) ? EXIT_FAILED : 0;
    free(text);
    evn_output_close(file);
    return code;
}
