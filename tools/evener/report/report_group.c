/* Groups of comparable records: of one application, class and mesh; and the name of a schedule
 * within its group. */
#include "report/report.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static int comparable(const struct report_record *a, const struct report_record *b) {
    int same_mesh = a->triangles == b->triangles || (isnan(a->triangles) && isnan(b->triangles));
    return a->plan == b->plan && report_timed(a) == report_timed(b) && same_mesh &&
           same_text(a->app, b->app) && same_text(a->class_, b->class_);
}

static void write_title(struct report_group *g, const struct report_record *r) {
    int n = snprintf(g->title, sizeof g->title, "%.40s", r->app);
    for (char *p = g->title; *p; p++) *p = (char)toupper((unsigned char)*p);
    size_t left = sizeof g->title - (size_t)n;
    if (r->class_)
        snprintf(g->title + n, left, ", class %.30s%s", r->class_, r->plan ? ", planned" : "");
    else if (isfinite(r->triangles))
        snprintf(g->title + n, left, ", %s triangles", count_text(r->triangles).text);
    else if (r->plan)
        snprintf(g->title + n, left, ", planned");
}

/* Length of a schedule's name with its first `options` options of the kind key=value. Options
 * without a value, as size in guided:size, belong to the name. */
static size_t prefix(const char *schedule, int options) {
    size_t n = 0;
    while (schedule[n]) {
        size_t part = strcspn(schedule + n + (n > 0), ":,") + (n > 0);
        if (memchr(schedule + n, '=', part) && options-- == 0) break;
        n += part;
    }
    return n;
}

static void write_label(struct report_group *g, struct report_row *row) {
    const char *mine = row->record->schedule;
    size_t length = 0;
    for (int options = 0;; options++) {
        length = prefix(mine, options);
        int clash = 0;
        for (int i = 0; i < g->rows && !clash; i++) {
            const char *other = g->row[i].record->schedule;
            clash = strcmp(mine, other) != 0 && prefix(other, options) == length &&
                    !strncmp(mine, other, length);
        }
        if (!clash || !mine[length]) break;
    }
    snprintf(row->label, sizeof row->label, "%.*s%s", length > 56 ? 56 : (int)length, mine,
             length > 56 ? "…" : "");
}

static int by_units(const void *a, const void *b) {
    const struct report_record *x = ((const struct report_row *)a)->record;
    const struct report_record *y = ((const struct report_row *)b)->record;
    if (x->units != y->units) return x->units < y->units ? -1 : 1;
    int sets = strcmp(x->units_text, y->units_text);
    if (sets) return sets;
    double s = report_step(x), t = report_step(y);
    if (isnan(s)) s = INFINITY; /* no time: last */
    if (isnan(t)) t = INFINITY;
    if (s != t) return s < t ? -1 : 1;
    return (x > y) - (x < y); /* they lie in one array: the order of the command line */
}

static void finish(struct report_group *g) {
    qsort(g->row, (size_t)g->rows, sizeof *g->row, by_units);
    for (int i = 0; i < g->rows; i++) {
        struct report_row *row = &g->row[i];
        write_label(g, row);
        int before = 0, all = 0;
        for (int k = 0; k < g->rows; k++) {
            const struct report_record *r = g->row[k].record;
            if (strcmp(r->schedule, row->record->schedule) != 0 ||
                strcmp(r->units_text, row->record->units_text) != 0)
                continue;
            all++;
            before += k <= i;
        }
        row->alike = all > 1 ? before : 0;
    }
}

struct sentence row_label(const struct report_row *row) {
    struct sentence s;
    if (row->alike)
        snprintf(s.text, sizeof s.text, "%s (%d)", row->label, row->alike);
    else
        snprintf(s.text, sizeof s.text, "%s", row->label);
    return s;
}

struct sentence row_name(const struct report_row *row) {
    struct sentence s;
    snprintf(s.text, sizeof s.text, "%.90s on %.95s", row_label(row).text, row->record->units_text);
    return s;
}

const char *row_head(const struct report_group *g, int i, struct sentence *s) {
    const struct report_record *r = g->row[i].record;
    if (i && !strcmp(r->units_text, g->row[i - 1].record->units_text)) return NULL;
    snprintf(s->text, sizeof s->text, "%d unit%s, %s", r->units, r->units == 1 ? "" : "s",
             r->units_text);
    return s->text;
}

struct report_group *report_group(const struct report_record *record, int records, int *groups) {
    struct report_group *group = calloc((size_t)records + 1, sizeof *group);
    *groups = 0;
    for (int i = 0; group && i < records; i++) {
        int k = 0;
        while (k < *groups && !comparable(group[k].row[0].record, &record[i])) k++;
        struct report_group *g = &group[k];
        if (k == *groups) {
            g->row = calloc((size_t)records, sizeof *g->row);
            if (!g->row) {
                report_group_free(group, *groups);
                return NULL;
            }
            write_title(g, &record[i]);
            ++*groups;
        }
        g->row[g->rows++].record = &record[i];
    }
    for (int k = 0; group && k < *groups; k++) finish(&group[k]);
    return group;
}

void report_group_free(struct report_group *group, int groups) {
    for (int k = 0; group && k < groups; k++) free(group[k].row);
    free(group);
}
