/* Times of launches on devices, phase by phase, of runs that have timed them. */
#include "report/report.h"
#include <stdlib.h>
#include <string.h>

enum { NAMES = 24, OTHERS = NAMES - 1 }; /* the last stands for all that have no colour left */

/* The place of a name among those that were seen; a new one is added. */
static int place(const char *name[NAMES], int *names, const char *mine) {
    for (int k = 0; k < *names; k++)
        if (!strcmp(name[k], mine)) return k;
    if (*names > OTHERS) return OTHERS;
    name[*names] = *names == OTHERS ? "others" : mine;
    return (*names)++;
}

/* All names of a group, and how many bars it has: a device of a record each. */
static int gather(const struct report_group *g, const char *name[NAMES], int *bars) {
    int names = 0;
    *bars = 0;
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        for (int k = 0; k < r->timed; k++) {
            place(name, &names, r->launches[k].name);
            *bars += !k || r->launches[k].device != r->launches[k - 1].device;
        }
    }
    return names;
}

static void table(struct page *page, const struct report_group *g) {
    figure_table(page, (const char *const[]){"schedule", "units", "device", "phase", "time",
                                             "launches", "a launch", NULL});
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        for (int k = 0; k < r->timed; k++) {
            const struct report_launches *l = &r->launches[k];
            put(page,
                "<tr><th scope=\"row\">%s</th><td>%s</td><td>%d</td><td>%s</td><td>%s</td>"
                "<td>%s</td><td>%s</td></tr>\n",
                row_label(&g->row[i]).text, r->units_text, l->device, l->name,
                seconds_text(l->seconds).text, count_text(l->launches).text,
                seconds_text(l->seconds / l->launches).text);
        }
    }
    figure_table_end(page);
}

/* The launches of one device, from the k-th of a record on, as a bar; returns the one behind. */
static int fill(const struct report_record *r, int k, const char *name[NAMES], int *names,
                double *part, struct sentence *text) {
    const int device = r->launches[k].device;
    double sum = 0;
    for (; k < r->timed && r->launches[k].device == device; k++) {
        part[place(name, names, r->launches[k].name)] += r->launches[k].seconds;
        sum += r->launches[k].seconds;
    }
    snprintf(text[0].text + strlen(text[0].text), 40, ", device %d", device);
    snprintf(text[1].text, sizeof text[1].text, "%s", seconds_text(sum).text);
    return k;
}

static void draw(struct page *page, const struct report_group *g, const char *name[NAMES],
                 int names, int bars, struct bar *bar, double *part, struct sentence *text) {
    struct quantity colour[NAMES];
    const char *class_[NAMES], *key[2 * NAMES + 1] = {NULL};
    for (int k = 0; k < names; k++) {
        colour[k] = colour_class(k);
        class_[k] = key[2 * k] = colour[k].text;
        key[2 * k + 1] = name[k];
    }
    key[2 * names] = NULL;
    int n = 0;
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        const int first = n;
        for (int k = 0; k < r->timed && n < bars; n++) {
            struct sentence *s = &text[3 * n];
            snprintf(s[0].text, 280, "%.270s", row_label(&g->row[i]).text);
            snprintf(s[2].text, sizeof s[2].text, "%s", r->units_text);
            k = fill(r, k, name, &names, &part[n * NAMES], s);
            bar[n] = (struct bar){.head = n == first ? s[2].text : NULL,
                                  .label = s[0].text,
                                  .note = s[1].text,
                                  .part = &part[n * NAMES]};
        }
    }
    figure_begin(page, "Time of launches on devices by phase, whole run");
    figure_key(page, key);
    draw_bars(page, "Time of launches by phase",
              "One bar a device, with a part for each phase. The numbers are in the table below.",
              n, bar, names, class_, name);
    table(page, g);
    figure_end(page);
}

void report_phases(struct page *page, const struct report_group *g) {
    const char *name[NAMES];
    int bars;
    const int names = gather(g, name, &bars);
    if (!names) return; /* only some runs time their launches */
    struct bar *bar = calloc((size_t)bars, sizeof *bar);
    double *part = calloc((size_t)bars * NAMES, sizeof *part);
    struct sentence *text = calloc(3 * (size_t)bars, sizeof *text);
    if (bar && part && text) draw(page, g, name, names, bars, bar, part, text);
    free(bar);
    free(part);
    free(text);
}
