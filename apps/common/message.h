/* What every part of a command says and ends with: messages, exit statuses, interrupts. */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <evener.h>
#include <signal.h>

enum exit_status {
    EXIT_DONE = 0,
    EXIT_UNVERIFIED = 1,
    EXIT_USAGE = 2, /* wrong usage or bad input: nothing was started */
    EXIT_FAILED = 3,
    EXIT_INTERRUPTED = 130,
};

/* Prints "evener: ..." on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains with evn_message() and gives the exit status that belongs to `status`. */
int give_up(evn_status status);

/* Set once SIGINT or SIGTERM has come, after catch_interrupts(). */
extern volatile sig_atomic_t interrupted;
void catch_interrupts(void);

/* The command line as it was given, for records. */
extern const char *command_line;

#endif
