/* The mesh seen from above, zones coloured by unit: figure 4 of González and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021). */
#include "report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 300, FINE = 40 /* zones in a row */, KEYS = COLOURS * HATCHES };

/* A mesh as it is drawn: where columns and rows of zones begin, in the picture's units. */
struct mesh {
    const struct report_record *record;
    int zones[2];
    double *edge[2]; /* zones + 1 each */
};

static int mesh_open(struct mesh *m, const struct report_record *r) {
    double length[2] = {0, 0};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < r->zones[d]; i++) length[d] += r->width[d][i];
    /* a mesh longer than three times its width is squeezed, so that its zones can be seen */
    double height = fmin(fmax(WIDE * length[1] / length[0], WIDE / 3.0), WIDE * 1.5);
    *m = (struct mesh){.record = r, .zones = {r->zones[0], r->zones[1]}};
    for (int d = 0; d < 2; d++) {
        m->edge[d] = calloc((size_t)r->zones[d] + 1, sizeof *m->edge[d]);
        if (!m->edge[d]) return -1;
        double scale = (d ? height : WIDE) / length[d];
        for (int i = 0; i < r->zones[d]; i++)
            m->edge[d][i + 1] = m->edge[d][i] + scale * r->width[d][i];
    }
    return 0;
}

static void mesh_close(struct mesh *m) {
    free(m->edge[0]);
    free(m->edge[1]);
}

static int owner(const struct mesh *m, int i, int j) {
    return m->record->owner[i + j * m->zones[0]];
}

static double high(const struct mesh *m) { return m->edge[1][m->zones[1]]; }

/* Zones of one unit side by side are one box; north is up. */
static void draw_zones(struct page *page, const struct mesh *m) {
    for (int j = 0; j < m->zones[1]; j++)
        for (int i = 0, n; i < m->zones[0]; i += n) {
            for (n = 1; i + n < m->zones[0] && owner(m, i + n, j) == owner(m, i, j);) n++;
            struct quantity colour = colour_class(owner(m, i, j));
            int hatch = owner(m, i, j) / COLOURS % HATCHES;
            double x = m->edge[0][i], w = m->edge[0][i + n] - x;
            double y = high(m) - m->edge[1][j + 1], h = m->edge[1][j + 1] - m->edge[1][j];
            put(page,
                "<rect class=\"zone %s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\"><title>unit "
                "%d</title></rect>\n",
                colour.text, x, y, w, h, owner(m, i, j));
            if (hatch)
                put(page,
                    "<rect class=\"hatch%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>"
                    "\n",
                    hatch, x, y, w, h);
        }
}

/* Thin lines between zones, thick ones between units. */
static void draw_lines(struct page *page, const struct mesh *m) {
    put(page, "<path class=\"zone-edge\" d=\"");
    for (int i = 1; i < m->zones[0]; i++) put(page, "M%.2f 0V%.2f", m->edge[0][i], high(m));
    for (int j = 1; j < m->zones[1]; j++) put(page, "M0 %.2fH%d", high(m) - m->edge[1][j], WIDE);
    put(page, "\"/>\n<path class=\"unit-edge\" d=\"");
    for (int j = 0; j < m->zones[1]; j++)
        for (int i = 0; i < m->zones[0]; i++) {
            double x = m->edge[0][i], right = m->edge[0][i + 1];
            double y = high(m) - m->edge[1][j], top = high(m) - m->edge[1][j + 1];
            if (i && owner(m, i - 1, j) != owner(m, i, j)) put(page, "M%.2f %.2fV%.2f", x, y, top);
            if (j && owner(m, i, j - 1) != owner(m, i, j))
                put(page, "M%.2f %.2fH%.2f", x, y, right);
        }
    put(page, "\"/>\n");
}

