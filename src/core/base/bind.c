/* The wish of EVENER_BIND, and refusals by the system. */
#include "base/bind.h"
#include "base/cpus.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_flag said = ATOMIC_FLAG_INIT;

evn_status bind_read(enum bind_wish *out) {
    static const struct {
        const char *name;
        enum bind_wish wish;
    } known[] = {{"auto", BIND_AUTO},
                 {"cores", BIND_CORES},
                 {"core", BIND_CORES},
                 {"unit", BIND_UNIT},
                 {"none", BIND_NONE}};
    const char *text = secure_getenv("EVENER_BIND");
    if (!text || !*text) text = "auto";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(text, known[i].name)) {
            *out = known[i].wish;
            return EVN_OK;
        }
    return evn_fail(EVN_USAGE, "units: EVENER_BIND: \"%s\", expected auto, cores, unit or none",
                    text);
}

int bind_never(void) {
    enum bind_wish wish = BIND_AUTO;
    return !bind_read(&wish) && wish == BIND_NONE;
}

int bind_refused(void) {
    struct cpus mask;
    const int error = cpus_get(&mask);
    return error ? error : cpus_set(0, &mask);
}

void bind_be_silent(void) { atomic_flag_test_and_set(&said); }

void bind_warn(int error) {
    if (atomic_flag_test_and_set(&said)) return;
    fprintf(stderr,
            "evener: units: threads are not bound to cores, since the system refuses it "
            "(sched_setaffinity(): %s); EVENER_BIND=none runs so without this line\n",
            strerror(error));
}
