/* The page: style, summary, and the order of pictures. */
#include "report/report.h"
#include "cli/command.h"
#include <math.h>
#include <string.h>

/* Colours after Okabe and Ito, who chose them to be told apart by everybody: blue, orange, green,
 * purple, sky, vermilion, yellow, grey. On dark they are a little lighter. */
static const char style[] =
    ":root{color-scheme:light dark;--page:#fdfdfb;--ink:#1c1d1f;--soft:#5c6066;--rule:#dcdcd6;"
    "--track:#f0f0eb;--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;"
    "--c6:#f0e442;--c7:#9a9a9a;--on0:#fff;--on:#1c1d1f;--bad:#b3261e;--good:#00694d}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#15171a;--ink:#e8e8e4;"
    "--soft:#a0a5ab;--rule:#363a3f;--track:#23262a;--c0:#4a9fd8;--c1:#e8a92d;--c2:#2fb58c;"
    "--c3:#d68fb6;--c4:#8accf2;--c5:#e5793a;--c6:#efe66a;--c7:#8d9094;--on0:#101214;--on:#101214;"
    "--bad:#ff8a80;--good:#5fd0ab}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 -apple-system,\"Segoe "
    "UI\","
    "Roboto,\"Noto Sans\",\"Liberation Sans\",Arial,sans-serif;-webkit-text-size-adjust:100%}\n"
    "main,header,footer{max-width:62rem;margin:0 auto;padding:0 1.25rem}\n"
    "header{padding-top:2.5rem}\n"
    "h1{font-size:2rem;line-height:1.15;margin:0 0 .4rem;letter-spacing:-.015em}\n"
    "h2{font-size:1.5rem;line-height:1.2;margin:3.5rem 0 .3rem;padding-top:1.2rem;"
    "border-top:2px solid var(--ink);letter-spacing:-.01em}\n"
    "h4{font-size:.875rem;font-weight:600;margin:0 0 .3rem;overflow-wrap:anywhere}\n"
    "p{margin:.3rem 0 .8rem;max-width:44rem}\n"
    ".lead{font-size:1.06rem}\n"
    ".note,.left-out{font-size:.875rem;color:var(--soft)}\n"
    ".left-out{border-left:3px solid var(--rule);padding-left:.8rem;margin:1.2rem 0}\n"
    "figure{margin:2.2rem 0 2.6rem}\n"
    "figcaption{font-weight:600;font-size:1.06rem;margin-bottom:.5rem;overflow-wrap:anywhere}\n"
    ".wide{overflow-x:auto}.plot{min-width:30rem}\n"
    ".columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));"
    "gap:1.4rem 2rem}\n"
    ".maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(14rem,100%),1fr));"
    "gap:1.4rem 1.6rem}\n"
    ".maps .note{padding-top:.25rem}.panel{margin:0 0 .9rem}.panel .note,.maps .note{margin:0 0 "
    ".2rem}\n"
    ".columns>div,.maps>div,.panel{break-inside:avoid}\n"
    "svg{display:block;overflow:visible}\n"
    "svg text{font-size:12.5px;fill:var(--ink);font-variant-numeric:tabular-nums}\n"
    "text.mid{text-anchor:middle}text.end{text-anchor:end}\n"
    "svg text.head{font-weight:600;font-size:13.5px}svg text.value,svg text.tick,svg text.muted"
    "{fill:var(--soft)}svg text.tick{font-size:12px}\n"
    "svg text.in{font-size:11.5px;fill:var(--on)}svg text.in.k0,svg text.in.c0{fill:var(--on0)}\n"
    ".c0,.k0{fill:var(--c0);background-color:var(--c0)}.c1{fill:var(--c1);"
    "background-color:var(--c1)}.c2,.k2{fill:var(--c2);background-color:var(--c2)}"
    ".c3,.k3{fill:var(--c3);background-color:var(--c3)}.c4,.k4{fill:var(--c4);"
    "background-color:var(--c4)}.c5,.k1{fill:var(--c5);background-color:var(--c5)}"
    ".c6,.k5{fill:var(--c6);background-color:var(--c6)}.c7,.k6{fill:var(--c7);"
    "background-color:var(--c7)}.k7{fill:var(--c1);background-color:var(--c1)}\n"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}"
    ".s4{stroke:var(--c4)}.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}\n"
    "line[class^=s]{stroke-width:2.2;stroke-linecap:round}\n"
    "rect[class^=c],rect[class^=k]{stroke:var(--page);stroke-width:.6}\n"
    "rect.thin.thin{stroke:none}.dot{stroke:var(--page);stroke-width:1.2}\n"
    ".wait{fill:var(--track);background-color:var(--track);"
    "outline-color:var(--rule)}\n"
    ".rule,.grid{stroke:var(--rule)}.axis{stroke:var(--soft)}\n"
    "line.leader{stroke-width:1.2;stroke-dasharray:1 3}\n"
    ".arrow{stroke:var(--ink);stroke-width:1.1;opacity:.75}.arrow.moves{stroke-width:2.2}"
    ".tip{fill:var(--ink)}svg text.lane{font-weight:600}\n"
    ".ideal{stroke:var(--soft);stroke-dasharray:5 4;stroke-width:1.3}\n"
    ".hatch1{fill:url(#hatch1)}.hatch2{fill:url(#hatch2)}.hatch1,.hatch2{pointer-events:none}\n"
    ".hatch-line{stroke:var(--page);stroke-width:1.6;opacity:.75}\n"
    ".zone-edge{fill:none;stroke:var(--page);stroke-width:.7;opacity:.8}\n"
    ".unit-edge{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-linecap:square}"
    ".fine .zone-edge{stroke-width:.25}.fine .unit-edge{stroke-width:.6}"
    "@media (min-width:40rem){.maps .fine{grid-column:span 2}}\n"
    "ul.key{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:0 0 "
    ".7rem;padding:0;"
    "font-size:.875rem;color:var(--soft)}\n"
    "ul.key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}\n"
    ".rest{fill:var(--c7);background-color:var(--c7)}.zone{fill-opacity:.78}svg text.unit{"
    "font-size:14px;font-weight:600;fill:var(--on)}\n"
    ".title{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline;justify-content:"
    "space-between;margin-bottom:.15rem}.title h4,.title .note{margin:0}\n"
    "ul.key i.wait{outline:1px solid var(--rule)}\n"
    "i.h1{background-image:repeating-linear-gradient(45deg,transparent 0 2px,var(--page) 2px "
    "3.5px)}"
    "i.h2{background-image:repeating-linear-gradient(-45deg,transparent 0 2px,var(--page) 2px "
    "3.5px)}"
    "\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;"
    "min-width:100%}\n"
    "th,td{padding:.28rem .9rem .28rem 0;text-align:right;white-space:nowrap;vertical-align:"
    "baseline;border-bottom:1px solid var(--rule)}\n"
    "thead th{font-weight:500;color:var(--soft);border-bottom:1px solid var(--ink);"
    "vertical-align:bottom}\n"
    "th:first-child,td:first-child,.left{text-align:left}.code{padding-left:1.2rem}th[scope=row]{"
    "font-weight:500}\n"
    "tr>:last-child{padding-right:0}\n"
    "tr.group th{padding-top:1rem;font-weight:600;border-bottom-color:var(--soft)}\n"
    "code{font:.85em/1.4 ui-monospace,\"DejaVu Sans Mono\",\"Liberation Mono\",monospace}\n"
    ".good{color:var(--good)}.bad{color:var(--bad);font-weight:600}\n"
    "details{margin-top:.6rem}summary{cursor:pointer;font-size:.875rem;color:var(--soft)}\n"
    "details .wide{margin-top:.4rem}\n"
    "a{color:inherit}nav ul{padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;"
    "margin:.2rem 0 0}\n"
    ".commands{font-size:.8125rem;color:var(--soft);padding-left:0;list-style:none;margin:.4rem "
    "0}\n"
    ".commands li{margin:0 0 .5rem;overflow-wrap:anywhere}\n"
    "footer{margin-top:4rem;padding-bottom:3rem;font-size:.875rem;color:var(--soft)}\n"
    "@media (max-width:40rem){h1{font-size:1.6rem}h2{font-size:1.3rem}"
    "svg text.in{display:none}}\n"
    "@media print{:root{--page:#fff}.columns,.maps{grid-template-columns:repeat(3,1fr);gap:1rem "
    "1.4rem}"
    ".hover{display:none}body{font-size:10.5pt;-webkit-print-color-adjust:exact;print-color-adjust:"
    "exact}"
    "main,header,footer{max-width:none;padding:0}h2{break-after:avoid}figcaption,h4,ul.key,"
    ".panel .note{break-after:avoid}"
    "details:not([open]){display:none}.wide{overflow:visible}nav{display:none}"
    "table{font-size:8.5pt}th,td{padding-right:.5rem}}\n"
    "@page{margin:16mm 14mm}\n";

