/* Drivers of GPUs that are alike: CUDA's and HIP's. What they share is in gpu.c; a side says here
 * how its things are called and does what only it does.
 *
 * A side is one constant `struct side`; its back end is SIDE_SLOTS with a name, side_count() and
 * side_open() of its own (src/device/cuda/cuda.c, src/device/hip/hip.c). */
#pragma once

#include "device/backend.h"
#include "device/gpu/api.h"
#include "device/gpu/folders.h"
#include "device/gpu/rtc.h"

enum { GPU_DEVICES = 64, GPU_REASON = 1000 };

struct gpu_driver {
    struct gpu_api api;
    void *library;
    int version;         /* version of CUDA, 12040 for 12.4; of HIP, 50221153 for 5.2.21153 */
    char path[PATH_MAX]; /* file of the library */
};

struct gpu_device {
    evn_device base;
    const struct side *side;
    struct gpu_driver driver;
    struct rtc *compiler;         /* NULL: no compiler was found */
    char no_compiler[GPU_REASON]; /* why there is no compiler */
    char compiler_id[80];         /* name of the compiler in keys of the cache */
    char own[32];                 /* the target of just this architecture, "sm_90", "gfx90a" */
    char target[32];              /* the compiler's target */
    int architecture;             /* 90 for 9.0; 0: the side has no text for earlier ones */
    gpu_number device;
    gpu_context context; /* CUDA's; NULL: not retained */
    int ordinal;
    int is_open; /* 1: the context is held */
    int contract, peer;
    int local_bytes; /* local memory of a multiprocessor, for groups */
    pthread_mutex_t lock;
    const void *peer_settled[GPU_DEVICES]; /* by ordinal: identity() with which access was tried */
};

struct side {
    const char *name;       /* name of the back end, "cuda" */
    enum gpu_side which;    /* which of the names in api.h are used */
    const char *words;      /* name in messages, "CUDA" */
    const char *oldest;     /* "CUDA 11.0 is the oldest that will do" */
    const char *visible[2]; /* environment variables that hide devices */
    const char *hidden;     /* advice where no device is shown */
    /* the driver: the user's variable, its usual names, the helper that it loads by name alone or
     * NULL, folders, and the advice where there is none */
    const char *variable, *library[8], *helper, *install;
    struct folders *(*folders)(void);
    int stub; /* error of a library that stands in for the driver where programs are linked; 0 */
    const struct rtc_kind *compiler;
    int attribute[GPU_ATTRIBUTE_COUNT];

    /* NULL, or why not to look for the driver at all, which spares the load of a large library */
    const char *(*absent)(void);
    /* The driver's words for an error, or NULL, and advice of ours, or "". */
    void (*words_of)(const struct gpu_api *api, int code, const char **name, const char **text);
    const char *(*advice)(int code);
    /* 1: an error of this side's own that is a refusal, after which the device goes on */
    int (*refuses)(int code);
    /* Fills in d->own, d->architecture and t->architecture. */
    evn_status (*look)(struct gpu_device *d);

    /* These return the driver's code, and the number of the failed call in *call. */
    int (*context_open)(struct gpu_device *d, enum gpu_call *call);
    void (*context_close)(struct gpu_device *d);
    int (*context_set)(const struct gpu_device *d, enum gpu_call *call);
    /* identity of a device while access to it stays as tried: another one once it was opened
     * anew */
    const void *(*identity)(const struct gpu_device *d);
    int (*peer_enable)(const struct gpu_device *d, const struct gpu_device *other);
    void (*peer_disable)(const struct gpu_device *d, const struct gpu_device *other);
    int (*copy_peer)(const struct gpu_device *d, gpu_address to, const struct gpu_device *other,
                     gpu_address from, size_t bytes, gpu_stream stream, enum gpu_call *call);
    /* O: most groups of a launch with so many items; NULL: INT_MAX. */
    int (*most_groups)(int items);
    /* O: the driver's report on an image that it refuses, below `size` bytes. */
    int (*module_open)(const struct gpu_device *d, gpu_module *module, const void *image,
                       char *report, size_t size);
    /* O: tells the driver how a multiprocessor's memory is best divided. */
    evn_status (*prefer_local)(struct gpu_device *d, gpu_function function, int items);
};

