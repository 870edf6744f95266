/* One-sided memory of ranks that MPI's launchers start, or that are forked: what
 * tests/shared/test_shared_ranks.py runs. usage: shared_try HOW WHAT [NUMBER]; HOW: as
 * evn_cluster_open() has it; WHAT: all, a case's name, or one of those below. Exit status 0: as it
 * should be, 9: it is not, 2: it was refused, with the message. */
#include "shared/cases.h"
#include "wire/ranks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRONG = 9 };

static int number;
static evn_status refused;

void ranks_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s; the last message: %s\n", file, line, what, evn_message());
    fflush(NULL);
    _exit(WRONG);
}

/* Memory of so many MiB on each rank, which may be more than there is; little is there anyway. */
static void large(evn_cluster *c) {
    const evn_shared_shape shape = {.bytes = (size_t)number << 20, .per_node = 0};
    evn_shared *s;
    refused = evn_shared_open(&s, c, &shape);
    if (refused && !evn_cluster_rank(c)) fprintf(stderr, "evener: %s\n", evn_message());
    if (!refused) evn_shared_close(s);
    must_ok(evn_shared_open(&s, c, &(evn_shared_shape){.bytes = 1 << 20}));
    must_ok(evn_shared_barrier(s));
    evn_shared_close(s);
}

/* Open MPI ends all itself a second after it has asked, so there a wait is shorter. */
static void stopped(evn_cluster *c) { shared_stopped(c, number, 1.4, 0); }

static void stopped_lock(evn_cluster *c) { shared_stopped(c, number, 1.4, 1); }

static void dying(evn_cluster *c) { shared_dying(c, number, 0); }

static void dying_lock(evn_cluster *c) { shared_dying(c, number, 1); }

static const struct {
    const char *name;
    void (*run)(evn_cluster *c);
} others[] = {{"all", shared_run_all},    {"large", large},     {"dying", dying},
              {"dying-lock", dying_lock}, {"stopped", stopped}, {"stopped-lock", stopped_lock}};

int main(int argc, char **argv) {
    const char *what = argc > 2 ? argv[2] : "";
    void (*run)(evn_cluster * c) = NULL;
    const struct shared_case *k = shared_cases;
    evn_cluster *c;
    number = argc > 3 ? atoi(argv[3]) : 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].name, what)) run = others[i].run;
    while (k->name && strcmp(k->name, what)) k++;
    must(run || k->name);
    must_ok(evn_cluster_open(&c, argv[1]));
    if (run)
        run(c);
    else
        k->run(c, number);
    const int code = refused && !evn_cluster_rank(c) ? 2 : 0;
    evn_cluster_close(c, refused);
    return code;
}
