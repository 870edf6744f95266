/* Text of a page: escaping, and numbers as readers want them. */
#include "report/report.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at p, 0 where there is none (then a byte is replaced). */
static int character(const unsigned char *p) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    int n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    if (n <= 1) return n;
    unsigned code = p[0] & (0xffU >> (n + 1));
    for (int i = 1; i < n; i++) {
        if (p[i] >> 6 != 2) return 0;
        code = code << 6 | (p[i] & 0x3fU);
    }
    int surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[n] || surrogate || code > 0x10ffff ? 0 : n;
}

static void escape(FILE *out, const char *text) {
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int n = character(p);
        if (*p == '<')
            fputs("&lt;", out);
        else if (*p == '>')
            fputs("&gt;", out);
        else if (*p == '&')
            fputs("&amp;", out);
        else if (*p == '"')
            fputs("&quot;", out);
        else if (*p == '\'')
            fputs("&#39;", out);
        else if (!n || (*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
            fputs("\xef\xbf\xbd", out); /* the character for what is none */
        else
            fwrite(p, 1, (size_t)n, out);
        p += n ? n : 1;
    }
}

void put(struct page *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    for (const char *p = format; *p;) {
        if (*p != '%') {
            size_t n = strcspn(p, "%");
            fwrite(p, 1, n, page->out);
            p += n;
            continue;
        }
        char one[16]; /* one conversion: flags, width, precision, letter */
        size_t n = 1 + strspn(p + 1, "+-#0123456789.");
        memcpy(one, p, n + 1);
        one[n + 1] = 0;
        p += n + 1;
        switch (one[n]) {
        case 's': escape(page->out, va_arg(arguments, const char *)); break;
        case 'd': fprintf(page->out, one, va_arg(arguments, int)); break;
        case '%': fputc('%', page->out); break;
        default: fprintf(page->out, one, va_arg(arguments, double)); break; /* f g */
        }
    }
    va_end(arguments);
}

static struct quantity dash(void) { return (struct quantity){"–"}; }

/* Three significant digits and a prefix: 1.23, 12.3, 123. */
static struct quantity scaled(double x, const char *const *unit, const double *size, int units) {
    int u = 0;
    while (u < units - 1 && x >= 999.5 * size[u]) u++;
    double y = x / size[u];
    int digits = x == 0 ? 0 : y < 9.995 ? 2 : y < 99.95 ? 1 : 0;
    struct quantity q;
    snprintf(q.text, sizeof q.text, "%.*f\u00a0%s", digits, y, unit[u]);
    return q;
}

struct quantity seconds_text(double seconds) {
    static const char *const unit[] = {"ns", "µs", "ms", "s"};
    static const double size[] = {1e-9, 1e-6, 1e-3, 1};
    if (!isfinite(seconds)) return dash();
    if (seconds == 0) return (struct quantity){"0\u00a0s"};
    if (seconds >= 1e5) return count_text(seconds);
    return scaled(seconds, unit, size, 4);
}

struct quantity bytes_text(double bytes) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    static const double size[] = {1, 1e3, 1e6, 1e9, 1e12};
    if (!isfinite(bytes)) return dash();
    if (bytes < 999.5) {
        struct quantity q;
        snprintf(q.text, sizeof q.text, "%.0f\u00a0B", bytes);
        return q;
    }
    return scaled(bytes, unit, size, 5);
}

struct quantity count_text(double count) {
    if (!isfinite(count)) return dash();
    char digits[32];
    struct quantity q;
    if (count >= 1e12) {
        snprintf(q.text, sizeof q.text, "%.3g", count);
        return q;
    }
    snprintf(digits, sizeof digits, count < 9.95 && count != floor(count) ? "%.1f" : "%.0f", count);
    size_t n = strcspn(digits, "."), at = 0;
    for (size_t i = 0; digits[i]; i++) {
        if (i && i < n && (n - i) % 3 == 0) q.text[at++] = ',';
        q.text[at++] = digits[i];
    }
    q.text[at] = 0;
    return q;
}

struct quantity ratio_text(double ratio) {
    struct quantity q;
    if (!isfinite(ratio)) return dash();
    snprintf(q.text, sizeof q.text, ratio < 99.95 ? "%.2f×" : "%.4g×", ratio);
    return q;
}

struct quantity share_text(double part, double of) {
    struct quantity q;
    double share = 100 * part / of;
    if (!isfinite(share)) return dash();
    snprintf(q.text, sizeof q.text, share > 0 && share < 9.95 ? "%.1f\u00a0%%" : "%.0f\u00a0%%",
             share);
    return q;
}

double tick_step(double max, int about) {
    if (!(max > 0)) return 1;
    double raw = max / about, decade = pow(10, floor(log10(raw)));
    double of = raw / decade;
    return decade * (of <= 1 ? 1 : of <= 2 ? 2 : of <= 5 ? 5 : 10);
}
