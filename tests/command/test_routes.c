/* Routes of a calibration, as runs tell them to schedules: cores share a memory, a device is a hop
 * away, and two devices are two hops apart. Run: ctest -R '^routes$' */
#include "check.h"
#include "machine/calibration.h"
#include "run/table.h"

/* The linker wants the list of workloads; there are none. */
const struct isa workload_isas[1];
const struct workload *const *const *const workload_folders[1];

static void test_cores(void **state) {
    (void)state;
    ENDS(calibration_routes_close) struct calibration_routes r;
    assert_int_equal(calibration_routes_open(&r, (const double[]){0, 0, 0}, 3), 0);
    assert_int_equal(r.kinds, 0);
    assert_true(r.bandwidth == 0);
}

static void test_hops(void **state) {
    (void)state;
    static const double per_byte[] = {0, 0, 1e-9, 4e-9, 1e-9};
    ENDS(calibration_routes_close) struct calibration_routes r;
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
}

/* Bytes a step that cross to or from a unit. */
static double across(const evn_problem *p, const int *owner, int unit) {
    double bytes = 0;
    for (int l = 0; l < p->links; l++) {
        const int a = owner[p->link[l].task[0]], b = owner[p->link[l].task[1]];
        if (a != b && (a == unit || b == unit)) bytes += p->link[l].bytes;
    }
    return bytes;
}

/* Three pairs of tasks, of which the last exchanges most with the others: where all routes are
 * alike it goes to the last unit, and to a core where that is a device. */
static void test_told(void **state) {
    (void)state;
    static const double per_byte[] = {0, 0, 1e-3};
    static const evn_link link[] = {{{0, 1}, 10}, {{2, 3}, 10}, {{4, 5}, 10},
                                    {{4, 0}, 8},  {{5, 2}, 8},  {{1, 3}, 1}};
    evn_problem p = {.tasks = 6, .links = 6, .link = link, .units = 3};
    ENDS(calibration_routes_close) struct calibration_routes r;
    assert_int_equal(calibration_routes_open(&r, per_byte, 3), 0);
    for (int told = 0; told < 2; told++) {
        if (told) {
            p.kinds = r.kinds;
            p.kind = r.kind;
            p.route = r.route;
        }
        OWN(schedule) *s = OPEN(schedule, "map", &p);
        assert_true(across(&p, evn_schedule_owner(s), 2) == (told ? 9 : 16));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_hops),
        cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
