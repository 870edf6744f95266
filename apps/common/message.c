/* Messages, exit statuses, interrupts. */
#include "common/message.h"
#include <stdarg.h>
#include <stdio.h>

volatile sig_atomic_t interrupted;
const char *command_line = "";

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("evener: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int give_up(evn_status status) {
    if (status == EVN_STOPPED) {
        complain("interrupted; nothing was written");
        return EXIT_INTERRUPTED;
    }
    complain("%s", evn_message());
    switch (status) {
    case EVN_USAGE:
    case EVN_MISSING:
    case EVN_MEMORY: return EXIT_USAGE;
    default: return EXIT_FAILED;
    }
}

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

void catch_interrupts(void) {
    /* one-shot: who asks twice does not want to wait for the end of the step */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
