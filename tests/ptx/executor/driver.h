/* Objects of the driver, and what every call looks at first. All calls hold one lock. */
#pragma once

#include "clock.h"
#include "counters.h"
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;
#define API extern "C" __attribute__((visibility("default"))) CUresult

/* the driver's codes */
enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_OUT_OF_RESOURCES = 701,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    NOT_SUPPORTED = 801,
};

enum : u32 { CONTEXT = 0xc0de0001, STREAM, EVENT, MODULE, FUNCTION };

struct context {
    u32 magic;
    int device, references;
    bool is_alive;
    std::set<context *> peers;
};

struct stream;
/* An event's last recording */
struct recording {
    bool is_done;
    double time;
    vector_clock clock;
    stream *of;
};

/* Work in a stream; `host`, `device` and `arguments` are memory that it uses, `launches` is the
 * module of a launch's kernel. */
struct operation {
    u32 number;
    const char *name;
    std::function<void()> run;
    std::shared_ptr<recording> waits_for;
    vector_clock clock;
    u64 host, host_bytes, device[2], device_bytes;
    std::vector<u64> arguments;
    struct module *launches;
};

struct stream {
    u32 magic;
    context *of;
    int number;
    u32 sequence;
    vector_clock clock;
    std::deque<operation> queue;
    bool is_closed;
};

struct event {
    u32 magic;
    context *of;
    unsigned flags;
    std::shared_ptr<recording> last;
    bool is_closed;
};

struct module {
    u32 magic;
    context *of;
    const kernel_info *kernels;
    std::string hash;
    bool is_closed;
};

struct function {
    u32 magic;
    module *of;
    const kernel_info *info;
    kernel_counters *counters;
};

extern std::recursive_mutex driver_lock;
extern bool is_started;
extern thread_local context *current;
extern std::vector<context *> contexts; /* by device; NULL: not retained */
extern std::vector<stream *> streams;
extern std::vector<event *> events;
extern std::vector<module *> modules;
extern vector_clock host_clock;

/* queue.cc */
operation &enqueue(stream *, const char *name, std::function<void()> run);
void given(stream *); /* after enqueue(): the seed decides when it is done */
void run_one(stream *);
void run_until(const std::shared_ptr<recording> &);
void drain(stream *);
void drain_context(context *);
void some_work();                                /* now and then, as the dice fall */
bool is_in_use(u64 at, u64 bytes, bool is_host); /* by work that is not done yet */

/* A refused call is a defect, since the library under test avoids them all. */
CUresult refuse(const char *call, int code, const char *why);

#define BEGIN(name)                                                                                \
    std::lock_guard<std::recursive_mutex> hold_lock(driver_lock);                                  \
    static const char *const CALL = name;                                                          \
    (void)CALL;                                                                                    \
    if (!is_started) return refuse(CALL, NOT_INITIALIZED, "before cuInit")
#define NEEDS_CONTEXT                                                                              \
    do {                                                                                           \
        if (!current) return refuse(CALL, INVALID_CONTEXT, "no context is current");               \
        if (!current->is_alive)                                                                    \
            return refuse(CALL, CONTEXT_IS_DESTROYED, "the current context was released");         \
        some_work();                                                                               \
    } while (0)
#define NEEDS_STREAM(s)                                                                            \
    do {                                                                                           \
        if (!(s)) return refuse(CALL, INVALID_HANDLE, "the default stream is not expected");       \
        if ((s)->magic != STREAM || (s)->is_closed)                                                \
            return refuse(CALL, INVALID_HANDLE, "no stream, or one that was destroyed");           \
        if (!(s)->of->is_alive)                                                                    \
            return refuse(CALL, CONTEXT_IS_DESTROYED, "the stream's context was released");        \
    } while (0)
#define NEEDS_CURRENT(x)                                                                           \
    do {                                                                                           \
        if ((x)->of != current)                                                                    \
            return refuse(CALL, INVALID_HANDLE, #x " is of another context than the current one"); \
    } while (0)
