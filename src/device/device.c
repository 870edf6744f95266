/* Devices: the part common to all back ends (backend.h): checks of arguments, counts, messages with
 * the device and the operation, routes of copies between devices, and the lifetime of objects. */
#include <evener/device.h>
#include "device/backend.h"
#include "device/devices.h"
#include "device/kernel_cache.h"
#include "device/launch_times.h"
#include "base/argument.h"
#include "base/number.h"
#include "base/process.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that a copy staged through the host moves at a time. */
#define STAGE ((size_t)8 << 20)

/* ---- failures ---- */

/* `device: operation: reason` with the reason that a slot has left; a failed device is remembered.
 */
static evn_status tell(evn_device *d, evn_status status, const char *operation, ...)
    __attribute__((format(printf, 3, 4)));
static evn_status tell(evn_device *d, evn_status status, const char *operation, ...) {
    if (!status) return EVN_OK;
    char what[256], reason[512];
    va_list arguments;
    va_start(arguments, operation);
    number_vprint(what, sizeof what, operation, arguments);
    va_end(arguments);
    /* a compiler's log may be long: a message holds what fits */
    snprintf(reason, sizeof reason, "%s", evn_message());
    if (status == EVN_DEVICE) {
        pthread_mutex_lock(&d->lock);
        if (!atomic_load(&d->lost)) {
            snprintf(d->reason, sizeof d->reason, "%s: %.240s", what, reason);
            atomic_store(&d->lost, 1);
        }
        pthread_mutex_unlock(&d->lock);
    }
    return evn_fail(status, "%s: %s: %s", d->label, what, reason);
}

