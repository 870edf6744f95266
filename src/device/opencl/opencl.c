/* OpenCL: any device of version 1.2 or later that computes in double precision, found at run time
 * by the loader of drivers.
 *
 *     opencl                    all of them: GPUs first, then accelerators, then CPUs
 *     opencl:2                  the first two
 *     opencl:platform=NAME      with NAME in the platform's name, vendor or version: nvidia, pocl
 *     opencl:type=gpu|cpu|accelerator|any   of this type
 *     opencl:device=N           of those only the N-th, from 0
 *     opencl:contract=on|off    fuse a*b+c or not, whatever the source of the kernels says
 *     opencl:binaries=FOLDER    programs of a folder, for devices without a compiler (binaries.h)
 *
 * What the specification leaves to the driver, and what is done about it here:
 *
 * - Devices of one platform that one specification gives share a context, so that events and peer
 *   copies can go between them. A driver may set up all devices of a context, so name fewer where
 *   processes share a node. Between contexts the host waits and copies.
 * - In a shared context the driver moves a buffer as a whole to the device that touches it. A peer
 *   copy therefore never touches the other device's buffer: the source copies the piece into a
 *   small buffer of its own, and that one travels.
 * - Drivers allocate a buffer when it is first used, and a kernel fails then. Here it is used at
 *   once, so that the allocation itself fails.
 * - A command that fails later says so in its event only; clFinish() may still report success. So
 *   each queue keeps the events of its commands until they are done, and a failure names the
 *   command.
 * - A driver may leave commands in a queue until it is flushed, and other queues then wait for
 *   ever: each command is flushed.
 * - Times of markers are missing or wrong in some drivers: tried when a device is opened, and where
 *   it is so, a tiny copy takes their place.
 * - A compiler may fuse a*b+c although it was told not to: tried before the first program that
 *   forbids it, and refused.
 * - A compiler that makes loops of a group's items may lose what only some of them write between
 *   two barriers (versions of PoCL do): tried before the first program, and refused.
 * - Quotients and square roots may lack digits: tried before the first program, and refused.
 * - Double precision that is emulated in software is none: some drivers hang in it.
 * - Binaries depend on more than the device's name: the driver's version and the platform's are in
 *   their key, and one that does not load is compiled again.
 * - Drivers start threads when they are first asked for devices; those inherit the caller's cores,
 *   and do not survive a fork. So count devices before binding threads, and fork before counting.
 *
 * Buffers are aligned as the driver does it (CL_DEVICE_MEM_BASE_ADDR_ALIGN, 128 bytes with PoCL).
 */
#include "base/library.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/cache.h"
#include "device/opencl/api.h"
#include "device/opencl/binaries.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    BOUNCES = 4,         /* pieces of peer copies under way in a queue */
    PIECE = 4 << 20,     /* bytes of a piece */
    SWEEP = 64,          /* commands kept before the finished ones are looked for */
    NOTICE = 200,        /* characters kept of the driver's own reports */
    FEWEST_VERSION = 102 /* the least version, 1.2 */
};

/* ---- platforms and devices ---- */

struct platform {
    cl_platform_id id;
    char *name, *vendor, *version;
};

struct found {
    cl_device_id id;
    const struct platform *platform;
    cl_device_type type;
    char *name;
    int has_identity; /* 1: `identity` is known; two platforms may have the same device */
    unsigned char identity[16];
    char skip[160]; /* reason why it cannot be used; "" */
};

/* Shared by devices that events and copies may cross; see the top. */
struct context {
    struct context *next;
    int users;
    cl_context handle;
    cl_platform_id platform;
    int devices;
    cl_device_id *device;
    pthread_mutex_t lock;
    char notice[NOTICE]; /* the driver's latest own report */
};

/* Filled in once for the process, and kept: drivers do not like to be closed. */
static struct loader {
    struct opencl_api api;
    pid_t process;
    char why[512]; /* reason why there is no device; "" */
    struct platform *platform;
    int platforms;
    struct found *found; /* devices in the order of their numbers */
    int count;
    pthread_mutex_t lock; /* protects the contexts */
    struct context *contexts;
} loader = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct opencl_api *const cl = &loader.api;

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
                                                      ...) {
    size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, size - at, format, arguments);
    va_end(arguments);
}

/* "CL_OUT_OF_RESOURCES (-5): what it means" */
static const char *error_text(cl_int code, char *text, size_t size) {
    const char *name = NULL, *meaning = NULL;
    switch (code) {
#define CASE(error, number, text)                                                                  \
    case error:                                                                                    \
        name = #error;                                                                             \
        meaning = text;                                                                            \
        break;
        OPENCL_ERRORS(CASE)
#undef CASE
    case CL_ILLEGAL_READ_OR_WRITE_NV_:
        name = "NVIDIA's";
        meaning = "a kernel read or wrote outside of its buffers";
        break;
    default: name = "OpenCL error";
    }
    snprintf(text, size, "%s (%d)%s%s", name, code, meaning ? ": " : "", meaning ? meaning : "");
    return text;
}

