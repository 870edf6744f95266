/* Devices: one interface, whatever is behind it.
 *
 * A back end is cuda, opencl or emulated. What a device can do is data, evn_traits, not questions.
 * No library of a vendor is linked: back ends open theirs with dlopen, and where that fails the
 * reason is kept and shown.
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
#ifndef EVENER_DEVICE_H
#define EVENER_DEVICE_H

#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_device evn_device;   /* an open device */
typedef struct evn_buffer evn_buffer;   /* memory of a device */
typedef struct evn_program evn_program; /* kernels built for a device */
typedef struct evn_kernel evn_kernel;
typedef struct evn_queue evn_queue;
typedef struct evn_event evn_event;

typedef struct evn_traits {
    char name[128];
    char architecture[32]; /* "sm_90", "PoCL 3.1", "emulated" */
    size_t memory;         /* bytes in all */
    size_t max_buffer;     /* bytes of the largest buffer */
    size_t local_memory;   /* bytes that a group of items shares */
    int processors;        /* compute units, multiprocessors */
    int max_items;         /* of a group */
    int peer;              /* copies to other devices of the same back end without the host */
    int clock_is_virtual;  /* event times are computed, not measured */
    int resident;          /* evn_launch_resident(): groups may wait for each other */
    int poisons;           /* what is stale or was never written is made NaN: the emulated device */
    char kernels[640]; /* from where its compiled kernels come, for people; "": from one place */
} evn_traits;

/* A kernel's argument: a buffer, or the value itself. */
typedef struct evn_argument {
    evn_buffer *buffer; /* NULL: a value */
    const void *value;
    size_t bytes;
} evn_argument;

/* A specification such as "emulated:2,speed=0.5,link=8GB/s,memory=64MiB" is taken apart by the back
 * end it names. Several with a + between them give the devices of the first, then those of the
 * second: "emulated:2,memory=64MiB+emulated:1,speed=0.25". */

/* Number of devices that `text` gives ("cuda", "opencl", "emulated:2,..", "best": the best there
 * is); 0, with the reason in `why`, if there are none. EVN_USAGE: not understood. */
evn_status evn_devices_count(const char *text, int *count, char *why, size_t size);

/* Opens device `number` of them. In a process that is forked later it can only be closed, which
 * then does nothing. */
evn_status evn_device_open(evn_device **out, const char *text, int number);
void evn_device_close(evn_device *device);
const evn_traits *evn_device_traits(const evn_device *device);

/* Whether copies between the two need not go by way of the host; then their queues may wait for
 * each other's events, too. */
int evn_device_reaches(const evn_device *a, const evn_device *b);

/* Opens the way of copies from one device to another and tries it. The first copy does so else,
 * where it takes milliseconds of a program's steps; evn_exchange_open() does so for all devices of
 * a loop's units. Nothing where there is none to be opened, or it is open; a way that does not work
 * is no failure, copies take another one. Any thread. EVN_USAGE: no devices; EVN_DEVICE. */
evn_status evn_device_connect(evn_device *to, evn_device *from);

/* The i-th back end's name; NULL beyond the last. For `evener info` and tests. */
const char *evn_backend_name(int i);

/* ---- memory ---- */

/* `bytes` of device memory, 256-byte aligned, contents undefined (the emulated device fills it with
 * NaN). */
evn_status evn_buffer_open(evn_buffer **out, evn_device *device, size_t bytes);
void evn_buffer_close(evn_buffer *buffer);
size_t evn_buffer_bytes(const evn_buffer *buffer);

/* Host memory that copies go to and from at full speed; plain aligned memory where a back end has
 * no such thing. */
evn_status evn_host_memory_open(void **out, evn_device *device, size_t bytes);
void evn_host_memory_close(void *memory, evn_device *device);

/* The same for memory that a program has already, until evn_host_memory_unregister(): for what is
 * copied again and again, since making it so takes about as long as a copy. All devices of the back
 * end have it. Nothing where a back end has no such thing. Any thread. EVN_USAGE: no memory, or
 * some of it is registered already; EVN_MEMORY: the system does not let so much stay in place. Then
 * nothing has changed, and copies are slower. */
evn_status evn_host_memory_register(evn_device *device, void *memory, size_t bytes);
/* What was registered with this device, and is in no copy under way; NULL is fine. */
void evn_host_memory_unregister(void *memory, evn_device *device);

