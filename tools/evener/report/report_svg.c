/* Pictures and figures: the primitives. Colours and type are in the page's style sheet, by class.
 */
#include "report/report.h"
#include <string.h>

void svg_begin(struct page *page, double height, const char *title, const char *description) {
    int n = ++page->figures;
    put(page,
        "<svg role=\"img\" aria-labelledby=\"t%d d%d\" width=\"100%%\" height=\"%.0f\">"
        "<title id=\"t%d\">%s</title><desc id=\"d%d\">%s</desc>\n",
        n, n, height, n, title, n, description);
}

void svg_begin_scaled(struct page *page, double width, double height, const char *title,
                      const char *description) {
    int n = ++page->figures;
    put(page,
        "<svg role=\"img\" aria-labelledby=\"t%d d%d\" viewBox=\"0 0 %.2f %.2f\" width=\"100%%\">"
        "<title id=\"t%d\">%s</title><desc id=\"d%d\">%s</desc>\n",
        n, n, width, height, n, title, n, description);
}

void svg_end(struct page *page) { put(page, "</svg>\n"); }

void svg_box(struct page *page, const char *class_, double x, double y, double width, double height,
             const char *tip) {
    put(page, "<rect class=\"%s\" x=\"%.3f%%\" y=\"%.1f\" width=\"%.3f%%\" height=\"%.1f\"", class_,
        x, y, width, height);
    if (tip)
        put(page, "><title>%s</title></rect>\n", tip);
    else
        put(page, "/>\n");
    const char *hatch = strstr(class_, " h");
    if (hatch && hatch[2] != '0')
        put(page, "<rect class=\"%s\" x=\"%.3f%%\" y=\"%.1f\" width=\"%.3f%%\" height=\"%.1f\"/>\n",
            hatch[2] == '1' ? "hatch1" : "hatch2", x, y, width, height);
}

void svg_line(struct page *page, const char *class_, double x0, double y0, double x1, double y1) {
    put(page, "<line class=\"%s\" x1=\"%.3f%%\" y1=\"%.1f\" x2=\"%.3f%%\" y2=\"%.1f\"/>\n", class_,
        x0, y0, x1, y1);
}

void svg_arrow(struct page *page, const char *class_, double x0, double y0, double x1, double y1,
               const char *tip) {
    put(page,
        "<line class=\"%s\" x1=\"%.3f%%\" y1=\"%.1f\" x2=\"%.3f%%\" y2=\"%.1f\" "
        "marker-end=\"url(#arrow)\"><title>%s</title></line>\n",
        class_, x0, y0, x1, y1, tip);
}

void svg_text(struct page *page, const char *class_, enum anchor anchor, double x, double dx,
              double y, const char *text) {
    static const char *const name[] = {"", " mid", " end"};
    put(page, "<text class=\"%s%s\" x=\"%.3f%%\" dx=\"%.1f\" y=\"%.1f\">%s</text>\n", class_,
        name[anchor], x, dx, y, text);
}

struct quantity colour_class(int i) {
    struct quantity q;
    snprintf(q.text, sizeof q.text, "c%d h%d", i % COLOURS, i / COLOURS % HATCHES);
    return q;
}

void figure_begin(struct page *page, const char *caption) {
    put(page, "<figure>\n<figcaption>%s</figcaption>\n", caption);
}

void figure_end(struct page *page) { put(page, "</figure>\n"); }

void figure_table(struct page *page, const char *const *head) {
    put(page, "<details><summary>The numbers</summary><div class=\"wide\"><table><thead><tr>");
    for (; *head; head++) put(page, "<th scope=\"col\">%s</th>", *head);
    put(page, "</tr></thead><tbody>\n");
}

void figure_table_end(struct page *page) { put(page, "</tbody></table></div></details>\n"); }

void figure_key(struct page *page, const char *const *pair) {
    put(page, "<ul class=\"key\">");
    for (; *pair; pair += 2) put(page, "<li><i class=\"%s\"></i>%s</li>", pair[0], pair[1]);
    put(page, "</ul>\n");
}