/* Removes blanks at the ends, and double ones, as processors have them in their names. */
static void squeeze(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!isspace((unsigned char)*from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    while (to > text && to[-1] == ' ') to--;
    *to = 0;
}

static char *platform_text(cl_platform_id id, cl_platform_info what) {
    size_t size = 0;
    if (cl->GetPlatformInfo(id, what, 0, NULL, &size)) size = 0;
    char *text = calloc(1, size + 1);
    if (text && size && cl->GetPlatformInfo(id, what, size, text, NULL)) *text = 0;
    if (text) squeeze(text);
    return text;
}

static char *device_text(cl_device_id id, cl_device_info what) {
    size_t size = 0;
    if (cl->GetDeviceInfo(id, what, 0, NULL, &size)) size = 0;
    char *text = calloc(1, size + 1);
    if (text && size && cl->GetDeviceInfo(id, what, size, text, NULL)) *text = 0;
    if (text) squeeze(text);
    return text;
}

/* A device's property as a number of any width; 0: the driver does not know it. */
static cl_ulong device_number(cl_device_id id, cl_device_info what) {
    union {
        cl_uint narrow;
        cl_ulong wide;
    } value = {.wide = 0};
    size_t size = 0;
    if (cl->GetDeviceInfo(id, what, sizeof value, &value, &size)) return 0;
    return size == sizeof value.narrow ? value.narrow : value.wide;
}

/* 102 for "OpenCL 1.2 ..", 0 for anything else */
static int version_of(const char *text) {
    int major, minor;
    return sscanf(text, "OpenCL %d.%d", &major, &minor) == 2 ? 100 * major + minor : 0;
}

/* Writes to f->skip why a device cannot be used. 0: not enough memory for that. */
static int judge(struct found *f) {
    char *version = device_text(f->id, CL_DEVICE_VERSION);
    char *extensions = device_text(f->id, CL_DEVICE_EXTENSIONS);
    int ok = version && extensions;
    if (ok) {
        const union {
            int number;
            char first;
        } order = {.number = 1};
        const char *oldest =
            version_of(f->platform->version) < FEWEST_VERSION ? f->platform->version : version;
        if (version_of(oldest) < FEWEST_VERSION)
            snprintf(f->skip, sizeof f->skip, "it has \"%.60s\", OpenCL 1.2 is needed", oldest);
        else if (!device_number(f->id, CL_DEVICE_AVAILABLE))
            snprintf(f->skip, sizeof f->skip, "its driver says that it is not available");
        else if (!device_number(f->id, CL_DEVICE_DOUBLE_FP_CONFIG) &&
                 !strstr(extensions, "cl_khr_fp64"))
            snprintf(f->skip, sizeof f->skip, "it has no double precision (cl_khr_fp64)%s",
                     strcasestr(f->platform->name, "rusticl")
                         ? "; rusticl hides it unless RUSTICL_FEATURES=fp64 is set"
                         : "");
        else if (device_number(f->id, CL_DEVICE_DOUBLE_FP_CONFIG) & CL_FP_SOFT_FLOAT)
            snprintf(f->skip, sizeof f->skip,
                     "its double precision is emulated in software (CL_FP_SOFT_FLOAT)");
        else if (device_number(f->id, CL_DEVICE_ENDIAN_LITTLE) != (order.first == 1))
            snprintf(f->skip, sizeof f->skip, "its bytes are ordered otherwise than the host's");
        f->has_identity =
            strstr(extensions, "cl_khr_device_uuid") &&
            !cl->GetDeviceInfo(f->id, CL_DEVICE_UUID_KHR_, sizeof f->identity, f->identity, NULL);
    }
    free(version);
    free(extensions);
    return ok;
}

/* Skips a device that another platform offers too (the vendor's and Mesa's, say). */
static void skip_doubles(void) {
    for (int i = 0; i < loader.count; i++) {
        struct found *f = &loader.found[i];
        for (int k = 0; k < i && !*f->skip; k++) {
            const struct found *before = &loader.found[k];
            if (f->has_identity && before->has_identity && !*before->skip &&
                before->platform != f->platform &&
                !memcmp(f->identity, before->identity, sizeof f->identity))
                snprintf(f->skip, sizeof f->skip, "it is the one that platform \"%.60s\" has too",
                         before->platform->name);
        }
    }
}

/* Appends the platform's devices of one type. 0: not enough memory. */
static int find_devices(const struct platform *platform, cl_device_type type) {
    cl_uint count = 0;
    if (cl->GetDeviceIDs(platform->id, type, 0, NULL, &count) || !count) return 1;
    cl_device_id *id = calloc(count, sizeof *id);
    struct found *more =
        id ? realloc(loader.found, sizeof *more * ((size_t)loader.count + count)) : NULL;
    int ok = more != NULL;
    if (ok) loader.found = more;
    if (ok && !cl->GetDeviceIDs(platform->id, type, count, id, NULL))
        for (cl_uint i = 0; i < count && ok; i++) {
            struct found *f = &loader.found[loader.count];
            *f = (struct found){.id = id[i], .platform = platform, .type = type};
            f->name = device_text(id[i], CL_DEVICE_NAME);
            ok = f->name && judge(f);
            loader.count += ok;
        }
    free(id);
    return ok;
}

static int is_pocl(const struct platform *p) { return strstr(p->version, "PoCL") != NULL; }

static void find_all(void) {
    cl_uint count = 0;
    cl_int code = cl->GetPlatformIDs(0, NULL, &count);
    char error[160];
    if (code && code != CL_PLATFORM_NOT_FOUND_KHR_) {
        snprintf(loader.why, sizeof loader.why, "clGetPlatformIDs: %s",
                 error_text(code, error, sizeof error));
        return;
    }
    if (code || !count) {
        snprintf(loader.why, sizeof loader.why,
                 "OpenCL's loader is there, but no driver: none is registered in "
                 "/etc/OpenCL/vendors, or where OCL_ICD_VENDORS points; install the vendor's, or "
                 "PoCL (pocl-opencl-icd), which runs on the processor");
        return;
    }
    cl_platform_id *id = calloc(count, sizeof *id);
    loader.platform = calloc(count, sizeof *loader.platform);
    int ok = id && loader.platform;
    if (ok && !cl->GetPlatformIDs(count, id, NULL))
        for (cl_uint i = 0; i < count && ok; i++) {
            struct platform *p = &loader.platform[loader.platforms];
            *p = (struct platform){id[i], platform_text(id[i], CL_PLATFORM_NAME),
                                   platform_text(id[i], CL_PLATFORM_VENDOR),
                                   platform_text(id[i], CL_PLATFORM_VERSION)};
            ok = p->name && p->vendor && p->version;
            loader.platforms += ok;
        }
    free(id);
    const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                    CL_DEVICE_TYPE_CPU};
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < loader.platforms && ok; i++)
            ok = find_devices(&loader.platform[i], order[t]);
    if (!ok) {
        snprintf(loader.why, sizeof loader.why, "not enough memory to list OpenCL's devices");
        return;
    }
    skip_doubles();
    if (loader.count) return;
    add(loader.why, sizeof loader.why,
        "OpenCL has no device; its platform%s:", loader.platforms == 1 ? "" : "s");
    for (int i = 0; i < loader.platforms; i++)
        add(loader.why, sizeof loader.why, "%s \"%.80s\"%s", i ? "," : "", loader.platform[i].name,
            is_pocl(&loader.platform[i])
                ? " (has none where it cannot write to POCL_CACHE_DIR, XDG_CACHE_HOME or HOME)"
                : "");
}

static void load(void) {
    loader.process = getpid();
#define NAME(returns, name, parameters) "cl" #name,
    static const char *const names[] = {"libOpenCL.so.1", NULL};
    static const char *const calls[] = {OPENCL_FUNCTIONS(NAME) NULL};
#undef NAME
    static const struct library library = {
        .need = "OpenCL's loader of drivers cannot be opened",
        .names = names,
        .install = "install one (ocl-icd-libopencl1), of OpenCL 1.2 or later, and a driver",
        .calls = calls};
    void *call[sizeof calls / sizeof *calls];
    char file[32];
    _Static_assert(sizeof call == sizeof loader.api + sizeof *call, "a pointer for each name");
    if (library_open(&library, call, file, sizeof file))
        snprintf(loader.why, sizeof loader.why, "%s", evn_message());
    else
        memcpy(&loader.api, call, sizeof loader.api);
    if (!*loader.why) find_all();
}

/* 1 if there is any device; else the reason. */
static int ready(char *why, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (*loader.why)
        snprintf(why, size, "%s", loader.why);
    else if (loader.process != getpid())
        snprintf(why, size,
                 "this process was forked from one that had opened OpenCL, whose drivers do not "
                 "survive that; fork first");
    else
        return 1;
    return 0;
}

/* ---- which of them ---- */

struct choice {
    evn_spec spec;
    const char *platform; /* platform asked for; NULL: any */
    const char *binaries; /* folder of programs; NULL: none */
    long device, first;   /* number of the one device, or how many first ones; -1: all */
    cl_device_type types;
    int contract; /* -1: as the source says */
};

static evn_status understand(struct choice *c, const char *text) {
    static const char what[] = "device";
    *c = (struct choice){.device = -1, .first = -1, .contract = -1};
    c->types = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CPU;
    evn_status status = evn_spec_parse(&c->spec, what, text);
    for (int i = 0; i < c->spec.options && !status; i++) {
        const evn_option *o = &c->spec.option[i];
        const char *value = o->value ? o->value : "", *p = o->key;
        if (!o->value && evn_text_number(&p, 4096, &c->first) && !*p && c->first > 0) continue;
        if (!strcmp(o->key, "platform")) {
            c->platform = value;
            if (!*value)
                status = evn_fail(EVN_USAGE, "%s: \"%s\": platform needs a name, as platform=pocl",
                                  what, text);
        } else if (!strcmp(o->key, "device")) {
            status = evn_spec_number(o, what, text, 0, 4096, &c->device);
        } else if (!strcmp(o->key, "type")) {
            if (!strcmp(value, "gpu"))
                c->types = CL_DEVICE_TYPE_GPU;
            else if (!strcmp(value, "cpu"))
                c->types = CL_DEVICE_TYPE_CPU;
            else if (!strcmp(value, "accelerator"))
                c->types = CL_DEVICE_TYPE_ACCELERATOR;
            else if (strcmp(value, "any"))
                status = evn_fail(
                    EVN_USAGE, "%s: \"%s\": type must be gpu, cpu, accelerator or any, not \"%s\"",
                    what, text, value);
        } else if (!strcmp(o->key, "binaries")) {
            c->binaries = value;
            if (!*value)
                status = evn_fail(
                    EVN_USAGE, "%s: \"%s\": binaries needs a folder, as binaries=fpga", what, text);
        } else if (!strcmp(o->key, "contract")) {
            if (strcmp(value, "on") && strcmp(value, "off"))
                status = evn_fail(EVN_USAGE, "%s: \"%s\": contract must be on or off, not \"%s\"",
                                  what, text, value);
            c->contract = !strcmp(value, "on");
        } else {
            status = evn_fail(EVN_USAGE,
                              "%s: \"%s\": \"%s\" is no option, expected the number of devices, "
                              "platform=NAME, type=gpu|cpu|accelerator|any, device=N, "
                              "contract=on|off or binaries=FOLDER",
                              what, text, o->key);
        }
    }
    if (!status && c->device >= 0 && c->first >= 0)
        status =
            evn_fail(EVN_USAGE, "%s: \"%s\": either the first %ld devices or device=%ld, not both",
                     what, text, c->first, c->device);
    return status;
}

static int has(const char *text, const char *part) {
    for (size_t n = strlen(part); *text; text++)
        if (!strncasecmp(text, part, n)) return 1;
    return 0;
}

static int is_of(const struct choice *c, const struct platform *p) {
    return !c->platform || has(p->name, c->platform) || has(p->vendor, c->platform) ||
           has(p->version, c->platform);
}

static int compiles(cl_device_id id) {
    return device_number(id, CL_DEVICE_COMPILER_AVAILABLE) != 0;
}

/* The devices chosen, into `out` (room for all), and their number; where it is 0, why. Devices that
 * cannot be used are named in `why` in any case. */
