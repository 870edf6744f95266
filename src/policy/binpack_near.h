/* binpack with routes or capacities. */
#pragma once

#include "policy/routes.h"
#include <evener/status.h>

/* Groups the tasks of `p`; `full`: a unit takes no more than it holds while another has room. */
evn_status binpack_near(const evn_problem *p, const struct routes *routes, int full, int *owner);
