/* The back end "cuda": NVIDIA's devices by their driver, opened at run time.
 *
 *     cuda                     all devices that the driver shows
 *     cuda:2                   the first two
 *     cuda:devices=0+2         these; one named twice is two devices that share it
 *     cuda:contract=off        a*b+c rounded twice in kernels, whatever the host does (on: once)
 *     cuda:peer=off            copies between devices by way of the host, which the driver does
 *
 * Numbers are those of the driver, after CUDA_VISIBLE_DEVICES and in the order that
 * CUDA_DEVICE_ORDER says. The driver is looked for in $EVENER_LIBCUDA (a file, and then nowhere
 * else), where the loader looks, and where WSL, NixOS, container runtimes and distributions keep it
 * (find_libraries.h).
 *
 * A program comes from the first of these that has it: the user's cache; a program for just this
 * architecture that was shipped with Evener (shipped.h); the run-time compiler NVRTC; text for an
 * earlier architecture that was shipped, which the driver compiles. So a device does without NVRTC
 * where the others have what it needs. What the driver refuses counts as not there.
 *
 * A device is its primary context, which the CUDA runtime and its libraries use too, so that they
 * and we see the same memory. It is made current before every call, since any of several threads
 * may come and other libraries change it.
 *
 * An error of the kind that the driver calls sticky (a kernel that strayed, memory that failed)
 * breaks the context for good: every later call returns it, and only a new process gets the device
 * back. Those are EVN_DEVICE; so is any error that is not known to be harmless.
 *
 * Direct copies between two devices are tried before they are used: there are machines whose driver
 * promises them and whose input-output memory management unit loses the data. There the driver goes
 * by way of the host.
 */
#include "base/text.h"
#include "device/backend.h"
#include "device/cache.h"
#include "device/cuda/api.h"
#include "device/cuda/find_libraries.h"
#include "device/cuda/nvrtc.h"
#include "device/cuda/shipped.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEVICES = 64, PROBE_BYTES = 1 << 16, REASON = 1000 };

struct driver {
    struct cuda_api api;
    void *library;
    int version; /* of CUDA, 12040 for 12.4 */
};

struct specification {
    int count; /* of devices asked for; 0: all */
    int listed, ordinal[MAX_DEVICES];
    int contract; /* -1: as the source says */
    int peer;
};

struct cuda_device {
    evn_device base;
    struct driver driver;
    struct nvrtc *compiler;   /* NULL: there is none, */
    char no_compiler[REASON]; /* for this reason */
    char compiler_id[64];     /* for the cache */
    char own[32];             /* the target of just this architecture, "sm_90" */
    char target[32];          /* what the compiler compiles for */
    int architecture;         /* 90 for 9.0 */
    CUdevice device;
    CUcontext context; /* NULL: not retained */
    int ordinal;
    int contract, peer;
    int local_bytes; /* of a multiprocessor, for groups */
    pthread_mutex_t lock;
    CUcontext peer_settled[MAX_DEVICES]; /* by ordinal: the context that the way was settled for */
};

struct cuda_buffer {
    evn_buffer base;
    CUdeviceptr address;
};
struct cuda_queue {
    evn_queue base;
    CUstream stream;
};
struct cuda_event {
    evn_event base;
    CUevent event;
};
struct cuda_program {
    evn_program base;
    CUmodule module;
};
struct cuda_kernel {
    evn_kernel base;
    CUfunction function;
    CUdeviceptr *address; /* of each parameter that is a buffer */
    void **argument;      /* where each argument's value is */
    atomic_int resident;  /* groups that the device has at a time; 0: not asked yet */
};

static struct cuda_device *device_of(evn_device *d) { return (struct cuda_device *)d; }
static CUdeviceptr place(const evn_buffer *b, size_t at) {
    return ((const struct cuda_buffer *)b)->address + at;
}
static CUstream stream_of(evn_queue *q) { return ((struct cuda_queue *)q)->stream; }
static CUevent event_of(evn_event *e) { return ((struct cuda_event *)e)->event; }

/* ---- errors ---- */

/* Advice for errors whose text from the driver gives none. */
static const char *advice(int code) {
    switch (code) {
    case CUDA_NOT_INITIALIZED:
        return "; a process that was forked after CUDA was started cannot use it: fork first";
    case CUDA_STUB_LIBRARY:
        return "; it is the stub of a CUDA toolkit, not a driver: install NVIDIA's driver, and "
               "take the toolkit's stubs folder out of LD_LIBRARY_PATH";
    case CUDA_NEWER_DRIVER: return "; the driver is too old";
    case CUDA_DEVICE_UNAVAILABLE:
        return "; another process has it for itself (exclusive compute mode), or MIG is on and has "
               "no instance";
    case CUDA_ECC_UNCORRECTABLE: return "; the device's memory is faulty: see nvidia-smi -q";
    case CUDA_UNSUPPORTED_PTX_VERSION:
    case CUDA_NO_BINARY_FOR_GPU:
    case CUDA_INVALID_IMAGE:
        return "; the compiler may be newer than the driver: update the driver, or set "
               "EVENER_NVRTC to an older libnvrtc.so";
    case CUDA_OPERATING_SYSTEM:
        return "; may this user open /dev/nvidia*? In a container, is it started with devices?";
    case CUDA_LAUNCH_TIMEOUT: return "; a display on this device ends long kernels";
    case CUDA_SYSTEM_NOT_READY:
        return "; on a machine with NVSwitch, is nvidia-fabricmanager running?";
    case CUDA_SYSTEM_DRIVER_MISMATCH:
        return "; the driver was updated and the kernel still has the old one: restart the machine";
    case CUDA_COMPAT_NOT_SUPPORTED:
        return "; a cuda-compat folder is in LD_LIBRARY_PATH and this device does not support it";
    case CUDA_UNKNOWN:
        return "; after a suspend, or without the kernel module nvidia-uvm: nvidia-modprobe -u";
    }
    return "";
}

