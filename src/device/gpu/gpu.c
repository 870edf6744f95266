/* Devices of drivers that are alike, CUDA's and HIP's: opened at run time, one for all sides.
 *
 *     NAME                     all devices that the driver shows
 *     NAME:2                   the first two
 *     NAME:devices=0+2         these; one named twice is two devices that share it
 *     NAME:contract=off        a*b+c rounded twice in kernels, whatever the host does (on: once)
 *     NAME:peer=off            copies between devices by way of the host, which the driver does
 *
 * Numbers are those of the driver, after the variables that hide devices.
 *
 * A program comes from the first of these that has it: the user's cache; a program for just this
 * architecture that was shipped with Evener (shipped.h); the run-time compiler; text for an
 * earlier architecture that was shipped, which the driver compiles. So a device does without the
 * compiler where the others have what it needs. What the driver refuses counts as not there.
 *
 * A device is the context that the side's own runtime and libraries use too, so that they and we
 * see the same memory. It is made current before every call, since any of several threads may come
 * and other libraries change it.
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
#include "device/cache.h"
#include "device/gpu/driver.h"
#include "device/gpu/shipped.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBE_BYTES = 1 << 16 };

struct specification {
    int count; /* number of devices asked for; 0: all */
    int listed, ordinal[GPU_DEVICES];
    int contract; /* -1: as the source says */
    int peer;
};

static struct gpu_device *device_of(evn_device *d) { return (struct gpu_device *)d; }
static gpu_address place(const evn_buffer *b, size_t at) {
    return ((const struct gpu_buffer *)b)->address + at;
}
static gpu_stream stream_of(evn_queue *q) { return ((struct gpu_queue *)q)->stream; }
static gpu_event event_of(evn_event *e) { return ((struct gpu_event_slot *)e)->event; }

/* Errors of calls that wait: they concern accepted work, which is lost. */
static evn_status check_wait(const struct gpu_device *d, int code, enum gpu_call call) {
    return side_check(d, code, call) ? EVN_DEVICE : EVN_OK;
}

/* Makes the context current; if that fails, the context is gone. */
static evn_status enter(const struct gpu_device *d) {
    enum gpu_call call = GPU_CALL_init;
    const int code = d->side->context_set(d, &call);
    return check_wait(d, code, call);
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
        if (s->listed == GPU_DEVICES || !evn_text_number(&p, GPU_DEVICES - 1, &n))
            return evn_fail(EVN_USAGE,
                            "device: \"%s\": devices must be numbers from 0 to %d with + between "
                            "them, such as 0+2, not \"%s\"",
                            text, GPU_DEVICES - 1, list ? list : "");
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
        if (!option->value && i == 0 && evn_text_number(&p, GPU_DEVICES, &n) && !*p && n > 0)
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
                              text, option->key, GPU_DEVICES);
    }
    if (!status && s->count && s->listed)
        status = evn_fail(
            EVN_USAGE, "device: \"%s\": say how many devices or which (devices=), not both", text);
    return status;
}