static evn_status usage(const evn_device *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static evn_status usage(const evn_device *d, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    number_vprint(text, sizeof text, format, arguments);
    va_end(arguments);
    return evn_fail(EVN_USAGE, "%s: %s", d ? d->label : "device", text);
}

/* 1 in a child of fork(): the threads that work for the device do not exist here, so closing would
 * hang; nothing is closed then. */
static int is_foreign(const evn_device *d) { return d->forks != process_forks(); }

/* EVN_DEVICE if the device has failed before; EVN_USAGE if it is another process's. */
static evn_status alive(evn_device *d, const char *operation) {
    if (is_foreign(d))
        return usage(d, "%s: the device was opened before this process was forked; open it here",
                     operation);
    if (!atomic_load_explicit(&d->lost, memory_order_acquire)) return EVN_OK;
    return evn_fail(EVN_DEVICE, "%s: %s: the device failed before, at %s", d->label, operation,
                    d->reason);
}

/* ---- devices ---- */

/* One object less; the last one, with the user's evn_device_close(), ends the device. */
static void device_release(evn_device *d) {
    if (atomic_fetch_sub(&d->users, 1) != 1) return;
    kept_close(d);
    phases_close(d);
    d->backend->close(d);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static void device_keep(evn_device *d) { atomic_fetch_add(&d->users, 1); }

evn_status evn_device_open(evn_device **out, const char *text, int number) {
    return device_open(out, text, number, 0);
}

evn_status device_open(evn_device **out, const char *text, int number, int blocks) {
    if (!out || !text) return evn_fail(EVN_USAGE, "device: evn_device_open() without out or text");
    *out = NULL;
    const struct backend *backend = NULL;
    char part[256];
    int within = 0;
    evn_status status = devices_find(text, number, part, &backend, &within);
    if (status) return status;
    evn_device *d = calloc(1, backend->device_size);
    if (!d) return evn_fail(EVN_MEMORY, "device: not enough memory to open \"%.60s\"", text);
    d->backend = backend;
    d->number = within;
    d->blocks = blocks;
    snprintf(d->label, sizeof d->label, "%s device %d", backend->name, number);
    d->forks = process_forks();
    atomic_init(&d->users, 1);
    pthread_mutex_init(&d->lock, NULL);
    kept_init(d);
    status = backend->open(d, part);
    if (status) {
        status = tell(d, status, "open");
        pthread_cond_destroy(&d->kept_made);
        pthread_mutex_destroy(&d->kept_lock);
        pthread_mutex_destroy(&d->lock);
        free(d);
        return status;
    }
    *out = d;
    return EVN_OK;
}

void evn_device_close(evn_device *d) {
    if (d && !is_foreign(d)) device_release(d);
}

const evn_traits *evn_device_traits(const evn_device *d) {
    NEED_OR(NULL, d, "a device");
    return &d->traits;
}

int evn_device_reaches(const evn_device *a, const evn_device *b) {
    NEED_OR(0, a && b, "two devices");
    return a->backend == b->backend && a->backend->copy_peer && a->traits.peer && b->traits.peer;
}

evn_status device_connect(evn_device *to, evn_device *from) {
    evn_status status = alive(to, "connecting");
    if (!status) status = alive(from, "connecting");
    if (status || to == from || !evn_device_reaches(from, to) || !to->backend->connect)
        return status;
    return tell(to, to->backend->connect(to, from), "connecting with %s", from->label);
}

evn_counts evn_device_counts(const evn_device *d, const evn_counts *since) {
    NEED_OR((evn_counts){0}, d, "a device");
    const evn_counts before = since ? *since : (evn_counts){0};
    return (evn_counts){
        .launches = atomic_load(&d->launches) - before.launches,
        .copies_in = atomic_load(&d->copies_in) - before.copies_in,
        .copies_out = atomic_load(&d->copies_out) - before.copies_out,
        .copies_within = atomic_load(&d->copies_within) - before.copies_within,
        .copies_peer = atomic_load(&d->copies_peer) - before.copies_peer,
        .bytes_in = atomic_load(&d->bytes_in) - before.bytes_in,
        .bytes_out = atomic_load(&d->bytes_out) - before.bytes_out,
        .bytes_within = atomic_load(&d->bytes_within) - before.bytes_within,
        .bytes_peer = atomic_load(&d->bytes_peer) - before.bytes_peer,
        .waits = atomic_load(&d->waits) - before.waits,
        .used = atomic_load(&d->used),
    };
}

static void count(atomic_llong *times, atomic_llong *sum, size_t bytes) {
    atomic_fetch_add_explicit(times, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(sum, (long long)bytes, memory_order_relaxed);
}

/* ---- memory ---- */

evn_status evn_buffer_open(evn_buffer **out, evn_device *d, size_t bytes) {
    if (!out || !d) return usage(d, "evn_buffer_open() without out or device");
    *out = NULL;
    if (!bytes) return usage(d, "a buffer of 0 bytes; the least is 1");
    evn_status status = alive(d, "allocation");
    if (status) return status;
    if (bytes > d->traits.max_buffer)
        return evn_fail(EVN_MEMORY, "%s: allocation of %zu bytes: its largest buffer is %zu bytes",
                        d->label, bytes, d->traits.max_buffer);
    /* counted before the check, so that two threads cannot both take the last bytes */
    size_t before = atomic_fetch_add(&d->used, bytes);
    if (before > d->traits.memory || bytes > d->traits.memory - before) {
        atomic_fetch_sub(&d->used, bytes);
        return evn_fail(EVN_MEMORY, "%s: allocation of %zu bytes: %zu of its %zu bytes are in use",
                        d->label, bytes, before, d->traits.memory);
    }
    evn_buffer *b = calloc(1, d->backend->buffer_size);
    if (!b) {
        atomic_fetch_sub(&d->used, bytes);
        return evn_fail(EVN_MEMORY, "%s: not enough host memory for a buffer", d->label);
    }
    b->device = d;
    b->bytes = bytes;
    status = d->backend->buffer_open(b);
    if (status) {
        atomic_fetch_sub(&d->used, bytes);
        free(b);
        return tell(d, status, "allocation of %zu bytes", bytes);
    }
    size_t now = before + bytes, max = atomic_load(&d->used_max);
    while (now > max && !atomic_compare_exchange_weak(&d->used_max, &max, now)) {
    }
    device_keep(d);
    *out = b;
    return EVN_OK;
}

void evn_buffer_close(evn_buffer *b) {
    if (!b || is_foreign(b->device)) return;
    evn_device *d = b->device;
    d->backend->buffer_close(b);
    atomic_fetch_sub(&d->used, b->bytes);
    free(b);
    device_release(d);
}

size_t evn_buffer_bytes(const evn_buffer *b) {
    NEED_OR(0, b, "a buffer");
    return b->bytes;
}

evn_status evn_buffer_address(void **out, const evn_buffer *b, size_t at) {
    if (!out || !b) return usage(NULL, "evn_buffer_address() without out or buffer");
    evn_device *d = b->device;
    *out = NULL;
    if (at > b->bytes)
        return usage(d, "an address: byte %zu is not inside of a buffer of %zu", at, b->bytes);
    evn_status status = alive(d, "an address");
    if (status) return status;
    if (!d->backend->address)
        return evn_fail(EVN_MISSING,
                        "%s: its memory has no addresses for a program's own kernels; those of "
                        "cuda have",
                        d->label);
    *out = (char *)d->backend->address(b) + at;
    return EVN_OK;
}

size_t device_used_max(const evn_device *d) { return atomic_load(&d->used_max); }

evn_status evn_host_memory_open(void **out, evn_device *d, size_t bytes) {
    if (!out || !d) return usage(d, "evn_host_memory_open() without out or device");
    *out = NULL;
    if (!bytes) return usage(d, "host memory of 0 bytes; the least is 1");
    evn_status status = alive(d, "allocation of host memory");
    if (status) return status;
    if (d->backend->host_memory_open) {
        status = d->backend->host_memory_open(out, d, bytes);
        return tell(d, status, "allocation of %zu bytes of host memory", bytes);
    }
    if (bytes > SIZE_MAX - 4095 || !(*out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)))
        return evn_fail(EVN_MEMORY,
                        "%s: allocation of %zu bytes of host memory: there is not enough", d->label,
                        bytes);
    return EVN_OK;
}

void evn_host_memory_close(void *memory, evn_device *d) {
    if (!memory) return;
    NEED_OR(, d, "the device that the memory was opened for");
    if (is_foreign(d)) return;
    if (d->backend->host_memory_close)
        d->backend->host_memory_close(memory, d);
    else
        free(memory);
}

evn_status evn_host_memory_register(evn_device *d, void *memory, size_t bytes) {
    NEED(d, "a device");
    NEED(memory, "memory");
    if (!bytes) return usage(d, "host memory of 0 bytes to be registered; the least is 1");
    evn_status status = alive(d, "registering host memory");
    if (status || !d->backend->host_memory_register) return status;
    return tell(d, d->backend->host_memory_register(d, memory, bytes),
                "registering %zu bytes of host memory", bytes);
}

void evn_host_memory_unregister(void *memory, evn_device *d) {
    if (!memory) return;
    NEED_OR(, d, "the device that the memory was registered with");
    if (!is_foreign(d) && d->backend->host_memory_unregister)
        d->backend->host_memory_unregister(memory, d);
}

/* 1 if at .. at+bytes-1 is inside of the buffer, and buffer and queue are of one device. */
static evn_status check_range(const evn_queue *q, const evn_buffer *b, size_t at, size_t bytes,
                              const char *operation) {
    if (!q || !b) return usage(q ? q->device : NULL, "%s without a queue or a buffer", operation);
    if (b->device != q->device)
        return usage(q->device, "%s: the buffer is of %s", operation, b->device->label);
    if (at > b->bytes || bytes > b->bytes - at)
        return usage(q->device, "%s: %zu bytes from byte %zu are not inside of a buffer of %zu",
                     operation, bytes, at, b->bytes);
    return alive(q->device, operation);
}

evn_status evn_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                              size_t bytes) {
    evn_status status = check_range(q, to, at, bytes, "copy to the device");
    if (status || !bytes) return status;
    evn_device *d = q->device;
    if (!from) return usage(d, "copy of %zu bytes to the device from NULL", bytes);
    status = d->backend->copy_to_device(q, to, at, from, bytes);
    if (status) return tell(d, status, "copy of %zu bytes to the device", bytes);
    count(&d->copies_in, &d->bytes_in, bytes);
    return EVN_OK;
}

evn_status evn_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                            size_t bytes) {
    evn_status status = check_range(q, from, at, bytes, "copy to the host");
    if (status || !bytes) return status;
    evn_device *d = q->device;
    if (!to) return usage(d, "copy of %zu bytes to the host to NULL", bytes);
    status = d->backend->copy_to_host(q, to, from, at, bytes);
    if (status) return tell(d, status, "copy of %zu bytes to the host", bytes);
    count(&d->copies_out, &d->bytes_out, bytes);
    return EVN_OK;
}

