/* The interface of back ends, and the checks that device.c makes before it calls them.
 *
 * A back end is one constant `struct backend` and its line in the list of devices.c. Its objects
 * begin with the structs below (embedded as first member):
 *
 *     struct my_buffer { evn_buffer base; my_handle handle; };
 *     static evn_status my_buffer_open(evn_buffer *b) { .. }
 *     const struct backend backend_my = {.name = "my", .buffer_size = sizeof(struct my_buffer),
 *                                        .buffer_open = my_buffer_open, ..};
 *
 * device.c allocates objects (`*_size` bytes, zeroed, with the base filled in), calls the slot that
 * opens them, and frees them if that fails or after the slot that closes them. Arguments of slots
 * are checked: no NULL, ranges inside of buffers, bytes > 0, groups > 0, items as in the kernel's
 * source, number, kind and size of arguments, objects of the right device and back end. device.c
 * also counts, adds up the bytes in use, and stages copies between devices if there is no slot.
 *
 * Failures. A slot returns evn_fail(status, "reason") with the driver's words, as
 * "CUDA_ERROR_LAUNCH_FAILED: ..": device.c puts the device and the operation before it. EVN_MEMORY:
 * not enough, the device continues. EVN_SYSTEM: refused (a kernel that does not compile: the
 * compiler's text), the device continues. EVN_DEVICE: the device has failed. device.c then refuses
 * all further work; only slots that close and those that wait (queue_finish, event_finish) are
 * still called, and must return in finite time, with no access to host memory left pending.
 *
 * Threads. Several threads at a time use a device; one at a time uses any other object. A closed
 * object may still be in use by queued work, except programs and kernels (finished first): the slot
 * that closes waits, or keeps the resources. device.c counts references, so that programs outlive
 * their kernels and a device all its objects, in any order of closing. */
#pragma once

#include <evener/device.h>
#include <pthread.h>
#include <stdatomic.h>

struct evn_device {
    const struct backend *backend;
    int number;        /* index among the devices of the specification */
    int blocks;        /* 1: waiters sleep instead of spinning (cores are oversubscribed) */
    char label[48];    /* "cuda device 0", for messages */
    evn_traits traits; /* filled in by `open` */
    /* Set by `open`: an accelerator that is no GPU, as FPGA units want; an emulated device is
     * whatever a list asks for. */
    enum { DEVICE_OTHER, DEVICE_ACCELERATOR, DEVICE_ANY } accelerator;
    /* private to device.c */
    atomic_int users;            /* 1 + open objects, without kept kernels */
    unsigned forks;              /* process_forks() when it was opened */
    _Atomic(struct kept *) kept; /* kernel_cache.c: kernels that are closed with the device */
    int kept_programs;
    struct phases *phases; /* launch_times.c: times of launches; NULL: never timed */
    atomic_int timed;      /* 1: launches are timed */
    pthread_mutex_t kept_lock;
    pthread_cond_t kept_made;
    struct making *making; /* programs that threads compile at present; under kept_lock */
    atomic_int lost;
    pthread_mutex_t lock; /* protects `reason` */
    char reason[512];     /* reason of the loss */
    atomic_size_t used, used_max;
    atomic_llong launches, copies_in, copies_out, copies_within, copies_peer;
    atomic_llong bytes_in, bytes_out, bytes_within, bytes_peer;
    atomic_llong waits;
};

struct evn_buffer {
    evn_device *device;
    size_t bytes;
};

struct evn_queue {
    evn_device *device;
    const char *phase; /* device.c's: name under which launches are summed; NULL: the kernel's */
};

struct evn_event {
    evn_device *device;
    int recorded; /* device.c's: 1 after evn_event_record() */
};

typedef struct evn_program evn_program; /* kernels built for a device */
struct evn_program {
    evn_device *device;
    const evn_kernel_source *source;
    const char *defines; /* "N=8 DIRECTION=0"; NULL: none. Lives as long as the source */
    atomic_int users;    /* device.c's: 1 + open kernels */
};

struct evn_kernel {
    evn_program *program;
    const evn_kernel_entry *entry; /* name, items, kinds of parameters */
    /* device.c's */
    pthread_mutex_t launching; /* held by a launch: several threads may launch a kernel */
};

/* parameter_count(): number of a kernel's parameters. parameter_is_buffer(): whether one of them is
 * a buffer. */
static inline int parameter_count(const evn_kernel_entry *entry) {
    int count = 0;
    while (entry->parameter[count] != EVN_PARAMETERS_END) count++;
    return count;
}
static inline int parameter_is_buffer(int parameter) {
    return parameter == EVN_PARAMETER_BUFFER || parameter == EVN_PARAMETER_IN;
}

/* R: required. O: optional (NULL); the comment gives the default. */
struct backend {
    const char *name; /* "cuda"; also how specifications begin */
    /* specification by which `best` and `auto` search for GPUs, without devices that are the host's
     * cores; NULL: none */
    const char *best;
    int any_number; /* 1: NAME:COUNT gives any number of devices */
    size_t device_size, buffer_size, queue_size, event_size, program_size, kernel_size;

