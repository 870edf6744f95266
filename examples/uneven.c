/* A loop over tasks of unequal weight on all cores of this machine, one unit a core.
 *
 * The library is all this needs:  cc uneven.c $(pkg-config --cflags --libs evener) -o
 * uneven Run by the tests: it ends with status 0 if every task was done in every step.
 */
#include <evener.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 48, STEPS = 8 };

struct app {
    double result[TASKS];
    int runs[TASKS];
};

/* Task t is t + 1 times as heavy as task 0. */
static void work(struct app *app, int t) {
    double x = 0;
    for (int i = 1; i <= 20000 * (t + 1); i++) x += 1.0 / i;
    app->result[t] = x;
    app->runs[t]++;
}

/* Called on each unit with the tasks that are its own. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) work(arg, t);
    return EVN_OK;
}

static int quit(void) {
    fprintf(stderr, "uneven: %s\n", evn_message());
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    const char *text = argc > 1 ? argv[1] : "guided:time";
    static struct app app;
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    char list[32];

    if (evn_machine_open(&machine)) return quit();
    snprintf(list, sizeof list, "%d:CPU:1", evn_machine_cores(machine));
    if (evn_units_open(&units, machine, list, 0)) return quit();
    evn_problem problem = {.tasks = TASKS, .units = evn_units_count(units)};
    if (evn_schedule_open(&schedule, text, &problem)) return quit();
    if (evn_loop_open(&loop, units, schedule)) return quit();

    for (int step = 1; step <= STEPS; step++) {
        evn_loop_reset_stats(loop);
        if (evn_loop_run(loop, body, &app)) return quit();
        double max = 0, least = 1e30;
        for (int u = 0; u < problem.units; u++) {
            double busy = evn_loop_stats(loop, u).compute_s;
            if (busy > max) max = busy;
            if (busy < least) least = busy;
        }
        printf("step %d: %.2f ms, longest over shortest unit %.2f\n", step,
               1e3 * evn_loop_sum(loop).compute_s, max / least);
    }
    int wrong = 0;
    for (int t = 0; t < TASKS; t++) wrong += app.runs[t] != STEPS;

    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_units_close(units);
    evn_machine_close(machine);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
