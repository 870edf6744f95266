/* Units: descriptors, leaders, teams, binding. Run: ctest -R unit; it runs a second time with
 * OMP_PROC_BIND set, since the OpenMP runtime then binds the teams of all leaders to the same
 * places. */
#include "unit/descriptor.h"
#include <evener.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static evn_machine *machine;

static int set_up(void **state) {
    (void)state;
    return evn_machine_open(&machine);
}

static int tear_down(void **state) {
    (void)state;
    evn_machine_close(machine);
    return 0;
}

static evn_units *open_or_fail(const char *list, unsigned flags) {
    evn_units *units;
    if (evn_units_open(&units, machine, list, flags)) fail_msg("%s: %s", list, evn_message());
    return units;
}

static void test_parse(void **state) {
    (void)state;
    struct unit_list list;
    assert_int_equal(unit_list_parse(&list, "4:CPU:4,2:GPU:1", 1, 0), EVN_OK);
    assert_int_equal(list.units, 6);
    assert_int_equal(list.cpus, 4);
    assert_int_equal(list.gpus, 2);
    assert_int_equal(list.cores, 18); /* each GPU unit has a core that manages it */
    assert_int_equal(list.devices, 2);
    char text[64];
    unit_list_print(&list, text, sizeof text);
    assert_string_equal(text, "4:CPU:4,2:GPU:1");
    assert_int_equal(unit_list_parse(&list, "auto", 6, 0), EVN_OK);
    unit_list_print(&list, text, sizeof text);
    assert_string_equal(text, "1:CPU:6");
    assert_int_equal(unit_list_parse(&list, "1:cpu:2", 6, 0), EVN_OK);
}

static void test_parse_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *says;
    } bad[] = {
        {"", 1, "number of units"},
        {"x", 1, "number of units"},
        {"0:CPU:1", 1, "zero units"},
        {"4:CPUS:4", 3, "unknown family \"CPUS\", expected CPU or GPU"},
        {"4", 2, "expected \":\""},
        {"4:CPU", 6, "cores of each unit"},
        {"4:CPU:", 7, "how many cores"},
        {"4:CPU:0", 7, "how many cores"},
        {"4:GPU:x", 7, "how many devices"},
        {"4:CPU:4x", 8, "expected \",\""},
        {"4:CPU:4,", 9, "number of units"},
        {"-1:CPU:1", 1, "number of units"},
        {"9999:CPU:1", 1, "number of units"},
        {"4096:CPU:1,1:CPU:1", 1, "more than 4096"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct unit_list list;
        char place[64];
        assert_int_equal(unit_list_parse(&list, bad[i].text, 4, 0), EVN_USAGE);
        snprintf(place, sizeof place, "units: \"%s\" at column %d: ", bad[i].text, bad[i].column);
        if (strncmp(evn_message(), place, strlen(place)) != 0 ||
            !strstr(evn_message(), bad[i].says))
            fail_msg("\"%s\" gives: %s", bad[i].text, evn_message());
    }
}

static void test_refusals(void **state) {
    (void)state;
    evn_units *units;
    assert_int_equal(evn_units_open(&units, machine, "4096:CPU:1", 0), EVN_USAGE);
    assert_null(units);
    assert_non_null(strstr(evn_message(), "--oversubscribe"));
    assert_int_equal(evn_units_open_on(&units, machine, "2:GPU:1", "emulated:1", 0), EVN_MISSING);
    assert_null(units);
    assert_non_null(strstr(evn_message(), "asks for 2 devices"));
    assert_int_equal(evn_units_open_on(&units, machine, "1:GPU:1", "nonsense", 0), EVN_USAGE);
    assert_null(units);
    assert_int_equal(
        evn_units_open_on(&units, machine, "2:GPU:1", "emulated:1+emulated:1,clock=virtual", 0),
        EVN_USAGE);
    assert_null(units);
    assert_non_null(strstr(evn_message(), "real and virtual clocks"));
}

