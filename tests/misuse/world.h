/* What wrong calls are made on: one of everything that the library opens; and how a call is written
 * down.
 *
 * A list of calls is a function that makes the one of number `row` (it ends by CALLS_END) and says
 * whether the library has answered as it must: with the right value, and a new message that has a
 * certain word in it. A refused call leaves its world as it is, and they all are made in one; calls
 * in parentheses, and those that succeed or fail otherwise, each have a world of their own. */
#pragma once

#include <evener.h>
#include <evener/crew.h>
#include <evener/device.h>
#include <evener/model.h>
#include <evener/recover.h>
#include <evener/schedule.h>
#include <string.h>

#include "own.h"

enum { TASKS = 6, VALUES = 8, BYTES = VALUES * sizeof(double) };

extern const evn_kernel_source probe_kernels;

struct world {
    int of_one; /* it is for one of the calls that have their own */
    evn_machine *machine;
    evn_units *units, *other; /* on cores and two devices; on cores */
    evn_units *described, *described_cores;
    evn_unit *cpu, *gpu;
    evn_session *session;
    evn_cluster *cluster; /* of one rank */
    evn_crew *crew;
    /* of a device */
    evn_device *device, *device2;
    evn_queue *queue, *queue2;
    evn_buffer *buffer, *buffer2;
    evn_event *event;
    evn_kernel *kernel;
    /* a place; `held` is acquired on the host */
    evn_place *place;
    int region[TASKS], held, made, absent, space;
    double block[TASKS + 2][VALUES];
    /* schedules for the units, and a loop with regions and one without */
    evn_schedule *schedule, *plain_schedule, *of_three;
    evn_loop *loop, *plain_loop, *session_loop;
    evn_exchange *exchange;
    evn_recovery *recovery;
    evn_model model;
    evn_simulation *simulation;
    /* where things can be put */
    int ints[64];
    double doubles[64];
    void *pointer;
    size_t size;
    char text[64];
};

void open_world(struct world *w);

/* The last two: the call wants another world; the list has no call of this number. */
enum { RIGHT, WRONG, ELSEWHERE, NO_SUCH_ROW };

/* An old message, which the call must replace. */
void begin_call(void);

/* RIGHT if `is_right` and the message is a new one that has `says` in it; else WRONG, with a line
 * that says of `call` what is wrong. */
int end_call(const char *call, int is_right, const char *says);

/* The same for a call that is right as it is: it need not leave a message. */
int end_fine(const char *call, int is_right);

#define ROW(changes, call)                                                                         \
    if (row-- == 0 && w->of_one != ((changes) || *(call) == '(')) return ELSEWHERE;                \
    if (row == -1)

/* A status; EVN_USAGE; a value; zeros; not a number; an empty text; nothing at all. Each with a
 * message. */
#define FAILS(status, says, ...)                                                                   \
    ROW((status) != EVN_USAGE, #__VA_ARGS__) {                                                     \
        begin_call();                                                                              \
        const evn_status got_ = (__VA_ARGS__);                                                     \
        return end_call(#__VA_ARGS__, got_ == (status), says);                                     \
    }
#define USAGE(says, ...) FAILS(EVN_USAGE, says, __VA_ARGS__)
#define GIVES(value, says, ...)                                                                    \
    ROW(0, #__VA_ARGS__) {                                                                         \
        begin_call();                                                                              \
        const int same_ = (__VA_ARGS__) == (value);                                                \
        return end_call(#__VA_ARGS__, same_, says);                                                \
    }
#define ZEROS(type, says, ...)                                                                     \
    ROW(0, #__VA_ARGS__) {                                                                         \
        begin_call();                                                                              \
        const type got_ = (__VA_ARGS__), zeros_ = {0};                                             \
        return end_call(#__VA_ARGS__, !memcmp(&got_, &zeros_, sizeof got_), says);                 \
    }
#define NO_NUMBER(says, ...)                                                                       \
    ROW(0, #__VA_ARGS__) {                                                                         \
        begin_call();                                                                              \
        const double got_ = (__VA_ARGS__);                                                         \
        return end_call(#__VA_ARGS__, got_ != got_, says);                                         \
    }
#define EMPTY(says, ...)                                                                           \
    ROW(0, #__VA_ARGS__) {                                                                         \
        begin_call();                                                                              \
        const char *got_ = (__VA_ARGS__);                                                          \
        return end_call(#__VA_ARGS__, got_ && !*got_, says);                                       \
    }
#define SAYS(says, ...)                                                                            \
    ROW(0, #__VA_ARGS__) {                                                                         \
        begin_call();                                                                              \
        __VA_ARGS__;                                                                               \
        return end_call(#__VA_ARGS__, 1, says);                                                    \
    }
/* Documented as harmless, without a message. */
#define FINE(...)                                                                                  \
    ROW(0, #__VA_ARGS__) {                                                                         \
        __VA_ARGS__;                                                                               \
        return RIGHT;                                                                              \
    }
#define IS(value, ...)                                                                             \
    ROW(!strcmp(#value, "EVN_OK"), #__VA_ARGS__) {                                                 \
        const int same_ = (__VA_ARGS__) == (value);                                                \
        return end_fine(#__VA_ARGS__, same_);                                                      \
    }
#define CALLS_END return NO_SUCH_ROW;

/* The lists; that of NULL is written by null_calls.py. */
typedef int calls(struct world *w, int row);
calls calls_null;
calls calls_status, calls_machine, calls_units, calls_unit, calls_crew;
calls calls_device, calls_memory, calls_copies, calls_kernels, calls_events;
calls calls_place, calls_regions, calls_acquire, calls_asking;
calls calls_problem, calls_schedule, calls_assignment, calls_model;
calls calls_loop, calls_loop_asking, calls_trace, calls_exchange, calls_faces;
calls calls_change, calls_birth, calls_changed_faces;
calls calls_recovery, calls_session, calls_cluster, calls_parcels, calls_over_ranks;
calls calls_in_body, calls_in_body_of_device, calls_batch_mistakes, calls_in_job;
calls calls_of_another_thread, calls_of_another_process;