/* Bytes of buffers open on the device now, and most at any time. */
size_t evn_device_used(const evn_device *device);
size_t evn_device_used_max(const evn_device *device);

/* Asynchronous copies. Host memory must stay as it is until the queue has come past. */
evn_status evn_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                              size_t bytes);
evn_status evn_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                            size_t bytes);
evn_status evn_copy_within(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                           size_t from_at, size_t bytes);
/* Between two devices, in order of `q`, a queue of the receiving one; the source must be ready
 * (wait for its event first) and its device stay open until the queue has come past. The shortest
 * way there is: peer copy, or staged through host memory, for which the host waits. */
evn_status evn_copy_peer(evn_queue *q, evn_buffer *to, size_t to_at, evn_device *from_device,
                         const evn_buffer *from, size_t from_at, size_t bytes);

/* The range is stale, and nobody should read it: the emulated device fills it with NaN, others do
 * nothing. */
evn_status evn_buffer_poison(evn_queue *q, evn_buffer *buffer, size_t at, size_t bytes);

/* ---- kernels ---- */

/* A kernel file of the project: the same text for all back ends, and its kernels as compiled by the
 * host compiler. The build makes one from each .kernel.c file (cmake/kernels.cmake). */
typedef struct evn_kernel_entry {
    const char *name;
    void (*run)(const void *const *arguments, const int groups, int group,
                int items); /* one group, for the emulated device */
    int items;              /* of a group, as the kernel was written for */
    const int *parameter;   /* of each parameter: the bytes of the value, or one of the enum below;
                               ended by EVN_PARAMETERS_END */
} evn_kernel_entry;
enum {
    EVN_PARAMETER_BUFFER = 0, /* EVN_BUFFER: read and written */
    EVN_PARAMETER_IN = -2,    /* EVN_IN: a buffer that is only read */
    EVN_PARAMETERS_END = -1
};
typedef struct evn_kernel_source {
    const char *name; /* "fill" */
    const char *text; /* whole: the dialect's header and the project's headers are in it */
    const evn_kernel_entry *entry; /* ended by a NULL name */
    const char *defines; /* what the host compiler was given, "N=8 DIRECTION=0"; NULL: nothing */
    int contract; /* whether the host compiler may fuse a*b+c; device compilers are told the same */
} evn_kernel_source;

/* Builds the kernels of a source for a device, from the cache on disk where they were built before.
 * `defines` is "N=8 DIRECTION=0" or NULL for the source's own; must equal what the host compiler
 * was given. EVN_SYSTEM: the compiler's own message. */
evn_status evn_program_open(evn_program **out, evn_device *device, const evn_kernel_source *source,
                            const char *defines);
void evn_program_close(evn_program *program);
evn_status evn_kernel_open(evn_kernel **out, evn_program *program, const char *name);
void evn_kernel_close(evn_kernel *kernel);

/* The same at once: kernel `name` of the source, which is built and opened when the device is asked
 * for it first and kept for later calls; it closes with the device and must not be closed before,
 * and the source must outlive the device. Cheap enough to be called for each launch, by any thread;
 * several threads may launch it. EVN_USAGE: the source has no such
 * kernel; else as the two above. */
evn_status evn_kernel_get(evn_device *device, const evn_kernel_source *source, const char *name,
                          evn_kernel **out);

/* Items of a group that the kernel was written for. */
int evn_kernel_items(const evn_kernel *kernel);

/* Runs `groups` groups of evn_kernel_items() items; none is fine. Arguments are copied before it
 * returns. */
evn_status evn_launch(evn_queue *q, evn_kernel *kernel, int groups, int items,
                      const evn_argument *argument, int arguments);

/* The same, and all groups are at work at a time: they may wait for each other (EVN_AWAIT and
 * EVN_RAISE of kernel.h), which in other launches nothing brings to an end. Where there is more to
 * do than groups may be, each does several pieces, in an order in which it waits for earlier pieces
 * alone. EVN_MISSING: the device has no such launches (traits), or no room for so many groups. */
evn_status evn_launch_resident(evn_queue *q, evn_kernel *kernel, int groups, int items,
                               const evn_argument *argument, int arguments);

