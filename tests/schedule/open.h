/* What tests of schedules have in common: a sequence of numbers, and schedules that must open. */
#ifndef TEST_SCHEDULE_OPEN_H
#define TEST_SCHEDULE_OPEN_H

#include "check.h"

#include <evener/plugin.h>
#include <evener/schedule.h>

/* A reproducible sequence of numbers in [0, 1). */
static inline double draw(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Whether the library of schedule `name` is here (map: Scotch; optimal: CBC). */
static inline int has_library(const char *name) {
    const char *library;
    char text[256];
    return !evn_schedule_library(name, &library, text, sizeof text);
}

static inline evn_schedule *open_or_fail(const char *text, const evn_problem *p) {
    evn_schedule *s;
    if (evn_schedule_open(&s, text, p)) fail_msg("%s: %s", text, evn_message());
    return s;
}

#endif