void report_head(struct page *page, const char *title, const char *lead) {
    put(page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; img-src data:\">\n"
        "<meta name=\"generator\" content=\"evener %s\">\n<link rel=\"icon\" href=\"data:,\">\n"
        "<title>Evener: %s</title>\n<style>\n",
        EVN_VERSION, title);
    fputs(style, page->out);
    put(page,
        "</style>\n</head>\n<body>\n"
        "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
        "<pattern id=\"hatch1\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><line class=\"hatch-line\" x1=\"0\" y1=\"0\" x2=\"0\" "
        "y2=\"7\"/></pattern>"
        "<pattern id=\"hatch2\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(-45)\"><line class=\"hatch-line\" x1=\"0\" y1=\"0\" x2=\"0\" "
        "y2=\"7\"/></pattern>"
        "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" "
        "d=\"M0 0.8L8 4L0 7.2z\"/></marker></defs></svg>\n"
        "<header>\n<h1>%s</h1>\n<p class=\"lead\">%s</p>\n",
        title, lead);
}

static void head(struct page *page, int records, int groups) {
    char lead[96];
    snprintf(lead, sizeof lead, "%d record%s of %d workload%s.", records, records == 1 ? "" : "s",
             groups, groups == 1 ? "" : "s");
    report_head(page, "Evener report", lead);
}