static void describe(const struct cuda_api *api, int code, const char *call, char *text,
                     size_t size) {
    const char *name = NULL, *words = NULL;
    char number[32];
    /* the stub answers with an error here too */
    if (api->error_name(code, &name) || !name) {
        snprintf(number, sizeof number, "CUDA error %d", code);
        name = code == CUDA_STUB_LIBRARY ? "CUDA_ERROR_STUB_LIBRARY" : number;
    }
    if (api->error_text(code, &words) || !words)
        words = code == CUDA_STUB_LIBRARY ? "the driver is a stub library" : "no text";
    snprintf(text, size, "%s from %s: %s%s", name, call, words, advice(code));
}

/* Class of a call's error. */
static evn_status kind(int code) {
    switch (code) {
    case 0: return EVN_OK;
    case CUDA_OUT_OF_MEMORY: return EVN_MEMORY;
    case CUDA_INVALID_VALUE:
    case CUDA_NO_BINARY_FOR_GPU:
    case CUDA_INVALID_IMAGE:
    case CUDA_PEER_ACCESS_UNSUPPORTED:
    case CUDA_INVALID_PTX:
    case CUDA_JIT_NOT_FOUND:
    case CUDA_UNSUPPORTED_PTX_VERSION:
    case CUDA_JIT_DISABLED:
    case CUDA_INVALID_SOURCE:
    case CUDA_NOT_FOUND:
    case CUDA_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_TOO_LARGE:
    case CUDA_NOT_SUPPORTED: return EVN_SYSTEM;
    }
    return EVN_DEVICE;
}

static evn_status check(const struct cuda_device *d, int code, const char *call) {
    if (!code) return EVN_OK;
    char text[REASON];
    describe(&d->driver.api, code, call, text, sizeof text);
    return evn_fail(kind(code), "%s", text);
}

/* Errors of calls that wait: they concern accepted work, which is lost. */
static evn_status check_wait(const struct cuda_device *d, int code, const char *call) {
    return check(d, code, call) ? EVN_DEVICE : EVN_OK;
}

/* Makes the context current. That it cannot be means that it is gone. */
static evn_status enter(const struct cuda_device *d) {
    return check_wait(d, d->driver.api.context_set(d->context), "cuCtxSetCurrent");
}

/* ---- the driver ---- */

static void driver_close(struct driver *driver) {
    if (driver->library) dlclose(driver->library);
    driver->library = NULL;
}

static evn_status fill(struct driver *driver) {
    void *symbol;
    const char *absent = NULL;
#define CUDA_FIND(member, name, parameters)                                                        \
    symbol = dlsym(driver->library, #name);                                                        \
    memcpy(&driver->api.member, &symbol, sizeof symbol);
#define CUDA_REQUIRE(member, name, parameters)                                                     \
    CUDA_FIND(member, name, parameters)                                                            \
    if (!symbol && !absent) absent = #name;
    CUDA_FUNCTIONS(CUDA_REQUIRE, CUDA_FIND)
#undef CUDA_REQUIRE
#undef CUDA_FIND
    return absent
               ? evn_fail(EVN_MISSING, "it has no %s: CUDA 11.0 is the oldest that will do", absent)
               : EVN_OK;
}

static evn_status none_visible(void) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
        return evn_fail(EVN_DEVICE,
                        "the driver shows no device, and CUDA_VISIBLE_DEVICES is \"%.200s\"",
                        visible);
    return evn_fail(EVN_DEVICE, "the driver shows no device; in a container, is it started with "
                                "devices? With MIG on, is there an instance?");
}

/* Opens `file` and starts the driver in it. EVN_MISSING: it is none, or a stub; the next may be
 * one. Other failures are its answer. */
static evn_status driver_try(struct driver *driver, const char *file, int *is_there) {
    driver->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *is_there = driver->library != NULL;
    if (!driver->library) {
        const char *error = dlerror();
        return evn_fail(EVN_MISSING, "%.400s", error ? error : file);
    }
    char path[400], text[REASON];
    Dl_info info;
    void *symbol = dlsym(driver->library, "cuInit");
    snprintf(path, sizeof path, "%s",
             symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : file);
    evn_status status = fill(driver);
    if (status) return evn_fail(status, "%s cannot be used: %s", path, evn_message());
    const char *call = "cuInit";
    int code = driver->api.init(0);
    if (!code) {
        call = "cuDriverGetVersion";
        code = driver->api.driver_version(&driver->version);
    }
    if (!code) return EVN_OK;
    if (code == CUDA_NO_DEVICE || code == CUDA_INVALID_DEVICE) return none_visible();
    describe(&driver->api, code, call, text, sizeof text);
    return evn_fail(code == CUDA_STUB_LIBRARY ? EVN_MISSING : EVN_DEVICE, "%s: %s", path, text);
}

/* The driver opens its compiler by name alone, which the loader does not find in a folder that is
 * none of its own. */
