/* Operations in virtual time: order on a lane, what waits for what, lags, contexts, and where a
 * thread's time goes.
 *
 * Run: ctest -R '^timeline$' */
#include "common/run/timeline.h"
#include "check.h"

static void assert_near(double is, double expected) {
    assert_true(is > expected - 1e-12 && is < expected + 1e-12);
}

/* One at a time, in the order in which they could begin, not in that in which they were given. */
TEST(lane) {
    ENDS(timeline_close) struct timeline t;
    assert_int_equal(timeline_open(&t, 1, 1), 0);
    const int late = timeline_add(&t, -1, -1, 2), behind = timeline_add(&t, 0, -1, 5);
    const int early = timeline_add(&t, 0, -1, 3), next = timeline_add(&t, 0, -1, 1);
    timeline_after(&t, behind, late, 0);
    assert_int_equal(timeline_run(&t), 0);
    assert_near(t.op[early].end, 3);
    assert_near(t.op[next].end, 4);
    assert_near(t.op[behind].end, 9);
    assert_near(t.end, 9);
}

/* A message is taken while it is sent, a little later, and one after another where two come. */
TEST(lag) {
    ENDS(timeline_close) struct timeline t;
    assert_int_equal(timeline_open(&t, 3, 1), 0);
    int in[2];
    for (int i = 0; i < 2; i++) {
        const int out = timeline_add(&t, i, -1, 4);
        in[i] = timeline_add(&t, 2, -1, 4);
        timeline_after(&t, in[i], out, 0.5 - 4);
    }
    assert_int_equal(timeline_run(&t), 0);
    assert_near(t.op[in[0]].end, 4.5);
    assert_near(t.op[in[1]].end, 8.5);
}

/* Two lanes of a set: side by side for one context, one after another and dearer for two. */
TEST(contexts) {
    for (int two = 0; two < 2; two++) {
        ENDS(timeline_close) struct timeline t;
        assert_int_equal(timeline_open(&t, 2, 1), 0);
        t.switch_s = 0.25;
        t.set[1] = 0;
        timeline_add(&t, 0, 0, 2);
        timeline_add(&t, 1, two, 3);
        assert_int_equal(timeline_run(&t), 0);
        assert_near(t.end, two ? 5.25 : 3);
    }
}

/* A thread's steps follow each other, and its waiting is what it waits for. */
TEST(thread) {
    ENDS(timeline_close) struct timeline t;
    assert_int_equal(timeline_open(&t, 2, 2), 0);
    timeline_step(&t, 1, 1, TIME_COMPUTE, 1);
    const int put = timeline_add(&t, -1, -1, 6);
    timeline_after(&t, put, t.last[1], 0);
    timeline_after(&t, timeline_step(&t, 1, -1, TIME_PUTS, 0), put, 0);
    timeline_step(&t, 1, 1, TIME_COPIES, 2);
    assert_int_equal(timeline_run(&t), 0);
    const double expected[TIME_GROUPS] = {1, 2, 6, 0};
    for (int g = 0; g < TIME_GROUPS; g++) {
        assert_near(t.spent[g], 0);
        assert_near(t.spent[TIME_GROUPS + g], expected[g]);
    }
}

TEST(circle) {
    ENDS(timeline_close) struct timeline t;
    assert_int_equal(timeline_open(&t, 1, 1), 0);
    const int a = timeline_add(&t, 0, -1, 1), b = timeline_add(&t, 0, -1, 1);
    timeline_after(&t, a, b, 0);
    timeline_after(&t, b, a, 0);
    assert_int_equal(timeline_run(&t), -1);
}

RUN_TESTS(NULL, NULL)