    /* -- devices: `text` is the whole specification, "cuda" or "cuda:2,.." (a number: the first so
     * many devices) -- */

    /* R. Number of devices; 0 with EVN_OK and the reason in `why` ("libcuda.so.1 cannot be opened:
     * ..") if there are none. EVN_USAGE: not understood. */
    evn_status (*count)(const char *text, int *count, char *why, size_t size);
    /* R. Opens d->number (0 <= number < count) and fills in d->traits. */
    evn_status (*open)(evn_device *d, const char *text);
    /* R. All other objects are closed already. */
    void (*close)(evn_device *d);

    /* -- memory -- */

    /* R. b->bytes, 256-byte aligned. bytes <= traits.max_buffer, and all buffers together <=
     * traits.memory. EVN_MEMORY. */
    evn_status (*buffer_open)(evn_buffer *b);
    void (*buffer_close)(evn_buffer *b); /* R */
    /* O: page-aligned host memory. Both this slot and the next, or none. */
    evn_status (*host_memory_open)(void **out, evn_device *d, size_t bytes);
    void (*host_memory_close)(void *memory, evn_device *d);
    /* O: nothing is done. Registers memory of the program, so that copies from and to it have full
     * speed; the next slot ends that. Both or none. */
    evn_status (*host_memory_register)(evn_device *d, void *memory, size_t bytes);
    void (*host_memory_unregister)(void *memory, evn_device *d);

    /* R. Asynchronous, in order of the queue; bytes > 0. */
    evn_status (*copy_to_device)(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                                 size_t bytes);
    evn_status (*copy_to_host)(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                               size_t bytes);
    /* R. Ranges in one buffer do not overlap. */
    evn_status (*copy_within)(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                              size_t from_at, size_t bytes);
    /* O: staged through host memory, the host waiting. From another device of this back end, q is a
     * queue of the receiving one; called only if traits.peer is set for both. */
    evn_status (*copy_peer)(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                            size_t from_at, size_t bytes);
    /* O: nothing has to be opened. Opens the direct way for copies from `from`, which is of this
     * back end; called only if traits.peer is set for both. EVN_DEVICE; a way that does not work is
     * not used. */
    evn_status (*connect)(evn_device *d, evn_device *from);
    /* O: the device has no addresses. The address of b in the device's kernels. */
    void *(*address)(const evn_buffer *b);
    /* O: nothing. Marks a stale range, so that reading it is noticed. */
    evn_status (*poison)(evn_queue *q, evn_buffer *b, size_t at, size_t bytes);

    /* -- kernels -- */

    /* R. Builds p->source->text with p->defines and, where p->source->contract is 0, without fusing
     * a*b+c and with EVN_CONTRACT=0 defined; from the cache (cache.h) if it is there. */
    evn_status (*program_open)(evn_program *p);
    void (*program_close)(evn_program *p); /* R */
    /* R. k->entry->name of k->program. */
    evn_status (*kernel_open)(evn_kernel *k);
    void (*kernel_close)(evn_kernel *k); /* O: nothing is closed */
    /* R. Arguments are copied before it returns. is_resident: all groups at a time, not more than
     * `resident` says; only if traits.resident is set. */
    evn_status (*launch)(evn_queue *q, evn_kernel *k, int groups, int items, int is_resident,
                         const evn_argument *argument, int arguments);
    /* O: traits.resident is never set. Groups of the kernel that the device has at a time. */
    int (*resident)(evn_kernel *k);

    /* -- order and time -- */

    evn_status (*queue_open)(evn_queue *q);   /* R */
    void (*queue_close)(evn_queue *q);        /* R; when its work is done */
    evn_status (*queue_finish)(evn_queue *q); /* R */
    /* O: there is none. The driver's handle of the queue; its device becomes the calling
     * thread's. */
    evn_status (*native)(evn_queue *q, void **out);
    evn_status (*event_open)(evn_event *e); /* R */
    void (*event_close)(evn_event *e);      /* R */
    /* R. An event may be recorded again; earlier waits still wait for the earlier record. */
    evn_status (*event_record)(evn_event *e, evn_queue *q);
    /* R. For the last record; e is recorded, and of this back end but maybe another device. */
    evn_status (*queue_wait)(evn_queue *q, evn_event *e);
    evn_status (*event_finish)(evn_event *e); /* R; e is recorded */
    /* R. Whether event_finish() would return at once; e is recorded. */
    int (*event_done)(evn_event *e);
    /* R. Seconds between two recorded events of one device; waits for both. */
    evn_status (*event_seconds)(evn_event *begin, evn_event *end, double *seconds);
};

/* The kernel's entry in the source. EVN_USAGE lists the existing ones. */
evn_status device_find_kernel(const evn_device *d, const evn_kernel_source *source,
                              const char *name, const evn_kernel_entry **entry);

extern const struct backend backend_cuda, backend_hip, backend_opencl, backend_emulated;
