/* FT and MG in virtual time: speed-ups of the variants by nodes, and where the time of a thread
 * goes. */
#include "report/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 16 };

struct series {
    const char *variant;
    int gpu;
};

static int same(const struct report_point *a, const struct series *b) {
    return !strcmp(a->variant, b->variant) && a->gpu == b->gpu;
}

/* All variants, on cores and on GPUs, in the order in which they come; how many. */
static int gather(const struct report_record *r, struct series series[NAMES]) {
    int count = 0;
    for (int i = 0; i < r->choices; i++) {
        int k = 0;
        while (k < count && !same(&r->point[i], &series[k])) k++;
        if (k == count && count < NAMES)
            series[count++] = (struct series){r->point[i].variant, r->point[i].gpu};
    }
    return count;
}

static void speedups(struct page *page, const struct report_record *r) {
    struct series series[NAMES];
    struct line line[NAMES];
    const int n = gather(r, series);
    double *room = calloc(2 * (size_t)n * (size_t)r->choices, sizeof *room);
    for (int k = 0; room && k < n; k++) {
        line[k] = (struct line){.x = room + 2 * (size_t)k * (size_t)r->choices};
        line[k].y = line[k].x + r->choices;
        snprintf(line[k].label, sizeof line[k].label, "%.24s, %s", series[k].variant,
                 series[k].gpu ? "GPU" : "cores");
        for (int i = 0; i < r->choices; i++)
            if (same(&r->point[i], &series[k]))
                line_add(&line[k], r->point[i].nodes, r->point[i].speedup);
    }
    if (room)
        draw_plot(page, "Speed-up over one thread, in virtual time",
                  "A line for each variant, on cores and on GPUs. The numbers are in the table "
                  "below.",
                  "nodes", line, n);
    else
        put(page, "<p class=\"left-out\">No picture: there is no memory for it.</p>\n");
    free(room);
}

static void table(struct page *page, const struct report_record *r) {
    static const char *const head[] = {"variant", "nodes",  "threads", "a step",   "speed-up",
                                       "compute", "copies", "puts",    "barriers", NULL};
    figure_table(page, head);
    for (int i = 0; i < r->choices; i++) {
        const struct report_point *p = &r->point[i];
        put(page, "<tr><th scope=\"row\">%s, %s</th><td>%d</td><td>%d</td><td>%s</td><td>%s</td>",
            p->variant, p->gpu ? "GPU" : "cores", p->nodes, p->threads,
            seconds_text(p->step_s).text, ratio_text(p->speedup).text);
        for (int g = 0; g < POINT_GROUPS; g++)
            put(page, "<td>%s</td>", seconds_text(p->group_s[g]).text);
        put(page, "</tr>\n");
    }
    figure_table_end(page);
}

/* A bar for each row, of what a thread does and waits for. */
static void groups(struct page *page, const struct report_record *r) {
    static const char *const name[POINT_GROUPS] = {"computing, or waiting for the GPU",
                                                   "copies between buffers",
                                                   "puts, and waiting for them", "barriers"};
    const char *class_[POINT_GROUPS], *key[2 * POINT_GROUPS + 1] = {NULL};
    struct quantity colour[POINT_GROUPS];
    for (int g = 0; g < POINT_GROUPS; g++) {
        colour[g] = colour_class(g);
        class_[g] = key[2 * g] = colour[g].text;
        key[2 * g + 1] = name[g];
    }
    const size_t n = (size_t)r->choices;
    struct bar *bar = calloc(n, sizeof *bar);
    struct sentence *text = calloc(3 * n, sizeof *text);
    for (int i = 0; bar && text && i < r->choices; i++) {
        const struct report_point *p = &r->point[i];
        struct sentence *s = &text[3 * i];
        snprintf(s[0].text, sizeof s[0].text, "%.24s, %s", p->variant, p->gpu ? "GPU" : "cores");
        snprintf(s[1].text, sizeof s[1].text, "%s", seconds_text(p->step_s).text);
        snprintf(s[2].text, sizeof s[2].text, "%d node%s, %d threads", p->nodes,
                 p->nodes == 1 ? "" : "s", p->threads);
        bar[i] = (struct bar){.label = s[0].text, .note = s[1].text, .part = p->group_s};
        if (!i || p->nodes != r->point[i - 1].nodes) bar[i].head = s[2].text;
    }
    figure_begin(page, "A step of a thread, in the mean");
    figure_key(page, key);
    if (bar && text)
        draw_bars(page, "A step of a thread",
                  "One bar for each variant and number of nodes. The numbers are in the table "
                  "below.",
                  r->choices, bar, POINT_GROUPS, class_, NULL);
    table(page, r);
    figure_end(page);
    free(bar);
    free(text);
}

void report_in_time(struct page *page, const struct report_record *r, int number) {
    put(page, "<section id=\"m%d\">\n<h2>%s, class %s: a model in virtual time</h2>\n", number,
        r->app, r->class_ ? r->class_ : "–");
    put(page, "<p class=\"note\">Nothing was measured; <code>%s</code></p>\n", r->file);
    speedups(page, r);
    groups(page, r);
    if (r->command && strlen(r->command) < 2000)
        put(page, "<p class=\"commands\"><code>%s</code></p>\n", r->command);
    put(page, "</section>\n");
}