static void load_helper(const char *folder) {
    char file[PATH_MAX + 64];
    snprintf(file, sizeof file, "%slibnvidia-ptxjitcompiler.so.1", folder);
    dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

/* In the folders at last, where only a file that is there is tried. */
static evn_status driver_find(struct driver *driver, const struct folders *f) {
    static const char *const usual[] = {"libcuda.so.1", "libcuda.so"};
    enum { USUAL = sizeof usual / sizeof *usual };
    char file[PATH_MAX + 32], first[400] = "", found[REASON] = "";
    for (int i = 0; i < USUAL + f->count; i++) {
        const char *folder = i < USUAL ? NULL : f->path[i - USUAL];
        int is_there;
        snprintf(file, sizeof file, "%s%s", folder ? folder : "", usual[folder ? 0 : i]);
        if (folder && access(file, F_OK)) continue;
        evn_status status = driver_try(driver, file, &is_there);
        if (!status && folder) load_helper(folder);
        if (!status) return EVN_OK;
        driver_close(driver);
        if (status != EVN_MISSING) return status;
        if (folder) is_there = 1;
        /* one that is there says more */
        if (is_there && !*found) snprintf(found, sizeof found, "%s", evn_message());
        if (!is_there && !*first) snprintf(first, sizeof first, "%s", evn_message());
    }
    if (*found) return evn_fail(EVN_MISSING, "%s", found);
    return evn_fail(EVN_MISSING,
                    "%s; nor is libcuda.so.1 in %s; install NVIDIA's driver, or set EVENER_LIBCUDA "
                    "to its file",
                    first, f->named);
}

/* Finds the driver and starts it; else evn_message() says why there is none. */
static evn_status driver_open(struct driver *driver) {
    const char *named = getenv("EVENER_LIBCUDA");
    int is_there;
    memset(driver, 0, sizeof *driver);
    if (named && *named) {
        evn_status status = driver_try(driver, named, &is_there);
        if (status) driver_close(driver);
        return status ? evn_fail(status, "EVENER_LIBCUDA=\"%.300s\": %s", named, evn_message())
                      : EVN_OK;
    }
    struct folders *f = folders_of_driver();
    if (!f) return evn_fail(EVN_MEMORY, "not enough memory to look for the driver");
    evn_status status = driver_find(driver, f);
    free(f);
    return status;
}

/* ---- specifications ---- */

static evn_status on_or_off(const evn_option *option, const char *text, int *out) {
    if (option->value && !strcmp(option->value, "on"))
        *out = 1;
    else if (option->value && !strcmp(option->value, "off"))
        *out = 0;
    else
        return evn_fail(EVN_USAGE, "device: \"%s\": %s must be on or off, not \"%s\"", text,
                        option->key, option->value ? option->value : "");
    return EVN_OK;
}

static evn_status parse_list(struct specification *s, const char *text, const char *list) {
    for (const char *p = list ? list : "";; p++) {
        long n;
        if (s->listed == MAX_DEVICES || !evn_text_number(&p, MAX_DEVICES - 1, &n))
            return evn_fail(EVN_USAGE,
                            "device: \"%s\": devices must be numbers from 0 to %d with + between "
                            "them, such as 0+2, not \"%s\"",
                            text, MAX_DEVICES - 1, list ? list : "");
        s->ordinal[s->listed++] = (int)n;
        if (!*p) return EVN_OK;
        if (*p != '+')
            return evn_fail(EVN_USAGE,
                            "device: \"%s\": devices must be numbers with + between them, such as "
                            "0+2, not \"%s\"",
                            text, list);
    }
}

static evn_status parse(struct specification *s, const char *text) {
    evn_spec spec;
    memset(s, 0, sizeof *s);
    s->contract = -1;
    s->peer = 1;
    evn_status status = evn_spec_parse(&spec, "device", text);
    for (int i = 0; !status && i < spec.options; i++) {
        const evn_option *option = &spec.option[i];
        const char *p = option->key;
        long n;
        if (!option->value && i == 0 && evn_text_number(&p, MAX_DEVICES, &n) && !*p && n > 0)
            s->count = (int)n;
        else if (!strcmp(option->key, "devices") && !s->listed)
            status = parse_list(s, text, option->value);
        else if (!strcmp(option->key, "contract"))
            status = on_or_off(option, text, &s->contract);
        else if (!strcmp(option->key, "peer"))
            status = on_or_off(option, text, &s->peer);
        else
            status = evn_fail(EVN_USAGE,
                              "device: \"%s\": \"%s\" is not understood here; expected a number of "
                              "devices from 1 to %d, devices=0+2, contract=on|off, peer=on|off",
                              text, option->key, MAX_DEVICES);
    }
    if (!status && s->count && s->listed)
        status = evn_fail(
            EVN_USAGE, "device: \"%s\": say how many devices or which (devices=), not both", text);
    return status;
}

/* Matches the request with the `have` devices, and numbers them. */
static evn_status settle(struct specification *s, const char *text, int have) {
    if (have > MAX_DEVICES) have = MAX_DEVICES;
    if (s->count > have)
        return evn_fail(EVN_MISSING, "device: \"%s\": asks for %d devices and the driver shows %d",
                        text, s->count, have);
    for (int i = 0; i < s->listed; i++)
        if (s->ordinal[i] >= have)
            return evn_fail(EVN_MISSING,
                            "device: \"%s\": there is no device %d; the driver shows %d, counted "
                            "from 0",
                            text, s->ordinal[i], have);
    if (s->listed) {
        s->count = s->listed;
        return EVN_OK;
    }
    if (!s->count) s->count = have;
    for (int i = 0; i < s->count; i++) s->ordinal[i] = i;
    return EVN_OK;
}

static evn_status count_devices(const struct driver *driver, int *have) {
    char text[REASON];
    int code = driver->api.device_count(have);
    if (!code) return *have > 0 ? EVN_OK : none_visible();
    describe(&driver->api, code, "cuDeviceGetCount", text, sizeof text);
    return evn_fail(EVN_DEVICE, "%s", text);
}

/* 1 if there is any source of kernels: a device without one is unusable. */
static evn_status kernels_somewhere(int driver) {
    struct nvrtc *compiler;
    evn_status status = nvrtc_open(&compiler, driver);
    if (!status) nvrtc_close(compiler);
    if (!status || shipped_has(NULL) || cache_is_there()) return EVN_OK;
    return evn_fail(status, "there are no compiled kernels (EVENER_KERNELS), and %s",
                    evn_message());
}

static evn_status cuda_count(const char *text, int *count, char *why, size_t size) {
    struct specification s;
    struct driver driver;
    *count = 0;
    evn_status status = parse(&s, text);
    if (status) return status;
    int have = 0;
    if (driver_open(&driver) || count_devices(&driver, &have) ||
        kernels_somewhere(driver.version)) {
        snprintf(why, size, "%s", evn_message());
    } else {
        status = settle(&s, text, have);
        *count = status ? 0 : s.count;
    }
    driver_close(&driver);
    return status;
}

/* ---- devices ---- */

static void cuda_close(evn_device *base) {
    struct cuda_device *d = device_of(base);
    if (d->context) {
        d->driver.api.context_release(d->device);
        /* it may be gone now and must not stay current */
        d->driver.api.context_set(NULL);
    }
    nvrtc_close(d->compiler);
    driver_close(&d->driver);
    pthread_mutex_destroy(&d->lock);
}

static evn_status attribute(struct cuda_device *d, int which, int *value) {
    return check(d, d->driver.api.device_attribute(value, which, d->device),
                 "cuDeviceGetAttribute");
}

static evn_status look(struct cuda_device *d, int sharing, int have) {
    const struct cuda_api *api = &d->driver.api;
    evn_traits *t = &d->base.traits;
    int major = 0, minor = 0, local = 0;
    size_t memory = 0;
    evn_status status =
        check(d, api->device_name(t->name, sizeof t->name, d->device), "cuDeviceGetName");
    if (!status) status = check(d, api->device_memory(&memory, d->device), "cuDeviceTotalMem");
    if (!status) status = attribute(d, CUDA_MAJOR, &major);
    if (!status) status = attribute(d, CUDA_MINOR, &minor);
    if (!status) status = attribute(d, CUDA_LOCAL_MEMORY, &local);
    if (!status) status = attribute(d, CUDA_LOCAL_OF_PROCESSOR, &d->local_bytes);
    if (!status) status = attribute(d, CUDA_PROCESSORS, &t->processors);
    if (!status) status = attribute(d, CUDA_ITEMS_OF_GROUP, &t->max_items);
    if (!status) status = attribute(d, CUDA_RESIDENT, &t->resident);
    if (status) return status;
    snprintf(t->architecture, sizeof t->architecture, "sm_%d", 10 * major + minor);
    t->memory = t->max_buffer = memory / (size_t)sharing;
    t->local_memory = (size_t)local;
    t->peer = have > 1 || sharing > 1;
    d->architecture = 10 * major + minor;
    snprintf(d->own, sizeof d->own, "sm_%d", d->architecture);
    return d->compiler ? nvrtc_target(d->compiler, d->architecture, d->target) : EVN_OK;
}

/* Sources of this device's kernels, in order. */
static void tell_kernels(struct cuda_device *d) {
    char *to = d->base.traits.kernels, folder[300];
    const size_t size = sizeof d->base.traits.kernels;
    int n = cache_is_there() ? snprintf(to, size, "the cache") : 0;
#define ADD(...)                                                                                   \
    (n += n < (int)size ? snprintf(to + n, size - (size_t)n, "%s", n ? ", else " : "") : 0,        \
     n += n < (int)size ? snprintf(to + n, size - (size_t)n, __VA_ARGS__) : 0)
    if (shipped_has(d->own) && shipped_folder(folder, sizeof folder))
        ADD("shipped for %s (%.200s)", d->own, folder);
    if (d->compiler)
        ADD("made for %s by NVRTC %d.%d (%.200s)", d->target, nvrtc_version(d->compiler) / 1000,
            nvrtc_version(d->compiler) % 1000 / 10, nvrtc_path(d->compiler));
    const char *target;
    for (int i = 0; (target = shipped_portable(d->architecture, i)); i++)
        if (shipped_has(target)) ADD("shipped as %s, which the driver compiles", target);
    if (!n) ADD("nowhere: %.300s", d->no_compiler);
#undef ADD
}

/* Identity of the compiler in keys: its file, since its version number does not change with
 * updates. */
static void name_compiler(struct cuda_device *d) {
    struct stat file;
    if (!d->compiler) return;
    if (stat(nvrtc_path(d->compiler), &file)) memset(&file, 0, sizeof file);
    snprintf(d->compiler_id, sizeof d->compiler_id, "NVRTC %d, %lld bytes of %lld",
             nvrtc_version(d->compiler), (long long)file.st_size, (long long)file.st_mtime);
}

static evn_status cuda_open(evn_device *base, const char *text) {
    struct cuda_device *d = device_of(base);
    struct specification s;
    pthread_mutex_init(&d->lock, NULL);
    int have = 0;
    evn_status status = parse(&s, text);
    if (!status) status = driver_open(&d->driver);
    if (!status) status = count_devices(&d->driver, &have);
    if (!status) status = settle(&s, text, have);
    if (!status && nvrtc_open(&d->compiler, d->driver.version))
        snprintf(d->no_compiler, sizeof d->no_compiler, "%s", evn_message());
    if (!status) {
        name_compiler(d);
        d->contract = s.contract;
        d->peer = s.peer;
        d->ordinal = s.ordinal[base->number];
        int sharing = 0;
        for (int i = 0; i < s.count; i++) sharing += s.ordinal[i] == d->ordinal;
        status = check(d, d->driver.api.device_get(&d->device, d->ordinal), "cuDeviceGet");
        if (!status) status = look(d, sharing, have);
    }
    /* where the context was there already, older drivers leave it as it is, which is as well */
    if (!status && base->blocks) d->driver.api.context_flags(d->device, CUDA_WAIT_BLOCKED);
    if (!status)
        status = check(d, d->driver.api.context_retain(&d->context, d->device),
                       "cuDevicePrimaryCtxRetain");
    if (!status) tell_kernels(d);
    if (status) cuda_close(base);
    return status;
}

/* ---- memory ---- */

static evn_status no_memory(const struct cuda_device *d, int code, const char *call) {
    size_t available, total;
    evn_status status = check(d, code, call);
    if (status == EVN_MEMORY && !d->driver.api.memory_info(&available, &total))
        return evn_fail(EVN_MEMORY, "%s; %zu MiB of %zu MiB are free", evn_message(),
                        available >> 20, total >> 20);
    return status;
}

static evn_status cuda_buffer_open(evn_buffer *b) {
    struct cuda_device *d = device_of(b->device);
    evn_status status = enter(d);
    if (status) return status;
    return no_memory(d, d->driver.api.memory_open(&((struct cuda_buffer *)b)->address, b->bytes),
                     "cuMemAlloc");
}

static void cuda_buffer_close(evn_buffer *b) {
    struct cuda_device *d = device_of(b->device);
    if (enter(d)) return;
    d->driver.api.context_finish(); /* queued work may use it */
    d->driver.api.memory_close(((struct cuda_buffer *)b)->address);
}

static evn_status cuda_host_open(void **out, evn_device *base, size_t bytes) {
    struct cuda_device *d = device_of(base);
    evn_status status = enter(d);
    if (status) return status;
    /* portable: at full speed for other devices too */
    return check(d, d->driver.api.host_open(out, bytes, CUDA_HOST_PORTABLE), "cuMemHostAlloc");
}

static void cuda_host_close(void *memory, evn_device *base) {
    struct cuda_device *d = device_of(base);
    if (enter(d)) return;
    d->driver.api.context_finish();
    d->driver.api.host_close(memory);
}

static evn_status cuda_host_register(evn_device *base, void *memory, size_t bytes) {
    struct cuda_device *d = device_of(base);
    const struct cuda_api *api = &d->driver.api;
    evn_status status = enter(d);
    if (status || !api->host_register || !api->host_unregister) return status;
    const int code = api->host_register(memory, bytes, CUDA_HOST_PORTABLE);
    if (code == CUDA_HOST_MEMORY_REGISTERED)
        return evn_fail(EVN_USAGE, "cuMemHostRegister: it is registered already, or a part of it");
    /* the system's refusal is no failure of the device's */
    if (code == CUDA_OUT_OF_MEMORY || code == CUDA_INVALID_VALUE || code == CUDA_NOT_SUPPORTED ||
        code == CUDA_OPERATING_SYSTEM)
        return evn_fail(EVN_MEMORY, "cuMemHostRegister: the system does not let so much stay in "
                                    "place, or not this memory");
    return check(d, code, "cuMemHostRegister");
}

static void cuda_host_unregister(void *memory, evn_device *base) {
    struct cuda_device *d = device_of(base);
    if (!d->driver.api.host_unregister || enter(d)) return;
    d->driver.api.context_finish();
    d->driver.api.host_unregister(memory);
}

static void *cuda_address(const evn_buffer *b) { return (void *)(uintptr_t)place(b, 0); }

static evn_status cuda_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                                      size_t bytes) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check(d, d->driver.api.copy_in(place(to, at), from, bytes, stream_of(q)),
                 "cuMemcpyHtoDAsync");
}

