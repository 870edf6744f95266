/* The shortest assignment of consecutive tasks, in the order of the units. */
#pragma once

/* Writes to `owner` consecutive tasks for each unit, at least one if there are enough, so that the
 * longest unit, by costs over speeds, is as short as it can be; boundaries are as near to those of
 * even shares as that allows. 1: not enough memory, and `owner` is as it was. */
int consecutive_shortest(int tasks, int units, const double *cost, const double *speed, int *owner);