static int choose(const struct choice *c, const struct found **out, char *why, size_t size) {
    int usable = 0, count = 0, platforms = 0;
    char skipped[512] = "";
    for (int i = 0; i < loader.platforms; i++) platforms += is_of(c, &loader.platform[i]);
    for (int i = 0; i < loader.count; i++) {
        const struct found *f = &loader.found[i];
        if (!is_of(c, f->platform) || !(f->type & c->types)) continue;
        const int lacks = !*f->skip && !c->binaries && !compiles(f->id);
        if (*f->skip || lacks)
            add(skipped, sizeof skipped, "%s\"%.80s\" is skipped: %s", *skipped ? "; " : "",
                f->name,
                lacks ? "its driver has no compiler, and no binaries=FOLDER is given" : f->skip);
        else
            out[usable++] = f;
    }
    if (c->device >= 0 && c->device < usable) {
        out[0] = out[c->device];
        count = 1;
    } else if (c->device < 0 && c->first <= usable) {
        count = c->first < 0 ? usable : (int)c->first;
    }
    if (!size) return count;
    *why = 0;
    if (!platforms) {
        add(why, size, "no OpenCL platform has \"%s\" in its name, vendor or version; there are",
            c->platform);
        for (int i = 0; i < loader.platforms; i++)
            add(why, size, "%s \"%.80s\"", i ? "," : "", loader.platform[i].name);
    } else if (!usable && !*skipped) {
        add(why, size,
            "OpenCL has %d device%s, but none that is asked for: look at type and platform",
            loader.count, loader.count == 1 ? "" : "s");
    } else if (!usable) {
        add(why, size, "OpenCL has no device that can be used");
    } else if (!count && c->device >= 0) {
        add(why, size, "device=%ld is asked for, and there %s %d, from 0", c->device,
            usable == 1 ? "is" : "are", usable);
    } else if (!count) {
        add(why, size, "%ld OpenCL devices are asked for, and there %s %d", c->first,
            usable == 1 ? "is" : "are", usable);
    }
    if (*skipped) add(why, size, "%s%s", *why ? "; " : "", skipped);
    return count;
}

static evn_status opencl_count(const char *text, int *count, char *why, size_t size) {
    struct choice choice;
    evn_status status = understand(&choice, text);
    *count = 0;
    if (status || !ready(why, size)) return status;
    const struct found **chosen = calloc((size_t)loader.count, sizeof *chosen);
    if (!chosen) return evn_fail(EVN_MEMORY, "not enough memory");
    *count = choose(&choice, chosen, why, size);
    free(chosen);
    return EVN_OK;
}

/* ---- contexts ---- */

static void notified(const char *text, const void *data, size_t size, void *user) {
    (void)data;
    (void)size;
    struct context *c = user;
    pthread_mutex_lock(&c->lock);
    snprintf(c->notice, sizeof c->notice, "%s", text);
    squeeze(c->notice);
    pthread_mutex_unlock(&c->lock);
}

static void context_free(struct context *c) {
    pthread_mutex_destroy(&c->lock);
    free(c->device);
    free(c);
}

/* Finds or makes the context of the chosen devices of one platform. */
static evn_status context_open(struct context **out, cl_platform_id platform,
                               const struct found *const *chosen, int count) {
    struct context *c = calloc(1, sizeof *c);
    if (c) c->device = calloc((size_t)count, sizeof *c->device);
    if (!c || !c->device) {
        free(c);
        return evn_fail(EVN_MEMORY, "not enough memory");
    }
    pthread_mutex_init(&c->lock, NULL);
    c->platform = platform;
    for (int i = 0; i < count; i++)
        if (chosen[i]->platform->id == platform) c->device[c->devices++] = chosen[i]->id;
    pthread_mutex_lock(&loader.lock);
    evn_status status = EVN_OK;
    struct context *old = loader.contexts;
    while (old && (old->platform != platform || old->devices != c->devices ||
                   memcmp(old->device, c->device, sizeof *c->device * (size_t)c->devices)))
        old = old->next;
    if (!old) {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                    (cl_context_properties)platform, 0};
        cl_int code = 0;
        c->handle =
            cl->CreateContext(properties, (cl_uint)c->devices, c->device, notified, c, &code);
        if (c->handle && !code) {
            old = c;
            c->next = loader.contexts;
            loader.contexts = c;
        } else {
            char error[160];
            status = evn_fail(code == CL_OUT_OF_HOST_MEMORY ? EVN_MEMORY : EVN_DEVICE,
                              "clCreateContext: %s", error_text(code, error, sizeof error));
        }
    }
    if (old) old->users++;
    pthread_mutex_unlock(&loader.lock);
    if (old != c) context_free(c);
    *out = old;
    return status;
}

static void context_close(struct context *c) {
    pthread_mutex_lock(&loader.lock);
    int last = !--c->users;
    if (last) {
        struct context **at = &loader.contexts;
        while (*at != c) at = &(*at)->next;
        *at = c->next;
    }
    pthread_mutex_unlock(&loader.lock);
    if (!last) return;
    cl->ReleaseContext(c->handle);
    context_free(c);
}

/* ---- devices ---- */

/* Memory of the host that the driver knows, or plain memory where it would not give any. */
struct pinned {
    struct pinned *next;
    void *memory;
    cl_mem handle; /* pinned buffer; NULL: plain memory */
    void *mapped;
};

struct opencl_device {
    evn_device base;
    cl_device_id id;
    struct context *context;
    int contract;              /* -1: as the source says */
    int compiles;              /* 0: there is no compiler */
    char *binaries;            /* folder of programs; NULL: none */
    cl_command_queue own;      /* queue for transfers that the host waits for */
    cl_command_queue outgoing; /* copies to peers; NULL: there are none */
    cl_mem tick;               /* tiny buffer, whose copies replace markers that have no time */
    int marker_has_time;
    int barriers; /* 0: not tried; 1: right; -1: writes are lost */
    int division; /* 0: not tried; 1: right; -1: not rounded correctly */
    char *key[5]; /* parts of the key of binaries: platform, driver and device */
    pthread_mutex_t lock;
    struct opencl_queue *queues; /* open queues */
    struct pinned *pinned;
    int contract_off; /* the compiler, told not to fuse: 1 obeys, -1 fuses, 0 not tried */
    int failed;
    char failure[400]; /* failure of a command that was not waited for */
};

/* A command under way. */
struct command {
    cl_event event;
    const char *what, *name; /* kind and name of the command, "kernel" and "fill" */
};

/* Buffer for one piece of a peer copy. */
struct bounce {
    cl_mem handle;
    size_t bytes;
    cl_event used; /* event of the last copy out of the buffer */
};

struct opencl_queue {
    evn_queue base;
    cl_command_queue handle;
    struct opencl_queue *next;
    pthread_mutex_t lock; /* protects the commands, which waiters for an event read, too */
    struct command *command;
    int commands, room;
    struct bounce bounce[BOUNCES];
    int next_bounce;
};

struct opencl_buffer {
    evn_buffer base;
    cl_mem handle;
};

struct opencl_event {
    evn_event base;
    cl_event handle;
};

struct opencl_program {
    evn_program base;
    cl_program handle;
};

struct opencl_kernel {
    evn_kernel base;
    cl_kernel handle;
};

static struct opencl_device *of(evn_device *d) { return (struct opencl_device *)d; }

/* The driver's own reports since the last call, as "; the driver: ..". */
static const char *notice(struct opencl_device *d, char *text, size_t size) {
    struct context *c = d->context;
    pthread_mutex_lock(&c->lock);
    snprintf(text, size, "%s%s", *c->notice ? "; the driver: " : "", c->notice);
    *c->notice = 0;
    pthread_mutex_unlock(&c->lock);
    return text;
}

/* Reports a call that the driver refused. */
static evn_status refused(struct opencl_device *d, cl_int code, const char *call) {
    evn_status status = EVN_SYSTEM;
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY: status = EVN_MEMORY; break;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_OUT_OF_RESOURCES:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_COMMAND_QUEUE:
    case CL_ILLEGAL_READ_OR_WRITE_NV_: status = EVN_DEVICE; break;
    }
    char error[160], said[NOTICE + 20];
    return evn_fail(status, "%s: %s%s", call, error_text(code, error, sizeof error),
                    notice(d, said, sizeof said));
}

/* Notes the failure of an accepted command; only the first counts. With d->lock held. */
static void note(struct opencl_device *d, const struct command *c, cl_int code) {
    if (d->failed) return;
    char error[160], said[NOTICE + 20];
    d->failed = 1;
    snprintf(d->failure, sizeof d->failure, "%s%s%s%s: %s%s", c->what, c->name ? " \"" : "",
             c->name ? c->name : "", c->name ? "\"" : "", error_text(code, error, sizeof error),
             notice(d, said, sizeof said));
}

