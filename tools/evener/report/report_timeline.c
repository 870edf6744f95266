/* One step in time, a line a unit: figures 5 to 9 of González and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021). */
#include "report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 18, QUEUE = 7, GAP = 6, AXIS = 30, GUTTER = 6, UNITS_DRAWN = 64, KINDS_MAX = 8 };
static const double WIDTH = 100 - GUTTER;

/* A step of a record: the last one that has computing in it. */
struct step {
    int number; /* -1: the record has none */
    double begin, end;
};

static struct step last_step(const struct report_record *r) {
    struct step s = {-1, INFINITY, -INFINITY};
    for (int i = 0; i < r->bursts; i++)
        if ((r->plan || r->burst[i].kind == 0) && r->burst[i].step > s.number)
            s.number = r->burst[i].step;
    for (int i = 0; i < r->bursts; i++) {
        if (r->burst[i].step != s.number) continue;
        s.begin = fmin(s.begin, r->burst[i].begin);
        s.end = fmax(s.end, r->burst[i].end);
    }
    if (s.number >= 0 && !(s.end > s.begin)) s.number = -1;
    return s;
}

static int in_order(const void *a, const void *b) {
    const struct report_burst *x = a, *y = b;
    int p = report_kind(x->kind)->queue, q = report_kind(y->kind)->queue;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    if (p != q) return p - q;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The bursts of the step, by unit, line and time; *n of them. NULL if there is no memory. */
static struct report_burst *of_step(const struct report_record *r, const struct step *s, int *n) {
    struct report_burst *b = malloc(sizeof *b * ((size_t)r->bursts + 1));
    *n = 0;
    for (int i = 0; b && i < r->bursts; i++)
        if (r->burst[i].step == s->number) b[(*n)++] = r->burst[i];
    if (b) qsort(b, (size_t)*n, sizeof *b, in_order);
    return b;
}

static const char *burst_class(int kind) {
    static const char *const class_[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    return class_[kind];
}

/* Draws bursts b[0..n), of one kind and so near to each other that they are one box. */
static void draw(struct page *page, const struct report_record *r, const struct step *s,
                 double scale, const struct report_burst *b, int n, double y) {
    const struct report_kind *kind = report_kind(b->kind);
    double x = GUTTER + scale * (b->begin - s->begin), end = b->end;
    for (int i = 1; i < n; i++) end = fmax(end, b[i].end);
    double width = fmax(scale * (end - b->begin), 0.05);
    struct sentence tip;
    if (n > 1)
        snprintf(tip.text, sizeof tip.text, "%d short bursts of %s, %s", n, kind->word,
                 seconds_text(end - b->begin).text);
    else if (b->count == 1)
        snprintf(tip.text, sizeof tip.text, "%s %d: %s %s", report_noun(r), b->task, kind->word,
                 seconds_text(end - b->begin).text);
    else
        snprintf(tip.text, sizeof tip.text, "%d %ss: %s %s", b->count, report_noun(r), kind->word,
                 seconds_text(end - b->begin).text);
    char class_[16];
    snprintf(class_, sizeof class_, "%s%s", burst_class(b->kind), width < 0.3 ? " thin" : "");
    svg_box(page, class_, x, y, width, kind->queue ? QUEUE : BAR, tip.text);
    char name[32];
    int length = b->count == 1 ? snprintf(name, sizeof name, "%d", b->task)
                               : snprintf(name, sizeof name, "%d %ss", b->count, report_noun(r));
    if (n == 1 && !kind->queue && width > 0.9 * length + 0.9) {
        char ink[16];
        snprintf(ink, sizeof ink, "in %s", burst_class(b->kind));
        svg_text(page, ink, MIDDLE, x + width / 2, 0, y + 13, name);
    }
}

static void axis(struct page *page, double y, double length, double scale) {
    const double step = tick_step(length, 5);
    const double unit = length >= 1 ? 1 : length >= 1e-3 ? 1e-3 : length >= 1e-6 ? 1e-6 : 1e-9;
    const char *name = unit == 1 ? "s" : unit == 1e-3 ? "ms" : unit == 1e-6 ? "µs" : "ns";
    svg_line(page, "axis", GUTTER, y, 100, y);
    for (int i = 0; i * step <= length * (1 + 1e-9); i++) {
        double x = GUTTER + scale * i * step;
        char text[32];
        snprintf(text, sizeof text, i ? "%.4g\u00a0%s" : "%.0f", i * step / unit, name);
        svg_line(page, "axis", x, y, x, y + 4);
        svg_text(page, "tick", x > 97 ? END : MIDDLE, x, 0, y + 17, text);
    }
}

/* The heads of ranks, with what their units did in the step. */
static void heads(struct page *page, const struct lanes *lanes, const struct step *s,
                  const struct report_burst *b, int n) {
    double *busy = calloc((size_t)lanes->record->units, sizeof *busy);
    for (int i = 0; busy && i < n; i++)
        if (!report_kind(b[i].kind)->queue) busy[b[i].unit] += b[i].end - b[i].begin;
    if (busy) lanes_heads(page, lanes, s->end - s->begin, busy);
    free(busy);
}

/* The lines of units; `length` is the time that the whole width stands for. */
static void picture(struct page *page, const struct report_row *row, const struct step *s,
                    double length) {
    const struct report_record *r = row->record;
    const int units = r->units < UNITS_DRAWN ? r->units : UNITS_DRAWN;
    int n, queues = 0;
    struct report_burst *b = of_step(r, s, &n);
    if (!b) return;
    double busy = 0;
    for (int i = 0; i < n; i++) {
        if (report_kind(b[i].kind)->queue)
            queues = 1;
        else
            busy += b[i].end - b[i].begin;
    }
    const struct lanes lanes = {r, units, BAR + GAP + (queues ? QUEUE + 1 : 0)};
    const double scale = WIDTH / length, height = lanes_height(&lanes);
    put(page,
        "<div class=\"title\"><h4>%s</h4><p class=\"note\">%s %d: %s, units busy for %s of it</p>"
        "</div>\n",
        row_name(row).text, r->sites ? "instance" : "step", s->number,
        seconds_text(s->end - s->begin).text,
        share_text(busy, (s->end - s->begin) * r->units).text);
    struct sentence title;
    snprintf(title.text, sizeof title.text, "One step of %.190s", row_name(row).text);
    svg_begin(page, height + AXIS, title.text,
              "One line a unit from the begin of a step to its end; boxes are bursts of computing "
              "and exchange, what is empty is waiting, arrows are messages between ranks.");
    for (int u = 0; u < units; u++)
        svg_box(page, "wait", GUTTER, lane_unit(&lanes, u) + 2, scale * (s->end - s->begin), BAR,
                NULL);
    axis(page, height, length, scale);
    heads(page, &lanes, s, b, n);
    for (int u = 0, i = 0; u < units; u++) {
        const double y = lane_unit(&lanes, u);
        char name[16];
        snprintf(name, sizeof name, "%d", u);
        svg_text(page, "value", END, GUTTER - 1.5, 0, y + 15, name);
        while (i < n && b[i].unit == u) {
            int m = 1; /* boxes too narrow to tell apart are one */
            while (i + m < n && b[i + m].unit == u && b[i + m].kind == b[i].kind &&
                   scale * (b[i + m].begin - b[i + m - 1].end) < 0.05 &&
                   scale * (b[i + m].end - b[i + m].begin) < 0.4 &&
                   scale * (b[i].end - b[i].begin) < 0.4)
                m++;
            draw(page, r, s, scale, &b[i], m,
                 y + 2 + (report_kind(b[i].kind)->queue ? BAR + 1 : 0));
            i += m;
        }
    }
    const struct span span = {s->begin, s->end, GUTTER, scale};
    int drawn;
    const int messages = lanes_arrows(page, &lanes, &span, &drawn);
    svg_end(page);
    if (r->units > units)
        put(page, "<p class=\"note\">The first %d of %d units.</p>\n", units, r->units);
    if (messages > drawn)
        put(page, "<p class=\"note\">Arrows of %d of %d messages.</p>\n", drawn, messages);
    if (r->uncertainty > 0)
        put(page,
            "<p class=\"note\">Clocks of hosts were compared; a time may be wrong by %s.</p>\n",
            seconds_text(r->uncertainty).text);
    free(b);
}

static void table(struct page *page, const struct report_group *g) {
    const char *head[KINDS_MAX + 6] = {"record", "step", "unit", "bursts"};
    int kinds = 0;
    for (; kinds < KINDS_MAX && report_kind(kinds); kinds++)
        head[4 + kinds] = report_kind(kinds)->word;
    head[4 + kinds] = "waiting";
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        struct step s = last_step(r);
        int n, at = 0;
        struct report_burst *b = s.number < 0 ? NULL : of_step(r, &s, &n);
        for (int u = 0; b && u < r->units && u < UNITS_DRAWN; u++) {
            double sum[KINDS_MAX] = {0}, busy = 0;
            int from = at;
            for (; at < n && b[at].unit == u; at++) sum[b[at].kind] += b[at].end - b[at].begin;
            put(page, "<tr><th scope=\"row\">%s</th><td>%d</td><td>%d</td><td>%d</td>",
                row_name(&g->row[i]).text, s.number, u, at - from);
            for (int k = 0; k < kinds; k++) {
                put(page, "<td>%s</td>", seconds_text(sum[k]).text);
                if (!report_kind(k)->queue) busy += sum[k];
            }
            put(page, "<td>%s</td></tr>\n", seconds_text(fmax(0, s.end - s.begin - busy)).text);
        }
        free(b);
    }
    figure_table_end(page);
}

/* Colours of the kinds that there are bursts of. */
static void key(struct page *page, const struct report_group *g) {
    int there[KINDS_MAX] = {0}, n = 0;
    const char *pair[2 * KINDS_MAX + 3];
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->row[i].record->bursts; k++)
            there[g->row[i].record->burst[k].kind] = 1;
    for (int k = 0; k < KINDS_MAX && report_kind(k); k++) {
        if (!there[k]) continue;
        pair[n++] = burst_class(k);
        pair[n++] = report_kind(k)->word;
    }
    pair[n++] = "wait";
    pair[n++] = "waiting";
    pair[n] = NULL;
    figure_key(page, pair);
}

