/* What tests have in common: cmocka with the headers it wants before it, calls of the library that
 * must succeed or fail in a certain way, and the device that a test runs on.
 *
 * EVENER_TEST_DEVICE=SPECIFICATION is that device; two emulated ones where it is not set. Where
 * there is none the test is skipped: exit status 77, with the reason in a line. */
#pragma once

#include <evener/device.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "own.h"

enum { SKIPPED = 77 };

/* 1 where this is built with it. */
#if defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define THREAD_SANITIZER 1
#    endif
#elif defined(__SANITIZE_THREAD__)
#    define THREAD_SANITIZER 1
#endif
#ifndef THREAD_SANITIZER
#    define THREAD_SANITIZER 0
#endif

/* TEST(name) { .. } is a test, TEST_WITH() one between two functions of cmocka's; RUN_TESTS(before,
 * after) is a main() that runs them in the order of their lines, between two for all. Its argument:
 * a filter of names. */
static struct CMUnitTest tests_of_program[200];
static size_t tests_count;

#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, before, after)                                                             \
    static void test_##name(void **state);                                                         \
    __attribute__((constructor(200 + __LINE__))) static void add_##name(void) {                    \
        tests_of_program[tests_count++] =                                                          \
            (struct CMUnitTest){"test_" #name, test_##name, before, after, NULL};                  \
    }                                                                                              \
    static void test_##name(__attribute__((unused)) void **state)

static inline int run_all_tests(CMFixtureFunction before, CMFixtureFunction after) {
    return _cmocka_run_group_tests("tests", tests_of_program, tests_count, before, after);
}
#define RUN_TESTS(before, after)                                                                   \
    int main(int argc, char **argv) {                                                              \
        if (argc > 1) cmocka_set_test_filter(argv[1]);                                             \
        return run_all_tests(before, after);                                                       \
    }

/* The call returns EVN_OK. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        evn_status status_ = (call);                                                               \
        if (status_) fail_msg("%s: %s: %s", #call, evn_status_text(status_), evn_message());       \
    } while (0)

static inline void ok(evn_status status) {
    if (status) fail_msg("%s", evn_message());
}

/* The last failure's message has this in it. */
#define assert_says(part)                                                                          \
    do {                                                                                           \
        if (!strstr(evn_message(), part)) fail_msg("\"%s\" is not in: %s", part, evn_message());   \
    } while (0)

/* The call fails with this status, and the message has this in it. */
#define assert_fails(call, status, part)                                                           \
    do {                                                                                           \
        assert_int_equal(call, status);                                                            \
        assert_says(part);                                                                         \
    } while (0)

/* The child ends with exit status 0. */
static inline void assert_ends_well(pid_t child) {
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
}

static inline const char *test_device(void) {
    const char *chosen = getenv("EVENER_TEST_DEVICE");
    return chosen && *chosen ? chosen : "emulated:2";
}

/* 0 and how many devices there are, with a line that says so, and whether the host's bits are to be
 * expected of `kernels`; else what main() returns, with a line that says why. */
static inline int test_devices(const evn_kernel_source *kernels, int *devices) {
    int count = 0;
    char why[512] = "";
    if (evn_devices_count(test_device(), &count, why, sizeof why)) {
        printf("%s\n", evn_message());
        return 1;
    }
    if (!count) {
        printf("skipped: no device \"%s\": %s\n", test_device(), why);
        return SKIPPED;
    }
    printf("on %s (%d), %s\n", test_device(), count,
           kernels->contract ? "fused: equal to rounding" : "not fused: the host's bits");
    if (devices) *devices = count;
    return 0;
}