/* Copies through host memory. The host waits until the queue has come here, the bytes are in host
 * memory, and then on the device. */
static evn_status copy_staged(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                              size_t from_at, size_t bytes) {
    evn_device *here = q->device, *there = from->device;
    evn_queue *out;
    evn_status status = evn_queue_finish(q);
    if (!status) status = evn_queue_open(&out, there);
    if (status) return status;
    void *stage = NULL;
    size_t max = bytes < STAGE ? bytes : STAGE;
    status = evn_host_memory_open(&stage, here, max);
    for (size_t done = 0; !status && done < bytes; done += max) {
        size_t now = bytes - done < max ? bytes - done : max;
        status = tell(there, there->backend->copy_to_host(out, stage, from, from_at + done, now),
                      "copy of %zu bytes to the host for %s", now, here->label);
        evn_status waited = evn_queue_finish(out);
        if (!status) status = waited;
        if (status) break;
        status = tell(here, here->backend->copy_to_device(q, to, to_at + done, stage, now),
                      "copy of %zu bytes from %s", now, there->label);
        waited = evn_queue_finish(q);
        if (!status) status = waited;
    }
    evn_host_memory_close(stage, here);
    evn_queue_close(out);
    return status;
}

static evn_status copy_within(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                              size_t from_at, size_t bytes) {
    evn_device *d = q->device;
    if (to == from && to_at < from_at + bytes && from_at < to_at + bytes)
        return usage(d,
                     "copy of %zu bytes within a buffer, from byte %zu to byte %zu: they overlap",
                     bytes, from_at, to_at);
    evn_status status = d->backend->copy_within(q, to, to_at, from, from_at, bytes);
    if (status) return tell(d, status, "copy of %zu bytes within the device", bytes);
    count(&d->copies_within, &d->bytes_within, bytes);
    return EVN_OK;
}

