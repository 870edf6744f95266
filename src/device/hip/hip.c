/* The back end "hip": AMD's devices by their runtime libamdhip64, one side of device/gpu.
 *
 * Numbers of devices are after ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES. The runtime is looked
 * for in $EVENER_LIBHIP (a file, and then nowhere else), where the loader looks, and in the folders
 * of ROCm (find_rocm.h); where the system has no device file of AMD's, it is not loaded at all.
 *
 * A device is the runtime's own state of it, which the process has once and shares with the
 * program's own HIP; nothing ends it. hipSetDevice() makes it the calling thread's.
 *
 * A wavefront is 64 items on GCN and CDNA (gfx9), 32 on RDNA. Nothing here depends on it; what does
 * is listed in docs/kernels.md.
 */
#include "device/gpu/gpu.h"
#include "device/hip/find_rocm.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

static void words_of(const struct gpu_api *api, int code, const char **name, const char **text) {
    if (api->name_of_error) *name = api->name_of_error(code);
    if (api->text_of_error) *text = api->text_of_error(code);
}

static const char *advice(int code) {
    switch (code) {
    case GPU_NOT_INITIALIZED:
        return "; a process that was forked after HIP was started cannot use it: fork first";
    case HIP_INSUFFICIENT_DRIVER: return "; the kernel's amdgpu is older than this ROCm needs";
    case GPU_NO_BINARY_FOR_GPU:
    case GPU_INVALID_IMAGE:
    case HIP_OBJECT_REFUSED:
        return "; the compiler may be newer than the runtime: set EVENER_HIPRTC to that of the "
               "same ROCm";
    case GPU_OPERATING_SYSTEM:
    case GPU_INVALID_DEVICE:
        return "; may this user open /dev/kfd and /dev/dri/renderD*? They are of the groups render "
               "and video";
    case GPU_ECC_UNCORRECTABLE: return "; the device's memory is faulty: see rocm-smi --showras";
    }
    return "";
}

static int refuses(int code) {
    return code == HIP_INVALID_CONFIGURATION || code == HIP_INVALID_FUNCTION ||
           code == HIP_SYMBOL_NOT_FOUND || code == HIP_OBJECT_REFUSED;
}

/* ---- devices ---- */

/* Reason not to load the runtime, which is large and slow to load: no AMD device is there. */
static const char *absent(void) {
    if (!access("/dev/kfd", F_OK) || !access("/dev/dxg", F_OK)) return NULL;
    return "there is no /dev/kfd: no AMD GPU, or its kernel driver amdgpu is not loaded; in a "
           "container, is it started with --device=/dev/kfd --device=/dev/dri?";
}

/* The name of a device's architecture is in a struct alone, whose layout has changed with ROCm 6;
 * so it is looked for behind the device's name, which is the first 256 bytes of both. Its features
 * (":sramecc+:xnack-") are left out: programs for the name alone run with either. */
enum { PROPERTIES = 8192, NAME = 256 };

static evn_status look(struct gpu_device *d) {
    const struct gpu_api *api = &d->driver.api;
    union {
        char byte[PROPERTIES];
        size_t alignment;
    } p;
    memset(&p, 0, sizeof p);
    const int is_new = api->device_properties_6 != NULL;
    if (!is_new && !api->device_properties)
        return evn_fail(EVN_MISSING, "%.400s has no hipGetDeviceProperties", d->driver.path);
    const int code =
        is_new ? api->device_properties_6(&p, d->ordinal) : api->device_properties(&p, d->ordinal);
    evn_status status =
        side_check(d, code, is_new ? GPU_CALL_device_properties_6 : GPU_CALL_device_properties);
    for (size_t at = NAME; !status && at < PROPERTIES - NAME; at += sizeof(int)) {
        if (memcmp(p.byte + at, "gfx", 3)) continue;
        snprintf(d->own, sizeof d->own, "%.*s", (int)strcspn(p.byte + at, ":"), p.byte + at);
        return EVN_OK;
    }
    return status ? status
                  : evn_fail(EVN_DEVICE, "the runtime does not say which architecture it has");
}

static int context_set(const struct gpu_device *d, enum gpu_call *call) {
    *call = GPU_CALL_device_set;
    return d->driver.api.device_set(d->ordinal);
}

static int context_open(struct gpu_device *d, enum gpu_call *call) {
    const int code = context_set(d, call);
    /* refused if the device is in use already, which does no harm */
    if (!code && d->base.blocks) d->driver.api.device_flags(GPU_WAIT_BLOCKED);
    return code;
}

static void context_close(struct gpu_device *d) { (void)d; }

/* Identity of a device, under which access between two devices stays enabled in this process. */
static const void *identity(const struct gpu_device *d) {
    return (const void *)(uintptr_t)(1 + d->ordinal);
}

static int peer_enable(const struct gpu_device *d, const struct gpu_device *other) {
    return d->driver.api.peer_enable_device(other->ordinal, 0);
}

static void peer_disable(const struct gpu_device *d, const struct gpu_device *other) {
    d->driver.api.peer_disable_device(other->ordinal);
}

static int copy_peer(const struct gpu_device *d, gpu_address to, const struct gpu_device *other,
                     gpu_address from, size_t bytes, gpu_stream stream, enum gpu_call *call) {
    *call = GPU_CALL_copy_peer_device;
    return d->driver.api.copy_peer_device((void *)(uintptr_t)to, d->ordinal,
                                          (const void *)(uintptr_t)from, other->ordinal, bytes,
                                          stream);
}

/* The runtime counts the items of a launch in 32 bits. */
static int most_groups(int items) { return (int)(UINT32_MAX / (unsigned)items); }

/* ---- the side ---- */

#define ATTRIBUTE(ours, cuda, cuda_value, hip, hip_value) [ours] = hip_value,
static const struct side side_hip = {
    .name = "hip",
    .which = GPU_HIP,
    .words = "HIP",
    .oldest = "ROCm 5.2 is the oldest that was tried",
    .visible = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"},
    .hidden = "may this user open /dev/kfd and /dev/dri/renderD*? They are of the groups render "
              "and video",
    .variable = "EVENER_LIBHIP",
    .library = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
    .install = "ROCm",
    .folders = folders_of_rocm,
    .compiler = &rtc_hiprtc,
    .attribute = {GPU_ATTRIBUTES(ATTRIBUTE)},
    .absent = absent,
    .words_of = words_of,
    .advice = advice,
    .refuses = refuses,
    .look = look,
    .context_open = context_open,
    .context_close = context_close,
    .context_set = context_set,
    .identity = identity,
    .peer_enable = peer_enable,
    .peer_disable = peer_disable,
    .copy_peer = copy_peer,
    .most_groups = most_groups,
};
#undef ATTRIBUTE

static evn_status hip_count(const char *text, int *count, char *why, size_t size) {
    return side_count(&side_hip, text, count, why, size);
}
static evn_status hip_open(evn_device *d, const char *text) {
    return side_open(&side_hip, d, text);
}

const struct backend backend_hip = {
    .name = "hip", .best = "hip", .count = hip_count, .open = hip_open, SIDE_SLOTS};
