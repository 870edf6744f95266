/* Pictures of the papers as one page: those that "pictures" of published.json describe, drawn with
 * the kit of evener report.
 *
 *     {"paper": "001", "title": "Figure 9 ..", "about": "..", "draw": "lines", "along": "CPUs",
 *      "series": [{"label": "Origin", "x": [8, 16], "y": ["expression", ..]},
 *                 {"label": "published", "x": [8, 16], "y": [2.03, 3.96]}]}
 *
 * lines: x is logarithmic; numbers in y are published ones and become dots; one expression whose
 * value is as long as x, or x absent (1, 2, ..), is a whole line.
 * bars: "parts": names; "rows": [{"head", "label", "parts": "expression of all parts", "note"}]; a
 * note may be an expression between braces with text around it, "speedup {..}, published 2.51".
 * timelines, maps: "plans": outputs, [{"plan": "papers{..}", "label": "static"}]; of timelines with
 * "only": "exchange" computing is left out. */
#include "bench/papers.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include "report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct drawing {
    struct page page;
    const struct items *all;
    struct outputs *outputs;
    const cJSON *picture;
};

static const cJSON *list_of(const cJSON *o, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

/* The value of an expression, to be freed; 0, or an exit status after a message. */
static int value_of(struct drawing *d, const char *expression, struct numbers *value) {
    return items_evaluate(d->all, d->outputs, json_text(d->picture, "title"), expression, value);
}

static int complain_of(const struct drawing *d, const char *what) {
    complain("published.json: picture \"%s\": %s", json_text(d->picture, "title"), what);
    return EXIT_FAILED;
}

/* ---- lines ---- */

/* Appends y from one entry: a published number, or an expression. */
static int add_values(struct drawing *d, struct line *line, const cJSON *x, const cJSON *entry) {
    struct numbers value = {0};
    double number = entry->valuedouble;
    int code = 0;
    if (cJSON_IsNumber(entry)) {
        line->dots = 1;
        value = (struct numbers){1, &number};
    } else {
        code = value_of(d, entry->valuestring ? entry->valuestring : "", &value);
    }
    double *xs = realloc(line->x, sizeof *xs * (size_t)(line->points + value.n + 1));
    if (xs) line->x = xs;
    double *ys = xs ? realloc(line->y, sizeof *ys * (size_t)(line->points + value.n + 1)) : NULL;
    if (ys) line->y = ys;
    for (int i = 0; !code && ys && i < value.n; i++) {
        const cJSON *at = x ? cJSON_GetArrayItem(x, line->points) : NULL;
        if (x && !at) code = complain_of(d, "a series has more y than x");
        if (!code) line_add(line, at ? at->valuedouble : line->points + 1, value.v[i]);
    }
    if (!cJSON_IsNumber(entry)) free(value.v);
    return code || ys ? code : complain_of(d, "not enough memory");
}

static void lines_table(struct page *page, const struct line *line, int lines, const char *along) {
    const char *const head[] = {"series", along, "value", NULL};
    figure_table(page, head);
    for (int k = 0; k < lines; k++)
        for (int i = 0; i < line[k].points && line[k].points <= 32; i++)
            put(page, "<tr><th scope=\"row\">%s</th><td>%.4g</td><td>%.4g</td></tr>\n",
                line[k].label, line[k].x[i], line[k].y[i]);
    figure_table_end(page);
}

static int draw_lines(struct drawing *d) {
    enum { LINES = 16 };
    struct line line[LINES] = {{{0}, 0, 0, NULL, NULL, 0}};
    const cJSON *s, *y;
    int n = 0, code = 0;
    cJSON_ArrayForEach(s, list_of(d->picture, "series")) {
        if (code || n == LINES) break;
        snprintf(line[n].label, sizeof line[n].label, "%s", json_text(s, "label"));
        cJSON_ArrayForEach(y, list_of(s, "y")) {
            if (!code) code = add_values(d, &line[n], list_of(s, "x"), y);
        }
        n++;
    }
    const char *along = json_text(d->picture, "along");
    struct line copy[LINES];
    memcpy(copy, line, sizeof copy); /* drawing leaves out empty ones */
    if (!code)
        draw_plot(&d->page, json_text(d->picture, "title"),
                  "Lines and small dots are ours, large dots are published.", along, copy, n);
    if (!code) lines_table(&d->page, line, n, along);
    for (int k = 0; k < n; k++) {
        free(line[k].x);
        free(line[k].y);
    }
    return code;
}

/* ---- bars ---- */

/* A note with its expressions in braces replaced by their first values. */
static int note_of(struct drawing *d, const char *note, char *text, size_t size) {
    size_t at = 0;
    int code = 0;
    for (const char *p = note; *p && !code && at + 1 < size;) {
        const char *open = strchr(p, '<'), *close = open ? strchr(open, '>') : NULL;
        const size_t plain = open && close ? (size_t)(open - p) : strlen(p);
        at += (size_t)snprintf(text + at, size - at, "%.*s", (int)plain, p);
        p += plain;
        if (!*p) break;
        char expression[1024];
        snprintf(expression, sizeof expression, "%.*s", (int)(close - open - 1), open + 1);
        struct numbers value = {0};
        code = value_of(d, expression, &value);
        if (!code) at += (size_t)snprintf(text + at, size - at, "%.3g", value.v[0]);
        free(value.v);
        p = close + 1;
    }
    return code;
}

struct row {
    struct numbers part;
    char note[160];
};

static void bars_table(struct page *page, const struct bar *bar, int bars, const cJSON *parts) {
    const char *head[24] = {"row"};
    int n = 1;
    const cJSON *p;
    cJSON_ArrayForEach(p, parts) if (n < 22) head[n++] = p->valuestring;
    figure_table(page, head);
    for (int i = 0; i < bars; i++) {
        put(page, "<tr><th scope=\"row\">%s</th>", bar[i].label);
        for (int k = 0; k < n - 1; k++) put(page, "<td>%.4g</td>", bar[i].part[k]);
        put(page, "</tr>\n");
    }
    figure_table_end(page);
}

static int draw_rows(struct drawing *d) {
    enum { ROWS = 64, PARTS = 20 };
    struct bar bar[ROWS] = {{0}};
    struct row *row = calloc(ROWS, sizeof *row);
    struct quantity colour[PARTS];
    const char *class_[PARTS], *key[2 * PARTS + 1] = {NULL};
    const cJSON *parts = list_of(d->picture, "parts"), *p, *r;
    int n = 0, k = 0, code = row ? 0 : complain_of(d, "not enough memory");
    cJSON_ArrayForEach(p, parts) {
        if (k == PARTS) break;
        colour[k] = colour_class(k);
        class_[k] = key[2 * k] = colour[k].text;
        key[2 * k + 1] = p->valuestring;
        k++;
    }
    cJSON_ArrayForEach(r, list_of(d->picture, "rows")) {
        if (code || n == ROWS) break;
        const char *note = json_text(r, "note");
        code = value_of(d, json_text(r, "parts"), &row[n].part);
        if (!code && row[n].part.n != k) code = complain_of(d, "a row has other parts");
        if (!code && note) code = note_of(d, note, row[n].note, sizeof row[n].note);
        bar[n] = (struct bar){.head = json_text(r, "head"),
                              .label = json_text(r, "label"),
                              .note = note ? row[n].note : NULL,
                              .part = row[n].part.v};
        n++;
    }
    if (!code) {
        figure_begin(&d->page, json_text(d->picture, "title"));
        figure_key(&d->page, key);
        draw_bars(&d->page, json_text(d->picture, "title"), "The numbers are in the table below.",
                  n, bar, k, class_, NULL);
        bars_table(&d->page, bar, n, parts);
        figure_end(&d->page);
    }
    for (int i = 0; row && i < n; i++) free(row[i].part.v);
    free(row);
    return code;
}

/* ---- plans ---- */

/* Keeps the bursts of the exchange alone. */
static void only_exchange(cJSON *json) {
    cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "bursts"), *b = list ? list->child : NULL;
    while (b) {
        cJSON *next = b->next;
        const char *kind = json_text(b, "kind");
        if (!strcmp(kind, "compute") || !strcmp(kind, "migration"))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, b));
        b = next;
    }
}