static evn_status cuda_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                                    size_t bytes) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check(d, d->driver.api.copy_out(to, place(from, at), bytes, stream_of(q)),
                 "cuMemcpyDtoHAsync");
}

static evn_status cuda_copy_within(evn_queue *q, evn_buffer *to, size_t to_at,
                                   const evn_buffer *from, size_t from_at, size_t bytes) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check(
        d, d->driver.api.copy_within(place(to, to_at), place(from, from_at), bytes, stream_of(q)),
        "cuMemcpyDtoDAsync");
}

/* ---- between devices ---- */

/* Objects of the probe on one device. */
struct probe {
    struct cuda_device *d;
    CUdeviceptr memory;
    CUstream stream;
};

static evn_status probe_open(struct probe *p, struct cuda_device *d) {
    const struct cuda_api *api = &d->driver.api;
    p->d = d;
    evn_status status = enter(d);
    if (!status) status = check(d, api->memory_open(&p->memory, PROBE_BYTES), "cuMemAlloc");
    if (!status)
        status = check(d, api->stream_open(&p->stream, CUDA_STREAM_NON_BLOCKING), "cuStreamCreate");
    return status;
}

static void probe_close(struct probe *p) {
    if (!p->d || enter(p->d)) return;
    if (p->stream) p->d->driver.api.stream_close(p->stream);
    if (p->memory) p->d->driver.api.memory_close(p->memory);
}

