/* Processes by threads, predicted and measured: the two panels of figure 9 of van der Wijngaart and
 * Jin (IPDPS 2004), by cores and, for each number of cores, by threads a process. */
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 7, RIGHT = 82, TOP = 14, BOTTOM = 274, HEIGHT = 320, APART = 16, LINES = 32 };

/* A line of points; of x that are alike the last one counts. */
struct line {
    char label[40];
    int dots; /* 1: measured: dots and no line */
    int points;
    double *x, *y;
    double label_y;
};

/* Both axes logarithmic in x, y from 0. */
struct axes {
    double x0, x1, y1;
};

static double x_of(const struct axes *a, double x) {
    return LEFT + (RIGHT - LEFT) * (a->x1 > a->x0 ? log(x / a->x0) / log(a->x1 / a->x0) : 0.5);
}
static double y_of(const struct axes *a, double y) { return BOTTOM - (BOTTOM - TOP) * y / a->y1; }

static void add(struct line *l, double x, double y) {
    if (!(y > 0)) return;
    l->x[l->points] = x;
    l->y[l->points++] = y;
}

/* ---- drawing ---- */

static struct axes axes_of(const struct line *line, int lines) {
    struct axes a = {INFINITY, 0, 0};
    for (int k = 0; k < lines; k++)
        for (int i = 0; i < line[k].points; i++) {
            a.x0 = fmin(a.x0, line[k].x[i]);
            a.x1 = fmax(a.x1, line[k].x[i]);
            a.y1 = fmax(a.y1, line[k].y[i]);
        }
    a.y1 *= 1.05;
    return a;
}