/* A call's error as a status and a message. */
evn_status side_check(const struct gpu_device *d, int code, enum gpu_call call);

evn_status side_count(const struct side *side, const char *text, int *count, char *why,
                      size_t size);
evn_status side_open(const struct side *side, evn_device *base, const char *text);

/* the slots that all sides share */
void side_close(evn_device *base);
evn_status side_buffer_open(evn_buffer *b);
void side_buffer_close(evn_buffer *b);
void *side_address_of(const evn_buffer *b);
evn_status side_host_open(void **out, evn_device *base, size_t bytes);
void side_host_close(void *memory, evn_device *base);
evn_status side_host_register(evn_device *base, void *memory, size_t bytes);
void side_host_unregister(void *memory, evn_device *base);
evn_status side_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                               size_t bytes);
evn_status side_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                             size_t bytes);
evn_status side_copy_within(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                            size_t from_at, size_t bytes);
evn_status side_copy_peer(evn_queue *q, evn_buffer *to, size_t to_at, const evn_buffer *from,
                          size_t from_at, size_t bytes);
evn_status side_connect(evn_device *base, evn_device *from);
evn_status side_program_open(evn_program *base);
void side_program_close(evn_program *base);
evn_status side_kernel_open(evn_kernel *base);
void side_kernel_close(evn_kernel *base);
evn_status side_launch(evn_queue *q, evn_kernel *base, int groups, int items, int is_resident,
                       const evn_argument *argument, int arguments);
int side_resident(evn_kernel *base);
evn_status side_queue_open(evn_queue *q);
void side_queue_close(evn_queue *q);
evn_status side_queue_finish(evn_queue *q);
evn_status side_native(evn_queue *q, void **out);
evn_status side_event_open(evn_event *e);
void side_event_close(evn_event *e);
evn_status side_event_record(evn_event *e, evn_queue *q);
evn_status side_queue_wait(evn_queue *q, evn_event *e);
evn_status side_event_finish(evn_event *e);
int side_event_done(evn_event *e);
evn_status side_event_seconds(evn_event *begin, evn_event *end, double *seconds);

struct gpu_buffer {
    evn_buffer base;
    gpu_address address;
};
struct gpu_queue {
    evn_queue base;
    gpu_stream stream;
};
struct gpu_event_slot {
    evn_event base;
    gpu_event event;
};
struct gpu_program {
    evn_program base;
    gpu_module module;
};
struct gpu_kernel {
    evn_kernel base;
    gpu_function function;
    gpu_address *address; /* address of each parameter that is a buffer */
    void **argument;      /* where each argument's value is */
    atomic_int resident;  /* groups that the device has at a time; 0: not asked yet */
};

#define SIDE_SLOTS                                                                                 \
    .device_size = sizeof(struct gpu_device), .buffer_size = sizeof(struct gpu_buffer),            \
    .queue_size = sizeof(struct gpu_queue), .event_size = sizeof(struct gpu_event_slot),           \
    .program_size = sizeof(struct gpu_program), .kernel_size = sizeof(struct gpu_kernel),          \
    .close = side_close, .buffer_open = side_buffer_open, .buffer_close = side_buffer_close,       \
    .address = side_address_of, .host_memory_open = side_host_open,                                \
    .host_memory_close = side_host_close, .host_memory_register = side_host_register,              \
    .host_memory_unregister = side_host_unregister, .copy_to_device = side_copy_to_device,         \
    .copy_to_host = side_copy_to_host, .copy_within = side_copy_within,                            \
    .copy_peer = side_copy_peer, .connect = side_connect, .program_open = side_program_open,       \
    .program_close = side_program_close, .kernel_open = side_kernel_open,                          \
    .kernel_close = side_kernel_close, .launch = side_launch, .resident = side_resident,           \
    .queue_open = side_queue_open, .queue_close = side_queue_close,                                \
    .queue_finish = side_queue_finish, .native = side_native, .event_open = side_event_open,       \
    .event_close = side_event_close, .event_record = side_event_record,                            \
    .queue_wait = side_queue_wait, .event_finish = side_event_finish,                              \
    .event_done = side_event_done, .event_seconds = side_event_seconds
