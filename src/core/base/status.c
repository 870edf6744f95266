/* Statuses and the calling thread's last message. */
#include "base/message.h"
#include "base/number.h"
#include <evener/status.h>
#include <evener/text.h>
#include <evener/program.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char message[1024];
static _Thread_local unsigned messages;

const char *evn_status_text(evn_status status) {
    switch (status) {
#define CASE(name, text)                                                                           \
    case EVN_##name: return text;
        EVN_STATUS_LIST(CASE)
#undef CASE
    }
    return "no such status";
}

const char *evn_message(void) { return message; }
unsigned message_count(void) { return messages; }

/* Arguments may be texts from outside, of any length. */
evn_status evn_fail(evn_status status, const char *format, ...) {
    /* in a second buffer, since the present message may be an argument */
    char few[sizeof message], *text = few;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const char *how = format ? format : "no message";
    const int n = number_vprint(few, sizeof few, how, arguments);
    if (n >= (int)sizeof few) text = malloc((size_t)n + 1);
    if (text && text != few) number_vprint(text, (size_t)n + 1, how, again);
    evn_plain(message, sizeof message, text ? text : few);
    if (text != few) free(text);
    va_end(again);
    va_end(arguments);
    messages++;
    return status;
}

evn_status evn_fail_text(evn_status status, const char *text) {
    return evn_fail(status, "%s", text ? text : "no message");
}
