/* Lists: each unit's tasks under fixed owners, taken by atomic ranges.
 *
 * A unit takes tasks from the front of its own list, several at a time, to amortise access to
 * memory that other units write. Where stealing is allowed (loop_may_steal()), a CPU unit with an
 * empty list takes tasks from the end of the list of a unit that is late: one that has not begun or
 * does not proceed, since another program has its core, or one with much left to do. Owners do not
 * change. */
#pragma once

#include "loop/internal.h"

/* Allocates lists of all tasks. EVN_MEMORY. */
evn_status lists_open(evn_loop *loop);
void lists_close(evn_loop *loop);

/* Makes the lists for the present owners, unless they are current, and marks all tasks as not
 * taken. Before an instance. */
void lists_fill(evn_loop *loop);

/* The next tasks of the unit's own list; *count: how many, 0: none are left. */
const int *lists_own(const evn_loop *loop, struct worker *w, int *count);

/* All tasks that are left of the unit's own list, as lists_own(). */
const int *lists_rest(struct worker *w, int *count);

/* Whether tasks are left that no unit has begun. */
int lists_left(const evn_loop *loop);

/* Tasks from the end of a late unit's list; NULL: none is worth taking, or all are begun. */
const int *lists_steal(evn_loop *loop, struct worker *w, int *count);
