/* A machine that is a share of the node: its cores and no others, whatever the mask of the thread
 * and the places of OpenMP say. Run: ctest -R '^within'; it runs a second time with OMP_PROC_BIND
 * set, which binds the first thread to one place before main() begins. */
#include "machine_of_test.h"
#include "machine/cores.h"
#include <pthread.h>
#include <sched.h>

static evn_machine *open_share(const int *cores, int count) {
    evn_machine *share;
    assert_ok(evn_machine_open_within(&share, cores, count));
    return share;
}

/* Every core by itself: units are bound to it, and there is no second one. */
TEST(each_core) {
    for (int c = 0; c < evn_machine_cores(machine); c++) {
        const int number = evn_machine_core_number(machine, c);
        OWN(machine) *share = open_share(&number, 1);
        assert_int_equal(evn_machine_cores(share), 1);
        assert_int_equal(evn_machine_core_number(share, 0), number);
        assert_int_equal(machine_core_of(share, number), 0);
        assert_int_equal(evn_machine_about(share).here, 1);
        assert_true(evn_machine_about(share).memory == evn_machine_about(machine).memory);
        assert_true(evn_machine_about(share).packages >= evn_machine_about(machine).packages);
        evn_units *units = OPEN(units, share, "1:CPU:1", NULL, 0);
        assert_int_equal(evn_unit_core_number(evn_units_get(units, 0), 0), number);
        assert_ok(evn_units_check_binding(units));
        evn_units_close(units);
        assert_fails(evn_units_open(&units, share, "2:CPU:1", NULL, 0), EVN_USAGE, "there is 1");
        assert_fails(evn_units_open(&units, share, "1:CPU:2", NULL, 0), EVN_USAGE, "there is 1");
    }
}

/* In the machine's order, however they are given; leaders and teams are bound within. */
TEST(several) {
    if (evn_machine_cores(machine) < 2) skip();
    const int a = evn_machine_core_number(machine, 0), b = evn_machine_core_number(machine, 1);
    const int turned[] = {b, a, b};
    OWN(machine) *share = open_share(turned, 3);
    assert_int_equal(evn_machine_cores(share), 2);
    assert_int_equal(evn_machine_core_number(share, 0), a);
    assert_int_equal(evn_machine_core_number(share, 1), b);
    for (int i = 0; i < 2; i++) {
        OWN(units) *units = OPEN(units, share, i ? "2:CPU:1" : "1:CPU:2", NULL, 0);
        assert_ok(evn_units_check_binding(units));
    }
}

/* The calling thread's mask has no say. */
TEST(mask) {
    if (evn_machine_cores(machine) < 2) skip();
    const int a = evn_machine_core_number(machine, 0), b = evn_machine_core_number(machine, 1);
    cpu_set_t before, one;
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET(a, &one);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    evn_machine *share = open_share(&b, 1);
    evn_units *units = OPEN(units, share, "1:CPU:1", NULL, 0);
    assert_int_equal(evn_unit_core_number(evn_units_get(units, 0), 0), b);
    assert_ok(evn_units_check_binding(units));
    evn_units_close(units);
    evn_machine_close(share);
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);
}

/* All cores of the node: ours are among them, and numbers lead back. */
TEST(whole) {
    OWN(machine) *whole = open_share(NULL, 0);
    assert_true(evn_machine_cores(whole) >= evn_machine_cores(machine));
    for (int c = 0; c < evn_machine_cores(whole); c++)
        assert_int_equal(machine_core_of(whole, evn_machine_core_number(whole, c)), c);
    for (int c = 0; c < evn_machine_cores(machine); c++)
        assert_true(machine_core_of(whole, evn_machine_core_number(machine, c)) >= c);
    for (int level = 1; level <= 3; level++)
        assert_true(evn_machine_cache(whole, level, NULL) ==
                    evn_machine_cache(machine, level, NULL));
    assert_int_equal(machine_core_of(whole, -1), -1);
    assert_int_equal(machine_core_of(whole, 1 << 20), -1);
}

TEST(refusals) {
    evn_machine *share = machine;
    const int wrong[] = {-1, 1 << 20};
    for (int i = 0; i < 2; i++) {
        assert_fails(evn_machine_open_within(&share, &wrong[i], 1), EVN_USAGE, "on this node");
        assert_null(share);
    }
    assert_fails(evn_machine_open_within(&share, wrong, 0), EVN_USAGE, "a share of 0 cores");
    assert_fails(evn_machine_open_within(&share, wrong, -3), EVN_USAGE, "a share of -3 cores");
}

RUN_TESTS(set_up, tear_down)
