/* static: consecutive tasks, the same number to each unit. */
#include "schedule/policy.h"
#include <stdio.h>

void policy_static(int tasks, int units, int *owner) {
    int share = tasks / units, rest = tasks % units, t = 0;
    for (int u = 0; u < units; u++)
        for (int i = 0; i < share + (u < rest); i++) owner[t++] = u;
}

static evn_status open_static(evn_schedule *s, const evn_spec *spec) {
    snprintf(s->text, sizeof s->text, "static");
    s->settled = 1;
    return policy_no_options(s, spec);
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    (void)s, (void)owner, (void)seconds; /* there is nothing to learn */
}

static evn_status import(evn_schedule *s) {
    (void)s; /* any assignment can be kept */
    return EVN_OK;
}

const struct policy policy_static_ = {
    .name = "static",
    .explanation = "consecutive tasks, the same number to each unit",
    .open = open_static,
    .learn = learn,
    .import = import,
};