evn_status evn_copy_buffer(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                           size_t from_at, size_t bytes) {
    evn_status status = check_range(q, to, to_at, bytes, "copy of a buffer, to");
    if (status) return status;
    evn_device *d = q->device;
    if (!from) return usage(d, "copy of a buffer without one to copy from");
    if (from_at > from->bytes || bytes > from->bytes - from_at)
        return usage(d, "copy from %s: %zu bytes from byte %zu are not inside of a buffer of %zu",
                     from->device->label, bytes, from_at, from->bytes);
    status = alive(from->device, "copy of a buffer, from");
    if (status || !bytes) return status;
    if (from->device == d) return copy_within(q, to, to_at, from, from_at, bytes);
    if (evn_device_reaches(from->device, d))
        status = tell(d, d->backend->copy_peer(q, to, to_at, from, from_at, bytes),
                      "copy of %zu bytes from %s", bytes, from->device->label);
    else
        status = copy_staged(q, to, to_at, from, from_at, bytes);
    if (!status) count(&d->copies_peer, &d->bytes_peer, bytes);
    return status;
}

evn_status device_poison(evn_queue *q, evn_buffer *b, size_t at, size_t bytes) {
    evn_status status = check_range(q, b, at, bytes, "poisoning");
    if (status || !bytes || !q->device->backend->poison) return status;
    return tell(q->device, q->device->backend->poison(q, b, at, bytes), "poisoning %zu bytes",
                bytes);
}

/* ---- kernels ---- */

