/* Processes by threads, predicted and measured: the two panels of figure 9 of van der Wijngaart and
 * Jin (IPDPS 2004), by cores and, for each number of cores, by threads a process. */
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 32 };

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
            if (is_first(r, i))
                line_add(&line[k], r->choice[i].cores, best(r, r->choice[i].cores, k));
    }
    draw_plot(
        page, "Speedup over one core, of the best processes x threads",
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
            line_add(&line[n], c->threads, c->speedup[SPEEDUP_PREDICTED] / cores);
            line_add(&line[n + 1], c->threads, c->speedup[SPEEDUP_MEASURED] / cores);
        }
        n += 2;
    }
    draw_plot(
        page, "Speedup a core, by threads a process",
        "A line for each number of cores: how much of a core each core is worth. The numbers are "
        "in the table below.",
        "threads a process", line, n);
}

static void choices_table(struct page *page, const struct report_record *r) {
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
    choices_table(page, r);
    if (r->command && strlen(r->command) < 2000)
        put(page, "<p class=\"commands\"><code>%s</code></p>\n", r->command);
    put(page, "</section>\n");
}
