/* Kernels opened once a device: a list that only grows until the device closes, so searches need no
 * lock. */
#include "device/kernel_cache.h"
#include "device/devices.h"
#include <stdlib.h>
#include <string.h>

struct kept {
    const evn_kernel_source *source;
    evn_kernel *kernel;
    struct kept *next;
};

/* A source that a thread compiles, in its stack. */
struct making {
    const evn_kernel_source *source;
    struct making *next;
};

void kept_init(evn_device *d) {
    atomic_init(&d->kept, NULL);
    pthread_mutex_init(&d->kept_lock, NULL);
    pthread_cond_init(&d->kept_made, NULL);
}

static evn_kernel *find(const evn_device *d, const evn_kernel_source *source, const char *name) {
    for (struct kept *k = atomic_load_explicit(&d->kept, memory_order_acquire); k; k = k->next)
        if (k->source == source &&
            (k->kernel->entry->name == name || !strcmp(k->kernel->entry->name, name)))
            return k->kernel;
    return NULL;
}

/* A program lives as long as one of its kernels. */
static evn_program *find_program(const evn_device *d, const evn_kernel_source *source) {
    for (struct kept *k = atomic_load(&d->kept); k; k = k->next)
        if (k->source == source) return k->kernel->program;
    return NULL;
}

/* Kernel `name` of its program, and in *there whether another kernel had the program before. */
static evn_status make(evn_device *d, const evn_kernel_source *source, const char *name,
                       evn_kernel **out, int *there) {
    evn_program *old = find_program(d, source), *made = NULL;
    evn_status status = old ? EVN_OK : device_program_open(&made, d, source);
    if (!status) status = device_kernel_open(out, old ? old : made, name);
    device_program_close(made);
    *there = old != NULL;
    return status;
}

/* Adds a kernel to the list. Under the lock. */
static void keep(evn_device *d, struct kept *k, int there) {
    /* kept objects do not count as users: they must not keep the device open */
    if (!there) {
        atomic_fetch_sub(&d->users, 1);
        d->kept_programs++;
    }
    k->next = atomic_load(&d->kept);
    atomic_store_explicit(&d->kept, k, memory_order_release);
}

/* Makes a kernel under the lock, which is released while the device's compiler works. */
static evn_status make_unlocked(evn_device *d, const evn_kernel_source *source, const char *name,
                                evn_kernel **out) {
    struct making me = {source, d->making}, **at;
    struct kept *k = malloc(sizeof *k);
    int there;
    if (!k) return evn_fail(EVN_MEMORY, "%s: not enough host memory for a kernel", d->label);
    d->making = &me;
    pthread_mutex_unlock(&d->kept_lock);
    const evn_status status = make(d, source, name, out, &there);
    pthread_mutex_lock(&d->kept_lock);
    for (at = &d->making; *at != &me;) at = &(*at)->next;
    *at = me.next;
    pthread_cond_broadcast(&d->kept_made);
    if (status) {
        free(k);
        return status;
    }
    *k = (struct kept){.source = source, .kernel = *out};
    keep(d, k, there);
    return EVN_OK;
}

static int is_making(const evn_device *d, const evn_kernel_source *source) {
    for (const struct making *m = d->making; m; m = m->next)
        if (m->source == source) return 1;
    return 0;
}

evn_status evn_kernel_get(evn_device *d, const evn_kernel_source *source, const char *name,
                          evn_kernel **out) {
    if (!out || !d || !source || !name)
        return evn_fail(EVN_USAGE, "%s: evn_kernel_get() without device, source, name or out",
                        d ? d->label : "device");
    *out = find(d, source, name);
    if (*out) return EVN_OK;
    if (!source->name || !source->text || !source->entry)
        return evn_fail(EVN_USAGE, "%s: evn_kernel_get() of a source without name, text or entries",
                        d->label);
    const evn_kernel_entry *entry;
    evn_status status = device_find_kernel(d, source, name, &entry);
    if (status) return status;
    pthread_mutex_lock(&d->kept_lock);
    while (is_making(d, source)) pthread_cond_wait(&d->kept_made, &d->kept_lock);
    *out = find(d, source, name);
    if (!*out) status = make_unlocked(d, source, name, out);
    pthread_mutex_unlock(&d->kept_lock);
    return status;
}

void kept_close(evn_device *d) {
    /* count programs as users again, and one more, which keeps the device until this is done */
    atomic_store(&d->users, 1 + d->kept_programs);
    for (struct kept *k = atomic_load(&d->kept), *next; k; k = next) {
        next = k->next;
        device_kernel_close(k->kernel);
        free(k);
    }
    pthread_cond_destroy(&d->kept_made);
    pthread_mutex_destroy(&d->kept_lock);
}
