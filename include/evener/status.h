/* For programs: the status that functions return, and the message that goes with a failure.
 *
 * Wrong arguments never end the program. NULL for a required pointer is EVN_USAGE, with a message
 * that begins with the function's name. A function without a status returns 0, -1, NULL, "" or NAN,
 * whichever cannot be a right answer, and leaves the message. Functions that close accept NULL. A
 * handle must not be used after it was closed; the library cannot detect that. The same rules hold
 * for numbers out of range (of a unit, task, region, space ..), for negative or infinite ones, and
 * for calls at the wrong time or by the wrong thread; each function says which.
 *
 * Messages, and all text that the library reads and writes, have a decimal point in every locale.
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

/* The calling thread's last failure in one line, as `units: "4:CPUS:4" at column 3: unknown family
 * "CPUS", expected CPU, GPU or FPGA`. Valid until this thread's next failure; "" if there was none.
 */
const char *evn_message(void);

/* Sets this thread's evn_message() (printf style, one line) and returns `status`. Bodies and
 * applications use it, so that their failures read like the library's. The arguments may include
 * evn_message() itself and untrusted text; the message is passed through evn_plain() of
 * <evener/text.h>. */
evn_status evn_fail(evn_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As evn_fail(), with a fixed text: for languages without variadic calls. NULL: "no message". */
evn_status evn_fail_text(evn_status status, const char *text);

#ifdef __cplusplus
}
#endif
#endif