static void navigation(struct page *page, const struct report_group *group, int groups) {
    if (groups > 1) {
        put(page, "<nav aria-label=\"Workloads\"><ul>");
        for (int k = 0; k < groups; k++)
            put(page, "<li><a href=\"#g%d\">%s</a></li>", k + 1, group[k].title);
        put(page, "</ul></nav>\n");
    }
    put(page, "</header>\n");
}

static void verified(struct page *page, const struct report_record *r) {
    put(page, r->verified > 0    ? "<td class=\"good\">✓ yes</td>"
              : r->verified == 0 ? "<td class=\"bad\">✗ no</td>"
                                 : "<td>–</td>");
}

static void summary(struct page *page, const struct report_group *group, int groups) {
    put(page, "<figure><figcaption>All records</figcaption>\n<div class=\"wide\"><table><thead><tr>"
              "<th scope=\"col\">schedule</th><th scope=\"col\" class=\"left\">units</th>"
              "<th scope=\"col\">verified</th><th scope=\"col\">steps</th><th scope=\"col\">seconds"
              "</th><th scope=\"col\">a step</th><th scope=\"col\">Mop/s</th><th scope=\"col\">"
              "imbalance</th><th scope=\"col\" class=\"left code\">hash</th></tr></thead>\n");
    for (int k = 0; k < groups; k++) {
        put(page, "<tbody><tr class=\"group\"><th colspan=\"9\" scope=\"rowgroup\">%s</th></tr>\n",
            group[k].title);
        for (int i = 0; i < group[k].rows; i++) {
            const struct report_record *r = group[k].row[i].record;
            put(page, "<tr><th scope=\"row\">%s</th><td class=\"left\">%s</td>",
                row_label(&group[k].row[i]).text, r->units_text);
            verified(page, r);
            put(page, "<td>%s</td>", count_text(r->plan ? NAN : r->steps).text);
            char seconds[32] = "–";
            if (isfinite(r->seconds) && !r->plan)
                snprintf(seconds, sizeof seconds, "%.4g", r->seconds);
            put(page,
                "<td>%s</td><td>%s</td><td>%s</td><td>%s</td><td "
                "class=\"left\"><code>%s</code></td>"
                "</tr>\n",
                seconds, seconds_text(report_step(r)).text, count_text(r->mops).text,
                ratio_text(r->imbalance).text, r->hash ? r->hash : "–");
        }
        put(page, "</tbody>\n");
    }
    put(page, "</table></div></figure>\n");
}

