/* static: consecutive tasks, the same number to each unit; with a chunk, chunks of tasks to the
 * units in turn, as OpenMP's static has it. */
#include <evener/status.h>
#include "schedule/policy.h"
#include <stdio.h>
#include <string.h>

void policy_static(int tasks, int units, int *owner) {
    int share = tasks / units, rest = tasks % units, t = 0;
    for (int u = 0; u < units; u++)
        for (int i = 0; i < share + (u < rest); i++) owner[t++] = u;
}

static evn_status open_static(evn_schedule *s, const evn_spec *spec) {
    long chunk = 0;
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        if (strcmp(o->key, "chunk") != 0)
            return evn_fail(EVN_USAGE, "schedule: static has no option \"%s\", expected chunk=C",
                            o->key);
        evn_status status = evn_spec_number(o, "schedule", spec->name, 1, 1000000000, &chunk);
        if (status) return status;
    }
    s->settled = 1;
    snprintf(s->text, sizeof s->text, chunk ? "static:chunk=%ld" : "static", chunk);
    for (int t = 0; chunk && t < s->problem.tasks; t++)
        s->owner[t] = (int)(t / chunk % s->problem.units);
    return EVN_OK;
}

const struct policy policy_static_ = {
    .name = "static",
    .still = 1,
    .blind = 1,
    .explanation = "consecutive tasks, the same number to each unit; chunk=C: chunks of C in turn",
    .open = open_static,
};
