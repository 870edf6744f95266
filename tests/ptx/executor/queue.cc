/* Streams: work is given out at once and done later, when somebody waits for it or as dice fall. */
#include "defects.h"
#include "driver.h"
#include "launch.h"
#include "settings.h"

std::recursive_mutex driver_lock;
bool is_started;
thread_local context *current;
std::vector<context *> contexts;
std::vector<stream *> streams;
std::vector<event *> events;
std::vector<module *> modules;
vector_clock host_clock;

CUresult refuse(const char *call, int code, const char *why) {
    tell("driver call refused", call, "%s (%d)", why, code);
    return code;
}

operation &enqueue(stream *s, const char *name, std::function<void()> run) {
    join(s->clock, host_clock);
    if ((int)s->clock.size() <= s->number) s->clock.resize((size_t)s->number + 1);
    s->clock[(size_t)s->number] = ++s->sequence;
    s->queue.emplace_back();
    operation &o = s->queue.back();
    o.number = operation_add(s->number, s->sequence, name);
    o.name = name;
    o.clock = s->clock;
    o.run = run;
    return o;
}

void given(stream *s) {
    while (setting.seed == 0 && !s->queue.empty()) run_one(s);
}

void run_until(const std::shared_ptr<recording> &r) {
    while (!r->is_done && !r->of->queue.empty()) run_one(r->of);
}

void run_one(stream *s) {
    operation o = std::move(s->queue.front());
    s->queue.pop_front();
    if (o.waits_for) {
        run_until(o.waits_for);
        if (!o.waits_for->is_done) tell("event", o.name, "waits for an event that cannot come");
    }
    now_running = {o.number, &o.clock};
    if (o.run) o.run();
    now_running = {0, nullptr};
}

void drain(stream *s) {
    while (!s->queue.empty()) run_one(s);
    join(host_clock, s->clock);
}

void drain_context(context *c) {
    for (stream *s : streams)
        if (!s->is_closed && s->of == c) drain(s);
}

void some_work() {
    if (setting.seed < 2 || dice(8)) return;
    std::vector<stream *> ready;
    for (stream *s : streams)
        if (!s->queue.empty()) ready.push_back(s);
    if (!ready.empty()) run_one(ready[dice((unsigned)ready.size())]);
}

static bool do_overlap(u64 a, u64 a_bytes, u64 b, u64 b_bytes) {
    return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

bool is_in_use(u64 at, u64 bytes, bool is_host) {
    for (stream *s : streams)
        for (operation &o : s->queue) {
            if (is_host) {
                if (do_overlap(o.host, o.host_bytes, at, bytes)) return true;
                continue;
            }
            for (u64 x : o.arguments)
                if (x >= at && x < at + bytes) return true;
            for (u64 x : o.device)
                if (x && do_overlap(x, o.device_bytes, at, bytes)) return true;
        }
    return false;
}
