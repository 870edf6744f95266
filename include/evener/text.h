/* Words from outside: arguments, names of files, what is in files. They may be of any length and
 * hold any bytes, and are made fit here for a terminal, a log or a JSON file. */
#ifndef EVENER_TEXT_H
#define EVENER_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the character at p if it is well-formed UTF-8 (RFC 3629: nothing overlong, no
 * surrogates, nothing above U+10FFFF), else 0. A text's end is a character of one byte. Any thread.
 */
int evn_utf8(const char *p);

/* Writes `text` into out[size] as messages have it, in one line that a terminal shows and does not
 * obey: control characters, those that turn the direction of writing, and bytes that are no UTF-8
 * are escaped as \n or \x1b; of a word above 250 characters the first 120 and the last 100 are kept
 * with its length between them; and what does not fit loses its middle. What is fit already stays
 * as it is. `text` and `out` do not overlap; `size` is 1 or more. Returns out. Any thread. */
char *evn_plain(char *out, size_t size, const char *text);

#ifdef __cplusplus
}
#endif
#endif
