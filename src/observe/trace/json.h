/* JSON text and numbers, in every locale, and the object of a change of tasks. */
#pragma once

#include <evener/change.h>
#include <stdio.h>

/* Writes a text as between quotes: quotes, backslashes and control characters escaped, invalid
 * UTF-8 replaced by U+FFFD. */
void json_escaped(FILE *out, const char *text);

/* Writes a quoted text; null for NULL. */
void json_text(FILE *out, const char *text);

/* Writes a number with 17 digits, which read back exactly; null if not finite. */
void json_number(FILE *out, double value);

/* Writes a number with `digits` decimals. */
void json_fixed(FILE *out, double value, int digits);

/* Writes the members of a change's object, for records and traces. */
void json_change(FILE *out, const evn_changed *change);
