/* Calls about streams and events. */
#include "driver.h"
#include "launch.h"
#include <chrono>

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

API cuStreamCreate(stream **out, unsigned flags) {
    BEGIN("cuStreamCreate");
    NEEDS_CONTEXT;
    if (flags > 1) return refuse(CALL, INVALID_VALUE, "flags");
    *out = new stream{STREAM, current, (int)streams.size() + 1, 0, {}, {}, false};
    streams.push_back(*out);
    return OK;
}

API cuStreamDestroy_v2(stream *s) {
    BEGIN("cuStreamDestroy_v2");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    drain(s);
    s->is_closed = true;
    return OK;
}

API cuStreamSynchronize(stream *s) {
    BEGIN("cuStreamSynchronize");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_CURRENT(s);
    drain(s);
    return OK;
}

/* ---- events ---- */

static bool is_event(const event *e) {
    return e && e->magic == EVENT && !e->is_closed && e->of->is_alive;
}
#define NEEDS_EVENT(e)                                                                             \
    if (!is_event(e)) return refuse(CALL, INVALID_HANDLE, "no event")

API cuEventCreate(event **out, unsigned flags) {
    BEGIN("cuEventCreate");
    NEEDS_CONTEXT;
    if (flags > 7) return refuse(CALL, INVALID_VALUE, "flags");
    *out = new event{EVENT, current, flags, nullptr, false};
    events.push_back(*out);
    return OK;
}

API cuEventDestroy_v2(event *e) {
    BEGIN("cuEventDestroy_v2");
    NEEDS_CONTEXT;
    NEEDS_EVENT(e);
    e->is_closed = true;
    e->last.reset();
    return OK;
}

API cuEventRecord(event *e, stream *s) {
    BEGIN("cuEventRecord");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_EVENT(e);
    if (e->of != s->of)
        return refuse(CALL, INVALID_HANDLE, "the event is of another context than the stream");
    auto r = std::make_shared<recording>();
    r->of = s;
    e->last = r;
    r->clock = enqueue(s, CALL, [r] {
                   r->is_done = true;
                   r->time = now();
               }).clock;
    given(s);
    return OK;
}

API cuStreamWaitEvent(stream *s, event *e, unsigned flags) {
    BEGIN("cuStreamWaitEvent");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_EVENT(e);
    if (flags) return refuse(CALL, INVALID_VALUE, "flags");
    if (!e->last) return OK;
    join(s->clock, e->last->clock);
    enqueue(s, CALL, nullptr).waits_for = e->last;
    given(s);
    return OK;
}

API cuEventSynchronize(event *e) {
    BEGIN("cuEventSynchronize");
    NEEDS_CONTEXT;
    NEEDS_EVENT(e);
    if (!e->last) return OK;
    run_until(e->last);
    join(host_clock, e->last->clock);
    return OK;
}

API cuEventQuery(event *e) {
    BEGIN("cuEventQuery");
    NEEDS_CONTEXT;
    NEEDS_EVENT(e);
    if (!e->last) return OK;
    if (!e->last->is_done) { /* something goes on while it is asked */
        std::vector<stream *> ready;
        for (stream *s : streams)
            if (!s->queue.empty()) ready.push_back(s);
        if (!ready.empty()) run_one(ready[dice((unsigned)ready.size())]);
    }
    if (!e->last->is_done) return NOT_READY;
    join(host_clock, e->last->clock);
    return OK;
}

API cuEventElapsedTime(float *milliseconds, event *a, event *b) {
    BEGIN("cuEventElapsedTime");
    NEEDS_CONTEXT;
    NEEDS_EVENT(a);
    NEEDS_EVENT(b);
    if ((a->flags | b->flags) & 2) return refuse(CALL, INVALID_HANDLE, "an event without timing");
    if (a->of != b->of) return refuse(CALL, INVALID_HANDLE, "events of two contexts");
    if (!a->last || !b->last) return refuse(CALL, INVALID_HANDLE, "an event that was not recorded");
    if (!a->last->is_done || !b->last->is_done) return NOT_READY;
    *milliseconds = (float)(1e3 * (b->last->time - a->last->time));
    return OK;
}
