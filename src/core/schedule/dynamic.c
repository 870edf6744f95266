/* dynamic: units draw chunks of consecutive tasks from a common queue; after some instances the
 * last assignment is fixed (section 3 of the multi-GPU NPB-MZ paper). */
#include <evener/status.h>
#include "schedule/policy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int memorize; /* the instance after which the assignment is kept; 0: never */
};

static evn_status open_dynamic(evn_schedule *s, const evn_spec *spec) {
    long chunk = 1, memorize = 3;
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        evn_status status;
        if (!strcmp(o->key, "chunk")) {
            status = evn_spec_number(o, "schedule", spec->name, 1, 1000000000, &chunk);
        } else if (!strcmp(o->key, "memorize")) {
            status = evn_spec_number(o, "schedule", spec->name, 0, 1000000000, &memorize);
        } else {
            status = evn_fail(
                EVN_USAGE, "schedule: dynamic has no option \"%s\", expected chunk=C or memorize=M",
                o->key);
        }
        if (status) return status;
    }
    struct state *state = malloc(sizeof *state);
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory");
    state->memorize = memorize ? s->instance + (int)memorize : 0; /* from the last change on */
    s->state = state;
    s->chunk = (int)chunk;
    snprintf(s->text, sizeof s->text, "dynamic:chunk=%ld,memorize=%ld", chunk, memorize);
    return EVN_OK;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    (void)seconds;
    const struct state *state = s->state;
    if (!s->chunk) return; /* the assignment is fixed */
    memcpy(s->owner, owner, sizeof *owner * (size_t)s->problem.tasks);
    if (state->memorize && s->instance >= state->memorize) {
        s->chunk = 0;
        s->settled = 1;
    }
}

/* An imported assignment counts as fixed. */
static evn_status import(evn_schedule *s) {
    s->chunk = 0;
    s->settled = 1;
    return EVN_OK;
}

const struct policy policy_dynamic = {
    .name = "dynamic",
    .blind = 1,
    .explanation =
        "chunk=C,memorize=M: chunks of C tasks to whichever unit asks; kept after M steps",
    .open = open_dynamic,
    .learn = learn,
    .import = import,
};