/* Each GPU unit has devices and queues of its own; the leaders of GPU units may share cores. */
static void test_devices(void **state) {
    (void)state;
    evn_units *units;
    assert_int_equal(
        evn_units_open_on(&units, machine, "1:CPU:1,1:GPU:2,2:GPU:1", "emulated:memory=1MiB", 0),
        EVN_OK);
    assert_int_equal(evn_units_devices(units), 4);
    evn_unit *cpu = evn_units_get(units, 0), *pair = evn_units_get(units, 1);
    evn_unit *last = evn_units_get(units, 3);
    assert_int_equal(evn_unit_devices(cpu), 0);
    assert_null(evn_unit_device(cpu, 0));
    assert_null(evn_unit_queue(cpu, 0));
    assert_int_equal(evn_unit_devices(pair), 2);
    assert_null(evn_unit_device(pair, 2));
    assert_ptr_not_equal(evn_unit_device(pair, 0), evn_unit_device(pair, 1));
    assert_int_equal(evn_unit_device_number(pair, 1), 1);
    assert_int_equal(evn_unit_device_number(last, 0), 3);
    assert_int_equal(evn_device_traits(evn_unit_device(last, 0))->memory, 1 << 20);
    evn_units_close(units);
    /* every device asked for, also in `auto`, where they are named */
    assert_int_equal(evn_units_open_on(&units, machine, "auto", "emulated:2", 0), EVN_OK);
    assert_int_equal(evn_units_gpus(units), 2);
    assert_int_equal(evn_units_cpus(units), 1);
    evn_units_close(units);
}

static void count_calls(evn_unit *unit, void *arg) {
    atomic_int *calls = arg;
    atomic_fetch_add(&calls[evn_unit_number(unit)], 1);
}

/* Taking units away, the caller's own among them, leaves a working rest. */
static void test_remove(void **state) {
    (void)state;
    evn_units *units;
    assert_int_equal(evn_units_open_on(&units, machine, "2:GPU:1,1:CPU:2,1:GPU:1", "emulated",
                                       EVN_OVERSUBSCRIBE),
                     EVN_OK);
    evn_device *kept = evn_unit_device(evn_units_get(units, 3), 0);
    assert_int_equal(evn_units_remove(units, 4), EVN_USAGE);
    assert_int_equal(evn_units_remove(units, 1), EVN_OK);
    assert_string_equal(evn_units_text(units), "1:GPU:1,1:CPU:2,1:GPU:1");
    assert_int_equal(evn_units_remove(units, 0), EVN_OK);
    assert_string_equal(evn_units_text(units), "1:CPU:2,1:GPU:1");
    assert_ptr_equal(evn_unit_device(evn_units_get(units, 1), 0), kept);
    assert_int_equal(evn_units_devices(units), 1);
    atomic_int calls[2] = {0};
    for (int i = 0; i < 3; i++) evn_units_run(units, count_calls, calls);
    assert_int_equal(calls[0], 3);
    assert_int_equal(calls[1], 3);
    assert_int_equal(evn_units_remove(units, 1), EVN_OK);
    assert_int_equal(evn_units_remove(units, 0), EVN_USAGE);
    evn_units_close(units);
}

/* What each unit said of itself. */
struct said {
    int number[8], count[8], cores[8], cpu[8], gpu[8], device[8];
    pthread_t leader[8];
    atomic_int calls;
};

static void say(evn_unit *unit, void *arg) {
    struct said *said = arg;
    int me = evn_unit_number(unit);
    said->number[me] = me;
    said->count[me] = evn_unit_count(unit);
    said->cores[me] = evn_unit_cores(unit);
    said->cpu[me] = evn_unit_is_cpu(unit);
    said->gpu[me] = evn_unit_is_gpu(unit);
    said->device[me] = evn_unit_device_number(unit, 0);
    said->leader[me] = pthread_self();
    atomic_fetch_add(&said->calls, 1);
}