evn_status device_program_open(evn_program **out, evn_device *d, const evn_kernel_source *source) {
    *out = NULL;
    evn_status status = alive(d, "building a program");
    if (status) return status;
    evn_program *p = calloc(1, d->backend->program_size);
    if (!p) return evn_fail(EVN_MEMORY, "%s: not enough host memory for a program", d->label);
    p->device = d;
    p->source = source;
    p->defines = source->defines;
    atomic_init(&p->users, 1);
    status = d->backend->program_open(p);
    if (status) {
        free(p);
        return tell(d, status, "building \"%s\"", source->name);
    }
    device_keep(d);
    *out = p;
    return EVN_OK;
}

void device_program_close(evn_program *p) {
    if (!p || is_foreign(p->device) || atomic_fetch_sub(&p->users, 1) != 1) return;
    evn_device *d = p->device;
    d->backend->program_close(p);
    free(p);
    device_release(d);
}

evn_status device_find_kernel(const evn_device *d, const evn_kernel_source *source,
                              const char *name, const evn_kernel_entry **entry) {
    char names[256] = "";
    for (const evn_kernel_entry *e = source->entry; e->name; e++) {
        if (!strcmp(e->name, name)) {
            *entry = e;
            return EVN_OK;
        }
        const size_t end = strlen(names);
        snprintf(names + end, sizeof names - end, "%s%s", end ? ", " : "", e->name);
    }
    return usage(d, "program \"%s\" has no kernel \"%.60s\"; it has %s", source->name, name, names);
}

evn_status device_kernel_open(evn_kernel **out, evn_program *p, const char *name) {
    *out = NULL;
    evn_device *d = p->device;
    const evn_kernel_entry *entry;
    evn_status status = device_find_kernel(d, p->source, name, &entry);
    if (!status) status = alive(d, "opening a kernel");
    if (status) return status;
    if (entry->items > d->traits.max_items)
        return evn_fail(
            EVN_MISSING,
            "%s: kernel \"%s\" has groups of %d items, and this device's have %d at most", d->label,
            name, entry->items, d->traits.max_items);
    evn_kernel *k = calloc(1, d->backend->kernel_size);
    if (!k) return evn_fail(EVN_MEMORY, "%s: not enough host memory for a kernel", d->label);
    k->program = p;
    k->entry = entry;
    pthread_mutex_init(&k->launching, NULL);
    status = d->backend->kernel_open(k);
    if (status) {
        pthread_mutex_destroy(&k->launching);
        free(k);
        return tell(d, status, "opening kernel \"%s\"", name);
    }
    atomic_fetch_add(&p->users, 1);
    *out = k;
    return EVN_OK;
}

void device_kernel_close(evn_kernel *k) {
    if (!k || is_foreign(k->program->device)) return;
    evn_program *p = k->program;
    if (p->device->backend->kernel_close) p->device->backend->kernel_close(k);
    pthread_mutex_destroy(&k->launching);
    free(k);
    device_program_close(p);
}

/* Checks the arguments against the kernel's declaration. */
static evn_status check_arguments(const evn_device *d, const evn_kernel_entry *entry,
                                  const evn_argument *argument, int arguments) {
    const int expected = parameter_count(entry);
    if (arguments != expected || !argument)
        return usage(d, "launch of \"%s\" with %d arguments, and it has %d", entry->name,
                     argument ? arguments : 0, expected);
    for (int a = 0; a < arguments; a++) {
        const evn_buffer *b = argument[a].buffer;
        const int bytes = entry->parameter[a], is_buffer = parameter_is_buffer(bytes);
        if (b && !is_buffer)
            return usage(d,
                         "launch of \"%s\": argument %d is a buffer, expected a value of %d bytes",
                         entry->name, a, bytes);
        if (!b && is_buffer)
            return usage(d, "launch of \"%s\": argument %d is no buffer, expected one", entry->name,
                         a);
        if (b && b->device != d)
            return usage(d, "launch of \"%s\": argument %d is a buffer of %s", entry->name, a,
                         b->device->label);
        if (!b && (!argument[a].value || argument[a].bytes != (size_t)bytes))
            return usage(d, "launch of \"%s\": argument %d has %zu bytes, expected %d", entry->name,
                         a, argument[a].value ? argument[a].bytes : 0, bytes);
    }
    return EVN_OK;
}

