/* Looking up workloads. */
#include "run/table.h"
#include <stdio.h>
#include <string.h>

static const struct workload *const *const *folders;

const char *workload_choose(void) {
    static char why[512];
    const int isa = isa_choose(workload_isas, why, sizeof why);
    if (isa < 0) return why;
    folders = workload_folders[isa];
    return NULL;
}

const struct workload *workload_at(int i) {
    for (int f = 0; folders[f]; f++)
        for (int w = 0; folders[f][w]; w++)
            if (i-- == 0) return folders[f][w];
    return NULL;
}

const struct workload *workload_find(const char *name) {
    const struct workload *w;
    for (int i = 0; (w = workload_at(i)); i++)
        if (!strcmp(w->name, name)) return w;
    return NULL;
}

/* All names, with `between` between two and `last` before the last. */
static const char *join(char *text, size_t room, const char *between, const char *last) {
    const struct workload *w;
    size_t at = 0;
    for (int i = 0; (w = workload_at(i)) && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%s",
                               !i                   ? ""
                               : workload_at(i + 1) ? between
                                                    : last,
                               w->name);
    return text;
}

const char *workload_list(void) {
    static char text[512];
    return join(text, sizeof text, ", ", " or ");
}

const char *workload_words(void) {
    static char text[512];
    return join(text, sizeof text, " ", " ");
}

/* Number i of the workloads' studies, or of their commands. */
static const struct study *study_at(int i, int commands) {
    const struct workload *w;
    for (int k = 0; (w = workload_at(k)); k++)
        for (const struct study *s = commands ? w->commands : w->studies; s && s->name; s++)
            if (i-- == 0) return s;
    return NULL;
}

const struct study *workload_study(int i) { return study_at(i, 0); }
const struct study *workload_command(int i) { return study_at(i, 1); }
