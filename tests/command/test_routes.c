/* Routes of a calibration, as runs tell them to schedules: cores share a memory, a device is a hop
 * away, and two devices are two hops apart. Run: ctest -R '^routes$' */
#include "check.h"
#include "machine/calibration.h"
#include "run/table.h"
#include <evener/schedule.h>

/* The linker wants the list of workloads; there are none. */
const struct isa workload_isas[1];
const struct workload *const *const *const workload_folders[1];

static void test_cores(void **state) {
    (void)state;
    struct calibration_routes r;
    assert_int_equal(calibration_routes_open(&r, (const double[]){0, 0, 0}, 3), 0);
    assert_int_equal(r.kinds, 0);
    assert_true(r.bandwidth == 0);
    calibration_routes_close(&r);
}

static void test_hops(void **state) {
    (void)state;
    static const double per_byte[] = {0, 0, 1e-9, 4e-9, 1e-9};
    struct calibration_routes r;
    assert_int_equal(calibration_routes_open(&r, per_byte, 5), 0);
    assert_int_equal(r.kinds, 3);
    assert_true(r.bandwidth == 1 / 4e-9);
    for (int u = 0; u < 5; u++)
        for (int v = 0; v < 5; v++) {
            const evn_route *way = &r.route[r.kind[u] * r.kinds + r.kind[v]];
            const double cost = way->per_byte[0] + (way->hops == 2 ? way->per_byte[1] : 0);
            assert_true(cost == per_byte[u] + per_byte[v]);
            assert_int_equal(way->hops, per_byte[u] > 0 && per_byte[v] > 0 ? 2 : 1);
        }
    calibration_routes_close(&r);
}

/* A chain of tasks: where units are equally fast, neighbours that exchange much are both on the
 * side of the cores, between which a face is free. */
static void test_told(void **state) {
    (void)state;
    enum { TASKS = 9 };
    static const double per_byte[] = {0, 0, 1e-3}, speed[] = {1, 1, 1};
    evn_link link[TASKS - 1];
    for (int t = 0; t + 1 < TASKS; t++)
        link[t] = (evn_link){{t, t + 1}, t == 2 || t == 5 ? 100 : 1};
    struct calibration_routes r;
    evn_schedule *s;
    assert_int_equal(calibration_routes_open(&r, per_byte, 3), 0);
    const evn_problem p = {.tasks = TASKS,
                           .links = TASKS - 1,
                           .link = link,
                           .units = 3,
                           .speed = speed,
                           .kinds = r.kinds,
                           .kind = r.kind,
                           .route = r.route};
    assert_ok(evn_schedule_open(&s, "map", &p));
    const int *owner = evn_schedule_owner(s);
    for (int t = 2; t <= 5; t += 3) assert_true((owner[t] == 2) == (owner[t + 1] == 2));
    evn_schedule_close(s);
    calibration_routes_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_hops),
        cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