int evn_kernel_resident(evn_kernel *k) {
    NEED_OR(0, k, "a kernel");
    evn_device *d = k->program->device;
    if (!d->traits.resident || alive(d, "asking for groups at a time")) return 0;
    return d->backend->resident(k);
}

/* EVN_MISSING where the device has no launches whose groups wait for each other, or no room for so
 * many. */
static evn_status check_resident(evn_kernel *k, int groups) {
    evn_device *d = k->program->device;
    const char *name = k->entry->name;
    const int most = evn_kernel_resident(k);
    if (groups <= most) return EVN_OK;
    if (!d->traits.resident)
        return evn_fail(EVN_MISSING,
                        "%s: launch of \"%s\": its groups cannot wait for each other here",
                        d->label, name);
    return evn_fail(EVN_MISSING,
                    "%s: launch of \"%s\" with %d groups at a time, and there is room for %d",
                    d->label, name, groups, most);
}

evn_status evn_launch(evn_queue *q, evn_kernel *k, int groups, unsigned flags,
                      const evn_argument *argument, int arguments) {
    if (!q || !k) return usage(q ? q->device : NULL, "launch without a queue or a kernel");
    evn_device *d = q->device;
    const evn_kernel_entry *entry = k->entry;
    const int is_resident = flags == EVN_ALL_RESIDENT;
    if (k->program->device != d)
        return usage(d, "launch of \"%s\": the kernel is of %s", entry->name,
                     k->program->device->label);
    if (groups < 0)
        return usage(d, "launch of \"%s\" with %d groups; it takes 0 or more", entry->name, groups);
    if (flags && !is_resident)
        return usage(d, "launch of \"%s\" with flags %#x, expected 0 or EVN_ALL_RESIDENT",
                     entry->name, flags);
    evn_status status = check_arguments(d, entry, argument, arguments);
    if (!status) status = alive(d, "launch");
    if (!status && is_resident) status = check_resident(k, groups);
    if (status || !groups) return status;
    const int timed = atomic_load_explicit(&d->timed, memory_order_acquire);
    pthread_mutex_lock(&k->launching);
    status = (timed ? phases_launch : d->backend->launch)(q, k, groups, entry->items, is_resident,
                                                          argument, arguments);
    pthread_mutex_unlock(&k->launching);
    if (status) return tell(d, status, "launch of \"%s\" with %d groups", entry->name, groups);
    atomic_fetch_add_explicit(&d->launches, 1, memory_order_relaxed);
    return EVN_OK;
}

/* ---- times of launches ---- */

evn_status evn_device_phases(evn_device *d, int timed) {
    const char *const operation = timed ? "timing launches" : "reading times of launches";
    NEED(d, "a device");
    evn_status status = alive(d, operation);
    return status ? status : tell(d, timed ? phases_begin(d) : phases_end(d), operation);
}

void evn_queue_phase(evn_queue *q, const char *name) {
    NEED_OR(, q, "a queue");
    q->phase = name;
}

/* ---- order and time ---- */

evn_status evn_queue_open(evn_queue **out, evn_device *d) {
    if (!out || !d) return usage(d, "evn_queue_open() without out or device");
    *out = NULL;
    evn_status status = alive(d, "opening a queue");
    if (status) return status;
    evn_queue *q = calloc(1, d->backend->queue_size);
    if (!q) return evn_fail(EVN_MEMORY, "%s: not enough host memory for a queue", d->label);
    q->device = d;
    status = d->backend->queue_open(q);
    if (status) {
        free(q);
        return tell(d, status, "opening a queue");
    }
    device_keep(d);
    *out = q;
    return EVN_OK;
}

void evn_queue_close(evn_queue *q) {
    if (!q || is_foreign(q->device)) return;
    evn_device *d = q->device;
    d->backend->queue_close(q);
    free(q);
    device_release(d);
}

