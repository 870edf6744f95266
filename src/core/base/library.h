/* Libraries that are opened when they are first used, so that a program which does not need them
 * starts without them, and a build without their headers has them. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

struct library {
    const char *need;         /* begin of the message: "schedule: optimal needs COIN-OR CBC" */
    const char *variable;     /* variable that names the file; no other is then tried; or NULL */
    const char *const *names; /* file names, the preferred one first; NULL at the end */
    const char *install;      /* remedy: "install coinor-libcbc3" */
    const char *const *calls; /* its functions; NULL at the end */
    /* The reason why an open library cannot be used, from its functions; NULL: it can. */
    const char *(*refuse)(void *const *call, char *text, size_t size);
};

/* Opens the first file that is there and can be used, for ever: `call` receives the functions,
 * `file` its name. EVN_MISSING: none can; the message has the reasons. */
evn_status library_open(const struct library *l, void **call, char *file, size_t size);
