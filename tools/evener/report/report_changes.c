/* Tasks that come and go: how many there are over the runs of a loop, and how even its units were
 * before each change. */
#include "report/report.h"
#include <math.h>

enum { GUTTER = 9, TOP = 14, HIGH = 150, DOTS_MOST = 300, ROWS_MOST = 1000 };

/* A picture: x are instances from 0, y from 0 or, for ratios, from 1. */
struct axes {
    double instances, least, most;
};

static double x_of(const struct axes *a, double instance) {
    return GUTTER + (99.0 - GUTTER) * (a->instances > 0 ? instance / a->instances : 0);
}
static double y_of(const struct axes *a, double y) {
    return HIGH - (HIGH - TOP) * (y - a->least) / (a->most - a->least);
}

static void draw_axes(struct page *page, const struct axes *a) {
    char text[32];
    double step = tick_step(a->most - a->least, 4);
    for (double v = a->least; v <= a->most * (1 + 1e-9); v += step) {
        svg_line(page, "grid", GUTTER, y_of(a, v), 99, y_of(a, v));
        snprintf(text, sizeof text, "%.4g", v);
        svg_text(page, "tick", END, GUTTER, -8, y_of(a, v) + 4, text);
    }
    step = fmax(tick_step(a->instances, 5), 1);
    for (double v = 0; v <= a->instances * (1 + 1e-9); v += step) {
        svg_line(page, "axis", x_of(a, v), HIGH, x_of(a, v), HIGH + 5);
        svg_text(page, "tick", MIDDLE, x_of(a, v), 0, HIGH + 18, count_text(v).text);
    }
    svg_line(page, "axis", GUTTER, HIGH, 99, HIGH);
}

static struct sentence told(const struct report_change *c, const char *noun) {
    struct sentence s;
    snprintf(
        s.text, sizeof s.text,
        "after %.0f instances: %.0f %ss, %.0f born, %.0f gone, %.0f moved (%s), %.0f faces added, "
        "%.0f gone, %s",
        c->instance, c->tasks, noun, c->born, c->gone, c->moved, bytes_text(c->moved_bytes).text,
        c->faces_added, c->faces_gone, seconds_text(c->seconds).text);
    return s;
}

static void dot(struct page *page, const char *class_, double x, double y, const char *tip) {
    put(page,
        "<circle class=\"%s dot\" cx=\"%.3f%%\" cy=\"%.1f\" r=\"3.5\"><title>%s</title></circle>\n",
        class_, x, y, tip);
}

/* Steps: the number holds until the next change. */
static void draw_tasks(struct page *page, const struct report_changes *c, const char *noun) {
    struct axes a = {.instances = c->instances};
    double now = c->change[0].kept + c->change[0].gone, from = 0;
    a.most = now;
    for (int i = 0; i < c->count; i++) a.most = fmax(a.most, c->change[i].tasks);
    a.most = fmax(1.05 * a.most, 1);
    svg_begin(page, HIGH + 26, "Tasks over instances", "A line of steps: tasks in each instance.");
    draw_axes(page, &a);
    for (int i = 0; i <= c->count; i++) {
        const double to = i < c->count ? c->change[i].instance : c->instances;
        svg_line(page, "s0", x_of(&a, from), y_of(&a, now), x_of(&a, to), y_of(&a, now));
        if (i == c->count) break;
        svg_line(page, "s0", x_of(&a, to), y_of(&a, now), x_of(&a, to),
                 y_of(&a, c->change[i].tasks));
        now = c->change[i].tasks;
        from = to;
    }
    for (int i = 0; i < c->count && c->count <= DOTS_MOST; i++)
        dot(page, "c0", x_of(&a, c->change[i].instance), y_of(&a, c->change[i].tasks),
            told(&c->change[i], noun).text);
    svg_end(page);
}

