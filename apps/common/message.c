/* Messages and exit statuses. */
#include "common/message.h"
#include "common/interrupt.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *command_line = "";

/* Words in it may be from outside and of any length. */
void complain(const char *format, ...) {
    char line[2048], *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "evener: %s\n",
            n < 0 ? "no memory for a message" : evn_plain(line, sizeof line, text));
    if (n >= 0) free(text);
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