/* Matches the request with the `have` devices, and numbers them. */
static evn_status settle(struct specification *s, const char *text, int have) {
    if (have > GPU_DEVICES) have = GPU_DEVICES;
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

/* 1 if there is any source of kernels: a device without one is unusable. */
static evn_status kernels_somewhere(const struct side *side, const struct gpu_driver *driver) {
    struct rtc *compiler;
    evn_status status = side->compiler->open(&compiler, driver->version, driver->path);
    if (!status) rtc_close(compiler);
    if (!status || shipped_has(NULL) || cache_is_there()) return EVN_OK;
    return evn_fail(status, "there are no compiled kernels (EVENER_KERNELS), and %s",
                    evn_message());
}

evn_status side_count(const struct side *side, const char *text, int *count, char *why,
                      size_t size) {
    struct specification s;
    struct gpu_driver driver;
    *count = 0;
    evn_status status = parse(&s, text);
    if (status) return status;
    int have = 0;
    if (driver_open(side, &driver) || driver_count(side, &driver, &have) ||
        kernels_somewhere(side, &driver)) {
        snprintf(why, size, "%s", evn_message());
    } else {
        status = settle(&s, text, have);
        *count = status ? 0 : s.count;
    }
    driver_close(&driver);
    return status;
}

/* ---- devices ---- */

void side_close(evn_device *base) {
    struct gpu_device *d = device_of(base);
    if (d->is_open) d->side->context_close(d);
    rtc_close(d->compiler);
    driver_close(&d->driver);
    pthread_mutex_destroy(&d->lock);
}

static evn_status attribute(struct gpu_device *d, enum gpu_attribute which, int *value) {
    return side_check(d,
                      d->driver.api.device_attribute(value, d->side->attribute[which], d->device),
                      GPU_CALL_device_attribute);
}

static evn_status look(struct gpu_device *d, int sharing, int have) {
    const struct gpu_api *api = &d->driver.api;
    evn_traits *t = &d->base.traits;
    int local = 0;
    size_t memory = 0;
    evn_status status =
        side_check(d, api->device_name(t->name, sizeof t->name, d->device), GPU_CALL_device_name);
    if (!status)
        status = side_check(d, api->device_memory(&memory, d->device), GPU_CALL_device_memory);
    if (!status) status = d->side->look(d);
    if (!status) status = attribute(d, GPU_LOCAL_MEMORY, &local);
    if (!status) status = attribute(d, GPU_LOCAL_OF_PROCESSOR, &d->local_bytes);
    if (!status) status = attribute(d, GPU_PROCESSORS, &t->processors);
    if (!status) status = attribute(d, GPU_ITEMS_OF_GROUP, &t->max_items);
    if (!status && api->launch_resident) status = attribute(d, GPU_RESIDENT, &t->resident);
    if (status) return status;
    snprintf(t->architecture, sizeof t->architecture, "%s", d->own);
    t->memory = t->max_buffer = memory / (size_t)sharing;
    t->local_memory = (size_t)local;
    t->peer = have > 1 || sharing > 1;
    return d->compiler ? d->side->compiler->target(d->compiler, d->own, d->target) : EVN_OK;
}

/* Sources of this device's kernels, in order. */
static void tell_kernels(struct gpu_device *d) {
    char *to = d->base.traits.kernels, folder[300];
    const size_t size = sizeof d->base.traits.kernels;
    int n = cache_is_there() ? snprintf(to, size, "the cache") : 0;
#define ADD(...)                                                                                   \
    (n += n < (int)size ? snprintf(to + n, size - (size_t)n, "%s", n ? ", else " : "") : 0,        \
     n += n < (int)size ? snprintf(to + n, size - (size_t)n, __VA_ARGS__) : 0)
    if (shipped_has(d->own) && shipped_folder(folder, sizeof folder))
        ADD("shipped for %s (%.200s)", d->own, folder);
    if (d->compiler)
        ADD("made for %s by %s %d.%d (%.200s)", d->target, d->side->compiler->name,
            rtc_version(d->compiler) / 1000, rtc_version(d->compiler) % 1000 / 10,
            rtc_path(d->compiler));
    const char *target;
    for (int i = 0; (target = shipped_portable(d->architecture, i)); i++)
        if (shipped_has(target)) ADD("shipped as %s, which the driver compiles", target);
    if (!n) ADD("nowhere: %.300s", d->no_compiler);
#undef ADD
}

/* Identity of the compiler in keys: its file, since its version number does not change with
 * updates. */
static void name_compiler(struct gpu_device *d) {
    struct stat file;
    if (!d->compiler) return;
    if (stat(rtc_path(d->compiler), &file)) memset(&file, 0, sizeof file);
    snprintf(d->compiler_id, sizeof d->compiler_id, "%s %d, %lld bytes of %lld",
             d->side->compiler->name, rtc_version(d->compiler), (long long)file.st_size,
             (long long)file.st_mtime);
}

evn_status side_open(const struct side *side, evn_device *base, const char *text) {
    struct gpu_device *d = device_of(base);
    struct specification s;
    d->side = side;
    pthread_mutex_init(&d->lock, NULL);
    int have = 0;
    evn_status status = parse(&s, text);
    if (!status) status = driver_open(side, &d->driver);
    if (!status) status = driver_count(side, &d->driver, &have);
    if (!status) status = settle(&s, text, have);
    if (!status && side->compiler->open(&d->compiler, d->driver.version, d->driver.path))
        snprintf(d->no_compiler, sizeof d->no_compiler, "%s", evn_message());
    if (!status) {
        name_compiler(d);
        d->contract = s.contract;
        d->peer = s.peer;
        d->ordinal = s.ordinal[base->number];
        int sharing = 0;
        for (int i = 0; i < s.count; i++) sharing += s.ordinal[i] == d->ordinal;
        status =
            side_check(d, d->driver.api.device_get(&d->device, d->ordinal), GPU_CALL_device_get);
        if (!status) status = look(d, sharing, have);
    }
    if (!status) {
        enum gpu_call call = GPU_CALL_init;
        const int code = side->context_open(d, &call);
        status = side_check(d, code, call);
    }
    d->is_open = !status;
    if (!status) tell_kernels(d);
    if (status) side_close(base);
    return status;
}

/* ---- memory ---- */

static evn_status no_memory(const struct gpu_device *d, int code, enum gpu_call call) {
    size_t available, total;
    evn_status status = side_check(d, code, call);
    if (status == EVN_MEMORY && !d->driver.api.memory_info(&available, &total))
        return evn_fail(EVN_MEMORY, "%s; %zu MiB of %zu MiB are free", evn_message(),
                        available >> 20, total >> 20);
    return status;
}

evn_status side_buffer_open(evn_buffer *b) {
    struct gpu_device *d = device_of(b->device);
    evn_status status = enter(d);
    if (status) return status;
    return no_memory(d, d->driver.api.memory_open(&((struct gpu_buffer *)b)->address, b->bytes),
                     GPU_CALL_memory_open);
}

void side_buffer_close(evn_buffer *b) {
    struct gpu_device *d = device_of(b->device);
    if (enter(d)) return;
    d->driver.api.context_finish(); /* queued work may use it */
    d->driver.api.memory_close(((struct gpu_buffer *)b)->address);
}

evn_status side_host_open(void **out, evn_device *base, size_t bytes) {
    struct gpu_device *d = device_of(base);
    evn_status status = enter(d);
    if (status) return status;
    /* portable: at full speed for other devices too */
    return side_check(d, d->driver.api.host_open(out, bytes, GPU_HOST_PORTABLE),
                      GPU_CALL_host_open);
}

void side_host_close(void *memory, evn_device *base) {
    struct gpu_device *d = device_of(base);
    if (enter(d)) return;
    d->driver.api.context_finish();
    d->driver.api.host_close(memory);
}

evn_status side_host_register(evn_device *base, void *memory, size_t bytes) {
    struct gpu_device *d = device_of(base);
    const struct gpu_api *api = &d->driver.api;
    evn_status status = enter(d);
    if (status || !api->host_register || !api->host_unregister) return status;
    char name[80];
    const char *call = driver_call(d->side, GPU_CALL_host_register, name);
    const int code = api->host_register(memory, bytes, GPU_HOST_PORTABLE);
    if (code == GPU_HOST_MEMORY_REGISTERED)
        return evn_fail(EVN_USAGE, "%s: it is registered already, or a part of it", call);
    /* refused by the system: no failure of the device */
    if (code == GPU_OUT_OF_MEMORY || code == GPU_INVALID_VALUE || code == GPU_NOT_SUPPORTED ||
        code == GPU_OPERATING_SYSTEM)
        return evn_fail(
            EVN_MEMORY,
            "%s: the system lets no such memory stay in place (too much, or mapped from a "
            "file); copies work without",
            call);
    return side_check(d, code, GPU_CALL_host_register);
}

void side_host_unregister(void *memory, evn_device *base) {
    struct gpu_device *d = device_of(base);
    if (!d->driver.api.host_unregister || enter(d)) return;
    d->driver.api.context_finish();
    d->driver.api.host_unregister(memory);
}

void *side_address_of(const evn_buffer *b) { return (void *)(uintptr_t)place(b, 0); }

evn_status side_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                               size_t bytes) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return side_check(d, d->driver.api.copy_in(place(to, at), from, bytes, stream_of(q)),
                      GPU_CALL_copy_in);
}

