/* Back ends: the functions one fills in, and what device.c has done before it calls them.
 *
 * A back end is one file with one constant `struct backend` and its line in the list of devices.c.
 * Its objects begin with the structs below (embedded as first member):
 *
 *     struct my_buffer { evn_buffer base; my_handle handle; };
 *     static evn_status my_buffer_open(evn_buffer *b) { .. }
 *     const struct backend backend_my = {.name = "my", .buffer_size = sizeof(struct
 * my_buffer), .buffer_open = my_buffer_open, ..};
 *
 * device.c allocates them (`*_size` bytes, zeroed, the base filled in), calls the slot that opens,
 * and frees them if that fails or after the slot that closes. It has checked all arguments before a
 * slot is called: no NULL, ranges inside of buffers, bytes > 0, groups > 0, items as the kernel was
 * written for, number, kind and size of the arguments, everything of the right device and back end.
 * It counts, keeps the bytes in use, and stages copies between devices where there is no slot. A
 * slot only does.
 *
 * Failures. A slot returns evn_fail(status, "reason"), where the reason is the driver's words, as
 * "CUDA_ERROR_LAUNCH_FAILED: ..": device.c puts the device and the operation before it. EVN_MEMORY:
 * there is not enough, the device works on. EVN_SYSTEM: refused (a kernel that does not compile:
 * the compiler's own text), the device works on. EVN_DEVICE: the device has failed. After that
 * device.c refuses all further work; only the slots that close and those that wait (queue_finish,
 * event_finish) are still called, and must return in finite time, with nothing left that would
 * touch host memory.
 *
 * Threads. A device is used by several threads at a time; any other object by one at a time. An
 * object that is closed may still be in use by work that is queued, except for programs and kernels
 * (finish first); the slot that closes waits, or keeps what is needed. Programs outlive their
 * kernels and a device all its objects, in whatever order they are closed: device.c counts.
 */
#ifndef DEVICE_BACKEND_H
#define DEVICE_BACKEND_H

#include <evener/device.h>
#include <pthread.h>
#include <stdatomic.h>

struct evn_device {
    const struct backend *backend;
    int number;        /* of those that the specification gives */
    int blocks;        /* who waits for it gives the core away: others have work for it */
    char label[48];    /* "cuda device 0", for messages */
    evn_traits traits; /* filled in by `open` */
    /* device.c's own */
    atomic_int users;            /* 1 and the objects open, but for what is kept */
    unsigned forks;              /* process_forks() when it was opened */
    _Atomic(struct kept *) kept; /* kept.c: kernels that close with the device */
    int kept_programs;
    struct phases *phases; /* phases.c: times of launches; NULL: none were ever asked for */
    atomic_int timed;      /* launches are, now */
    pthread_mutex_t kept_lock;
    atomic_int lost;
    pthread_mutex_t lock; /* of `reason` */
    char reason[512];     /* why it is lost */
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
    const char *phase; /* device.c's: what launches count as; NULL: their kernel's name */
};

struct evn_event {
    evn_device *device;
    int recorded; /* device.c's: evn_event_record() was called */
};

struct evn_program {
    evn_device *device;
    const evn_kernel_source *source;
    const char *defines; /* "N=8 DIRECTION=0"; NULL: none. Lives as long as the source */
    atomic_int users;    /* device.c's: 1 and the kernels open */
};

struct evn_kernel {
    evn_program *program;
    const evn_kernel_entry *entry; /* name, items, what its parameters are */
    /* device.c's */
    int is_kept;               /* by evn_kernel_get(): several threads launch it */
    pthread_mutex_t launching; /* if it is kept */
};

/* How many parameters a kernel has, and whether one, as its entry describes it, is a buffer. */
static inline int parameter_count(const evn_kernel_entry *entry) {
    int count = 0;
    while (entry->parameter[count] != EVN_PARAMETERS_END) count++;
    return count;
}
static inline int parameter_is_buffer(int parameter) {
    return parameter == EVN_PARAMETER_BUFFER || parameter == EVN_PARAMETER_IN;
}

/* R: required. O: may be NULL; what is done then is said. */
struct backend {
    const char *name; /* "cuda"; also how specifications begin */
    /* the specification by which `best` and `auto` look for GPUs, which devices that are the host's
     * own cores are not; NULL: it has none */
    const char *best;
    int any_number; /* NAME:COUNT gives as many devices as one likes */
    size_t device_size, buffer_size, queue_size, event_size, program_size, kernel_size;

    /* -- devices: `text` is the whole specification, "cuda" or "cuda:2,.." (a number: the first so
     * many devices) -- */

    /* R. How many devices; if none, the reason in `why` ("libcuda.so.1 cannot be opened: ..") and
     * EVN_OK. EVN_USAGE: not understood. */
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
    /* O: page-aligned memory of the host. Both or none. */
    evn_status (*host_memory_open)(void **out, evn_device *d, size_t bytes);
    void (*host_memory_close)(void *memory, evn_device *d);
    /* O: nothing. Memory of the program's is reached at full speed. Both or none. */
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
    /* O: nothing has to be opened. Before copies from `from`, which is of this back end; called
     * only if traits.peer is set for both. EVN_DEVICE; a way that does not work is none. */
    evn_status (*connect)(evn_device *d, evn_device *from);
    /* O: there are none. Where b is, as the device's kernels have it. */
    void *(*address)(const evn_buffer *b);
    /* O: nothing. The range is stale; makes sure that whoever reads it notices. */
    evn_status (*poison)(evn_queue *q, evn_buffer *b, size_t at, size_t bytes);

    /* -- kernels -- */

    /* R. Builds p->source->text with p->defines and, where p->source->contract is 0, without fusing
     * a*b+c and with EVN_CONTRACT=0 defined; from the cache (cache.h) if it is there. */
    evn_status (*program_open)(evn_program *p);
    void (*program_close)(evn_program *p); /* R */
    /* R. k->entry->name of k->program. */
    evn_status (*kernel_open)(evn_kernel *k);
    void (*kernel_close)(evn_kernel *k); /* O: nothing */
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
    /* O: there is none. What the driver calls the queue; its device becomes the calling thread's.
     */
    evn_status (*native)(evn_queue *q, void **out);
    evn_status (*event_open)(evn_event *e); /* R */
    void (*event_close)(evn_event *e);      /* R */
    /* R. May be recorded again; what waits for the record before goes on waiting for that one. */
    evn_status (*event_record)(evn_event *e, evn_queue *q);
    /* R. For the last record; e is recorded, and of this back end but maybe another device. */
    evn_status (*queue_wait)(evn_queue *q, evn_event *e);
    evn_status (*event_finish)(evn_event *e); /* R; e is recorded */
    /* R. Whether event_finish() would return at once; e is recorded. */
    int (*event_done)(evn_event *e);
    /* R. Both are recorded and of one device; waits for them. */
    evn_status (*event_seconds)(evn_event *begin, evn_event *end, double *seconds);
};

/* The kernel's entry in the source. EVN_USAGE lists those there are. */
evn_status device_find_kernel(const evn_device *d, const evn_kernel_source *source,
                              const char *name, const evn_kernel_entry **entry);

extern const struct backend backend_cuda, backend_opencl, backend_emulated;

#endif
