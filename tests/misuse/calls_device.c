/* Wrong calls of devices, their memory, copies, kernels and events. */
#include "misuse/world.h"
#include <limits.h>
#include <stdint.h>

int calls_device(struct world *w, int row) {
    evn_device *d;
    USAGE("text", evn_devices_count(NULL, w->ints, w->text, sizeof w->text))
    USAGE("count", evn_devices_count("emulated", NULL, w->text, sizeof w->text))
    USAGE("why", evn_devices_count("emulated", w->ints, NULL, 10))
    USAGE("why", evn_devices_count("emulated", w->ints, w->text, 0))
    USAGE("unknown back end", evn_devices_count("", w->ints, w->text, sizeof w->text))
    USAGE("1 to 1024", evn_devices_count("emulated:0", w->ints, w->text, sizeof w->text))
    USAGE("1 to 1024", evn_devices_count("emulated:1025", w->ints, w->text, sizeof w->text))
    USAGE("unknown option", evn_devices_count("emulated:-1", w->ints, w->text, sizeof w->text))
    USAGE("too large", evn_devices_count("emulated:speed=1e101", w->ints, w->text, sizeof w->text))
    USAGE("too large", evn_devices_count("emulated:speed=1e999", w->ints, w->text, sizeof w->text))
    USAGE("too small", evn_devices_count("emulated:speed=0", w->ints, w->text, sizeof w->text))
    USAGE("not finite", evn_devices_count("emulated:speed=nan", w->ints, w->text, sizeof w->text))
    USAGE("behind the number",
          evn_devices_count("emulated:speed=0x2", w->ints, w->text, sizeof w->text))
    USAGE("behind the number",
          evn_devices_count("emulated:memory=5 apples", w->ints, w->text, sizeof w->text))
    USAGE("out", evn_device_open(NULL, "emulated", 0))
    USAGE("text", evn_device_open(&d, NULL, 0))
    USAGE("no device -1", evn_device_open(&d, "emulated", -1))
    USAGE("no device 2147483647", evn_device_open(&d, "emulated:2", INT_MAX))
    GIVES(0, "devices", evn_device_reaches(w->device, NULL))
    IS(0, evn_device_phase_at(w->device, -1).launches)
    IS(0, evn_device_phase_at(w->device, INT_MAX).launches)
    CALLS_END
}

int calls_memory(struct world *w, int row) {
    evn_buffer *b;
    USAGE("out", evn_buffer_open(NULL, w->device, 1))
    USAGE("device", evn_buffer_open(&b, NULL, 1))
    USAGE("0 bytes", evn_buffer_open(&b, w->device, 0))
    FAILS(EVN_MEMORY, "bytes", evn_buffer_open(&b, w->device, SIZE_MAX))
    USAGE("out", evn_buffer_address(NULL, w->buffer, 0))
    USAGE("buffer", evn_buffer_address(&w->pointer, NULL, 0))
    USAGE("inside", evn_buffer_address(&w->pointer, w->buffer, SIZE_MAX))
    FAILS(EVN_MISSING, "addresses", evn_buffer_address(&w->pointer, w->buffer, 0))
    USAGE("out", evn_host_memory_open(NULL, w->device, 1))
    USAGE("device", evn_host_memory_open(&w->pointer, NULL, 1))
    USAGE("0 bytes", evn_host_memory_open(&w->pointer, w->device, 0))
    FAILS(EVN_MEMORY, "bytes", evn_host_memory_open(&w->pointer, w->device, SIZE_MAX))
    FAILS(EVN_MEMORY, "bytes", evn_host_memory_open(&w->pointer, w->device, SIZE_MAX / 2))
    FINE(evn_host_memory_close(NULL, w->device))
    FINE(evn_host_memory_close(NULL, NULL))
    SAYS("device", evn_host_memory_close(w->text, NULL))
    USAGE("memory", evn_host_memory_register(w->device, NULL, 1))
    USAGE("0 bytes", evn_host_memory_register(w->device, w->text, 0))
    FINE(evn_host_memory_unregister(NULL, w->device))
    FINE(evn_host_memory_unregister(NULL, NULL))
    SAYS("device", evn_host_memory_unregister(w->text, NULL))
    CALLS_END
}

int calls_copies(struct world *w, int row) {
    USAGE("buffer", evn_copy_to_device(w->queue, NULL, 0, w->text, 8))
    USAGE("NULL", evn_copy_to_device(w->queue, w->buffer, 0, NULL, 8))
    USAGE("inside", evn_copy_to_device(w->queue, w->buffer, 1020, w->text, 8))
    USAGE("inside", evn_copy_to_device(w->queue, w->buffer, SIZE_MAX, w->text, 8))
    USAGE("inside", evn_copy_to_device(w->queue, w->buffer, 8, w->text, SIZE_MAX - 4))
    USAGE("buffer is of", evn_copy_to_device(w->queue, w->buffer2, 0, w->text, 8))
    USAGE("buffer", evn_copy_to_host(w->queue, w->text, NULL, 0, 8))
    USAGE("NULL", evn_copy_to_host(w->queue, NULL, w->buffer, 0, 8))
    USAGE("inside", evn_copy_to_host(w->queue, w->text, w->buffer, 1024, 1))
    USAGE("buffer", evn_copy_buffer(w->queue, NULL, 0, w->buffer, 64, 8))
    USAGE("buffer", evn_copy_buffer(w->queue, w->buffer, 0, NULL, 64, 8))
    USAGE("overlap", evn_copy_buffer(w->queue, w->buffer, 0, w->buffer, 4, 8))
    USAGE("inside", evn_copy_buffer(w->queue, w->buffer, 0, w->buffer, SIZE_MAX - 3, 8))
    USAGE("buffer is of", evn_copy_buffer(w->queue, w->buffer2, 0, w->buffer, 0, 8))
    USAGE("queue", evn_copy_buffer(NULL, w->buffer, 0, w->buffer2, 0, 8))
    USAGE("inside", evn_copy_buffer(w->queue, w->buffer, 0, w->buffer2, 1020, 8))
    IS(EVN_OK, evn_copy_to_device(w->queue, w->buffer, 1024, NULL, 0))
    CALLS_END
}

