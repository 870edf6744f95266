/* Three loops of one session, over ranks where there are, for its trace: one that is closed before
 * the others are opened, two that alternate. Run by test_paraver.py. usage: loops STEPS */
#include <evener.h>
#include <stdio.h>
#include <stdlib.h>

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) ((int *)arg)[t]++;
    return EVN_OK;
}

static int quit(void) { return evn_complain("loops"); }

int main(int argc, char **argv) {
    static int done[40];
    const int steps = argc > 1 ? atoi(argv[1]) : 0;
    const evn_problem five = {.tasks = 5}, forty = {.tasks = 40}, three = {.tasks = 3};
    evn_session *s;
    evn_loop *first, *large, *small;
    if (evn_open(&s, NULL, NULL, EVN_OVER_RANKS)) return quit();
    if (evn_open_loop(&first, s, "static", &five)) return quit();
    for (int i = 0; i < steps; i++)
        if (evn_loop_run(first, body, done)) return quit();
    if (evn_close_loop(s, first)) return quit();
    if (evn_open_loop(&large, s, "static", &forty)) return quit();
    if (evn_open_loop(&small, s, "dynamic:memorize=0", &three)) return quit();
    for (int i = 0; i < steps; i++) {
        if (evn_loop_run(large, body, done)) return quit();
        if (evn_loop_run(small, body, done)) return quit();
        if (evn_loop_run(small, body, done)) return quit();
    }
    return evn_close(s) ? quit() : EXIT_SUCCESS;
}
