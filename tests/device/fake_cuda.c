/* A CUDA driver and run-time compiler that are none: host memory, work done at once or as late as
 * may be (fake_later.h), and no patience.
 *
 * It takes the place of libcuda.so and libnvrtc.so (EVENER_LIBCUDA, EVENER_NVRTC), so that the back
 * end can be tested where there is no GPU: which calls it makes, under which context, in which
 * order, and what becomes of it when one of them fails. Wrong use is counted, not forgiven: a call
 * without a context or with that of another device, a handle that is closed or was never open,
 * bytes outside of an allocation, the host touching device memory (its addresses have a bit too
 * many). Where it is left so, or with anything open, the process ends with status 99.
 *
 * "Compiling" keeps the source's name; kernels are those that the host compiler made, found in the
 * test by the name of the source: link it so that its symbols can be found (-rdynamic).
 *
 * An error that spoils a context stays with it, as with the real one: all calls return it until the
 * context is released.
 *
 * Compiled with FAKE_OLD it is a driver from before CUDA 12.4. Compiled with FAKE_HIP it has HIP's
 * names (fake_hip.h) and takes the place of libamdhip64.so and libhiprtc.so; there a device's
 * context is begun by its first call and ends with the process, and FAKE_OLD is ROCm 5.2.
 */
#include "device/gpu/api.h"
#include <evener/device.h>
#include "fake_cuda.h"
#include "fake_later.h"
#ifdef FAKE_HIP
#    include "fake_hip.h"
enum { IS_HIP = 1 };
#else
enum { IS_HIP = 0 };
#endif
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct fake_cuda fake;

/* the library's own, of which nobody else sees the name */
extern const evn_kernel_source exchange_kernels;

enum {
    OBJECTS = LATER_MAX,
    PROCESSORS = 132,
    INVALID_CONTEXT = 201,
    DESTROYED = 709,
    PEER_NOT_ENABLED = 705,
    CONTEXT_ACTIVE = 708,
    NOT_READY = 600
};

#define ASKED(ours, cuda, cuda_value, hip, hip_value)                                              \
    ASKED_##ours = IS_HIP ? hip_value : cuda_value,
enum { GPU_ATTRIBUTES(ASKED) };
#undef ASKED

enum object_kind { NOTHING, MEMORY, HOST, STREAM, EVENT, MODULE, FUNCTION, PROGRAM, REGISTERED };
static const char *const kind_name[] = {"nothing",  "memory",      "host memory",
                                        "stream",   "event",       "module",
                                        "function", "compilation", "registered memory"};

struct object {
    enum object_kind kind;
    int is_open;
    int device;
    void *data; /* memory; a module's or compilation's source name */
    size_t bytes;
    int recorded;
    double when; /* an event's, s: a quarter later than the one recorded before, and what kernels
                    between the two took */
    const evn_kernel_entry *entry;
    int architecture, is_text; /* of a compilation */
};

