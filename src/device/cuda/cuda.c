/* The back end "cuda": NVIDIA's devices by their driver, one side of device/gpu.
 *
 * Numbers of devices are after CUDA_VISIBLE_DEVICES and in the order that CUDA_DEVICE_ORDER says.
 * The driver is looked for in $EVENER_LIBCUDA (a file, and then nowhere else), where the loader
 * looks, and where WSL, NixOS, container runtimes and distributions keep it (find_libraries.h).
 *
 * A device is its primary context, which the CUDA runtime and its libraries use too.
 */
#include "device/cuda/find_libraries.h"
#include "device/gpu/gpu.h"
#include <stdint.h>
#include <stdio.h>

/* ---- errors ---- */

static void words_of(const struct gpu_api *api, int code, const char **name, const char **text) {
    /* the stub library fails here, too */
    if (api->error_name(code, name) || !*name)
        *name = code == CUDA_STUB_LIBRARY ? "CUDA_ERROR_STUB_LIBRARY" : NULL;
    if (api->error_text(code, text) || !*text)
        *text = code == CUDA_STUB_LIBRARY ? "the driver is a stub library" : NULL;
}

/* Advice for errors whose text has none. */
static const char *advice(int code) {
    switch (code) {
    case GPU_NOT_INITIALIZED:
        return "; a process that was forked after CUDA was started cannot use it: fork first";
    case CUDA_STUB_LIBRARY:
        return "; it is the stub of a CUDA toolkit, not a driver: install NVIDIA's driver, and "
               "take the toolkit's stubs folder out of LD_LIBRARY_PATH";
    case CUDA_NEWER_DRIVER: return "; the driver is too old";
    case CUDA_DEVICE_UNAVAILABLE:
        return "; another process has it for itself (exclusive compute mode), or MIG is on and has "
               "no instance";
    case GPU_ECC_UNCORRECTABLE: return "; the device's memory is faulty: see nvidia-smi -q";
    case CUDA_UNSUPPORTED_PTX_VERSION:
    case GPU_NO_BINARY_FOR_GPU:
    case GPU_INVALID_IMAGE:
        return "; the compiler may be newer than the driver: update the driver, or set "
               "EVENER_NVRTC to an older libnvrtc.so";
    case GPU_OPERATING_SYSTEM:
        return "; may this user open /dev/nvidia*? In a container, is it started with devices?";
    case GPU_LAUNCH_TIMEOUT: return "; a display on this device ends long kernels";
    case CUDA_SYSTEM_NOT_READY:
        return "; on a machine with NVSwitch, is nvidia-fabricmanager running?";
    case CUDA_SYSTEM_DRIVER_MISMATCH:
        return "; the driver was updated and the kernel still has the old one: restart the machine";
    case CUDA_COMPAT_NOT_SUPPORTED:
        return "; a cuda-compat folder is in LD_LIBRARY_PATH and this device does not support it";
    case GPU_UNKNOWN:
        return "; after a suspend, or without the kernel module nvidia-uvm: nvidia-modprobe -u";
    }
    return "";
}

static int refuses(int code) {
    return code == CUDA_JIT_NOT_FOUND || code == CUDA_UNSUPPORTED_PTX_VERSION ||
           code == CUDA_JIT_DISABLED;
}

/* ---- devices ---- */

static evn_status look(struct gpu_device *d) {
    int major = 0, minor = 0;
    int code = d->driver.api.device_attribute(&major, CUDA_MAJOR, d->device);
    if (!code) code = d->driver.api.device_attribute(&minor, CUDA_MINOR, d->device);
    d->architecture = 10 * major + minor;
    snprintf(d->own, sizeof d->own, "sm_%d", d->architecture);
    return side_check(d, code, GPU_CALL_device_attribute);
}

static int context_open(struct gpu_device *d, enum gpu_call *call) {
    /* older drivers ignore it for a context that exists, which does no harm */
    if (d->base.blocks) d->driver.api.context_flags(d->device, GPU_WAIT_BLOCKED);
    *call = GPU_CALL_context_retain;
    return d->driver.api.context_retain(&d->context, d->device);
}

