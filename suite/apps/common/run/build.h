/* The build's commit, date and flags, for records and printed results. */
#pragma once

extern const struct build {
    const char *compiler, *flags;
    const char *commit, *date; /* date: 2026-01-31; both "unknown" without git */
} build;
