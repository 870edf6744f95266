/* For programs: devices behind one interface.
 *
 * A back end is cuda, hip, opencl or emulated. A device's abilities are data (evn_traits). No
 * vendor's library is linked: back ends open theirs with dlopen(); if that fails, the reason is
 * kept for messages.
 *
 * Device memory is a buffer, named by a handle; a position in it is a byte offset. Kernels get
 * buffers as arguments and find their data by offsets, since OpenCL 1.2 does not let the host store
 * device pointers in memory.
 *
 * A queue runs its work in order, asynchronously to the host and to other queues; events order
 * queues among each other and measure time. An error of asynchronous work is returned by the next
 * call that waits for it.
 *
 * Every function returns evn_status. After EVN_USAGE and EVN_MISSING nothing has changed; after
 * EVN_MEMORY nothing was allocated; after EVN_DEVICE the device has failed or is lost, and can only
 * be closed. */
#ifndef EVENER_DEVICE_H
#define EVENER_DEVICE_H

#include <evener/program.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_device evn_device; /* an open device */
typedef struct evn_kernel evn_kernel;
typedef struct evn_event evn_event;

typedef struct evn_traits {
    char name[128];
    char architecture[32]; /* "sm_90", "PoCL 3.1", "emulated" */
    size_t memory;         /* bytes in all */
    size_t max_buffer;     /* bytes of the largest buffer */
    size_t local_memory;   /* bytes that a group of items shares */
    int processors;        /* compute units, multiprocessors */
    int max_items;         /* most items of a group */
    int peer;              /* 1: copies to other devices of the same back end bypass the host */
    int clock_is_virtual;  /* 1: event times are computed, not measured */
    int resident;      /* 1: launches with EVN_ALL_RESIDENT work: groups may wait for each other */
    int poisons;       /* 1: stale and uninitialised memory is filled with NaN (emulated device) */
    char kernels[640]; /* where its compiled kernels come from, in words; "": one place only */
} evn_traits;

/* Device specifications: "emulated:2,speed=0.5,link=8GB/s,memory=64MiB" is parsed by the back end
 * it names. `+` joins several: "emulated:2,memory=64MiB+emulated:1,speed=0.25" gives the devices of
 * the first, then those of the second. */

/* Number of devices that `text` gives ("cuda", "opencl", "emulated:2,..", "best": the best back end
 * available); 0 if there are none, with the reason in `why`. EVN_USAGE: `text` is not understood.
 */
evn_status evn_devices_count(const char *text, int *count, char *why, size_t size);

/* Opens device `number` of `text`. After a fork() the child can only close it, which does nothing
 * there. */
evn_status evn_device_open(evn_device **out, const char *text, int number);
void evn_device_close(evn_device *device);
const evn_traits *evn_device_traits(const evn_device *device);

/* 1 if copies between the two devices bypass the host; their queues may then wait for each other's
 * events, too. */
int evn_device_reaches(const evn_device *a, const evn_device *b);

/* Name of the i-th back end; NULL beyond the last. For `evener info` and tests. */
const char *evn_backend_name(int i);

/* ---- memory ---- */

/* Allocates `bytes` of device memory, 256-byte aligned, contents undefined (NaN on the emulated
 * device). */
evn_status evn_buffer_open(evn_buffer **out, evn_device *device, size_t bytes);
void evn_buffer_close(evn_buffer *buffer);
size_t evn_buffer_bytes(const evn_buffer *buffer);

/* Allocates pinned host memory, for copies at full speed; plain aligned memory if the back end has
 * no pinned memory. It is released when all that is queued on the device has ended. */
evn_status evn_host_memory_open(void **out, evn_device *device, size_t bytes);
void evn_host_memory_close(void *memory, evn_device *device);

