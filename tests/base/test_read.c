/* Reading numbers: what is one, what is said of what is none, under any locale. Run: ctest -R
 * read */
#include "session/comma.h"
#include <evener/number.h>
#include <limits.h>
#include <math.h>

#include "check.h"

static void says(const char *text, const char *why) {
    if (!strstr(evn_message(), why)) fail_msg("%s: \"%s\" is not in: %s", text, why, evn_message());
}

TEST(whole) {
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "empty"},
        {"x", "no number"},
        {" 1", "no number"},
        {"1 ", "behind the number"},
        {"12x", "\"x\" behind"},
        {"0x10", "\"x10\" behind"},
        {"1e101", "too large"},
        {"-1e101", "too small"},
        {"1.5", "not written as a whole"},
        {"1e2", "not written as a whole"},
        {"1001", "too large"},
        {"-8", "too small"},
        {"99999999999999999999999", "too large"},
        {"inf", "not finite"},
        {"NaN", "not finite"},
        {"1,5", "\",5\" behind"},
        {"-", "no number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        long n = 5;
        assert_int_equal(evn_read_whole(bad[i].text, -7, 1000, &n), EVN_USAGE);
        assert_int_equal(n, 5);
        says(bad[i].text, bad[i].why);
        says(bad[i].text, "expected a whole number from -7 to 1000");
    }
    static const struct {
        const char *text;
        long is;
    } good[] = {{"0", 0}, {"-7", -7}, {"+1000", 1000}, {"0012", 12}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        long n = 5;
        assert_ok(evn_read_whole(good[i].text, -7, 1000, &n));
        assert_int_equal(n, good[i].is);
    }
    long n = 5;
    assert_ok(evn_read_whole("9223372036854775807", 0, LONG_MAX, &n));
    assert_true(n == LONG_MAX);
    assert_int_equal(evn_read_whole("9223372036854775808", 0, LONG_MAX, &n), EVN_USAGE);
    says("LONG_MAX + 1", "too large; expected a whole number from 0");
}

TEST(real) {
    const evn_bounds above = {0, INFINITY, 1}, part = {0, 1, 0}, all = {-INFINITY, INFINITY, 0};
    static const struct {
        const char *text;
        double is;
    } good[] = {{"0.5", 0.5}, {"1e101", 1e101}, {".5", .5}, {"5.", 5}, {"+2E-3", 2e-3}};
    double x = -1;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(evn_read_real(good[i].text, above, &x));
        assert_true(x == good[i].is);
    }
    assert_ok(evn_read_real("-1e308", all, &x));
    assert_true(x == -1e308);
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"0", "too small; expected a number above 0"},
        {"-1", "too small"},
        {"1e999", "too large"},
        {"1e-999", "too small"},
        {"nan", "not finite"},
        {"-Infinity", "not finite"},
        {"0x1p3", "behind the number"},
        {"0,5", "behind the number"},
        {"1e", "\"e\" behind"},
        {".", "no number"},
        {"", "empty"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        x = -1;
        assert_int_equal(evn_read_real(bad[i].text, above, &x), EVN_USAGE);
        assert_true(x == -1);
        says(bad[i].text, bad[i].why);
    }
    assert_int_equal(evn_read_real("1.01", part, &x), EVN_USAGE);
    says("1.01", "too large; expected a number from 0 to 1");
    assert_ok(evn_read_real("0", part, &x));
    assert_ok(evn_read_real("0e-999", part, &x));
    assert_int_equal(evn_read_real("1e-999", part, &x), EVN_USAGE); /* no 0 was written */
}

TEST(units) {
    static const evn_scale times[] = {{"us", 1e-6}, {"s", 1}, {NULL, 0}};
    const evn_bounds bounds = {0, 10, 0}, above = {0, INFINITY, 1};
    double x = -1;
    assert_ok(evn_read_scaled("5us", times, bounds, &x));
    assert_true(fabs(x - 5e-6) < 1e-20);
    assert_int_equal(evn_read_scaled("5", times, bounds, &x), EVN_USAGE);
    says("5",
         "without a unit; expected a number from 0 to 10 in base units, written with one of us, s");
    assert_int_equal(evn_read_scaled("5 s", times, bounds, &x), EVN_USAGE);
    assert_int_equal(evn_read_scaled("11s", times, bounds, &x), EVN_USAGE);
    says("11s", "too large");
    static const struct {
        const char *text;
        double is;
    } size[] = {{"50MB", 5e7},
                {"1.5GiB", 1.5 * (1 << 30)},
                {"7", 7},
                {"7B", 7},
                {"2kB", 2e3},
                {"1KiB", 1024},
                {"3TB", 3e12},
                {"1TiB", 0x1p40},
                {"64MiB", 64 << 20},
                {"1e3", 1e3}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        assert_ok(evn_read_size(size[i].text, above, &x));
        assert_true(x == size[i].is);
    }
    static const char *const bad[] = {"",  "MB",   "50mb",  "50 MB", "50M",
                                      "0", "-1MB", "1e999", "inf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(evn_read_size(bad[i], above, &x), EVN_USAGE);
        says(bad[i], "expected a size above 0, as 500MB or 1.5GiB");
    }
}

TEST(lists) {
    const evn_bounds all = {-INFINITY, INFINITY, 0};
    double *list = NULL;
    int n = 0;
    assert_ok(evn_read_reals("1,-2.5,3e2", 3, all, &list, &n));
    assert_int_equal(n, 3);
    assert_true(list[0] == 1 && list[1] == -2.5 && list[2] == 3e2);
    free(list);
    list = NULL;
    assert_int_equal(evn_read_reals("1,2", 3, all, &list, &n), EVN_USAGE);
    says("1,2", "expected 3 numbers");
    static const char *const bad[] = {"", ",", "1,", "1,,2", "1,x", "1, 2", "1,inf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(evn_read_reals(bad[i], 0, all, &list, &n), EVN_USAGE);
        assert_null(list);
        says(bad[i], "item ");
    }
}

/* Half of the world has set a comma. */
TEST(locale) {
    const evn_bounds all = {-INFINITY, INFINITY, 0};
    double x = 0;
    if (!set_comma_locale()) skip();
    assert_ok(evn_read_real("0.25", all, &x));
    assert_true(x == 0.25);
    assert_int_equal(evn_read_real("0,25", all, &x), EVN_USAGE);
    setlocale(LC_ALL, "C");
}

RUN_TESTS(NULL, NULL)
