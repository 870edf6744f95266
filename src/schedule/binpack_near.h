/* binpack where units are near and far, or may become full. */
#ifndef SCHEDULE_BINPACK_NEAR_H
#define SCHEDULE_BINPACK_NEAR_H

#include "schedule/routes.h"
#include <evener/status.h>

/* Groups the tasks of `p`; `full`: units take no more than they hold as long as there is another
 * that has room. */
evn_status binpack_near(const evn_problem *p, const struct routes *routes, int full, int *owner);

#endif
