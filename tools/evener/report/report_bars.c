/* Bars of several parts, one below another: name and number stand above each, so that a bar may be
 * as wide as the page is. */
#include "report/report.h"
#include <math.h>
#include <string.h>

enum { HEAD = 34, PITCH = 38, BAR = 14 };

static double total(const struct bar *bar, int parts) {
    double sum = 0;
    for (int k = 0; k < parts; k++) sum += bar->part[k];
    return sum;
}

/* Whether a part of some per cent has room for a word; narrow screens hide such words. */
static int fits(double width, const char *word) {
    return width > 0.95 * (double)strlen(word) + 1.5;
}

void draw_bars(struct page *page, const char *title, const char *description, int bars,
               const struct bar *bar, int parts, const char *const *class_,
               const char *const *word) {
    double max = 0, height = 4;
    for (int i = 0; i < bars; i++) {
        max = fmax(max, total(&bar[i], parts));
        height += PITCH + (bar[i].head ? HEAD : 0);
    }
    svg_begin(page, height, title, description);
    double y = 0;
    for (int i = 0; i < bars; i++) {
        if (bar[i].head) {
            if (i) svg_line(page, "rule", 0, y + 8.5, 100, y + 8.5);
            svg_text(page, "head", START, 0, 0, y + 26, bar[i].head);
            y += HEAD;
        }
        svg_text(page, "label", START, 0, 0, y + 15, bar[i].label);
        if (bar[i].note) svg_text(page, "value", END, 100, 0, y + 15, bar[i].note);
        svg_line(page, "rule", 0, y + 20 + BAR, 100, y + 20 + BAR);
        double x = 0;
        for (int k = 0; k < parts && max > 0; k++) {
            double width = 100 * bar[i].part[k] / max;
            if (!(width > 0)) continue;
            svg_box(page, class_[k], x, y + 20, width, BAR, bar[i].tip);
            if (word && fits(width, word[k])) {
                struct quantity ink; /* the class of the text on this colour */
                snprintf(ink.text, sizeof ink.text, "in %.20s", class_[k]);
                svg_text(page, ink.text, START, x, 4, y + 31, word[k]);
            }
            x += width;
        }
        y += PITCH;
    }
    svg_end(page);
}
