/* Transfers between units, by schedule: figure 10 of González and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021). */
#include "report/report.h"
#include <stdlib.h>

/* The counters, over the run or a step. */
static const struct count {
    const char *name, *head;
    int a_step;
    struct quantity (*text)(double);
} counts[] = {
    {"Bytes a step", "bytes, a step", 1, bytes_text},
    {"Messages a step", "messages, a step", 1, count_text},
    {"Migrations in the whole run", "migrations, whole run", 0, count_text},
};
enum { COUNTS = sizeof counts / sizeof *counts };

static double counted(const struct report_record *r, int what) {
    double value = what == 0 ? r->bytes : what == 1 ? r->messages : r->migrations;
    return !counts[what].a_step ? value : r->steps > 0 ? value / r->steps : 0;
}

static void table(struct page *page, const struct report_group *g) {
    const char *head[COUNTS + 3] = {"schedule", "units"};
    for (int c = 0; c < COUNTS; c++) head[c + 2] = counts[c].head;
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        put(page, "<tr><th scope=\"row\">%s</th><td>%s</td>", row_label(&g->row[i]).text,
            r->units_text);
        for (int c = 0; c < COUNTS; c++)
            put(page, "<td>%s</td>", counts[c].text(counted(r, c)).text);
        put(page, "</tr>\n");
    }
    figure_table_end(page);
}

void report_transfers(struct page *page, const struct report_group *g) {
    if (!report_timed(g->row[0].record)) return;
    int several = 0; /* rows of several units: within one unit nothing is transferred */
    for (int i = 0; i < g->rows; i++) several += g->row[i].record->units > 1;
    if (!several) {
        put(page, "<p class=\"left-out\">No picture of transfers: nothing crosses between units "
                  "where there is one. Add records of several units.</p>\n");
        return;
    }
    struct bar *bar = calloc((size_t)several, sizeof *bar);
    double *value = calloc((size_t)several, sizeof *value);
    struct sentence *text = calloc(3 * (size_t)several, sizeof *text);
    if (bar && value && text) {
        static const char *const one[] = {"c0 h0"};
        figure_begin(page, "Transfers between units");
        put(page, "<div class=\"columns\">\n");
        for (int c = 0; c < COUNTS; c++) {
            int n = 0;
            for (int i = 0; i < g->rows; i++) {
                const struct report_record *r = g->row[i].record;
                if (r->units < 2) continue;
                struct sentence *s = &text[3 * n];
                value[n] = counted(r, c);
                s[0] = row_label(&g->row[i]);
                snprintf(s[1].text, sizeof s[1].text, "%s", counts[c].text(value[n]).text);
                bar[n] = (struct bar){.label = s[0].text,
                                      .note = s[1].text,
                                      .part = &value[n],
                                      .head = row_head(g, i, &s[2])};
                n++;
            }
            put(page, "<div><h4>%s</h4>\n", counts[c].name);
            draw_bars(page, counts[c].name, "One bar a record. The numbers are in the table below.",
                      n, bar, 1, one, NULL);
            put(page, "</div>\n");
        }
        put(page, "</div>\n");
        table(page, g);
        figure_end(page);
    }
    free(bar);
    free(value);
    free(text);
}