/* The longest step of those records that have the same units: they share one scale of time. */
static double longest(const struct report_group *g, const struct report_record *like) {
    double max = 0;
    for (int i = 0; i < g->rows; i++) {
        struct step s = last_step(g->row[i].record);
        if (s.number >= 0 && !strcmp(g->row[i].record->units_text, like->units_text))
            max = fmax(max, s.end - s.begin);
    }
    return max;
}

void report_timelines(struct page *page, const struct report_group *g) {
    const int plan = g->row[0].record->plan;
    int with = 0;
    for (int i = 0; i < g->rows; i++) with += last_step(g->row[i].record).number >= 0;
    if (with) {
        figure_begin(page, "One step in time, a line a unit");
        key(page, g);
        for (int i = 0; i < g->rows; i++) {
            struct step s = last_step(g->row[i].record);
            if (s.number < 0) continue;
            put(page, "<div class=\"panel\">\n");
            picture(page, &g->row[i], &s, longest(g, g->row[i].record));
            put(page, "</div>\n");
        }
        put(page,
            "<p class=\"note\">The last step whose bursts the record holds. Numbers in boxes are "
            "%ss. Records with the same units share one scale.</p>\n",
            report_noun(g->row[0].record));
        table(page, g);
        figure_end(page);
    }
    if (with < g->rows && !plan)
        put(page,
            "<p class=\"left-out\">No timeline of %d of %d records: they hold no bursts. Records "
            "that evener run APP --json FILE writes now hold those of the last steps.</p>\n",
            g->rows - with, g->rows);
}