static struct {
    pthread_mutex_t lock;
    int started;
    struct object object[OBJECTS];
    int objects;
    double busy;                           /* s, all kernels so far */
    int retained[FAKE_DEVICES];            /* primary contexts */
    int poisoned[FAKE_DEVICES];            /* by this error */
    char complaint[256];                   /* of the compiler, about the last text */
    char peer[FAKE_DEVICES][FAKE_DEVICES]; /* the first may reach the second */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int current = -1; /* the device whose context is current */

/* A device address is a host address with this bit, so that the host faults where it follows one.
 */
#define DEVICE_BIT ((gpu_address)1 << 62)

static int current_device(void) { return current; }

/* Functions end with their module, registered memory is the program's. */
static void shut(struct object *o) {
    o->is_open = 0;
    fake.open -= o->kind != FUNCTION;
    if (o->kind != REGISTERED) free(o->data);
    o->data = NULL;
}

static void reset(void) {
    const char *late = getenv("FAKE_CUDA_LATER");
    pthread_mutex_lock(&state.lock);
    for (int i = 0; i < state.objects; i++) {
        struct object *o = &state.object[i];
        if (o->is_open) shut(o);
    }
    memset(state.object, 0, sizeof state.object);
    state.objects = state.started = 0;
    state.busy = 0;
    memset(state.retained, 0, sizeof state.retained);
    memset(state.poisoned, 0, sizeof state.poisoned);
    memset(state.peer, 0, sizeof state.peer);
    fake = (struct fake_cuda){.devices = 2,
                              .driver = IS_HIP ? 60443483 : 13000,
                              .capability = IS_HIP ? 0x90a : 90,
                              .memory = (size_t)1 << 28,
                              .peer = 1,
                              .may_register = (size_t)-1,
                              .max_items = 1024,
                              .local_bytes = 4096,
                              .groups = 5,
                              .resident = 1,
                              .compiler = 13000,
                              .fail_code = 1,
                              .later = late ? (unsigned)atoi(late) : 0,
                              .reset = reset,
                              .current = current_device};
    later_reset(fake.later);
    pthread_mutex_unlock(&state.lock);
}

__attribute__((constructor)) static void begin(void) { reset(); }

/* A test that does not ask is told: its process fails. */
__attribute__((destructor)) static void end(void) {
    if (!fake.wrong && !fake.open) return;
    fprintf(stderr, "fake CUDA: %d left open, %d wrong calls; %s\n", fake.open, fake.wrong,
            fake.what);
    _exit(99);
}

static void wrong(const char *call, const char *what) {
    if (!fake.wrong++) snprintf(fake.what, sizeof fake.what, "%s: %s", call, what);
}

/* ---- every call ---- */

static int is_sticky(int code) {
    return code == 214 || code == 220 || code == 226 || code == 700 || code == 702 || code == 710 ||
           (code >= 714 && code <= 719) || code == 999;
}

enum { ANYWHERE, STARTED, IN_CONTEXT };

/* Begins a call, locked: what it must return at once, or 0. */
static int enter(const char *call, int needs) {
    pthread_mutex_lock(&state.lock);
    fake.calls++;
    if (fake.fail_at && --fake.fail_at == 0) {
        snprintf(fake.failed, sizeof fake.failed, "%s", call);
        if (needs == IN_CONTEXT && current >= 0 && is_sticky(fake.fail_code))
            state.poisoned[current] = fake.fail_code;
        return fake.fail_code;
    }
    if (needs >= STARTED && !state.started) {
        wrong(call, "before cuInit");
        return GPU_NOT_INITIALIZED;
    }
    if (needs < IN_CONTEXT) return 0;
    if (current < 0) {
        wrong(call, "no context is current");
        return INVALID_CONTEXT;
    }
    if (!state.retained[current]) {
        wrong(call, "the current context was released");
        return DESTROYED;
    }
    return state.poisoned[current];
}

static int leave(int code) {
    pthread_mutex_unlock(&state.lock);
    return code;
}

#define BEGIN(call, needs)                                                                         \
    const int begun = enter(call, needs);                                                          \
    if (begun) return leave(begun)

/* ---- objects, named by their place ---- */

static void *open_object(enum object_kind kind, void *data, size_t bytes) {
    if (state.objects == OBJECTS) {
        wrong("the fake driver", "too many objects in one test");
        return NULL;
    }
    state.object[state.objects] = (struct object){
        .kind = kind, .is_open = 1, .device = current, .data = data, .bytes = bytes};
    fake.open++;
    return (void *)(uintptr_t)(16 * (size_t)++state.objects);
}

static struct object *find(const char *call, enum object_kind kind, const void *handle) {
    size_t at = (uintptr_t)handle / 16;
    struct object *o = at && at <= (size_t)state.objects ? &state.object[at - 1] : NULL;
    char text[80];
    if ((uintptr_t)handle % 16 || !o || o->kind != kind)
        snprintf(text, sizeof text, "a %s that was never opened", kind_name[kind]);
    else if (!o->is_open)
        snprintf(text, sizeof text, "a %s that is closed", kind_name[kind]);
    else
        return o;
    wrong(call, text);
    return NULL;
}

/* Its number, for fake_later.h. */
static int number_of(const void *handle) { return (int)((uintptr_t)handle / 16) - 1; }

/* The same, and of the current context. */
static struct object *find_here(const char *call, enum object_kind kind, const void *handle) {
    struct object *o = find(call, kind, handle);
    if (o && o->device != current) {
        wrong(call, "an object of another context");
        return NULL;
    }
    return o;
}

static int close_object(const char *call, enum object_kind kind, const void *handle) {
    struct object *o = find_here(call, kind, handle);
    if (o) shut(o);
    return o ? 0 : GPU_INVALID_HANDLE;
}

/* Of memory on either side, by where it begins; what ends something does so, whatever `code` the
 * call returns. */
static int close_memory(const char *call, enum object_kind kind, const void *data, int code) {
    later_all();
    for (int i = 0; i < state.objects; i++) {
        struct object *o = &state.object[i];
        if (o->kind != kind || !o->is_open || o->data != data) continue;
        if (o->device != current && kind != REGISTERED) wrong(call, "memory of another context");
        shut(o);
        return code;
    }
    wrong(call, "not the start of what was opened so, or closed before");
    return GPU_INVALID_VALUE;
}

/* Host address of `bytes` at a device address; *device: whose; *left: how many there are. */
static void *find_memory(const char *call, gpu_address address, size_t bytes, int *device) {
    const unsigned char *host = (const unsigned char *)(uintptr_t)(address & ~DEVICE_BIT);
    if (!(address & DEVICE_BIT)) {
        wrong(call, "a device address that is none");
        return NULL;
    }
    for (int i = 0; i < state.objects; i++) {
        struct object *o = &state.object[i];
        const unsigned char *data = o->data;
        if (o->kind == MEMORY && o->is_open && host >= data && host < data + o->bytes) {
            if (bytes <= o->bytes - (size_t)(host - data)) {
                *device = o->device;
                return (void *)(uintptr_t)host;
            }
            wrong(call, "bytes beyond the end of an allocation");
            return NULL;
        }
    }
    wrong(call, "a device address that is not allocated");
    return NULL;
}

static void *find_memory_here(const char *call, gpu_address address, size_t bytes) {
    int device = -1;
    void *host = find_memory(call, address, bytes, &device);
    if (host && device != current) {
        wrong(call, "memory of another context");
        return NULL;
    }
    return host;
}

/* ---- the driver ---- */

gpu_result cuInit(unsigned flags) {
    int code = enter("cuInit", ANYWHERE);
    if (!code && flags) wrong("cuInit", "flags");
    if (!code) code = fake.init;
    if (!code) state.started = 1;
    return leave(code);
}

gpu_result cuDriverGetVersion(int *version) {
    int code = enter("cuDriverGetVersion", ANYWHERE);
    if (!code) *version = fake.driver;
    return leave(code);
}

gpu_result cuGetErrorName(gpu_result code, const char **name) {
    static const struct {
        int code;
        const char *name;
    } names[] = {{1, "CUDA_ERROR_INVALID_VALUE"},           {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {34, "CUDA_ERROR_STUB_LIBRARY"},           {100, "CUDA_ERROR_NO_DEVICE"},
                 {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
    *name = NULL;
    if (fake.speechless) return CUDA_STUB_LIBRARY;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) *name = names[i].name;
    return *name ? 0 : GPU_INVALID_VALUE;
}

gpu_result cuGetErrorString(gpu_result code, const char **text) {
    (void)code;
    *text = fake.speechless ? NULL : "as the fake driver says";
    return fake.speechless ? CUDA_STUB_LIBRARY : 0;
}

gpu_result cuDeviceGetCount(int *count) {
    int code = enter("cuDeviceGetCount", STARTED);
    if (!code) *count = fake.devices;
    return leave(code);
}

gpu_result cuDeviceGet(gpu_number *device, int ordinal) {
    int code = enter("cuDeviceGet", STARTED);
    if (!code && (ordinal < 0 || ordinal >= fake.devices)) {
        wrong("cuDeviceGet", "no such device");
        code = GPU_INVALID_DEVICE;
    }
    if (!code) *device = ordinal;
    return leave(code);
}

gpu_result cuDeviceGetName(char *name, int size, gpu_number device) {
    int code = enter("cuDeviceGetName", STARTED);
    if (!code) snprintf(name, (size_t)size, "Fake GPU %d", device);
    return leave(code);
}

gpu_result cuDeviceTotalMem_v2(size_t *bytes, gpu_number device) {
    (void)device;
    int code = enter("cuDeviceTotalMem_v2", STARTED);
    if (!code) *bytes = fake.memory;
    return leave(code);
}

gpu_result cuDeviceGetAttribute(int *value, gpu_device_attribute which, gpu_number device) {
    int code = enter("cuDeviceGetAttribute", STARTED);
    (void)device;
    if (code) return leave(code);
    switch ((int)which) {
    case ASKED_GPU_ITEMS_OF_GROUP: *value = 1024; break;
    case ASKED_GPU_LOCAL_MEMORY: *value = 49152; break;
    case ASKED_GPU_LOCAL_OF_PROCESSOR: *value = 233472; break;
    case ASKED_GPU_PROCESSORS: *value = PROCESSORS; break;
    case ASKED_GPU_RESIDENT: *value = fake.resident; break;
    case CUDA_MAJOR: *value = fake.capability / 10; break;
    case CUDA_MINOR: *value = fake.capability % 10; break;
    default: wrong("cuDeviceGetAttribute", "an attribute that the fake driver does not know");
    }
    return leave(0);
}

gpu_result cuDeviceCanAccessPeer(int *can, gpu_number device, gpu_number peer) {
    int code = enter("cuDeviceCanAccessPeer", STARTED);
    if (!code && device == peer) wrong("cuDeviceCanAccessPeer", "the same device twice");
    if (!code) *can = fake.peer && device != peer;
    return leave(code);
}

/* contexts: named like objects, beyond them */
static gpu_context context_of(int device) {
    return (gpu_context)(uintptr_t)(16 * (size_t)(OBJECTS + 1 + device));
}
static int device_of(gpu_context context) { return (int)((uintptr_t)context / 16) - OBJECTS - 1; }

gpu_result cuDevicePrimaryCtxSetFlags_v2(gpu_number device, unsigned flags) {
    BEGIN("cuDevicePrimaryCtxSetFlags_v2", STARTED);
    if (flags != GPU_WAIT_BLOCKED) wrong("cuDevicePrimaryCtxSetFlags_v2", "other flags");
    if (state.retained[device]) return leave(CONTEXT_ACTIVE);
    fake.flags[device] = flags;
    return leave(0);
}

gpu_result cuDevicePrimaryCtxRetain(gpu_context *context, gpu_number device) {
    BEGIN("cuDevicePrimaryCtxRetain", STARTED);
    state.retained[device]++;
    fake.open++;
    *context = context_of(device);
    return leave(0);
}

gpu_result cuDevicePrimaryCtxRelease_v2(gpu_number device) {
    int code = enter("cuDevicePrimaryCtxRelease_v2", STARTED);
    if (!state.retained[device]) {
        wrong("cuDevicePrimaryCtxRelease_v2", "released more often than retained");
        return leave(INVALID_CONTEXT);
    }
    fake.open--;
    if (--state.retained[device]) return leave(code);
    later_all();
    /* the context ends, with all that is in it; a healthy one should be empty */
    for (int i = 0; i < state.objects; i++) {
        struct object *o = &state.object[i];
        if (!o->is_open || o->device != device || o->kind == PROGRAM) continue;
        if (!state.poisoned[device] && o->kind != FUNCTION)
            wrong("cuDevicePrimaryCtxRelease_v2", kind_name[o->kind]);
        shut(o);
    }
    state.poisoned[device] = 0;
    for (int d = 0; d < FAKE_DEVICES; d++) state.peer[device][d] = state.peer[d][device] = 0;
    return leave(code);
}

gpu_result cuCtxSetCurrent(gpu_context context) {
    int code = enter("cuCtxSetCurrent", STARTED);
    if (!context) {
        current = -1;
        return leave(code);
    }
    int device = device_of(context);
    if (device < 0 || device >= FAKE_DEVICES || !state.retained[device]) {
        wrong("cuCtxSetCurrent", "a context that is not retained");
        return leave(INVALID_CONTEXT);
    }
    if (code) {
        /* this fails only where the context has come to its end */
        state.poisoned[device] = code;
        return leave(code);
    }
    current = device;
    return leave(0);
}

/* Of the context: others' work may be done as well. */
gpu_result cuCtxSynchronize(void) {
    int code = enter("cuCtxSynchronize", IN_CONTEXT);
    if (!code && !later_is_idle()) fake.waits++;
    if (!code) later_all();
    return leave(code);
}

gpu_result cuCtxEnablePeerAccess(gpu_context peer, unsigned flags) {
    int code = enter("cuCtxEnablePeerAccess", IN_CONTEXT), other = device_of(peer);
    if (code) return leave(code);
    if (flags || other < 0 || other >= FAKE_DEVICES || !state.retained[other] || other == current) {
        wrong("cuCtxEnablePeerAccess", "flags, or no peer");
        return leave(GPU_INVALID_VALUE);
    }
    if (!fake.peer) return leave(GPU_PEER_ACCESS_UNSUPPORTED);
    if (state.peer[current][other]) return leave(GPU_PEER_ACCESS_ALREADY_ENABLED);
    state.peer[current][other] = 1;
    return leave(0);
}

gpu_result cuCtxDisablePeerAccess(gpu_context peer) {
    int code = enter("cuCtxDisablePeerAccess", IN_CONTEXT), other = device_of(peer);
    if (code) return leave(code);
    if (other < 0 || other >= FAKE_DEVICES || !state.peer[current][other]) {
        wrong("cuCtxDisablePeerAccess", "it was not enabled");
        return leave(PEER_NOT_ENABLED);
    }
    state.peer[current][other] = 0;
    return leave(0);
}

static size_t used(int device) {
    size_t sum = 0;
    for (int i = 0; i < state.objects; i++) {
        struct object *o = &state.object[i];
        if (o->kind == MEMORY && o->is_open && o->device == device) sum += o->bytes;
    }
    return sum;
}

gpu_result cuMemGetInfo_v2(size_t *available, size_t *total) {
    BEGIN("cuMemGetInfo_v2", IN_CONTEXT);
    *total = fake.memory;
    *available = fake.memory - used(current);
    return leave(0);
}

gpu_result cuMemAlloc_v2(gpu_address *address, size_t bytes) {
    BEGIN("cuMemAlloc_v2", IN_CONTEXT);
    if (!bytes) {
        wrong("cuMemAlloc_v2", "0 bytes");
        return leave(GPU_INVALID_VALUE);
    }
    /* a little is always taken, as by a real context */
    if (bytes + 4096 > fake.memory - used(current)) return leave(GPU_OUT_OF_MEMORY);
    void *data = NULL;
    if (posix_memalign(&data, 512, bytes)) return leave(GPU_OUT_OF_MEMORY);
    memset(data, 0xa5, bytes);
    open_object(MEMORY, data, bytes);
    *address = (gpu_address)(uintptr_t)data | DEVICE_BIT;
    return leave(0);
}

gpu_result cuMemFree_v2(gpu_address address) {
    const int code = enter("cuMemFree_v2", IN_CONTEXT);
    const void *data = (const void *)(uintptr_t)(address & ~DEVICE_BIT);
    return leave(close_memory("cuMemFree_v2", MEMORY, data, code));
}

gpu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    BEGIN("cuMemHostAlloc", IN_CONTEXT);
    if (!bytes || flags != GPU_HOST_PORTABLE) wrong("cuMemHostAlloc", "0 bytes, or other flags");
    if (posix_memalign(memory, 256, bytes)) return leave(GPU_OUT_OF_MEMORY);
    open_object(HOST, *memory, bytes);
    return leave(0);
}

gpu_result cuMemFreeHost(void *memory) {
    const int code = enter("cuMemFreeHost", IN_CONTEXT);
    return leave(close_memory("cuMemFreeHost", HOST, memory, code));
}

gpu_result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    BEGIN("cuMemHostRegister_v2", IN_CONTEXT);
    if (!bytes || flags != GPU_HOST_PORTABLE) wrong("cuMemHostRegister", "0 bytes or other flags");
    for (int i = 0; i < state.objects; i++) {
        const struct object *o = &state.object[i];
        if (o->kind == REGISTERED && o->is_open && (char *)o->data < (char *)memory + bytes &&
            (char *)memory < (char *)o->data + o->bytes)
            return leave(GPU_HOST_MEMORY_REGISTERED);
    }
    if (bytes > fake.may_register) return leave(GPU_OUT_OF_MEMORY);
    open_object(REGISTERED, memory, bytes);
    fake.registered++;
    return leave(0);
}

gpu_result cuMemHostUnregister(void *memory) {
    const int code = enter("cuMemHostUnregister", IN_CONTEXT);
    return leave(close_memory("cuMemHostUnregister", REGISTERED, memory, code));
}

struct copy {
    void *to;
    const void *from;
    size_t bytes;
};

static void do_copy(void *data) {
    const struct copy *c = data;
    memcpy(c->to, c->from, c->bytes);
}

static void copy(gpu_stream stream, void *to, const void *from, size_t bytes) {
    later_do(number_of(stream), do_copy, &(struct copy){to, from, bytes}, sizeof(struct copy));
}

gpu_result cuMemcpyHtoDAsync_v2(gpu_address to, const void *from, size_t bytes, gpu_stream stream) {
    static const char call[] = "cuMemcpyHtoDAsync_v2";
    BEGIN(call, IN_CONTEXT);
    void *data = find_memory_here(call, to, bytes);
    if (!data || !bytes || !find_here(call, STREAM, stream)) return leave(GPU_INVALID_VALUE);
    copy(stream, data, from, bytes);
    return leave(0);
}

gpu_result cuMemcpyDtoHAsync_v2(void *to, gpu_address from, size_t bytes, gpu_stream stream) {
    static const char call[] = "cuMemcpyDtoHAsync_v2";
    BEGIN(call, IN_CONTEXT);
    const void *data = find_memory_here(call, from, bytes);
    if (!data || !bytes || !find_here(call, STREAM, stream)) return leave(GPU_INVALID_VALUE);
    copy(stream, to, data, bytes);
    return leave(0);
}

gpu_result cuMemcpyDtoDAsync_v2(gpu_address to, gpu_address from, size_t bytes, gpu_stream stream) {
    static const char call[] = "cuMemcpyDtoDAsync_v2";
    BEGIN(call, IN_CONTEXT);
    void *target = find_memory_here(call, to, bytes);
    const void *data = find_memory_here(call, from, bytes);
    if (!target || !data || !bytes || !find_here(call, STREAM, stream))
        return leave(GPU_INVALID_VALUE);
    copy(stream, target, data, bytes);
    return leave(0);
}

gpu_result cuMemcpyPeerAsync(gpu_address to, gpu_context to_context, gpu_address from,
                             gpu_context from_context, size_t bytes, gpu_stream stream) {
    static const char call[] = "cuMemcpyPeerAsync";
    int code = enter(call, IN_CONTEXT), here = -1, there = -1;
    if (code) return leave(code);
    void *target = find_memory(call, to, bytes, &here);
    const void *data = find_memory(call, from, bytes, &there);
    if (!target || !data || !bytes || !find_here(call, STREAM, stream))
        return leave(GPU_INVALID_VALUE);
    if (here != device_of(to_context) || there != device_of(from_context)) {
        wrong(call, "memory of another context than is said");
        return leave(GPU_INVALID_VALUE);
    }
    if (state.poisoned[there]) return leave(state.poisoned[there]);
    int direct = state.peer[here][there] || state.peer[there][here];
    fake.direct += direct;
    if (!direct || !fake.peer_loses) copy(stream, target, data, bytes);
    return leave(0);
}

gpu_result cuStreamCreate(gpu_stream *stream, unsigned flags) {
    BEGIN("cuStreamCreate", IN_CONTEXT);
    if (flags != GPU_STREAM_NON_BLOCKING) wrong("cuStreamCreate", "other flags");
    *stream = open_object(STREAM, NULL, 0);
    return leave(0);
}

gpu_result cuStreamDestroy_v2(gpu_stream stream) {
    int code = enter("cuStreamDestroy_v2", IN_CONTEXT);
    if (find_here("cuStreamDestroy_v2", STREAM, stream)) later_stream(number_of(stream));
    int closed = close_object("cuStreamDestroy_v2", STREAM, stream);
    return leave(code ? code : closed);
}

gpu_result cuStreamSynchronize(gpu_stream stream) {
    int code = enter("cuStreamSynchronize", IN_CONTEXT);
    if (!code && !find_here("cuStreamSynchronize", STREAM, stream)) code = GPU_INVALID_HANDLE;
    if (!code && !later_is_done(number_of(stream))) fake.waits++;
    if (!code) later_stream(number_of(stream));
    return leave(code);
}

gpu_result cuStreamWaitEvent(gpu_stream stream, gpu_event event, unsigned flags) {
    int code = enter("cuStreamWaitEvent", IN_CONTEXT);
    if (code) return leave(code);
    if (flags) wrong("cuStreamWaitEvent", "flags");
    /* the event may be of any context */
    if (!find_here("cuStreamWaitEvent", STREAM, stream) || !find("cuStreamWaitEvent", EVENT, event))
        code = GPU_INVALID_HANDLE;
    if (!code) later_wait(number_of(stream), number_of(event));
    return leave(code);
}

gpu_result cuEventCreate(gpu_event *event, unsigned flags) {
    BEGIN("cuEventCreate", IN_CONTEXT);
    /* others take the time away */
    if (flags && flags != GPU_EVENT_BLOCKED) wrong("cuEventCreate", "flags");
    fake.blocked_events += flags == GPU_EVENT_BLOCKED;
    *event = open_object(EVENT, NULL, 0);
    return leave(0);
}

gpu_result cuEventDestroy_v2(gpu_event event) {
    int code = enter("cuEventDestroy_v2", IN_CONTEXT);
    int closed = close_object("cuEventDestroy_v2", EVENT, event);
    return leave(code ? code : closed);
}

gpu_result cuEventRecord(gpu_event event, gpu_stream stream) {
    BEGIN("cuEventRecord", IN_CONTEXT);
    struct object *e = find_here("cuEventRecord", EVENT, event);
    if (!e || !find_here("cuEventRecord", STREAM, stream)) return leave(GPU_INVALID_HANDLE);
    e->when = 0.25 * ++fake.records + state.busy;
    e->recorded = 1;
    later_record(number_of(stream), number_of(event));
    return leave(0);
}

gpu_result cuEventSynchronize(gpu_event event) {
    int code = enter("cuEventSynchronize", IN_CONTEXT);
    if (!code && !find_here("cuEventSynchronize", EVENT, event)) code = GPU_INVALID_HANDLE;
    if (!code && !later_has(number_of(event))) fake.waits++;
    if (!code) later_event(number_of(event));
    return leave(code);
}

gpu_result cuEventQuery(gpu_event event) {
    int code = enter("cuEventQuery", IN_CONTEXT);
    if (!code && !find_here("cuEventQuery", EVENT, event)) code = GPU_INVALID_HANDLE;
    if (!code && !later_asked(number_of(event))) code = NOT_READY;
    return leave(code);
}

gpu_result cuEventElapsedTime(float *milliseconds, gpu_event begin, gpu_event end) {
    BEGIN("cuEventElapsedTime", IN_CONTEXT);
    struct object *a = find_here("cuEventElapsedTime", EVENT, begin);
    struct object *b = find_here("cuEventElapsedTime", EVENT, end);
    if (!a || !b || !a->recorded || !b->recorded) {
        if (a && b) wrong("cuEventElapsedTime", "an event that was never recorded");
        return leave(GPU_INVALID_HANDLE);
    }
    if (!later_has(number_of(begin)) || !later_has(number_of(end))) {
        wrong("cuEventElapsedTime", "an event that has not happened");
        return leave(NOT_READY);
    }
    *milliseconds = (float)(1e3 * (b->when - a->when));
    return leave(0);
}

/* ---- programs ---- */

/* What the compiler below makes: for an architecture of its own an ELF header and this text behind
 * it, else the text. */
static const char made[] = "fake %s_%d %s\n", read_made[] = "fake %15[a-z]_%d %63s";
enum { IMAGE_BYTES = 512 }; /* with zeros */

/* Bytes of a cubin, which its headers tell. */
static size_t cubin_bytes(const Elf64_Ehdr *e) {
    size_t end = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
    size_t other = e->e_phoff + (size_t)e->e_phnum * e->e_phentsize;
    return end > other ? end : other;
}

gpu_result cuModuleLoadDataEx(gpu_module *module, const void *image, unsigned options,
                              gpu_load_option *option, void **value) {
    static const char call[] = "cuModuleLoadDataEx";
    int code = enter(call, IN_CONTEXT), architecture = 0;
    if (code) return leave(code);
    fake.images++;
    const char *text = image;
    int is_text = memcmp(image, ELFMAG, SELFMAG) != 0;
    if (!is_text) text += sizeof(Elf64_Ehdr);
    char kind[16], name[64];
    if (sscanf(text, read_made, kind, &architecture, name) != 3) {
        if (is_text) return leave(GPU_INVALID_IMAGE);
        /* made by the real compiler: kept, for the names of its kernels */
        size_t bytes = cubin_bytes(image);
        void *data = malloc(bytes);
        if (!data) return leave(GPU_OUT_OF_MEMORY);
        *module = open_object(MODULE, memcpy(data, image, bytes), bytes);
        fake.loads++;
        return leave(0);
    }
    if (is_text ? architecture > fake.capability : architecture != fake.capability) {
        for (unsigned i = 0; i + 1 < options; i++)
            if ((int)option[i] == CUDA_JIT_ERRORS && (int)option[i + 1] == CUDA_JIT_ERRORS_BYTES)
                snprintf(value[i], (size_t)(uintptr_t)value[i + 1], "made for %s_%d\nand no other",
                         kind, architecture);
        return leave(GPU_NO_BINARY_FOR_GPU);
    }
    *module = open_object(MODULE, strdup(name), 0);
    fake.loads++;
    return leave(0);
}

/* The test's kernels that a module was made from. A real cubin does not say; the test has one
 * source. */
static const evn_kernel_entry *kernel_of(const struct object *module, const char *name) {
    char symbol[80];
    snprintf(symbol, sizeof symbol, "%s_kernels",
             module->bytes ? "probe" : (const char *)module->data);
    if (module->bytes && !memmem(module->data, module->bytes, name, strlen(name) + 1)) return NULL;
    const evn_kernel_source *source =
        strcmp(symbol, "exchange_kernels") ? dlsym(RTLD_DEFAULT, symbol) : &exchange_kernels;
    if (!source) {
        wrong("cuModuleGetFunction", "the test does not show its kernels: link it with -rdynamic");
        return NULL;
    }
    for (const evn_kernel_entry *e = source->entry; e->name; e++)
        if (!strcmp(e->name, name)) return e;
    return NULL;
}

gpu_result cuModuleUnload(gpu_module module) {
    int code = enter("cuModuleUnload", IN_CONTEXT);
    int closed = close_object("cuModuleUnload", MODULE, module);
    return leave(code ? code : closed);
}

gpu_result cuModuleGetFunction(gpu_function *function, gpu_module module, const char *name) {
    BEGIN("cuModuleGetFunction", IN_CONTEXT);
    struct object *m = find_here("cuModuleGetFunction", MODULE, module);
    if (!m) return leave(GPU_INVALID_HANDLE);
    const evn_kernel_entry *entry = kernel_of(m, name);
    if (!entry) return leave(GPU_NOT_FOUND);
    *function = open_object(FUNCTION, NULL, 0);
    fake.open--; /* ends with its module */
    state.object[state.objects - 1].entry = entry;
    return leave(0);
}

gpu_result cuFuncGetAttribute(int *value, gpu_function_attribute which, gpu_function function) {
    BEGIN("cuFuncGetAttribute", IN_CONTEXT);
    if (!find_here("cuFuncGetAttribute", FUNCTION, function)) return leave(GPU_INVALID_HANDLE);
    switch ((int)which) {
    case GPU_KERNEL_MAX_ITEMS: *value = fake.max_items; break;
    case GPU_KERNEL_LOCAL_BYTES: *value = fake.local_bytes; break;
    default: wrong("cuFuncGetAttribute", "another attribute");
    }
    return leave(0);
}

gpu_result cuFuncSetAttribute(gpu_function function, gpu_function_attribute which, int value) {
    BEGIN("cuFuncSetAttribute", IN_CONTEXT);
    if (!find_here("cuFuncSetAttribute", FUNCTION, function)) return leave(GPU_INVALID_HANDLE);
    if ((int)which != CUDA_KERNEL_LOCAL_SHARE || value < 0 || value > 100)
        wrong("cuFuncSetAttribute", "another attribute or value");
    fake.local_share = value;
    return leave(0);
}

gpu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *groups, gpu_function function,
                                                       int items, size_t local_bytes) {
    static const char call[] = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    BEGIN(call, IN_CONTEXT);
    struct object *f = find_here(call, FUNCTION, function);
    if (!f) return leave(GPU_INVALID_HANDLE);
    if (items != f->entry->items || local_bytes) wrong(call, "items or bytes");
    *groups = fake.groups;
    return leave(0);
}

