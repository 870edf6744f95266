/* Assignments as text: the line of a schedule's export, and lists of owners. */
#include "schedule/policy.h"
#include "schedule/pool.h"
#include "base/argument.h"
#include <evener/text.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *evn_schedule_export(const evn_schedule *s) {
    NEED_OR(NULL, s, "a schedule");
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    const int n = s->problem.tasks;
    fprintf(f, "%s %d tasks %d units", s->text, n, s->problem.units);
    fprintf(f, s->generation ? " generation %d:" : ":", s->generation);
    for (int t = 0; t < n;) {
        int from = t;
        while (t < n && s->owner[t] == s->owner[from]) t++;
        fprintf(f, " %d*%d", t - from, s->owner[from]);
    }
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}

/* Reads " 7*0 4*1 .." into owner; the number of tasks read, -1 if it is not of that form. */
static int read_runs(const char *p, int tasks, int units, int *owner) {
    int t = 0;
    while (*p == ' ') {
        long count, unit;
        p++;
        if (!evn_text_number(&p, tasks - t, &count) || *p++ != '*' ||
            !evn_text_number(&p, units - 1, &unit))
            return -1;
        while (count--) owner[t++] = (int)unit;
    }
    return *p && *p != '\n' ? -1 : t;
}

/* Reads the generation between "units" and the colon; texts of generation 0 have none. Where the
 * runs begin; NULL: it is not of that form. */
static const char *read_generation(const char *p, long *generation) {
    static const char word[] = " generation ";
    *generation = 0;
    if (!strncmp(p, word, sizeof word - 1)) {
        p += sizeof word - 1;
        if (!evn_text_number(&p, INT_MAX, generation)) return NULL;
    }
    return *p == ':' ? p + 1 : NULL;
}

/* Reads the text of evn_schedule_export(). */
static evn_status read_export(const evn_schedule *s, const char *text, int *owner,
                              long *generation) {
    const int n = s->problem.tasks;
    char head[256];
    const int length =
        snprintf(head, sizeof head, "%s %d tasks %d units", s->text, n, s->problem.units);
    const char *runs = strncmp(text, head, (size_t)length) != 0
                           ? NULL
                           : read_generation(text + length, generation);
    if (!runs)
        return evn_fail(EVN_USAGE, "schedule: cannot import \"%.60s\", expected \"%s: ..\"", text,
                        head);
    if (read_runs(runs, n, s->problem.units, owner) == n) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "schedule: cannot import \"%.60s\": expected runs COUNT*UNIT for %d tasks",
                    text, n);
}

/* The line of a text in which `at` is. */
static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

/* Reads a list of owners, one a task, with white space between two. */
static evn_status read_owners(const char *text, int tasks, int units, int *owner) {
    static const char white[] = " \t\r\n";
    int t = 0;
    for (const char *p = text + strspn(text, white), *at = p; *p; p += strspn(p, white), at = p) {
        long unit;
        const int is_unit = evn_text_number(&p, units - 1, &unit) && (!*p || strchr(white, *p));
        if (!is_unit)
            return evn_fail(EVN_USAGE, "schedule: line %d: \"%.*s\", expected a unit from 0 to %d",
                            line_of(text, at), (int)strcspn(at, white), at, units - 1);
        if (t < tasks) owner[t] = (int)unit;
        t++;
    }
    if (t == tasks) return EVN_OK;
    return evn_fail(EVN_USAGE, "schedule: a list of %d owners, and there are %d tasks", t, tasks);
}

/* Has the next instance the assignment of `owner`, which is the schedule's then. */
static evn_status take_owners(evn_schedule *s, int *owner) {
    int *old = s->owner;
    s->owner = owner;
    evn_status status = s->policy->import ? s->policy->import(s) : EVN_OK;
    if (status) s->owner = old;
    if (!status && s->pool) pool_forget(s->pool);
    if (!status) s->version++;
    if (!status) s->imported = 1;
    free(status ? owner : old);
    return status;
}

static int is_list(const char *text) {
    const char *p = text + strspn(text, " \t\r\n");
    return *p >= '0' && *p <= '9';
}

evn_status evn_schedule_import(evn_schedule *s, const char *text) {
    NEED(s, "a schedule");
    NEED(text, "a text that evn_schedule_export() has made");
    const int n = s->problem.tasks;
    int *owner = malloc(sizeof *owner * (size_t)n);
    if (!owner) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", n);
    long generation = 0;
    evn_status status = is_list(text) ? read_owners(text, n, s->problem.units, owner)
                                      : read_export(s, text, owner, &generation);
    if (status) {
        free(owner);
        return status;
    }
    status = take_owners(s, owner);
    if (!status && generation) s->generation = (int)generation;
    return status;
}
