/* For programs: recovery, so that a program continues when a device fails.
 *
 * The state of the program, the contents of the regions of a loop's place, is copied to the host at
 * intervals. When a device fails, its unit is removed, loop and schedule continue on the remaining
 * units, and the regions are restored; the program repeats the steps since the copy.
 *
 *     evn_recovery_open(&recovery, loop, 10, &calls);
 *     for (int step = 0; step < steps;) {
 *         evn_status status = evn_recovery_keep(recovery, step);
 *         if (!status) status = evn_loop_run(loop, body, arg);
 *         if (!status) step++;
 *         else if (evn_recovery_go_on(recovery, status, &step)) return failed();
 *         else if (step < 0) step = begin_anew();
 *     }
 *
 * A step's results must depend only on the regions and on the step's number. After a loss units are
 * renumbered; the loop's handle stays, and evn_loop_schedule() is a new schedule, owned by the
 * loop, with the same text and problem and the speeds of the remaining units. The loop's exchanges
 * are planned again. Other loops on the same units can only be closed. All functions are called by
 * the thread that opened the units, between instances. */
#ifndef EVENER_RECOVER_H
#define EVENER_RECOVER_H

#include <evener/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_recovery evn_recovery;

/* Callbacks to the program; each may be NULL. */
typedef struct evn_recovery_calls {
    /* Called before `unit` is closed with its devices: free the program's objects on them. The unit
     * still has its old number; units behind it move up by one afterwards. */
    void (*lost)(evn_unit *unit, void *arg);
    /* One line of text: the failure, the step of the restored state, and the remaining units. */
    void (*told)(const char *text, void *arg);
    void *arg;
} evn_recovery_calls;

/* Opens recovery for a loop, which must outlive it, and whose regions (evn_loop_place()) are
 * registered before the first step. `every`: steps between two copies, at least 1: the most steps
 * that a failure repeats, against the cost of copying changed regions to the host. `calls` is
 * copied; NULL: none. EVN_USAGE, EVN_MEMORY. */
evn_status evn_recovery_open(evn_recovery **out, evn_loop *loop, int every,
                             const evn_recovery_calls *calls);
void evn_recovery_close(evn_recovery *recovery);

/* Call at the beginning of step `step`, from 0: copies all regions of the loop's place in the first
 * step, in the first one after evn_loop_change(), and then every `every` steps. Without devices it
 * does nothing. EVN_DEVICE, EVN_MEMORY: the earlier copy is still there. */
evn_status evn_recovery_keep(evn_recovery *recovery, int step);

/* Call after a failure of the loop, its exchanges, its place, or evn_recovery_keep(), with its
 * status. EVN_OK: units with failed devices are removed; *step is the step of the restored state,
 * each region where its new owner computes it. *step is -1 if there is no copy: regions that were
 * only on a lost device are on the host with undefined contents, and the program starts again.
 * Counters and bursts of the loop are reset.
 *
 * Otherwise it returns the failure with its message, and nothing has changed: no device has failed
 * (as after a body's failure on cores, or bad input), no unit would be left, or the tasks have
 * changed (evn_loop_change()) since the last copy. If the recovery itself fails, the message says
 * why, and the loop can only be closed; so under a schedule whose text has a number for each unit.
 * EVN_USAGE: called with EVN_OK, or while the units are at work.
 *
 * A device has failed if it says so (EVN_DEVICE), or if its unit ended the last instance for want
 * of memory (EVN_MEMORY). */
evn_status evn_recovery_go_on(evn_recovery *recovery, evn_status failure, int *step);

#ifdef __cplusplus
}
#endif
#endif