/* The record of a plan under its label. */
static int take_plan(struct drawing *d, const cJSON *p, struct report_record *record) {
    const struct output *output = items_output(d->all, d->outputs, json_text(p, "plan"));
    const char *only = json_text(d->picture, "only");
    if (!output || !output->json) return output ? complain_of(d, "a plan is no record") : 3;
    cJSON *json = cJSON_Duplicate(output->json, 1);
    cJSON_ReplaceItemInObjectCaseSensitive(json, "schedule",
                                           cJSON_CreateString(json_text(p, "label")));
    if (only) only_exchange(json);
    return report_take(record, json_text(p, "label"), json);
}

static int draw_plans(struct drawing *d, int maps) {
    enum { PLANS = 8 };
    struct report_record record[PLANS] = {{0}};
    const cJSON *p;
    int n = 0, groups = 0, code = 0;
    cJSON_ArrayForEach(p, list_of(d->picture, "plans")) {
        if (!code && n < PLANS) code = take_plan(d, p, &record[n++]);
    }
    struct report_group *group = code ? NULL : report_group(record, n, &groups);
    if (!code) put(&d->page, "<h3>%s</h3>\n", json_text(d->picture, "title"));
    for (int i = 0; i < groups; i++) {
        put(&d->page, "<p class=\"note\">%s</p>\n", group[i].title);
        (maps ? report_maps : report_timelines)(&d->page, &group[i]);
    }
    report_group_free(group, groups);
    for (int i = 0; i < n; i++) report_free(&record[i]);
    return code;
}