static void test_questions(void **state) {
    (void)state;
    evn_units *units = open_or_fail("3:CPU:2", EVN_OVERSUBSCRIBE);
    struct said said = {0};
    evn_units_run(units, say, &said);
    assert_int_equal(said.calls, 3);
    for (int u = 0; u < 3; u++) {
        assert_int_equal(said.number[u], u);
        assert_int_equal(said.count[u], 3);
        assert_int_equal(said.cores[u], 2);
        assert_true(said.cpu[u] && !said.gpu[u]);
        assert_int_equal(said.device[u], -1);
        for (int v = 0; v < u; v++) assert_false(pthread_equal(said.leader[u], said.leader[v]));
    }
    assert_true(pthread_equal(said.leader[0], pthread_self()));
    assert_null(evn_units_get(units, 3));
    assert_null(evn_units_get(units, -1));
    evn_units_close(units);
    units = open_or_fail("1:CPU:4,2:GPU:3", EVN_DESCRIBE_ONLY);
    assert_int_equal(evn_units_gpus(units), 2);
    assert_int_equal(evn_unit_device_number(evn_units_get(units, 2), 0), 3);
    assert_int_equal(evn_unit_cores(evn_units_get(units, 2)), 1);
    evn_units_close(units);
}

/* Every leader adds before the meeting and looks after it: whoever passes too early sees too
 * little. */
struct meeting {
    atomic_int added;
    atomic_int wrong;
    int rounds;
};

static void meet(evn_unit *unit, void *arg) {
    struct meeting *m = arg;
    for (int i = 1; i <= m->rounds; i++) {
        atomic_fetch_add(&m->added, 1);
        evn_unit_synchronize(unit);
        if (atomic_load(&m->added) != i * evn_unit_count(unit)) atomic_store(&m->wrong, 1);
        evn_unit_synchronize(unit);
    }
}

static void test_synchronize(void **state) {
    (void)state;
    static const char *const lists[] = {"1:CPU:1", "2:CPU:1", "5:CPU:1"};
    for (int i = 0; i < 3; i++) {
        evn_units *units = open_or_fail(lists[i], EVN_OVERSUBSCRIBE);
        struct meeting m = {.rounds = 2000};
        evn_units_run(units, meet, &m);
        assert_int_equal(m.wrong, 0);
        evn_units_close(units);
    }
}

/* Each thread of each team must be bound to its own core, and the caller gets its own binding back.
 */
static void test_binding(void **state) {
    (void)state;
    cpu_set_t before, after;
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    char list[32];
    int cores = evn_machine_cores(machine);
    snprintf(list, sizeof list, "1:CPU:%d", cores);
    const char *const lists[] = {list, "2:CPU:1"};
    for (int i = 0; i < (cores > 1 ? 2 : 1); i++) {
        evn_units *units = open_or_fail(lists[i], 0);
        if (evn_units_check_binding(units)) fail_msg("%s: %s", lists[i], evn_message());
        int core[2] = {evn_unit_core_number(evn_units_get(units, 0), 0), -1};
        if (i) core[1] = evn_unit_core_number(evn_units_get(units, 1), 0);
        assert_int_not_equal(core[0], core[1]);
        evn_units_close(units);
    }
    pthread_getaffinity_np(pthread_self(), sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
}

/* check_binding must notice a thread that has gone elsewhere. */
static void go_astray(evn_unit *unit, void *arg) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &all);
    if (evn_unit_number(unit) == *(int *)arg)
        pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

static void test_binding_is_checked(void **state) {
    (void)state;
    if (evn_machine_cores(machine) < 2) skip();
    evn_units *units = open_or_fail("2:CPU:1", 0);
    int who = 1;
    evn_units_run(units, go_astray, &who);
    assert_int_equal(evn_units_check_binding(units), EVN_SYSTEM);
    assert_non_null(strstr(evn_message(), "unit 1"));
    evn_units_close(units);
}

static void test_synthetic(void **state) {
    (void)state;
    evn_machine *m;
    assert_int_equal(evn_machine_open_synthetic(&m, "package:2 l3:1 core:16 pu:2"), EVN_OK);
    assert_int_equal(evn_machine_cores(m), 32);
    assert_int_equal(evn_machine_packages(m), 2);
    assert_false(evn_machine_is_here(m));
    evn_units *units;
    assert_int_equal(evn_units_open(&units, m, "4:CPU:8", 0), EVN_OK);
    assert_int_equal(evn_units_count(units), 4);
    evn_units_close(units);
    evn_machine_close(m);
    assert_int_equal(evn_machine_open_synthetic(&m, "hoof:4"), EVN_USAGE);
    assert_null(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_remove),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_synchronize),
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_binding_is_checked),
        cmocka_unit_test(test_synthetic),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
