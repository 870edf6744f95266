/* Reading numbers and specifications. Run: ctest -R text */
#include "base/text.h"
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_number(void **state) {
    (void)state;
    long n = -7;
    const char *p = "12,3";
    assert_true(evn_text_number(&p, 100, &n));
    assert_int_equal(n, 12);
    assert_string_equal(p, ",3");
    static const char *const bad[] = {"", "x", "-1", "+1", " 1", "101", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p = bad[i];
        assert_false(evn_text_number(&p, 100, &n));
        assert_ptr_equal(p, bad[i]);
    }
    p = "3";
    assert_false(evn_text_number(&p, 2, &n)); /* a bound below 10 */
    p = "9223372036854775807";
    assert_true(evn_text_number(&p, LONG_MAX, &n));
    assert_true(n == LONG_MAX);
    p = "9223372036854775808";
    assert_false(evn_text_number(&p, LONG_MAX, &n));
}

static void test_spec(void **state) {
    (void)state;
    evn_spec spec;
    assert_int_equal(evn_spec_parse(&spec, "thing", "name:a=1,b,c=x=y"), EVN_OK);
    assert_string_equal(spec.name, "name");
    assert_int_equal(spec.options, 3);
    assert_string_equal(spec.option[0].key, "a");
    assert_string_equal(spec.option[0].value, "1");
    assert_string_equal(spec.option[1].key, "b");
    assert_null(spec.option[1].value);
    assert_string_equal(spec.option[2].value, "x=y");
    assert_int_equal(evn_spec_parse(&spec, "thing", "name"), EVN_OK);
    assert_int_equal(spec.options, 0);
    char longest[400];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    static const char *const bad[] = {"name:", "name:a,", "name:,a",
                                      "n:a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(evn_spec_parse(&spec, "thing", bad[i]), EVN_USAGE);
    assert_int_equal(evn_spec_parse(&spec, "thing", longest), EVN_USAGE);
}

static void test_message(void **state) {
    (void)state;
    assert_int_equal(evn_fail(EVN_USAGE, "inner %d", 1), EVN_USAGE);
    evn_fail(EVN_BODY, "outer: %s", evn_message()); /* the old message inside of the new one */
    assert_string_equal(evn_message(), "outer: inner 1");
    assert_string_equal(evn_status_text(EVN_OK), "done");
    assert_non_null(evn_status_text((evn_status)99));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