#if !defined FAKE_OLD && !defined FAKE_HIP
gpu_result cuFuncLoad(gpu_function function) {
    int code = enter("cuFuncLoad", IN_CONTEXT);
    if (!code && !find_here("cuFuncLoad", FUNCTION, function)) code = GPU_INVALID_HANDLE;
    return leave(code);
}

gpu_result cuFuncGetParamInfo(gpu_function function, size_t parameter, size_t *at, size_t *bytes) {
    BEGIN("cuFuncGetParamInfo", IN_CONTEXT);
    struct object *f = find_here("cuFuncGetParamInfo", FUNCTION, function);
    if (!f) return leave(GPU_INVALID_HANDLE);
    size_t count = 0;
    while (f->entry->parameter[count] != EVN_PARAMETERS_END) count++;
    if (parameter >= count) return leave(GPU_INVALID_VALUE);
    *at = 0;
    *bytes = f->entry->parameter[parameter] > 0 ? (size_t)f->entry->parameter[parameter] : 8;
    *bytes += (size_t)fake.extra_bytes;
    return leave(0);
}
#endif

enum { PARAMETERS = 32, VALUES = 3584 };

struct launch {
    const evn_kernel_entry *entry;
    unsigned groups;
    const void *buffer[PARAMETERS]; /* NULL: a value */
    size_t at[PARAMETERS];          /* in `value` */
    _Alignas(64) char value[VALUES];
};

