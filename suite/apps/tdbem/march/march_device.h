/* The steps of a group on the device that solves, one behind the other, without the host between
 * them: the right-hand side, conjugate gradients, and what the group's steps give each other. The
 * sums of the past come from the host, where those of all units meet, in one message a group; the
 * solutions and the points' sums go home at its end, for which the host waits once. */
#pragma once

#include "tdbem/march/march.h"

/* After the solver has its device. m->on_device stays NULL where the host has a part in each step:
 * another solver, over ranks, or a device without room for the near part. EVN_DEVICE, EVN_SYSTEM.
 */
evn_status march_device_open(struct march *m);
void march_device_close(struct march *m);

/* Steps n .. n+count-1, from m->total and m->before, to m->a; the points' rows of m->total. *solved
 * of them have come to a solution; all, or status says about the next one what the solver would.
 */
evn_status march_device_group(struct march *m, int n, int count, int *solved);
