/* One-sided memory under a launcher of MPI: what tests/cluster/test_shared_mpi.py starts. usage:
 * shared_try WHAT [NUMBER]; WHAT: all, a case's name, or one of those below. Exit status 0: as it
 * should be, 9: it is not, 2: it was refused, with the message. */
#include "cluster/cases.h"
#include "wire/ranks.h"
#include <evener/clock.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRONG = 9 };

static int mib; /* NUMBER */
static evn_status refused;

void ranks_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s; the last message: %s\n", file, line, what, evn_message());
    fflush(NULL);
    _exit(WRONG);
}

/* Memory of so many MiB on each rank, more than there is. */
static void large(evn_cluster *c) {
    evn_shared *s;
    refused = evn_shared_open(&s, c, &(evn_shared_shape){.bytes = (size_t)mib << 20});
    if (refused && !evn_cluster_rank(c)) fprintf(stderr, "evener: %s\n", evn_message());
    if (!refused) evn_shared_close(s);
}

/* The last rank is gone while others wait for it. */
static void dying(evn_cluster *c) {
    const int last = evn_cluster_size(c) - 1;
    evn_shared *s;
    must_ok(evn_shared_open(&s, c, &(evn_shared_shape){.bytes = 1 << 20, .signals = 1}));
    must_ok(evn_shared_barrier(s));
    if (evn_cluster_rank(c) == last) raise(SIGKILL);
    evn_shared_wait(s, last, 0, 1);
    must(!"a signal of a rank that is dead");
}

static void stopped(evn_cluster *c) {
    static volatile int stop;
    evn_shared *s;
    evn_cluster_stop_on(c, &stop);
    must_ok(evn_shared_open(&s, c, &(evn_shared_shape){.signals = 1}));
    must_ok(evn_shared_barrier(s));
    stop = 1;
    const double begin = evn_now();
    must_give(evn_shared_wait(s, 0, 0, 1), EVN_STOPPED);
    must(evn_now() - begin >= 1.9);
    stop = 0;
    evn_shared_close(s);
}

static const struct {
    const char *name;
    void (*run)(evn_cluster *c);
} others[] = {{"all", shared_run_all}, {"large", large}, {"dying", dying}, {"stopped", stopped}};

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    void (*run)(evn_cluster * c) = NULL;
    const struct shared_case *k = shared_cases;
    evn_cluster *c;
    mib = argc > 2 ? atoi(argv[2]) : 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].name, what)) run = others[i].run;
    while (k->name && strcmp(k->name, what)) k++;
    must(run || k->name);
    must_ok(evn_cluster_open(&c, "auto"));
    if (run)
        run(c);
    else
        k->run(c, mib);
    const int code = refused && !evn_cluster_rank(c) ? 2 : 0;
    evn_cluster_close(c, refused);
    return code;
}