static void do_launch(void *data) {
    _Alignas(64) struct launch l;
    const void *pass[PARAMETERS];
    memcpy(&l, data, sizeof l);
    for (int i = 0; l.entry->parameter[i] != EVN_PARAMETERS_END; i++)
        pass[i] = l.buffer[i] ? l.buffer[i] : l.value + l.at[i];
    for (unsigned g = 0; g < l.groups; g++)
        l.entry->run(pass, (int)l.groups, (int)g, l.entry->items);
}

/* Under the lock. */
static int launch(const char *call, gpu_function function, unsigned groups, gpu_stream stream,
                  void **argument) {
    struct object *f = find_here(call, FUNCTION, function);
    if (!f || !find_here(call, STREAM, stream)) return GPU_INVALID_HANDLE;
    struct launch l = {.entry = f->entry, .groups = groups};
    size_t used = 0;
    for (int i = 0; f->entry->parameter[i] != EVN_PARAMETERS_END; i++) {
        const int bytes = f->entry->parameter[i];
        if (bytes > 0) { /* by value: as it is now */
            used = (used + 63) / 64 * 64;
            if (i >= PARAMETERS || used + (size_t)bytes > sizeof l.value) {
                wrong(call, "more parameters than the fake driver has room for");
                return GPU_INVALID_VALUE;
            }
            memcpy(l.value + used, argument[i], (size_t)bytes);
            l.at[i] = used;
            used += (size_t)bytes;
            continue;
        }
        gpu_address address;
        memcpy(&address, argument[i], sizeof address);
        l.buffer[i] = find_memory_here(call, address, 1);
        if (!l.buffer[i]) {
            state.poisoned[current] = GPU_ILLEGAL_ADDRESS; /* as it would come to pass */
            return 0;
        }
    }
    state.busy += groups * fake.group_s;
    later_do(number_of(stream), do_launch, &l, sizeof l);
    return 0;
}

