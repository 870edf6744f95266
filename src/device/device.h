/* Devices: one interface, whatever is behind it.
 *
 * A back end (cuda, opencl, emulated) is one small struct of functions, struct backend, in one file
 * of its own. Every slot says whether it is required (R) or optional (O) and what is done where it
 * is absent. What a device can do is data, struct device_traits, not questions. No library of a
 * vendor is linked: back ends open theirs with dlopen, and where that fails the reason is kept and
 * shown.
 *
 * Memory of a device is a buffer, named by a handle; places in it are bytes from its start. Kernels
 * get buffers as arguments and find everything in them by offsets, since OpenCL 1.2 has no pointers
 * that a host can put into memory.
 *
 * Queues run their work in order, asynchronously to the host and to other queues; events order
 * queues among each other and measure. An error of asynchronous work is returned by the next call
 * that waits for it.
 *
 * Functions return evn_status: EVN_USAGE and EVN_MISSING leave everything unchanged; EVN_MEMORY:
 * nothing was allocated; EVN_DEVICE: the device has failed or is lost, and all that can still be
 * done with it is to close it.
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <evener/status.h>
#include <stddef.h>

struct backend;
struct device;  /* an open device */
struct buffer;  /* memory of a device */
struct program; /* kernels built for a device */
struct kernel;
struct queue;
struct event;

struct device_traits {
    char name[128];
    char architecture[32]; /* "sm_90", "PoCL 3.1", "emulated" */
    size_t memory;         /* bytes in all */
    size_t most_buffer;    /* bytes of the largest buffer */
    size_t local_memory;   /* bytes that a group of items shares */
    int processors;        /* compute units, multiprocessors */
    int most_items;        /* of a group */
    int peer;              /* copies to other devices of the same back end without the host */
    int clock_is_virtual;  /* event times are computed, not measured */
};

/* A kernel's argument: a buffer, or the value itself. */
struct argument {
    struct buffer *buffer; /* NULL: a value */
    const void *value;
    size_t bytes;
};

/* A specification such as "emulated:2,speed=0.5,link=8GB/s,memory=64MiB", taken apart by the back
 * end it names. */

/* Number of devices that `text` gives ("cuda", "opencl", "emulated:2,..", "best": the best there
 * is); 0, with the reason in `why`, if there are none. EVN_USAGE: not understood. */
evn_status devices_count(const char *text, int *count, char *why, size_t size);

/* Opens device `number` of them. */
evn_status device_open(struct device **out, const char *text, int number);
void device_close(struct device *device);
const struct device_traits *device_traits(const struct device *device);
const struct backend *device_backend(const struct device *device);

/* The i-th back end's name; NULL beyond the last. For `evener info` and tests. */
const char *device_backend_name(int i);

/* ---- memory ---- */

/* `bytes` of device memory, 256-byte aligned, contents undefined (the emulated device fills it with
 * NaN). */
evn_status buffer_open(struct buffer **out, struct device *device, size_t bytes);
void buffer_close(struct buffer *buffer);
size_t buffer_bytes(const struct buffer *buffer);

/* Host memory that copies go to and from at full speed; plain aligned memory where a back end has
 * no such thing. */
evn_status host_memory_open(void **out, struct device *device, size_t bytes);
void host_memory_close(void *memory, struct device *device);

/* Bytes of buffers open on the device now, and most at any time. */
size_t device_used(const struct device *device);
size_t device_used_most(const struct device *device);

/* Asynchronous copies. Host memory must stay as it is until the queue has come past. */
evn_status copy_to_device(struct queue *q, struct buffer *to, size_t at, const void *from,
                          size_t bytes);
evn_status copy_to_host(struct queue *q, void *to, const struct buffer *from, size_t at,
                        size_t bytes);
evn_status copy_within(struct queue *q, struct buffer *to, size_t to_at, const struct buffer *from,
                       size_t from_at, size_t bytes);
/* Between two devices, in order of `q`, a queue of the receiving one; the source must be ready
 * (wait for its event first) and its device stay open until the queue has come past. The shortest
 * way there is: peer copy, or staged through host memory, for which the host waits. */
evn_status copy_peer(struct queue *q, struct buffer *to, size_t to_at, struct device *from_device,
                     const struct buffer *from, size_t from_at, size_t bytes);

/* The range is stale, and nobody should read it: the emulated device fills it with NaN, others do
 * nothing. */
evn_status buffer_spoil(struct queue *q, struct buffer *buffer, size_t at, size_t bytes);

/* ---- kernels ---- */

/* A kernel file of the project: the same text for all back ends, and its kernels as compiled by the
 * host compiler. The build makes one from each .kernel.c file (cmake/kernels.cmake). */
struct kernel_entry {
    const char *name;
    void (*run)(const void *const *arguments, const int groups, int group,
                int items); /* one group, for the emulated device */
    int items;              /* of a group, as the kernel was written for */
    const int *
        parameter; /* of each parameter: 0 for a buffer, else the bytes of the value; ended by -1 */
};
struct kernel_source {
    const char *name; /* "fill" */
    const char *text; /* whole: the dialect's header and the project's headers are in it */
    const struct kernel_entry *entry; /* ended by a NULL name */
    const char *defines; /* what the host compiler was given, "N=8 DIRECTION=0"; NULL: nothing */
    int contract; /* whether the host compiler may fuse a*b+c; device compilers are told the same */
};

/* Builds the kernels of a source for a device, from the cache on disk where they were built before.
 * `defines` is "N=8 DIRECTION=0" or NULL for the source's own; must equal what the host compiler
 * was given. EVN_SYSTEM: the compiler's own message. */
evn_status program_open(struct program **out, struct device *device,
                        const struct kernel_source *source, const char *defines);
void program_close(struct program *program);
evn_status kernel_open(struct kernel **out, struct program *program, const char *name);
void kernel_close(struct kernel *kernel);

/* Items of a group that the kernel was written for. */
int kernel_items(const struct kernel *kernel);

/* Runs `groups` groups of kernel_items() items; none is fine. Arguments are copied before it
 * returns. */
evn_status launch(struct queue *q, struct kernel *kernel, int groups, int items,
                  const struct argument *argument, int arguments);

/* ---- order and time ---- */

evn_status queue_open(struct queue **out, struct device *device);
void queue_close(struct queue *q);
evn_status queue_finish(struct queue *q); /* waits until all its work is done */

evn_status event_open(struct event **out, struct device *device);
void event_close(struct event *event);
evn_status event_record(struct event *event,
                        struct queue *q); /* happens when the queue comes here */
evn_status queue_wait(struct queue *q,
                      struct event *event);   /* the queue waits for it; the event may be another
                                                 device's of the same back end */
evn_status event_finish(struct event *event); /* the host waits for it */
evn_status event_seconds(struct event *begin, struct event *end,
                         double *seconds); /* both have happened */

/* ---- counters, of each device since it was opened ---- */

struct device_counts {
    long long launches, copies_in, copies_out, copies_within, copies_peer;
    long long bytes_in, bytes_out, bytes_within, bytes_peer;
};
struct device_counts device_counts(const struct device *device);

#endif
