/* Ranks in the whole run: computing, exchange and waiting of their units, and bytes sent. */
#include "report/report.h"
#include <math.h>
#include <stdlib.h>

enum { RANKS_DRAWN = 64 };

static int ranks_drawn(const struct report_record *r) {
    return r->ranks < RANKS_DRAWN ? r->ranks : RANKS_DRAWN;
}

/* Sums of a rank's units. */
struct work {
    int units;
    double part[3]; /* computing, exchange, waiting */
};

static struct work work_of(const struct report_record *r, int rank) {
    struct work w = {0};
    for (int u = 0; u < r->units; u++) {
        if (r->unit[u].rank != rank) continue;
        w.units++;
        w.part[0] += r->unit[u].compute_s;
        w.part[1] += r->unit[u].exchange_s;
        w.part[2] += r->unit[u].idle_s;
    }
    return w;
}

static void picture(struct page *page, const struct report_row *row) {
    static const char *const class_[] = {"k0", "k1", "wait"};
    const struct report_record *r = row->record;
    const int ranks = ranks_drawn(r);
    struct bar *bar = calloc((size_t)ranks, sizeof *bar);
    struct work *work = calloc((size_t)ranks, sizeof *work);
    struct sentence *text = calloc(2 * (size_t)ranks, sizeof *text);
    for (int i = 0; bar && work && text && i < ranks; i++) {
        work[i] = work_of(r, i);
        for (int k = 0; k < 3; k++) work[i].part[k] /= fmax(1, work[i].units); /* of one unit */
        snprintf(text[2 * i].text, sizeof text->text, "rank %d on %.60s", i, r->rank[i].host);
        snprintf(text[2 * i + 1].text, sizeof text->text, "waiting %s",
                 seconds_text(work[i].part[2]).text);
        bar[i] = (struct bar){
            .label = text[2 * i].text, .note = text[2 * i + 1].text, .part = work[i].part};
    }
    put(page, "<div><h4>%s</h4>\n", row_name(row).text);
    struct sentence title;
    snprintf(title.text, sizeof title.text, "Work of the ranks, %.190s", row_name(row).text);
    if (bar && work && text)
        draw_bars(
            page, title.text,
            "One bar a rank: computing, exchange and waiting of its units over the whole run.",
            ranks, bar, 3, class_, NULL);
    if (r->ranks > ranks)
        put(page, "<p class=\"note\">The first %d of %d ranks.</p>\n", ranks, r->ranks);
    put(page, "</div>\n");
    free(bar);
    free(work);
    free(text);
}

static void table(struct page *page, const struct report_group *g) {
    static const char *const head[] = {
        "record",          "rank",        "host", "units", "waiting", "messages sent", "bytes",
        "tasks that left", "their bytes", NULL};
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        for (int k = 0; k < ranks_drawn(r); k++) {
            const struct report_rank *x = &r->rank[k];
            put(page,
                "<tr><th scope=\"row\">%s</th><td>%d</td><td>%s</td><td>%d</td><td>%s</td><td>%s"
                "</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                row_name(&g->row[i]).text, k, x->host, work_of(r, k).units,
                seconds_text(x->wait_s).text, count_text(x->messages).text,
                bytes_text(x->bytes).text, count_text(x->moved).text,
                bytes_text(x->moved_bytes).text);
        }
    }
    figure_table_end(page);
}

void report_ranks(struct page *page, const struct report_group *g) {
    static const char *const key[] = {"k0", "computing", "k1", "exchange", "wait", "waiting", NULL};
    int with = 0;
    for (int i = 0; i < g->rows; i++) with += g->row[i].record->ranks > 0;
    if (!with) return;
    figure_begin(page, "Ranks: what the units of each did in the whole run");
    figure_key(page, key);
    put(page, "<div class=\"columns\">\n");
    for (int i = 0; i < g->rows; i++)
        if (g->row[i].record->ranks) picture(page, &g->row[i]);
    put(page, "</div>\n<p class=\"note\">Of each rank the mean of its units.</p>\n");
    table(page, g);
    figure_end(page);
}