/* Whether that is what the kernel was written for. Under the lock. */
static int is_shape(const char *call, gpu_function function, const unsigned shape[7]) {
    const struct object *f = find_here(call, FUNCTION, function);
    int right = f && shape[0] && shape[3] == (unsigned)f->entry->items && !shape[6];
    for (int i = 1; i < 6; i++) right &= i == 3 || shape[i] == 1;
    if (f && !right) wrong(call, "groups or items");
    return right;
}

gpu_result cuLaunchKernel(gpu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned local_bytes, gpu_stream stream, void **argument, void **extra) {
    static const char call[] = "cuLaunchKernel";
    const unsigned shape[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z, local_bytes};
    BEGIN(call, IN_CONTEXT);
    if (extra) wrong(call, "extra");
    if (!is_shape(call, function, shape)) return leave(GPU_INVALID_VALUE);
    return leave(launch(call, function, grid_x, stream, argument));
}

#if !(defined FAKE_OLD && defined FAKE_HIP)
/* All groups at a time; here one after another, which is right for those that wait for earlier ones
 * alone and do one piece each. */
gpu_result cuLaunchCooperativeKernel(gpu_function function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned local_bytes, gpu_stream stream,
                                     void **argument) {
    static const char call[] = "cuLaunchCooperativeKernel";
    const unsigned shape[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z, local_bytes};
    BEGIN(call, IN_CONTEXT);
    if (!fake.resident) wrong(call, "a device that has no such launches");
    if (!is_shape(call, function, shape)) return leave(GPU_INVALID_VALUE);
    if (grid_x > (unsigned)(fake.groups * PROCESSORS)) {
        wrong(call, "more groups than there are at a time");
        return leave(GPU_TOO_LARGE);
    }
    fake.together++;
    return leave(launch(call, function, grid_x, stream, argument));
}
#endif

