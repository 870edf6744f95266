/* Reads owners of tasks from a record or from an exported plan, and imports them. */
#include "run/plan_file.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const char *path, const char *what) {
    return complain("--plan %s: %s", path, what);
}

/* The list of owners in a record; NULL: there is none. */
static const cJSON *owners(const cJSON *root) {
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(root, "iterations");
    const cJSON *last = cJSON_GetArrayItem(steps, cJSON_GetArraySize(steps) - 1);
    const cJSON *of_plan = cJSON_GetObjectItemCaseSensitive(last, "owner");
    return of_plan ? of_plan : cJSON_GetObjectItemCaseSensitive(root, "owner");
}

/* The head of an export of this schedule. */
static int head(const evn_schedule *s, FILE *out) {
    const evn_problem *p = evn_schedule_problem(s);
    return fprintf(out, "%s %d tasks %d units:", evn_schedule_text(s), p->tasks, p->units);
}

/* The export that has the record's owners, to be freed; NULL after a message. */
static char *from_record(const char *path, const cJSON *root, const evn_schedule *s) {
    const evn_problem *p = evn_schedule_problem(s);
    const cJSON *list = owners(root), *o;
    const int n = cJSON_GetArraySize(list);
    char *text = NULL, why[160];
    size_t size;
    if (!cJSON_IsArray(list)) {
        wrong(path, "there is no list \"owner\" in it; expected a record of evener plan or run");
        return NULL;
    }
    if (n != p->tasks) {
        snprintf(why, sizeof why, "it has %d owners, and there are %d tasks", n, p->tasks);
        wrong(path, why);
        return NULL;
    }
    FILE *out = open_memstream(&text, &size);
    int sound = out && head(s, out) > 0;
    cJSON_ArrayForEach(o, list) {
        if (sound && !(cJSON_IsNumber(o) && o->valuedouble == o->valueint && o->valueint >= 0 &&
                       o->valueint < p->units)) {
            snprintf(why, sizeof why, "an owner is no unit from 0 to %d", p->units - 1);
            wrong(path, why);
            sound = 0;
        }
        if (sound) fprintf(out, " 1*%d", o->valueint);
    }
    if (out) fclose(out);
    if (sound) return text;
    free(text);
    return NULL;
}

/* The first line of a text that is no JSON, with this schedule's name instead of its own. */
static char *from_export(const char *path, char *line, const evn_schedule *s) {
    const evn_problem *p = evn_schedule_problem(s);
    char *text = NULL, expected[80], *at;
    size_t size;
    line[strcspn(line, "\n")] = '\0';
    snprintf(expected, sizeof expected, " %d tasks %d units", p->tasks, p->units);
    at = strstr(line, expected); /* ':' or a generation follows */
    if (at && at[strlen(expected)] != ':' && at[strlen(expected)] != ' ') at = NULL;
    FILE *out = at ? open_memstream(&text, &size) : NULL;
    if (out) {
        fprintf(out, "%s%s", evn_schedule_text(s), at);
        fclose(out);
    } else {
        char why[200];
        snprintf(why, sizeof why,
                 "expected a record of evener plan or run, or a line \"..%s: ..\" as of evener "
                 "plan --verbose",
                 expected);
        wrong(path, why);
    }
    return text;
}

int plan_file_read(const char *path, evn_schedule *schedule) {
    char why[256], *file = file_text(path, why, sizeof why);
    if (!file) return wrong(path, why);
    const char first = file[strspn(file, " \t\r\n")];
    const int is_list = first >= '0' && first <= '9'; /* of owners */
    cJSON *root = is_list ? NULL : cJSON_ParseWithOpts(file, NULL, 1);
    char *text = is_list                ? strdup(file)
                 : cJSON_IsObject(root) ? from_record(path, root, schedule)
                                        : from_export(path, file, schedule);
    cJSON_Delete(root);
    free(file);
    if (!text) return EXIT_USAGE;
    const evn_status status = evn_schedule_import(schedule, text);
    free(text);
    return status == EVN_USAGE ? wrong(path, evn_message()) : status ? give_up(status) : 0;
}
