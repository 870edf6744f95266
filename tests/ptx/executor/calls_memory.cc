/* Calls about memory and copies. Copies from and to pinned memory are late like launches. */
#include "defects.h"
#include "driver.h"
#include "memory.h"
#include "settings.h"
#include <cstdlib>
#include <cstring>

struct host_range {
    u64 bytes;
    bool is_registered;
};
static std::map<u64, host_range> pinned; /* by address */

API cuMemGetInfo_v2(size_t *available, size_t *total) {
    BEGIN("cuMemGetInfo_v2");
    NEEDS_CONTEXT;
    *total = (size_t)setting.memory_mib << 20;
    *available = *total - memory_used(current->device);
    return OK;
}

API cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    BEGIN("cuMemAlloc_v2");
    NEEDS_CONTEXT;
    if (!bytes) return refuse(CALL, INVALID_VALUE, "0 bytes");
    if (memory_used(current->device) + bytes > (u64)setting.memory_mib << 20) return OUT_OF_MEMORY;
    *address = memory_allocate(bytes, current->device);
    return *address ? OK : OUT_OF_MEMORY;
}

API cuMemFree_v2(CUdeviceptr address) {
    BEGIN("cuMemFree_v2");
    NEEDS_CONTEXT;
    auto i = allocations.find(address);
    if (i == allocations.end() || i->second.is_freed)
        return refuse(CALL, INVALID_VALUE, "no buffer, or freed already");
    if (i->second.device != current->device)
        tell("driver call", CALL, "a buffer of another device than the current context's");
    if (is_in_use(address, i->second.bytes, false))
        tell("freed while in use", CALL, "queued work uses it");
    drain_context(current); /* the driver may wait, too */
    memory_free(address);
    return OK;
}

API cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    BEGIN("cuMemHostAlloc");
    NEEDS_CONTEXT;
    if (!bytes || flags & ~7u) return refuse(CALL, INVALID_VALUE, "size or flags");
    if (posix_memalign(memory, 4096, (bytes + 4095) & ~(size_t)4095)) return OUT_OF_MEMORY;
    memset(*memory, 0xff, bytes);
    pinned[(u64)*memory] = {bytes, false};
    return OK;
}

static void unpin(std::map<u64, host_range>::iterator i, const char *kind, const char *call) {
    if (is_in_use(i->first, i->second.bytes, true)) {
        tell(kind, call, "a queued copy uses it");
        for (stream *s : streams)
            if (!s->is_closed) drain(s);
    }
    pinned.erase(i);
}

API cuMemFreeHost(void *memory) {
    BEGIN("cuMemFreeHost");
    NEEDS_CONTEXT;
    auto i = pinned.find((u64)memory);
    if (i == pinned.end() || i->second.is_registered)
        return refuse(CALL, INVALID_VALUE, "not from cuMemHostAlloc");
    unpin(i, "freed while in use", CALL);
    free(memory);
    return OK;
}

API cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    BEGIN("cuMemHostRegister_v2");
    NEEDS_CONTEXT;
    if (!memory || !bytes || flags & ~15u)
        return refuse(CALL, INVALID_VALUE, "pointer, size or flags");
    for (auto &r : pinned)
        if (r.first < (u64)memory + bytes && (u64)memory < r.first + r.second.bytes)
            return HOST_MEMORY_ALREADY_REGISTERED;
    pinned[(u64)memory] = {bytes, true};
    return OK;
}

API cuMemHostUnregister(void *memory) {
    BEGIN("cuMemHostUnregister");
    NEEDS_CONTEXT;
    auto i = pinned.find((u64)memory);
    if (i == pinned.end() || !i->second.is_registered)
        return refuse(CALL, HOST_MEMORY_NOT_REGISTERED, "not registered");
    unpin(i, "unregistered while in use", CALL);
    return OK;
}

static bool is_pinned(u64 at, u64 bytes) {
    auto i = pinned.upper_bound(at);
    if (i == pinned.begin()) return false;
    --i;
    return at + bytes <= i->first + i->second.bytes;
}

/* ---- copies ---- */

/* The granules that a copy reads or writes, in the order with other work */
static void copy_check(u64 at, u64 bytes, bool is_write, const char *name) {
    if (!setting.is_checking) return;
    u32 told = 0;
    for (u64 x = at & ~3ull; x < at + bytes; x += 4) {
        granule *g = granule_at(x);
        for (const access *a : {&g->write, &g->read}) {
            const bool matters = a == &g->write || is_write;
            if (!matters || !a->operation || a->operation == told || is_ordered(a->operation))
                continue;
            told = a->operation;
            tell("race between streams", name, "%s what %s %s, with nothing that orders them",
                 is_write ? "writes" : "reads", operation_name(a->operation).c_str(),
                 a == &g->write ? "wrote" : "read");
        }
        (is_write ? g->write : g->read) = {now_running.number, 0, 0, 0, 0, 0};
        g->readers = 0;
    }
}

