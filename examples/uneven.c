/* A loop over tasks of unequal weight, on all cores of this machine or on the units its user names:
 *
 *     cc uneven.c $(pkg-config --cflags --libs evener) -o uneven
 *     EVENER_UNITS=2:CPU:1 EVENER_RECORD=uneven.json ./uneven guided:time
 *
 * Run by the tests: it ends with status 0 if every task was done in every step. */
#include <evener.h>
#include <evener/loop.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 48, STEPS = 8 };

struct app {
    double result[TASKS];
    int runs[TASKS];
};

/* Task t is t + 1 times as heavy as task 0; the unit's cores share it. */
static void work(struct app *app, int t, int cores) {
    double x = 0;
#pragma omp parallel for reduction(+ : x) num_threads(cores)
    for (int i = 1; i <= 20000 * (t + 1); i++) x += 1.0 / i;
    app->result[t] = x;
    app->runs[t]++;
}

/* Called on each unit with the tasks that are its own. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    for (int t; (t = evn_batch_next(batch)) >= 0;) work(arg, t, evn_unit_cores(unit));
    return EVN_OK;
}

static int quit(void) {
    fprintf(stderr, "uneven: %s\n", evn_message());
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    static struct app app;
    evn_session *session;
    evn_loop *loop;
    const evn_problem problem = {.tasks = TASKS};

    if (evn_open(&session, NULL, NULL, 0)) return quit();
    if (evn_open_loop(&loop, session, argc > 1 ? argv[1] : NULL, &problem)) return quit();
    for (int step = 1; step <= STEPS; step++) {
        const double before = evn_loop_sum(loop).compute_s;
        if (evn_loop_run(loop, body, &app)) return quit();
        printf("step %d: %.2f ms\n", step, 1e3 * (evn_loop_sum(loop).compute_s - before));
    }
    int wrong = 0;
    for (int t = 0; t < TASKS; t++) wrong += app.runs[t] != STEPS;
    if (evn_close(session)) return quit();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
