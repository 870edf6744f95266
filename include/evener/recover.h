/* Recovery: a program goes on when a device fails.
 *
 * The state, which is what the regions of a loop's place hold, is kept on the host now and then.
 * When a device has failed, its unit is taken away, loop and schedule go on with those that are
 * left, and the regions hold again what was kept; the program does the steps since then once more.
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
 * What a step computes must follow from the regions and from the step's number alone. Units are
 * numbered anew when one is gone; the loop's handle stays as it is, and evn_loop_schedule() is a
 * new schedule, the loop's own, of the same text and problem with the speeds of the units that are
 * left. Exchanges of the loop are planned anew. Other loops on the same units can then only be
 * closed. All is called by the thread that opened the units, between instances.
 */
#ifndef EVENER_RECOVER_H
#define EVENER_RECOVER_H

#include <evener/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_recovery evn_recovery;

/* What a program wants to know; each may be NULL. */
typedef struct evn_recovery_calls {
    /* `unit` is about to be closed with its devices: give back what the program made on them. Its
     * number is still the old one; those behind it move up by one afterwards. */
    void (*lost)(evn_unit *unit, void *arg);
    /* One line: what failed, from which step it goes on, with which units. */
    void (*told)(const char *text, void *arg);
    void *arg;
} evn_recovery_calls;

/* Recovery for a loop, which must outlive it, and which regions follow (evn_loop_place()) before
 * the first step. `every`: steps from one kept state to the next, at least 1: what a failure costs
 * at most, against a copy of what has changed to the host each time. `calls` is copied; NULL: none.
 * EVN_USAGE, EVN_MEMORY. */
evn_status evn_recovery_open(evn_recovery **out, evn_loop *loop, int every,
                             const evn_recovery_calls *calls);
void evn_recovery_close(evn_recovery *recovery);

/* At the beginning of step number `step`, from 0: keeps all regions of the loop's place where that
 * is due, in the first step, and then every so many. Without devices nothing can fail, and nothing
 * is kept. EVN_DEVICE, EVN_MEMORY: what was kept before is kept still. */
evn_status evn_recovery_keep(evn_recovery *recovery, int step);

/* After a failure of the loop, its exchanges, its place, or of keeping, with its status. EVN_OK:
 * the units whose devices have failed are gone; *step is the step of the state that was kept, which
 * the regions hold again, each where its new owner computes it. *step is -1 if none was kept: then
 * regions that were only on what is gone are on the host with contents that mean nothing, and the
 * program begins anew. Counters and bursts of the loop begin anew.
 *
 * Otherwise it returns the failure with its message, and nothing has changed: no device has failed
 * (a body on cores, say, or bad input), or no unit would be left. If going on fails itself, the
 * message says why, too, and the loop can only be closed: so with a schedule whose text has a
 * number for each unit. EVN_USAGE: called with EVN_OK, or while the units are at work.
 *
 * A device has failed if it says so (EVN_DEVICE), or if its unit ended the last instance for want
 * of memory (EVN_MEMORY). */
evn_status evn_recovery_go_on(evn_recovery *recovery, evn_status failure, int *step);

#ifdef __cplusplus
}
#endif
#endif