evn_status side_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                             size_t bytes) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return side_check(d, d->driver.api.copy_out(to, place(from, at), bytes, stream_of(q)),
                      GPU_CALL_copy_out);
}

evn_status side_copy_within(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                            size_t from_at, size_t bytes) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return side_check(
        d, d->driver.api.copy_within(place(to, to_at), place(from, from_at), bytes, stream_of(q)),
        GPU_CALL_copy_within);
}

/* ---- between devices ---- */

/* Objects of the probe on one device. */
struct probe {
    struct gpu_device *d;
    gpu_address memory;
    gpu_stream stream;
};

static evn_status probe_open(struct probe *p, struct gpu_device *d) {
    const struct gpu_api *api = &d->driver.api;
    p->d = d;
    evn_status status = enter(d);
    if (!status)
        status = side_check(d, api->memory_open(&p->memory, PROBE_BYTES), GPU_CALL_memory_open);
    if (!status)
        status = side_check(d, api->stream_open(&p->stream, GPU_STREAM_NON_BLOCKING),
                            GPU_CALL_stream_open);
    return status;
}

static void probe_close(struct probe *p) {
    if (!p->d || enter(p->d)) return;
    if (p->stream) p->d->driver.api.stream_close(p->stream);
    if (p->memory) p->d->driver.api.memory_close(p->memory);
}

