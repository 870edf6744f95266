/* Messages and exit statuses of the command. */
#pragma once

#include <evener.h>

enum exit_status {
    EXIT_DONE = 0,
    EXIT_UNVERIFIED = 1,
    EXIT_USAGE = 2, /* wrong usage or bad input: nothing was started */
    EXIT_FAILED = 3,
    EXIT_INTERRUPTED = 130,
};

/* Prints "evener: ..." on standard error, as evn_plain() makes it: in one line, whatever the words
 * in it are. EXIT_USAGE, for callers whom the message ends. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Messages of several processes of one run, of which one speaks: from now on the first complaint is
 * kept instead of printed, and warnings are dropped unless `warns`. NULL: complaints are printed
 * again. `kept`: `size` bytes, "" until there is one. */
void complain_into(char *kept, size_t size, int warns);

/* A warning about options, printed by warn_now() once they are known to be right: a command that
 * fails says its error alone. */
void warn_later(const char *line);
void warn_now(void);

/* Complains with evn_message() and gives the exit status that belongs to `status`. */
int give_up(evn_status status);

/* The command line as it was given, for records. */
extern const char *command_line;
