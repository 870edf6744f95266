/* Speedups over the record with fewest units, a line a schedule: figure 12 of González and
 * Morancho, "Multi-GPU Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021). */
#include "report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The plot in per cent across, in pixels down; names of lines stand to its right. */
enum { LEFT = 6, RIGHT = 84, TOP = 14, BOTTOM = 314, HEIGHT = 360, APART = 16 };

/* Both axes are linear, or both logarithmic where the numbers of units lie far apart; the ideal is
 * a straight line either way. */
struct axes {
    double x0, x1, y0, y1;
    int logarithmic;
};

static double along(double v, double v0, double v1, int logarithmic) {
    if (v1 <= v0) return 0.5;
    return logarithmic ? log(v / v0) / log(v1 / v0) : (v - v0) / (v1 - v0);
}
static double x_of(const struct axes *a, double units) {
    return LEFT + (RIGHT - LEFT) * along(units, a->x0, a->x1, a->logarithmic);
}
static double y_of(const struct axes *a, double speedup) {
    return BOTTOM - (BOTTOM - TOP) * along(speedup, a->y0, a->y1, a->logarithmic);
}

/* One schedule: indices of its rows, the fastest of each number of units, fewest units first. */
struct series {
    int *row, points;
    double label_y, end_x, end_y;
};

static double speedup(const struct report_group *g, int base, int i) {
    return report_step(g->row[base].record) / report_step(g->row[i].record);
}

/* The fastest of those records that have the fewest units; -1 if none has a time. */
static int find_base(const struct report_group *g) {
    int base = -1;
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        if (r->units != g->row[0].record->units || !(report_step(r) > 0)) continue;
        if (base < 0 || report_step(r) < report_step(g->row[base].record)) base = i;
    }
    return base;
}

static int gather(const struct report_group *g, struct series *series, int *room) {
    int n = 0;
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        if (!(report_step(r) > 0)) continue;
        int k = 0;
        while (k < n && strcmp(g->row[series[k].row[0]].record->schedule, r->schedule) != 0) k++;
        struct series *s = &series[k];
        if (k == n) {
            s->row = room + (size_t)n * (size_t)g->rows;
            n++;
        }
        int last = s->points ? s->row[s->points - 1] : -1;
        if (last < 0 || g->row[last].record->units != r->units)
            s->row[s->points++] = i;
        else if (report_step(r) < report_step(g->row[last].record))
            s->row[s->points - 1] = i;
    }
    return n;
}