/* Pins memory that the program has already, until evn_host_memory_unregister(). Pinning takes about
 * as long as a copy, so it pays for memory that is copied repeatedly. Holds for all devices of the
 * back end; does nothing if the back end has no pinned memory. Any thread. EVN_USAGE: no memory, or
 * part of it is registered already; EVN_MEMORY: the system does not pin so much. After a failure
 * nothing has changed, and copies are slower. */
evn_status evn_host_memory_register(evn_device *device, void *memory, size_t bytes);
/* Unpins memory that was registered with this device. No copy of it may be under way; NULL is
 * accepted. */
void evn_host_memory_unregister(void *memory, evn_device *device);

/* Asynchronous copies. Host memory must not change until the queue has done them. */
evn_status evn_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                              size_t bytes);
evn_status evn_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                            size_t bytes);
/* Copies from a buffer of this or another device, in order of `q`, a queue of the receiving one.
 * Data of another device must be ready (wait for its event first), and that device must stay open
 * until the copy is done: a peer copy if possible, else staged through host memory, for which the
 * host waits. */
evn_status evn_copy_buffer(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                           size_t from_at, size_t bytes);

/* ---- kernels ---- */

/* A kernel file: the same text for all back ends, and its kernels compiled by the host compiler.
 * The build makes one from each .kernel.c file (cmake/kernels.cmake). */
typedef struct evn_kernel_entry {
    const char *name;
    void (*run)(const void *const *arguments, const int groups, int group,
                int items); /* one group, for the emulated device */
    int items;              /* items of a group, as in the kernel's source */
    const int *parameter;   /* for each parameter the bytes of the value, or one of the enum below;
                               ended by EVN_PARAMETERS_END */
} evn_kernel_entry;
enum {
    EVN_PARAMETER_BUFFER = 0, /* EVN_BUFFER: read and written */
    EVN_PARAMETER_IN = -2,    /* EVN_IN: a buffer that is only read */
    EVN_PARAMETERS_END = -1
};
struct evn_kernel_source {
    const char *name; /* "fill" */
    const char *text; /* complete: contains the dialect's header and the project's headers */
    const evn_kernel_entry *entry; /* ended by a NULL name */
    const char *defines; /* defines of the host compilation, "N=8 DIRECTION=0"; NULL: none */
    int contract; /* 1: the host compiler may fuse a*b+c; device compilers are told the same */
};

/* Returns kernel `name` of the source. The first call of a device builds the source's kernels, or
 * takes them from the disk cache; later calls are cheap enough for each launch. Any thread; several
 * threads may launch the kernel, and kernels of different sources compile at a time, as far as the
 * device's compiler does. It is closed with the device, not before, and the source must outlive the
 * device. EVN_USAGE: the source has no such kernel; EVN_SYSTEM: the compiler's message;
 * EVN_MISSING: the device's groups have not so many items. */
evn_status evn_kernel_get(evn_device *device, const evn_kernel_source *source, const char *name,
                          evn_kernel **out);

/* Flag: all groups of a launch are resident at a time, so that they may wait for each other
 * (EVN_AWAIT and EVN_RAISE of kernel.h); in other launches such a wait may never end. If there are
 * more pieces of work than resident groups, each group does several, in an order in which it waits
 * for earlier pieces only. EVN_MISSING: the device has no such launches (traits), or not so many
 * groups fit. */
enum { EVN_ALL_RESIDENT = 1 << 16 };

/* Enqueues `groups` groups (0 or more) of the items that the kernel was written for. `flags`: 0 or
 * EVN_ALL_RESIDENT. Arguments are copied before it returns. */
evn_status evn_launch(evn_queue *q, evn_kernel *kernel, int groups, unsigned flags,
                      const evn_argument *argument, int arguments);

/* The largest number of groups of a launch with EVN_ALL_RESIDENT; 0: the device has no such
 * launches. With CUDA and HIP the groups that fit on its multiprocessors, on the emulated device
 * its cores. Any thread. */
int evn_kernel_resident(evn_kernel *kernel);

