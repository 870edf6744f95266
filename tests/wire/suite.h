/* What every kind of wire must do, in each of its ranks. Any program that has opened a wire can run
 * it: forked processes and threads in test_wire.c, others under their launcher. */
#pragma once

#include "wire/ranks.h"

struct wire_case {
    const char *name; /* NULL ends the list */
    void (*run)(struct member *m);
};

extern const struct wire_case wire_cases[];

/* All ranks come here before one goes on. */
void suite_barrier(struct member *m);