static const evn_kernel_source nothing = {.name = "nothing"};
static const evn_kernel_source nameless = {.text = "", .entry = NULL};

/* axpy(y, x, a, n) */
static evn_status launch(struct world *w, int groups, unsigned flags, int arguments, int spoil) {
    static const double a = 2;
    static const int n = 8;
    evn_argument argument[] = {{.buffer = w->buffer},
                               {.buffer = w->buffer},
                               {.value = &a, .bytes = sizeof a},
                               {.value = &n, .bytes = sizeof n}};
    if (spoil == 1) argument[0].buffer = NULL;
    if (spoil == 2) argument[2].buffer = w->buffer;
    if (spoil == 3) argument[2].value = NULL;
    if (spoil == 4) argument[3].bytes = 8;
    if (spoil == 5) argument[1].buffer = w->buffer2;
    return evn_launch(w->queue, w->kernel, groups, flags, spoil == 6 ? NULL : argument, arguments);
}

int calls_kernels(struct world *w, int row) {
    evn_kernel *k;
    USAGE("source", evn_kernel_get(w->device, NULL, "axpy", &k))
    USAGE("text or entries", evn_kernel_get(w->device, &nothing, "axpy", &k))
    USAGE("text or entries", evn_kernel_get(w->device, &nameless, "axpy", &k))
    USAGE("name", evn_kernel_get(w->device, &probe_kernels, NULL, &k))
    USAGE("out", evn_kernel_get(w->device, &probe_kernels, "axpy", NULL))
    USAGE("it has axpy", evn_kernel_get(w->device, &probe_kernels, "", &k))
    USAGE("kernel", evn_launch(w->queue, NULL, 1, EVN_ALL_RESIDENT, NULL, 0))
    USAGE("the kernel is of", evn_launch(w->queue2, w->kernel, 1, EVN_ALL_RESIDENT, NULL, 0))
    USAGE("groups", evn_launch(w->queue, w->kernel, -1, EVN_ALL_RESIDENT, NULL, 0))
    USAGE("it has 4", evn_launch(w->queue, w->kernel, 1, EVN_ALL_RESIDENT, NULL, 0))
    USAGE("kernel", evn_launch(w->queue, NULL, 1, 0, NULL, 0))
    USAGE("the kernel is of", evn_launch(w->queue2, w->kernel, 1, 0, NULL, 0))
    USAGE("groups", launch(w, -1, 0, 4, 0))
    USAGE("flags 0x1", launch(w, 1, 1, 4, 0))
    USAGE("it has 4", launch(w, 1, 0, 3, 0))
    USAGE("it has 4", launch(w, 1, 0, -1, 0))
    USAGE("it has 4", launch(w, 1, 0, 4, 6))
    USAGE("no buffer", launch(w, 1, 0, 4, 1))
    USAGE("is a buffer", launch(w, 1, 0, 4, 2))
    USAGE("0 bytes", launch(w, 1, 0, 4, 3))
    USAGE("8 bytes", launch(w, 1, 0, 4, 4))
    USAGE("is a buffer of", launch(w, 1, 0, 4, 5))
    IS(EVN_OK, launch(w, 0, 0, 4, 0))
    CALLS_END
}

int calls_events(struct world *w, int row) {
    evn_queue *q;
    evn_event *e;
    USAGE("out", evn_queue_open(NULL, w->device))
    USAGE("device", evn_queue_open(&q, NULL))
    USAGE("out", evn_queue_native(NULL, w->queue))
    USAGE("queue", evn_queue_native(&w->pointer, NULL))
    FAILS(EVN_MISSING, "streams", evn_queue_native(&w->pointer, w->queue))
    USAGE("out", evn_event_open(NULL, w->device))
    USAGE("device", evn_event_open(&e, NULL))
    USAGE("queue", evn_event_record(w->event, NULL))
    USAGE("event of", evn_event_record(w->event, w->queue2))
    USAGE("event", evn_queue_wait(w->queue, NULL))
    USAGE("never recorded", evn_queue_wait(w->queue, w->event))
    USAGE("never recorded", evn_event_finish(w->event, NULL))
    USAGE("event", evn_event_seconds(w->event, NULL, w->doubles))
    USAGE("result", evn_event_seconds(w->event, w->event, NULL))
    USAGE("never recorded", evn_event_seconds(w->event, w->event, w->doubles))
    CALLS_END
}
