/* How the assignment settles: tasks and loads of each unit, iteration by iteration; for intervals,
 * figure 15 of Bramas, Coulaud and Sylvand, "Time-domain BEM for the wave equation on
 * distributed-heterogeneous architectures" (2015). */
#include "report/report.h"
#include <math.h>
#include <stdlib.h>

enum { ITERATIONS_DRAWN = 100, UNITS_DRAWN = 32, GUTTER = 7, TASKS_HIGH = 150, LOAD_HIGH = 150 };

static double column(int i, int n) { return GUTTER + (100.0 - GUTTER) * i / n; }

static void axis(struct page *page, int n, double y) {
    int step = n > 40 ? 10 : n > 10 ? 5 : 1;
    for (int i = 0; i < n; i++) {
        if ((i + 1) % step && i) continue;
        char text[16];
        snprintf(text, sizeof text, "%d", i + 1);
        svg_text(page, "tick", MIDDLE, column(i, n) + (100.0 - GUTTER) / n / 2, 0, y, text);
    }
}

static void draw_tasks(struct page *page, const struct report_record *r, int n) {
    svg_begin(page, TASKS_HIGH + 26, "Tasks of each unit by iteration",
              "One column an iteration, cut in the shares of tasks that units have.");
    for (int i = 0; i < n; i++) {
        const int *tasks = r->iteration[i].tasks;
        if (!tasks) continue;
        double sum = 0, y = TASKS_HIGH, width = (100.0 - GUTTER) / n;
        for (int u = 0; u < r->units; u++) sum += tasks[u];
        for (int u = 0; u < r->units && sum > 0; u++) {
            double h = (TASKS_HIGH - 4) * tasks[u] / sum;
            if (!(h > 0)) continue;
            y -= h;
            struct sentence tip;
            snprintf(tip.text, sizeof tip.text, "iteration %d, unit %d: %d tasks", i + 1, u,
                     tasks[u]);
            svg_box(page, colour_class(u).text, column(i, n), y, width * 0.92, h, tip.text);
        }
    }
    svg_text(page, "tick", END, GUTTER, -8, TASKS_HIGH, "0");
    svg_text(page, "tick", END, GUTTER, -8, 14, "all");
    axis(page, n, TASKS_HIGH + 18);
    svg_end(page);
}

static void draw_load(struct page *page, const struct report_record *r, int n) {
    double max = 0;
    for (int i = 0; i < n; i++)
        for (int u = 0; u < r->units && r->iteration[i].load; u++)
            max = fmax(max, r->iteration[i].load[u]);
    svg_begin(page, LOAD_HIGH + 26, "Load of each unit by iteration",
              "One line a unit: its load in each iteration.");
    double half = (100.0 - GUTTER) / n / 2, scale = max > 0 ? (LOAD_HIGH - 14) / max : 0;
    double step = tick_step(max, 4);
    for (double v = 0; v <= max; v += step) {
        double y = LOAD_HIGH - scale * v;
        svg_line(page, "grid", GUTTER, y, 100, y);
        char text[32];
        snprintf(text, sizeof text, "%.3g", v);
        svg_text(page, "tick", END, GUTTER, -8, y + 4, v < 1000 ? text : count_text(v).text);
    }
    for (int u = 0; u < r->units; u++) {
        char line[16];
        snprintf(line, sizeof line, "s%d", u % COLOURS);
        for (int i = 0; i < n; i++) {
            const double *now = r->iteration[i].load, *before = i ? r->iteration[i - 1].load : NULL;
            if (!now) continue;
            double x = column(i, n) + half, y = LOAD_HIGH - scale * now[u];
            if (before)
                svg_line(page, line, column(i - 1, n) + half, LOAD_HIGH - scale * before[u], x, y);
            put(page,
                "<circle class=\"c%d dot\" cx=\"%.3f%%\" cy=\"%.1f\" r=\"3.5\"><title>iteration "
                "%d, "
                "unit %d: %.4g</title></circle>\n",
                u % COLOURS, x, y, i + 1, u, now[u]);
        }
    }
    axis(page, n, LOAD_HIGH + 18);
    svg_end(page);
}

static double longest_over_mean(const double *load, int units) {
    double max = 0, sum = 0;
    for (int u = 0; load && u < units; u++) {
        max = fmax(max, load[u]);
        sum += load[u];
    }
    return sum > 0 ? max * units / sum : NAN;
}

static void table(struct page *page, const struct report_record *r, int n) {
    static const char *const head[] = {"iteration",         "unit", "tasks", "load",
                                       "largest over mean", NULL};
    figure_table(page, head);
    for (int i = 0; i < n; i++)
        for (int u = 0; u < r->units; u++) {
            const struct report_iteration *it = &r->iteration[i];
            char load[32] = "–";
            if (it->load) snprintf(load, sizeof load, "%.6g", it->load[u]);
            put(page, "<tr><td>%d</td><td>%d</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", i + 1,
                u, count_text(it->tasks ? it->tasks[u] : NAN).text, load,
                u ? "" : ratio_text(longest_over_mean(it->load, r->units)).text);
        }
    figure_table_end(page);
}

static void figure(struct page *page, const struct report_row *row) {
    const struct report_record *r = row->record;
    int n = r->iterations < ITERATIONS_DRAWN ? r->iterations : ITERATIONS_DRAWN;
    int tasks = 0, load = 0;
    for (int i = 0; i < n; i++) {
        tasks += r->iteration[i].tasks != NULL;
        load += r->iteration[i].load != NULL;
    }
    char caption[420];
    snprintf(caption, sizeof caption, "Tasks and load by iteration: %s", row_name(row).text);
    figure_begin(page, caption);
    if (r->units <= UNITS_DRAWN && tasks + load > 0) {
        put(page, "<ul class=\"key\">");
        for (int u = 0; u < r->units; u++)
            put(page, "<li><i class=\"%s\"></i>unit %d</li>", colour_class(u).text, u);
        put(page, "</ul>\n<div class=\"columns\">\n");
        if (tasks) {
            put(page, "<div><h4>Share of the tasks</h4>\n");
            draw_tasks(page, r, n);
            put(page, "</div>\n");
        }
        if (load) {
            put(page, "<div><h4>%s</h4>\n", r->load_is_weight ? "Load, in weight" : "Time, s");
            draw_load(page, r, n);
            put(page, "</div>\n");
        }
        put(page, "</div>\n");
        if (n < r->iterations)
            put(page, "<p class=\"note\">The first %d of %d iterations.</p>\n", n, r->iterations);
        table(page, r, n);
    } else {
        put(page,
            "<p class=\"left-out\">No picture of the iterations: there are %d units, and more than "
            "%d lines cannot be told apart.</p>\n",
            r->units, UNITS_DRAWN);
    }
    figure_end(page);
}

void report_iterations(struct page *page, const struct report_group *g) {
    for (int i = 0; i < g->rows; i++)
        if (g->row[i].record->iterations) figure(page, &g->row[i]);
}
