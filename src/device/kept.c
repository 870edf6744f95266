/* Kernels that are opened once a device: a list that only grows until the device closes, so that it
 * is searched without a lock. */
#include "device/kept.h"
#include <stdlib.h>
#include <string.h>

struct kept {
    const evn_kernel_source *source;
    evn_kernel *kernel;
    struct kept *next;
};

void kept_init(evn_device *d) {
    atomic_init(&d->kept, NULL);
    pthread_mutex_init(&d->kept_lock, NULL);
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

/* Under the lock. */
static evn_status make(evn_device *d, const evn_kernel_source *source, const char *name,
                       evn_kernel **out) {
    evn_program *there = find_program(d, source), *made = NULL;
    struct kept *k = malloc(sizeof *k);
    if (!k) return evn_fail(EVN_MEMORY, "%s: not enough host memory for a kernel", d->label);
    evn_status status = there ? EVN_OK : evn_program_open(&made, d, source, NULL);
    if (!status) status = evn_kernel_open(out, there ? there : made, name);
    evn_program_close(made);
    if (status) {
        free(k);
        return status;
    }
    /* what is kept does not keep the device */
    if (!there) {
        atomic_fetch_sub(&d->users, 1);
        d->kept_programs++;
    }
    (*out)->is_kept = 1;
    pthread_mutex_init(&(*out)->launching, NULL);
    *k = (struct kept){source, *out, atomic_load(&d->kept)};
    atomic_store_explicit(&d->kept, k, memory_order_release);
    return EVN_OK;
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
    *out = find(d, source, name);
    if (!*out) status = make(d, source, name, out);
    pthread_mutex_unlock(&d->kept_lock);
    return status;
}

void kept_close(evn_device *d) {
    /* its programs, as users again, and one that keeps the device until this is done */
    atomic_store(&d->users, 1 + d->kept_programs);
    for (struct kept *k = atomic_load(&d->kept), *next; k; k = next) {
        next = k->next;
        pthread_mutex_destroy(&k->kernel->launching);
        evn_kernel_close(k->kernel);
        free(k);
    }
    pthread_mutex_destroy(&d->kept_lock);
}