/* EVN_DEVICE if a command of the device has failed. */
static evn_status verdict(struct opencl_device *d) {
    pthread_mutex_lock(&d->lock);
    evn_status status = d->failed ? evn_fail(EVN_DEVICE, "%s", d->failure) : EVN_OK;
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* Forgets the commands that are done, and gives the first that failed. With q->lock held. */
static cl_int sweep(struct opencl_queue *q, struct command *bad) {
    cl_int first = CL_SUCCESS;
    int done = 0;
    for (; done < q->commands; done++) {
        const struct command *c = &q->command[done];
        cl_int state = CL_COMPLETE;
        cl_int code = cl->GetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                       &state, NULL);
        if (code) state = code;
        if (state > CL_COMPLETE) break; /* in order: those behind are not done either */
        if (state < 0 && !first) {
            first = state;
            *bad = *c;
        }
        cl->ReleaseEvent(c->event);
    }
    q->commands -= done;
    if (done) memmove(q->command, q->command + done, sizeof *q->command * (size_t)q->commands);
    return first;
}

static void sweep_queue(struct opencl_device *d, struct opencl_queue *q) {
    struct command bad;
    pthread_mutex_lock(&q->lock);
    cl_int code = sweep(q, &bad);
    pthread_mutex_unlock(&q->lock);
    if (code) note(d, &bad, code);
}

static void sweep_device(struct opencl_device *d) {
    pthread_mutex_lock(&d->lock);
    for (struct opencl_queue *q = d->queues; q; q = q->next) sweep_queue(d, q);
    pthread_mutex_unlock(&d->lock);
}

/* Takes over the event of a command that has just been put into the queue, and sees that it starts.
 */
static evn_status started(struct opencl_queue *q, cl_event event, const char *what,
                          const char *name) {
    struct opencl_device *d = of(q->base.device);
    struct command bad;
    cl_int failed = CL_SUCCESS;
    int kept = 1;
    pthread_mutex_lock(&q->lock);
    if (q->commands == q->room && q->room) failed = sweep(q, &bad);
    if (q->commands > q->room / 2 || !q->room) {
        int room = q->room ? 2 * q->room : SWEEP;
        struct command *more = realloc(q->command, sizeof *more * (size_t)room);
        if (more) {
            q->command = more;
            q->room = room;
        }
    }
    kept = q->commands < q->room;
    if (kept) q->command[q->commands++] = (struct command){event, what, name};
    pthread_mutex_unlock(&q->lock);
    if (failed) {
        pthread_mutex_lock(&d->lock);
        note(d, &bad, failed);
        pthread_mutex_unlock(&d->lock);
    }
    cl_int code = cl->Flush(q->handle);
    if (!kept) { /* no memory to remember the event: wait for it */
        cl_int waited = cl->WaitForEvents(1, &event);
        cl->ReleaseEvent(event);
        if (!code) code = waited;
    }
    return code ? refused(d, code, "clFlush") : EVN_OK;
}

static cl_command_queue new_queue(struct opencl_device *d, cl_int *code) {
    return cl->CreateCommandQueue(d->context->handle, d->id, CL_QUEUE_PROFILING_ENABLE, code);
}

static int end_of(cl_event event, cl_ulong *time) {
    return !cl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *time, time, NULL);
}

/* Tries whether a marker before and one after a copy have times, before and after the copy's. The
 * copy is large enough to be under way when the second marker comes: some drivers take the marker's
 * time then, not when the commands before it are done. */
static cl_int try_markers(struct opencl_device *d) {
    cl_event event[3] = {0};
    cl_ulong time[3];
    cl_int code = 0;
    cl_mem large = cl->CreateBuffer(d->context->handle, CL_MEM_READ_WRITE, 2 * PIECE, NULL, &code);
    if (!code) code = cl->EnqueueMarkerWithWaitList(d->own, 0, NULL, &event[0]);
    if (!code)
        code = cl->EnqueueCopyBuffer(d->own, large, large, 0, PIECE, PIECE, 0, NULL, &event[1]);
    if (!code) code = cl->EnqueueMarkerWithWaitList(d->own, 0, NULL, &event[2]);
    if (!code) code = cl->Finish(d->own);
    d->marker_has_time = !code && end_of(event[0], &time[0]) && end_of(event[1], &time[1]) &&
                         end_of(event[2], &time[2]) && time[0] <= time[1] && time[1] <= time[2] &&
                         time[0] > 0;
    for (int i = 0; i < 3; i++)
        if (event[i]) cl->ReleaseEvent(event[i]);
    if (large) cl->ReleaseMemObject(large);
    return code;
}

/* The platform's version says whose it is: "OpenCL 3.0 PoCL 3.1+debian Linux, ..", "OpenCL 3.0
 * CUDA 12.4.89". */
static void architecture(char *out, size_t size, const char *version) {
    int skip = 0;
    sscanf(version, "OpenCL %*d.%*d %n", &skip);
    const char *own = version[skip] ? version + skip : version;
    snprintf(out, size, "%.*s", (int)strcspn(own, "+,"), own);
    squeeze(out);
}

static void opencl_close(evn_device *base) {
    struct opencl_device *d = of(base);
    while (d->pinned) { /* none, unless someone forgot */
        struct pinned *p = d->pinned;
        d->pinned = p->next;
        if (p->handle)
            cl->ReleaseMemObject(p->handle);
        else
            free(p->memory);
        free(p);
    }
    if (d->tick) cl->ReleaseMemObject(d->tick);
    if (d->outgoing) {
        cl->Finish(d->outgoing);
        cl->ReleaseCommandQueue(d->outgoing);
    }
    if (d->own) {
        cl->Finish(d->own);
        cl->ReleaseCommandQueue(d->own);
    }
    for (size_t i = 0; i < sizeof d->key / sizeof *d->key; i++) free(d->key[i]);
    free(d->binaries);
    if (d->context) context_close(d->context);
    pthread_mutex_destroy(&d->lock);
}

static evn_status begin(struct opencl_device *d, const struct found *f) {
    cl_int code = 0;
    d->own = new_queue(d, &code);
    if (!d->own || code) return refused(d, code, "clCreateCommandQueue");
    if (d->context->devices > 1) d->outgoing = new_queue(d, &code);
    if (code) return refused(d, code, "clCreateCommandQueue");
    d->tick = cl->CreateBuffer(d->context->handle, CL_MEM_READ_WRITE, 16, NULL, &code);
    if (!d->tick || code) return refused(d, code, "clCreateBuffer");
    code =
        cl->EnqueueWriteBuffer(d->own, d->tick, CL_TRUE, 0, 16, "0123456789abcdef", 0, NULL, NULL);
    if (!code) code = try_markers(d);
    if (code) return refused(d, code, "the first commands");
    d->key[0] = platform_text(f->platform->id, CL_PLATFORM_NAME);
    d->key[1] = platform_text(f->platform->id, CL_PLATFORM_VERSION);
    d->key[2] = device_text(f->id, CL_DEVICE_NAME);
    d->key[3] = device_text(f->id, CL_DEVICE_VERSION);
    d->key[4] = device_text(f->id, CL_DRIVER_VERSION);
    for (size_t i = 0; i < sizeof d->key / sizeof *d->key; i++)
        if (!d->key[i]) return evn_fail(EVN_MEMORY, "not enough memory");
    return EVN_OK;
}