static evn_status probe_put(struct probe *p, const void *from) {
    const struct cuda_api *api = &p->d->driver.api;
    evn_status status = enter(p->d);
    if (!status)
        status =
            check(p->d, api->copy_in(p->memory, from, PROBE_BYTES, p->stream), "cuMemcpyHtoDAsync");
    if (!status) status = check_wait(p->d, api->stream_finish(p->stream), "cuStreamSynchronize");
    return status;
}

/* Sends a pattern from one to the other; *whole: it has come. */
static evn_status probe_run(struct probe *to, struct probe *from, unsigned char *sent,
                            unsigned char *got, int *whole) {
    const struct cuda_api *api = &to->d->driver.api;
    for (int i = 0; i < PROBE_BYTES; i++) sent[i] = (unsigned char)(i * 167 + (i >> 8) + 1);
    memset(got, 0, PROBE_BYTES);
    evn_status status = probe_put(from, sent);
    if (!status) status = probe_put(to, got);
    if (!status)
        status = check(to->d,
                       api->copy_peer(to->memory, to->d->context, from->memory, from->d->context,
                                      PROBE_BYTES, to->stream),
                       "cuMemcpyPeerAsync");
    if (!status)
        status = check(to->d, api->copy_out(got, to->memory, PROBE_BYTES, to->stream),
                       "cuMemcpyDtoHAsync");
    if (!status) status = check_wait(to->d, api->stream_finish(to->stream), "cuStreamSynchronize");
    *whole = !status && !memcmp(sent, got, PROBE_BYTES);
    return status;
}

/* Lets one device reach the other's memory. 0 if it may now; what fails for good is returned by the
 * next call again. */
static int let(struct cuda_device *d, struct cuda_device *other) {
    int can = 0;
    if (enter(d) || d->driver.api.device_peer(&can, d->device, other->device) || !can) return 1;
    int code = d->driver.api.peer_enable(other->context, 0);
    return code && code != CUDA_PEER_ACCESS_ALREADY_ENABLED;
}

static void forbid(struct cuda_device *d, struct cuda_device *other) {
    if (!enter(d)) d->driver.api.peer_disable(other->context);
}

/* Before the first copy from `from`: opens the direct way if there is one that works. Failures
 * leave the way by the host, unless the device is lost. */
