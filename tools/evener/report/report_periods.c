/* Computing and communication by schedule and number of units: figure 11 of González and Morancho,
 * "Multi-GPU Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021). */
#include "report/report.h"
#include <math.h>
#include <stdlib.h>

enum { PARTS = 3 };
static const char *const classes[PARTS] = {"k0", "k1", "rest"};

/* Of a step: the two periods, and what of the step lies in neither. Returns the whole. */
static double periods(const struct report_record *r, double part[PARTS]) {
    double steps = r->steps > 0 ? r->steps : INFINITY; /* no steps, no time */
    part[0] = r->compute_s / steps;
    part[1] = r->communication_s / steps;
    part[2] = r->seconds / steps - part[0] - part[1];
    if (!(part[2] > 1e-6 * part[0])) part[2] = 0; /* rounding, not time */
    return part[0] + part[1] + part[2];
}

static void table(struct page *page, const struct report_group *g) {
    static const char *const head[] = {
        "schedule", "units",     "computing, a step",     "communication",
        "the rest", "all of it", "communication's share", NULL};
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        double part[PARTS], all = periods(r, part);
        put(page, "<tr><th scope=\"row\">%s</th><td>%s</td>", row_label(&g->row[i]).text,
            r->units_text);
        for (int k = 0; k < PARTS; k++) put(page, "<td>%s</td>", seconds_text(part[k]).text);
        put(page, "<td>%s</td><td>%s</td></tr>\n", seconds_text(all).text,
            share_text(part[1], all).text);
    }
    figure_table_end(page);
}

void report_periods(struct page *page, const struct report_group *g) {
    if (!report_timed(g->row[0].record)) return;
    const size_t n = (size_t)g->rows;
    struct bar *bar = calloc(n, sizeof *bar);
    double(*part)[PARTS] = calloc(n, sizeof *part);
    struct sentence *text = calloc(4 * n, sizeof *text);
    double best = 0; /* of the same units */
    for (int i = 0; bar && part && text && i < g->rows; i++) {
        struct sentence *s = &text[4 * i];
        double all = periods(g->row[i].record, part[i]);
        s[0] = row_label(&g->row[i]);
        bar[i] = (struct bar){.label = s[0].text, .part = part[i], .note = s[1].text};
        bar[i].head = row_head(g, i, &s[2]);
        if (bar[i].head) {
            best = all;
            for (int k = i + 1; k < g->rows; k++) {
                double other[PARTS];
                struct sentence unused;
                if (row_head(g, k, &unused)) break;
                best = fmin(best, periods(g->row[k].record, other));
            }
        }
        snprintf(s[1].text, sizeof s[1].text, "%s · %s", seconds_text(all).text,
                 ratio_text(all / best).text);
        snprintf(s[3].text, sizeof s[3].text, "%.190s: computing %s, communication %s a step",
                 row_name(&g->row[i]).text, seconds_text(part[i][0]).text,
                 seconds_text(part[i][1]).text);
        bar[i].tip = s[3].text;
    }
    if (bar && part && text) {
        static const char *const key[] = {"k0",   "computing", "k1", "communication",
                                          "rest", "the rest",  NULL};
        figure_begin(page, "Computing and communication, time of a step");
        figure_key(page, key);
        draw_bars(page, "Computing and communication by schedule and number of units",
                  "One bar a record: the time of a step in the periods of computing and of "
                  "communication, and the rest. The numbers are in the table below.",
                  g->rows, bar, PARTS, classes, NULL);
        put(page, "<p class=\"note\">The factor is over the fastest on the same units. The rest is "
                  "what lies in neither period, as what a schedule takes to decide.</p>\n");
        table(page, g);
        figure_end(page);
    }
    free(bar);
    free(part);
    free(text);
}
