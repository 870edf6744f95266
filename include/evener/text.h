/* For tools: untrusted text (arguments, names and contents of files), of any length and any bytes,
 * made safe for a terminal, a log or a JSON file; words for limits. */
#ifndef EVENER_TEXT_H
#define EVENER_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Length in bytes of the character at p if it is well-formed UTF-8 (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF), else 0. The terminating zero is a character of one byte. Any
 * thread. */
int evn_utf8(const char *p);

/* Writes `text` into out[size] as one line that a terminal displays and does not interpret: control
 * characters, those that change the direction of writing, and invalid UTF-8 are escaped as \n or
 * \x1b; of a word above 250 characters the first 120 and the last 100 are kept with its length
 * between them; a longer result loses its middle. Safe text is unchanged. `text` and `out` do not
 * overlap; `size` is 1 or more. Returns out. Any thread. */
char *evn_plain(char *out, size_t size, const char *text);

/* Words for `error`, an errno of pthread_create() or fork(), and the limits that are set on threads
 * and processes (ulimit -u, -v, -d, -s, the control group's pids.max), of which one was met. Writes
 * at most `size` bytes into `text` and returns it; "" without. Any thread. */
const char *evn_limits_text(int error, char *text, size_t size);

/* Writes a line about the i-th variable of the environment whose name begins with EVENER_ and that
 * nothing reads, with the nearest one that is read: for a warning, as evn_open() and the command
 * print one. 0: there are no more. Names of places (EVENER_ROOT, _HOME, _DIR, _PREFIX, ..) and
 * EVENER_TEST_* are not told. While no thread changes the environment. */
int evn_environment_stray(int i, char *line, size_t size);

#ifdef __cplusplus
}
#endif
#endif
