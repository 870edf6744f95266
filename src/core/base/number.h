/* Numbers with a decimal point in every locale: the library's only way to read and write them. */
#pragma once

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* Reasons for refusing a number. */
enum number_fault {
    NUMBER_FINE,
    NUMBER_NONE, /* there is no number */
    NUMBER_LARGE /* too large for a double */
};

/* Reads the decimal number at *p ("8", "0.5", "1e-3"; no signs, names or hexadecimal digits) and
 * moves *p behind it; *p stays if there is none. */
enum number_fault number_read(const char **p, double *out);

/* Reads a text that is exactly one number, from `least` to `max`. NULL: success; else the reason
 * for refusing it, as "is too large". */
const char *number_check(const char *text, double least, double max, double *out);

/* snprintf() and vsnprintf() with a decimal point in every locale. */
int number_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int number_vprint(char *text, size_t size, const char *format, va_list arguments);

/* Switches the calling thread to the C locale until the returned one is restored: around other
 * people's code, and for streams. */
locale_t number_locale_begin(void);
void number_locale_end(locale_t before);
