/* Messages and exit statuses. */
#include "common/cli/message.h"
#include "common/cli/interrupt.h"
#include <evener/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *command_line = "";

static char *kept; /* where the first complaint goes; NULL: it is printed */
static size_t kept_size;
static int prints_warnings = 1;
static char later[2048]; /* lines for warn_now() */

void complain_into(char *into, size_t size, int warns) {
    kept = into;
    kept_size = size;
    prints_warnings = !into || warns;
    if (kept) *kept = 0;
    if (!prints_warnings) *later = 0;
}

/* Whether a line is to be printed; kept if it is to be. */
static int is_printed(const char *line) {
    if (!strncmp(line, "warning:", 8)) return prints_warnings;
    if (!kept) return 1;
    if (!*kept) snprintf(kept, kept_size, "%s", line);
    return 0;
}

/* Words in it may be from outside and of any length. */
int complain(const char *format, ...) {
    char line[2048], *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    const char *plain = n < 0 ? "no memory for a message" : evn_plain(line, sizeof line, text);
    if (is_printed(plain)) fprintf(stderr, "evener: %s\n", plain);
    if (n >= 0) free(text);
    return EXIT_USAGE;
}

void warn_later(const char *line) {
    const size_t at = strlen(later);
    if (prints_warnings) snprintf(later + at, sizeof later - at, "%s\n", line);
}

void warn_now(void) {
    char *line = later;
    for (char *end; (end = strchr(line, '\n')); line = end + 1)
        complain("warning: %.*s", (int)(end - line), line);
    *later = 0;
}

int give_up(evn_status status) {
    if (status == EVN_STOPPED) complain("interrupted: %s", evn_message());
    if (status == EVN_STOPPED) return EXIT_INTERRUPTED;
    complain("%s", evn_message());
    if (interrupted) return EXIT_INTERRUPTED; /* whatever it has made fail */
    switch (status) {
    case EVN_USAGE:
    case EVN_MISSING:
    case EVN_MEMORY: return EXIT_USAGE;
    default: return EXIT_FAILED;
    }
}