/* ---- the compiler ---- */

rtc_result nvrtcVersion(int *major, int *minor) {
    *major = fake.compiler / 1000;
    *minor = fake.compiler % 1000 / 10;
    return 0;
}

static const int architectures[] = {75, 80, 90, 100};

rtc_result nvrtcGetNumSupportedArchs(int *count) {
    *count = sizeof architectures / sizeof *architectures;
    return 0;
}

rtc_result nvrtcGetSupportedArchs(int *list) {
    memcpy(list, architectures, sizeof architectures);
    return 0;
}

const char *nvrtcGetErrorString(rtc_result code) {
    return code ? "NVRTC_ERROR_FAKE" : "NVRTC_SUCCESS";
}

rtc_result nvrtcCreateProgram(rtc_handle *program, const char *text, const char *name, int headers,
                              const char *const *header, const char *const *header_name) {
    pthread_mutex_lock(&state.lock);
    if (!text || headers || header || header_name) wrong("nvrtcCreateProgram", "headers");
    *program = open_object(PROGRAM, strdup(name), 0);
    /* the one mistake it finds */
    if (!strstr(text, "EVN_KERNEL("))
        snprintf(state.complaint, sizeof state.complaint, "%s(1): error: no kernel in %.100s", name,
                 text);
    else
        state.complaint[0] = 0;
    return leave(0);
}