static void grid(struct page *page, const struct axes *a, const char *along) {
    char text[32];
    const double step = tick_step(a->y1, 5);
    for (double v = 0; v <= a->y1; v += step) {
        snprintf(text, sizeof text, "%.3g", v);
        svg_line(page, "grid", LEFT, y_of(a, v), RIGHT, y_of(a, v));
        svg_text(page, "tick", END, LEFT, -8, y_of(a, v) + 4, text);
    }
    for (double x = a->x0; x <= a->x1 * (1 + 1e-9); x *= 2) {
        snprintf(text, sizeof text, "%.0f", x);
        svg_line(page, "axis", x_of(a, x), BOTTOM, x_of(a, x), BOTTOM + 5);
        svg_text(page, "tick", MIDDLE, x_of(a, x), 0, BOTTOM + 20, text);
    }
    svg_line(page, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    svg_text(page, "tick", MIDDLE, (LEFT + RIGHT) / 2.0, 0, BOTTOM + 40, along);
}

/* Names where lines end, far enough from each other: each is moved below those before it. */
static void place_labels(const struct axes *a, struct line *line, int lines) {
    for (int k = 0; k < lines; k++) {
        line[k].label_y = y_of(a, line[k].y[line[k].points - 1]);
        for (int other = 0; other < k; other++)
            if (fabs(line[other].label_y - line[k].label_y) < APART) {
                line[k].label_y = line[other].label_y + APART;
                other = -1; /* that may be near another one */
            }
    }
}

static void draw_line(struct page *page, const struct axes *a, const struct line *l, int k,
                      const char *along) {
    char class_[16];
    snprintf(class_, sizeof class_, "s%d", k % COLOURS);
    for (int i = 1; i < l->points && !l->dots; i++)
        svg_line(page, class_, x_of(a, l->x[i - 1]), y_of(a, l->y[i - 1]), x_of(a, l->x[i]),
                 y_of(a, l->y[i]));
    for (int i = 0; i < l->points; i++)
        put(page,
            "<circle class=\"c%d dot\" cx=\"%.3f%%\" cy=\"%.1f\" r=\"%s\"><title>%s: %.4g at %.0f "
            "%s</title></circle>\n",
            k % COLOURS, x_of(a, l->x[i]), y_of(a, l->y[i]), l->dots ? "6" : "3.5", l->label,
            l->y[i], l->x[i], along);
    svg_text(page, "label", START, RIGHT + 1.6, 0, l->label_y + 4, l->label);
}

/* Lines without points are left out. */
static void plot(struct page *page, const char *caption, const char *description, const char *along,
                 struct line *line, int lines) {
    int n = 0;
    for (int k = 0; k < lines; k++)
        if (line[k].points) line[n++] = line[k];
    if (!n) return;
    const struct axes a = axes_of(line, n);
    figure_begin(page, caption);
    put(page, "<div class=\"wide\"><div class=\"plot\">\n");
    svg_begin(page, HEIGHT, caption, description);
    grid(page, &a, along);
    place_labels(&a, line, n);
    for (int k = 0; k < n; k++) draw_line(page, &a, &line[k], k, along);
    svg_end(page);
    put(page, "</div></div>\n");
    figure_end(page);
}

/* ---- the panels ---- */

static double best(const struct report_record *r, int cores, enum report_speedup of) {
    double max = 0;
    for (int i = 0; i < r->choices; i++)
        if (r->choice[i].cores == cores) max = fmax(max, r->choice[i].speedup[of]);
    return max;
}

/* Whether no choice before i has as many cores. */
static int is_first(const struct report_record *r, int i) {
    for (int k = 0; k < i; k++)
        if (r->choice[k].cores == r->choice[i].cores) return 0;
    return 1;
}

/* Lines with room for all points; NULL without memory. */
static struct line *make_lines(const struct report_record *r, double **room) {
    const size_t n = (size_t)r->choices;
    struct line *line = calloc(LINES, sizeof *line);
    *room = calloc(2 * LINES * (n + 1), sizeof **room);
    for (size_t k = 0; line && *room && k < LINES; k++) {
        line[k].x = *room + 2 * k * n;
        line[k].y = line[k].x + n;
    }
    if (line && *room) return line;
    free(line);
    return NULL;
}

static void by_cores(struct page *page, const struct report_record *r, struct line *line) {
    static const char *const label[SPEEDUPS] = {"predicted", "with map", "equation (1)",
                                                "measured"};
    for (int k = 0; k < SPEEDUPS; k++) {
        snprintf(line[k].label, sizeof line[k].label, "%s", label[k]);
        line[k].dots = k == SPEEDUP_MEASURED;
        for (int i = 0; i < r->choices; i++)
            if (is_first(r, i)) add(&line[k], r->choice[i].cores, best(r, r->choice[i].cores, k));
    }
    plot(page, "Speedup over one core, of the best processes x threads",
         "Predicted by the finer model with bin packing and with map, by the published equation, "
         "and measured. The numbers are in the table below.",
         "cores", line, SPEEDUPS);
}

/* Speedup a core, which is 1 at best; a line, and measured dots, for each number of cores. */
static void by_threads(struct page *page, const struct report_record *r, struct line *line) {
    int n = 0;
    for (int i = 0; i < r->choices && n + 1 < LINES; i++) {
        const int cores = r->choice[i].cores;
        if (!is_first(r, i)) continue;
        snprintf(line[n].label, sizeof line[n].label, "%d cores", cores);
        snprintf(line[n + 1].label, sizeof line[n + 1].label, "%d, measured", cores);
        line[n + 1].dots = 1;
        for (int k = r->choices - 1; k >= 0; k--) { /* fewest threads first */
            const struct report_choice *c = &r->choice[k];
            if (c->cores != cores) continue;
            add(&line[n], c->threads, c->speedup[SPEEDUP_PREDICTED] / cores);
            add(&line[n + 1], c->threads, c->speedup[SPEEDUP_MEASURED] / cores);
        }
        n += 2;
    }
    plot(page, "Speedup a core, by threads a process",
         "A line for each number of cores: how much of a core each core is worth. The numbers are "
         "in the table below.",
         "threads a process", line, n);
}

static void table(struct page *page, const struct report_record *r) {
    static const char *const head[] = {
        "processes x threads", "cores", "predicted", "map", "measured", "equation (1)", NULL};
    put(page, "<figure>\n");
    figure_table(page, head);
    for (int i = 0; i < r->choices; i++) {
        const struct report_choice *c = &r->choice[i];
        put(page, "<tr><th scope=\"row\">%d x %d</th><td>%d</td>", c->processes, c->threads,
            c->cores);
        static const int order[] = {SPEEDUP_PREDICTED, SPEEDUP_MAP, SPEEDUP_MEASURED,
                                    SPEEDUP_EQUATION};
        for (int k = 0; k < SPEEDUPS; k++)
            put(page, "<td>%s</td>",
                ratio_text(c->speedup[order[k]] > 0 ? c->speedup[order[k]] : NAN).text);
        put(page, "</tr>\n");
    }
    figure_table_end(page);
    put(page, "</figure>\n");
}

void report_model(struct page *page, const struct report_record *r, int number) {
    double *room;
    put(page, "<section id=\"m%d\">\n<h2>%s, class %s: processes x threads</h2>\n", number, r->app,
        r->class_ ? r->class_ : "–");
    put(page, "<p class=\"note\">alpha %.3f; <code>%s</code></p>\n", r->alpha, r->file);
    for (int panel = 0; panel < 2; panel++) {
        struct line *line = make_lines(r, &room);
        if (!line)
            put(page, "<p class=\"left-out\">No picture: there is no memory for it.</p>\n");
        else if (panel)
            by_threads(page, r, line);
        else
            by_cores(page, r, line);
        free(line);
        free(room);
    }
    table(page, r);
    if (r->command && strlen(r->command) < 2000)
        put(page, "<p class=\"commands\"><code>%s</code></p>\n", r->command);
    put(page, "</section>\n");
}
