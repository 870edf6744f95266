/* Numbers as C writes them, with a point, whatever locale the program has set: the one way in which
 * the library reads and writes them. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* What is wrong with a number. */
enum number_fault {
    NUMBER_FINE,
    NUMBER_NONE, /* there is none */
    NUMBER_LARGE /* more than a double holds */
};

/* Reads the decimal number at *p ("8", "0.5", "1e-3"; neither signs nor names nor hexadecimal
 * digits) and moves *p behind it; without one *p stays. */
enum number_fault number_read(const char **p, double *out);

/* The same for a text that is a number and nothing else, from `least` to `max`. NULL: it is; else
 * what is wrong with it, as "is too large". */
const char *number_check(const char *text, double least, double max, double *out);

/* As snprintf() and vsnprintf(). */
int number_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int number_vprint(char *text, size_t size, const char *format, va_list arguments);

/* The calling thread reads and writes as C does until the locale of before is given back: for other
 * people's code, and for streams. */
locale_t number_locale_begin(void);
void number_locale_end(locale_t before);

#endif