rtc_result nvrtcDestroyProgram(rtc_handle *program) {
    pthread_mutex_lock(&state.lock);
    struct object *p = find("nvrtcDestroyProgram", PROGRAM, *program);
    if (!p) return leave(4);
    shut(p);
    *program = NULL;
    return leave(0);
}

/* Waits for the compilations that are to be under way together; 0: they came. */
static int wait_for_others(void) {
    static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    fake.compiling++;
    pthread_cond_broadcast(&change);
    while (fake.compiling < fake.side_by_side && !code)
        code = pthread_cond_timedwait(&change, &state.lock, &until);
    return code;
}

rtc_result nvrtcCompileProgram(rtc_handle program, int options, const char *const *option) {
    pthread_mutex_lock(&state.lock);
    if (wait_for_others()) return leave(RTC_BAD_TEXT);
    struct object *p = find("nvrtcCompileProgram", PROGRAM, program);
    if (!p) return leave(4);
    fake.compilations++;
    fake.options[0] = 0;
    for (int i = 0; i < options; i++) {
        size_t end = strlen(fake.options);
        snprintf(fake.options + end, sizeof fake.options - end, "%s%s", end ? " " : "", option[i]);
        char kind[16];
        if (sscanf(option[i], "--gpu-architecture=%15[a-z]_%d", kind, &p->architecture) == 2)
            p->is_text = !strcmp(kind, "compute");
        unsigned gfx;
        if (sscanf(option[i], "--offload-arch=gfx%x", &gfx) == 1) p->architecture = (int)gfx;
    }
    return leave(fake.compile_fails ? fake.compile_fails : *state.complaint ? RTC_BAD_TEXT : 0);
}

