/* The log of decisions, EVENER_LOG: a table (session/decisions.c) that a program of the archive
 * links where something refers to it (everything.c). While the log is off a decision costs a look
 * at one word. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <evener/schedule.h>
#include <stdatomic.h>

struct evn_loop;
struct evn_exchange;
struct evn_schedule;

enum topic { OF_LOOPS = 1, OF_EXCHANGES = 2, OF_SCHEDULES = 4 };

struct decisions {
    atomic_uint *wanted; /* topics */
    /* Reads the variable. EVN_USAGE: a word in it is no topic. */
    evn_status (*read)(void);
    /* The process's rank among several, by which lines begin from now on; -1: it is alone. */
    void (*join)(int rank);
    /* A line each: the next instance has other owners, or chunks that are drawn; messages of a new
     * plan; what has become of a schedule, from a loop's opening on (`event` NULL). */
    void (*loop)(const struct evn_loop *loop, int chunk, const int *next);
    void (*exchange)(const struct evn_exchange *exchange, int mended);
    void (*schedule)(struct evn_schedule *schedule, const char *event);
};

extern const struct decisions decisions __attribute__((weak));

static inline int decisions_wanted(enum topic topic) {
    return &decisions && (atomic_load_explicit(decisions.wanted, memory_order_relaxed) & topic);
}
