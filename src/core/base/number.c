/* Reading and writing numbers: with the C library, under C's own locale, which the calling thread
 * has for as long as that takes. */
#include "base/number.h"
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain; /* 0: no memory for a locale; numbers are then in the program's locale */

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t number_locale_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return uselocale(plain);
}

void number_locale_end(locale_t before) { uselocale(before); }

enum number_fault number_read(const char **p, double *out) {
    const char *c = *p;
    /* strtod() would take "nan", "inf", signs and hexadecimal numbers too */
    if (!isdigit((unsigned char)*c) || (*c == '0' && (c[1] == 'x' || c[1] == 'X')))
        return NUMBER_NONE;
    char *end;
    const locale_t before = number_locale_begin();
    const double value = strtod(c, &end);
    number_locale_end(before);
    *p = end;
    *out = value;
    return isinf(value) ? NUMBER_LARGE : NUMBER_FINE;
}

const char *number_check(const char *text, double least, double max, double *out) {
    const char *p = text ? text : "";
    double value = 0;
    const enum number_fault fault = number_read(&p, &value);
    if (fault == NUMBER_NONE) return "is no number";
    if (*p) return "has something behind the number";
    if (fault == NUMBER_LARGE || value > max) return "is too large";
    if (value < least) return "is too small";
    *out = value;
    return NULL;
}

int number_vprint(char *text, size_t size, const char *format, va_list arguments) {
    const locale_t before = number_locale_begin();
    const int length = vsnprintf(text, size, format, arguments);
    number_locale_end(before);
    return length;
}

int number_print(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = number_vprint(text, size, format, arguments);
    va_end(arguments);
    return length;
}