static void grid(struct page *page, const struct report_group *g, const struct axes *a) {
    double step = a->logarithmic ? 2 : tick_step(a->y1, 5);
    for (double v = a->y0; v <= a->y1 * (1 + 1e-9); v = a->logarithmic ? v * step : v + step) {
        char text[32];
        snprintf(text, sizeof text, "%.3g", v);
        svg_line(page, "grid", LEFT, y_of(a, v), RIGHT, y_of(a, v));
        svg_text(page, "tick", END, LEFT, -8, y_of(a, v) + 4, text);
    }
    double free_from = -1;
    for (int i = 0; i < g->rows; i++) {
        int units = g->row[i].record->units;
        double x = x_of(a, units);
        if ((i && units == g->row[i - 1].record->units) || x < free_from) continue;
        char text[32];
        snprintf(text, sizeof text, "%d", units);
        svg_line(page, "axis", x, BOTTOM, x, BOTTOM + 5);
        svg_text(page, "tick", MIDDLE, x, 0, BOTTOM + 20, text);
        free_from = x + 4;
    }
    svg_line(page, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    svg_text(page, "tick", MIDDLE, (LEFT + RIGHT) / 2.0, 0, BOTTOM + 40, "units");
}

static int by_end(const void *a, const void *b) {
    const struct series *x = *(struct series *const *)a, *y = *(struct series *const *)b;
    return (x->end_y > y->end_y) - (x->end_y < y->end_y);
}

/* Puts the names where the lines end, but far enough from each other to be read. */
static void place_labels(struct series **order, int n) {
    qsort(order, (size_t)n, sizeof(struct series *), by_end);
    double from = TOP;
    for (int k = 0; k < n; k++) {
        order[k]->label_y = fmax(order[k]->end_y, from);
        from = order[k]->label_y + APART;
    }
    double to = BOTTOM; /* push back up what has left at the bottom */
    for (int k = n - 1; k >= 0 && order[k]->label_y > to; k--) {
        order[k]->label_y = to;
        to -= APART;
    }
}

static void draw(struct page *page, const struct report_group *g, const struct axes *a, int base,
                 struct series *series, int n, struct series **order) {
    const struct report_record *b = g->row[base].record;
    double max = a->x1 / b->units;
    svg_line(page, "ideal", x_of(a, b->units), y_of(a, 1), x_of(a, a->x1), y_of(a, max));
    for (int k = 0; k < n; k++) {
        struct series *s = &series[k];
        int last = s->row[s->points - 1];
        s->end_x = x_of(a, g->row[last].record->units);
        s->end_y = y_of(a, speedup(g, base, last));
        order[k] = s;
    }
    struct series ideal = {.points = 0, .end_x = x_of(a, a->x1), .end_y = y_of(a, max)};
    order[n] = &ideal;
    place_labels(order, n + 1);
    for (int k = 0; k < n; k++) {
        const struct series *s = &series[k];
        char line[16];
        snprintf(line, sizeof line, "s%d", k % COLOURS);
        char leader[24];
        snprintf(leader, sizeof leader, "s%d leader", k % COLOURS);
        svg_line(page, leader, s->end_x, s->end_y, RIGHT + 1.2, s->label_y);
        for (int i = 1; i < s->points; i++)
            svg_line(page, line, x_of(a, g->row[s->row[i - 1]].record->units),
                     y_of(a, speedup(g, base, s->row[i - 1])),
                     x_of(a, g->row[s->row[i]].record->units),
                     y_of(a, speedup(g, base, s->row[i])));
    }
    svg_line(page, "axis leader", ideal.end_x, ideal.end_y, RIGHT + 1.2, ideal.label_y);
    svg_text(page, "label muted", START, RIGHT + 1.6, 0, ideal.label_y + 4, "ideal");
    for (int k = 0; k < n; k++) {
        const struct series *s = &series[k];
        for (int i = 0; i < s->points; i++) {
            const struct report_row *row = &g->row[s->row[i]];
            put(page,
                "<circle class=\"c%d dot\" cx=\"%.3f%%\" cy=\"%.1f\" r=\"4.5\"><title>%s: %s, "
                "%s a step</title></circle>\n",
                k % COLOURS, x_of(a, row->record->units), y_of(a, speedup(g, base, s->row[i])),
                row_name(row).text, ratio_text(speedup(g, base, s->row[i])).text,
                seconds_text(report_step(row->record)).text);
        }
        svg_text(page, "label", START, RIGHT + 1.6, 0, s->label_y + 4, g->row[s->row[0]].label);
    }
}

static void table(struct page *page, const struct report_group *g, int base) {
    static const char *const head[] = {"schedule", "units",          "a step",
                                       "speedup",  "over the ideal", NULL};
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        double s = speedup(g, base, i);
        put(page,
            "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
            row_label(&g->row[i]).text, r->units_text, seconds_text(report_step(r)).text,
            ratio_text(s).text, share_text(s * g->row[base].record->units, r->units).text);
    }
    figure_table_end(page);
}

void report_speedups(struct page *page, const struct report_group *g) {
    if (!report_timed(g->row[0].record)) return;
    const int base = find_base(g), max = g->row[g->rows - 1].record->units;
    if (base < 0 || max == g->row[base].record->units) {
        put(page,
            "<p class=\"left-out\">No picture of speedups: %s. Add records of the same application "
            "and class with other units.</p>\n",
            base < 0 ? "no record has a time" : "all records have the same number of units");
        return;
    }
    const size_t n = (size_t)g->rows;
    struct series *series = calloc(n, sizeof *series);
    struct series **order = calloc(n + 1, sizeof *order);
    int *room = calloc(n * n, sizeof *room);
    if (series && order && room) {
        const struct report_record *b = g->row[base].record;
        struct axes a = {.x0 = b->units, .x1 = max, .logarithmic = max > 8 * b->units};
        double high = (double)max / b->units, low = 1;
        for (int i = 0; i < g->rows; i++) {
            if (!(report_step(g->row[i].record) > 0)) continue;
            high = fmax(high, speedup(g, base, i));
            low = fmin(low, speedup(g, base, i));
        }
        a.y1 = high * 1.02;
        a.y0 = a.logarithmic ? exp2(floor(log2(low))) : 0;
        char caption[420];
        snprintf(caption, sizeof caption, "Speedup over %s, %s a step",
                 row_name(&g->row[base]).text, seconds_text(report_step(b)).text);
        figure_begin(page, caption);
        put(page, "<div class=\"wide\"><div class=\"plot\">\n");
        svg_begin(
            page, HEIGHT, caption,
            "One line a schedule: how many times faster a step is than with the fewest units. "
            "The numbers are in the table below.");
        grid(page, g, &a);
        draw(page, g, &a, base, series, gather(g, series, room), order);
        svg_end(page);
        put(page, "</div></div>\n");
        table(page, g, base);
        figure_end(page);
    }
    free(series);
    free(order);
    free(room);
}
