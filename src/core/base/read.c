/* Reading numbers with their units. */
#include "base/number.h"
#include <evener/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EXPECTED = 160 };

static evn_status wrong(const char *what, const char *expected) {
    return evn_fail(EVN_USAGE, "this is %s; expected %s", what, expected);
}

static evn_status behind(const char *rest, const char *expected) {
    return evn_fail(EVN_USAGE, "this has \"%.20s%s\" behind the number; expected %s", rest,
                    strlen(rest) > 20 ? ".." : "", expected);
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *digits(const char *p) {
    while (is_digit(*p)) p++;
    return p;
}

/* End of the number at p; p if there is none. */
static const char *number_end(const char *p) {
    const char *c = p + (*p == '-' || *p == '+'), *whole = digits(c), *end = whole;
    if (*whole == '.') end = digits(whole + 1);
    if (end - c - (*whole == '.') < 1) return p;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '-' || end[1] == '+');
        if (is_digit(*exponent)) end = digits(exponent);
    }
    return end;
}

/* 1 if the text is a word for infinity or NaN, as printf() writes them. */
static int is_not_finite(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    return !strncasecmp(p, "inf", 3) || !strncasecmp(p, "nan", 3);
}

/* Fails for a text that does not begin with a number. */
static evn_status no_number(const char *text, const char *expected) {
    return wrong(!*text ? "empty" : is_not_finite(text) ? "not finite" : "no number", expected);
}

static double value_of(const char *text) {
    const locale_t before = number_locale_begin();
    const double value = strtod(text, NULL);
    number_locale_end(before);
    return value;
}

/* 1 if a number was read as 0 but not written as 0: too small for a double. */
static int vanished(const char *p, const char *end) {
    for (; p < end && *p != 'e' && *p != 'E'; p++)
        if (*p >= '1' && *p <= '9') return 1;
    return 0;
}

static void expected_whole(char *text, long least, long max) {
    if (max == __LONG_MAX__)
        snprintf(text, EXPECTED, "a whole number from %ld", least);
    else
        snprintf(text, EXPECTED, "a whole number from %ld to %ld", least, max);
}

/* Writes what is expected, as "a number above 0", with the units. */
static void expected_real(char *text, const char *noun, evn_bounds b, const evn_scale *scale) {
    int n =
        snprintf(text, EXPECTED, "a%s %s", isinf(b.least) && isinf(b.max) ? " finite" : "", noun);
    if (!isinf(b.least))
        n += snprintf(text + n, (size_t)(EXPECTED - n), " %s %g", b.above ? "above" : "from",
                      b.least);
    if (!isinf(b.max))
        n += snprintf(text + n, (size_t)(EXPECTED - n), "%s %g",
                      isinf(b.least) || b.above ? " up to" : " to", b.max);
    const char *between = " in base units, written with one of ";
    for (; scale && scale->name && n < EXPECTED; scale++) {
        if (!*scale->name) continue;
        n += snprintf(text + n, (size_t)(EXPECTED - n), "%s%s", between, scale->name);
        between = ", ";
    }
}

evn_status evn_read_whole(const char *text, long least, long max, long *out) {
    char expected[EXPECTED];
    expected_whole(expected, least, max);
    const char *end = number_end(text), *p = text + (*text == '-' || *text == '+');
    if (end == text) return no_number(text, expected);
    const double about = value_of(text);
    if (*end) return behind(end, expected);
    if (about > (double)max) return wrong("too large", expected);
    if (about < (double)least) return wrong("too small", expected);
    if (*digits(p)) return wrong("not written as a whole number", expected);
    /* bounds that doubles cannot represent: compares the exact value */
    unsigned long n = 0;
    for (; is_digit(*p); p++) {
        const unsigned long digit = (unsigned long)(*p - '0');
        if (n > ((unsigned long)__LONG_MAX__ - digit) / 10) return wrong("too large", expected);
        n = 10 * n + digit;
    }
    const long value = *text == '-' ? -(long)n : (long)n;
    if (value > max) return wrong("too large", expected);
    if (value < least) return wrong("too small", expected);
    *out = value;
    return EVN_OK;
}

/* Reads the number from `text` to `end`, times a factor. */
static evn_status take(const char *text, const char *end, double factor, evn_bounds b,
                       const char *expected, double *out) {
    const double value = value_of(text) * factor;
    if (isinf(value) || value > b.max)
        return wrong(value > 0 ? "too large" : "too small", expected);
    if (value < b.least || (b.above && value == b.least) || (value == 0 && vanished(text, end)))
        return wrong("too small", expected);
    *out = value;
    return EVN_OK;
}

evn_status evn_read_real(const char *text, evn_bounds b, double *out) {
    char expected[EXPECTED];
    expected_real(expected, "number", b, NULL);
    const char *end = number_end(text);
    if (end == text) return no_number(text, expected);
    if (*end) return behind(end, expected);
    return take(text, end, 1, b, expected, out);
}

static evn_status read_scaled(const char *text, const evn_scale *scale, evn_bounds b,
                              const char *expected, double *out) {
    const char *end = number_end(text);
    if (end == text) return no_number(text, expected);
    for (; scale->name; scale++)
        if (!strcmp(end, scale->name)) return take(text, end, scale->factor, b, expected, out);
    return *end ? evn_fail(EVN_USAGE, "this has \"%.20s\" behind the number; expected %s", end,
                           expected)
                : wrong("without a unit", expected);
}

evn_status evn_read_scaled(const char *text, const evn_scale *scale, evn_bounds b, double *out) {
    char expected[EXPECTED];
    expected_real(expected, "number", b, scale);
    return read_scaled(text, scale, b, expected, out);
}

evn_status evn_read_size(const char *text, evn_bounds b, double *out) {
    static const evn_scale sizes[] = {{"", 1},         {"B", 1},        {"kB", 1e3},
                                      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
                                      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                      {"TiB", 0x1p40}, {NULL, 0}};
    char expected[EXPECTED];
    expected_real(expected, "size", b, NULL);
    const size_t n = strlen(expected);
    snprintf(expected + n, sizeof expected - n, ", as 500MB or 1.5GiB");
    return read_scaled(text, sizes, b, expected, out);
}

/* Reads item `i` of a list, from p to before `end`. */
static evn_status read_item(const char *p, const char *end, int i, evn_bounds b, double *out) {
    char item[64];
    const size_t length = (size_t)(end - p);
    if (length >= sizeof item)
        return evn_fail(EVN_USAGE, "item %d is longer than %zu characters", i + 1, sizeof item - 1);
    memcpy(item, p, length);
    item[length] = 0;
    if (!evn_read_real(item, b, out)) return EVN_OK;
    char why[256];
    snprintf(why, sizeof why, "%s", evn_message() + strlen("this "));
    return evn_fail(EVN_USAGE, "item %d %s", i + 1, why);
}

evn_status evn_read_reals(const char *text, int exactly, evn_bounds b, double **out, int *count) {
    int n = 1;
    for (const char *c = text; *c; c++) n += *c == ',';
    if (exactly && n != exactly)
        return evn_fail(EVN_USAGE, "this has %d; expected %d number%s with commas between", n,
                        exactly, exactly == 1 ? "" : "s");
    double *list = malloc(sizeof *list * (size_t)n);
    if (!list) return evn_fail(EVN_MEMORY, "not enough memory for %d numbers", n);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < n; i++) {
        const char *end = text + strcspn(text, ",");
        status = read_item(text, end, i, b, &list[i]);
        text = end + 1;
    }
    if (status) {
        free(list);
        return status;
    }
    *out = list;
    *count = n;
    return EVN_OK;
}
