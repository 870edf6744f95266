/* Two loops of one session, over ranks where there are, for its trace and record: the tasks of one
 * come and go, those of the other stay. Run by test_changes.py. */
#include <evener.h>
#include <evener/change.h>
#include <evener/open.h>
#include <evener/schedule.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) ((int *)arg)[t]++;
    return EVN_OK;
}

static int quit(void) { return evn_complain("changing"); }

/* The first `kept` tasks stay, the others of now come from the first. */
static evn_status change(evn_loop *loop, int now, int kept) {
    static int first[MOST + 1], from[MOST];
    static char stays[MOST];
    for (int t = 0; t < now; t++) {
        first[t] = t;
        from[t] = t < kept ? t : 0;
    }
    memset(stays, 0, sizeof stays);
    memset(stays, 1, (size_t)kept);
    first[now] = now;
    return evn_loop_change(
        loop,
        &(evn_change){.tasks = now, .first = first, .from = from, .kept = stays, .links = -1});
}

static evn_status run(evn_loop *loop, int times) {
    static int done[MOST];
    evn_status status = EVN_OK;
    for (; !status && times; times--) status = evn_loop_run(loop, body, done);
    return status;
}

int main(void) {
    const evn_problem six = {.tasks = 6}, three = {.tasks = 3};
    evn_session *s;
    evn_loop *mesh, *steady;
    if (evn_open(&s, NULL, NULL, EVN_OVER_RANKS)) return quit();
    if (evn_open_loop(&steady, s, "static", &three)) return quit();
    if (evn_open_loop(&mesh, s, "map", &six)) return quit();
    if (evn_name_loop(s, mesh, "the \"mesh\"") || evn_name_loop(s, steady, "steady")) return quit();
    if (run(mesh, 3) || run(steady, 2)) return quit();
    if (change(mesh, 16, 6) || run(mesh, 2) || run(steady, 1)) return quit();
    if (change(mesh, 9, 9) || change(mesh, 4, 2) || run(mesh, 4)) return quit();
    if (change(mesh, 5, 4)) return quit(); /* after the last run */
    return evn_close(s) ? quit() : EXIT_SUCCESS;
}
