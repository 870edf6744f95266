/* What the parts of the command share: exit statuses, messages, and the command's own list. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

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

int command_info(int argc, char **argv);
int command_run(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_report(int argc, char **argv);

#endif