/* ---- order and time ---- */

evn_status evn_queue_open(evn_queue **out, evn_device *device);
void evn_queue_close(evn_queue *q);
evn_status evn_queue_finish(evn_queue *q); /* waits until all its work is done */

evn_status evn_event_open(evn_event **out, evn_device *device);
void evn_event_close(evn_event *event);
evn_status evn_event_record(evn_event *event, evn_queue *q); /* happens when the queue is there */
evn_status evn_queue_wait(evn_queue *q, evn_event *event); /* the queue waits for the event, also of
                                                              another device of the same back end */
/* The host waits for the event; with `done` it asks instead, for a thread that serves several
 * queues: *done is 1 if the event has happened. Work may need further calls to make progress.
 * Errors are those of the work before the event, once it has happened. */
evn_status evn_event_finish(evn_event *event, int *done);
evn_status evn_event_seconds(evn_event *begin, evn_event *end,
                             double *seconds); /* both events have happened */

/* ---- times of launches ---- */

/* Total time of launches of one name on a device: the kernel's name, or the queue's phase
 * (evn_queue_phase()). */
typedef struct evn_device_phase {
    char name[48];
    long long launches;
    double seconds; /* sum of the times from when its queue reached a launch until it was done; time
                       that it waited for another queue's kernel counts */
} evn_device_phase;

/* Begins (`timed` 1) and ends (0) the timing of launches; the sums begin at zero. Timing costs each
 * launch a few microseconds on the device (an event before and one after it) and keeps launches of
 * one queue from overlapping; an untimed device pays nothing. Read the sums after the end, which
 * waits for the timed work. No other thread may use the device during either call. EVN_MEMORY,
 * EVN_DEVICE. */
evn_status evn_device_phases(evn_device *device, int timed);

/* The i-th name in the order of first use; beyond the last an empty one, without launches. Valid
 * until timing begins again. */
evn_device_phase evn_device_phase_at(const evn_device *device, int i);

/* Sets the name under which launches into the queue are summed from now on; NULL: each kernel's own
 * name. The first 47 bytes count; the text must live until it is replaced or the queue closes. */
void evn_queue_phase(evn_queue *q, const char *name);

/* ---- for a program's own work in the language of the back end ---- */

/* Access for kernels compiled by nvcc and libraries such as cuBLAS, which take addresses and a
 * stream. Work put into the queue's stream runs after the queue's earlier and before its later
 * work; the queue's copies, events and evn_queue_finish() include it and report its errors. Both
 * functions return EVN_MISSING, with *out NULL, on back ends other than CUDA and HIP. Any thread.
 */

/* Device address of byte `at` of the buffer: with CUDA a CUdeviceptr, the `double *` of nvcc's
 * code, with HIP a hipDeviceptr_t, that of hipcc's. Not a host address. Valid until the buffer is
 * closed. */
evn_status evn_buffer_address(void **out, const evn_buffer *buffer, size_t at);

/* The queue's native stream: with CUDA a CUstream, the same as a cudaStream_t, with HIP a
 * hipStream_t; non-blocking. Also makes its device current for the calling thread (its primary
 * context, that of CUDA's run-time library) until the thread's next call for another device. The
 * queue owns the stream. */
evn_status evn_queue_native(void **out, evn_queue *q);

/* Counters of a device since it was opened. */
typedef struct evn_counts {
    long long launches, copies_in, copies_out, copies_within, copies_peer;
    long long bytes_in, bytes_out, bytes_within, bytes_peer;
    long long waits; /* waits of the host for a queue or an event */
    size_t used;     /* bytes of buffers open now; not a counter, nothing is subtracted */
} evn_counts;
/* `since`: an earlier result, to be subtracted; NULL: none. */
evn_counts evn_device_counts(const evn_device *device, const evn_counts *since);

#ifdef __cplusplus
}
#endif
#endif
