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
 * the thread that opened the units, between instances.
 *
 * Tasks may come and go (<evener/change.h>). The kept state then is of a generation, and one of an
 * earlier generation is restored only with the program's help, evn_recovery_calls.rebuild: it makes
 * the set of tasks again that there was, and the recovery gives their regions the kept values.
 *
 *     static evn_status rebuild(void *arg, int generation) {
 *         int n;
 *         const int *now = evn_recovery_tasks(recovery, &n);
 *         .. the mesh of that generation again ..
 *         .. first, from and kept: now[t] for those above 0, no origin for the others, with regions
 *            of their own, of the sizes of then ..
 *         evn_loop_change(loop, &change);
 *         evn_exchange_add(halo, count, face, host);
 *     } */
#ifndef EVENER_RECOVER_H
#define EVENER_RECOVER_H

#include <evener/program.h>
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
    /* Goes back to the tasks of the kept state: the program restores its own records of them, calls
     * evn_loop_change() once, and adds the faces that are lacking. `generation`: what
     * evn_loop_about().generation was at evn_recovery_keep(). Values need not be written, nor
     * evn_loop_bear() be called. Regions of tasks that go may be removed once evn_loop_change() has
     * returned; one that was only on a lost device has undefined contents on the host. It may be
     * called again, if another device fails meanwhile. A failure of it is that of
     * evn_recovery_go_on(). */
    evn_status (*rebuild)(void *arg, int generation);
} evn_recovery_calls;

/* Opens recovery for a loop, which must outlive it, and whose regions (evn_loop_place()) are
 * registered before the first step. `every`: steps between two copies, at least 1: the most steps
 * that a failure repeats, against the cost of copying changed regions to the host; 0: only in the
 * first step and after each evn_loop_change(). `calls` is copied; NULL: none. EVN_USAGE,
 * EVN_MEMORY. */
evn_status evn_recovery_open(evn_recovery **out, evn_loop *loop, int every,
                             const evn_recovery_calls *calls);
void evn_recovery_close(evn_recovery *recovery);

/* Call at the beginning of step `step`, from 0: copies all regions of the loop's place in the first
 * step, and then every `every` steps; without `rebuild`, or with `every` 0, also in the first step
 * after evn_loop_change(), whose births have ended then. Without devices it does nothing.
 * EVN_DEVICE, EVN_MEMORY: the earlier copy is still there. */
evn_status evn_recovery_keep(evn_recovery *recovery, int step);

/* With `rebuild`, the tasks of the kept state, *count of them: the number of each among the tasks
 * of now, if it was kept in all changes since; -1: it is gone. Valid until the next
 * evn_loop_change(), evn_recovery_keep() or end of `rebuild`. NULL and 0: none is kept. */
const int *evn_recovery_tasks(const evn_recovery *recovery, int *count);

/* Call after a failure of the loop, its exchanges, its place, or evn_recovery_keep(), with its
 * status. EVN_OK: units with failed devices are removed; *step is the step of the restored state,
 * each region where its new owner computes it. *step is -1 if there is no copy: regions that were
 * only on a lost device are on the host with undefined contents, and the program starts again, from
 * the tasks that there are or by evn_loop_change() from others. Counters and bursts of the loop are
 * reset, its list of changes is not.
 *
 * Otherwise it returns the failure with its message, and nothing has changed: no device has failed
 * (as after a body's failure on cores, or bad input), or no unit would be left. If the recovery
 * itself fails, the message says why, and the loop can only be closed; so under a schedule whose
 * text has a number for each unit. EVN_USAGE: called with EVN_OK, or while the units are at work;
 * nothing has changed either if the tasks have (evn_loop_change()) since the last copy and there is
 * no `rebuild`: the message names the failure and the change.
 *
 * A device has failed if it says so (EVN_DEVICE), or if its unit ended the last instance for want
 * of memory (EVN_MEMORY). */
evn_status evn_recovery_go_on(evn_recovery *recovery, evn_status failure, int *step);

#ifdef __cplusplus
}
#endif
#endif