/* How many groups of the kernel that may be at most; 0: the device has no such launches. With CUDA
 * as many as its multiprocessors have at a time, on the emulated device its cores. Any thread. */
int evn_kernel_resident(evn_kernel *kernel);

/* ---- order and time ---- */

evn_status evn_queue_open(evn_queue **out, evn_device *device);
void evn_queue_close(evn_queue *q);
evn_status evn_queue_finish(evn_queue *q); /* waits until all its work is done */

evn_status evn_event_open(evn_event **out, evn_device *device);
void evn_event_close(evn_event *event);
evn_status evn_event_record(evn_event *event, evn_queue *q); /* happens when the queue comes here */
evn_status evn_queue_wait(evn_queue *q,
                          evn_event *event);   /* the queue waits for it; the event may be another
                                                     device's of the same back end */
evn_status evn_event_finish(evn_event *event); /* the host waits for it */
/* Whether it has happened, without waiting: for who serves several queues. *done 0 is no promise
 * that the work goes on meanwhile; asking again is. Errors as evn_event_finish() has them, once it
 * has happened. */
evn_status evn_event_done(evn_event *event, int *done);
evn_status evn_event_seconds(evn_event *begin, evn_event *end,
                             double *seconds); /* both have happened */

/* ---- times of launches ---- */

/* What launches of one name took on a device: their kernel's name, or the phase that the queue was
 * in (evn_queue_phase()). */
typedef struct evn_device_phase {
    char name[48];
    long long launches;
    double seconds; /* each from when its queue came to it until it was done: where several queues
                       work at a time, one waiting for another's kernel counts */
} evn_device_phase;

/* Launches from now on are timed, by an event before each and one behind it, and sums begin at
 * zero. It costs each launch a few microseconds of a device and keeps neighbours of a queue from
 * overlapping; a device that is not timed pays nothing. The sums are read once it has ended, which
 * waits until what was timed is done. No other thread may use the device at the beginning and at
 * the end. EVN_MEMORY, EVN_DEVICE. */
evn_status evn_device_phases_begin(evn_device *device);
evn_status evn_device_phases_end(evn_device *device);

/* How many names there were, and the i-th of them, in the order in which the device has first seen
 * them; beyond the last an empty one. Stay until they begin anew. */
int evn_device_phases(const evn_device *device);
evn_device_phase evn_device_phase_at(const evn_device *device, int i);

/* What launches into the queue count as from now on, for a kernel that does several things or
 * several that do one; NULL: each as its kernel. The first 47 bytes count; the text must live until
 * it is replaced or the queue closes. */
void evn_queue_phase(evn_queue *q, const char *name);

/* ---- for a program's own work in the language of the back end ---- */

/* A kernel that nvcc has compiled, or a library such as cuBLAS, takes addresses and a stream. What
 * it puts into the queue's stream comes after what the queue has been given and before what it is
 * given later; the queue's copies, events and evn_queue_finish() count it in, and its errors are
 * said there. Both: EVN_MISSING, *out is NULL: the back end has no such thing (CUDA has; the
 * emulated device's memory and its clock are for its queue alone, OpenCL has no addresses). Any
 * thread. */

/* Address of byte `at` of the buffer, as kernels on its device have it: with CUDA a CUdeviceptr,
 * a `double *` of nvcc's. It is no memory of the host's, and valid until the buffer is closed. */
evn_status evn_buffer_address(void **out, const evn_buffer *buffer, size_t at);

/* The queue as the back end has it: with CUDA a CUstream, which is the same as a cudaStream_t, not
 * of the blocking kind. Also makes its device the calling thread's current one (its primary
 * context, that of CUDA's run-time library), until the thread's next call for another device. The
 * stream is the queue's, and not to be destroyed. */
evn_status evn_queue_native(void **out, evn_queue *q);

/* ---- counters, of each device since it was opened ---- */

typedef struct evn_counts {
    long long launches, copies_in, copies_out, copies_within, copies_peer;
    long long bytes_in, bytes_out, bytes_within, bytes_peer;
    long long waits; /* of the host, for a queue or an event */
} evn_counts;
evn_counts evn_device_counts(const evn_device *device);
/* What was counted since it was `before`. */
evn_counts evn_device_counts_since(const evn_device *device, evn_counts before);

#ifdef __cplusplus
}
#endif
#endif
