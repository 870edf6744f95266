/* The loop of the workload toy (tests/toy) as a program of its own: its record is compared with
 * that of `evener run toy` by test_same_record.py. Its argument is the number of steps. */
#include <evener.h>
#include <stdint.h>
#include <stdlib.h>

enum { TASKS = 20 };

static double weight[TASKS], state[TASKS];
static uint64_t sum[TASKS];

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        for (uint64_t i = 1; i <= (uint64_t)weight[t]; i++) {
            sum[t] += i;
            __asm__ volatile("" : "+r"(i));
        }
    return EVN_OK;
}

int main(int argc, char **argv) {
    evn_session *session;
    evn_loop *loop;
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    double all = 0;
    for (int t = 0; t < TASKS; t++) all += weight[t] = 1000 * (1 + t % 7);
    for (int t = 0; t < TASKS; t++) state[t] = 8 * TASKS * (weight[t] / all);
    const evn_problem tasks = {
        .tasks = TASKS, .weight = weight, .state = state, .instances = steps};
    evn_status status = evn_open(&session, NULL, NULL, EVN_STAY_BOUND | EVN_TEAMS | EVN_OVER_RANKS);
    if (!status) status = evn_open_loop(&loop, session, NULL, &tasks);
    for (int s = 0; !status && s < steps; s++) status = evn_loop_run(loop, body, NULL);
    if (!status) status = evn_close(session);
    return status ? evn_complain("same_loop") : 0;
}