static evn_status open_way(struct cuda_device *to, struct cuda_device *from) {
    struct probe at = {0}, off = {0};
    int direct = !let(to, from), whole = 0;
    int back = !let(from, to);
    evn_status status = EVN_OK;
    if (direct || back) {
        unsigned char *memory = malloc(2 * PROBE_BYTES);
        status = memory ? probe_open(&at, to)
                        : evn_fail(EVN_MEMORY, "not enough memory to try direct copies");
        if (!status) status = probe_open(&off, from);
        if (!status) status = probe_run(&at, &off, memory, memory + PROBE_BYTES, &whole);
        free(memory);
        char reason[REASON];
        snprintf(reason, sizeof reason, "%s", evn_message());
        probe_close(&off);
        probe_close(&at);
        if (!whole) {
            if (direct) forbid(to, from);
            if (back) forbid(from, to);
        }
        if (status == EVN_DEVICE)
            return evn_fail(EVN_DEVICE, "%s, when a direct copy was tried; peer=off does without",
                            reason);
    }
    return enter(to);
}

static evn_status cuda_connect(evn_device *base, evn_device *from) {
    struct cuda_device *d = device_of(base), *other = device_of(from);
    evn_status status = enter(d);
    if (d->ordinal == other->ordinal) return status;
    pthread_mutex_lock(&d->lock);
    if (!status && d->peer && other->peer && d->peer_settled[other->ordinal] != other->context) {
        status = open_way(d, other);
        d->peer_settled[other->ordinal] = other->context;
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

static evn_status cuda_copy_peer(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                                 size_t from_at, size_t bytes) {
    struct cuda_device *d = device_of(q->device), *other = device_of(from->device);
    if (d->ordinal == other->ordinal) return cuda_copy_within(q, to, to_at, from, from_at, bytes);
    evn_status status = cuda_connect(q->device, from->device);
    if (status) return status;
    return check(d,
                 d->driver.api.copy_peer(place(to, to_at), d->context, place(from, from_at),
                                         other->context, bytes, stream_of(q)),
                 "cuMemcpyPeerAsync");
}

/* ---- kernels ---- */

static evn_status load(struct cuda_device *d, struct cuda_program *p, const void *image) {
    char words[300] = "";
    CUjit_option option[] = {CUDA_JIT_ERRORS, CUDA_JIT_ERRORS_BYTES};
    void *value[] = {words, (void *)(uintptr_t)(sizeof words - 1)};
    int code = d->driver.api.module_open(&p->module, image, 2, option, value);
    evn_status status = no_memory(d, code, "cuModuleLoadDataEx");
    words[sizeof words - 1] = 0;
    words[strcspn(words, "\n")] = 0;
    if (status && *words) return evn_fail(status, "%s: %s", evn_message(), words);
    return status;
}

/* A requested program, and its inputs. */
struct wanted {
    struct cuda_device *d;
    struct cuda_program *p;
    const evn_kernel_source *source;
    const char *defines;
    int contract;
};

/* Hash of its inputs except the compiler: an entry of the cache begins with this mark, so that it
 * is found on machines without a compiler. */
static struct cache_key mark_of(const struct wanted *w, const char *target) {
    const char *part[] = {"cuda",     target,          w->contract ? "on" : "off",
                          w->defines, w->source->name, w->source->text};
    return cache_key(part, sizeof part / sizeof *part);
}

static struct cache_key key_of(const struct wanted *w) {
    const char *part[] = {
        "cuda, marked", w->d->compiler_id, w->d->target,   w->contract ? "on" : "off",
        w->defines,     w->source->name,   w->source->text};
    return cache_key(part, sizeof part / sizeof *part);
}

/* EVN_MISSING: there is none that is whole and that the driver takes; other failures are for good.
 */
static evn_status load_if_whole(const struct wanted *w, void *image, size_t bytes,
                                const char *target) {
    evn_status status = nvrtc_is_whole(image, bytes, target) ? load(w->d, w->p, image) : EVN_SYSTEM;
    free(image);
    return status == EVN_SYSTEM ? EVN_MISSING : status;
}

static evn_status from_cache(const struct wanted *w) {
    const int has = w->d->compiler != NULL;
    const char *target = has ? w->d->target : w->d->own;
    const struct cache_key mark = mark_of(w, target);
    void *image;
    size_t bytes;
    const int found =
        has ? cache_read(key_of(w), &image, &bytes) : cache_find(mark, &image, &bytes);
    if (!found) return EVN_MISSING;
    if (bytes < sizeof mark || memcmp(image, &mark, sizeof mark)) bytes = sizeof mark;
    bytes -= sizeof mark;
    memmove(image, (char *)image + sizeof mark, bytes);
    return load_if_whole(w, image, bytes, target);
}

/* Keeps an image behind its mark. */
static void keep(const struct wanted *w, const struct nvrtc_program *made) {
    const struct cache_key mark = mark_of(w, w->d->target);
    char *data = malloc(sizeof mark + made->bytes);
    if (!data) return;
    memcpy(data, &mark, sizeof mark);
    memcpy(data + sizeof mark, made->image, made->bytes);
    cache_write(key_of(w), data, sizeof mark + made->bytes);
    free(data);
}

static evn_status from_shipped(const struct wanted *w, const char *target) {
    const struct cache_key key =
        shipped_key(w->source->name, w->source->text, w->defines, w->contract, target);
    void *image;
    size_t bytes;
    if (!shipped_read(key, target, &image, &bytes)) return EVN_MISSING;
    if (!nvrtc_is_whole(image, bytes, target)) shipped_refused(key, target);
    return load_if_whole(w, image, bytes, target);
}

static evn_status from_compiler(const struct wanted *w) {
    struct cuda_device *d = w->d;
    struct nvrtc_program made;
    if (!d->compiler) return evn_fail(EVN_MISSING, "%s", d->no_compiler);
    evn_status status = nvrtc_compile(d->compiler, &made, w->source->name, w->source->text,
                                      d->target, w->defines, w->contract);
    if (status) return status;
    status = load(d, w->p, made.image);
    if (!status) keep(w, &made);
    nvrtc_program_close(&made);
    return status;
}

/* Without a compiler: what would help, in one line. */
static evn_status no_kernels(const struct wanted *w, evn_status status, const char *why) {
    char folder[300];
    if (w->d->compiler) return evn_fail(status, "%s", why);
    const int is_there = shipped_folder(folder, sizeof folder);
    return evn_fail(status, "no compiled kernels for %s%s%s (EVENER_KERNELS); %.600s", w->d->own,
                    is_there ? " in " : ": ", folder, why);
}

static evn_status cuda_program_open(evn_program *base) {
    struct cuda_device *d = device_of(base->device);
    const struct wanted w = {d, (struct cuda_program *)base, base->source,
                             base->defines ? base->defines : "",
                             d->contract < 0 ? base->source->contract : d->contract};
    char why[REASON];
    const char *target;
    evn_status status = enter(d);
    if (status) return status;
    status = from_cache(&w);
    if (status == EVN_MISSING) status = from_shipped(&w, d->own);
    if (status != EVN_MISSING) return status;
    status = from_compiler(&w);
    if (status != EVN_MISSING && status != EVN_SYSTEM) return status;
    snprintf(why, sizeof why, "%s", evn_message());
    for (int i = 0; (target = shipped_portable(d->architecture, i)); i++) {
        const evn_status other = from_shipped(&w, target);
        if (other != EVN_MISSING) return other;
    }
    return no_kernels(&w, status, why);
}

static void cuda_program_close(evn_program *base) {
    struct cuda_device *d = device_of(base->device);
    if (!enter(d)) d->driver.api.module_close(((struct cuda_program *)base)->module);
}

static void cuda_kernel_close(evn_kernel *base) {
    struct cuda_kernel *k = (struct cuda_kernel *)base;
    free(k->address);
    free(k->argument);
}

/* The device's compiler and the host's must have laid the parameters out alike. Drivers before 12.4
 * cannot tell. */
static evn_status compare_parameters(struct cuda_device *d, struct cuda_kernel *k, int parameters) {
    const int *size = k->base.entry->parameter;
    if (!d->driver.api.function_parameter) return EVN_OK;
    for (int i = 0; i <= parameters; i++) {
        size_t at, bytes, expected;
        int code = d->driver.api.function_parameter(k->function, (size_t)i, &at, &bytes);
        if (i == parameters) {
            if (code == CUDA_INVALID_VALUE) return EVN_OK;
            if (!code)
                return evn_fail(EVN_SYSTEM,
                                "it has more than the %d parameters that the host knows",
                                parameters);
        }
        evn_status status = check(d, code, "cuFuncGetParamInfo");
        if (status) return status;
        expected = parameter_is_buffer(size[i]) ? sizeof(CUdeviceptr) : (size_t)size[i];
        if (bytes != expected)
            return evn_fail(EVN_SYSTEM,
                            "parameter %d has %zu bytes on the device and %zu on the host", i,
                            bytes, expected);
    }
    return EVN_OK;
}

/* A multiprocessor divides one memory between groups and cache by the driver's guess; too little
 * for groups limits their number. So the driver is told the need of as many groups as registers
 * allow. A hint: only a lost context is a failure. */
static evn_status prefer_local(struct cuda_device *d, const struct cuda_kernel *k) {
    const struct cuda_api *api = &d->driver.api;
    const char *call = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    const int reserved = d->architecture < 80 ? 0 : 1024; /* of each group, for the driver */
    int bytes = 0, groups = 0;
    evn_status status =
        check(d, api->function_attribute(&bytes, CUDA_KERNEL_LOCAL_BYTES, k->function),
              "cuFuncGetAttribute");
    if (status || !bytes || d->local_bytes <= 0) return status;
    int code = api->function_groups(&groups, k->function, k->base.entry->items, 0);
    if (!code) {
        const long long wanted = (long long)groups * (bytes + reserved) * 100;
        const long long share = (wanted + d->local_bytes - 1) / d->local_bytes;
        call = "cuFuncSetAttribute";
        code =
            api->function_set(k->function, CUDA_KERNEL_LOCAL_SHARE, share < 100 ? (int)share : 100);
    }
    status = check(d, code, call);
    return status == EVN_DEVICE ? status : EVN_OK;
}

static evn_status cuda_kernel_open(evn_kernel *base) {
    struct cuda_kernel *k = (struct cuda_kernel *)base;
    struct cuda_device *d = device_of(base->program->device);
    const struct cuda_api *api = &d->driver.api;
    evn_status status = enter(d);
    if (status) return status;
    status = check(d,
                   api->function_get(&k->function, ((struct cuda_program *)base->program)->module,
                                     base->entry->name),
                   "cuModuleGetFunction");
    /* here, not at its first launch, where it would wait for all queues */
    if (!status && api->function_load)
        status = no_memory(d, api->function_load(k->function), "cuFuncLoad");
    const int parameters = parameter_count(base->entry);
    int max = 0;
    if (!status)
        status = check(d, api->function_attribute(&max, CUDA_KERNEL_MAX_ITEMS, k->function),
                       "cuFuncGetAttribute");
    if (!status && max < base->entry->items)
        return evn_fail(EVN_SYSTEM, "its registers suffice for groups of %d items and it has %d",
                        max, base->entry->items);
    if (!status) status = compare_parameters(d, k, parameters);
    if (!status) status = prefer_local(d, k);
    if (status) return status;
    k->address = calloc((size_t)parameters + 1, sizeof *k->address);
    k->argument = calloc((size_t)parameters + 1, sizeof *k->argument);
    if (k->address && k->argument) return EVN_OK;
    cuda_kernel_close(base);
    return evn_fail(EVN_MEMORY, "not enough memory for %d arguments", parameters);
}

static int cuda_resident(evn_kernel *base) {
    struct cuda_kernel *k = (struct cuda_kernel *)base;
    struct cuda_device *d = device_of(base->program->device);
    int groups = atomic_load(&k->resident);
    if (groups || enter(d) ||
        d->driver.api.function_groups(&groups, k->function, base->entry->items, 0))
        return groups;
    groups *= d->base.traits.processors;
    atomic_store(&k->resident, groups);
    return groups;
}

static evn_status cuda_launch(evn_queue *q, evn_kernel *base, int groups, int items,
                              int is_resident, const evn_argument *argument, int arguments) {
    struct cuda_kernel *k = (struct cuda_kernel *)base;
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    for (int i = 0; i < arguments; i++)
        if (argument[i].buffer) {
            k->address[i] = place(argument[i].buffer, 0);
            k->argument[i] = &k->address[i];
        } else {
            k->argument[i] = (void *)(uintptr_t)argument[i].value; /* read only */
        }
    if (is_resident)
        return check(d,
                     d->driver.api.launch_resident(k->function, (unsigned)groups, 1, 1,
                                                   (unsigned)items, 1, 1, 0, stream_of(q),
                                                   k->argument),
                     "cuLaunchCooperativeKernel");
    return check(d,
                 d->driver.api.launch(k->function, (unsigned)groups, 1, 1, (unsigned)items, 1, 1, 0,
                                      stream_of(q), k->argument, NULL),
                 "cuLaunchKernel");
}

/* ---- order and time ---- */

static evn_status cuda_queue_open(evn_queue *q) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    /* non-blocking: else it would wait for work of others on the default stream, and they for it */
    return check(
        d, d->driver.api.stream_open(&((struct cuda_queue *)q)->stream, CUDA_STREAM_NON_BLOCKING),
        "cuStreamCreate");
}

static evn_status cuda_queue_finish(evn_queue *q) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check_wait(d, d->driver.api.stream_finish(stream_of(q)), "cuStreamSynchronize");
}