static void draw_imbalance(struct page *page, const struct report_changes *c) {
    struct axes a = {.instances = c->instances, .least = 1, .most = 1.05};
    const struct report_change *before = NULL;
    for (int i = 0; i < c->count; i++)
        if (isfinite(c->change[i].imbalance)) a.most = fmax(a.most, c->change[i].imbalance);
    a.most += 0.05 * (a.most - 1);
    svg_begin(page, HIGH + 26, "Imbalance over instances",
              "A line: the longest over the shortest unit in the instance before each change.");
    draw_axes(page, &a);
    for (int i = 0; i < c->count; i++) {
        const struct report_change *now = &c->change[i];
        if (!isfinite(now->imbalance)) continue;
        if (before)
            svg_line(page, "s5", x_of(&a, before->instance), y_of(&a, before->imbalance),
                     x_of(&a, now->instance), y_of(&a, now->imbalance));
        before = now;
    }
    for (int i = 0; i < c->count && c->count <= DOTS_MOST; i++) {
        struct sentence tip;
        if (!isfinite(c->change[i].imbalance)) continue;
        snprintf(tip.text, sizeof tip.text, "after %.0f instances: imbalance %s",
                 c->change[i].instance, ratio_text(c->change[i].imbalance).text);
        dot(page, "c5", x_of(&a, c->change[i].instance), y_of(&a, c->change[i].imbalance),
            tip.text);
    }
    svg_end(page);
}

static void table(struct page *page, const struct report_changes *c) {
    static const char *const head[] = {"instances before",
                                       "tasks",
                                       "kept",
                                       "born",
                                       "gone",
                                       "moved",
                                       "bytes moved",
                                       "faces added",
                                       "faces gone",
                                       "time",
                                       "imbalance before",
                                       NULL};
    figure_table(page, head);
    for (int i = 0; i < c->count && i < ROWS_MOST; i++) {
        const struct report_change *k = &c->change[i];
        put(page,
            "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>"
            "<td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
            count_text(k->instance).text, count_text(k->tasks).text, count_text(k->kept).text,
            count_text(k->born).text, count_text(k->gone).text, count_text(k->moved).text,
            bytes_text(k->moved_bytes).text, count_text(k->faces_added).text,
            count_text(k->faces_gone).text, seconds_text(k->seconds).text,
            ratio_text(k->imbalance).text);
    }
    figure_table_end(page);
    if (c->count > ROWS_MOST)
        put(page, "<p class=\"note\">The first %d of %d changes.</p>\n", ROWS_MOST, c->count);
}

static void figure(struct page *page, const struct report_row *row,
                   const struct report_changes *c) {
    double born = 0, gone = 0, moved = 0, seconds = 0;
    char caption[480];
    for (int i = 0; i < c->count; i++) {
        born += c->change[i].born;
        gone += c->change[i].gone;
        moved += c->change[i].moved;
        seconds += c->change[i].seconds;
    }
    snprintf(caption, sizeof caption, "Tasks that come and go: %s%s%s", c->name,
             *c->name ? ", " : "", row_name(row).text);
    figure_begin(page, caption);
    put(page, "<p class=\"note\">%d change%s: %s %ss born, %s gone, %s moved, in %s.</p>\n",
        c->count, c->count == 1 ? "" : "s", count_text(born).text, report_noun(row->record),
        count_text(gone).text, count_text(moved).text, seconds_text(seconds).text);
    put(page, "<div class=\"columns\">\n<div><h4>Number of %ss, over instances of the loop</h4>\n",
        report_noun(row->record));
    draw_tasks(page, c, report_noun(row->record));
    put(page, "</div>\n<div><h4>Imbalance in the instance before each change</h4>\n");
    draw_imbalance(page, c);
    put(page, "</div>\n</div>\n");
    table(page, c);
    figure_end(page);
}

void report_changes(struct page *page, const struct report_group *g) {
    for (int i = 0; i < g->rows; i++)
        for (int k = 0; k < g->row[i].record->changing; k++)
            figure(page, &g->row[i], &g->row[i].record->changes[k]);
}
