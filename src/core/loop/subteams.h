/* The subteams of a unit, made at the first evn_batch_share(). */
#ifndef LOOP_SUBTEAMS_H
#define LOOP_SUBTEAMS_H

#include "loop/internal.h"

struct subteams;

/* Tasks have other weights: discards the division. NULL: nothing. */
void subteams_forget(struct subteams *s);

void subteams_close(struct subteams *s);

#endif
