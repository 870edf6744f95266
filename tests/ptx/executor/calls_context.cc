/* Calls about the driver, devices and contexts. */
#include "defects.h"
#include "driver.h"
#include "memory.h"
#include "settings.h"
#include <cstdlib>
#include <cstring>
#include <map>

static void at_end() {
    std::lock_guard<std::recursive_mutex> hold_lock(driver_lock);
    long open = 0;
    for (context *c : contexts) open += c != nullptr;
    if (open)
        tell("note: left behind", "contexts", "%ld are not released at the end of the process",
             open);
    defects_summary();
    if (!setting.report.empty()) counters_report(setting.report.c_str());
}

API cuInit(unsigned flags) {
    std::lock_guard<std::recursive_mutex> hold_lock(driver_lock);
    if (flags) return INVALID_VALUE;
    if (is_started) return OK;
    settings_read();
    defects_open();
    memory_open();
    contexts.resize((size_t)setting.devices);
    atexit(at_end);
    is_started = true;
    return OK;
}

API cuDriverGetVersion(int *version) {
    *version = 13000;
    return OK;
}

static const std::map<int, std::pair<const char *, const char *>> errors = {
    {OK, {"CUDA_SUCCESS", "no error"}},
    {INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {NOT_INITIALIZED, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {INVALID_DEVICE, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {INVALID_CONTEXT, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {NO_BINARY_FOR_GPU, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available"}},
    {INVALID_PTX, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {INVALID_HANDLE, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {NOT_FOUND, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {NOT_READY, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {LAUNCH_OUT_OF_RESOURCES,
     {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
    {PEER_ACCESS_ALREADY_ENABLED,
     {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"}},
    {PEER_ACCESS_NOT_ENABLED,
     {"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"}},
    {CONTEXT_IS_DESTROYED, {"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"}},
    {HOST_MEMORY_ALREADY_REGISTERED,
     {"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
      "part or all of the requested memory range is already mapped"}},
    {HOST_MEMORY_NOT_REGISTERED,
     {"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
      "pointer does not correspond to a registered memory region"}},
    {COOPERATIVE_LAUNCH_TOO_LARGE,
     {"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"}}};

API cuGetErrorName(CUresult code, const char **name) {
    auto i = errors.find(code);
    *name = i == errors.end() ? nullptr : i->second.first;
    return i == errors.end() ? INVALID_VALUE : OK;
}

API cuGetErrorString(CUresult code, const char **text) {
    auto i = errors.find(code);
    *text = i == errors.end() ? nullptr : i->second.second;
    return i == errors.end() ? INVALID_VALUE : OK;
}

/* ---- devices ---- */

static bool is_device(int d) { return d >= 0 && d < setting.devices; }

API cuDeviceGetCount(int *count) {
    BEGIN("cuDeviceGetCount");
    *count = (int)setting.devices;
    return OK;
}

API cuDeviceGet(int *device, int ordinal) {
    BEGIN("cuDeviceGet");
    if (!is_device(ordinal)) return refuse(CALL, INVALID_DEVICE, "ordinal");
    *device = ordinal;
    return OK;
}

API cuDeviceGetName(char *name, int size, int) {
    BEGIN("cuDeviceGetName");
    snprintf(name, (size_t)size, "ptxrun");
    return OK;
}

API cuDeviceTotalMem_v2(size_t *bytes, int) {
    BEGIN("cuDeviceTotalMem_v2");
    *bytes = (size_t)setting.memory_mib << 20;
    return OK;
}

API cuDeviceGetAttribute(int *value, int attribute, int device) {
    BEGIN("cuDeviceGetAttribute");
    if (!is_device(device)) return refuse(CALL, INVALID_DEVICE, "device");
    const std::map<int, long> attributes = {
        {1, 1024},  /* items of a group */
        {8, 49152}, /* group memory */
        {10, LANES},
        {16, setting.processors},
        {75, setting.capability / 10},
        {76, setting.capability % 10},
        {81, 233472}, /* shared memory of a multiprocessor */
        {95, 1},      /* cooperative launches */
    };
    auto i = attributes.find(attribute);
    if (i == attributes.end())
        return refuse(CALL, INVALID_VALUE, ("attribute " + std::to_string(attribute)).c_str());
    *value = (int)i->second;
    return OK;
}

API cuDeviceCanAccessPeer(int *can, int a, int b) {
    BEGIN("cuDeviceCanAccessPeer");
    *can = a != b && setting.has_peers;
    return OK;
}

/* ---- contexts ---- */

API cuDevicePrimaryCtxSetFlags_v2(int, unsigned) {
    BEGIN("cuDevicePrimaryCtxSetFlags_v2");
    return OK;
}

API cuDevicePrimaryCtxRetain(context **out, int device) {
    BEGIN("cuDevicePrimaryCtxRetain");
    if (!is_device(device)) return refuse(CALL, INVALID_DEVICE, "device");
    context *&c = contexts[(size_t)device];
    if (!c) c = new context{CONTEXT, device, 0, true, {}};
    c->references++;
    *out = c;
    return OK;
}

template <class object>
static void close_all(const std::vector<object *> &all, context *c, const char *name) {
    long left = 0;
    for (object *x : all)
        if (x->of == c && !x->is_closed) {
            x->is_closed = true;
            left++;
        }
    if (left) tell("left behind", name, "%ld when their context is released", left);
}

API cuDevicePrimaryCtxRelease_v2(int device) {
    BEGIN("cuDevicePrimaryCtxRelease_v2");
    if (!is_device(device) || !contexts[(size_t)device])
        return refuse(CALL, INVALID_CONTEXT, "not retained");
    context *c = contexts[(size_t)device];
    if (--c->references) return OK;
    for (stream *s : streams)
        if (s->of == c && !s->is_closed && !s->queue.empty())
            tell("left behind", "queued work",
                 "%zu operations of stream %d when its context is released", s->queue.size(),
                 s->number);
    drain_context(c);
    long left = 0;
    for (auto &a : allocations)
        if (a.second.device == device && !a.second.is_freed) {
            left++;
            memory_free(a.first);
        }
    if (left)
        tell("left behind", "device memory", "%ld buffers when their context is released", left);
    close_all(streams, c, "streams");
    close_all(events, c, "events");
    close_all(modules, c, "modules");
    c->is_alive = false; /* it stays, so that later use is seen */
    contexts[(size_t)device] = nullptr;
    return OK;
}

API cuCtxSetCurrent(context *c) {
    BEGIN("cuCtxSetCurrent");
    if (c && c->magic != CONTEXT) return refuse(CALL, INVALID_CONTEXT, "no context");
    if (c && !c->is_alive) return refuse(CALL, CONTEXT_IS_DESTROYED, "a context that was released");
    current = c;
    return OK;
}

API cuCtxSynchronize(void) {
    BEGIN("cuCtxSynchronize");
    NEEDS_CONTEXT;
    drain_context(current);
    return OK;
}

API cuCtxEnablePeerAccess(context *peer, unsigned flags) {
    BEGIN("cuCtxEnablePeerAccess");
    NEEDS_CONTEXT;
    if (!peer || peer->magic != CONTEXT || !peer->is_alive || peer == current || flags)
        return refuse(CALL, INVALID_DEVICE, "peer");
    return current->peers.insert(peer).second ? OK : PEER_ACCESS_ALREADY_ENABLED;
}

API cuCtxDisablePeerAccess(context *peer) {
    BEGIN("cuCtxDisablePeerAccess");
    NEEDS_CONTEXT;
    return current->peers.erase(peer) ? OK
                                      : refuse(CALL, PEER_ACCESS_NOT_ENABLED, "it is not enabled");
}
