/* The subteams of a unit, made at the first evn_batch_share(). */
#pragma once

#include "loop/internal.h"

struct subteams;

/* Tasks have other weights: discards the division. Weak, as what closes them: bodies that never
 * call evn_batch_share() link no subteams. */
void subteams_forget(struct subteams *s) __attribute__((weak));
void subteams_close(struct subteams *s) __attribute__((weak));
