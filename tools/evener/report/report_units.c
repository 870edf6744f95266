/* Units in the whole run: computing, exchange and waiting, one small picture a record. */
#include "report/report.h"
#include <math.h>
#include <string.h>

enum { ROW = 19, BAR = 13, UNITS_DRAWN = 64, GUTTER = 9 };

static void picture(struct page *page, const struct report_row *row) {
    const struct report_record *r = row->record;
    const int units = r->units < UNITS_DRAWN ? r->units : UNITS_DRAWN;
    double max = 0;
    for (int u = 0; u < r->units; u++)
        max = fmax(max, r->unit[u].compute_s + r->unit[u].exchange_s + r->unit[u].idle_s);
    put(page, "<div><h4>%s</h4>\n", row_name(row).text);
    struct sentence title;
    snprintf(title.text, sizeof title.text, "Work of the units, %.190s", row_name(row).text);
    svg_begin(page, ROW * units, title.text,
              "One bar a unit: its time in computing, exchange and waiting over the whole run.");
    for (int u = 0; u < units; u++) {
        static const char *const class_[] = {"k0", "k1", "wait"};
        static const char *const word[] = {"computing", "exchange", "waiting"};
        const struct report_unit *x = &r->unit[u];
        const double part[] = {x->compute_s, x->exchange_s, x->idle_s};
        char name[16];
        snprintf(name, sizeof name, "%d", u);
        svg_text(page, "value", END, GUTTER - 2, 0, ROW * u + 13, name);
        double at = GUTTER;
        for (int k = 0; k < 3 && max > 0; k++) {
            struct sentence tip;
            double width = (100 - GUTTER) * part[k] / max;
            if (!(width > 0)) continue;
            snprintf(tip.text, sizeof tip.text, "unit %d (%s): %s %s", u, x->gpu ? "GPU" : "CPU",
                     word[k], seconds_text(part[k]).text);
            svg_box(page, class_[k], at, ROW * u + 2, width, BAR, tip.text);
            at += width;
        }
    }
    svg_end(page);
    if (r->units > units)
        put(page, "<p class=\"note\">The first %d of %d units.</p>\n", units, r->units);
    put(page, "</div>\n");
}

static void table(struct page *page, const struct report_group *g) {
    static const char *const head[] = {"record",    "unit",     "kind",    "tasks", "weight",
                                       "computing", "exchange", "waiting", NULL};
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        for (int u = 0; u < r->units && u < UNITS_DRAWN; u++) {
            const struct report_unit *x = &r->unit[u];
            put(page,
                "<tr><th scope=\"row\">%s</th><td>%d</td><td>%s</td><td>%s</td><td>%s</td><td>%s"
                "</td><td>%s</td><td>%s</td></tr>\n",
                row_name(&g->row[i]).text, u, x->gpu ? "GPU" : "CPU", count_text(x->tasks).text,
                count_text(x->weight).text, seconds_text(x->compute_s).text,
                seconds_text(x->exchange_s).text, seconds_text(x->idle_s).text);
        }
    }
    figure_table_end(page);
}

void report_units(struct page *page, const struct report_group *g) {
    if (g->row[0].record->plan) return;
    static const char *const key[] = {"k0", "computing", "k1", "exchange", "wait", "waiting", NULL};
    figure_begin(page, "Balance: what each unit did in the whole run");
    figure_key(page, key);
    put(page, "<div class=\"columns\">\n");
    for (int i = 0; i < g->rows; i++) picture(page, &g->row[i]);
    put(page, "</div>\n");
    table(page, g);
    figure_end(page);
}