static void context_close(struct gpu_device *d) {
    d->driver.api.context_release(d->device);
    /* the context may be gone, and must not stay current */
    d->driver.api.context_set(NULL);
}

static int context_set(const struct gpu_device *d, enum gpu_call *call) {
    *call = GPU_CALL_context_set;
    return d->driver.api.context_set(d->context);
}

static const void *identity(const struct gpu_device *d) { return d->context; }

static int peer_enable(const struct gpu_device *d, const struct gpu_device *other) {
    return d->driver.api.peer_enable(other->context, 0);
}

static void peer_disable(const struct gpu_device *d, const struct gpu_device *other) {
    d->driver.api.peer_disable(other->context);
}

static int copy_peer(const struct gpu_device *d, gpu_address to, const struct gpu_device *other,
                     gpu_address from, size_t bytes, gpu_stream stream, enum gpu_call *call) {
    *call = GPU_CALL_copy_peer;
    return d->driver.api.copy_peer(to, d->context, from, other->context, bytes, stream);
}

/* ---- kernels ---- */

static int module_open(const struct gpu_device *d, gpu_module *module, const void *image,
                       char *report, size_t size) {
    gpu_load_option option[] = {CUDA_JIT_ERRORS, CUDA_JIT_ERRORS_BYTES};
    void *value[] = {report, (void *)(uintptr_t)(size - 1)};
    const int code = d->driver.api.module_open(module, image, 2, option, value);
    report[size - 1] = 0;
    return code;
}

/* A multiprocessor divides one memory between groups and cache by the driver's guess; too little
 * for groups limits their number. So the driver is told the need of as many groups as registers
 * allow. A hint: only a lost context is a failure. */
static evn_status prefer_local(struct gpu_device *d, gpu_function function, int items) {
    const struct gpu_api *api = &d->driver.api;
    enum gpu_call call = GPU_CALL_function_groups;
    const int reserved = d->architecture < 80 ? 0 : 1024; /* the driver's bytes in each group */
    int bytes = 0, groups = 0;
    evn_status status =
        side_check(d, api->function_attribute(&bytes, GPU_KERNEL_LOCAL_BYTES, function),
                   GPU_CALL_function_attribute);
    if (status || !bytes || d->local_bytes <= 0) return status;
    int code = api->function_groups(&groups, function, items, 0);
    if (!code) {
        const long long wanted = (long long)groups * (bytes + reserved) * 100;
        const long long share = (wanted + d->local_bytes - 1) / d->local_bytes;
        call = GPU_CALL_function_set;
        code = api->function_set(function, CUDA_KERNEL_LOCAL_SHARE, share < 100 ? (int)share : 100);
    }
    status = side_check(d, code, call);
    return status == EVN_DEVICE ? status : EVN_OK;
}

/* ---- the side ---- */

#define ATTRIBUTE(ours, cuda, cuda_value, hip, hip_value) [ours] = cuda_value,
static const struct side side_cuda = {
    .name = "cuda",
    .which = GPU_CUDA,
    .words = "CUDA",
    .oldest = "CUDA 11.0 is the oldest that will do",
    .visible = {"CUDA_VISIBLE_DEVICES"},
    .hidden = "in a container, is it started with devices? With MIG on, is there an instance?",
    .variable = "EVENER_LIBCUDA",
    .library = {"libcuda.so.1", "libcuda.so"},
    .helper = "libnvidia-ptxjitcompiler.so.1",
    .install = "NVIDIA's driver",
    .folders = folders_of_driver,
    .stub = CUDA_STUB_LIBRARY,
    .compiler = &rtc_nvrtc,
    .attribute = {GPU_ATTRIBUTES(ATTRIBUTE)},
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
    .module_open = module_open,
    .prefer_local = prefer_local,
};
#undef ATTRIBUTE

static evn_status cuda_count(const char *text, int *count, char *why, size_t size) {
    return side_count(&side_cuda, text, count, why, size);
}
static evn_status cuda_open(evn_device *d, const char *text) {
    return side_open(&side_cuda, d, text);
}

const struct backend backend_cuda = {
    .name = "cuda", .best = "cuda", .count = cuda_count, .open = cuda_open, SIDE_SLOTS};
