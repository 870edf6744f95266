/* A loop over tasks of unequal weight on the units of all ranks:
 *     cc -O2 ranks.c $(pkg-config --cflags --libs evener) -o ranks
 *     EVENER_PROCESSES=2 EVENER_UNITS=1:CPU:1 ./ranks       or        mpirun -n 2 ./ranks
 * Every rank makes the same calls; a task is done by the unit that the schedule gives it to. */
#include <evener.h>
#include <evener/loop.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    if (call) return evn_complain("ranks")
enum { TASKS = 64, STEPS = 40 };

/* Task t adds up 200 (t + 1) terms. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    double *sum = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        sum[t] = 0;
        for (int i = 1; i <= 200 * (t + 1); i++) sum[t] += 1.0 / i;
    }
    return EVN_OK;
}

int main(void) {
    evn_session *session;
    evn_loop *loop;
    const evn_problem tasks = {.tasks = TASKS};
    double sum[TASKS];
    TRY(evn_open(&session, NULL, NULL, EVN_OVER_RANKS));
    TRY(evn_open_loop(&loop, session, NULL, &tasks));
    for (int step = 0; step < STEPS; step++) TRY(evn_loop_run(loop, body, sum));
    TRY(evn_loop_allgather(loop, sum, sizeof *sum)); /* each rank has those of its own tasks */
    if (evn_session_rank(session) == 0) printf("%.10f .. %.10f\n", sum[0], sum[TASKS - 1]);
    TRY(evn_close(session));
    return 0;
}