rtc_result nvrtcGetProgramLogSize(rtc_handle program, size_t *bytes) {
    (void)program;
    *bytes = 300;
    return 0;
}

rtc_result nvrtcGetProgramLog(rtc_handle program, char *log) {
    (void)program;
    if (fake.compile_fails)
        strcpy(log, "a warning\na.kernel.c(3): error: no\nmore");
    else
        snprintf(log, 300, "a warning\n%s", state.complaint);
    return 0;
}

/* The image is what the driver above takes for one. */
static rtc_result image(rtc_handle program, char *out, size_t *bytes, int is_text) {
    pthread_mutex_lock(&state.lock);
    struct object *p = find("nvrtcGetCUBIN", PROGRAM, program);
    if (!p) return leave(4);
    if (p->is_text != is_text) {
        *bytes = 0;
        return leave(0);
    }
    *bytes = IMAGE_BYTES;
    if (!out) return leave(0);
    memset(out, 0, IMAGE_BYTES);
    Elf64_Ehdr e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                    .e_shentsize = sizeof(Elf64_Shdr)};
    size_t at = is_text ? 0 : sizeof e;
    memcpy(out, &e, at);
    snprintf(out + at, IMAGE_BYTES - at, made,
             is_text  ? "compute"
             : IS_HIP ? "gfx"
                      : "sm",
             p->architecture, (const char *)p->data);
    return leave(0);
}

rtc_result nvrtcGetCUBINSize(rtc_handle program, size_t *bytes) {
    return image(program, NULL, bytes, 0);
}
rtc_result nvrtcGetCUBIN(rtc_handle program, char *out) {
    size_t bytes;
    return image(program, out, &bytes, 0);
}
rtc_result nvrtcGetPTXSize(rtc_handle program, size_t *bytes) {
    return image(program, NULL, bytes, 1);
}
rtc_result nvrtcGetPTX(rtc_handle program, char *out) {
    size_t bytes;
    return image(program, out, &bytes, 1);
}

#ifdef FAKE_HIP

/* ---- HIP's own ---- */

const char *hipGetErrorName(gpu_result code);
const char *hipGetErrorName(gpu_result code) {
    static const struct {
        int code;
        const char *name;
    } names[] = {{1, "hipErrorInvalidValue"},     {2, "hipErrorOutOfMemory"},
                 {100, "hipErrorNoDevice"},       {209, "hipErrorNoBinaryForGpu"},
                 {700, "hipErrorIllegalAddress"}, {720, "hipErrorCooperativeLaunchTooLarge"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code && !fake.speechless) return names[i].name;
    return fake.speechless ? NULL : "hipErrorUnknown";
}

const char *hipGetErrorString(gpu_result code);
const char *hipGetErrorString(gpu_result code) {
    (void)code;
    return fake.speechless ? NULL : "as the fake driver says";
}

gpu_result hipSetDevice(int device);
gpu_result hipSetDevice(int device) {
    int code = enter("hipSetDevice", STARTED);
    if (!code && (device < 0 || device >= fake.devices)) {
        wrong("hipSetDevice", "no such device");
        code = GPU_INVALID_DEVICE;
    }
    if (code) return leave(code);
    current = device;
    state.retained[device] = 1;
    return leave(0);
}

gpu_result hipSetDeviceFlags(unsigned flags);
gpu_result hipSetDeviceFlags(unsigned flags) {
    int code = enter("hipSetDeviceFlags", IN_CONTEXT);
    if (!code && flags != GPU_WAIT_BLOCKED) wrong("hipSetDeviceFlags", "other flags");
    if (!code) fake.flags[current] = flags;
    return leave(code);
}

/* The name of the architecture is elsewhere in the struct since ROCm 6. */
static gpu_result properties(const char *call, char *to, int device, size_t at, size_t bytes) {
    BEGIN(call, STARTED);
    memset(to, 0, bytes);
    snprintf(to, 256, "Fake gfx GPU %d", device);
    snprintf(to + at, 256, "gfx%x:sramecc+:xnack-", (unsigned)fake.capability);
    return leave(0);
}
#    ifdef FAKE_OLD
gpu_result hipGetDeviceProperties(void *to, int device);
gpu_result hipGetDeviceProperties(void *to, int device) {
    return properties("hipGetDeviceProperties", to, device, 396, 792);
}
#    else
gpu_result hipGetDevicePropertiesR0600(void *to, int device);
gpu_result hipGetDevicePropertiesR0600(void *to, int device) {
    return properties("hipGetDevicePropertiesR0600", to, device, 1160, 1472);
}
#    endif

gpu_result hipDeviceEnablePeerAccess(int peer, unsigned flags);
gpu_result hipDeviceEnablePeerAccess(int peer, unsigned flags) {
    return cuCtxEnablePeerAccess(context_of(peer), flags);
}
gpu_result hipDeviceDisablePeerAccess(int peer);
gpu_result hipDeviceDisablePeerAccess(int peer) { return cuCtxDisablePeerAccess(context_of(peer)); }

gpu_result hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t bytes, gpu_stream stream);
gpu_result hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t bytes, gpu_stream stream) {
    return cuMemcpyPeerAsync((uintptr_t)to, context_of(to_device), (uintptr_t)from,
                             context_of(from_device), bytes, stream);
}

#endif
