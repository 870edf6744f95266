/* Text and numbers as JSON has them, whatever the locale of the program. */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <stdio.h>

/* The characters of a text as they stand between quotes: quotes, backslashes and control characters
 * escaped, and what is not UTF-8 replaced by U+FFFD. */
void json_escaped(FILE *out, const char *text);

/* The same within quotes; null for NULL. */
void json_text(FILE *out, const char *text);

/* A number with 17 digits, so that reading it gives the same one; null where it is not finite. */
void json_number(FILE *out, double value);

/* A number with so many digits behind the point. */
void json_fixed(FILE *out, double value, int digits);

#endif
