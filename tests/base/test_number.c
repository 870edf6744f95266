/* Numbers are read and written with a point, in a locale that has a comma too: by the library's own
 * functions, in specifications of devices and schedules, in what schedules tell, in messages and in
 * JSON. Run: ctest -R number */
#include "check.h"
#include "base/number.h"
#include "session/comma.h"
#include "trace/json.h"
#include <math.h>

TEST(reading) {
    static const struct {
        const char *text;
        enum number_fault fault;
        double value;
        const char *rest;
    } cases[] = {
        {"8", NUMBER_FINE, 8, ""},
        {"0.5", NUMBER_FINE, 0.5, ""},
        {"12.5GB/s", NUMBER_FINE, 12.5, "GB/s"},
        {"1e-3+2", NUMBER_FINE, 1e-3, "+2"},
        {"0,5", NUMBER_FINE, 0, ",5"},
        {"1e", NUMBER_FINE, 1, "e"},
        {"1e101", NUMBER_FINE, 1e101, ""},
        {"1e999", NUMBER_LARGE, INFINITY, ""},
        {"1e-999", NUMBER_FINE, 0, ""},
        {"", NUMBER_NONE, 7, ""},
        {"-1", NUMBER_NONE, 7, "-1"},
        {"+1", NUMBER_NONE, 7, "+1"},
        {" 1", NUMBER_NONE, 7, " 1"},
        {"nan", NUMBER_NONE, 7, "nan"},
        {"inf", NUMBER_NONE, 7, "inf"},
        {"0x10", NUMBER_NONE, 7, "0x10"},
        {".5", NUMBER_NONE, 7, ".5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *p = cases[i].text;
        double value = 7;
        assert_int_equal(number_read(&p, &value), cases[i].fault);
        assert_true(value == cases[i].value);
        assert_string_equal(p, cases[i].rest);
    }
}

TEST(checking) {
    double x = 7;
    assert_null(number_check("0.5", 0, 1, &x));
    assert_true(x == 0.5);
    assert_string_equal(number_check("1e101", 0, 1e100, &x), "is too large");
    assert_string_equal(number_check("1e999", 0, INFINITY, &x), "is too large");
    assert_string_equal(number_check("0.5", 1, 2, &x), "is too small");
    assert_string_equal(number_check("0.5x", 0, 1, &x), "has something behind the number");
    assert_string_equal(number_check("x", 0, 1, &x), "is no number");
    assert_string_equal(number_check(NULL, 0, 1, &x), "is no number");
    assert_true(x == 0.5);
}

/* What all parts of the library do with numbers. */
static void see_points(void) {
    const evn_problem p = {.tasks = 3, .units = 2};
    char text[64];
    int count;
    assert_ok(evn_devices_count("emulated:speed=0.5,latency=1.5us", &count, text, sizeof text));
    assert_fails(evn_devices_count("emulated:speed=2.5", &count, text, sizeof text), EVN_USAGE,
                 "speed");
    evn_device *d = OPEN(device, "emulated:speed=0.25", 0);
    assert_non_null(strstr(evn_device_traits(d)->name, "0.25"));
    evn_device_close(d);
    evn_schedule *s = OPEN(schedule, "weighted:speed=1.5+2.5", &p);
    assert_int_equal(evn_schedule_owner(s)[0], 0);
    assert_int_equal(evn_schedule_owner(s)[2], 1);
    char *why = evn_schedule_explain(s);
    assert_non_null(strstr(why, "."));
    free(why);
    evn_schedule_close(s);
    if (!evn_schedule_open(&s, "optimal:limit=2.5,gap=0.125", &p)) { /* where there is CBC */
        assert_string_equal(evn_schedule_text(s), "optimal:limit=2.5,gap=0.125");
        evn_schedule *again = OPEN(schedule, evn_schedule_text(s), &p);
        evn_schedule_close(again);
        evn_schedule_close(s);
    }
    evn_fail(EVN_BODY, "%g of %.2f", 0.5, 1.25);
    assert_string_equal(evn_message(), "0.5 of 1.25");
    number_print(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0.5");
    HEAP char *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    json_number(out, 0.5);
    fputc(' ', out);
    json_fixed(out, 71.06, 3);
    fclose(out);
    assert_string_equal(json, "0.5 71.060");
}

TEST(points) { see_points(); }

TEST(comma) {
    if (!set_comma_locale()) skip();
    test_reading(state);
    test_checking(state);
    see_points();
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* the program's locale is as it was */
    setlocale(LC_ALL, "C");
}

RUN_TESTS(NULL, NULL)