static evn_status opencl_open(evn_device *base, const char *text) {
    struct opencl_device *d = of(base);
    struct choice choice;
    char why[512];
    evn_status status = understand(&choice, text);
    if (status) return status;
    if (!ready(why, sizeof why)) return evn_fail(EVN_MISSING, "%s", why);
    const struct found **chosen = calloc((size_t)loader.count, sizeof *chosen);
    if (!chosen) return evn_fail(EVN_MEMORY, "not enough memory");
    int count = choose(&choice, chosen, why, sizeof why);
    if (base->number >= count) {
        free(chosen);
        return evn_fail(EVN_MISSING, "%s", *why ? why : "there are not so many devices");
    }
    const struct found *f = chosen[base->number];
    d->id = f->id;
    d->contract = choice.contract;
    d->compiles = compiles(f->id);
    d->binaries = choice.binaries ? strdup(choice.binaries) : NULL;
    if (choice.binaries && !d->binaries) {
        free(chosen);
        return evn_fail(EVN_MEMORY, "not enough memory");
    }
    status = context_open(&d->context, f->platform->id, chosen, count);
    free(chosen);
    if (status) {
        free(d->binaries);
        return status;
    }
    pthread_mutex_init(&d->lock, NULL);
    status = begin(d, f);
    if (status) {
        opencl_close(base);
        return status;
    }
    base->accelerator = f->type & CL_DEVICE_TYPE_ACCELERATOR ? DEVICE_ACCELERATOR : DEVICE_OTHER;
    evn_traits *t = &base->traits;
    cl_ulong items = device_number(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    snprintf(t->name, sizeof t->name, "%s", f->name);
    architecture(t->architecture, sizeof t->architecture, f->platform->version);
    t->memory = device_number(d->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    t->max_buffer = device_number(d->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    t->local_memory = device_number(d->id, CL_DEVICE_LOCAL_MEM_SIZE);
    t->processors = (int)device_number(d->id, CL_DEVICE_MAX_COMPUTE_UNITS);
    t->max_items = items > 1 << 20 ? 1 << 20 : (int)items;
    t->peer = d->context->devices > 1;
    return EVN_OK;
}

/* ---- memory ---- */

static evn_status opencl_buffer_open(evn_buffer *base) {
    struct opencl_buffer *b = (struct opencl_buffer *)base;
    struct opencl_device *d = of(base->device);
    cl_int code = 0;
    const char *call = "clCreateBuffer";
    b->handle = cl->CreateBuffer(d->context->handle, CL_MEM_READ_WRITE, base->bytes, NULL, &code);
    if (b->handle && !code) { /* allocates the buffer now, on this device */
        call = "clEnqueueWriteBuffer";
        code = cl->EnqueueWriteBuffer(d->own, b->handle, CL_TRUE, 0, 1, "", 0, NULL, NULL);
        if (!code) return EVN_OK;
        cl->ReleaseMemObject(b->handle);
    }
    char error[160], said[NOTICE + 20];
    if (code == CL_OUT_OF_RESOURCES || code == CL_INVALID_BUFFER_SIZE)
        return evn_fail(EVN_MEMORY, "%s: %s%s", call, error_text(code, error, sizeof error),
                        notice(d, said, sizeof said));
    return refused(d, code, call);
}

static void opencl_buffer_close(evn_buffer *base) {
    /* the driver keeps buffers that commands still use */
    cl->ReleaseMemObject(((struct opencl_buffer *)base)->handle);
}

/* Makes a buffer in host memory, mapped as long as it lives: drivers copy from and to it without a
 * copy between. */
static void pin(struct opencl_device *d, struct pinned *p, size_t bytes) {
    cl_int code = 0;
    p->handle = cl->CreateBuffer(d->context->handle, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                 bytes + PAGE, NULL, &code);
    if (!p->handle || code) {
        p->handle = NULL;
        return;
    }
    p->mapped = cl->EnqueueMapBuffer(d->own, p->handle, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     bytes + PAGE, 0, NULL, NULL, &code);
    if (p->mapped && !code) {
        p->memory = (void *)(((uintptr_t)p->mapped + PAGE - 1) / PAGE * PAGE);
        return;
    }
    cl->ReleaseMemObject(p->handle);
    p->handle = NULL;
}

static evn_status opencl_host_memory_open(void **out, evn_device *base, size_t bytes) {
    struct opencl_device *d = of(base);
    struct pinned *p = calloc(1, sizeof *p);
    if (p && bytes <= base->traits.max_buffer - PAGE) pin(d, p, bytes);
    if (p && !p->handle && bytes <= SIZE_MAX - PAGE)
        p->memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (!p || !p->memory) {
        free(p);
        return evn_fail(EVN_MEMORY, "neither the driver nor the system has %zu bytes", bytes);
    }
    pthread_mutex_lock(&d->lock);
    p->next = d->pinned;
    d->pinned = p;
    pthread_mutex_unlock(&d->lock);
    *out = p->memory;
    return EVN_OK;
}

static void opencl_host_memory_close(void *memory, evn_device *base) {
    struct opencl_device *d = of(base);
    pthread_mutex_lock(&d->lock);
    struct pinned **at = &d->pinned;
    while (*at && (*at)->memory != memory) at = &(*at)->next;
    struct pinned *p = *at;
    if (p) *at = p->next;
    /* copies under way may still use it */
    for (struct opencl_queue *q = d->queues; p && q; q = q->next) cl->Finish(q->handle);
    pthread_mutex_unlock(&d->lock);
    if (!p) return;
    if (p->handle) {
        cl->EnqueueUnmapMemObject(d->own, p->handle, p->mapped, 0, NULL, NULL);
        cl->Finish(d->own);
        cl->ReleaseMemObject(p->handle);
    } else {
        free(p->memory);
    }
    free(p);
}

static evn_status opencl_copy_to_device(evn_queue *base, evn_buffer *to, size_t at,
                                        const void *from, size_t bytes) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    cl_event event;
    cl_int code = cl->EnqueueWriteBuffer(q->handle, ((struct opencl_buffer *)to)->handle, CL_FALSE,
                                         at, bytes, from, 0, NULL, &event);
    if (code) return refused(of(base->device), code, "clEnqueueWriteBuffer");
    return started(q, event, "copy to the device", NULL);
}

static evn_status opencl_copy_to_host(evn_queue *base, void *to, const evn_buffer *from, size_t at,
                                      size_t bytes) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    cl_event event;
    cl_int code = cl->EnqueueReadBuffer(q->handle, ((const struct opencl_buffer *)from)->handle,
                                        CL_FALSE, at, bytes, to, 0, NULL, &event);
    if (code) return refused(of(base->device), code, "clEnqueueReadBuffer");
    return started(q, event, "copy to the host", NULL);
}

static evn_status opencl_copy_within(evn_queue *base, evn_buffer *to, size_t to_at,
                                     const evn_buffer *from, size_t from_at, size_t bytes) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    cl_event event;
    cl_int code = cl->EnqueueCopyBuffer(q->handle, ((const struct opencl_buffer *)from)->handle,
                                        ((struct opencl_buffer *)to)->handle, from_at, to_at, bytes,
                                        0, NULL, &event);
    if (code) return refused(of(base->device), code, "clEnqueueCopyBuffer");
    return started(q, event, "copy within the device", NULL);
}

/* Makes a bounce buffer large enough. Copies under way keep the old one. */
static cl_int enlarge(struct opencl_device *d, struct bounce *b, size_t bytes) {
    if (b->bytes >= bytes) return CL_SUCCESS;
    size_t room = PAGE;
    while (room < bytes) room *= 2;
    cl_int code = 0;
    cl_mem handle = cl->CreateBuffer(d->context->handle, CL_MEM_READ_WRITE, room, NULL, &code);
    if (code) return code;
    if (b->handle) cl->ReleaseMemObject(b->handle);
    if (b->used) cl->ReleaseEvent(b->used);
    *b = (struct bounce){.handle = handle, .bytes = room};
    return CL_SUCCESS;
}

/* Carries one piece: from its device's buffer into a bounce when `q` has come here, and from there
 * when that is done. */
static cl_int carry(struct opencl_queue *q, cl_event here, struct opencl_buffer *to, size_t to_at,
                    const struct opencl_buffer *from, size_t from_at, size_t bytes,
                    cl_event *event) {
    struct opencl_device *source = of(from->base.device);
    struct bounce *b = &q->bounce[q->next_bounce];
    cl_event wait[2] = {here}, ready;
    q->next_bounce = (q->next_bounce + 1) % BOUNCES;
    cl_int code = enlarge(of(q->base.device), b, bytes);
    if (code) return code;
    if (b->used) wait[1] = b->used;
    code = cl->EnqueueCopyBuffer(source->outgoing, from->handle, b->handle, from_at, 0, bytes,
                                 b->used ? 2 : 1, wait, &ready);
    if (code) return code;
    code = cl->Flush(source->outgoing);
    if (!code)
        code = cl->EnqueueCopyBuffer(q->handle, b->handle, to->handle, 0, to_at, bytes, 1, &ready,
                                     event);
    cl->ReleaseEvent(ready);
    if (code) return code;
    if (b->used) cl->ReleaseEvent(b->used);
    b->used = *event;
    return cl->RetainEvent(*event);
}

