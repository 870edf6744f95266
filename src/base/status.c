/* Statuses and the calling thread's last message. */
#include "base/message.h"
#include "base/number.h"
#include <evener/status.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

evn_status evn_fail(evn_status status, const char *format, ...) {
    /* through a second buffer, since the arguments may be the message that is there */
    char text[sizeof message];
    va_list arguments;
    va_start(arguments, format);
    number_vprint(text, sizeof text, format ? format : "no message", arguments);
    va_end(arguments);
    memcpy(message, text, sizeof text);
    messages++;
    return status;
}