static evn_status cuda_native(evn_queue *q, void **out) {
    evn_status status = enter(device_of(q->device));
    if (!status) *out = stream_of(q);
    return status;
}

static void cuda_queue_close(evn_queue *q) {
    struct cuda_device *d = device_of(q->device);
    if (enter(d)) return;
    d->driver.api.stream_finish(stream_of(q));
    d->driver.api.stream_close(stream_of(q));
}

static evn_status cuda_event_open(evn_event *e) {
    struct cuda_device *d = device_of(e->device);
    evn_status status = enter(d);
    if (status) return status;
    const unsigned flags = e->device->blocks ? CUDA_EVENT_BLOCKED : 0;
    return check(d, d->driver.api.event_open(&((struct cuda_event *)e)->event, flags),
                 "cuEventCreate");
}

static void cuda_event_close(evn_event *e) {
    struct cuda_device *d = device_of(e->device);
    if (!enter(d)) d->driver.api.event_close(event_of(e));
}

static evn_status cuda_event_record(evn_event *e, evn_queue *q) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check(d, d->driver.api.event_record(event_of(e), stream_of(q)), "cuEventRecord");
}

static evn_status cuda_queue_wait(evn_queue *q, evn_event *e) {
    struct cuda_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check(d, d->driver.api.stream_wait(stream_of(q), event_of(e), 0), "cuStreamWaitEvent");
}

