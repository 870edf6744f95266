/* A section for each directive of a program, or each name that it has given its loops: instances,
 * balance of the units, and what moved. */
#include "report/report.h"
#include <evener.h>
#include <math.h>
#include <stdlib.h>

enum { UNITS_DRAWN = 64 };

static double imbalance(const struct report_record *r, const struct report_site *s) {
    double *seconds = malloc((size_t)r->units * sizeof *seconds + 1);
    for (int u = 0; seconds && u < r->units; u++) seconds[u] = s->unit[u].compute_s;
    const double ratio = seconds ? evn_imbalance(r->units, seconds) : NAN;
    free(seconds);
    return ratio;
}

static void table(struct page *page, const struct report_group *g) {
    static const char *const head[] = {"directive", "record",    "schedule",   "instances", "tasks",
                                       "time",      "imbalance", "migrations", "moved",     NULL};
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        for (const struct report_site *s = r->site; s < r->site + r->sites; s++)
            put(page,
                "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s"
                "</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                s->name, row_name(&g->row[i]).text, s->schedule, count_text(s->instances).text,
                count_text(s->tasks).text, seconds_text(s->seconds).text,
                ratio_text(imbalance(r, s)).text, count_text(s->migrations).text,
                bytes_text(s->moved_bytes).text);
    }
    figure_table_end(page);
}

/* One bar a unit. */
static void draw_units(struct page *page, const struct report_record *r,
                       const struct report_site *s) {
    static const char *const class_[] = {"k0", "k1", "wait"};
    static const char *const word[] = {"computing", "exchange", "waiting"};
    const int units = r->units < UNITS_DRAWN ? r->units : UNITS_DRAWN;
    struct bar bar[UNITS_DRAWN];
    double part[UNITS_DRAWN][3];
    struct sentence label[UNITS_DRAWN], title;
    struct quantity note[UNITS_DRAWN];
    for (int u = 0; u < units; u++) {
        part[u][0] = s->unit[u].compute_s;
        part[u][1] = s->unit[u].exchange_s;
        part[u][2] = s->unit[u].idle_s;
        snprintf(label[u].text, sizeof label[u].text, "unit %d (%s)", u,
                 r->unit[u].gpu ? "GPU" : "CPU");
        note[u] = seconds_text(part[u][0]);
        bar[u] = (struct bar){.label = label[u].text, .note = note[u].text, .part = part[u]};
    }
    snprintf(title.text, sizeof title.text, "Units at %.290s", s->name);
    draw_bars(page, title.text, "One bar a unit: its time in computing, exchange and waiting.",
              units, bar, 3, class_, word);
    if (r->units > units)
        put(page, "<p class=\"note\">The first %d of %d units.</p>\n", units, r->units);
}

static void section(struct page *page, const struct report_group *g, int row,
                    const struct report_site *s) {
    const struct report_record *r = g->row[row].record;
    put(page, "<section class=\"site\">\n<h3>%s</h3>\n<p class=\"note\">", s->name);
    if (g->rows > 1) put(page, "%s: ", row_name(&g->row[row]).text);
    put(page, "%s instance%s of %s tasks (%s), %s, imbalance %s, ", count_text(s->instances).text,
        s->instances == 1 ? "" : "s", count_text(s->tasks).text, s->schedule,
        seconds_text(s->seconds).text, ratio_text(imbalance(r, s)).text);
    put(page, "%s migration%s, %s moved", count_text(s->migrations).text,
        s->migrations == 1 ? "" : "s", bytes_text(s->moved_bytes).text);
    if (s->loops > 1) put(page, ", in %s loops", count_text(s->loops).text);
    put(page, "</p>\n");
    draw_units(page, r, s);
    put(page, "</section>\n");
}

void report_sites(struct page *page, const struct report_group *g) {
    static const char *const key[] = {"k0", "computing", "k1", "exchange", "wait", "waiting", NULL};
    int sites = 0;
    for (int i = 0; i < g->rows; i++) sites += g->row[i].record->sites;
    if (!sites) return;
    figure_begin(page, "Directives: instances, balance and data that moved");
    figure_key(page, key);
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->row[i].record->sites; k++)
            section(page, g, i, &g->row[i].record->site[k]);
    table(page, g);
    figure_end(page);
}
