/* Arguments that are not there: every public function looks for them before anything else. */
#ifndef BASE_ARGUMENT_H
#define BASE_ARGUMENT_H

#include <evener/status.h>

/* EVN_USAGE: `function` was given NULL instead of `what`. */
evn_status argument_missing(const char *function, const char *what) __attribute__((cold));

/* Leaves the function with `answer` and a message where `argument` is NULL. */
#define NEED_OR(answer, argument, what)                                                            \
    do {                                                                                           \
        if (!(argument)) {                                                                         \
            argument_missing(__func__, what);                                                      \
            return answer;                                                                         \
        }                                                                                          \
    } while (0)

#define NEED(argument, what) NEED_OR(EVN_USAGE, argument, what)

/* What a function gives to *out: NULL until it has succeeded. */
#define NEED_OUT(out)                                                                              \
    do {                                                                                           \
        NEED(out, "where to put what it opens");                                                   \
        *(out) = NULL;                                                                             \
    } while (0)

#endif