static evn_status cuda_event_finish(evn_event *e) {
    struct cuda_device *d = device_of(e->device);
    evn_status status = enter(d);
    if (status) return status;
    return check_wait(d, d->driver.api.event_finish(event_of(e)), "cuEventSynchronize");
}

/* Failed work counts as done, and reports its failure when waited for. */
static int cuda_event_done(evn_event *e) {
    struct cuda_device *d = device_of(e->device);
    return enter(d) || d->driver.api.event_query(event_of(e)) != CUDA_NOT_READY;
}

static evn_status cuda_event_seconds(evn_event *begin, evn_event *end, double *seconds) {
    struct cuda_device *d = device_of(begin->device);
    float milliseconds = 0;
    evn_status status = cuda_event_finish(begin);
    if (!status) status = cuda_event_finish(end);
    if (!status)
        status = check(d, d->driver.api.event_time(&milliseconds, event_of(begin), event_of(end)),
                       "cuEventElapsedTime");
    if (!status) *seconds = 1e-3 * (double)milliseconds;
    return status;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .best = "cuda",
    .device_size = sizeof(struct cuda_device),
    .buffer_size = sizeof(struct cuda_buffer),
    .queue_size = sizeof(struct cuda_queue),
    .event_size = sizeof(struct cuda_event),
    .program_size = sizeof(struct cuda_program),
    .kernel_size = sizeof(struct cuda_kernel),
    .count = cuda_count,
    .open = cuda_open,
    .close = cuda_close,
    .buffer_open = cuda_buffer_open,
    .buffer_close = cuda_buffer_close,
    .address = cuda_address,
    .host_memory_open = cuda_host_open,
    .host_memory_close = cuda_host_close,
    .host_memory_register = cuda_host_register,
    .host_memory_unregister = cuda_host_unregister,
    .copy_to_device = cuda_copy_to_device,
    .copy_to_host = cuda_copy_to_host,
    .copy_within = cuda_copy_within,
    .copy_peer = cuda_copy_peer,
    .connect = cuda_connect,
    .program_open = cuda_program_open,
    .program_close = cuda_program_close,
    .kernel_open = cuda_kernel_open,
    .kernel_close = cuda_kernel_close,
    .launch = cuda_launch,
    .resident = cuda_resident,
    .queue_open = cuda_queue_open,
    .queue_close = cuda_queue_close,
    .queue_finish = cuda_queue_finish,
    .native = cuda_native,
    .event_open = cuda_event_open,
    .event_close = cuda_event_close,
    .event_record = cuda_event_record,
    .queue_wait = cuda_queue_wait,
    .event_finish = cuda_event_finish,
    .event_done = cuda_event_done,
    .event_seconds = cuda_event_seconds,
};