static evn_status probe_put(struct probe *p, const void *from) {
    const struct gpu_api *api = &p->d->driver.api;
    evn_status status = enter(p->d);
    if (!status)
        status = side_check(p->d, api->copy_in(p->memory, from, PROBE_BYTES, p->stream),
                            GPU_CALL_copy_in);
    if (!status) status = check_wait(p->d, api->stream_finish(p->stream), GPU_CALL_stream_finish);
    return status;
}

static evn_status copy_between(struct gpu_device *d, gpu_address to, struct gpu_device *other,
                               gpu_address from, size_t bytes, gpu_stream stream) {
    enum gpu_call call = GPU_CALL_init;
    const int code = d->side->copy_peer(d, to, other, from, bytes, stream, &call);
    return side_check(d, code, call);
}

/* Copies a pattern from one device to the other; *whole: 1 if it arrived unchanged. */
static evn_status probe_run(struct probe *to, struct probe *from, unsigned char *sent,
                            unsigned char *got, int *whole) {
    const struct gpu_api *api = &to->d->driver.api;
    for (int i = 0; i < PROBE_BYTES; i++) sent[i] = (unsigned char)(i * 167 + (i >> 8) + 1);
    memset(got, 0, PROBE_BYTES);
    evn_status status = probe_put(from, sent);
    if (!status) status = probe_put(to, got);
    if (!status)
        status = copy_between(to->d, to->memory, from->d, from->memory, PROBE_BYTES, to->stream);
    if (!status)
        status = side_check(to->d, api->copy_out(got, to->memory, PROBE_BYTES, to->stream),
                            GPU_CALL_copy_out);
    if (!status) status = check_wait(to->d, api->stream_finish(to->stream), GPU_CALL_stream_finish);
    *whole = !status && !memcmp(sent, got, PROBE_BYTES);
    return status;
}

/* Lets one device access the other's memory; 0: it may. The next call returns a permanent failure
 * again. */
static int let(struct gpu_device *d, struct gpu_device *other) {
    int can = 0;
    if (enter(d) || d->driver.api.device_peer(&can, d->device, other->device) || !can) return 1;
    const int code = d->side->peer_enable(d, other);
    return code && code != GPU_PEER_ACCESS_ALREADY_ENABLED;
}

static void forbid(struct gpu_device *d, struct gpu_device *other) {
    if (!enter(d)) d->side->peer_disable(d, other);
}

/* Before the first copy from `from`: opens the direct way if there is one that works. Failures
 * leave the way by the host, unless the device is lost. */
