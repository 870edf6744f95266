/* Regions of a loop's tasks that belong to a session: brought to the host's memory, and told of
 * changes of the tasks. */
#pragma once

#include <evener/loop.h>

/* Makes the regions of this process's tasks valid in the host's memory. The tasks are those of the
 * last evn_loop_change(). Failures as of evn_place_acquire(). */
evn_status loop_collect(const evn_loop *loop);

/* The owner of a loop's regions, called by the thread that calls the loop.
 *
 * may_change() checks a change and makes memory for it; `region`: the tasks' regions of then, and
 * now[t] as in struct loop_listener. change() follows once tasks have their owners, without fail,
 * or with `now` NULL where the change does not come about. ended(): a run has ended, or births of
 * tasks, which want regions of gone tasks no longer. */
struct owner_ops {
    evn_status (*may_change)(void *arg, const int *now, int tasks, const int *region);
    void (*change)(void *arg, const int *now);
    void (*ended)(void *arg);
    void *arg;
};

/* The loop's tasks have no regions any more. */
void loop_forget_place(evn_loop *loop);

/* From the last evn_loop_place() on. */
void loop_set_owner_ops(evn_loop *loop, const struct owner_ops *ops);