/* ---- the page ---- */

static int draw(struct drawing *d) {
    const char *how = json_text(d->picture, "draw"), *about = json_text(d->picture, "about");
    int code = 0;
    if (!how || !json_text(d->picture, "title")) return complain_of(d, "no \"draw\" or \"title\"");
    if (!strcmp(how, "lines"))
        code = draw_lines(d);
    else if (!strcmp(how, "bars"))
        code = draw_rows(d);
    else if (!strcmp(how, "timelines") || !strcmp(how, "maps"))
        code = draw_plans(d, *how == 'm');
    else
        code = complain_of(d, "\"draw\" is none of lines, bars, timelines and maps");
    if (!code && about) put(&d->page, "<p class=\"note\">%s</p>\n", about);
    return code;
}

/* All items of a paper that were computed, as a table that can be opened. */
static void table(struct page *page, const struct items *all, const char *paper) {
    static const char *const head[] = {"item",  "what",    "published", "ours",
                                       "ratio", "verdict", NULL};
    figure_table(page, head);
    for (int i = 0; i < all->count; i++) {
        const struct item *item = &all->item[i];
        char published[200], ours[200], ratio[48] = "";
        double least, most;
        if (!item->done || strcmp(item->paper, paper) != 0) continue;
        item_ratio(item, &least, &most);
        numbers_text(&item->published, 9, published, sizeof published);
        numbers_text(&item->ours, 9, ours, sizeof ours);
        if (isfinite(least)) snprintf(ratio, sizeof ratio, "%.2f to %.2f", least, most);
        put(page,
            "<tr><th scope=\"row\">%s</th><td class=\"left\">%s</td><td>%s</td><td>%s</td>"
            "<td>%s</td><td>%s</td></tr>\n",
            item->name, item->what,
            item->published.n      ? published
            : item->published_text ? item->published_text
                                   : "–",
            item->ours.n ? ours : "–", *ratio ? ratio : "–", verdict_name[item->verdict]);
    }
    figure_table_end(page);
}

int papers_report(FILE *out, const struct items *all, struct outputs *outputs) {
    struct drawing d = {{.out = out}, all, outputs, NULL};
    const cJSON *paper, *picture;
    int code = 0;
    report_head(&d.page, "The papers", "Published points beside those of this executable.");
    put(&d.page, "</header>\n<main>\n");
    cJSON_ArrayForEach(paper, list_of(all->root, "papers")) {
        const char *name = json_text(paper, "paper");
        int asked = 0;
        for (int i = 0; i < all->count; i++)
            asked |= all->item[i].done && !strcmp(all->item[i].paper, name);
        if (!asked) continue;
        put(&d.page, "<section>\n<h2>%s</h2>\n", json_text(paper, "title"));
        cJSON_ArrayForEach(picture, list_of(all->root, "pictures")) {
            if (code || strcmp(json_text(picture, "paper"), name) != 0) continue;
            d.picture = picture;
            code = draw(&d);
        }
        table(&d.page, all, name);
        put(&d.page, "</section>\n");
    }
    put(&d.page, "</main>\n<footer>Made by evener %s.</footer>\n</body>\n</html>\n", EVN_VERSION);
    return code;
}
