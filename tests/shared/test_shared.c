/* One-sided memory of one process, of forked ones and of threads, also over an emulated wire. Run:
 * ctest -R '^shared$'; a rank that
 * dies, and MPI: ctest -R '^shared-'. */
#include "check.h"
#include "shared/cases.h"
#include "wire/ranks.h"
#include <unistd.h>

static void test_alone(void **state) {
    evn_cluster *c;
    (void)state;
    assert_ok(evn_cluster_open(&c, "alone"));
    shared_run_all(c);
    evn_cluster_close(c, EVN_OK);
}

static void test_processes(void **state) {
    static const int ranks[] = {1, 2, 3, 5, 8};
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        assert_int_equal(ranks_of_cluster(0, ranks[i], shared_run_all), 0);
}

static void test_threads(void **state) {
    (void)state;
    for (int ranks = 2; ranks <= 5; ranks += 3)
        assert_int_equal(ranks_of_cluster(1, ranks, shared_run_all), 0);
}

/* Runs rank_main over what evn_cluster_open() understands; returns the run's status. */
static int run_how(const char *how, void (*rank_main)(evn_cluster *cluster)) {
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        evn_cluster *c;
        must_ok(evn_cluster_open(&c, how));
        rank_main(c);
        evn_cluster_close(c, EVN_OK);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- an emulated wire: nobody sees another's memory, and nothing is early ---- */

static const double LATENCY = 5e-3, BANDWIDTH = 1e8;

static void late(evn_cluster *c) {
    enum { BYTES = 200000 };
    const int me = evn_cluster_rank(c);
    OWN(shared) *s;
    HEAP char *data = calloc(1, BYTES);
    must(data);
    must_ok(evn_shared_open(&s, c, &(evn_shared_shape){.bytes = BYTES + 8, .signals = 2}));
    must(evn_shared_pointer(s, me) && !evn_shared_pointer(s, 1 - me));
    for (int i = 1; i <= 5; i++) {
        if (me) {
            double sent = evn_now();
            must_ok(evn_shared_put(s, 0, 0, &sent, sizeof sent));
            must_ok(evn_shared_put_signal(s, 0, 8, data, BYTES, 0));
            must_ok(evn_shared_wait(s, 0, 1, (unsigned long long)i));
            sent = evn_now();
            must_ok(evn_shared_put(s, 0, 8, data, BYTES));
            must_ok(evn_shared_flush(s, 0));
            must(evn_now() - sent >= LATENCY + BYTES / BANDWIDTH);
        } else {
            must_ok(evn_shared_wait(s, 1, 0, (unsigned long long)i));
            must(evn_now() - *(double *)evn_shared_memory(s) >= LATENCY + BYTES / BANDWIDTH);
            must_ok(evn_shared_raise(s, 1, 1));
        }
    }
    evn_shared_counts n;
    evn_shared_count(s, &n);
    must(n.near_puts == 0 && n.far_puts == (me ? 15 : 0));
}

static void test_emulated(void **state) {
    (void)state;
    assert_int_equal(run_how("processes:2,latency=5ms,bandwidth=100MB/s", late), 0);
    assert_int_equal(run_how("processes:3,latency=2us", shared_run_all), 0);
}

/* ---- memory comes back ---- */

static void again(evn_cluster *c) {
    for (int i = 0; i < 200; i++) {
        OWN(shared) *s;
        /* twice the machine's memory in all, were it not given back */
        const size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * 4096 / 100 / 2;
        must_ok(evn_shared_open(&s, c, &(evn_shared_shape){.bytes = bytes, .signals = 1}));
        unsigned char *mine = evn_shared_memory(s);
        must(!mine[0] && !mine[bytes / 2] && !mine[bytes - 1]);
        mine[0] = mine[bytes / 2] = mine[bytes - 1] = 1;
    }
}

static void test_again(void **state) {
    (void)state;
    assert_int_equal(ranks_of_cluster(0, 2, again), 0);
}

/* ---- what ends a wait ---- */

static void stopped(evn_cluster *c) { shared_stopped(c, 0, 0, 0); }

static void stopped_far(evn_cluster *c) { shared_stopped(c, 1, 0, 0); }

static void stopped_lock(evn_cluster *c) { shared_stopped(c, 0, 0, 1); }

static void test_stopped(void **state) {
    (void)state;
    assert_int_equal(ranks_of_cluster(0, 3, stopped), 0);
    assert_int_equal(ranks_of_cluster(0, 3, stopped_far), 0);
    assert_int_equal(ranks_of_cluster(0, 3, stopped_lock), 0);
    assert_int_equal(run_how("processes:2,latency=5us", stopped), 0);
    assert_int_equal(run_how("alone", stopped), 0);
}

int main(void) {
    const struct CMUnitTest of_threads[] = {cmocka_unit_test(test_alone),
                                            cmocka_unit_test(test_threads)};
    const struct CMUnitTest of_processes[] = {
        cmocka_unit_test(test_processes), cmocka_unit_test(test_emulated),
        cmocka_unit_test(test_again), cmocka_unit_test(test_stopped)};
    /* forked first: processes are made of one that has no threads yet */
    int failed = 0;
    if (!THREAD_SANITIZER) failed += cmocka_run_group_tests(of_processes, NULL, NULL);
    return failed + cmocka_run_group_tests(of_threads, NULL, NULL);
}