/* The unit's number in the largest zone of each area that it owns, where there is room. */
static void draw_numbers(struct page *page, const struct mesh *m) {
    const int nx = m->zones[0], ny = m->zones[1], n = nx * ny;
    int *stack = malloc(sizeof *stack * (size_t)n);
    char *seen = calloc((size_t)n, 1);
    for (int z = 0; stack && seen && z < n; z++) {
        if (seen[z]) continue;
        int depth = 0, best = z;
        double area = 0;
        seen[stack[depth++] = z] = 1;
        while (depth) {
            int at = stack[--depth], i = at % nx, j = at / nx;
            double w = m->edge[0][i + 1] - m->edge[0][i], h = m->edge[1][j + 1] - m->edge[1][j];
            if (w * h > area) {
                area = w * h;
                best = at;
            }
            const int next[4] = {i ? at - 1 : at, i < nx - 1 ? at + 1 : at, j ? at - nx : at,
                                 j < ny - 1 ? at + nx : at};
            for (int k = 0; k < 4; k++)
                if (!seen[next[k]] && m->record->owner[next[k]] == m->record->owner[z])
                    seen[stack[depth++] = next[k]] = 1;
        }
        int i = best % nx, j = best / nx;
        double w = m->edge[0][i + 1] - m->edge[0][i], h = m->edge[1][j + 1] - m->edge[1][j];
        char name[16];
        int length = snprintf(name, sizeof name, "%d", m->record->owner[z]);
        if (w < 8.5 * length + 3 || h < 14) continue;
        put(page, "<text class=\"unit mid\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
            m->edge[0][i] + w / 2, high(m) - m->edge[1][j] - h / 2 + 4.5, name);
    }
    free(stack);
    free(seen);
}

static void picture(struct page *page, const struct report_row *row) {
    const struct report_record *r = row->record;
    struct mesh m;
    if (!mesh_open(&m, r)) {
        int fine = r->zones[0] > FINE || r->zones[1] > FINE;
        put(page, fine ? "<div class=\"fine\"><h4>%s</h4>\n" : "<div><h4>%s</h4>\n",
            row_name(row).text);
        struct sentence title;
        snprintf(title.text, sizeof title.text, "Zones by unit, %.190s", row_name(row).text);
        svg_begin_scaled(page, WIDE, high(&m), title.text,
                         "The mesh of zones, x to the right and y upwards; zones of one unit have "
                         "one colour. The table below says how many each has.");
        draw_zones(page, &m);
        draw_lines(page, &m);
        draw_numbers(page, &m);
        svg_end(page);
        put(page, "<p class=\"note\">%d × %d zones%s%s</p></div>\n", r->zones[0], r->zones[1],
            isfinite(r->imbalance) ? ", imbalance " : "",
            isfinite(r->imbalance) ? ratio_text(r->imbalance).text : "");
    }
    mesh_close(&m);
}

static void table(struct page *page, const struct report_group *g) {
    static const char *const head[] = {"record", "unit", "zones", "points", "share of the points",
                                       NULL};
    figure_table(page, head);
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        double sum = 0;
        for (int u = 0; u < r->units; u++) sum += r->unit[u].weight;
        for (int u = 0; u < r->units && r->zones[0]; u++)
            put(page,
                "<tr><th scope=\"row\">%s</th><td>%d</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                row_name(&g->row[i]).text, u, count_text(r->unit[u].tasks).text,
                count_text(r->unit[u].weight).text, share_text(r->unit[u].weight, sum).text);
    }
    figure_table_end(page);
}

static void key(struct page *page, int units) {
    if (units > KEYS) {
        put(page, "<p class=\"note\">Colours repeat after %d units; numbers tell.</p>\n", KEYS);
        return;
    }
    put(page, "<ul class=\"key\">");
    for (int u = 0; u < units; u++)
        put(page, "<li><i class=\"%s\"></i>unit %d</li>", colour_class(u).text, u);
    put(page, "</ul>\n");
}

void report_maps(struct page *page, const struct report_group *g) {
    const int plan = g->row[0].record->plan;
    int zoned = 0, with = 0, units = 0;
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        with += r->zones[0] > 0;
        zoned += !strcmp(report_noun(r), "zone");
        if (r->zones[0] && r->units > units) units = r->units;
    }
    if (with) {
        figure_begin(page, plan ? "Zones by unit in the last iteration"
                                : "Zones by unit at the end of the run");
        key(page, units);
        put(page, "<div class=\"maps\">\n");
        for (int i = 0; i < g->rows; i++)
            if (g->row[i].record->zones[0] && (g->row[i].record->units > 1 || units == 1))
                picture(page, &g->row[i]);
        put(page, "</div>\n");
        table(page, g);
        figure_end(page);
    }
    if (with < g->rows && zoned && !plan)
        put(page,
            "<p class=\"left-out\">No map of zones of %d of %d records: they do not say how wide "
            "zones are. Records that evener run APP --json FILE writes now do.</p>\n",
            g->rows - with, g->rows);
}