/* Copies between contexts, through host memory; the host waits. */
static evn_status carry_by_host(struct opencl_queue *q, struct opencl_buffer *to, size_t to_at,
                                const struct opencl_buffer *from, size_t from_at, size_t bytes) {
    struct opencl_device *source = of(from->base.device), *d = of(q->base.device);
    size_t room = bytes < PIECE ? bytes : PIECE;
    void *stage = malloc(room);
    if (!stage) return evn_fail(EVN_MEMORY, "not enough memory to stage %zu bytes", room);
    cl_int code = cl->Finish(q->handle);
    evn_status status = code ? refused(d, code, "clFinish") : EVN_OK;
    for (size_t done = 0; done < bytes && !status; done += room) {
        size_t part = bytes - done < room ? bytes - done : room;
        code = cl->EnqueueReadBuffer(source->own, from->handle, CL_TRUE, from_at + done, part,
                                     stage, 0, NULL, NULL);
        if (code) {
            status = refused(source, code, "clEnqueueReadBuffer of the other device");
            break;
        }
        code = cl->EnqueueWriteBuffer(q->handle, to->handle, CL_TRUE, to_at + done, part, stage, 0,
                                      NULL, NULL);
        if (code) status = refused(d, code, "clEnqueueWriteBuffer");
    }
    free(stage);
    return status;
}

static evn_status opencl_copy_peer(evn_queue *base, evn_buffer *to_base, size_t to_at,
                                   const evn_buffer *from_base, size_t from_at, size_t bytes) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    struct opencl_device *d = of(base->device);
    struct opencl_buffer *to = (struct opencl_buffer *)to_base;
    const struct opencl_buffer *from = (const struct opencl_buffer *)from_base;
    if (of(from_base->device)->context != d->context)
        return carry_by_host(q, to, to_at, from, from_at, bytes);
    cl_event here, event;
    cl_int code = cl->EnqueueMarkerWithWaitList(q->handle, 0, NULL, &here);
    if (code) return refused(d, code, "clEnqueueMarkerWithWaitList");
    code = cl->Flush(q->handle);
    evn_status status = code ? refused(d, code, "clFlush") : EVN_OK;
    for (size_t done = 0; done < bytes && !status; done += PIECE) {
        size_t part = bytes - done < PIECE ? bytes - done : PIECE;
        code = carry(q, here, to, to_at + done, from, from_at + done, part, &event);
        status = code ? refused(d, code, "clEnqueueCopyBuffer")
                      : started(q, event, "copy from another device", NULL);
    }
    cl->ReleaseEvent(here);
    return status;
}

/* ---- programs ---- */

static const char OPTIONS[] = "-cl-std=CL1.2";
static const char NO_CONTRACT[] = "#pragma OPENCL FP_CONTRACT OFF\n";

/* Turns EVN_DEVICE of a compilation into EVN_SYSTEM: compilers that lack a part report it with the
 * codes of a failed device. */
static evn_status not_lost(evn_status status) { return status == EVN_DEVICE ? EVN_SYSTEM : status; }

/* The compiler's output from the first error on, in one line; to be freed. */
static char *build_log(struct opencl_device *d, cl_program program) {
    size_t size = 0;
    if (cl->GetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size)) size = 0;
    char *log = calloc(1, size + 1);
    if (!log || !size) return log;
    if (cl->GetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL)) *log = 0;
    char *error = strstr(log, "error");
    while (error && error > log && error[-1] != '\n') error--;
    if (error) memmove(log, error, strlen(error) + 1);
    squeeze(log);
    return log;
}

/* Gets the one binary of a program that was built for one device; to be freed. */
static int binary_of(struct opencl_device *d, cl_program program, void **data, size_t *size) {
    cl_device_id device[64];
    size_t bytes[64], room = 0, listed = 0;
    *data = NULL;
    if (cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, bytes, &room) ||
        cl->GetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, device, &listed))
        return 0;
    /* some drivers list all devices of the context here, and the built one among them */
    size_t count = room / sizeof *bytes, devices = listed / sizeof *device, mine = 0;
    if (count > 1)
        while (mine < devices && device[mine] != d->id) mine++;
    if (mine >= count || !bytes[mine]) return 0;
    unsigned char *binary[64] = {0};
    *size = bytes[mine];
    *data = binary[mine] = malloc(*size);
    if (*data &&
        !cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binary, binary, NULL))
        return 1;
    free(*data);
    *data = NULL;
    return 0;
}

/* The program from the cache; NULL: the driver refuses the binary, or kernels are missing in it. */
static cl_program from_binary(struct opencl_device *d, const char *options, const void *data,
                              size_t size, const evn_kernel_entry *entry) {
    const unsigned char *binary = data;
    cl_int each = 0, code = 0;
    cl_program program =
        cl->CreateProgramWithBinary(d->context->handle, 1, &d->id, &size, &binary, &each, &code);
    if (!program) return NULL;
    if (!code) code = each;
    if (!code) code = cl->BuildProgram(program, 1, &d->id, options, NULL, NULL);
    for (; !code && entry->name; entry++) {
        cl_kernel kernel = cl->CreateKernel(program, entry->name, &code);
        if (kernel) cl->ReleaseKernel(kernel);
    }
    if (!code) return program;
    cl->ReleaseProgram(program);
    return NULL;
}

static evn_status from_source(struct opencl_device *d, cl_program *out, const char *options,
                              const char *const text[2]) {
    cl_int code = 0;
    cl_program program =
        cl->CreateProgramWithSource(d->context->handle, 2, (const char **)text, NULL, &code);
    if (!program || code) return not_lost(refused(d, code, "clCreateProgramWithSource"));
    code = cl->BuildProgram(program, 1, &d->id, options, NULL, NULL);
    if (!code) {
        *out = program;
        return EVN_OK;
    }
    evn_status status;
    char *log = code == CL_BUILD_PROGRAM_FAILURE ? build_log(d, program) : NULL;
    if (log && *log)
        status = evn_fail(EVN_SYSTEM, "%s", log);
    else
        status = not_lost(refused(d, code, "clBuildProgram"));
    free(log);
    cl->ReleaseProgram(program);
    return status;
}

/* Builds `text`, from the cache where it is there. */
static evn_status build(struct opencl_device *d, cl_program *out, const char *text,
                        const char *options, int contract, const evn_kernel_entry *entry) {
    const char *head = contract ? "" : NO_CONTRACT;
    const char *const parts[] = {head, text};
    const char *const key_part[] = {"opencl 1", d->key[0], d->key[1], d->key[2], d->key[3],
                                    d->key[4],  options,   head,      text};
    struct cache_key key = cache_key(key_part, sizeof key_part / sizeof *key_part);
    void *binary = NULL;
    size_t size = 0;
    *out = NULL;
    if (cache_read(key, &binary, &size)) {
        *out = from_binary(d, options, binary, size, entry);
        free(binary);
    }
    if (*out) return EVN_OK;
    evn_status status = from_source(d, out, options, parts);
    if (status) return status;
    if (binary_of(d, *out, &binary, &size)) {
        cache_write(key, binary, size);
        free(binary);
    }
    return EVN_OK;
}

/* ---- trials of the compiler ---- */

/* Runs the kernel "trial" on `all` items over a buffer with `data`, and copies the buffer back to
 * `data`. `n`: its second argument, or NULL; `group`: items of a group, or NULL: any. */
