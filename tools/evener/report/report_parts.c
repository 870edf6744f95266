/* Where the time goes: phases of NPB-MZ; stages of TD-BEM, figure 14 of Bramas, Coulaud and
 * Sylvand, "Time-domain BEM for the wave equation on distributed-heterogeneous architectures"
 * (2015). */
#include "report/report.h"
#include <stdlib.h>
#include <string.h>

enum { NAMES = 24 };

/* All names in a group, in the order in which they come; how many. */
static int gather(const struct report_group *g, const char *name[NAMES]) {
    int names = 0;
    for (int i = 0; i < g->rows; i++)
        for (int p = 0; p < g->row[i].record->parts; p++) {
            const char *mine = g->row[i].record->part[p].name;
            int k = 0;
            while (k < names && strcmp(name[k], mine) != 0) k++;
            if (k == names && names < NAMES) name[names++] = mine;
        }
    return names;
}

static double of_name(const struct report_record *r, const char *name) {
    double sum = 0;
    for (int p = 0; p < r->parts; p++)
        if (!strcmp(r->part[p].name, name)) sum += r->part[p].seconds;
    return sum;
}

static void table(struct page *page, const struct report_group *g, const char *const *name,
                  int names) {
    const char *head[NAMES + 3] = {"schedule", "units"};
    for (int k = 0; k < names; k++) head[k + 2] = name[k];
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        if (!r->parts) continue;
        put(page, "<tr><th scope=\"row\">%s</th><td>%s</td>", row_label(&g->row[i]).text,
            r->units_text);
        for (int k = 0; k < names; k++)
            put(page, "<td>%s</td>", seconds_text(of_name(r, name[k])).text);
        put(page, "</tr>\n");
    }
    figure_table_end(page);
}

void report_parts(struct page *page, const struct report_group *g) {
    const char *name[NAMES], *class_[NAMES], *key[2 * NAMES + 1] = {NULL};
    struct quantity colour[NAMES];
    int names = gather(g, name);
    if (!names) return; /* programs without phases have no such picture */
    const size_t n = (size_t)g->rows;
    struct bar *bar = calloc(n, sizeof *bar);
    double *value = calloc(n * NAMES, sizeof *value);
    struct sentence *text = calloc(3 * n, sizeof *text);
    for (int k = 0; k < names; k++) {
        colour[k] = colour_class(k);
        class_[k] = key[2 * k] = colour[k].text;
        key[2 * k + 1] = name[k];
    }
    key[2 * names] = NULL;
    int bars = 0;
    const char *what = "phase", *held = NULL; /* held: heading of a row that was left out */
    for (int i = 0; bar && value && text && i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        struct sentence *s = &text[3 * i];
        const char *head = row_head(g, i, &s[2]);
        if (!head) head = held;
        held = r->parts ? NULL : head;
        if (!r->parts) continue;
        what = r->parts_name;
        double sum = 0, *part = &value[i * NAMES];
        for (int k = 0; k < names; k++) sum += part[k] = of_name(r, name[k]);
        s[0] = row_label(&g->row[i]);
        snprintf(s[1].text, sizeof s[1].text, "%s", seconds_text(sum).text);
        bar[bars++] =
            (struct bar){.label = s[0].text, .note = s[1].text, .part = part, .head = head};
    }
    if (bars) {
        int stages = !strcmp(what, "stage");
        figure_begin(page, stages ? "Time by stage, whole run"
                                  : "Time by phase, summed over units, whole run");
        figure_key(page, key);
        draw_bars(page, "Time by stage or phase",
                  "One bar a record, with a part for each stage or phase. The numbers are in the "
                  "table below.",
                  bars, bar, names, class_, name);
        table(page, g, name, names);
        figure_end(page);
    }
    free(bar);
    free(value);
    free(text);
}