static bool is_of_device(const allocation *a, int device, const char *call) {
    if (a->device != device)
        tell("driver call", call, "a buffer of device %d in work of device %d", a->device, device);
    return a->device == device;
}

static void remember(operation &o, u64 host, u64 to, u64 from, u64 bytes) {
    o.host = host;
    o.host_bytes = host ? bytes : 0;
    o.device[0] = to;
    o.device[1] = from;
    o.device_bytes = bytes;
}

API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, stream *s) {
    BEGIN("cuMemcpyHtoDAsync_v2");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_CURRENT(s);
    if (!bytes) return OK;
    if (is_device_memory((u64)from)) return refuse(CALL, INVALID_VALUE, "from is device memory");
    const allocation *a = allocation_around(to, bytes);
    if (!a) return refuse(CALL, INVALID_VALUE, "not inside one buffer");
    is_of_device(a, s->of->device, CALL);
    const bool is_late = is_pinned((u64)from, bytes); /* other memory is staged at once */
    auto staged = std::make_shared<std::vector<u8>>((const u8 *)from,
                                                    (const u8 *)from + (is_late ? 0 : bytes));
    operation &o = enqueue(s, CALL, [=] {
        copy_check(to, bytes, true, CALL);
        memcpy(bytes_at(to), is_late ? from : staged->data(), bytes);
        memset(states_at(to), BYTE_WRITTEN, bytes);
    });
    remember(o, is_late ? (u64)from : 0, to, 0, bytes);
    given(s);
    return OK;
}

API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, stream *s) {
    BEGIN("cuMemcpyDtoHAsync_v2");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_CURRENT(s);
    if (!bytes) return OK;
    if (is_device_memory((u64)to)) return refuse(CALL, INVALID_VALUE, "to is device memory");
    const allocation *a = allocation_around(from, bytes);
    if (!a) return refuse(CALL, INVALID_VALUE, "not inside one buffer");
    is_of_device(a, s->of->device, CALL);
    operation &o = enqueue(s, CALL, [=] {
        copy_check(from, bytes, false, CALL);
        memcpy(to, bytes_at(from), bytes);
    });
    remember(o, (u64)to, 0, from, bytes);
    if (!is_pinned((u64)to, bytes)) drain(s); /* the driver returns when it is there */
    given(s);
    return OK;
}

static void copy_device(u64 to, u64 from, u64 bytes, const char *name) {
    copy_check(from, bytes, false, name);
    copy_check(to, bytes, true, name);
    memmove(bytes_at(to), bytes_at(from), bytes);
    memmove(states_at(to), states_at(from), bytes);
}

API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, stream *s) {
    BEGIN("cuMemcpyDtoDAsync_v2");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_CURRENT(s);
    if (!bytes) return OK;
    const allocation *a = allocation_around(to, bytes), *b = allocation_around(from, bytes);
    if (!a || !b) return refuse(CALL, INVALID_VALUE, "not inside one buffer");
    is_of_device(a, s->of->device, CALL);
    is_of_device(b, s->of->device, CALL);
    if (to < from + bytes && from < to + bytes) tell("driver call", CALL, "overlapping copy");
    remember(enqueue(s, CALL, [=] { copy_device(to, from, bytes, CALL); }), 0, to, from, bytes);
    given(s);
    return OK;
}

API cuMemcpyPeerAsync(CUdeviceptr to, context *to_context, CUdeviceptr from, context *from_context,
                      size_t bytes, stream *s) {
    BEGIN("cuMemcpyPeerAsync");
    NEEDS_CONTEXT;
    NEEDS_STREAM(s);
    NEEDS_CURRENT(s);
    if (!bytes) return OK;
    if (!to_context || !from_context || !to_context->is_alive || !from_context->is_alive)
        return refuse(CALL, INVALID_CONTEXT, "context");
    const allocation *a = allocation_around(to, bytes), *b = allocation_around(from, bytes);
    if (!a || !b || a->device != to_context->device || b->device != from_context->device)
        return refuse(CALL, INVALID_VALUE, "not inside one buffer of that context");
    if (s->of != to_context && s->of != from_context)
        tell("driver call", CALL, "a stream of neither context");
    remember(enqueue(s, CALL, [=] { copy_device(to, from, bytes, CALL); }), 0, to, from, bytes);
    given(s);
    return OK;
}
