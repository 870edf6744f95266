/* The lines of units in a picture of time. Of a run over ranks those of a rank are a lane with a
 * head of its own, and messages are arrows from lane to lane. */
#include "report/report.h"
#include <math.h>

enum { HEAD = 20, BAR = 18, ARROWS_DRAWN = 400 };

static int rank_of(const struct lanes *l, int unit) { return l->record->unit[unit].rank; }

static int has_heads(const struct lanes *l) { return l->record->ranks > 0; }

/* Ranks that have a line. */
static int ranks_drawn(const struct lanes *l) {
    return has_heads(l) && l->units ? rank_of(l, l->units - 1) + 1 : 0;
}

double lane_unit(const struct lanes *l, int unit) {
    return l->pitch * unit + (has_heads(l) ? HEAD * (rank_of(l, unit) + 1) : 0);
}

double lanes_height(const struct lanes *l) { return l->pitch * l->units + HEAD * ranks_drawn(l); }

/* Time that a rank's units spent waiting. */
static double waited(const struct lanes *l, int rank, double length, const double *busy) {
    double units = 0, sum = 0;
    for (int u = 0; u < l->record->units; u++) {
        if (rank_of(l, u) != rank) continue;
        units++;
        sum += busy[u];
    }
    return fmax(0, length - sum / fmax(1, units));
}

void lanes_heads(struct page *page, const struct lanes *l, double length, const double *busy) {
    for (int u = 0; u < l->units && has_heads(l); u++) {
        const int rank = rank_of(l, u);
        if (u && rank_of(l, u - 1) == rank) continue;
        const double y = lane_unit(l, u) - HEAD;
        struct sentence text;
        snprintf(text.text, sizeof text.text, "rank %d on %.60s: waiting for %s of it", rank,
                 l->record->rank[rank].host,
                 share_text(waited(l, rank, length, busy), length).text);
        if (u) svg_line(page, "rule", 0, y + 2, 100, y + 2);
        svg_text(page, "lane", START, 0, 0, y + 16, text.text);
    }
}

/* The edge of a rank's lane that looks to another rank's. */
static double edge(const struct lanes *l, int rank, int other) {
    int first = -1, last = -1;
    for (int u = 0; u < l->units; u++) {
        if (rank_of(l, u) != rank) continue;
        if (first < 0) first = u;
        last = u;
    }
    return other > rank ? lane_unit(l, last) + 2 + BAR : lane_unit(l, first) + 2;
}

static void draw(struct page *page, const struct lanes *l, const struct report_message *m,
                 const struct span *span) {
    struct sentence tip;
    char what[48];
    if (m->task >= 0)
        snprintf(what, sizeof what, "%.30s %d", report_noun(l->record), m->task);
    else
        snprintf(what, sizeof what, "%s", m->kind);
    snprintf(tip.text, sizeof tip.text, "rank %d to rank %d: %s, %s, there after %s", m->from,
             m->to, what, bytes_text(m->bytes).text,
             seconds_text(fmax(0, m->received - m->sent)).text);
    svg_arrow(page, m->task >= 0 ? "arrow moves" : "arrow",
              span->left + span->scale * (fmax(m->sent, span->begin) - span->begin),
              edge(l, m->from, m->to), span->left + span->scale * (m->received - span->begin),
              edge(l, m->to, m->from), tip.text);
}

int lanes_arrows(struct page *page, const struct lanes *l, const struct span *span, int *drawn) {
    const struct report_record *r = l->record;
    int count = 0;
    *drawn = 0;
    for (int i = 0; i < r->messages_shown; i++) {
        const struct report_message *m = &r->message[i];
        if (m->received < span->begin || m->received > span->end) continue;
        count++;
        if (*drawn == ARROWS_DRAWN || m->from >= ranks_drawn(l) || m->to >= ranks_drawn(l))
            continue;
        draw(page, l, m, span);
        ++*drawn;
    }
    return count;
}