evn_status evn_queue_finish(evn_queue *q) {
    if (!q) return usage(NULL, "evn_queue_finish() without a queue");
    evn_device *d = q->device;
    if (is_foreign(d)) return alive(d, "waiting for a queue");
    atomic_fetch_add_explicit(&d->waits, 1, memory_order_relaxed);
    /* also where the device has failed: when this returns, nothing touches host memory any more */
    evn_status status = d->backend->queue_finish(q);
    if (!status) return alive(d, "waiting for a queue");
    return tell(d, status, "waiting for a queue");
}

evn_status evn_queue_native(void **out, evn_queue *q) {
    if (!out || !q) return usage(NULL, "evn_queue_native() without out or queue");
    evn_device *d = q->device;
    *out = NULL;
    evn_status status = alive(d, "a queue's stream");
    if (status) return status;
    if (!d->backend->native)
        return evn_fail(EVN_MISSING,
                        "%s: its queues are no streams for a program's own kernels; those of cuda "
                        "are",
                        d->label);
    return tell(d, d->backend->native(q, out), "a queue's stream");
}

evn_status evn_event_open(evn_event **out, evn_device *d) {
    if (!out || !d) return usage(d, "evn_event_open() without out or device");
    *out = NULL;
    evn_status status = alive(d, "opening an event");
    if (status) return status;
    evn_event *e = calloc(1, d->backend->event_size);
    if (!e) return evn_fail(EVN_MEMORY, "%s: not enough host memory for an event", d->label);
    e->device = d;
    status = d->backend->event_open(e);
    if (status) {
        free(e);
        return tell(d, status, "opening an event");
    }
    device_keep(d);
    *out = e;
    return EVN_OK;
}

void evn_event_close(evn_event *e) {
    if (!e || is_foreign(e->device)) return;
    evn_device *d = e->device;
    d->backend->event_close(e);
    free(e);
    device_release(d);
}

evn_status evn_event_record(evn_event *e, evn_queue *q) {
    if (!e || !q)
        return usage(q ? q->device : NULL, "evn_event_record() without an event or a queue");
    evn_device *d = q->device;
    if (e->device != d) return usage(d, "recording an event of %s", e->device->label);
    evn_status status = alive(d, "recording an event");
    if (status) return status;
    status = tell(d, d->backend->event_record(e, q), "recording an event");
    if (!status) e->recorded = 1;
    return status;
}

evn_status evn_queue_wait(evn_queue *q, evn_event *e) {
    if (!e || !q)
        return usage(q ? q->device : NULL, "evn_queue_wait() without an event or a queue");
    evn_device *d = q->device;
    if (e->device->backend != d->backend)
        return usage(d, "a queue cannot wait for an event of %s; let the host wait for it",
                     e->device->label);
    if (!e->recorded) return usage(d, "a queue would wait for an event that was never recorded");
    evn_status status = alive(d, "waiting for an event");
    if (status) return status;
    return tell(d, d->backend->queue_wait(q, e), "letting a queue wait for an event");
}

evn_status evn_event_finish(evn_event *e, int *done) {
    if (done) *done = 0;
    if (!e) return usage(NULL, "evn_event_finish() without an event");
    evn_device *d = e->device;
    if (!e->recorded) return usage(d, "waiting for an event that was never recorded");
    if (is_foreign(d)) return alive(d, "waiting for an event");
    if (!done)
        atomic_fetch_add_explicit(&d->waits, 1, memory_order_relaxed);
    else if (!(*done = d->backend->event_done(e)))
        return EVN_OK;
    const evn_status status = d->backend->event_finish(e);
    return status ? tell(d, status, "waiting for an event") : alive(d, "waiting for an event");
}

evn_status evn_event_seconds(evn_event *begin, evn_event *end, double *seconds) {
    if (!begin || !end || !seconds)
        return usage(NULL, "evn_event_seconds() without an event or a place for the result");
    evn_device *d = begin->device;
    *seconds = 0;
    if (end->device != d)
        return usage(d, "the time between an event of this device and one of %s",
                     end->device->label);
    if (!begin->recorded || !end->recorded)
        return usage(d, "the time between events of which one was never recorded");
    evn_status status = alive(d, "reading a time");
    if (status) return status;
    return tell(d, d->backend->event_seconds(begin, end, seconds), "reading a time");
}