static evn_status run_trial(struct opencl_device *d, cl_program program, void *data, size_t bytes,
                            const cl_int *n, size_t all, const size_t *group, const char *what) {
    cl_int code = 0;
    cl_mem buffer = NULL;
    cl_kernel kernel = cl->CreateKernel(program, "trial", &code);
    if (!code) buffer = cl->CreateBuffer(d->context->handle, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (!code) code = cl->SetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (!code && n) code = cl->SetKernelArg(kernel, 1, sizeof *n, n);
    if (!code)
        code = cl->EnqueueWriteBuffer(d->own, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    if (!code) code = cl->EnqueueNDRangeKernel(d->own, kernel, 1, NULL, &all, group, 0, NULL, NULL);
    if (!code) code = cl->EnqueueReadBuffer(d->own, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    if (buffer) cl->ReleaseMemObject(buffer);
    if (kernel) cl->ReleaseKernel(kernel);
    return code ? refused(d, code, what) : EVN_OK;
}

/* Compiles `text` and runs it, once a device: *verdict is 1 from then on, or -1 where `run` has
 * found the compiler wrong; 0 before. */
static evn_status try_compiler(struct opencl_device *d, int *verdict, const char *const text[2],
                               evn_status (*run)(struct opencl_device *d, cl_program program,
                                                 int *wrong)) {
    pthread_mutex_lock(&d->lock);
    evn_status status = EVN_OK;
    if (!*verdict) {
        cl_program program;
        int wrong = 0;
        status = from_source(d, &program, OPTIONS, text);
        if (!status) {
            status = run(d, program, &wrong);
            cl->ReleaseProgram(program);
        }
        if (!status) *verdict = wrong ? -1 : 1;
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* Evaluates a*b+c, in one expression and across two statements, for numbers where one rounding and
 * two give different results. */
static evn_status run_contract(struct opencl_device *d, cl_program program, int *wrong) {
    /* (1 + 2^-27)^2 = 1 + 2^-26 + 2^-54, the last of which is rounded away */
    double x[4] = {1 + 0x1p-27, -(1 + 0x1p-26), -1, -1};
    const size_t one = 1;
    evn_status status =
        run_trial(d, program, x, sizeof x, NULL, one, &one, "a trial of what the compiler fuses");
    *wrong = x[2] != 0 || x[3] != 0;
    return status;
}

/* EVN_SYSTEM if the compiler fuses a*b+c although it was told not to. */
static evn_status check_contract(struct opencl_device *d) {
    static const char *const text[] = {NO_CONTRACT,
                                       "#ifdef cl_khr_fp64\n"
                                       "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                                       "#endif\n"
                                       "__kernel void trial(__global double *x) {\n"
                                       "    double square = x[0] * x[0];\n"
                                       "    x[2] = x[0] * x[0] + x[1];\n"
                                       "    x[3] = square + x[1];\n"
                                       "}\n"};
    evn_status status = try_compiler(d, &d->contract_off, text, run_contract);
    if (status || d->contract_off > 0) return status;
    return evn_fail(EVN_SYSTEM,
                    "the compiler of \"%s\" fuses a*b+c although it is told not to (FP_CONTRACT "
                    "OFF); use contract=on",
                    d->key[0]);
}

enum { TRIAL_ITEMS = 256, TRIAL_ROUNDS = 4 };

/* Runs the kernel below and compares its sums. */
static evn_status run_barriers(struct opencl_device *d, cl_program program, int *wrong) {
    enum { GROUPS = 8 };
    const size_t items = TRIAL_ITEMS, all = GROUPS * items;
    cl_int n = 16, sum[GROUPS * TRIAL_ITEMS] = {0};
    evn_status status =
        run_trial(d, program, sum, sizeof sum, &n, all, &items, "a trial of its barriers");
    for (size_t i = 0; i < all; i++) *wrong += sum[i] != TRIAL_ROUNDS * (n + 1);
    return status;
}

/* EVN_SYSTEM if what the first item resets and the n first ones write between two barriers does not
 * come to all items: PoCL makes loops of items, and some of its versions lose such writes. Of other
 * platforms nothing of the kind is known. */
static evn_status check_barriers(struct opencl_device *d) {
    static const char *const text[] = {
        "", "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
            "void trial(__global int *sum, int n) {\n"
            "    __local int mark[256], cell;\n"
            "    int i = get_local_id(0), s = 0;\n"
            "    for (int round = 0; round < 4; round++) {\n"
            "        if (i == 0) cell = 0;\n"
            "        mark[i] = 0;\n"
            "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
            "        if (i < n) mark[i] = 1;\n"
            "        if (i == n - 1) cell = 1;\n"
            "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
            "        for (int k = 0; k < 256; k++) s += mark[k];\n"
            "        s += cell;\n"
            "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
            "    }\n"
            "    sum[get_global_id(0)] = s;\n"
            "}\n"};
    if (!d->key[1] || !strstr(d->key[1], "PoCL")) return EVN_OK;
    evn_status status = try_compiler(d, &d->barriers, text, run_barriers);
    if (status || d->barriers > 0) return status;
    return evn_fail(EVN_SYSTEM,
                    "the compiler of \"%s\" loses what some items of a group write between "
                    "barriers; set POCL_WORK_GROUP_METHOD=cbs, or use another version",
                    d->key[1]);
}

enum { TRIAL_VALUES = 64 };

/* Compares quotients and square roots with the host's. */
static evn_status run_division(struct opencl_device *d, cl_program program, int *wrong) {
    const size_t all = TRIAL_VALUES;
    double x[4 * TRIAL_VALUES] = {0}, *y = x + all, *quotient = y + all, *root = quotient + all;
    for (size_t i = 0; i < all; i++) {
        x[i] = 1 + (double)i / 7;
        y[i] = 3 + (double)(i * i) / 11;
    }
    evn_status status = run_trial(d, program, x, sizeof x, NULL, all, NULL, "a trial of divisions");
    for (size_t i = 0; i < all; i++) *wrong += quotient[i] != x[i] / y[i] || root[i] != sqrt(x[i]);
    return status;
}

/* EVN_SYSTEM if quotients or square roots are not rounded correctly, as OpenCL 1.2 has them in
 * double precision and results need them: rusticl's are said to have a float's digits. */
static evn_status check_division(struct opencl_device *d) {
    static const char *const text[] = {"#ifdef cl_khr_fp64\n"
                                       "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                                       "#endif\n",
                                       "__kernel void trial(__global double *x) {\n"
                                       "    size_t i = get_global_id(0);\n"
                                       "    x[128 + i] = x[i] / x[64 + i];\n"
                                       "    x[192 + i] = sqrt(x[i]);\n"
                                       "}\n"};
    evn_status status = try_compiler(d, &d->division, text, run_division);
    if (status || d->division > 0) return status;
    return evn_fail(EVN_SYSTEM,
                    "the compiler of \"%s\" does not round quotients and square roots of double "
                    "precision correctly, which results depend on; use another platform or version",
                    d->key[1] ? d->key[1] : d->key[0]);
}

/* ---- opening a program ---- */

static evn_status compile(struct opencl_device *d, cl_program *out, const evn_kernel_source *source,
                          const char *options, int contract) {
    evn_status status = check_barriers(d);
    if (!status) status = check_division(d);
    if (!status && !contract) status = check_contract(d);
    return status ? status : build(d, out, source->text, options, contract, source->entry);
}

/* What the device's compiler has made goes into the folder. */
static evn_status compile_into(struct opencl_device *d, cl_program *out,
                               const evn_kernel_source *source, int contract,
                               const struct binary_file *file) {
    void *data = NULL;
    size_t size = 0;
    evn_status status = compile(d, out, source, file->options, contract);
    if (status || !binary_of(d, *out, &data, &size)) return status;
    status = binary_keep(file, data, size);
    free(data);
    if (status) cl->ReleaseProgram(*out);
    return status;
}

/* The program of the folder; where it is not there, the compiler's. */
static evn_status from_folder(struct opencl_device *d, cl_program *out,
                              const evn_kernel_source *source, const char *options, int contract) {
    struct binary_file file = {.folder = d->binaries,
                               .name = source->name,
                               .options = options,
                               .head = contract ? "" : NO_CONTRACT,
                               .text = source->text};
    void *data = NULL;
    size_t size = 0;
    const int found = binary_find(&file, &data, &size);
    if (found < 0) return EVN_SYSTEM;
    if (!found && d->compiles) return compile_into(d, out, source, contract, &file);
    if (!found) return binary_ask(&file, d->base.traits.name);
    *out = from_binary(d, options, data, size, source->entry);
    free(data);
    if (*out) return EVN_OK;
    return evn_fail(EVN_SYSTEM, "%s is no program of \"%s\" with the kernels of \"%s\"", file.path,
                    d->base.traits.name, source->name);
}

static evn_status opencl_program_open(evn_program *base) {
    struct opencl_program *p = (struct opencl_program *)base;
    struct opencl_device *d = of(base->device);
    const evn_kernel_source *source = base->source;
    const char *defines = base->defines ? base->defines : "";
    int contract = d->contract < 0 ? source->contract != 0 : d->contract;
    evn_status status = EVN_OK;
    /* each define becomes at most " -D " longer */
    size_t room = sizeof OPTIONS + 32 + 5 * strlen(defines);
    char *options = malloc(room);
    if (!options) return evn_fail(EVN_MEMORY, "not enough memory");
    snprintf(options, room, "%s -D EVN_CONTRACT=%d", OPTIONS, contract);
    for (const char *at = defines; *at;) {
        size_t length = strcspn(at, " ");
        if (length) add(options, room, " -D %.*s", (int)length, at);
        at += length + (at[length] == ' ');
    }
    if (d->binaries)
        status = from_folder(d, &p->handle, source, options, contract);
    else
        status = compile(d, &p->handle, source, options, contract);
    free(options);
    return status;
}

static void opencl_program_close(evn_program *base) {
    cl->ReleaseProgram(((struct opencl_program *)base)->handle);
}

static evn_status opencl_kernel_open(evn_kernel *base) {
    struct opencl_kernel *k = (struct opencl_kernel *)base;
    struct opencl_device *d = of(base->program->device);
    const evn_kernel_entry *entry = base->entry;
    cl_int code = 0;
    k->handle =
        cl->CreateKernel(((struct opencl_program *)base->program)->handle, entry->name, &code);
    if (!k->handle || code) return not_lost(refused(d, code, "clCreateKernel"));
    evn_status status = EVN_OK;
    const cl_uint want = (cl_uint)parameter_count(entry);
    cl_uint have = 0;
    size_t items = 0;
    code = cl->GetKernelInfo(k->handle, CL_KERNEL_NUM_ARGS, sizeof have, &have, NULL);
    if (!code)
        code = cl->GetKernelWorkGroupInfo(k->handle, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof items,
                                          &items, NULL);
    if (code)
        status = refused(d, code, "clGetKernelInfo");
    else if (have != want)
        status = evn_fail(EVN_SYSTEM, "it has %u parameters for the device and %u for the host",
                          have, want);
    else if (items < (size_t)entry->items)
        status = evn_fail(EVN_SYSTEM,
                          "its groups have %d items and the device can run it with at most %zu",
                          entry->items, items);
    if (status) cl->ReleaseKernel(k->handle);
    return status;
}

static void opencl_kernel_close(evn_kernel *base) {
    cl->ReleaseKernel(((struct opencl_kernel *)base)->handle);
}

static evn_status opencl_launch(evn_queue *base, evn_kernel *kernel, int groups, int items,
                                int is_resident, const evn_argument *argument, int arguments) {
    (void)is_resident; /* never set: the traits have no resident launches */
    struct opencl_queue *q = (struct opencl_queue *)base;
    struct opencl_device *d = of(base->device);
    cl_kernel handle = ((struct opencl_kernel *)kernel)->handle;
    for (int i = 0; i < arguments; i++) {
        const struct opencl_buffer *b = (const struct opencl_buffer *)argument[i].buffer;
        cl_int code =
            b ? cl->SetKernelArg(handle, (cl_uint)i, sizeof b->handle, &b->handle)
              : cl->SetKernelArg(handle, (cl_uint)i, argument[i].bytes, argument[i].value);
        if (!code) continue;
        char call[48];
        snprintf(call, sizeof call, "clSetKernelArg, argument %d", i);
        return refused(d, code, call);
    }
    size_t group = (size_t)items, all = (size_t)groups * group;
    cl_event event;
    cl_int code =
        cl->EnqueueNDRangeKernel(q->handle, handle, 1, NULL, &all, &group, 0, NULL, &event);
    if (code) return refused(d, code, "clEnqueueNDRangeKernel");
    return started(q, event, "kernel", kernel->entry->name);
}

/* ---- order and time ---- */

static evn_status opencl_queue_open(evn_queue *base) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    struct opencl_device *d = of(base->device);
    cl_int code = 0;
    q->handle = new_queue(d, &code);
    if (!q->handle || code) return refused(d, code, "clCreateCommandQueue");
    pthread_mutex_init(&q->lock, NULL);
    pthread_mutex_lock(&d->lock);
    q->next = d->queues;
    d->queues = q;
    pthread_mutex_unlock(&d->lock);
    return EVN_OK;
}

static void opencl_queue_close(evn_queue *base) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    struct opencl_device *d = of(base->device);
    cl->Finish(q->handle);
    pthread_mutex_lock(&d->lock);
    sweep_queue(d, q);
    struct opencl_queue **at = &d->queues;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < q->commands; i++) cl->ReleaseEvent(q->command[i].event);
    for (int i = 0; i < BOUNCES; i++) {
        if (q->bounce[i].used) cl->ReleaseEvent(q->bounce[i].used);
        if (q->bounce[i].handle) cl->ReleaseMemObject(q->bounce[i].handle);
    }
    cl->ReleaseCommandQueue(q->handle);
    pthread_mutex_destroy(&q->lock);
    free(q->command);
}

static evn_status opencl_queue_finish(evn_queue *base) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    struct opencl_device *d = of(base->device);
    cl_int code = cl->Finish(q->handle);
    sweep_device(d);
    evn_status status = verdict(d);
    if (!status && code) status = refused(d, code, "clFinish");
    return status;
}

static evn_status opencl_event_open(evn_event *base) {
    (void)base; /* the driver's event is made when the event is recorded */
    return EVN_OK;
}

static void opencl_event_close(evn_event *base) {
    struct opencl_event *e = (struct opencl_event *)base;
    if (e->handle) cl->ReleaseEvent(e->handle);
}

static evn_status opencl_event_record(evn_event *base, evn_queue *queue) {
    struct opencl_event *e = (struct opencl_event *)base;
    struct opencl_queue *q = (struct opencl_queue *)queue;
    struct opencl_device *d = of(queue->device);
    cl_event event = NULL;
    cl_int code = d->marker_has_time ? cl->EnqueueMarkerWithWaitList(q->handle, 0, NULL, &event)
                                     : cl->EnqueueCopyBuffer(q->handle, d->tick, d->tick, 0, 8, 8,
                                                             0, NULL, &event);
    if (code) return refused(d, code, "clEnqueueMarkerWithWaitList");
    if (e->handle) cl->ReleaseEvent(e->handle);
    e->handle = event;
    code = cl->Flush(q->handle);
    return code ? refused(d, code, "clFlush") : EVN_OK;
}

/* Waits for an event and says whether anything on its device has failed. */
static evn_status wait_for(struct opencl_event *e) {
    struct opencl_device *d = of(e->base.device);
    cl_int code = cl->WaitForEvents(1, &e->handle);
    sweep_device(d);
    evn_status status = verdict(d);
    if (!status && code) status = refused(d, code, "clWaitForEvents");
    return status;
}

static evn_status opencl_queue_wait(evn_queue *base, evn_event *event) {
    struct opencl_queue *q = (struct opencl_queue *)base;
    struct opencl_event *e = (struct opencl_event *)event;
    struct opencl_device *d = of(base->device);
    if (of(event->device)->context != d->context) return wait_for(e); /* the host waits instead */
    cl_event done;
    cl_int code = cl->EnqueueBarrierWithWaitList(q->handle, 1, &e->handle, &done);
    if (code) return refused(d, code, "clEnqueueBarrierWithWaitList");
    return started(q, done, "wait for an event", NULL);
}

static evn_status opencl_event_finish(evn_event *base) {
    return wait_for((struct opencl_event *)base);
}

static int opencl_event_done(evn_event *base) {
    cl_int state = CL_COMPLETE;
    cl_int code = cl->GetEventInfo(((struct opencl_event *)base)->handle,
                                   CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code || state <= CL_COMPLETE;
}

static evn_status opencl_event_seconds(evn_event *begin_base, evn_event *end_base,
                                       double *seconds) {
    struct opencl_event *first = (struct opencl_event *)begin_base;
    struct opencl_event *last = (struct opencl_event *)end_base;
    cl_ulong from = 0, to = 0;
    evn_status status = wait_for(first);
    if (!status) status = wait_for(last);
    if (status) return status;
    /* a driver may report success and write no time */
    if (!end_of(first->handle, &from) || !end_of(last->handle, &to) || !from || !to)
        return evn_fail(EVN_SYSTEM, "the driver has no times of events");
    *seconds = 1e-9 * (double)(int64_t)(to - from);
    return EVN_OK;
}

const struct backend backend_opencl = {
    .name = "opencl",
    .best = "opencl:type=gpu",
    .device_size = sizeof(struct opencl_device),
    .buffer_size = sizeof(struct opencl_buffer),
    .queue_size = sizeof(struct opencl_queue),
    .event_size = sizeof(struct opencl_event),
    .program_size = sizeof(struct opencl_program),
    .kernel_size = sizeof(struct opencl_kernel),
    .count = opencl_count,
    .open = opencl_open,
    .close = opencl_close,
    .buffer_open = opencl_buffer_open,
    .buffer_close = opencl_buffer_close,
    .host_memory_open = opencl_host_memory_open,
    .host_memory_close = opencl_host_memory_close,
    .copy_to_device = opencl_copy_to_device,
    .copy_to_host = opencl_copy_to_host,
    .copy_within = opencl_copy_within,
    .copy_peer = opencl_copy_peer,
    .program_open = opencl_program_open,
    .program_close = opencl_program_close,
    .kernel_open = opencl_kernel_open,
    .kernel_close = opencl_kernel_close,
    .launch = opencl_launch,
    .queue_open = opencl_queue_open,
    .queue_close = opencl_queue_close,
    .queue_finish = opencl_queue_finish,
    .event_open = opencl_event_open,
    .event_close = opencl_event_close,
    .event_record = opencl_event_record,
    .queue_wait = opencl_queue_wait,
    .event_finish = opencl_event_finish,
    .event_done = opencl_event_done,
    .event_seconds = opencl_event_seconds,
};
