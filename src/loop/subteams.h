/* The subteams of a unit: made when a body first asks for them. */
#ifndef LOOP_SUBTEAMS_H
#define LOOP_SUBTEAMS_H

#include "loop/internal.h"

struct subteams;
void subteams_close(struct subteams *s);

#endif
