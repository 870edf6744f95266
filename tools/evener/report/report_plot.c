/* Lines of points, with logarithmic x, and their names where they end. */
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT = 7, RIGHT = 82, TOP = 14, BOTTOM = 274, HEIGHT = 320, APART = 16 };

/* Both axes logarithmic in x, y from 0. */
struct axes {
    double x0, x1, y1;
};

static double x_of(const struct axes *a, double x) {
    return LEFT + (RIGHT - LEFT) * (a->x1 > a->x0 ? log(x / a->x0) / log(a->x1 / a->x0) : 0.5);
}
static double y_of(const struct axes *a, double y) { return BOTTOM - (BOTTOM - TOP) * y / a->y1; }

void line_add(struct line *l, double x, double y) {
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

static int above(const void *a, const void *b) {
    const struct line *const *x = a, *const *y = b;
    return ((*x)->label_y > (*y)->label_y) - ((*x)->label_y < (*y)->label_y);
}

/* Names where lines end, far enough from each other: each is moved below those above it. */
static void place_labels(const struct axes *a, struct line *line, int lines) {
    struct line **order = malloc((size_t)lines * sizeof *order);
    for (int k = 0; k < lines; k++) line[k].label_y = y_of(a, line[k].y[line[k].points - 1]);
    for (int k = 0; order && k < lines; k++) order[k] = &line[k];
    if (order) qsort(order, (size_t)lines, sizeof(struct line *), above);
    for (int k = 1; order && k < lines; k++)
        order[k]->label_y = fmax(order[k]->label_y, order[k - 1]->label_y + APART);
    free(order);
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

void draw_plot(struct page *page, const char *caption, const char *description, const char *along,
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