static double instances(const struct report_record *r) {
    double sum = 0;
    for (int i = 0; i < r->sites; i++) sum += r->site[i].instances;
    return sum;
}

/* Writes the summary, a sentence or two: the fastest run, whether the bits agree, the machine. */
static void lead(struct page *page, const struct report_group *g) {
    const struct report_record *first = g->row[0].record;
    const struct report_row *best = NULL;
    int hashes = 0, agree = 1, machines = 1;
    const char *hash = NULL;
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        if (report_step(r) > 0 && (!best || report_step(r) < report_step(best->record)))
            best = &g->row[i];
        if (r->hash) {
            hashes++;
            agree = agree && (!hash || (!strcmp(hash, r->hash) && r->steps == first->steps));
            hash = r->hash;
        }
        machines += r->processor && first->processor && strcmp(r->processor, first->processor) != 0;
    }
    put(page, "<p class=\"lead\">");
    if (best)
        put(page, "%s %s, %s a step. ",
            g->rows > 1   ? "Fastest:"
            : first->plan ? "Planned:"
                          : "One record:",
            row_name(best).text, seconds_text(report_step(best->record)).text);
    if (hashes > 1)
        put(page, "The solutions %s. ",
            agree ? "agree to the last bit"
                  : "differ in their bits (other steps, or units that round differently)");
    if (!best && first->sites)
        put(page, "%s: %s instances of %d directive%s, %s. ", row_name(&g->row[0]).text,
            count_text(instances(first)).text, first->sites, first->sites == 1 ? "" : "s",
            seconds_text(first->seconds).text);
    put(page, "</p>\n");
    if (machines > 1)
        put(page, "<p class=\"note\">These records are from different machines.</p>\n");
    else if (first->processor)
        put(page, "<p class=\"note\">On %s.</p>\n", first->processor);
}

/* Programs with directives have instances of these and no steps. */
static int has_sites(const struct report_group *g) {
    int sites = 0;
    for (int i = 0; i < g->rows; i++) sites += g->row[i].record->sites;
    return sites > 0;
}

static void commands(struct page *page, const struct report_group *g) {
    put(page, "<details><summary>Where the records are from</summary><ul class=\"commands\">\n");
    for (int i = 0; i < g->rows; i++) {
        const struct report_record *r = g->row[i].record;
        put(page, "<li>%s: <code>%s</code>, schedule <code>%s</code>", row_name(&g->row[i]).text,
            r->file, r->schedule);
        if (r->command && strlen(r->command) < 2000) put(page, "<br><code>%s</code>", r->command);
        put(page, "</li>\n");
    }
    put(page, "</ul></details>\n");
}

void report_page(FILE *out, const struct report_group *group, int groups,
                 const struct report_record *model, int models) {
    struct page page = {.out = out};
    int records = models;
    for (int k = 0; k < groups; k++) records += group[k].rows;
    head(&page, records, groups + models);
    navigation(&page, group, groups);
    put(&page, "<main>\n");
    if (groups) summary(&page, group, groups);
    for (int k = 0; k < groups; k++) {
        const struct report_group *g = &group[k];
        put(&page, "<section id=\"g%d\">\n<h2>%s</h2>\n", k + 1, g->title);
        lead(&page, g);
        if (!has_sites(g)) report_periods(&page, g);
        report_speedups(&page, g);
        if (!has_sites(g)) report_transfers(&page, g);
        report_sites(&page, g);
        report_timelines(&page, g);
        report_maps(&page, g);
        report_ranks(&page, g);
        report_units(&page, g);
        report_parts(&page, g);
        report_phases(&page, g);
        report_changes(&page, g);
        report_iterations(&page, g);
        commands(&page, g);
        put(&page, "</section>\n");
    }
    for (int i = 0; i < models; i++)
        (model[i].point ? report_in_time : report_model)(&page, &model[i], i + 1);
    put(&page,
        "</main>\n<footer>Made by evener %s. Hold the pointer over a part of a picture for "
        "its numbers.</footer>\n</body>\n</html>\n",
        EVN_VERSION);
}
