/* The machine that a test program opens once for all its tests: set_up and tear_down of the group.
 */
#pragma once

#include "check.h"

static evn_machine *machine;

static int set_up(void **state) {
    (void)state;
    return evn_machine_open(&machine);
}

static int tear_down(void **state) {
    (void)state;
    evn_machine_close(machine);
    return 0;
}
