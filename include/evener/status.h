/* What a function of the library returns, and the message that goes with a failure.
 *
 * Wrong arguments end no program. NULL where something must be is EVN_USAGE, with a message that
 * begins with the function's name; a function that returns no status answers 0, -1, NULL, "" or
 * NAN, whichever is no right answer, and leaves the message. The functions that close accept NULL.
 * What was closed before cannot be known, and must not be used. A number that there is not (of a
 * unit, task, region, space ..), a negative or infinite one, and a call at the wrong time or by the
 * wrong thread are treated alike, as each function says.
 *
 * Messages, and all that the library reads and writes, have a decimal point, whatever the locale.
 */
#ifndef EVENER_STATUS_H
#define EVENER_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* name, text */
#define EVN_STATUS_LIST(X)                                                                         \
    X(OK, "done")                                                                                  \
    X(USAGE, "bad input; nothing was started")                                                     \
    X(MISSING, "something this needs is not on this machine")                                      \
    X(MEMORY, "not enough memory")                                                                 \
    X(SYSTEM, "the operating system refused")                                                      \
    X(BODY, "the loop's body reported a failure")                                                  \
    X(STOPPED, "stopped on request")                                                               \
    X(DEVICE, "a device failed")

typedef enum evn_status {
#define EVN_STATUS_ENUM(name, text) EVN_##name,
    EVN_STATUS_LIST(EVN_STATUS_ENUM)
#undef EVN_STATUS_ENUM
} evn_status;

/* The status in words; never NULL, also for a number that is no status. */
const char *evn_status_text(evn_status status);

/* The last failure of the calling thread in one line, as `units: "4:CPUS:4" at column 3: unknown
 * family "CPUS", expected CPU or GPU`. Valid until this thread's next failure; "" if there was
 * none. */
const char *evn_message(void);

/* Keeps a message (printf style, one line) for this thread's evn_message() and returns `status`:
 * for bodies and applications, so that their failures read like the library's. The arguments may be
 * evn_message() itself, and words from outside: the message is as evn_plain() of <evener/text.h>
 * makes it. */
evn_status evn_fail(evn_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with a text that is taken as it is, for languages that cannot call functions of any
 * number of arguments. NULL: "no message". */
evn_status evn_fail_text(evn_status status, const char *text);

#ifdef __cplusplus
}
#endif
#endif
