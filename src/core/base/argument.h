/* Checks of required arguments, which every public function makes first. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>

/* EVN_USAGE: argument `what` of `function` is NULL. */
evn_status argument_missing(const char *function, const char *what) __attribute__((cold));

/* Makes the function return `answer`, with a message, if `argument` is NULL. */
#define NEED_OR(answer, argument, what)                                                            \
    do {                                                                                           \
        if (!(argument)) {                                                                         \
            argument_missing(__func__, what);                                                      \
            return answer;                                                                         \
        }                                                                                          \
    } while (0)

#define NEED(argument, what) NEED_OR(EVN_USAGE, argument, what)

/* Checks `out` and sets *out to NULL, its value until the function succeeds. */
#define NEED_OUT(out)                                                                              \
    do {                                                                                           \
        NEED(out, "where to put what it opens");                                                   \
        *(out) = NULL;                                                                             \
    } while (0)