static evn_status open_way(struct gpu_device *to, struct gpu_device *from) {
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
        char reason[GPU_REASON];
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

evn_status side_connect(evn_device *base, evn_device *from) {
    struct gpu_device *d = device_of(base), *other = device_of(from);
    evn_status status = enter(d);
    if (d->ordinal == other->ordinal) return status;
    pthread_mutex_lock(&d->lock);
    if (!status && d->peer && other->peer &&
        d->peer_settled[other->ordinal] != d->side->identity(other)) {
        status = open_way(d, other);
        d->peer_settled[other->ordinal] = d->side->identity(other);
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

evn_status side_copy_peer(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                          size_t from_at, size_t bytes) {
    struct gpu_device *d = device_of(q->device), *other = device_of(from->device);
    if (d->ordinal == other->ordinal) return side_copy_within(q, to, to_at, from, from_at, bytes);
    evn_status status = side_connect(q->device, from->device);
    if (status) return status;
    return copy_between(d, place(to, to_at), other, place(from, from_at), bytes, stream_of(q));
}

/* ---- kernels ---- */

static evn_status load(struct gpu_device *d, struct gpu_program *p, const void *image) {
    char words[300] = "";
    const int code = d->side->module_open
                         ? d->side->module_open(d, &p->module, image, words, sizeof words)
                         : d->driver.api.module_open(&p->module, image, 0, NULL, NULL);
    evn_status status = no_memory(d, code, GPU_CALL_module_open);
    words[strcspn(words, "\n")] = 0;
    if (status && *words) return evn_fail(status, "%s: %s", evn_message(), words);
    return status;
}

/* A requested program, and its inputs. */
struct wanted {
    struct gpu_device *d;
    struct gpu_program *p;
    const evn_kernel_source *source;
    const char *defines;
    int contract;
};

/* Hash of its inputs except the compiler: an entry of the cache begins with this mark, so that it
 * is found on machines without a compiler. */
static struct cache_key mark_of(const struct wanted *w, const char *target) {
    const char *part[] = {w->d->side->name, target,          w->contract ? "on" : "off",
                          w->defines,       w->source->name, w->source->text};
    return cache_key(part, sizeof part / sizeof *part);
}

static struct cache_key key_of(const struct wanted *w) {
    char marked[40];
    snprintf(marked, sizeof marked, "%s, marked", w->d->side->name);
    const char *part[] = {marked,     w->d->compiler_id, w->d->target,   w->contract ? "on" : "off",
                          w->defines, w->source->name,   w->source->text};
    return cache_key(part, sizeof part / sizeof *part);
}

/* Loads an image. EVN_MISSING: it is damaged, or the driver refuses it; other failures are
 * final. */
static evn_status load_if_whole(const struct wanted *w, void *image, size_t bytes,
                                const char *target) {
    evn_status status =
        w->d->side->compiler->is_whole(image, bytes, target) ? load(w->d, w->p, image) : EVN_SYSTEM;
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

/* Stores an image in the cache, with its mark in front. */
static void keep(const struct wanted *w, const struct rtc_program *made) {
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
    if (!w->d->side->compiler->is_whole(image, bytes, target)) shipped_refused(key, target);
    return load_if_whole(w, image, bytes, target);
}

static evn_status from_compiler(const struct wanted *w) {
    struct gpu_device *d = w->d;
    struct rtc_program made;
    if (!d->compiler) return evn_fail(EVN_MISSING, "%s", d->no_compiler);
    evn_status status = rtc_compile(d->compiler, &made, w->source->name, w->source->text, d->target,
                                    w->defines, w->contract);
    if (status) return status;
    status = load(d, w->p, made.image);
    if (!status) keep(w, &made);
    rtc_program_close(&made);
    return status;
}

/* The message for a program without any source: what would help, in one line. */
static evn_status no_kernels(const struct wanted *w, evn_status status, const char *why) {
    char folder[300];
    if (w->d->compiler) return evn_fail(status, "%s", why);
    const int is_there = shipped_folder(folder, sizeof folder);
    return evn_fail(status, "no compiled kernels for %s%s%s (EVENER_KERNELS); %.600s", w->d->own,
                    is_there ? " in " : ": ", folder, why);
}

evn_status side_program_open(evn_program *base) {
    struct gpu_device *d = device_of(base->device);
    const struct wanted w = {d, (struct gpu_program *)base, base->source,
                             base->defines ? base->defines : "",
                             d->contract < 0 ? base->source->contract : d->contract};
    char why[GPU_REASON];
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

void side_program_close(evn_program *base) {
    struct gpu_device *d = device_of(base->device);
    if (!enter(d)) d->driver.api.module_close(((struct gpu_program *)base)->module);
}

void side_kernel_close(evn_kernel *base) {
    struct gpu_kernel *k = (struct gpu_kernel *)base;
    free(k->address);
    free(k->argument);
}

/* The device's compiler and the host's must have laid the parameters out alike. Drivers before 12.4
 * cannot tell. */
static evn_status compare_parameters(struct gpu_device *d, struct gpu_kernel *k, int parameters) {
    const int *size = k->base.entry->parameter;
    if (!d->driver.api.function_parameter) return EVN_OK;
    for (int i = 0; i <= parameters; i++) {
        size_t at, bytes, expected;
        int code = d->driver.api.function_parameter(k->function, (size_t)i, &at, &bytes);
        if (i == parameters) {
            if (code == GPU_INVALID_VALUE) return EVN_OK;
            if (!code)
                return evn_fail(EVN_SYSTEM,
                                "it has more than the %d parameters that the host knows",
                                parameters);
        }
        evn_status status = side_check(d, code, GPU_CALL_function_parameter);
        if (status) return status;
        expected = parameter_is_buffer(size[i]) ? sizeof(gpu_address) : (size_t)size[i];
        if (bytes != expected)
            return evn_fail(EVN_SYSTEM,
                            "parameter %d has %zu bytes on the device and %zu on the host", i,
                            bytes, expected);
    }
    return EVN_OK;
}

evn_status side_kernel_open(evn_kernel *base) {
    struct gpu_kernel *k = (struct gpu_kernel *)base;
    struct gpu_device *d = device_of(base->program->device);
    const struct gpu_api *api = &d->driver.api;
    evn_status status = enter(d);
    if (status) return status;
    status =
        side_check(d,
                   api->function_get(&k->function, ((struct gpu_program *)base->program)->module,
                                     base->entry->name),
                   GPU_CALL_function_get);
    /* a kernel that is loaded at its first launch waits there for all queues */
    if (!status && api->function_load)
        status = no_memory(d, api->function_load(k->function), GPU_CALL_function_load);
    const int parameters = parameter_count(base->entry);
    int max = 0;
    if (!status)
        status = side_check(d, api->function_attribute(&max, GPU_KERNEL_MAX_ITEMS, k->function),
                            GPU_CALL_function_attribute);
    if (!status && max < base->entry->items)
        return evn_fail(EVN_SYSTEM, "its registers suffice for groups of %d items and it has %d",
                        max, base->entry->items);
    if (!status) status = compare_parameters(d, k, parameters);
    if (!status && d->side->prefer_local)
        status = d->side->prefer_local(d, k->function, base->entry->items);
    if (status) return status;
    k->address = calloc((size_t)parameters + 1, sizeof *k->address);
    k->argument = calloc((size_t)parameters + 1, sizeof *k->argument);
    if (k->address && k->argument) return EVN_OK;
    side_kernel_close(base);
    return evn_fail(EVN_MEMORY, "not enough memory for %d arguments", parameters);
}

int side_resident(evn_kernel *base) {
    struct gpu_kernel *k = (struct gpu_kernel *)base;
    struct gpu_device *d = device_of(base->program->device);
    int groups = atomic_load(&k->resident);
    if (groups || enter(d) ||
        d->driver.api.function_groups(&groups, k->function, base->entry->items, 0))
        return groups;
    groups *= d->base.traits.processors;
    atomic_store(&k->resident, groups);
    return groups;
}

evn_status side_launch(evn_queue *q, evn_kernel *base, int groups, int items, int is_resident,
                       const evn_argument *argument, int arguments) {
    struct gpu_kernel *k = (struct gpu_kernel *)base;
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    if (d->side->most_groups && groups > d->side->most_groups(items))
        return evn_fail(EVN_SYSTEM, "%d groups of %d items; %s takes at most %d such groups",
                        groups, items, d->side->words, d->side->most_groups(items));
    for (int i = 0; i < arguments; i++)
        if (argument[i].buffer) {
            k->address[i] = place(argument[i].buffer, 0);
            k->argument[i] = &k->address[i];
        } else {
            k->argument[i] = (void *)(uintptr_t)argument[i].value; /* the driver only reads it */
        }
    if (is_resident)
        return side_check(d,
                          d->driver.api.launch_resident(k->function, (unsigned)groups, 1, 1,
                                                        (unsigned)items, 1, 1, 0, stream_of(q),
                                                        k->argument),
                          GPU_CALL_launch_resident);
    return side_check(d,
                      d->driver.api.launch(k->function, (unsigned)groups, 1, 1, (unsigned)items, 1,
                                           1, 0, stream_of(q), k->argument, NULL),
                      GPU_CALL_launch);
}

/* ---- order and time ---- */

evn_status side_queue_open(evn_queue *q) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    /* non-blocking: else it would wait for work of others on the default stream, and they for it */
    return side_check(
        d, d->driver.api.stream_open(&((struct gpu_queue *)q)->stream, GPU_STREAM_NON_BLOCKING),
        GPU_CALL_stream_open);
}

evn_status side_queue_finish(evn_queue *q) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return check_wait(d, d->driver.api.stream_finish(stream_of(q)), GPU_CALL_stream_finish);
}

evn_status side_native(evn_queue *q, void **out) {
    evn_status status = enter(device_of(q->device));
    if (!status) *out = stream_of(q);
    return status;
}

void side_queue_close(evn_queue *q) {
    struct gpu_device *d = device_of(q->device);
    if (enter(d)) return;
    d->driver.api.stream_finish(stream_of(q));
    d->driver.api.stream_close(stream_of(q));
}

evn_status side_event_open(evn_event *e) {
    struct gpu_device *d = device_of(e->device);
    evn_status status = enter(d);
    if (status) return status;
    const unsigned flags = e->device->blocks ? GPU_EVENT_BLOCKED : 0;
    return side_check(d, d->driver.api.event_open(&((struct gpu_event_slot *)e)->event, flags),
                      GPU_CALL_event_open);
}

void side_event_close(evn_event *e) {
    struct gpu_device *d = device_of(e->device);
    if (!enter(d)) d->driver.api.event_close(event_of(e));
}

evn_status side_event_record(evn_event *e, evn_queue *q) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return side_check(d, d->driver.api.event_record(event_of(e), stream_of(q)),
                      GPU_CALL_event_record);
}

evn_status side_queue_wait(evn_queue *q, evn_event *e) {
    struct gpu_device *d = device_of(q->device);
    evn_status status = enter(d);
    if (status) return status;
    return side_check(d, d->driver.api.stream_wait(stream_of(q), event_of(e), 0),
                      GPU_CALL_stream_wait);
}

evn_status side_event_finish(evn_event *e) {
    struct gpu_device *d = device_of(e->device);
    evn_status status = enter(d);
    if (status) return status;
    return check_wait(d, d->driver.api.event_finish(event_of(e)), GPU_CALL_event_finish);
}

/* Failed work counts as done, and reports its failure when waited for. */
int side_event_done(evn_event *e) {
    struct gpu_device *d = device_of(e->device);
    return enter(d) || d->driver.api.event_query(event_of(e)) != GPU_NOT_READY;
}

evn_status side_event_seconds(evn_event *begin, evn_event *end, double *seconds) {
    struct gpu_device *d = device_of(begin->device);
    float milliseconds = 0;
    evn_status status = side_event_finish(begin);
    if (!status) status = side_event_finish(end);
    if (!status)
        status =
            side_check(d, d->driver.api.event_time(&milliseconds, event_of(begin), event_of(end)),
                       GPU_CALL_event_time);
    if (!status) *seconds = 1e-3 * (double)milliseconds;
    return status;
}
