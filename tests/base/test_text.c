/* Reading numbers and specifications; words from outside in messages. Run: ctest -R text */
#include "base/text.h"
#include <evener/text.h>
#include <limits.h>

#include "check.h"

TEST(number) {
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

TEST(spec) {
    evn_spec spec;
    assert_ok(evn_spec_parse(&spec, "thing", "name:a=1,b,c=x=y"));
    assert_string_equal(spec.name, "name");
    assert_int_equal(spec.options, 3);
    assert_string_equal(spec.option[0].key, "a");
    assert_string_equal(spec.option[0].value, "1");
    assert_string_equal(spec.option[1].key, "b");
    assert_null(spec.option[1].value);
    assert_string_equal(spec.option[2].value, "x=y");
    assert_ok(evn_spec_parse(&spec, "thing", "name"));
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

TEST(message) {
    assert_int_equal(evn_fail(EVN_USAGE, "inner %d", 1), EVN_USAGE);
    evn_fail(EVN_BODY, "outer: %s", evn_message()); /* the old message inside of the new one */
    assert_string_equal(evn_message(), "outer: inner 1");
    assert_string_equal(evn_status_text(EVN_OK), "done");
    assert_non_null(evn_status_text((evn_status)99));
}

TEST(utf8) {
    static const struct {
        const char *text;
        int bytes;
    } c[] = {{"a", 1},
             {"", 1},
             {"\xc3\xa4", 2},
             {"\xe2\x82\xac", 3},
             {"\xf0\x9f\x98\x80", 4},
             {"\x80", 0},
             {"\xc0\x80", 0},
             {"\xe0\x80\x80", 0},
             {"\xed\xa0\x80", 0},
             {"\xf4\x90\x80\x80", 0},
             {"\xe2\x82", 0},
             {"\xff", 0},
             {"\xc3", 0},
             {"\xf0\x9f\x98", 0}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        assert_int_equal(evn_utf8(c[i].text), c[i].bytes);
}

TEST(plain) {
    static const char *const c[][2] = {
        {"run: \"x\" is none", "run: \"x\" is none"},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
        {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xff\xc3(", "\\xff\\xc3("},
        {"\xc2\x9b"
         "2J",
         "\\xc2\\x9b2J"}, /* a control character of C1 */
        {"\xe2\x80\xae"
         "drow",
         "\\xe2\\x80\\xaedrow"}, /* from right to left */
        {"", ""},
    };
    char out[1024], again[1024];
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        assert_string_equal(evn_plain(out, sizeof out, c[i][0]), c[i][1]);
        assert_string_equal(evn_plain(again, sizeof again, out), c[i][1]);
    }
}

/* Of a long word the beginning, the end and the length are left, whatever it is made of. */
TEST(plain_long_word) {
    enum { LONG = 131072 };
    char *text = malloc(LONG + 100), out[1024], again[1024];
    assert_non_null(text);
    static const char *const with[] = {"x", "\x1b", "\xc3\xa4", "\xff"};
    for (size_t w = 0; w < sizeof with / sizeof *with; w++) {
        const size_t bytes = strlen(with[w]), begin = (size_t)sprintf(text, "mesh: \"first");
        for (size_t at = 0; at < LONG; at += bytes) memcpy(text + begin + at, with[w], bytes);
        strcpy(text + begin + LONG, "last\" is none, expected a file");
        evn_plain(out, sizeof out, text);
        assert_in_range(strlen(out), 200, 320);
        assert_int_equal(strncmp(out, "mesh: \"first", 12), 0);
        assert_non_null(strstr(out, "(131083 bytes)"));
        assert_non_null(strstr(out, "last\" is none, expected a file"));
        for (const char *p = out; *p; p += evn_utf8(p)) assert_int_not_equal(evn_utf8(p), 0);
        assert_string_equal(evn_plain(again, sizeof again, out), out);
    }
    free(text);
}

/* Many words lose those in the middle; nothing is written beyond `size`. */
TEST(plain_size) {
    char text[3000], out[64];
    for (size_t i = 0; i < sizeof text; i++) text[i] = i % 7 ? 'w' : ' ';
    memcpy(text, "begin", 5);
    strcpy(text + sizeof text - 4, "end");
    for (size_t size = 1; size <= sizeof out; size++) {
        memset(out, '#', sizeof out);
        evn_plain(out, size, text);
        assert_in_range(strlen(out), 0, size - 1);
        for (size_t i = size; i < sizeof out; i++) assert_int_equal(out[i], '#');
    }
    assert_int_equal(strncmp(out, "begin", 5), 0);
    assert_non_null(strstr(out, " .. "));
    assert_string_equal(out + strlen(out) - 3, "end");
}

/* A message of any length keeps what was right to say at its end. */
TEST(long_message) {
    char *word = malloc(131073);
    assert_non_null(word);
    memset(word, 'z', 131072);
    word[131072] = 0;
    evn_fail(EVN_USAGE, "thing: \"%s\" is none, expected another\x1b[2J", word);
    free(word);
    assert_in_range(strlen(evn_message()), 100, 400);
    assert_says("is none, expected another\\x1b[2J");
    evn_fail(EVN_BODY, "again: %s", evn_message());
    assert_int_equal(strncmp(evn_message(), "again: thing: \"zzz", 18), 0);
    assert_says("is none, expected another\\x1b[2J");
}

RUN_TESTS(NULL, NULL)
